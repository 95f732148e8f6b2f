"""A table's gaming day: its papers and rounds put together to the three wins.

count_gap = counted - moved = tray + exchange + the differences of the boxes' contents;
pay_gap = moved - owed = the differences of wagers + amends. The items say which. Rake that poker
took beside other games is in moved, and in no pay gap.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ledger.edges.spread.moments import Spread
from ledger.facts import (
    AdjustmentPaid,
    ChipsExchanged,
    InventoryCounted,
    TableOpened,
    TournamentEntered,
    TournamentPrizePaid,
)
from ledger.facts.accounting import TournamentMoney
from ledger.finance import boxes as in_boxes
from ledger.finance import slips as on_slips
from ledger.finance.causes import report_11
from ledger.finance.causes.tray import TrayDay, causes_of_tray, tray_says
from ledger.finance.exceptions import (
    BEFORE_OPENER,
    BY_ONE,
    GAME_CHANGED,
    SINCE,
    TWO_KINDS,
    USED_TWICE,
    VOIDED_BOXED,
    negative_amounts,
    numbers_given_twice,
    totals_differ,
)
from ledger.finance.placing import by_time, table_of
from ledger.finance.statistics.expected import expected_win, sum_of
from ledger.finance.win import (
    REPORT,
    REPORT_5,
    REPORT_6,
    REPORT_7,
    REPORT_8,
    REPORT_9,
    REPORT_10,
    REPORT_11,
    SEVERAL,
    AuditException,
    BoxContent,
    Cause,
    CouponFigures,
    ExpectedWin,
    GameOfDay,
    Grade,
    Item,
    TableWin,
    TournamentFigures,
    figures,
    game_name,
    with_coupons,
)
from ledger.rules.engine.ruling import joined, refs
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.finance.boxes import DropBox
    from ledger.finance.rounds import RoundMoney, TrayMove
    from ledger.finance.slips import SlipRecord
    from ledger.finance.win import GapOf
    from ledger.record.wire import Fact
    from ledger.rules.engine.ruling import FactRef


class GameRounds(NamedTuple):
    """The money of a day's rounds of one game, summed: fields as in `RoundsMoney`."""

    game: str | None  # None: rounds that name no game
    poker: bool
    sums: Mapping[str, int]  # by the names of `SUMS`
    spread: Spread
    lacks: tuple[str, ...]


class RoundsMoney(NamedTuple):
    """The money of all rounds of a day, summed. Cents, from the table's side."""

    game: str | None
    poker: bool = False
    played: bool = False  # whether a round is on record
    moved: int = 0
    tray: int = 0  # what the tray gained: moved, but at poker without the rake
    owed: int = 0
    cage_paid: int = 0
    handle: int = 0
    rake: int = 0
    funded: int = 0
    awaiting: tuple[str, ...] = ()  # "CC-07/2026-11-20/231": closed, and not settled
    items: tuple[Item, ...] = ()
    exceptions: tuple[AuditException, ...] = ()
    causes: tuple[Cause, ...] = ()
    placed: tuple[tuple[FactRef, ...], ...] = ()  # of each cause without facts, those of its stake
    bets: tuple[Cause, ...] = ()  # poker: bets given back otherwise than due
    beside_rake: tuple[FactRef, ...] = ()  # poker: what moved chips of the tray
    rake_facts: tuple[FactRef, ...] = ()  # what took rake
    # Rounds in which a device's facts are missing, each with the facts beside the gaps.
    beside_gaps: tuple[tuple[str, tuple[FactRef, ...]], ...] = ()
    spread: Spread = Spread()  # of what is owed, by the rounds that lack no wager
    lacks: tuple[str, ...] = ()  # wagers without a mean or a variance, in order of name
    games: tuple[GameRounds, ...] = ()  # the same sums by game, in order of name


SUMS = ("moved", "tray", "owed", "cage_paid", "handle", "rake", "funded")
"""The amounts of a round that a day sums."""


