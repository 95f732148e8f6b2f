"""The recorded runs of devices' sequence numbers, and the gaps between them.

Facts are missing between two runs. A run keeps the facts at its ends and their rounds. So a gap
that opens, narrows or closes names the rulings it touches, without reading a tape.

A device's runs are kept for its own place, and once more for each other table that its facts name.
So the rulings of a table never rest on rows of another one's. Part of the view `rulings`.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import astuple

from consumers.runtime.source import WHOLE, Share
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.record.wire import Fact, fact_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ledger.record.tape import TapeRow
    from ledger.values import RoundId

RUNS = ViewTable(
    "ruling_runs",
    "Unbroken runs of a device's own sequence numbers; between two of them facts are missing.",
    4,
    (
        Column("source", "text", "The device."),
        Column("boot", "text", "Its run since it was started; empty if it sends none."),
        Column("table_name", "text", "Its place, or another table that its facts name."),
        Column("low", "bigint", "First number of the run, by the device's counter."),
        Column("high", "bigint", "Last number of the run."),
        Column("low_seq", "bigint", "table_seq of the fact numbered `low`, on the device's tape."),
        Column("high_seq", "bigint", "table_seq of the fact numbered `high`."),
        Column("low_round", "text", "Round of the fact numbered `low`, if any.", null=True),
        Column("high_round", "text", "Round of the fact numbered `high`, if any.", null=True),
        Column("away", "boolean", "Whether the table is not the device's own place."),
    ),
    ("(source) WHERE away",),
)

_PAGE_ROWS = 2_000

Device = tuple[str, str]
"""Source and boot; the boot is empty if the device sends none."""


class SequenceRun(Struct):
    """The numbers `low` to `high` of a device, all recorded, and the facts at both ends."""

    low: int
    high: int
    low_seq: int
    high_seq: int
    low_round: str | None
    high_round: str | None


Hole = tuple[Device, SequenceRun, SequenceRun]
"""A gap: the device, and the runs before and after the missing numbers."""


class DeviceRuns:
    """The runs of the devices of a batch, for each table of a share, read when they are needed."""

    def __init__(self, store: ViewStore, share: Share = WHOLE) -> None:
        self._store = store
        self._share = share
        self._runs: dict[Device, dict[str, list[SequenceRun]]] = {}
        self._stored: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self.told: set[Device] = set()  # devices with a numbered fact in this batch
        self.changed: set[Device] = set()  # those of them whose missing numbers changed

    def load(self, devices: Iterable[Device]) -> None:
        """Read the runs of these devices, unless they are loaded already."""
        new = [device for device in dict.fromkeys(devices) if device not in self._runs]
        for device in new:
            self._runs[device] = {}
        for row in sorted(self._store.rows(RUNS, new)):
            if self._share.owns_table(property_of(row.source), row.table_name):
                its = self._runs[row.source, row.boot].setdefault(row.table_name, [])
                its.append(SequenceRun(*row[3:-1]))
                self._stored[row[:4]] = row

    def begin(self, heard: Iterable[tuple[TapeRow, Fact]]) -> None:
        """Load the devices of a batch; keep their runs for the tables that they name from now on.

        For a table other than the device's place, its earlier numbers are read from its tape.
        """
        numbered = [(row, fact) for row, fact in heard if fact.sequence is not None]
        self.load(device_of(fact) for _, fact in numbered)
        first: dict[Device, TapeRow] = {}
        for row, fact in numbered:
            first.setdefault(device_of(fact), row)
        for row, fact in numbered:
            device = device_of(fact)
            property_, place = row.tape.split("/", 1)
            kept = self._runs[device]
            for table in {place, fact.table or place} - kept.keys():
                if self._share.owns_table(property_, table):
                    kept[table] = []
                    if table != place:
                        self._read(device, kept[table], first[device])

    def _read(self, device: Device, runs: list[SequenceRun], before: TapeRow) -> None:
        """Add the numbers that a device's tape has before a row."""
        for low in range(1, before.table_seq, _PAGE_ROWS):
            high = min(low + _PAGE_ROWS, before.table_seq) - 1
            for row in self._store.rows_of(before.tape, [(low, high)]):
                fact = fact_of(row) if row.source == device[0] else None
                if fact and fact.sequence is not None and device_of(fact) == device:
                    _add(runs, fact.sequence, row.table_seq, _round(fact))

    def add(self, fact: Fact, table_seq: int) -> set[str]:
        """Add a fact's number; returns the rounds at the ends of a gap that it changes."""
        number = fact.sequence
        if number is None:
            return set()
        device = device_of(fact)
        self.told.add(device)
        touched: set[str] = set()
        for runs in self._runs[device].values():
            found = _add(runs, number, table_seq, _round(fact))
            if found is not None:
                self.changed.add(device)
                touched |= found
        return touched

    def holes(self, device: Device, table: str) -> Iterator[Hole]:
        """The gaps of a device as kept for a table, in order of its counter."""
        its = self._runs[device].get(table, ())
        return ((device, before, after) for before, after in pairwise(its))

    def changed_holes(self) -> Iterator[tuple[Device, str, list[Hole]]]:
        """The gaps of each device whose gaps changed, for each table they are kept for."""
        for device in sorted(self.changed):
            for table in self._runs[device]:
                yield device, table, list(self.holes(device, table))

    def holes_of(self, round_: RoundId, facts: Iterable[Fact]) -> list[Hole]:
        """The gaps next to facts of a round, by source, boot and number."""
        devices = {device_of(fact) for fact in facts if fact.sequence is not None}
        self.load(devices)
        name = str(round_)
        return [
            hole
            for device in sorted(devices)
            for hole in self.holes(device, round_.table)
            if name in (hole[1].high_round, hole[2].low_round)
        ]

    def save(self) -> None:
        """Write the changed runs to the view."""
        now = {
            (*device, table, run.low): (*device, table, *astuple(run), table != _place(device))
            for device in self.told
            for table, runs in self._runs[device].items()
            for run in runs
        }
        gone = [key for key in self._stored if key[:2] in self.told and key not in now]
        self._store.delete(RUNS, gone)
        self._store.save(RUNS, (row for key, row in now.items() if self._stored.get(key) != row))


