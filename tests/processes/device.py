"""A device in a process of its own: sends facts, prints what was acknowledged, may be killed.

`python -m tests.processes.device URL first count size [place] [--boast]`. Each line printed is a
fact's number and position, written once its receipt is there. With --boast it is written before,
which is the mistake the tests must notice. Its second facts wait there to be killed.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import TYPE_CHECKING

from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.record.group_commit import Committer
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from collections.abc import Iterable


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("size", type=int)
    parser.add_argument("place", nargs="?", default="CC-07")
    parser.add_argument("--boast", action="store_true")
    given = parser.parse_args()
    last = given.first + given.count
    with PostgresTape(Database(given.url, given.url)) as tape, Committer(tape) as committer:
        for first in range(given.first, last, given.size):
            numbers = range(first, min(first + given.size, last))
            if given.boast:
                say(f"{number} 0" for number in numbers)
                if first > given.first:
                    signal.pause()  # for the kill that comes before it has sent them
            receipts = committer.append([fact(number, place=given.place) for number in numbers])
            if not given.boast:
                told = zip(numbers, receipts, strict=True)
                say(f"{number} {receipt.position}" for number, receipt in told)


def say(lines: Iterable[str]) -> None:
    """In one write, so that a kill cuts between calls and not within a line."""
    os.write(sys.stdout.fileno(), "".join(f"{line}\n" for line in lines).encode())


if __name__ == "__main__":
    main()
