"""Ingest, relay, brokers and runners under thousands of schedules; every law, and what breaks it.

A seed that fails prints how to run it again: `python -m tests.simulation SEED`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.simulation.mutants import MUTANTS, Mutant
from tests.simulation.run import FAULTS, run, told
from tests.suite.budget import rest_long

if TYPE_CHECKING:
    from collections.abc import Iterable

EVERYDAY, LONG = 2_000, 6_000
CHUNKS = 80
MET = (
    "fenced",
    "waited for a lock",
    "waited for the lead",
    "duplicates skipped",
    "a batch came again",
    "a request outlived its process",
    "append asked again",
    "offsets lost",
    "gap healed",
    "poison withheld",
    "swapped",
    "released",
)
"""What must have happened somewhere, or the seeds prove little."""


def hold(first: int, last: int) -> tuple[Counter[str], Counter[str]]:
    """Every law under these seeds; which faults happened, and which rare ways were gone."""
    fired: Counter[str] = Counter()
    met: Counter[str] = Counter()
    for seed in range(first, last):
        done = run(seed)
        assert not done.law, told(seed)
        fired.update(done.fired)
        met.update(done.met)
    return fired, met


@pytest.mark.parametrize("chunk", rest_long(range(CHUNKS), everyday={0}))
def test_nothing_is_lost_doubled_or_untold_whatever_happens(chunk: int) -> None:
    size = EVERYDAY // CHUNKS
    hold(chunk * size, (chunk + 1) * size)


@pytest.mark.long
def test_every_kind_of_fault_happened_and_every_rare_way_was_gone() -> None:
    fired, met = hold(0, 400)
    assert {kind for kind, _ in FAULTS} - fired.keys() == set()
    assert set(MET) - met.keys() == set()


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(20))
def test_nothing_is_lost_under_thousands_of_schedules_more(chunk: int) -> None:
    size = LONG // 20
    hold(EVERYDAY + chunk * size, EVERYDAY + (chunk + 1) * size)


def breaks(
    mutant: Mutant, patch: pytest.MonkeyPatch, seeds: Iterable[int]
) -> tuple[int, str] | None:
    """The first seed under which a mutant breaks a law that it must break."""
    mutant.mutate(patch)
    for seed in seeds:
        done = run(seed)
        if done.law in mutant.breaks:
            return seed, done.broken
    return None


@pytest.mark.parametrize("mutant", MUTANTS, ids=[each.name for each in MUTANTS])
def test_a_wrong_design_breaks_the_law_it_must(
    mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = range(EVERYDAY + LONG)  # minutes: where they find it, its seed is to be changed
    assert breaks(mutant, monkeypatch, chain([mutant.seed], others)), "it survives"


@pytest.mark.long
def test_a_seed_is_the_same_run_in_any_process(tmp_path: Path) -> None:
    runs = {
        subprocess.run(
            [sys.executable, "-m", "tests.simulation", "7", "--until", "100000"],
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONHASHSEED": hashes},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for hashes in ("1", "2", "3")
    }
    assert len(runs) == 1