class DayRecord(NamedTuple):
    """What the win of a table's gaming day rests on; facts in order of time."""

    property: str
    table: str
    gaming_day: str
    facts: Sequence[Fact]  # outside rounds, of this day
    slips: Sequence[SlipRecord]  # those that this day decides
    before: Sequence[Fact]  # the facts of the day before
    rounds: RoundsMoney
    across: Sequence[AuditException] = ()  # exceptions that rest on other days too
    sent: Sequence[SlipRecord] = ()  # credits dispatched on this day, accepted on a later one
    sold: Mapping[str, int] = {}  # cents of vouchers that any table sold for chips, by number
    report: int = REPORT  # the version of the report that says it
    played: Sequence[Fact] = ()  # of the day that it was last open, before days without play
    after: Sequence[TrayMove] = ()  # by rounds of this day after its closer, in order of time
    carried: Sequence[TrayMove] = ()  # by rounds of the day before after its closer, as above
    voided: Mapping[str, Sequence[FactRef]] = {}  # what voids counter checks, by number


class DayMoney(NamedTuple):
    """The money of a table's day or shift that hold and luck rest on, cents; as in `TableWin`."""

    property: str
    table: str
    gaming_day: str
    shift: str | None
    game: str | None
    drop: int | None
    counted: int | None
    moved: int
    owed: int | None  # None: poker
    pay_gap: int | None
    expected: ExpectedWin | None


class DayFigures(NamedTuple):
    """The figures of a day outside its rounds, cents; a figure without its count is None."""

    has_tray: bool
    boxes: Sequence[DropBox]
    bought: Mapping[str, int]  # cents of the vouchers sold for chips, by number
    opener: int | None
    closer: int | None
    seconds: int | None
    fills: int
    credits: int
    drop: BoxContent
    sold: dict[str, int]
    exchange: int
    adjusted: int
    adjusted_by_cage: int


def papers_of(of: DayRecord) -> Iterator[Fact]:
    """The facts outside rounds that a day rests on, those of its slips too."""
    yield from of.facts
    for slip in of.slips:
        yield from slip.facts


def as_report(of: DayRecord, report: int) -> DayRecord:
    """A day as a version of the report says it; one of a newer program as this one does."""
    if report >= REPORT:
        return of
    if of.rounds.game is None and _opened(of) is None:
        of = of._replace(rounds=of.rounds._replace(poker=False))
    of = of._replace(rounds=of.rounds._replace(games=()))
    if report >= REPORT_10:
        return of._replace(report=report)
    of = of._replace(rounds=of.rounds._replace(played=False, bets=()), voided={})
    if report >= REPORT_9:
        return of._replace(report=report)
    slips = [each if each.accepted else each._replace(elsewhere=()) for each in of.slips]
    since = of._replace(report=report, slips=slips, after=(), carried=())
    if report >= REPORT_6:
        return since
    rounds = of.rounds._replace(causes=(), placed=(), beside_rake=())
    since = since._replace(rounds=rounds, sold={})
    if report >= REPORT_5:
        return since
    return since._replace(
        slips=[each._replace(elsewhere=(), sent_before=False) for each in of.slips],
        across=[each for each in of.across if each.code != BY_ONE],
        sent=(),
    )


def total(rounds: Mapping[str, tuple[RoundMoney, str | None]]) -> RoundsMoney:
    """The money of a day's rounds, by subject: their money and game."""
    names = sorted(rounds, key=_numbered)
    money = [rounds[name][0] for name in names]
    by_game: dict[str | None, list[RoundMoney]] = defaultdict(list)
    for name in names:
        by_game[rounds[name][1] or None].append(rounds[name][0])
    first = next((game for name in names if (game := rounds[name][1])), None)
    return together(first, (_of_game(*each) for each in by_game.items()))._replace(
        **details(list(zip(names, money, strict=True))),
        rake_facts=tuple(ref for each in money for ref in each.rake_facts),
    )


def _of_game(game: str | None, money: Sequence[RoundMoney]) -> GameRounds:
    """The money of rounds of one game."""
    return GameRounds(
        game,
        any(each.poker for each in money),
        {name: sum(getattr(each, name) or 0 for each in money) for name in SUMS},
        sum_of((each.mean or "0", each.variance or "0") for each in money),
        tuple(sorted({wager for each in money for wager in each.lacks})),
    )


def together(first: str | None, games: Iterable[GameRounds]) -> RoundsMoney:
    """The money of all rounds, from that of each game. first: the game of the first round.

    They are of poker if every round whose game is known is played for pots, and there is one.
    """
    its = tuple(sorted(games, key=lambda each: each.game or ""))
    named = [each.poker for each in its if each.game]
    sums: dict[str, Any] = {name: sum(each.sums[name] for each in its) for name in SUMS}
    return RoundsMoney(
        first,
        bool(named) and all(named),
        played=bool(its),
        **sums,
        spread=sum((each.spread for each in its), Spread()),
        lacks=tuple(sorted({wager for each in its for wager in each.lacks})),
        games=its,
    )


