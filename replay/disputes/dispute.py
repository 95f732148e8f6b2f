"""A dispute: an aggregate folded from facts, with the rules for the steps that people may take.

The rules apply to this program's commands and pages only; the record keeps facts of any system.
Blind review: a reviewer writes down what the footage shows before seeing the claim.
"""

from __future__ import annotations

import builtins
import re
from itertools import count
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct
from msgspec.structs import replace

from consumers.disputes import disputes
from consumers.disputes.disputes import CaseTask
from infra.postgres.recorder import aggregate_id
from infra.postgres.view_tables import reading
from ledger.errors import Refused, Usage
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
    TaskDone,
    TaskSet,
    WagerPlaced,
    WatchedSpan,
)
from ledger.values import NAME, RoundId, format_time, parse_round
from replay.recording.decisions import Decisions
from replay.recording.house_facts import screen
from replay.text.typed import written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from infra.postgres.connection import Database
    from ledger.facts.cases import DisputeCategory
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

DEVICE = "disputes"
"""The device of facts decided here: `/<property>/surveillance/disputes`."""

_NAME = re.compile(NAME)

CATEGORIES: dict[DisputeCategory, str] = {
    "paid_short": "the patron was paid short",
    "paid_over": "the patron was paid over",
    "rule": "a rule was applied wrongly",
    "procedure": "a procedure was not followed",
    "no_error": "no error",
    "other": "something else",
}
"""What a dispute's outcome can be of, in words."""


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
    """What a reviewer saw. knew: they had seen the claim here, or had observed before.

    blind: they did not know it, and had watched some footage.
    """

    saw: str
    round: str
    by: str
    time_us: int
    blind: bool
    knew: bool
    watched: tuple[WatchedSpan, ...]


class Revealed(Struct, frozen=True):
    """A person who saw the claim, and when."""

    by: str
    time_us: int


class Resolved(Struct, frozen=True):
    """The outcome. category: None if none was recorded."""

    outcome: str
    by: str
    time_us: int
    category: DisputeCategory | None = None


class Adjusted(Struct, frozen=True):
    """Money paid to settle it. amount: cents."""

    position: int
    amount: int
    paid_from: str
    by: str | None
    time_us: int


class TaskStep(Struct, frozen=True):
    """A task that was set, or is done."""

    body: TaskSet | TaskDone
    time_us: int


