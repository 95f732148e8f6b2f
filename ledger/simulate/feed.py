"""All tables of a plan as one feed, in order of arrival, with the planted mistakes."""

from __future__ import annotations

import random
from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

from ledger.adjudication.submissions import filed, in_force
from ledger.facts import CouponsIssued, RulesSubmissionFiled
from ledger.games import games
from ledger.record.wire import Fact, encode
from ledger.simulate.cameras.cameras import checks
from ledger.simulate.device_emitter import HOUR, SECOND, Happening, Witnessed
from ledger.simulate.floor import COUPONS, Day
from ledger.simulate.mistakes import spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ledger.simulate.plan import Plan, Planted

_FILED_DAYS = 20


class Emitted(NamedTuple):
    """One fact as it arrives, and the mistakes planted up to then."""

    fact: Fact
    true_us: int  # true time of the event
    arrives_us: int
    planted: tuple[Planted, ...] = ()


def simulate(plan: Plan) -> Iterator[Emitted]:
    """Deal a plan: every fact that arrives, in order of arrival.

    Raises ValueError for a game that is not dealt here.
    """
    for each, planted in happenings(plan):
        if each.arrives_us is not None:
            yield Emitted(each.fact, each.true_us, each.arrives_us, planted)


def deal(plan: Plan) -> tuple[list[Fact], list[Planted]]:
    """A whole plan at once: the facts that arrive, and the planted mistakes."""
    facts: list[Fact] = []
    planted: list[Planted] = []
    for emitted in simulate(plan):
        facts.append(emitted.fact)
        planted += emitted.planted
    return facts, planted


def line(plan: Plan, fact: Fact) -> bytes:
    """A fact as a line of a feed, without the line feed."""
    subject = fact.round.subject if fact.round else None
    if isinstance(fact.body, RulesSubmissionFiled):
        subject = plan.property
    return encode(
        fact.body,  # type: ignore[arg-type]  # a fact's body is one of ledger.facts
        fact.source,
        fact.id,
        fact.time_us,
        subject,
        sequence=fact.sequence,
        boot=fact.boot,
        offset_minutes=plan.offset_minutes,
    )


def happenings(
    plan: Plan, witnessed: Mapping[str, list[Witnessed]] | None = None
) -> Iterator[tuple[Happening, tuple[Planted, ...]]]:
    """All facts of the floor, lost ones included, and the mistakes planted up to then.

    witnessed: gets what truly happens at each table it names, in order. Raises ValueError for a
    game that is not dealt here.
    """
    for table in plan.tables:
        if table.game not in games():
            raise ValueError(
                f"{table.table} plays {table.game}, which is not dealt here; "
                f"name one of {', '.join(games())}"
            )
    office = list(_office(plan))
    submissions = filed(each.fact for each in office)
    due = spread(plan, random.Random(f"{plan.seed}/mistakes"))  # noqa: S311 - repeatable, not for security
    days: list[Iterator[tuple[Happening, tuple[Planted, ...]]]] = []
    for index, table in enumerate(plan.tables):
        rules = in_force(
            games()[table.game], plan.property, table.table, plan.gaming_day, submissions
        )
        day = Day(plan, index, rules, due[table.table])
        day.teller.witnessed = witnessed.get(table.table) if witnessed else None
        days.append(_arriving(day))
        days.append(_plainly(checks(plan, table)))
    yield from merge(_plainly(office), *days, key=_arrival)


def _plainly(told: Iterable[Happening]) -> Iterator[tuple[Happening, tuple[Planted, ...]]]:
    return ((each, ()) for each in told)


def _arrival(entry: tuple[Happening, tuple[Planted, ...]]) -> int:
    each = entry[0]
    return each.true_us if each.arrives_us is None else each.arrives_us


def _arriving(day: Day) -> Iterator[tuple[Happening, tuple[Planted, ...]]]:
    """A table's day. Planted mistakes come with the last fact of their stretch."""
    for told in day.happenings():
        planted, day.planted = tuple(day.planted), []
        last = len(told) - 1
        told.sort(key=lambda each: _arrival((each, ())))
        for number, each in enumerate(told):
            yield each, planted if number == last else ()


def _office(plan: Plan) -> Iterator[Happening]:
    """The office's facts before the day: a Rules Submission a game, and coupons."""
    source = f"/{plan.property}/office/desk"
    at_us = plan.midnight_us - _FILED_DAYS * 24 * HOUR + 9 * HOUR
    since = "2026-01-01" if plan.gaming_day >= "2026-01-01" else "2010-01-01"
    bodies: list[RulesSubmissionFiled | CouponsIssued] = []
    for game in sorted({table.game for table in plan.tables}):
        optional = tuple(wager.id for wager in games()[game].wagers if wager.optional)
        terms = {
            meter.wager: {"rate": "1/10", "initial": meter.least, "reset": meter.least}
            for meter in games()[game].meters
        }
        bodies.append(
            RulesSubmissionFiled(
                game=game, effective_from=since, offers=optional, progressives=terms
            )
        )
    couponed = sorted({each.game for each in plan.tables if games()[each.game].player_model.coupon})
    if couponed:
        bodies.append(
            CouponsIssued(
                serial_from="MP-000000",
                serial_to=f"MP-{len(plan.tables) * COUPONS - 1:06d}",
                face=500,
                terms="odds",
                games=tuple(couponed),
                expires=plan.gaming_day,
            )
        )
    for number, body in enumerate(bodies, 1):
        at_us += 90 * SECOND
        id_ = f"{plan.gaming_day}-{number}"
        fact = Fact(body, source, id_, at_us, None, "office", None, None)
        yield Happening(fact, at_us, at_us)
