"""Rounds that are withheld from people who have not looked yet, and what the log says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.disputes import disputes
from consumers.review import samples
from consumers.rounds.index import ROUND_INDEX, facts_of
from infra.postgres.view_tables import reading
from ledger.values import parse_round
from replay.cameras.custody import times_of

if TYPE_CHECKING:
    from consumers.review.log import LoggedEntry, WrittenEntry
    from infra.postgres.connection import Database
    from ledger.values import RoundId

NEAR_US = 3_600_000_000
"""How near to a withheld round an entry of the log at its table is left out, microseconds."""

OPEN_MAX = 10_000
"""The most open disputes that are read."""


def from_anybody(database: Database, property_: str) -> dict[RoundId, tuple[int, int] | None]:
    """The rounds of a property that are withheld from anybody: of open disputes and of samples.

    Each has its begin and end, if they are known. What leaves all of them out can be shown to every
    user.
    """
    cases = disputes.read(database, property=property_, status="raised", limit=OPEN_MAX)
    rounds = {each.round for each in cases if each.round}
    rounds |= {each.round for each in samples.open_rounds(database)}
    with reading(database, [table.name for table in ROUND_INDEX.tables]) as store:
        return {
            each: times_of(row.time_us for row in facts_of(store, each))
            for each in sorted(rounds)
            if each.property == property_
        }


def concerns(each: LoggedEntry, reader: str, round_: RoundId, went: tuple[int, int] | None) -> bool:
    """Whether an entry of the log that somebody else wrote is, or may be, about a round.

    It is if it names the round, or its table within an hour of it. went: its begin and end.
    """
    return any(
        entry.written_by != reader
        and entry.property == round_.property
        and (_names(entry, round_) or (_is_there(entry, round_) and _is_then(entry, went)))
        for entry in (each.first, *each.corrections)
    )


def _names(entry: WrittenEntry, round_: RoundId) -> bool:
    attached = (moment.round for moment in entry.moments if moment.round)
    texts = (entry.what, entry.disposition, entry.recorded_where)
    return any(parse_round(name, entry.property) == round_ for name in attached) or any(
        round_.subject in text for text in texts
    )


def _is_there(entry: WrittenEntry, round_: RoundId) -> bool:
    return any(round_.table in text for text in (entry.place, entry.what, entry.disposition))


def _is_then(entry: WrittenEntry, went: tuple[int, int] | None) -> bool:
    return went is None or (
        entry.from_us <= went[1] + NEAR_US and entry.until_us >= went[0] - NEAR_US
    )
