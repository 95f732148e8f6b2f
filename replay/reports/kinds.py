"""The reports that there are, each worked out from the views for one property and gaming day.

To add one, write a function that gives its table, and add its row to `REPORTS`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec

from consumers.finance import coupons_and_checks, journal, meters
from consumers.finance.sealed import sealed_wins, signed_entries
from consumers.rounds.search_index import VIEW as SEARCH
from ledger.finance import checks as on_checks
from ledger.finance import coupons as on_coupons
from ledger.finance.causes.tray import FACT_MISSING
from ledger.finance.checks import BookLine, CheckLine
from ledger.finance.coupons import PIECES, BatchLine, QuarterLine, UnknownLine
from ledger.finance.groups import games_of, grouped, of_versions
from ledger.finance.journal import CARRIED
from ledger.finance.serials import range_text
from ledger.finance.win import game_name
from replay.reports import coupon_papers, drop_boxes, hold_limits, play, slips
from replay.reports.kind import AskedReport, ReportKind, columns, days_between
from replay.reports.overrides import OVERRIDES, overrides
from replay.reports.table import ReportColumn
from replay.text.sheets import decimal
from replay.text.wins import is_money, missing_says, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.finance.journal import JournalEntry
    from ledger.finance.win import GameOfDay, Item, TableWin
    from replay.reports.table import Value


def _names(of: TableWin) -> tuple[Value, ...]:
    """Table and game, the first columns of most reports."""
    return of.table, game_name(of)


_MASTER = (
    *columns("table game pit grade", "opener fills credits closer"),
    *columns(money="cash foreign counter_checks vouchers chips drop counted"),
    *(ReportColumn("hold", "percent"), *columns(counts="coupons exceptions")),
    *columns(money="handle moved owed", counts="fill_slips credit_slips"),
)

ALL = "all"
"""The table of a line that sums several: of a game, or of the house, which has no game."""

NO_GAME = "no game"
"""The game of a line that sums tables which opened for none."""


def _master(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Each table, then each game, then the house: of a closed day those that were signed.

    A game has the counts of the tables that played it alone, and the handle, moved and owed of all
    its rounds. The counts of tables with several games are a line of their own, named after them.
    """
    slips_of = Counter(
        (name, each.entry.partition(":")[0])
        for day in days_between(asked.since, asked.gaming_day)
        for each in _entries(asked._replace(gaming_day=day))
        for name in (each.table, ALL, f"{ALL} {_game(asked, each.table) or NO_GAME}")
    )
    of_period = _of_period(asked)
    for of in asked.wins:
        yield _master_line(of, game_name(of), _of_rounds(of), slips_of, of.table or "")
    games = {each.game or NO_GAME: each for each in games_of(of_versions(of_period))}
    groups = {of.game or NO_GAME: of for of in grouped(of_period, "game")}
    for name in sorted({*games, *groups}):
        its = _of_rounds(games[name]) if name in games else (None, None, None)
        if name in groups:
            yield _master_line(groups[name], name, its, slips_of, f"{ALL} {name}")
        else:
            yield ALL, name, *(None for _ in _MASTER[2:-5]), *its, None, None
    for of in grouped(of_period, "house"):
        yield _master_line(of, None, _of_rounds(of), slips_of, ALL)


def _of_rounds(of: TableWin | GameOfDay) -> tuple[int | None, ...]:
    return of.handle, of.moved, of.owed


def _master_line(
    of: TableWin,
    game: str | None,
    of_rounds: Sequence[Value],
    slips_of: Mapping[tuple[str, str], int],
    name: str,
) -> Sequence[Value]:
    """A line of counts. slips_of: how many slips of a kind a name of such a line has."""
    drop = of.drop
    return (
        of.table or ALL, game, None if of.pit is msgspec.UNSET else of.pit, of.grade,
        of.opener, of.fills, of.credits, of.closer,
        drop.cash, drop.foreign, drop.counter_checks, drop.vouchers, drop.chips, drop.total,
        of.counted, _hold(of), of.coupons.counted, len(of.exceptions), *of_rounds,
        *(slips_of[name, kind] for kind in ("fill", "credit")),
    )  # fmt: skip


def _of_period(asked: AskedReport) -> Sequence[TableWin]:
    """The wins of a day; of a period, with open days among them too, as wins of one open day."""
    if asked.since == asked.gaming_day:
        return asked.wins
    return [
        msgspec.structs.replace(each, gaming_day=asked.gaming_day, version=0) for each in asked.wins
    ]


