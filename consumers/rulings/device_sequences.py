"""The recorded runs of devices' sequence numbers, and the gaps between them.

Facts are missing between two runs. A run keeps the facts at its ends and their rounds. So a gap
that opens, narrows or closes names the rulings it touches, without reading a tape. Part of the view
`rulings`.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import astuple

from infra.postgres.view_tables import Column, ViewStore, ViewTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ledger.record.wire import Fact
    from ledger.values import RoundId

RUNS = ViewTable(
    "ruling_runs",
    "Unbroken runs of a device's own sequence numbers; between two of them facts are missing.",
    3,
    (
        Column("source", "text", "The device."),
        Column("boot", "text", "Its run since it was started; empty if it sends none."),
        Column("low", "bigint", "First number of the run, by the device's counter."),
        Column("high", "bigint", "Last number of the run."),
        Column("low_seq", "bigint", "table_seq of the fact numbered `low`, on the device's tape."),
        Column("high_seq", "bigint", "table_seq of the fact numbered `high`."),
        Column("low_round", "text", "Round of the fact numbered `low`, if any.", null=True),
        Column("high_round", "text", "Round of the fact numbered `high`, if any.", null=True),
    ),
)

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
    """The runs of the devices of a batch, read when they are needed."""

    def __init__(self, store: ViewStore) -> None:
        self._store = store
        self._runs: dict[Device, list[SequenceRun]] = {}
        self._stored: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self.told: set[Device] = set()  # devices with a numbered fact in this batch
        self.changed: set[Device] = set()  # those of them whose missing numbers changed

    def load(self, devices: Iterable[Device]) -> None:
        """Read the runs of these devices, unless they are loaded already."""
        new = [device for device in dict.fromkeys(devices) if device not in self._runs]
        for device in new:
            self._runs[device] = []
        for row in sorted(self._store.rows(RUNS, new)):
            self._runs[row.source, row.boot].append(SequenceRun(*row[2:]))
            self._stored[row[:3]] = row

    def add(self, fact: Fact, table_seq: int) -> set[str]:
        """Add a fact's number; returns the rounds at the ends of a gap that it changes."""
        number = fact.sequence
        if number is None:
            return set()
        device = device_of(fact)
        self.told.add(device)
        round_ = str(fact.round) if fact.round else None
        runs = self._runs[device]
        if runs and number == runs[-1].high + 1:
            last = runs[-1]
            last.high, last.high_seq, last.high_round = number, table_seq, round_
            return set()
        self.changed.add(device)
        return _insert(runs, SequenceRun(number, number, table_seq, table_seq, round_, round_))

    def holes(self, device: Device) -> Iterator[Hole]:
        """The gaps of a device, in order of its counter."""
        return ((device, before, after) for before, after in pairwise(self._runs[device]))

    def holes_of(self, round_: RoundId, facts: Iterable[Fact]) -> list[Hole]:
        """The gaps next to facts of a round, by source, boot and number."""
        devices = {device_of(fact) for fact in facts if fact.sequence is not None}
        self.load(devices)
        name = str(round_)
        return [
            hole
            for device in sorted(devices)
            if len(self._runs[device]) > 1
            for hole in self.holes(device)
            if name in (hole[1].high_round, hole[2].low_round)
        ]

    def save(self) -> None:
        """Write the changed runs to the view."""
        now = {
            (*device, run.low): (*device, *astuple(run))
            for device in self.told
            for run in self._runs[device]
        }
        gone = [key for key in self._stored if key[:2] in self.told and key not in now]
        self._store.delete(RUNS, gone)
        self._store.save(RUNS, (row for key, row in now.items() if self._stored.get(key) != row))


def device_of(fact: Fact) -> Device:
    """The source and boot of a fact."""
    return (fact.source, fact.boot or "")


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
