"""Papers of two days: a closed day has one as it was signed, and another day has it now."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from consumers.finance.undecided import Undecided, fact_named
from ledger.finance.boxes import boxes, count_total
from ledger.finance.placing import by_time
from ledger.finance.win import AuditException
from ledger.rules.engine.ruling import refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from consumers.finance.sealed.pins import PaperOfDays
    from ledger.facts import DaySealed
    from ledger.finance.exceptions import DayKey
    from ledger.record.wire import Fact

IN_TWO_DAYS = "counted_in_two_days"
"""The code of a paper that a closed day has, and another day too."""

TAKEN_OVER = "drop.taken_over"
"""What other days take of a closed day's boxes, among what is pending."""


def in_two_days(
    papers: Iterable[PaperOfDays], sealed: Mapping[tuple[str, str], DaySealed]
) -> dict[DayKey, list[Undecided]]:
    """The papers that a closed day has as it was signed and another day too, by table and day.

    sealed: what closes each gaming day, by property and day.
    """
    found: dict[DayKey, list[Undecided]] = defaultdict(list)
    told = list(papers)
    taken = _taken_over(told)
    for paper in told:
        signed = sorted(paper.signed, key=lambda day: sealed[day[:2]].heads.get("office", 0))
        first, fact = signed[0], paper.signed[signed[0]]
        others = sorted({day[1] for day in paper.days} - {first[1]})
        version = sealed[first[:2]].version
        says = (
            f"{fact_named(fact)} is in version {version} of {first[1]} as it was signed, and in "
            f"{' and '.join(others)} as it is now. Open {first[1]} again and close it, so that one "
            "day has it."
        )
        exception = AuditException(code=IN_TWO_DAYS, says=says, facts=refs([paper.recorded]))
        for day in paper.days:
            cents = taken.get((day, paper.recorded.source, paper.recorded.id))
            gone = {} if cents is None else {TAKEN_OVER: -cents}
            missing = f"reopen:{first[1]}"
            found[day].append(Undecided(exception, missing, (fact.time_us,), gone))
    return found


def _taken_over(papers: Iterable[PaperOfDays]) -> dict[tuple[DayKey, str, str], int]:
    """The cents of boxes that left a closed day, by day and count: of each box its last count."""
    left: dict[tuple[DayKey, DayKey], list[Fact]] = defaultdict(list)
    for paper in papers:
        for day, fact in paper.signed.items():
            if paper.now and day != paper.now[0]:
                left[day, paper.now[0]].append(fact)
    return {
        (day, box.last.source, box.last.id): cents
        for (day, _), facts in left.items()
        for box in boxes(sorted(facts, key=by_time))
        if box.last and (cents := count_total(box.last, {})) is not None
    }