def _game(asked: AskedReport, table: str) -> str | None:
    return next((game_name(each) for each in asked.wins if each.table == table), None)


def _hold(of: TableWin) -> int | None:
    """Counted win by drop, in hundredths of a percent, half to even; None without a drop.

    None at poker, too: its boxes hold the chips sold, and its win is the rake.
    """
    known = of.drop.total and of.counted is not None and of.owed is not None
    return round(_ratio(of)) if known else None


def _ratio(of: TableWin) -> Fraction:
    return Fraction(10_000 * (of.counted or 0), of.drop.total or 1)


_THREE = (
    *columns("table game grade", "counted moved owed count_gap pay_gap cage_paid handle"),
    *columns(money="coupon_funded paid_over paid_under paid_otherwise", counts="over under"),
)


_NOT_MISPAID = ("adjustment", "wrong_payer", "unrecorded")
"""Items of a pay gap in which no patron was paid too much or too little by a dealer."""


def _lost(of: TableWin, item: Item) -> bool:
    """Whether a device lost a fact that an item of the pay gap is of: its cause says so.

    One cause may be of several items, if the tray does not say which of them it is of.
    """
    return any(
        cause.code == FACT_MISSING
        and (
            (cause.round, cause.amount) == (item.round, -item.amount)
            or (cause.round is None and set(item.facts) <= set(cause.facts))
        )
        for cause in of.causes
    )