class Dispute(Struct, frozen=True, kw_only=True):
    """A dispute folded from all its facts, in the order of the record.

    A step method returns the fact to record, or raises: `Refused` if the step may not follow,
    `Usage` for invalid text. It changes nothing.
    """

    property: str
    dispute: str
    version: int = 0  # number of its facts decided here; the next one has the next number
    claims: tuple[Claim, ...] = ()  # the first one counts; others came from other systems
    notes: tuple[Note, ...] = ()
    observations: tuple[Observation, ...] = ()
    revealed: tuple[Revealed, ...] = ()
    resolutions: tuple[Resolved, ...] = ()  # the last one counts
    adjustments: tuple[Adjusted, ...] = ()
    task_steps: tuple[TaskStep, ...] = ()

    @builtins.property  # `property` is a field here
    def id(self) -> str:
        """The id of the aggregate: source and name of the facts decided here."""
        return aggregate_id(screen(self.property, DEVICE), self.dispute)

    @builtins.property  # as above
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

    @builtins.property  # as above
    def tasks(self) -> Sequence[CaseTask]:
        """Its tasks by name, as they were set last."""
        found: dict[str, CaseTask] = {}
        for step in self.task_steps:
            name = step.body.task
            task = found.get(name, CaseTask(self.property, self.dispute, name))
            found[name] = task.taking(step.body, step.time_us)
        return [*found.values()]

    def knows(self, employee: str) -> bool:
        """Whether a person knows the claim: wrote it down, saw it, or has observed.

        Once a dispute is resolved, everyone may read it.
        """
        know = {each.by for each in self.claims} | {each.by for each in self.revealed}
        return bool(self.resolutions) or employee in know | {each.by for each in self.observations}

    def taking(self, facts: Iterable[Fact]) -> Self:
        """The dispute after these facts, in the order of the record; other facts are ignored."""
        case = self
        for fact in facts:
            body: Any = fact.body
            folded = _FOLDED.get(type(body))
            if folded and body.dispute == self.dispute:
                field, made = folded
                told = (*getattr(case, field), made(case, body, fact.time_us))
                case = replace(case, **{field: told})
        return case

    def raise_(self, round_: RoundId, position: int, claim: str, by: str) -> DisputeRaised:
        """The claim of a patron. Refused if there is one; `Usage` for an invalid name."""
        if self.claim:
            hint = "Add to it with `round-ledger dispute note`, or give another name."
            raise self._refused(f"There is already a dispute {self.dispute}", hint)
        if not _NAME.fullmatch(self.dispute):
            raise Usage(
                f"`{self.dispute}` cannot be the name of a dispute",
                where="dispute",
                hint="Use letters, digits, `.`, `_` and `-`, up to 64, such as D-17.",
            )
        told = written(claim, "claim")
        return DisputeRaised(
            dispute=self.dispute, round=str(round_), position=position, claim=told, by=by
        )

    def note(self, note: str, by: str, moments: Sequence[Attached] = ()) -> DisputeNoted:
        """A note, possible at any time."""
        told = written(note, "note")
        return DisputeNoted(dispute=self.dispute, note=told, by=by, moments=tuple(moments))

    def observe(
        self, saw: str, by: str, watched: Sequence[WatchedSpan] = ()
    ) -> ObservationRecorded:
        """What a reviewer saw, and which footage they watched."""
        round_ = self._still_open("observe").round
        if round_ is None:
            raise self._refused("It names a round of another property", "Note what you saw.")
        told = written(saw, "saw")
        return ObservationRecorded(
            dispute=self.dispute, round=str(round_), saw=told, by=by, watched=tuple(watched)
        )

    def reveal(self, by: str) -> ClaimRevealed:
        """The claim is shown to a reviewer, with or without an observation."""
        self._still_open("reveal the claim of")
        return ClaimRevealed(dispute=self.dispute, by=by)

    def resolve(self, outcome: str, by: str, category: str | None = None) -> DisputeResolved:
        """The outcome; a dispute has one. category: one of `CATEGORIES`."""
        self._still_open("resolve")
        told = written(outcome, "outcome")
        known = next((each for each in CATEGORIES if each == category), None)
        if category and known is None:
            hint = f"Give one of {', '.join(CATEGORIES)}."
            raise Usage("There is no such category", where="category", hint=hint)
        return DisputeResolved(dispute=self.dispute, outcome=told, by=by, category=known)

    def adjust(
        self, amount: int, paid_from: str, by: str, position: int | None = None
    ) -> AdjustmentPaid:
        """Money paid to the patron, before or after the outcome.

        amount: cents, above zero. position: default: the claimant's.
        """
        if self.claim is None:
            raise self._refused("No claim of it is on record", "Raise it first.")
        if amount <= 0:
            raise Usage("An adjustment is above $0", where="amount", hint="Give dollars above 0.")
        return AdjustmentPaid(
            dispute=self.dispute,
            position=self.claim.position if position is None else position,
            amount=amount,
            paid_from="cage" if paid_from == "cage" else "table",
            by=by,
        )

    def set_task(self, what: str, to: str, due_us: int, by: str) -> TaskSet:
        """A task for a person until a time, possible at any time."""
        taken = {each.task for each in self.tasks}
        name = next(name for n in count(len(taken) + 1) if (name := f"T-{n}") not in taken)
        return TaskSet(
            dispute=self.dispute,
            task=name,
            what=written(what, "what"),
            to=written(to.strip(), "to"),
            due=format_time(due_us),
            by=by,
        )

    def task_done(self, task: str, by: str, because: str = "") -> TaskDone:
        """A task is done. Refused if there is none of this name, or it is done already."""
        found = next((each for each in self.tasks if each.task == task), None)
        if found is None:
            raise self._refused(f"There is no task {task}", "Give one of its tasks, such as T-1.")
        if found.done_us is not None:
            raise self._refused(f"Task {task} was done by {found.done_by}", "Set another one.")
        return TaskDone(dispute=self.dispute, task=task, because=because.strip() or None, by=by)

    def warning(self, body: Body) -> str | None:
        """A warning for the person who takes this step; the step is still allowed."""
        by = getattr(body, "by", "")
        if isinstance(body, ClaimRevealed) and all(each.by != by for each in self.observations):
            return f"{by} sees the claim before observing, so a later observation is not blind."
        if isinstance(body, ObservationRecorded) and self.knows(by):
            known = any(each.by == by for each in self.observations)
            why = "has observed before" if known else "knew the claim"
            return f"{by} {why}: this observation is not blind."
        if isinstance(body, ObservationRecorded) and not body.watched:
            return f"{by} watched no footage, by the record: this observation is not blind."
        if isinstance(body, AdjustmentPaid) and self.adjusted:
            return "An adjustment was already paid; this one is in addition."
        return None

    def _still_open(self, what: str) -> Claim:
        """The claim, if the dispute is not resolved."""
        if self.claim is None:
            raise self._refused("No claim of it is on record", "Raise it first.")
        if self.outcome is not None:
            says = f"It was resolved by {self.outcome.by}, so nobody can {what} it"
            raise self._refused(says, "Add a note, or raise another dispute about the round.")
        return self.claim

    def _refused(self, what: str, hint: str) -> Refused:
        return Refused(what, where=f"dispute {self.dispute}", hint=hint)