_DETAILS = ("items", "exceptions", "causes", "bets", "beside_rake")


def details(rounds: Sequence[tuple[str, RoundMoney]]) -> dict[str, Any]:
    """What rounds say one by one, by the fields of `RoundsMoney`. rounds: each with its subject."""
    money = [each for _, each in rounds]
    parts = {name: [part for each in money for part in getattr(each, name)] for name in _DETAILS}
    beside = [(name, tuple(each.beside_gaps)) for name, each in rounds if each.beside_gaps]
    return {
        "awaiting": tuple(name for name, each in rounds if each.awaits),
        **{name: tuple(its) for name, its in parts.items()},
        "placed": tuple(tuple(refs_) for each in money for refs_ in each.placed),
        "beside_gaps": tuple(beside),
    }


def _numbered(subject: str) -> tuple[str, int]:
    """The sort key of a round: its table and day, then its number."""
    place, _, number = subject.rpartition("/")
    return place, int(number)


def win(of: DayRecord, told: DayRecord | None = None) -> TableWin:
    """The three wins of a table's day, with corrections; `told`: the same day as recorded."""
    found = _win(of)
    if told is None:
        return found
    named = with_coupons if of.report > REPORT_9 else figures
    before, after = named(_win(told)), named(found)
    differ = {name: before[name] for name in before if before[name] != after[name]}
    return msgspec.structs.replace(found, told=differ)


def money(of: DayRecord, shift: str | None = None) -> DayMoney:
    """The money of a table's day, or of a part of it."""
    return _money(of, figures_of(of), shift)


def money_of_win(of: TableWin) -> DayMoney:
    """The same of a win that was worked out."""
    return DayMoney(
        of.property,
        of.table or "",
        of.gaming_day,
        of.shift or None,
        game_name(of),
        of.drop.total,
        of.counted,
        of.moved,
        of.owed,
        of.pay_gap,
        of.expected,
    )


def _money(of: DayRecord, figures: DayFigures, shift: str | None = None) -> DayMoney:
    rounds, opened = of.rounds, _opened(of)
    moved = rounds.rake if rounds.poker else rounds.tray + rounds.rake - figures.adjusted
    owed = None if rounds.poker else rounds.owed
    pay_gap = None if owed is None else moved - rounds.rake - owed
    if owed is not None and of.report <= REPORT_11:  # it had the rake
        owed += rounds.rake
    games = SEVERAL.join(each.game for each in rounds.games if each.game)
    return DayMoney(
        of.property,
        of.table,
        of.gaming_day,
        shift,
        games or rounds.game or (opened.game if opened else None),
        figures.drop.total,
        _counted(figures, poker=rounds.poker),
        moved,
        owed,
        pay_gap,
        None if owed is None or rounds.lacks else expected_win(rounds.owed, rounds.spread),
    )


def _opened(of: DayRecord) -> TableOpened | None:
    return next((fact.body for fact in of.facts if isinstance(fact.body, TableOpened)), None)


def rests_on_sales(of: DayRecord) -> bool:
    """Whether the drop may rest on what the table sold: no box, or one that is not worth a sum."""
    boxes = _boxes(of)
    return not boxes or in_boxes.content(boxes, {}).total is None


def _boxes(of: DayRecord) -> list[DropBox]:
    """The stays of the day's boxes; before version 7 of the report all of a box is one."""
    return in_boxes.boxes(of.facts, by_stay=of.report >= REPORT_7)


