"""What people write must have something in it to read, whatever characters it is made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import Usage
from ledger.values import RoundId
from replay.disputes.dispute import Claim, Dispute
from replay.text.typed import written

INVISIBLE = st.text(st.characters(categories=("Cf", "Zs", "Zl", "Zp", "Cc")), min_size=1)
MARKS = st.text(st.characters(categories=("Mn", "Me", "Cn", "Co")), min_size=1)
FILLERS = st.text("\u115f\u1160\u2800\u3164\uffa0", min_size=1)
SEEN = st.characters(categories=("L", "N", "P", "S")).filter(
    lambda each: each not in "\u115f\u1160\u2800\u3164\uffa0\U0001d159"
)
ROUND = RoundId("hollywood", "CC-07", "2026-11-20", 231)
CASE = Dispute(
    property="hollywood", dispute="D-1", claims=(Claim(ROUND, 3, "Too little.", "F-7", 0),)
)


@given(st.lists(st.one_of(INVISIBLE, MARKS, FILLERS), min_size=1).map("".join))
def test_text_of_which_nothing_can_be_seen_is_refused(text: str) -> None:
    with pytest.raises(Usage, match="only blanks and invisible characters"):
        written(text, "saw")


@given(INVISIBLE, SEEN, INVISIBLE)
def test_text_with_one_character_that_shows_is_kept_as_it_is(
    before: str, seen: str, after: str
) -> None:
    assert written(before + seen + after, "saw") == before + seen + after


@pytest.mark.parametrize(
    "text", ["\u200b", "\u2060", "\u00ad", "\u00a0", "\ufeff\u202e\u2003", " "]
)
def test_the_usual_invisible_characters_are_refused(text: str) -> None:
    with pytest.raises(Usage):
        written(text, "saw")


@given(INVISIBLE)
def test_no_step_of_a_dispute_is_made_of_it(text: str) -> None:
    steps = (
        lambda: Dispute(property="hollywood", dispute="D-1").raise_(ROUND, 3, text, "F-7"),
        lambda: CASE.note(text, "S-1"),
        lambda: CASE.observe(text, "S-1"),
        lambda: CASE.resolve(text, "S-1"),
    )
    for step in steps:
        with pytest.raises(Usage):
            step()