def dispute_of(property_: str, dispute: str, facts: Iterable[Fact]) -> Dispute:
    """A dispute from its facts, in the order of the record; other facts are ignored."""
    return Dispute(property=property_, dispute=dispute).taking(facts)


def unplayed(facts: Iterable[Fact], position: int) -> tuple[int, ...]:
    """The played positions of a round, if the named one is not among them; else empty.

    A dispute is still possible, for example by a patron whose wager was not taken.
    """
    bodies = (fact.body for fact in facts)
    played = (body for body in bodies if isinstance(body, WagerPlaced | DecisionMade | CardsDealt))
    seats = {body.position for body in played if body.position is not None}
    return () if position in seats else tuple(sorted(seats))


class DisputeDecisions(Decisions[Dispute]):
    """Reads disputes from all their facts, and records their steps."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, rows_about=self._rows_about)

    def case(self, property_: str, dispute: str) -> Dispute:
        """A dispute; without any claim or note if no fact names it.

        The view `disputes` names the facts of other systems, so it must be caught up.
        """
        return self.read(Dispute(property=property_, dispute=dispute))

    def _rows_about(self, case: Dispute) -> Sequence[TapeRow]:
        with reading(self.database, [disputes.FACTS.name]) as store:
            return disputes.facts_about(store, case.property, case.dispute)


_Made = tuple[str, "Callable[[Dispute, Any, int], Struct]"]
_FOLDED: dict[type[Body], _Made] = {
    DisputeRaised: (
        "claims",
        lambda case, body, time_us: Claim(
            _round(body.round, case.property), body.position, body.claim, body.by, time_us
        ),
    ),
    DisputeNoted: (
        "notes",
        lambda _, body, time_us: Note(body.note, body.moments, body.by, time_us),
    ),
    ObservationRecorded: (
        "observations",
        lambda case, body, time_us: Observation(
            body.saw,
            body.round,
            body.by,
            time_us,
            blind=bool(body.watched) and not case.knows(body.by),
            knew=case.knows(body.by),
            watched=body.watched,
        ),
    ),
    ClaimRevealed: ("revealed", lambda _, body, time_us: Revealed(body.by, time_us)),
    DisputeResolved: (
        "resolutions",
        lambda _, body, time_us: Resolved(body.outcome, body.by, time_us, body.category),
    ),
    AdjustmentPaid: (
        "adjustments",
        lambda _, body, time_us: Adjusted(
            body.position, body.amount, body.paid_from, body.by, time_us
        ),
    ),
    TaskSet: ("task_steps", lambda _, body, time_us: TaskStep(body, time_us)),
    TaskDone: ("task_steps", lambda _, body, time_us: TaskStep(body, time_us)),
}

FACTS = tuple(_FOLDED)
"""The facts of a dispute."""
"""The list that a fact adds to, and its entry."""


def _round(name: str, property_: str) -> RoundId | None:
    round_ = parse_round(name, property_)
    return round_ if round_ and round_.property == property_ else None