def _win(of: DayRecord) -> TableWin:
    figures, opened, games = figures_of(of), _opened(of), _games(of)
    its = _money(of, figures)
    awaiting = (f"round:{name}" for name in of.rounds.awaiting)
    missing = [*_missing(figures), *_slips_of_no_table(of), *awaiting]
    bank = _bank_items(of, figures)
    items = [*_count_items(of, figures), *of.rounds.items]
    items += bank or [*_poker_beside(of), *_amends(of)]
    grade: Grade = "ESTIMATE" if missing else "COUNTED"
    return TableWin(
        property=of.property,
        table=of.table,
        gaming_day=of.gaming_day,
        pit=_pits(of),
        game=of.rounds.game or (opened.game if opened else None),
        grade=grade,
        opener=figures.opener,
        fills=figures.fills,
        credits=figures.credits,
        closer=figures.closer,
        drop=figures.drop,
        coupons=CouponFigures(
            counted=_coupons(of, figures),
            funded=of.rounds.funded,
        ),
        counted=its.counted,
        moved=its.moved,
        owed=its.owed,
        cage_paid=of.rounds.cage_paid + figures.adjusted_by_cage,
        handle=of.rounds.handle,
        count_gap=None if its.counted is None else its.counted - its.moved,
        pay_gap=its.pay_gap,
        bank_variance=_bank_variance(of, figures, bank),
        tournaments=tournaments(of.facts),
        seconds=figures.seconds,
        items=items,
        causes=_causes(of, figures, items),
        exceptions=_exceptions(of, figures),
        missing=missing,
        expected=its.expected,
        expected_lacks=list(of.rounds.lacks) or msgspec.UNSET,
        games=games or msgspec.UNSET,
        told={},
    )


def _pits(of: DayRecord) -> str | None:
    """The pits that a table opened in; before version 12 of the report the first opening's."""
    pits = [fact.body.pit for fact in of.facts if isinstance(fact.body, TableOpened)]
    if of.report <= REPORT_11:
        return pits[0] if pits else None
    return SEVERAL.join(dict.fromkeys(filter(None, pits))) or None


def _games(of: DayRecord) -> list[GameOfDay]:
    """What the rounds of each game say; empty if they are all of the day's game."""
    names = {each.game for each in of.rounds.games if each.game}
    return [_game(of, each) for each in of.rounds.games] if names - {of.rounds.game} else []


def _game(of: DayRecord, its: GameRounds) -> GameOfDay:
    tray, owed, rake = its.sums["tray"], its.sums["owed"], its.sums["rake"]
    is_known = not (its.poker or its.lacks)
    return GameOfDay(
        game=its.game,
        moved=rake if of.rounds.poker else tray + rake,
        owed=None if its.poker else owed,
        pay_gap=None if its.poker else tray - owed,
        cage_paid=its.sums["cage_paid"],
        handle=its.sums["handle"],
        rake=rake,
        expected=expected_win(owed, its.spread) if is_known else None,
    )


def _exceptions(of: DayRecord, figures: DayFigures) -> list[AuditException]:
    """What somebody must look at; of an earlier version of the report in its codes."""
    found = [
        *on_slips.exceptions(of.slips),
        *of.across,
        *in_boxes.exceptions(figures.boxes, figures.bought, by_number=of.report >= REPORT_6),
        *in_boxes.amounts_differ(figures.boxes, of.facts),
        *_voided_boxed(of, figures),
        *_opener_differs(of),
        *_before_opener(of),
        *totals_differ(_slips(of)),
        *numbers_given_twice(of.facts),
        *negative_amounts(papers_of(of)),
        *of.rounds.exceptions,
        *_two_kinds(of),
        *_game_changed(of),
        *(_poker_boxes(of, figures) if of.rounds.poker and of.report < REPORT_5 else ()),
    ]
    later = {code for first, codes in SINCE.items() if of.report < first for code in codes}
    return [each for each in found if each.code not in later]


def _two_kinds(of: DayRecord) -> Iterator[AuditException]:
    """The exception of a table that plays against the house and has rake: what it opened for."""
    opened = [fact for fact in of.facts if isinstance(fact.body, TableOpened)]
    if of.rounds.rake and not of.rounds.poker:
        other = "a game against the house" if of.report >= REPORT_11 else of.rounds.game
        in_owed = " and owed" if of.report <= REPORT_11 else "; nothing is owed for it"
        yield AuditException(
            code=TWO_KINDS,
            says=f"Rounds of poker are on record beside those of {other}; their rake of "
            f"{dollars(of.rounds.rake)} is in moved{in_owed}.",
            facts=refs(opened) if of.report >= REPORT_7 else [],
        )


def _game_changed(of: DayRecord) -> Iterator[AuditException]:
    """The exception of a table that opened for several games or in several pits on one day."""
    opened = {f: f.body for f in of.facts if isinstance(f.body, TableOpened)}
    pits = {body.pit for body in opened.values() if body.pit}
    if len(pits) > 1 or len({body.game for body in opened.values()}) > 1:
        places = dict.fromkeys(map(_game_and_pit, opened.values()))
        by_game = "; what its rounds say stands by game." if _games(of) else "."
        under = ", which is all under one game and one pit."
        yield AuditException(
            code=GAME_CHANGED,
            says=f"The table opened for {', then for '.join(places)}. No count parts its money"
            f"{under if of.report <= REPORT_11 else by_game}",
            facts=refs(opened),
        )


