"""A dispute: its state folded from facts, and the steps that a person may take next.

The rules apply to this program's commands and pages only; the record keeps facts of any system.
Blind review: a reviewer writes down what the footage shows before seeing the claim.
"""

from __future__ import annotations

import builtins
import hashlib
import re
from typing import TYPE_CHECKING, Any, Self

from eventsourcing.application import Application
from eventsourcing.persistence import IntegrityError, PersistenceError
from msgspec import Struct

from infra.postgres.recorder import Decided, application_env, identity
from ledger.errors import Refused, Unavailable, Usage
from ledger.facts import (
    AdjustmentPaid,
    Attached,
    Body,
    CardsDealt,
    ClaimRevealed,
    DecisionMade,
    DisputeNoted,
    DisputeRaised,
    DisputeResolved,
    ObservationRecorded,
    WagerPlaced,
)
from ledger.values import NAME, RoundId, Source, parse_round
from replay.recording.house_facts import build_fact, screen
from replay.text.typed import written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.postgres.connection import Database
    from ledger.record.wire import Fact

DEVICE = "disputes"
"""The device of facts decided here: `/<property>/surveillance/disputes`."""

_NAME = re.compile(NAME)


class Claim(Struct, frozen=True):
    """A patron's claim about a round. time_us: when it was raised, device time."""

    round: RoundId | None  # None: it names a round of another property
    position: int
    claim: str
    by: str
    time_us: int


class Note(Struct, frozen=True):
    """A note, with the moments it refers to."""

    note: str
    moments: tuple[Attached, ...]
    by: str
    time_us: int


class Observation(Struct, frozen=True):
    """What a reviewer saw. blind: written down before they saw the claim here."""

    saw: str
    round: str
    by: str
    time_us: int
    blind: bool


class Revealed(Struct, frozen=True):
    """A person who saw the claim, and when."""

    by: str
    time_us: int


class Resolved(Struct, frozen=True):
    """The outcome."""

    outcome: str
    by: str
    time_us: int


class Adjusted(Struct, frozen=True):
    """Money paid to settle it. amount: cents."""

    position: int
    amount: int
    paid_from: str
    by: str | None
    time_us: int


class Dispute(Struct, frozen=True, kw_only=True):
    """A dispute folded from all its facts, in the order of the record."""

    property: str
    dispute: str
    version: int = 0  # number of its facts decided here; the next one has the next number
    claims: tuple[Claim, ...] = ()  # the first one counts; others came from other systems
    notes: tuple[Note, ...] = ()
    observations: tuple[Observation, ...] = ()
    revealed: tuple[Revealed, ...] = ()
    resolutions: tuple[Resolved, ...] = ()  # the last one counts
    adjustments: tuple[Adjusted, ...] = ()

    @builtins.property  # `property` is a field here
    def claim(self) -> Claim | None:
        """The claim that counts."""
        return self.claims[0] if self.claims else None

    @builtins.property  # as above
    def outcome(self) -> Resolved | None:
        """What holds."""
        return self.resolutions[-1] if self.resolutions else None

    @builtins.property  # as above
    def adjusted(self) -> int | None:
        """Cents paid to settle it; None if nothing was."""
        return sum(each.amount for each in self.adjustments) if self.adjustments else None

    def knows(self, employee: str) -> bool:
        """Whether a person knows the claim: wrote it down, saw it, or has observed.

        Once a dispute is resolved, everyone may read it.
        """
        know = {each.by for each in self.claims} | {each.by for each in self.revealed}
        return bool(self.resolutions) or employee in know | {each.by for each in self.observations}


def dispute_of(property_: str, dispute: str, facts: Iterable[Fact]) -> Dispute:
    """Fold a dispute from its facts, in the order of the record; other facts are ignored."""
    case = _Folding(property_, dispute)
    for fact in facts:
        if getattr(fact.body, "dispute", None) == dispute:
            case.take(fact)
    return case.folded()


