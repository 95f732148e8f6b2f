"""Control charts: z of each day, and the cumulative sums of what dealers paid over and under.

A Shewhart chart of z shows one day that chance hardly explains. A CUSUM of the pay gap shows a
small error that comes again and again, long before one day does.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct

from ledger.finance.statistics.hold import by_group

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledger.finance.statistics.hold import MoneyOfDay, VarianceBy


class ChartLimits(Struct, frozen=True, kw_only=True):
    """The limits of the two charts. The sums grow by what exceeds the allowance of a day, cents."""

    sigmas: str = "3"
    allowance: int = 500
    decision: int = 10_000


class ChartPoint(Struct, frozen=True, kw_only=True):
    """A group's gaming day on both charts.

    paid_under, paid_over: sums of pay gaps above and below zero, beyond the allowance of each day.
    alarms: `luck` if z lies outside its limit, `paid_under` and `paid_over` if a sum does.
    """

    group: str
    gaming_day: str
    z: str | None
    pay_gap: int | None
    paid_under: int
    paid_over: int
    alarms: list[str]


def points(
    days: Iterable[MoneyOfDay], limits: ChartLimits, by: VarianceBy = "table"
) -> list[ChartPoint]:
    """The points of each group in order of day, groups as `by_group` has them.

    A day without a pay gap leaves the sums as is.

    A sum begins again after its alarm, so that one error raises one alarm.
    """
    found = []
    for its in by_group(days, by).values():
        sums = {"paid_under": 0, "paid_over": 0}
        for day in sorted(its, key=lambda each: each.gaming_day):
            point = _point(day, sums, limits)
            found.append(point)
            for name in point.alarms:
                if name in sums:
                    sums[name] = 0
    return found


def _point(day: MoneyOfDay, sums: dict[str, int], limits: ChartLimits) -> ChartPoint:
    """A day's point; `sums` are moved by its pay gap."""
    if day.pay_gap is not None:
        for name, gap in (("paid_under", day.pay_gap), ("paid_over", -day.pay_gap)):
            sums[name] = max(0, sums[name] + gap - limits.allowance)
    z = day.expected.z if day.expected else None
    alarms = [name for name, total in sums.items() if total > limits.decision]
    if z is not None and abs(Fraction(z)) > Fraction(limits.sigmas):
        alarms.insert(0, "luck")
    return ChartPoint(
        group=day.group,
        gaming_day=day.gaming_day,
        z=z,
        pay_gap=day.pay_gap,
        paid_under=sums["paid_under"],
        paid_over=sums["paid_over"],
        alarms=alarms,
    )
