"""A process that keeps views up, to be killed or asked to stop.

`python -m tests.processes.view_process URL` prints `up` when it runs and `stopped at N` when it was
asked to end. `URL 1/2` keeps up one part of the views that are divided among processes. `URL 1/2
early` is the mutant that moves a part's checkpoint before its rows, in a transaction of its own: it
prints `early` there, and stays until it is killed.
"""

from __future__ import annotations

import signal
import sys

from consumers.registry import VIEWS
from consumers.runtime.lifecycle import RunnerOptions, follow
from consumers.runtime.runner import divide
from consumers.runtime.source import Share
from consumers.runtime.stopping import until_signalled
from infra.postgres.connection import Database
from infra.postgres.view_tables import LIVE, Tracking, ViewStore, opened, tape_source


def main() -> None:
    url, *part = sys.argv[1:]
    database = Database(url, url)
    if part[1:] == ["early"]:
        _mutate(database)
    number, of = map(int, part[0].split("/")) if part else (1, 1)
    views = [each for each in VIEWS if each.heard_by or each.name == "disputes"] if part else VIEWS
    options = RunnerOptions(batch_rows=40, share=Share(number - 1, of) if part else None)
    if options.share:
        with opened(database, LIVE) as store:
            divide(store, views, of, options)
    with until_signalled() as stop, tape_source(database) as source:
        print("up", flush=True)  # noqa: T201 - what its parent waits for
        position = follow(database, source, views, stop=stop, options=options)
    print(f"stopped at {position}", flush=True)  # noqa: T201 - as above


def _mutate(database: Database) -> None:
    def early(self: ViewStore, view: str, number: int, seen: Tracking, to: int) -> bool:
        del self, seen
        with database.connect("ledger_owner") as apart:
            moved = "UPDATE views.parts SET position = %s WHERE view = %s AND number = %s"
            apart.execute(moved, (to, view, number))
        print("early", flush=True)  # noqa: T201 - as above
        signal.pause()
        return True

    ViewStore.advance_part = early  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