def _game_and_pit(opened: TableOpened) -> str:
    return f"{opened.game} in pit {opened.pit}" if opened.pit else opened.game


def _coupons(of: DayRecord, figures: DayFigures) -> int | None:
    """The pieces in the boxes; None if a box is not counted."""
    boxes = figures.boxes
    is_counted = all(box.last for box in boxes) and (boxes or figures.drop.total is not None)
    if not is_counted and of.report >= REPORT_5:
        return None
    return sum(map(len, in_boxes.coupons_in(boxes).values()))


def figures_of(of: DayRecord) -> DayFigures:
    """The figures of a day outside its rounds."""
    opener, closer = opener_of(of), closer_of(of.facts)
    first = next((fact for fact in of.facts if _kind(fact) == "open"), None)
    accepted = [slip for slip in of.slips if slip.accepted]
    amends = [fact.body for fact in of.facts if isinstance(fact.body, AdjustmentPaid)]
    boxes = _boxes(of)
    bought = {**of.sold, **in_boxes.vouchers_bought(of.facts)}
    sold = in_boxes.sold(of.facts)
    is_filled = of.rounds.played or bool(of.rounds.rake) or any(sold.values())
    return DayFigures(
        has_tray=not _is_tournament(of),
        boxes=boxes,
        bought=bought,
        opener=_total(opener),
        closer=_total(closer),
        seconds=(closer.time_us - first.time_us) // 1_000_000 if first and closer else None,
        fills=sum(slip.total for slip in accepted if slip.kind == "fill"),
        credits=sum(slip.total for slip in accepted if slip.kind == "credit"),
        drop=in_boxes.content(boxes, bought, is_filled=is_filled),
        sold=sold,
        exchange=sum(exchanged(fact) for fact in of.facts),
        adjusted=sum(each.amount for each in amends if each.paid_from == "table"),
        adjusted_by_cage=sum(each.amount for each in amends if each.paid_from == "cage"),
    )


def tournaments(facts: Iterable[Fact]) -> TournamentFigures | msgspec.UnsetType:
    """Entries and prizes of tournaments; unset if no fact is of one."""
    told = [fact.body for fact in facts if isinstance(fact.body, TournamentMoney)]
    if not told:
        return msgspec.UNSET
    entries = sum(each.amount for each in told if isinstance(each, TournamentEntered))
    prizes = sum(each.amount for each in told if isinstance(each, TournamentPrizePaid))
    return TournamentFigures(entries=entries, prizes=prizes, win=entries - prizes)


def _is_tournament(of: DayRecord) -> bool:
    """Whether all money of a table's day is a tournament's: the cage has it, and no tray is due.

    A table of poker may have opened for it, since version 12 of the report.
    """
    is_opened = of.rounds.poker and of.report > REPORT_11
    allowed = (TournamentMoney, TableOpened) if is_opened else TournamentMoney
    return (
        of.report >= REPORT_7
        and not (of.slips or of.rounds.game or of.rounds.awaiting)
        and any(isinstance(fact.body, TournamentMoney) for fact in of.facts)
        and all(isinstance(fact.body, allowed) for fact in of.facts)
    )


def _opener_differs(of: DayRecord) -> list[AuditException]:
    """The exception for an opening count that is not the last closer of the days before."""
    opener, closer = opener_of(of), closer_before(of)
    if opener is None or closer is None or _total(opener) == _total(closer):
        return []
    return [
        AuditException(
            code="opener_differs",
            says=f"The tray opened with {dollars(_total(opener) or 0)}; "
            f"it closed with {dollars(_total(closer) or 0)} {_when(of, closer)}.",
            facts=refs([opener, closer]),
        )
    ]


def _voided_boxed(of: DayRecord, figures: DayFigures) -> Iterator[AuditException]:
    """The exceptions of counter checks that were voided, and are in a box of the table."""
    for number, (amount, last) in sorted(in_boxes.checks_in(figures.boxes).items()):
        if void := of.voided.get(number):
            yield AuditException(
                code=VOIDED_BOXED,
                says=f"Counter Check {number} of {dollars(amount)} was voided, and is in a box of "
                "this table; the drop has it.",
                facts=joined(refs([last]), void),
            )


