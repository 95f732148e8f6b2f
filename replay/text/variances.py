"""A hold's limits as people read them: what lies outside, what is explained, and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from replay.text.wins import signed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ledger.finance.statistics.hold import Explanation, LimitCheck, VarianceLine


def check_says(check: LimitCheck) -> str:
    """The cents that a win lies off its base, those that two people signed, and the rest."""
    told = [f"win {signed(check.off_base or 0)} off the base"]
    if check.explained:
        told.append(f"{signed(check.explained)} explained")
    if check.unexplained:
        told.append(f"{signed(check.unexplained)} signed as unexplained")
    if len(told) > 1:
        within = "" if check.open or not check.left else ", which lies within the limit"
        told.append(f"{signed(check.left or 0)} left{within}")
    return ", ".join(told)


def state_of(check: LimitCheck | None) -> str:
    """Whether a hold lies within a limit, or what became of what lies outside."""
    if check is None or check.outside is None:
        return "not compared"
    if not check.outside:
        return "within"
    return "open" if check.open else "explained"


def explanation_says(of: Explanation) -> str:
    """Who signed what of a table's variance, and why."""
    if of.alone:
        return f"{of.by} alone signed {signed(of.amount)}, which closes nothing: {of.because}"
    rest = f", and left {signed(of.unexplained)} unexplained" if of.unexplained else ""
    return f"{of.by} and {of.second} explained {signed(of.amount)}{rest}: {of.because}"


def limits_say(found: Iterable[VarianceLine]) -> Iterator[tuple[str, str]]:
    """Each broken limit of some lines by its name and period, with `check_says`."""
    for line in found:
        for check in line.limits:
            if check.outside:
                yield f"{check.limit} of the {line.period}", check_says(check)