def raised(round_: RoundId, dispute: str, position: int, claim: str, by: str) -> DisputeRaised:
    """The claim of a patron. Raises `Usage` for an invalid name or an empty claim."""
    if not _NAME.fullmatch(dispute):
        raise Usage(
            f"`{dispute}` cannot be the name of a dispute",
            where="dispute",
            hint="Use letters, digits, `.`, `_` and `-`, up to 64, as D-17.",
        )
    told = written(claim, "claim")
    return DisputeRaised(dispute=dispute, round=str(round_), position=position, claim=told, by=by)


def unplayed(facts: Iterable[Fact], position: int) -> tuple[int, ...]:
    """The played positions of a round, if the named one is not among them; else empty.

    A dispute is still possible, for example by a patron whose wager was not taken.
    """
    bodies = (fact.body for fact in facts)
    played = (body for body in bodies if isinstance(body, WagerPlaced | DecisionMade | CardsDealt))
    seats = {body.position for body in played if body.position is not None}
    return () if position in seats else tuple(sorted(seats))


def noted(case: Dispute, note: str, by: str, moments: Sequence[Attached] = ()) -> DisputeNoted:
    """A note, possible at any time. Raises `Usage` for an empty text."""
    told = written(note, "note")
    return DisputeNoted(dispute=case.dispute, note=told, by=by, moments=tuple(moments))


def observed(case: Dispute, saw: str, by: str) -> ObservationRecorded:
    """What a reviewer saw. Raises `Refused`, and `Usage` for an empty text."""
    round_ = _still_open(case, "observe").round
    if round_ is None:
        raise _refused(case, "It names a round of another property", "Note what you saw.")
    told = written(saw, "saw")
    return ObservationRecorded(dispute=case.dispute, round=str(round_), saw=told, by=by)


def revealed(case: Dispute, by: str) -> ClaimRevealed:
    """The claim is shown to a reviewer, with or without an observation. Raises `Refused`."""
    _still_open(case, "reveal the claim of")
    return ClaimRevealed(dispute=case.dispute, by=by)


def resolved(case: Dispute, outcome: str, by: str) -> DisputeResolved:
    """The outcome. Raises `Refused` if there is one already, and `Usage` for an empty text."""
    _still_open(case, "resolve")
    return DisputeResolved(dispute=case.dispute, outcome=written(outcome, "outcome"), by=by)


def adjusted(
    case: Dispute, amount: int, paid_from: str, by: str, position: int | None = None
) -> AdjustmentPaid:
    """Money paid to the patron, before or after the outcome. Raises `Refused`, `Usage`.

    amount: cents, above zero. position: default: the claimant's.
    """
    if case.claim is None:
        raise _refused(case, "No claim of it is on record", "Raise it first.")
    if amount <= 0:
        raise Usage("An adjustment is above $0", where="amount", hint="Give dollars above 0.")
    where = case.claim.position if position is None else position
    return AdjustmentPaid(
        dispute=case.dispute,
        position=where,
        amount=amount,
        paid_from="cage" if paid_from == "cage" else "table",
        by=by,
    )


def warning(case: Dispute, body: Body) -> str | None:
    """A warning for the person who takes this step; the step is still allowed."""
    by = getattr(body, "by", "")
    if isinstance(body, ClaimRevealed) and all(each.by != by for each in case.observations):
        return f"{by} sees the claim before observing, so a later observation is not blind."
    if isinstance(body, ObservationRecorded) and case.knows(by):
        known = any(each.by == by for each in case.observations)
        why = "has observed before" if known else "knew the claim"
        return f"{by} {why}: this observation is not blind."
    if isinstance(body, AdjustmentPaid) and case.adjusted:
        return "An adjustment was already paid; this one is in addition."
    return None


class Cases(Application[str]):
    """The eventsourcing application over the record; a dispute's events are facts."""