def _before_opener(of: DayRecord) -> Iterator[AuditException]:
    """The exception of a closer that was counted before the opener, by their clocks."""
    opener, closer = opener_of(of), closer_of(of.facts)
    if opener and closer and closer.time_us < opener.time_us:
        yield AuditException(
            code=BEFORE_OPENER,
            says=f"The closer of {dollars(_total(closer) or 0)} has an earlier time than the "
            f"opener of {dollars(_total(opener) or 0)}.",
            facts=refs([opener, closer]),
        )


def _slips(of: DayRecord) -> list[Fact]:
    """The counts of the tray, and the facts of the day's slips."""
    counts = (fact for fact in of.facts if isinstance(fact.body, InventoryCounted))
    return [*counts, *(fact for slip in of.slips for fact in slip.facts)]


def _kind(fact: Fact) -> str | None:
    return fact.body.kind if isinstance(fact.body, InventoryCounted) else None


def _total(fact: Fact | None) -> int | None:
    return fact.body.total if fact and isinstance(fact.body, InventoryCounted) else None


def opener_of(of: DayRecord) -> Fact | None:
    """The first `open` count; without one the day before's last count; None if no tray is due."""
    if _is_tournament(of):
        return None
    first = next((fact for fact in of.facts if _kind(fact) == "open"), None)
    return first or closer_of(of.before)


def closer_of(facts: Sequence[Fact]) -> Fact | None:
    """The last `drop` or `close` count."""
    return next((fact for fact in reversed(facts) if _kind(fact) in ("drop", "close")), None)


def closer_before(of: DayRecord) -> Fact | None:
    """The last count that an opener is compared with: of the day before, or over days without play.

    Before version 8 of the report only of the day before.
    """
    return closer_of(of.before) or (closer_of(of.played) if of.report >= REPORT_8 else None)


def _when(of: DayRecord, closer: Fact) -> str:
    if closer_of(of.before) or not isinstance(closer.body, InventoryCounted):
        return "the day before"
    return f"on {closer.body.gaming_day}, when it was last open"


def exchanged(fact: Fact) -> int:
    """What the tray gained by an exchange of chips: given by the patron less received."""
    body = fact.body
    if not isinstance(body, ChipsExchanged):
        return 0
    given = sum(int(each) * count for each, count in body.given.items())
    return given - sum(int(each) * count for each, count in body.received.items())


def _missing(of: DayFigures) -> list[str]:
    """What a counted win lacks."""
    tray = ("opener", "closer") if of.has_tray else ()
    found = [name for name in tray if getattr(of, name) is None]
    if not of.boxes and of.drop.total is None:
        return [*found, "box"]
    uncounted = (box for box in of.boxes if in_boxes.content([box], of.bought).total is None)
    return [*found, *dict.fromkeys(f"box:{box.number}" for box in uncounted)]


def _slips_of_no_table(of: DayRecord) -> Iterator[str]:
    """The slips whose acceptance names no table, and whose number several tables used."""
    shared = {ref for each in of.across if each.code == USED_TWICE for ref in each.facts}
    for slip in of.slips if of.report > REPORT_11 else ():
        away = [fact for fact in slip.accepted if table_of(fact)[1] != of.table]
        if shared.intersection(refs(away)):
            yield f"slip:{slip.number}"


def _counted(figures: DayFigures, *, poker: bool) -> int | None:
    """The counted win; at poker the rake in the boxes; 0 without a tray."""
    if not figures.has_tray:
        return 0
    if poker:
        return figures.drop.chips
    opener, closer, drop = figures.opener, figures.closer, figures.drop.total
    if opener is None or closer is None or drop is None:
        return None
    return closer + figures.credits + drop - opener - figures.fills


def _tray(figures: DayFigures, rounds: RoundsMoney) -> int | None:
    """The closer less what opener, slips, sales, exchanges and moved chips leave in the tray."""
    if figures.opener is None or figures.closer is None:
        return None
    sales = sum(amount for kind, amount in figures.sold.items() if kind != "chips")
    left = figures.opener + figures.fills - figures.credits - sales + figures.exchange
    return figures.closer - left - (rounds.tray - figures.adjusted)


