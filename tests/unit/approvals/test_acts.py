"""The acts that two people sign, in the words that people read."""

from __future__ import annotations

from replay.approvals.acts import ACTS

TITLES = {
    "day_close": "Close a gaming day",
    "day_reopen": "Open a gaming day again",
    "variance_explain": "Explain a variance",
    "break_acknowledge": "Acknowledge a break of the record",
    "quarantine_release": "Release an input from quarantine",
}


def test_each_act_has_the_title_that_people_read() -> None:
    """The list, the page of a request and its errors all name an act by its title."""
    assert {act.name: act.title for act in ACTS} == TITLES
