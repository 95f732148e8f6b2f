"""The double entries of a sealed gaming day, as a general ledger takes them from Kafka.

They are those of the record up to the numbers that the version pins. Current views give them, if
they still give what was signed and nothing came late to the days before. If not, they are worked
out from the facts.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from consumers.finance import wins
from consumers.finance.day_facts import WinsAsked
from consumers.finance.journal import balances, earlier_days
from consumers.finance.sealed.pins import late_facts, pinned_facts
from infra.postgres.view_tables import LIVE, ViewStore
from ledger.adjudication.feed import adjudicate
from ledger.finance import day_versions, feed
from ledger.finance.journal import CARRIED, JournalEntry, journal
from ledger.finance.table_day import as_report
from ledger.record.wire import StoredFactError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ledger.facts import DaySealed
    from ledger.finance.exceptions import DayKey
    from ledger.finance.placing import TableId
    from ledger.finance.table_day import DayRecord
    from ledger.finance.win import TableWin

ENTRIES = "ledger.journal-entries.v1"
"""The topic of the double entries of sealed days."""

FACTS_MAX = 1_000
"""The most facts that a message names, so that an entry with its postings fits a Kafka record."""


class SealedEntry(JournalEntry, frozen=True, kw_only=True):
    """One entry of a version of a sealed gaming day. Property, day, table and `entry` identify it.

    withdrawn: an earlier version had it, and this one has not; it has no postings then.
    """

    version: int
    digest: str  # SHA-256 that was signed with the version
    withdrawn: bool = False
    facts_left_out: int = 0  # facts beyond the first `FACTS_MAX`


def entries_of(
    store: ViewStore, property_: str, seals: Sequence[DaySealed]
) -> list[SealedEntry] | None:
    """The entries of the last of a day's versions, and those that it withdraws.

    None if this program works out other wins than were signed: then it knows no entries.
    """
    if not seals or (its := _published(store, property_, seals[-1])) is None:
        return None
    told = {(each.table, each.entry): each for each in its}
    for earlier in seals[:-1]:
        for each in _published(store, property_, earlier) or ():
            told.setdefault((each.table, each.entry), _withdrawn(each, seals[-1]))
    return [told[key] for key in told]


def key_of(entry: JournalEntry) -> str:
    """The message key of an entry."""
    return f"{entry.property}/{entry.gaming_day}/{entry.table}/{entry.entry}"


def messages(entries: Iterable[SealedEntry]) -> Iterator[tuple[str, str]]:
    """Key and value of the message of each entry."""
    return ((key_of(each), msgspec.json.encode(each).decode()) for each in entries)


def of_version(store: ViewStore, property_: str, seal: DaySealed) -> list[JournalEntry] | None:
    """The entries of one version, `carried` among them; None: it cannot be worked out."""
    found = _of_views(ViewStore(store.connection, LIVE), property_, seal)
    return _of_record(store, property_, seal) if found is None else found


def _published(store: ViewStore, property_: str, seal: DaySealed) -> list[SealedEntry] | None:
    """The entries of one version that are published; None: it cannot be worked out."""
    found = of_version(store, property_, seal)
    if found is None:
        return None
    return [_signed(each, seal) for each in found if each.entry != CARRIED]


def _signed(entry: JournalEntry, seal: DaySealed) -> SealedEntry:
    told = msgspec.structs.asdict(entry) | {"facts": entry.facts[:FACTS_MAX]}
    beyond = max(0, len(entry.facts) - FACTS_MAX)
    return SealedEntry(**told, version=seal.version, digest=seal.digest, facts_left_out=beyond)


def _withdrawn(entry: SealedEntry, by: DaySealed) -> SealedEntry:
    return msgspec.structs.replace(
        entry,
        version=by.version,
        digest=by.digest,
        says=f"Version {by.version} has no such entry",
        postings=[],
        balances=[],
        facts=[],
        facts_left_out=0,
        withdrawn=True,
    )


def _of_views(store: ViewStore, property_: str, seal: DaySealed) -> list[JournalEntry] | None:
    """The entries by current views; None unless they are those of the version."""
    if not _have_read(store, property_, seal):
        return None
    asked = WinsAsked(property_, gaming_day=seal.gaming_day)
    records = wins.records_of(store, asked, report=seal.report)
    if not _is_signed(records.wins(), seal):
        return None
    found = records.corrected
    before = earlier_days(store, {key[::2]: seal.gaming_day for key in found})
    days: dict[str, dict[DayKey, DayRecord]] = defaultdict(dict)
    for (name, table), its in before.items():
        for each in its:
            days[each.gaming_day][name, each.gaming_day, table] = each
    for day, known in days.items():
        of_day = wins.records_of(store, asked._replace(gaming_day=day), known)
        papers = of_day.papers(property_, day)
        if late_facts(store, (property_, day), seal.heads, papers):
            return None
    return journal((found[key] for key in sorted(found)), balances(before))


def _have_read(store: ViewStore, property_: str, seal: DaySealed) -> bool:
    """Whether the views of wins have read all that a version pins, and withhold no tape."""
    heads = ((f"{property_}/{place}", seq, seq) for place, seq in seal.heads.items())
    last = max((row.position for row in store.rows_at(heads)), default=0)
    for view in wins.VIEWS:
        seen = store.tracking(view.name)
        if seen is None or seen.version != view.version or seen.position < last:
            return False
    return not any(store.parked(view.name) for view in wins.VIEWS)


def _of_record(store: ViewStore, property_: str, seal: DaySealed) -> list[JournalEntry] | None:
    """The entries by the facts up to the numbers of the version."""
    try:
        pinned = pinned_facts(store, property_, seal.heads)
    except StoredFactError:  # a fact of a newer version of the program
        return None
    facts = day_versions.facts_of_report(pinned, seal.report)
    rulings = list(adjudicate(facts))
    its = feed.wins(facts, rulings, seal.gaming_day, seal.report)
    if not _is_signed((each for each in its if each.property == property_), seal):
        return None
    known = feed.day_records(facts, rulings, seal.report).values()
    of_report = (as_report(each, seal.report) for each in known)
    records = _until(of_report, property_, seal.gaming_day)
    before: dict[TableId, list[DayRecord]] = defaultdict(list)
    for each in records:
        if each.gaming_day < seal.gaming_day:
            before[property_, each.table].insert(0, each)
    of_day = (each for each in records if each.gaming_day == seal.gaming_day)
    return journal(of_day, balances(before))


def _until(records: Iterable[DayRecord], property_: str, gaming_day: str) -> list[DayRecord]:
    """The records of a property's days up to one, in order of day and table."""
    its = (each for each in records if each.property == property_ and each.gaming_day <= gaming_day)
    return sorted(its, key=lambda each: (each.gaming_day, each.table))


def _is_signed(found: Iterable[TableWin], seal: DaySealed) -> bool:
    """Whether wins are those of the version."""
    return day_versions.digest(day_versions.sealed(found, seal.version)) == seal.digest