def _count_items(of: DayRecord, figures: DayFigures) -> list[Item]:
    """The items of the count gap that are known; at poker only the rake's."""
    poker = of.rounds.poker
    found = []
    for kind in ("chips",) if poker else in_boxes.KINDS:
        amount: int | None = getattr(figures.drop, kind)
        expected = figures.sold[kind] if kind != "chips" else of.rounds.rake
        if amount is not None and amount != expected:
            found.append(_box_item(of, figures, kind, expected))
    tray = _tray(figures, of.rounds)
    if figures.exchange and not poker:
        found.append(_exchange_item(of, figures, "count"))
    if tray and not poker:
        found.append(_tray_item(of, tray))
    return found


def _bank_items(of: DayRecord, figures: DayFigures) -> list[Item]:
    """The items of what poker's imprest bank has too much; none before version 5 of the report."""
    if not of.rounds.poker or of.report < REPORT_5:
        return []
    found = []
    if figures.exchange:
        found.append(_exchange_item(of, figures, "bank"))
    if of.rounds.tray:
        found.append(_play_item(of, of.rounds.tray, "bank"))
    found += _amends(of)
    for kind in in_boxes.KINDS[:-1]:
        amount: int | None = getattr(figures.drop, kind)
        if amount is not None and amount != figures.sold[kind]:
            item = _box_item(of, figures, kind, figures.sold[kind])
            found.append(msgspec.structs.replace(item, gap="bank"))
    tray = _tray(figures, of.rounds)
    if tray:
        found.append(msgspec.structs.replace(_tray_item(of, tray), gap="bank"))
    return found


def _poker_beside(of: DayRecord) -> Iterator[Item]:
    """The item of what poker moved beside its rake at a table that plays other games, too."""
    cents = sum(each.sums["tray"] for each in of.rounds.games if each.poker)
    if cents and not of.rounds.poker:
        yield _play_item(of, cents, "pay")


def _play_item(of: DayRecord, cents: int, gap: GapOf) -> Item:
    says = f"Chips moved beside the rake, as fees do; the tray {_gained(cents)}."
    facts = list(of.rounds.beside_rake)
    return Item(gap=gap, code="play", amount=cents, says=says, facts=facts)


def _bank_variance(of: DayRecord, figures: DayFigures, bank: Sequence[Item]) -> int | None:
    """What poker's bank has too much: the sum of its items; None where a count is missing."""
    tray = _tray(figures, of.rounds) if of.rounds.poker else None
    if tray is None or of.report < REPORT_5:
        return tray
    return None if figures.drop.total is None else sum(item.amount for item in bank)


def _exchange_item(of: DayRecord, figures: DayFigures, gap: GapOf) -> Item:
    return Item(
        gap=gap,
        code="exchange",
        amount=figures.exchange,
        says=f"Chips were exchanged unequally; the tray {_gained(figures.exchange)}.",
        facts=refs([fact for fact in of.facts if exchanged(fact)]),
    )


def _box_item(of: DayRecord, figures: DayFigures, kind: str, expected: int) -> Item:
    name = "foreign notes" if kind == "foreign" else kind.replace("_", " ")
    amount: int = getattr(figures.drop, kind)
    lasts = [box.last for box in figures.boxes if box.last]
    rake = of.rounds.rake_facts if kind == "chips" and of.report > REPORT_8 else ()
    return Item(
        gap="count",
        code=f"box_{kind}",
        amount=amount - expected,
        says=f"{dollars(amount)} of {name} was counted in the boxes; "
        f"the table recorded {dollars(expected)}.",
        facts=joined(refs([*lasts, *in_boxes.sellers(kind, of.facts)]), rake),
    )


def _poker_boxes(of: DayRecord, figures: DayFigures) -> list[AuditException]:
    """Box contents at poker that differ from the chips sold. No win has them."""
    found = []
    for kind in in_boxes.KINDS[:-1]:
        amount: int | None = getattr(figures.drop, kind)
        if amount is not None and amount != figures.sold[kind]:
            item = _box_item(of, figures, kind, figures.sold[kind])
            found.append(AuditException(code="box_differs", says=item.says, facts=item.facts))
    return found


def _tray_item(of: DayRecord, tray: int) -> Item:
    counts = [fact for fact in (opener_of(of), closer_of(of.facts)) if fact]
    return Item(gap="count", code="tray", amount=tray, says=tray_says(tray), facts=refs(counts))


def _gained(amount: int) -> str:
    return f"{'gained' if amount > 0 else 'lost'} {dollars(abs(amount))}"


