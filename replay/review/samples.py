"""Control samples: rounds watched blind, to count what the ledger misses.

A sample is drawn by the hashes of its rounds with a seed that is on record. So anybody can draw it
again.
"""

from __future__ import annotations

import builtins
import hashlib
import secrets
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from consumers.review import samples
from ledger.errors import Usage
from ledger.facts import SampleDrawn
from ledger.statistics.rates import ErrorCount, interval, per_1000
from ledger.values import quantity
from replay.recording.house_facts import append_fact, screen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from consumers.review.samples import SampledRound
    from infra.postgres.connection import Database
    from ledger.values import RoundId
    from replay.recording.house_facts import FactWriter

ROUNDS_MAX = 100
"""The most rounds without a finding in one sample."""

OUTCOMES = {
    "right": "it was played and paid right",
    "wrong": "something in it is wrong",
    "not_visible": "the footage does not show it",
}
"""How a round of a sample can be closed, in words."""


class Draw(NamedTuple):
    """What a sample is drawn from. shift: None: the whole gaming day."""

    property: str
    gaming_day: str
    shift: str | None
    many: int
    seed: str

    @builtins.property  # `property` is a field here
    def sample(self) -> str:
        """The name of the sample."""
        return f"{self.label} {self.seed}"

    @builtins.property  # as above
    def label(self) -> str:
        """The gaming day with its shift."""
        return self.gaming_day if self.shift is None else f"{self.gaming_day} {self.shift}"


class DrawnSample(NamedTuple):
    """A sample that was drawn. rounds: all to be watched, by name; nothing says which is which."""

    sample: str
    rounds: Sequence[RoundId]
    position: int


class SampleResult(NamedTuple):
    """What was seen in a sample, or in several. Counts are None until all of it is closed."""

    sample: str
    seed: str
    drawn_by: str
    rounds: int
    closed: int
    watched: int | None  # rounds without a finding whose footage shows enough
    missed: int | None  # those of them in which something is wrong
    low: str | None  # ends of the exact interval of 95 %, by 1,000
    high: str | None
    among: int | None  # rounds with a finding that were watched beside them
    seen: int | None  # those of them in which the reviewer saw something wrong
    not_visible: int | None

    @property
    def says(self) -> str:
        """The result in words."""
        if self.watched is None or self.missed is None:
            return f"{self.closed} of {self.rounds} watched; the result follows."
        if not self.watched:
            return "The footage shows none of the rounds without a finding."
        watched = quantity(self.watched, "round")
        return (
            f"Something was wrong in {self.missed:,} of {watched} in which the ledger found"
            f" nothing: {per_1000(self.missed / self.watched)} of 1,000."
            f" Exact interval of 95 %: {self.low} to {self.high}."
        )


def draw(database: Database, record: FactWriter, asked: Draw, by: str) -> DrawnSample:
    """Draw a sample and record it. Raises `Usage` if there is no round to draw."""
    if not 1 <= asked.many <= ROUNDS_MAX:
        hint = f"Give 1 to {ROUNDS_MAX}."
        raise Usage("A sample cannot have so many rounds", where="rounds", hint=hint)
    controls, among = drawn(database, asked)
    if not controls:
        raise Usage(
            f"No round of {asked.label} without a finding is left",
            where="gaming day",
            hint="Give another gaming day or shift; a round is in one sample only.",
        )
    body = SampleDrawn(
        sample=asked.sample,
        shift=asked.label,
        rounds=tuple(map(str, controls)),
        among=tuple(map(str, among)),
        seed=asked.seed,
        by=by,
    )
    noted = append_fact(record, body, screen(asked.property, "review"))
    return DrawnSample(asked.sample, sorted([*controls, *among]), noted.position)


def drawn(database: Database, asked: Draw) -> tuple[list[RoundId], list[RoundId]]:
    """The rounds without a finding that a seed draws, and as many with one if there are."""
    them = samples.candidates(database, asked.property, asked.gaming_day, asked.shift, asked.sample)
    clean, found = (sorted(each, key=lambda round_: _chance(asked.seed, round_)) for each in them)
    return clean[: asked.many], found[: asked.many]


def new_seed() -> str:
    """A seed that nobody chose."""
    return secrets.token_hex(4)


def results(database: Database) -> list[SampleResult]:
    """What was seen in each sample, the newest first; of several, all together comes last."""
    its: dict[tuple[str, str], list[SampledRound]] = defaultdict(list)
    for each in samples.all_rounds(database):
        its[each.held_at, each.sample].append(each)
    found = [_result(rounds) for rounds in its.values()]
    done = [each for rounds in its.values() if all(r.closed for r in rounds) for each in rounds]
    if sum(each.missed is not None for each in found) > 1:
        found.append(_result(done)._replace(sample="all", seed="", drawn_by=""))
    return found


def _result(rounds: Sequence[SampledRound]) -> SampleResult:
    first, closed = rounds[0], sum(each.closed for each in rounds)
    head = (first.sample, first.seed, first.drawn_by, len(rounds), closed)
    if closed < len(rounds):
        return SampleResult(*head, None, None, None, None, None, None, None)
    watched, missed = _seen(each for each in rounds if each.control)
    among, seen = _seen(each for each in rounds if not each.control)
    low, high = map(per_1000, interval(ErrorCount(watched, missed)))
    unseen = sum(each.outcome == "not_visible" for each in rounds)
    return SampleResult(*head, watched, missed, low, high, among, seen, unseen)


def _seen(rounds: Iterable[SampledRound]) -> tuple[int, int]:
    """How many rounds the footage shows, and in how many of them something is wrong."""
    outcomes = [each.outcome for each in rounds if each.outcome != "not_visible"]
    return len(outcomes), outcomes.count("wrong")


def _chance(seed: str, round_: RoundId) -> bytes:
    return hashlib.sha256(f"{seed}|{round_}".encode()).digest()
