"""A process that ends is started again: soon the first time, then ever later, never in a rush."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from infra.kafka.ports import Clock
from infra.services.restarts import PAUSE_S_MAX, PAUSE_S_MIN, WELL_S, Keeper

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

LOOK_S = 0.5


class Process:
    """It runs so long, by the clock of the test."""

    returncode: int | None = None

    def __init__(self, machine: Machine, runs_s: float) -> None:
        self._machine = machine
        self._ends_at = machine.now + runs_s

    def poll(self) -> int | None:
        if self._machine.now >= self._ends_at:
            self.returncode = 1
        return self.returncode


class Machine:
    """A clock, and when what was started on it."""

    def __init__(self, runs_s: Sequence[float]) -> None:
        self.now = 1_000.0
        self.started: list[float] = []
        self._runs_s = iter(runs_s)

    def start(self) -> subprocess.Popen[bytes]:
        self.started.append(self.now)
        runs_s = next(self._runs_s, float("inf"))
        return cast("subprocess.Popen[bytes]", Process(self, runs_s))

    def pauses(self, runs_s: Sequence[float]) -> list[float]:
        """How long it was not running before each further start."""
        began = self.started[: len(runs_s)]
        ends = [at + ran for at, ran in zip(began, runs_s, strict=True)]
        return [again - end for end, again in zip(ends, self.started[1:], strict=True)]


def kept(runs_s: Sequence[float], for_s: float) -> list[float]:
    """The pauses of a process whose runs last so long, looked after for a while."""
    machine = Machine(runs_s)
    keeper = Keeper("it", machine.start, Clock(lambda: machine.now))
    until = machine.now + for_s
    while machine.now < until:
        machine.now += LOOK_S
        keeper.look()
    return machine.pauses(runs_s[: len(machine.started) - 1])


def test_what_ends_at_once_every_time_is_started_ever_later_and_at_last_once_a_minute() -> None:
    pauses = kept([0.0] * 100, 600)
    grows = [1, 2, 4, 8, 16, 32, 60, 60]
    assert len(pauses) == 14
    assert pauses[:8] == pytest.approx(grows, abs=2 * LOOK_S)
    assert max(pauses) <= PAUSE_S_MAX + 2 * LOOK_S


def test_what_ran_well_is_started_again_at_once_however_often_it_failed_before() -> None:
    runs = [0.0] * 6 + [WELL_S, 0.0]
    pauses = kept(runs, 400)
    assert pauses[5] > 30
    assert pauses[6:] == pytest.approx([PAUSE_S_MIN, 2 * PAUSE_S_MIN], abs=2 * LOOK_S)


def test_what_ran_not_long_enough_to_be_well_is_waited_for_ever_longer() -> None:
    """The control of the one above: a second less, and the pause goes on growing."""
    pauses = kept([0.0] * 6 + [WELL_S - 1, 0.0], 400)
    assert pauses[6:] == pytest.approx([PAUSE_S_MAX] * 2, abs=2 * LOOK_S)


def test_what_runs_is_left_alone() -> None:
    assert kept([float("inf")], 10_000) == []