def _amends(of: DayRecord) -> list[Item]:
    """Amends paid from the table: moved, and owed by no ruling; at poker from its bank."""
    gap: GapOf = "bank" if of.rounds.poker and of.report >= REPORT_5 else "pay"
    return [
        Item(
            gap=gap,
            code="adjustment",
            amount=-fact.body.amount,
            position=fact.body.position,
            says=f"{dollars(fact.body.amount)} was paid from the table to settle dispute "
            f"{fact.body.dispute}.",
            facts=refs([fact]),
        )
        for fact in of.facts
        if isinstance(fact.body, AdjustmentPaid) and fact.body.paid_from == "table"
    ]


def _causes(of: DayRecord, figures: DayFigures, items: Sequence[Item]) -> list[Cause]:
    """What explains the gaps, or parts of them."""
    opener, closer = opener_of(of), closer_of(of.facts)
    found = [
        *on_slips.causes(of.slips),
        *on_slips.causes_over_days("credit", of.sent, of.slips, opener, closer),
        *_check_causes(of, figures),
        *_stakes(of),
        *_straddling(of),
    ]
    tray, poker = _tray(figures, of.rounds), of.rounds.poker
    if poker and of.report > REPORT_11:
        found = [_of_bank(each) for each in found]
    if tray is None or (poker and of.report <= REPORT_11):
        return found
    counts = refs([fact for fact in (opener, closer) if fact])
    fills = list(on_slips.causes_over_days("fill", of.sent, of.slips, opener, closer))
    if poker:  # no gap has what a device lost
        its = TrayDay(tray, counts, [], found, [_of_bank(each) for each in fills], ())
        return [*found, *causes_of_tray(its)]
    its = TrayDay(tray, counts, items, found, fills, of.rounds.beside_gaps)
    if of.report <= REPORT_11:
        return [*found, *report_11.causes_of_tray(its, stakes=of.report >= REPORT_5)]
    return [*found, *causes_of_tray(its)]


def _of_bank(cause: Cause) -> Cause:
    """A cause at poker: tray and boxes are of its bank, and the count gap has the rake alone."""
    return msgspec.structs.replace(cause, gap="bank") if cause.gap == "count" else cause


def _stakes(of: DayRecord) -> Iterator[Cause]:
    """Stakes, pots and bets that went otherwise than due; one that never moved has its facts."""
    placed = of.rounds.placed if of.report > REPORT_8 else ()
    for nth, cause in enumerate(of.rounds.causes):
        stake = placed[nth] if nth < len(placed) else ()
        yield msgspec.structs.replace(cause, facts=list(stake)) if stake else cause
    yield from of.rounds.bets


def _straddling(of: DayRecord) -> Iterator[Cause]:
    """Rounds whose chips moved after the count that ends their day: the next opener lacks them."""
    closer, opener = closer_of(of.facts), opener_of(of)
    for count, moves, code, sign in (
        (closer, of.after, "round_after_closer", -1),
        (opener, of.carried, "round_of_day_before", 1),
    ):
        late = [each for each in moves if count and each[:3] > by_time(count)]
        for name in dict.fromkeys(each.round for each in late):
            its = [each for each in late if each.round == name]
            if cents := sum(each.cents for each in its):
                how = f"{dollars(abs(cents))} {'into' if cents > 0 else 'out of'} the tray after"
                yield Cause(
                    gap="bank" if of.rounds.poker else "count",
                    code=code,
                    amount=sign * cents,
                    round=name,
                    says=f"Round {name} moved {how} the {'closer' if sign < 0 else 'opener'}; it "
                    f"counts in its own day, {name.split('/')[1]}.",
                    facts=[*refs([count] if count else []), *(each.ref for each in its)],
                )


def _check_causes(of: DayRecord, figures: DayFigures) -> list[Cause]:
    """Counter checks that explain the box; before version 5 of the report in its words."""
    found = list(in_boxes.causes(figures.boxes, of.facts, figures.bought, of.voided))
    if of.report < REPORT_6:
        found = [each for each in found if each.code not in SINCE[REPORT_6]]
    if of.report >= REPORT_5:
        return found
    words = {
        "is in no box of this table.": "is in no box.",
        "a box of this table, which did not record it.": "a box, and no table recorded it.",
    }
    return [_in_words(each, words) for each in found]


def _in_words(cause: Cause, words: Mapping[str, str]) -> Cause:
    says = cause.says
    for now, before in words.items():
        says = says.removesuffix(now) + before if says.endswith(now) else says
    return msgspec.structs.replace(cause, says=says)