class DisputeDecisions:
    """Records steps of disputes. Closing it closes its connections."""

    def __init__(self, database: Database) -> None:
        self._where = database.where
        self._cases = Cases(env=application_env(database))

    def tell(self, case: Dispute, *bodies: Body) -> list[int]:
        """Record the steps after the version of `case`; their positions.

        Raises `Refused` if another step was recorded in between; then nothing is kept.
        """
        aggregate = aggregate_id(case.property, case.dispute)
        events = []
        for version, body in enumerate(bodies, case.version + 1):
            source, fact_id = identity(aggregate, version)
            device = Source(*source.split("/")[1:])
            events.append(Decided(aggregate, version, build_fact(body, device, id=fact_id)))
        try:
            kept = self._cases.save(*events)
        except IntegrityError as error:
            raise _refused(
                case, "Someone else has just changed it", "Read it again, then repeat your step."
            ) from error
        except PersistenceError as error:
            raise Unavailable(
                f"The database does not answer: {error}", where=self._where, hint="Try again."
            ) from error
        return [int(each.notification.id) for each in kept]

    def close(self) -> None:
        """Close the connections."""
        self._cases.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def aggregate_id(property_: str, dispute: str) -> str:
    """The aggregate of a dispute: `<source>/<name>`; a name that is not valid there is hashed."""
    name = dispute
    if not _NAME.fullmatch(dispute):
        name = f"x-{hashlib.sha256(dispute.encode()).hexdigest()}"
    return f"/{'/'.join(screen(property_, DEVICE))}/{name}"


class _Folding:
    """A dispute while its facts are folded."""

    def __init__(self, property_: str, dispute: str) -> None:
        self._of = (property_, dispute)
        self._mine = identity(aggregate_id(property_, dispute), 0)
        self._version = 0
        self._told: dict[str, list[Any]] = {}

    def take(self, fact: Fact) -> None:
        """One more fact."""
        self._version = max(self._version, self._own_version(fact))
        body, time_us = fact.body, fact.time_us
        if isinstance(body, DisputeRaised):
            round_ = _round(body.round, self._of[0])
            self._add("claims", Claim(round_, body.position, body.claim, body.by, time_us))
        elif isinstance(body, DisputeNoted):
            self._add("notes", Note(body.note, body.moments, body.by, time_us))
        elif isinstance(body, ObservationRecorded):
            self._observe(body, time_us)
        elif isinstance(body, ClaimRevealed):
            self._add("revealed", Revealed(body.by, time_us))
        elif isinstance(body, DisputeResolved):
            self._add("resolutions", Resolved(body.outcome, body.by, time_us))
        elif isinstance(body, AdjustmentPaid):
            paid = Adjusted(body.position, body.amount, body.paid_from, body.by, time_us)
            self._add("adjustments", paid)

    def folded(self) -> Dispute:
        """The dispute so far."""
        lists = {name: tuple(each) for name, each in self._told.items()}
        return Dispute(property=self._of[0], dispute=self._of[1], version=self._version, **lists)

    def _add(self, name: str, told: Struct) -> None:
        self._told.setdefault(name, []).append(told)

    def _observe(self, body: ObservationRecorded, time_us: int) -> None:
        blind = not self.folded().knows(body.by)
        self._add("observations", Observation(body.saw, body.round, body.by, time_us, blind))

    def _own_version(self, fact: Fact) -> int:
        """The event number of a fact in the dispute's aggregate; 0 for other systems' facts."""
        source, prefix = self._mine
        number = fact.id.removeprefix(prefix.removesuffix("0"))
        own = fact.source == source and number != fact.id and number.isascii()
        return int(number) if own and number.isdecimal() else 0


def _round(name: str, property_: str) -> RoundId | None:
    round_ = parse_round(name, property_)
    return round_ if round_ and round_.property == property_ else None


def _still_open(case: Dispute, what: str) -> Claim:
    """The claim of a dispute that is not resolved. Raises `Refused`."""
    if case.claim is None:
        raise _refused(case, "No claim of it is on record", "Raise it first.")
    if case.outcome is not None:
        says = f"It was resolved by {case.outcome.by}, so nobody can {what} it"
        raise _refused(case, says, "Add a note, or raise another dispute about the round.")
    return case.claim


def _refused(case: Dispute, what: str, hint: str) -> Refused:
    return Refused(what, where=f"dispute {case.dispute}", hint=hint)
