"""What the figures of `make bench` are held to, and the table that says which of them hold.

A limit is what the product promises; a figure without one is only reported. Nothing fails here: a
run on a busy machine is read with the machine in view.
"""

from __future__ import annotations

import operator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, NamedTuple

from consumers.registry import VIEWS
from ledger.games import games
from ledger.rules.procedures.supervision import POKER
from ledger.simulate import DEALT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Limit(NamedTuple):
    """A bound on every figure whose path (bench.group.figure) matches."""

    figure: str
    sign: Literal[">=", "<="]
    bound: float


class Held(NamedTuple):
    """A figure beside its limit; without a value where this run did not measure it."""

    figure: str
    value: float | None
    limit: str
    met: bool | None


_FOLLOWED = [view.name for view in VIEWS if view.name != "rulings"]
"""Views with a limit of their own; rulings play every round again and are reported apart."""

_LATER = sorted(games().keys() - set(DEALT) - POKER)
"""Banked games after the first two; Poker has rounds of betting, and is only reported."""

LIMITS = (
    Limit("tape.append_50_a_call.ours_to_stock", ">=", 2),
    Limit("tape.append_50_a_call.ours_to_raw", ">=", 0.4),
    Limit("tape.singles_from_200_tables.ours_to_stock_recorder", ">=", 4),
    Limit("tape.singles_from_200_tables_flush_2_ms.ours_to_stock_recorder", ">=", 10),
    *(Limit(f"adjudicate.{name}.adjudicated_to_decoded", ">=", 1 / 6) for name in DEALT),
    *(Limit(f"adjudicate.{name}.adjudicated_to_decoded", ">=", 1 / 10) for name in _LATER),
    *(Limit(f"views.facts_per_s.{name}", ">=", 50_000) for name in _FOLLOWED),
    Limit("tape.append_1000_a_call.ours_to_raw", ">=", 0.45),
    Limit("feed.published_per_s.relay_to_bare_kafka_python", ">=", 0.6),
    Limit("judge.parsed_to_loaded", ">=", 0.65),
    Limit("judge.adjudicate_of_a_million.peak_mib", "<=", 1_024),
    Limit("verify.by_two_processes.two_to_one", ">=", 1.5),
    Limit("feed.rebuilt_by_two.rulings.two_to_one", ">=", 1.5),
    Limit("feed.rebuilt_by_two.drop.two_to_one", ">=", 1.6),
    Limit("feed.rebuilt_by_two.disputes.two_to_one", ">=", 1.6),
    Limit("commands.*_s.first", "<=", 0.75),
    Limit("commands.*_s.again", "<=", 0.55),
    Limit("history.table_days_6000.drop_of_a_day_s", "<=", 0.2),
    Limit("history.longer_to_shorter.*", "<=", 2.5),  # in proportion, and some chance
    Limit("history.queue_of_10000.*.p99", "<=", 100),
    Limit("views.round_ms_at_10000000.cold_fetch_and_rule.p99", "<=", 20),
    Limit("views.round_ms_at_10000000.warm_fetch_and_rule.p99", "<=", 5),
    Limit("footage.clip_of_20_s_across_segments_ms.ffmpeg_to_ours_alone", ">=", 1),
    Limit("footage.clip_of_20_s_across_segments_ms.ffmpeg_to_ours", ">=", 0.5),
    Limit("footage.nine_cameras.previews.dropped_share.*", "<=", 0.01),
    Limit("footage.nine_cameras.previews.apart_frames.p99", "<=", 1.01),  # times are rounded
    Limit("finance.day_s.wins", "<=", 1),
    Limit("finance.closed_day_s.wins", "<=", 1),
    Limit("finance.day_s.worked_out", "<=", 10),
    Limit("finance.year_s.sums", "<=", 60),
    Limit("finance.statistics_s.closed_days", "<=", 60),
    Limit("round.facts_shown_s", "<=", 1),
    Limit("round.pictures_shown_s", "<=", 2),
)


def held(results: Mapping[str, object]) -> list[Held]:
    """Every limit of the benchmarks that ran, figure by figure."""
    figures = dict(flat(results))
    return [
        one
        for limit in LIMITS
        if limit.figure.partition(".")[0] in results
        for one in _held(limit, figures)
    ]


def table(rows: list[Held]) -> str:
    """The same as lines: figure, value, limit, met."""
    width = max((len(row.figure) for row in rows), default=0)
    return "\n".join(
        f"  {row.figure:<{width}}  {_shown(row.value):>12}  {row.limit:>9}  {_MET[row.met]}"
        for row in rows
    )


_MEETS = {">=": operator.ge, "<=": operator.le}
_MET = {True: "met", False: "NOT MET", None: "not measured"}


def _held(limit: Limit, figures: Mapping[str, float]) -> Iterator[Held]:
    text = f"{limit.sign} {round(limit.bound, 3):,}"
    found = [name for name in figures if fnmatchcase(name, limit.figure)]
    for name in found or [limit.figure]:
        value = figures.get(name)
        yield Held(
            name, value, text, None if value is None else _MEETS[limit.sign](value, limit.bound)
        )


def flat(figures: Mapping[str, object], above: str = "") -> Iterator[tuple[str, float]]:
    """Every figure by its path: bench.group.figure."""
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from flat(value, f"{above}{name}.")
        elif isinstance(value, int | float):
            yield f"{above}{name}", value


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"
