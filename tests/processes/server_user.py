"""A process that uses the embedded server of a home, and a keeper that a test can hold up.

`user HOME [unlocked]` prints what it does, a word a line, and does the next thing after a line of
its input. `keeper ARGUMENTS [unlocked]` is the keeper, which asks so before it ends a server. `many
HOME SEED TIMES` uses the server so many times. unlocked: without the lock of starts and stops.
"""

from __future__ import annotations

import random
import sys
from contextlib import nullcontext
from pathlib import Path

import psycopg

from infra.postgres.server import embedded, keeper
from infra.postgres.server.process import FOLDER, living


def told(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def told_and_waits(word: object) -> None:
    told(word)
    sys.stdin.readline()


def user(home: str) -> None:
    """Use the server: connected, then a query once the test says so."""
    told("opening")
    with embedded.running(Path(home), psycopg.connect) as connection, connection:
        told_and_waits("connected")
        told(connection.execute("SELECT 1").fetchone())


def held_up_keeper(*arguments: str) -> None:
    end = keeper.end

    def end_when_told(*given: object) -> bool:
        told_and_waits("ending")
        return end(*given)  # type: ignore[arg-type] # as given

    keeper.end = end_when_told
    sys.argv[1:] = arguments
    keeper.main(0.01)


def many_times(at: str, seed: str, times: str) -> None:
    """Use the server again and again; each time it may stay, or stop, or be due at once."""
    home = Path(at)
    chance = random.Random(seed)  # noqa: S311 - a schedule, no secret
    embedded._KEEPER = embedded._KEEPER.replace("\nmain()", "\nmain(0.001)")
    for _ in range(int(times)):
        stays_s = chance.choice((0, 60, 60))
        with embedded.running(home, psycopg.connect, stays_s) as connection, connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
            assert living(home / FOLDER)
        if stays_s and chance.random() < 0.7:
            with keeper.opened_keeper_file(home) as file:
                keeper.let_stay(file, 0)  # due at the keeper's next look


if __name__ == "__main__":
    as_, at, *more = sys.argv[1:]
    if "unlocked" in more:
        more.remove("unlocked")
        embedded.holding = keeper.holding = nullcontext  # type: ignore[assignment] # no lock
    {"user": user, "keeper": held_up_keeper, "many": many_times}[as_](at, *more)