def property_of(source: str) -> str:
    """The property of a device."""
    return source.split("/", 2)[1]


def _place(device: Device) -> str:
    return device[0].split("/", 3)[2]


def _round(fact: Fact) -> str | None:
    return str(fact.round) if fact.round else None


def device_of(fact: Fact) -> Device:
    """The source and boot of a fact."""
    return (fact.source, fact.boot or "")


def _add(
    runs: list[SequenceRun], number: int, table_seq: int, round_: str | None
) -> set[str] | None:
    """Add a number to the runs; the rounds at the ends of the gaps it changes. None: no gap."""
    if runs and number == runs[-1].high + 1:
        last = runs[-1]
        last.high, last.high_seq, last.high_round = number, table_seq, round_
        return None
    return _insert(runs, SequenceRun(number, number, table_seq, table_seq, round_, round_))


def _insert(runs: list[SequenceRun], new: SequenceRun) -> set[str]:
    """Insert a number into the runs; returns the rounds at the ends of the gaps it changes."""
    at = bisect_right(runs, new.low, key=attrgetter("low"))
    before = runs[at - 1] if at else None
    after = runs[at] if at < len(runs) else None
    if before and new.low <= before.high:
        return _said_again(runs, at - 1, new)
    touched = {before.high_round if before else None, after.low_round if after else None}
    if before and before.high + 1 == new.low:
        before.high, before.high_seq, before.high_round = new.high, new.high_seq, new.high_round
        new = before
    else:
        runs.insert(at, new)
    following = runs.index(new) + 1
    if after and new.high + 1 == after.low:
        new.high, new.high_seq, new.high_round = after.high, after.high_seq, after.high_round
        del runs[following]
    return {round_ for round_ in touched if round_}


def _said_again(runs: list[SequenceRun], at: int, new: SequenceRun) -> set[str]:
    """Handle a number that a device used twice: at the end of a run the later fact replaces it."""
    run = runs[at]
    touched: set[str | None] = set()
    if new.low == run.low:
        touched |= {run.low_round, runs[at - 1].high_round if at else None}
        run.low_seq, run.low_round = new.low_seq, new.low_round
    if new.low == run.high:
        touched |= {run.high_round, runs[at + 1].low_round if at + 1 < len(runs) else None}
        run.high_seq, run.high_round = new.high_seq, new.high_round
    return {round_ for round_ in touched if round_}
