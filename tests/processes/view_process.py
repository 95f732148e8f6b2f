"""A process that keeps views up, to be killed or asked to stop.

`python -m tests.processes.view_process URL` prints `up` when it runs and `stopped at N` when it was
asked to end.
"""

from __future__ import annotations

import sys

from consumers.registry import VIEWS
from consumers.runtime.lifecycle import follow
from consumers.runtime.stopping import until_signalled
from infra.postgres.connection import Database
from infra.postgres.view_tables import tape_source


def main() -> None:
    url = sys.argv[1]
    database = Database(url, url)
    with until_signalled() as stop, tape_source(database) as source:
        print("up", flush=True)  # noqa: T201 - what its parent waits for
        position = follow(database, source, VIEWS, stop=stop, batch_rows=40)
    print(f"stopped at {position}", flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    main()
