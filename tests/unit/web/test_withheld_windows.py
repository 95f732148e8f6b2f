"""Why a window is preserved: shown to a blind reviewer only if none of their rounds is in it."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import patch

import pytest

from infra.access.users import User
from ledger.values import RoundId
from replay.disputes.dispute import Dispute
from replay.disputes.preserved_windows import PreservedWindow, WindowRelease
from replay.web.access import blind_review
from replay.web.access.blind_review import WITHHELD

ROUND = RoundId("hollywood", "CC-07", "2026-11-20", 231)
WENT = (100, 200)
REVIEWER = User("reviewer", "S-2002", frozenset(("surveillance",)))


def window(from_us: int, to_us: int, table: str | None, place: str) -> PreservedWindow:
    let_go = [WindowRelease("A", 0, 9, "S-2001", "Nothing to see.", 300)]
    return PreservedWindow(
        "P-1", place, table, from_us, to_us, "S-2001", "A fall.", [], let_go, "released", None
    )


def shown(
    of: PreservedWindow, went: tuple[int, int] | None = WENT, who: User = REVIEWER
) -> set[str]:
    """Every reason that somebody is shown who reviews the round blind."""
    request = SimpleNamespace(
        state=SimpleNamespace(hidden={ROUND: Dispute(property="hollywood", dispute="D-1")}),
        app=SimpleNamespace(state=SimpleNamespace(ports=SimpleNamespace(database=None))),
    )
    times = {ROUND: went}
    with patch.object(blind_review, "round_times", lambda _, round_: times[round_]):
        (found,) = blind_review.windows(request, who, [of])  # type: ignore[arg-type] # what is read of one
    return {found.because, *(each.because for each in found.released)}


@pytest.mark.parametrize(
    ("from_us", "to_us", "table", "place", "told"),
    [
        pytest.param(50, 300, "CC-07", "hollywood", False, id="round within"),
        pytest.param(120, 180, "CC-07", "hollywood", False, id="within the round"),
        pytest.param(50, 100, "CC-07", "hollywood", False, id="ends as it begins"),
        pytest.param(200, 300, "CC-07", "hollywood", False, id="begins as it ends"),
        pytest.param(50, 150, None, "hollywood", False, id="of a camera, which has no table"),
        pytest.param(50, 99, "CC-07", "hollywood", True, id="before"),
        pytest.param(201, 300, None, "hollywood", True, id="after"),
        pytest.param(50, 300, "CC-08", "hollywood", True, id="of another table"),
        pytest.param(50, 300, "CC-07", "meadows", True, id="of another property"),
    ],
)
def test_a_window_that_a_withheld_round_lies_in_tells_no_reason(
    from_us: int, to_us: int, table: str | None, place: str, *, told: bool
) -> None:
    reasons = {"A fall.", "Nothing to see."} if told else {WITHHELD}
    assert shown(window(from_us, to_us, table, place)) == reasons


def test_a_round_of_which_no_fact_is_on_record_may_lie_in_any_window_of_its_table() -> None:
    assert shown(window(50, 60, "CC-07", "hollywood"), None) == {WITHHELD}
    assert WITHHELD not in shown(window(50, 60, "CC-08", "hollywood"), None)


def test_who_wrote_a_reason_and_who_reviews_nothing_are_told_it() -> None:
    over = window(50, 300, "CC-07", "hollywood")
    mine = over._replace(by=REVIEWER.employee)
    assert shown(mine) == {"A fall.", WITHHELD}
    auditor = User("auditor", "S-3001", frozenset(("auditor",)))
    assert WITHHELD not in shown(over, who=auditor)
