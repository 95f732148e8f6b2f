"""A dispute as a case: folded from its facts, and what may follow on it, as a person decides.

The rules here bind this program's commands and pages only: the record keeps whatever is told, from
wherever. Blind review: a reviewer writes down what the footage shows before the claim is shown.
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
"""The source of what is decided here: `/<property>/surveillance/disputes`."""

_NAME = re.compile(NAME)


class Claim(Struct, frozen=True):
    """What a patron claims of a round. time_us: when it was raised, device time."""

    round: RoundId | None  # None: it names a round of another property
    position: int
    claim: str
    by: str
    time_us: int


class Note(Struct, frozen=True):
    """Something noted, with the moments it points at."""

    note: str
    moments: tuple[Attached, ...]
    by: str
    time_us: int


class Observation(Struct, frozen=True):
    """What a reviewer saw. blind: written down before the claim was shown to them here."""

    saw: str
    round: str
    by: str
    time_us: int
    blind: bool


class Revealed(Struct, frozen=True):
    """To whom the claim was shown, and when."""

    by: str
    time_us: int


class Resolved(Struct, frozen=True):
    """What was decided."""

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
    """A dispute as all its facts tell it, in order of the record."""

    property: str
    dispute: str
    version: int = 0  # how many of its facts were decided here: the next one is one more
    claims: tuple[Claim, ...] = ()  # the first stands; further ones were told elsewhere
    notes: tuple[Note, ...] = ()
    observations: tuple[Observation, ...] = ()
    revealed: tuple[Revealed, ...] = ()
    resolutions: tuple[Resolved, ...] = ()  # the last one holds
    adjustments: tuple[Adjusted, ...] = ()

    @builtins.property  # `property` is a field here
    def claim(self) -> Claim | None:
        """The claim that stands."""
        return self.claims[0] if self.claims else None

    @builtins.property  # as above
    def outcome(self) -> Resolved | None:
        """What holds."""
        return self.resolutions[-1] if self.resolutions else None

    @builtins.property  # as above
    def adjusted(self) -> int | None:
        """Cents paid to settle it; None where nothing was."""
        return sum(each.amount for each in self.adjustments) if self.adjustments else None

    def knows(self, employee: str) -> bool:
        """Whether a person knows the claim: wrote it down, was shown it, or has observed.

        Once a dispute is resolved its file is open to everybody.
        """
        know = {each.by for each in self.claims} | {each.by for each in self.revealed}
        return bool(self.resolutions) or employee in know | {each.by for each in self.observations}


def dispute_of(property_: str, dispute: str, facts: Iterable[Fact]) -> Dispute:
    """Fold a dispute from its facts, in order of the record; others are passed over."""
    case = _Folding(property_, dispute)
    for fact in facts:
        if getattr(fact.body, "dispute", None) == dispute:
            case.take(fact)
    return case.folded()


def raised(round_: RoundId, dispute: str, position: int, claim: str, by: str) -> DisputeRaised:
    """The claim of a patron. Raises `Usage` for a name that is none, and for no words."""
    if not _NAME.fullmatch(dispute):
        raise Usage(
            f"`{dispute}` is not a name for a dispute",
            where="dispute",
            hint="Use letters, digits, `.`, `_` and `-`, up to 64, as D-17.",
        )
    told = written(claim, "claim")
    return DisputeRaised(dispute=dispute, round=str(round_), position=position, claim=told, by=by)


def unplayed(facts: Iterable[Fact], position: int) -> tuple[int, ...]:
    """The positions that a round was played at, where the one named is none of them; else empty.

    It may be disputed all the same, as by a patron whose wager nobody took: who raises it is asked.
    """
    bodies = (fact.body for fact in facts)
    played = (body for body in bodies if isinstance(body, WagerPlaced | DecisionMade | CardsDealt))
    seats = {body.position for body in played if body.position is not None}
    return () if position in seats else tuple(sorted(seats))


def noted(case: Dispute, note: str, by: str, moments: Sequence[Attached] = ()) -> DisputeNoted:
    """A note; it may follow anything. Raises `Usage` for no words."""
    told = written(note, "note")
    return DisputeNoted(dispute=case.dispute, note=told, by=by, moments=tuple(moments))


def observed(case: Dispute, saw: str, by: str) -> ObservationRecorded:
    """What a reviewer saw of the disputed round. Raises `Refused`, and `Usage` for no words."""
    round_ = _still_open(case, "observe").round
    if round_ is None:
        raise _refused(case, "It names a round of another property", "Note what you saw.")
    told = written(saw, "saw")
    return ObservationRecorded(dispute=case.dispute, round=str(round_), saw=told, by=by)


def revealed(case: Dispute, by: str) -> ClaimRevealed:
    """The claim is shown to a reviewer; before an observation too. Raises `Refused`."""
    _still_open(case, "reveal the claim of")
    return ClaimRevealed(dispute=case.dispute, by=by)


def resolved(case: Dispute, outcome: str, by: str) -> DisputeResolved:
    """What is decided. Raises `Refused` where something was before, and `Usage` for no words."""
    _still_open(case, "resolve")
    return DisputeResolved(dispute=case.dispute, outcome=written(outcome, "outcome"), by=by)


def adjusted(
    case: Dispute, amount: int, paid_from: str, by: str, position: int | None = None
) -> AdjustmentPaid:
    """Money paid to the patron, before or after the outcome. Raises `Refused`, `Usage`.

    amount: cents, above zero; position: the claimant's where none is given.
    """
    if case.claim is None:
        raise _refused(case, "No claim is on record for it", "Raise it first.")
    if amount <= 0:
        raise Usage("An adjustment pays something", where="amount", hint="Give dollars above 0.")
    where = case.claim.position if position is None else position
    return AdjustmentPaid(
        dispute=case.dispute,
        position=where,
        amount=amount,
        paid_from="cage" if paid_from == "cage" else "table",
        by=by,
    )


def warning(case: Dispute, body: Body) -> str | None:
    """What a person should be told who does this now; nothing is forbidden by it."""
    by = getattr(body, "by", "")
    if isinstance(body, ClaimRevealed) and all(each.by != by for each in case.observations):
        return f"{by} sees the claim before observing: what they observe now is not blind."
    if isinstance(body, ObservationRecorded) and case.knows(by):
        known = any(each.by == by for each in case.observations)
        why = "has observed before" if known else "knew the claim"
        return f"{by} {why}: this observation is not blind."
    if isinstance(body, AdjustmentPaid) and case.adjusted:
        return "An adjustment was paid before; this one is paid beside it."
    return None


class Cases(Application[str]):
    """The eventsourcing library over the record: the events of a dispute are contract facts."""


class DisputeDecisions:
    """Where disputes are decided. Closing it closes its connections."""

    def __init__(self, database: Database) -> None:
        self._where = database.where
        self._cases = Cases(env=application_env(database))

    def tell(self, case: Dispute, *bodies: Body) -> list[int]:
        """Put what was decided on record, next to what the case was folded from; positions.

        Raises `Refused` where another decision came in between: nothing was kept, look again.
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
                case, "Somebody else has just changed it", "Look at it, then go on."
            ) from error
        except PersistenceError as error:
            raise Unavailable(
                f"The record does not answer: {error}", where=self._where, hint="Try again."
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
    """The aggregate of a dispute: `<source>/<name>`; a name that cannot stand there is hashed."""
    name = dispute
    if not _NAME.fullmatch(dispute):
        name = f"x-{hashlib.sha256(dispute.encode()).hexdigest()}"
    return f"/{'/'.join(screen(property_, DEVICE))}/{name}"


class _Folding:
    """A dispute while its facts are taken in."""

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
        """The dispute as it stands."""
        lists = {name: tuple(each) for name, each in self._told.items()}
        return Dispute(property=self._of[0], dispute=self._of[1], version=self._version, **lists)

    def _add(self, name: str, told: Struct) -> None:
        self._told.setdefault(name, []).append(told)

    def _observe(self, body: ObservationRecorded, time_us: int) -> None:
        blind = not self.folded().knows(body.by)
        self._add("observations", Observation(body.saw, body.round, body.by, time_us, blind))

    def _own_version(self, fact: Fact) -> int:
        """Which event of the dispute's own aggregate a fact is; 0 where it was told elsewhere."""
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
        raise _refused(case, "No claim is on record for it", "Raise it first.")
    if case.outcome is not None:
        says = f"It was resolved by {case.outcome.by}, so nobody can {what} it"
        raise _refused(case, says, "Add a note, or raise another dispute about the round.")
    return case.claim


def _refused(case: Dispute, what: str, hint: str) -> Refused:
    return Refused(what, where=f"dispute {case.dispute}", hint=hint)
