"""Work on findings: take, give, close and reopen them, each as a fact of surveillance.

A finding keeps its name through new rulings. A later fact undoes an earlier one, so nothing here is
refused because somebody else was faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.review import queue
from ledger.errors import NotFound, Usage
from ledger.facts import FindingClosed, FindingHanded, FindingReopened, FindingTaken
from ledger.values import parse_round
from replay.recording.house_facts import append_facts, build_fact, screen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from consumers.review.queue import Queued
    from infra.postgres.connection import Database
    from ledger.facts import Body, FindingRef
    from ledger.facts.review import ReviewOutcome
    from ledger.values import RoundId
    from replay.recording.house_facts import FactWriter, Noted

OUTCOMES: dict[ReviewOutcome, str] = {
    "right": "the finding is right",
    "wrong": "the finding is wrong",
    "not_visible": "the footage does not show it",
    "known": "it was known before",
}
"""How a finding can be closed, in words."""


def find(database: Database, names: Sequence[str], without: Sequence[RoundId] = ()) -> list[Queued]:
    """The findings with these names; the name of a round stands for all its findings.

    Raises `NotFound` if one has none.
    """
    known = [each for each in names if each.startswith("F-")]
    found = queue.named(database, known, without)
    missing = {*known} - {each.name for each in found}
    for name in names:
        if name in known:
            continue
        round_ = parse_round(name, "")
        its = queue.of_round(database, round_, without) if round_ else []
        if not its:
            missing.add(name)
        found += its
    if missing:
        raise NotFound(
            f"There is no finding {', '.join(sorted(missing))}",
            where="NAME",
            hint="`round-ledger review list` lists findings with their names.",
        )
    return found


def take(record: FactWriter, found: Sequence[Queued], by: str) -> list[Noted]:
    """Take findings to work on them."""
    return _note(record, found, lambda ref: FindingTaken(finding=ref, by=by))


def give(record: FactWriter, found: Sequence[Queued], to: str, by: str) -> list[Noted]:
    """Give findings to another person. Raises `Usage` without one."""
    receiver = to.strip()
    if not receiver:
        raise Usage("Nobody is named", where="to", hint="Give the credential of who works on it.")
    return _note(record, found, lambda ref: FindingHanded(finding=ref, to=receiver, by=by))


def close(
    record: FactWriter, found: Sequence[Queued], outcome: str, because: str, by: str
) -> list[Noted]:
    """Close findings. Raises `Usage` for an unknown outcome, or a missing reason.

    Only a finding that is right or known needs no reason.
    """
    if outcome not in OUTCOMES:
        hint = f"Give one of {', '.join(OUTCOMES)}."
        raise Usage("There is no such outcome", where="outcome", hint=hint)
    if not because.strip() and outcome in ("wrong", "not_visible"):
        raise Usage("The reason is missing", where="because", hint="Write down what you saw.")

    def closed(ref: FindingRef) -> Body:
        return FindingClosed(finding=ref, outcome=outcome, because=because.strip(), by=by)

    return _note(record, found, closed)


def reopen(record: FactWriter, found: Sequence[Queued], because: str, by: str) -> list[Noted]:
    """Open closed findings again. Raises `Usage` without a reason."""
    if not because.strip():
        raise Usage("The reason is missing", where="because", hint="Write down why.")
    return _note(
        record, found, lambda ref: FindingReopened(finding=ref, because=because.strip(), by=by)
    )


def _note(
    record: FactWriter, found: Sequence[Queued], made: Callable[[FindingRef], Body]
) -> list[Noted]:
    return append_facts(
        record, [build_fact(made(each.ref), screen(each.property, "review")) for each in found]
    )
