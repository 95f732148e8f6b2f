"""The rules in force for a round: the edition of its gaming day and the Rules Submission."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.errors import Refused
from ledger.facts import RulesSubmissionFiled
from ledger.games import games
from ledger.rules.engine.coupons import readings_of
from ledger.rules.engine.game import InForce
from ledger.rules.procedures.submission_check import problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.game import Edition, Game, Option, Reading
    from ledger.values import RoundId

    _Choice = Reading | Option


RulesFor = Callable[["Game", "RoundId"], InForce]
"""The rules in force for a round of a game."""

NEVER = "9999-99-99"
"""A day after every day, for an edition without a known first day or a predecessor that ends."""


class FiledSubmission(NamedTuple):
    """A Rules Submission as filed, with its place and time."""

    property: str
    table: str | None  # None: the whole property
    filed_us: int
    submission: RulesSubmissionFiled


def filed(facts: Iterable[Fact]) -> list[FiledSubmission]:
    """The Rules Submissions in these facts, in order of filing.

    A submission's subject is a table, or its property.
    """
    found = []
    for fact in facts:
        if isinstance(fact.body, RulesSubmissionFiled):
            property_ = fact.source.split("/")[1]
            table = None if fact.table in (property_, fact.source.split("/")[2]) else fact.table
            found.append(FiledSubmission(property_, table, fact.time_us, fact.body))
    return sorted(found, key=lambda each: each.filed_us)


def checked_game(submission: RulesSubmissionFiled, where: str) -> Game:
    """The game of a submission. Raises `Refused` for what the game does not have."""
    game = games().get(submission.game)
    if game is None:
        raise Refused(
            f"There is no game {submission.game!r}",
            where=f"{where} game",
            hint=f"Name one of {', '.join(games())}.",
        )
    found = problems(game, submission)
    if found:
        raise Refused(
            "; ".join(f"{each.where}: {each.says}" for each in found),
            where=where,
            hint=" ".join(f"{each.where}: {each.hint}" for each in found),
        )
    return game


def in_force(
    game: Game, property_: str, table: str, gaming_day: str, submissions: Sequence[FiledSubmission]
) -> InForce:
    """The rules for a table's gaming day. A table's own submission precedes the property's.

    If none is filed: every optional wager, default readings, breakage of one cent.
    """
    holding = [
        each
        for each in submissions
        if each.property == property_
        and each.submission.game == game.id
        and each.table in (None, table)
        and each.submission.effective_from <= gaming_day
    ]
    chosen = max(holding, key=_precedence).submission if holding else None
    edition, outside = edition_of(game, gaming_day, chosen.edition if chosen else None)
    optional = frozenset(wager.id for wager in game.wagers if wager.optional)
    return InForce(
        game,
        edition,
        outside=outside,
        filed=chosen is not None,
        offers=frozenset(chosen.offers) if chosen else optional,
        readings=_in_force(readings_of(game), chosen.readings if chosen else {}),
        paytables=chosen.paytables if chosen else {},
        options=_in_force(game.options, chosen.options if chosen else {}),
        limits=_limits(game, chosen.limits) if chosen else {},
        progressives=chosen.progressives if chosen else {},
        breakage_unit=chosen.breakage.unit if chosen else 1,
        chosen=chosen,
    )


def kept_rules(submissions: Sequence[FiledSubmission]) -> RulesFor:
    """The rules in force under these submissions, found once for a table's gaming day."""
    kept: dict[tuple[str, str, str, str], InForce] = {}

    def rules_for(game: Game, round_: RoundId) -> InForce:
        place = (round_.property, round_.table, round_.gaming_day)
        rules = kept.get((game.id, *place))
        if rules is None:
            rules = kept[game.id, *place] = in_force(game, *place, submissions)
        return rules

    return rules_for


def _precedence(each: FiledSubmission) -> tuple[bool, str, int]:
    """Order of precedence: the table's own, then the later effective day, then the later filing."""
    return each.table is not None, each.submission.effective_from, each.filed_us


def _in_force(known: Sequence[_Choice], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each choice. A value that the game does not have is ignored."""
    return {
        each.name: chosen[each.name] if chosen.get(each.name) in each.values else each.default
        for each in known
    }


def _limits(game: Game, chosen: Mapping[str, int | None]) -> dict[str, int]:
    """Limits as filed, cents. One that the game does not have, or below its minimum, is ignored."""
    return {
        name: cents
        for name, cents in chosen.items()
        if cents is not None and name in game.limits and cents >= game.limits[name]
    }


def edition_of(game: Game, gaming_day: str, named: str | None) -> tuple[Edition, bool]:
    """The edition for a day, and whether the day is outside all editions. Then it is the nearest.

    A Rules Submission may name the edition.
    """
    for edition in game.editions:
        if edition.chapter == named:
            return edition, not _covers(edition, gaming_day)
    for edition in game.editions:
        if _covers(edition, gaming_day):
            return edition, False
    begun = [e for e, day in zip(game.editions, _begins(game), strict=True) if day <= gaming_day]
    return (begun[-1] if begun else game.editions[0]), True


def _begins(game: Game) -> list[str]:
    """The first day of each edition. If it is not known, the last day of the edition before."""
    ends = ["", *(edition.effective_until or "" for edition in game.editions)]
    return [
        edition.effective_from or end or NEVER
        for edition, end in zip(game.editions, ends, strict=False)
    ]


def _covers(edition: Edition, gaming_day: str) -> bool:
    """Whether a day lies within an edition with known days."""
    if edition.effective_from is None:
        return False
    until = edition.effective_until
    return edition.effective_from <= gaming_day and (until is None or gaming_day <= until)
