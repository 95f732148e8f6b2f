"""`python -m tests.simulation SEED [SEED…]`: a seed again, its last steps, and the shortest way.

`--until STEP` and `--without FAULT` narrow it, as a failure prints them; `--mutant NAME` runs a
wrong design; `--to SEED` runs all up to that one.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import Counter

import pytest

from tests.simulation.mutants import MUTANTS
from tests.simulation.run import Run, run, told


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--to", type=int, help="run all seeds up to this one")
    parser.add_argument("--until", type=int, help="no faults after this step")
    parser.add_argument("--without", action="append", default=[], help="a kind of fault")
    parser.add_argument("--mutant", help="part of the name of a wrong design")
    given = parser.parse_args()
    with contextlib.ExitStack() as open_:
        if given.mutant:
            patch = open_.enter_context(pytest.MonkeyPatch.context())
            next(each for each in MUTANTS if given.mutant in each.name).mutate(patch)
        if given.to is not None:
            return _all(range(given.seed, given.to + 1))
        if given.until is None and not given.without:
            done = run(given.seed)
            sys.stdout.write(told(given.seed) + "\n" if done.law else _summary(done))
        else:
            done = run(given.seed, without=given.without, until=given.until)
            sys.stdout.write("\n".join([*done.trace, _summary(done)]))
    return bool(done.law)


def _all(seeds: range) -> int:
    fired: Counter[str] = Counter()
    met: Counter[str] = Counter()
    failed = 0
    for seed in seeds:
        done = run(seed)
        fired += done.fired
        met += done.met
        failed += bool(done.law)
        if done.law:
            sys.stdout.write(f"seed {seed}: {done.broken[:200]}\n")
    sys.stdout.write(f"{len(seeds)} seeds, {failed} failed\n{dict(fired)}\n{dict(met)}\n")
    return bool(failed)


def _summary(done: Run) -> str:
    return f"seed {done.seed}: {done.broken or 'everything held'} ({done.steps} steps)\n"


sys.exit(main())
