"""Which rules judge a round: the edition of its gaming day and the Rules Submission in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import RulesSubmissionFiled
from ledger.rules.game import InForce

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.rules.game import Edition, Game
    from ledger.wire import Fact


class Filed(NamedTuple):
    """A Rules Submission as it was filed: where it holds, and when it was."""

    property: str
    table: str | None  # None: the whole property
    filed_us: int
    submission: RulesSubmissionFiled


def filed(facts: Iterable[Fact]) -> list[Filed]:
    """The Rules Submissions among facts, in order of filing.

    A submission's subject is a table, or its property.
    """
    found = []
    for fact in facts:
        if isinstance(fact.body, RulesSubmissionFiled):
            property_ = fact.source.split("/")[1]
            table = None if fact.table in (property_, fact.source.split("/")[2]) else fact.table
            found.append(Filed(property_, table, fact.time_us, fact.body))
    return sorted(found, key=lambda each: each.filed_us)


def in_force(
    game: Game, property_: str, table: str, gaming_day: str, submissions: Sequence[Filed]
) -> InForce:
    """The rules for a table's gaming day; the table's own submission before the property's.

    None filed: every optional wager, default readings, breakage of one cent.
    """
    holding = [
        each
        for each in submissions
        if each.property == property_
        and each.submission.game == game.id
        and each.table in (None, table)
        and each.submission.effective_from <= gaming_day
    ]
    defaults: dict[str, str | bool] = {reading.name: reading.default for reading in game.readings}
    values = {reading.name: reading.values for reading in game.readings}
    if not holding:
        edition, outside = edition_of(game, gaming_day, None)
        optional = frozenset(wager.id for wager in game.wagers if wager.optional)
        return InForce(
            game,
            edition,
            outside=outside,
            filed=False,
            offers=optional,
            readings=defaults,
            paytables={},
            breakage_unit=1,
        )
    chosen = max(
        holding,
        key=lambda each: (each.table is not None, each.submission.effective_from, each.filed_us),
    ).submission
    edition, outside = edition_of(game, gaming_day, chosen.edition)
    # A value that the game does not know chooses nothing: the default holds.
    readings = defaults | {
        name: value for name, value in chosen.readings.items() if value in values.get(name, ())
    }
    letters = {name: letter for name, letter in chosen.paytables.items() if isinstance(letter, str)}
    return InForce(
        game,
        edition,
        outside=outside,
        filed=True,
        offers=frozenset(chosen.offers),
        readings=readings,
        paytables=letters,
        breakage_unit=chosen.breakage.unit,
    )


def edition_of(game: Game, gaming_day: str, named: str | None) -> tuple[Edition, bool]:
    """The edition in force on a day, and whether the day is outside every one: then the nearest.

    A Rules Submission may name the edition.
    """
    for edition in game.editions:
        if edition.chapter == named:
            return edition, not _covers(edition, gaming_day)
    for edition in game.editions:
        if _covers(edition, gaming_day):
            return edition, False
    after = [e for e in game.editions if e.effective_from and e.effective_from <= gaming_day]
    return (after[-1] if after else game.editions[0]), True


def _covers(edition: Edition, gaming_day: str) -> bool:
    """Whether a day lies within an edition whose days are known."""
    if edition.effective_from is None:
        return False
    until = edition.effective_until
    return edition.effective_from <= gaming_day and (until is None or gaming_day <= until)