def _three_wins(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Each table, then the house: of a closed day those that were signed."""
    for of in (*asked.wins, *grouped(_of_period(asked), "house")):
        items = [item for item in of.items if item.gap == "pay"]
        paid = [i for i in items if i.code not in _NOT_MISPAID and not _lost(of, i)]
        pays = [item.amount for item in paid]
        otherwise = sum(item.amount for item in items) - sum(pays)
        over, under = [-each for each in pays if each < 0], [each for each in pays if each > 0]
        yield (
            of.table or ALL, game_name(of), of.grade,
            of.counted, of.moved, of.owed, of.count_gap, of.pay_gap,
            of.cage_paid, of.handle, of.coupons.funded,
            sum(over), sum(under), otherwise, len(over), len(under),
        )  # fmt: skip


_MISPAYS = (
    *columns("round position hand wager throw section code says", "amount"),
    *columns("cause time dealers", "stake"),
)


def _mispays(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Each item of the pay gap. Time, dealers and stake follow the record."""
    rounds = play.round_places(asked, [i.round for of in asked.wins for i in of.items if i.round])
    for of in asked.wins:
        for item in (each for each in of.items if each.gap == "pay"):
            places = (item.position, item.hand, item.wager, item.throw)
            told = (None if each is None else str(each) for each in places)
            cause = FACT_MISSING if _lost(of, item) else None
            place = rounds.get(item.round or "", play.RoundPlace())
            stake = place.stakes.get((item.position, item.hand, item.wager, item.throw))
            yield (
                item.round, *told, item.section, item.code, item.says, item.amount, cause,
                place.time, place.dealers, stake,
            )  # fmt: skip


_EXCEPTIONS = columns("table what code says", "amount")


def _exceptions(asked: AskedReport) -> Iterator[Sequence[Value]]:
    for of in asked.wins:
        for item in (each for each in of.items if each.gap != "pay"):
            yield of.table, "item", item.code, item.says, item.amount
        for cause in of.causes:
            yield of.table, "cause", cause.code, cause.says, cause.amount
        for exception in of.exceptions:
            yield of.table, "exception", exception.code, exception.says, None
        for name in of.missing:
            yield of.table, "missing", name, missing_says(of, name), None


_LATE = (*columns("table figure", "would_change", "late_facts"), ReportColumn("says"))


def _late(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """What came after the version that holds: of each figure what it would change, then exceptions.

    Every other report of the day is as it was signed, without them.
    """
    if asked.version is not None or not any(each.version for each in asked.wins):
        return
    signed = {each.table: each.exceptions for each in asked.wins}
    for of in sealed_wins.read(
        asked.database, property=asked.property, gaming_day=asked.gaming_day, kept=asked.kept
    ):
        later = [each for each in of.exceptions if each not in signed.get(of.table, ())]
        changes = {name: cents for name, cents in of.pending.items() if is_money(name)}
        none = {"none": 0} if of.late and not later else {}
        for name, amount in (changes or none).items():
            yield of.table, plain(name), amount, len(of.late), None
        for each in later:
            yield of.table, plain(each.code), None, len(of.late), each.says


_JOURNAL = (*columns("table entry says account", "amount"), *columns("", "balance"))


def _journal(asked: AskedReport) -> Iterator[Sequence[Value]]:
    for entry in _entries(asked):
        counted = {each.account: each.amount for each in entry.balances}
        moved = {each.account: each.amount for each in entry.postings}
        for account in {**moved, **counted}:
            yield (
                entry.table, entry.entry, entry.says, account,
                moved.get(account, 0), counted.get(account),
            )  # fmt: skip


_TRIAL = columns("account", "opening debits credits closing")


def _trial_balance(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Each account of the day: what it began with, what went in and out, and its end."""
    opening: dict[str, int] = defaultdict(int)
    moved: dict[str, list[int]] = defaultdict(list)
    for entry in _entries(asked):
        for posting in entry.postings:
            if entry.entry == CARRIED:
                opening[posting.account] += posting.amount
            else:
                moved[posting.account].append(posting.amount)
    for account in sorted({*opening, *moved}):
        debits = sum(each for each in moved[account] if each > 0)
        credits_ = -sum(each for each in moved[account] if each < 0)
        began = opening[account]
        yield account, began, debits, credits_, began + debits - credits_


def _entries(asked: AskedReport) -> Sequence[JournalEntry]:
    """The entries of a closed day's version; else as the record has them now."""
    day = {"property": asked.property, "gaming_day": asked.gaming_day}
    signed = signed_entries.of_day(asked.database, **day, version=asked.version)
    return journal.read(asked.database, **day) if signed is None else signed


_COUPONS = (*columns("serials", "face", " ".join(PIECES)), *columns("broken exceptions"))


def _coupons(asked: AskedReport) -> Iterator[Sequence[Value]]:
    told = coupons_and_checks.coupon_facts(asked.database, asked.property)
    for each in on_coupons.lines(told.get(asked.property, [])):
        if isinstance(each, BatchLine):
            broken = " ".join(name for name, holds in each.equations.items() if holds is False)
            pieces = (getattr(each, name) for name in PIECES)
            said = " ".join(of.says for of in each.exceptions)
            serials = range_text(each.serial_from, each.serial_to)
            yield serials, each.face, *pieces, broken or None, said or None
        elif isinstance(each, UnknownLine):
            seen = ", ".join(range_text(*its) for its in each.unknown)
            said = " ".join(("serials of no batch", *(of.says for of in each.exceptions)))
            yield seen, *(None for _ in _COUPONS[2:]), said


_QUARTER = (*columns("", "face value"), *columns(counts="redeemed"))


def _quarter(asked: AskedReport) -> Iterator[Sequence[Value]]:
    told = coupons_and_checks.coupon_facts(asked.database, asked.property)
    quarter = on_coupons.quarter_of(asked.gaming_day)
    for each in on_coupons.quarter(told.get(asked.property, []), quarter):
        if isinstance(each, QuarterLine):
            yield each.face, each.value, each.redeemed


_CHECKS = (*columns("check", "amount boxed redeemed outstanding"), ReportColumn("voided"))


def _checks(asked: AskedReport) -> Iterator[Sequence[Value]]:
    told = coupons_and_checks.check_facts(asked.database, asked.property)
    for each in on_checks.lines(told.get(asked.property, [])):
        if isinstance(each, CheckLine):
            voided = "voided" if each.voided else None
            yield each.check, each.amount, each.boxed, each.redeemed, each.outstanding, voided


_BOOKS = (*columns("book checks where", "", "used blank missing"), ReportColumn("exceptions"))


def _books(asked: AskedReport) -> Iterator[Sequence[Value]]:
    told = coupons_and_checks.check_facts(asked.database, asked.property)
    for each in on_checks.lines(told.get(asked.property, [])):
        if isinstance(each, BookLine):
            ranges = ", ".join(range_text(*its) for its in each.ranges)
            said = " ".join(of.says for of in each.exceptions)
            where = "out" if each.is_out else "in"
            yield each.book, ranges, where, each.used, each.blank, each.missing, said or None


_METER = "opening advanced paid reset closing difference"
_METERS = (*columns("meter table", _METER), *columns("difference_by_day exceptions"))


def _meters(asked: AskedReport) -> Iterator[Sequence[Value]]:
    for each in meters.read(asked.database, asked.property).values():
        said = " ".join(of.says for of in each.exceptions)
        figures = (getattr(each, name) for name in _METER.split())
        days = "; ".join(f"{of.gaming_day}: {decimal(of.amount)}" for of in each.differences)
        yield each.meter, each.table or "link", *figures, days or None, said or None


_VARIANCE = (
    *columns("table game", "drop counted"),
    ReportColumn("hold", "percent"),
    *columns("", "owed expected sigma"),
    ReportColumn("z"),
    *columns("lacks", "count_gap pay_gap"),
)


def _variance(asked: AskedReport) -> Iterator[Sequence[Value]]:
    for of in asked.wins:
        luck = of.expected
        lacks = "" if of.expected_lacks is msgspec.UNSET else ", ".join(of.expected_lacks)
        yield (
            *_names(of), of.drop.total, of.counted, _hold(of), of.owed,
            luck.win if luck else None, luck.sigma if luck else None, luck.z if luck else None,
            lacks, of.count_gap, of.pay_gap,
        )  # fmt: skip


REPORTS = (
    ReportKind("master-game", "Master Game Report", "day", _MASTER, _master, sums=True),
    ReportKind("three-wins", "The three wins", "day", _THREE, _three_wins, sums=True),
    ReportKind("variance", "Hold, luck and error", "day", _VARIANCE, _variance),
    ReportKind(
        "limits", "Hold beside its limits", "day", hold_limits.LIMITS, hold_limits.limits,
        of_seal=False, sums=True, of_wins=False,
    ),
    ReportKind("mispays", "Mispay register", "day", _MISPAYS, _mispays, sums=True),
    ReportKind("boxes", "Box reconciliation", "day", drop_boxes.CONTENT, drop_boxes.content),
    ReportKind(
        "denominations", "Boxes by denomination", "day", drop_boxes.PIECES, drop_boxes.pieces,
        of_seal=False,
    ),
    ReportKind(
        "overrides", "Overrides, voids and corrections", "day", OVERRIDES, overrides,
        of_seal=False,
    ),
    ReportKind(
        "box-counts", "Counts of boxes", "day", drop_boxes.COUNTS, drop_boxes.box_counts,
        of_seal=False,
    ),
    ReportKind(
        "exceptions", "Items, causes and exceptions", "day", _EXCEPTIONS, _exceptions, sums=True
    ),
    ReportKind("late", "Late facts of a closed day", "day", _LATE, _late),
    ReportKind("journal", "Journal", "day", _JOURNAL, _journal),
    ReportKind("trial-balance", "Trial balance", "day", _TRIAL, _trial_balance),
    ReportKind(
        "slips", "Fill and Credit Slips by number", "day", slips.SLIPS, slips.slip_continuity,
        of_seal=False,
    ),
    ReportKind(
        "inventories", "Inventory rundown", "day", slips.RUNDOWN, slips.inventory_rundown,
        of_seal=False,
    ),
    ReportKind(
        "wagers", "Handle and hold by wager", "day", play.WAGERS, play.by_wager,
        of_seal=False, sums=True,
    ),
    ReportKind("rake", "Rake of Poker", "day", play.RAKE, play.rake, sums=True),
    ReportKind("tax-week", "Tax of the week", "week", play.TAX, play.tax_week, of_seal=False),
    ReportKind(
        "coupons-day", "Match Play Coupons of the day", "day", coupon_papers.FORM,
        coupon_papers.coupon_day, of_seal=False, of_tables=False,
    ),
    ReportKind(
        "coupons-month", "Inventory of Match Play Coupons", "month", coupon_papers.FORM,
        coupon_papers.coupon_month, of_seal=False, of_tables=False,
    ),
    ReportKind(
        "coupons", "Match Play Coupons", "day", _COUPONS, _coupons, of_seal=False, of_tables=False
    ),
    ReportKind(
        "checks", "Counter checks", "day", _CHECKS, _checks, of_seal=False, of_tables=False
    ),
    ReportKind(
        "check-books", "Books of counter checks", "day", _BOOKS, _books,
        of_seal=False, of_tables=False,
    ),
    ReportKind(
        "progressives", "Progressive meters", "day", _METERS, _meters,
        of_seal=False, of_tables=False,
    ),
    ReportKind(
        "coupons-quarter", "Coupons redeemed in the quarter", "quarter", _QUARTER, _quarter,
        of_seal=False, of_tables=False,
    ),
)  # fmt: skip
"""Every report, in the order of `report schedule`."""

VIEWS = tuple(dict.fromkeys((*sealed_wins.VIEWS, SEARCH, *meters.VIEWS)))
"""The views to catch up before a report."""
