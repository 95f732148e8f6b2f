"""The acts that two people sign, in the words that people read."""

from __future__ import annotations

import pytest

from ledger.roster.door import TWO_PEOPLE
from replay.approvals.acts import ACTS, act_of, release_act
from tests.scenes.signed_floor import fact_from
from tests.unit.roster.test_door import DEALT, OWN, SHOE, example_of

TITLES = {
    "day_close": "Close a gaming day",
    "day_reopen": "Open a gaming day again",
    "variance_explain": "Explain a variance",
    "break_acknowledge": "Acknowledge a break of the record",
    "quarantine_release": "Release an input from quarantine",
    "closing_release": "Release a closing or an explanation from quarantine",
    "patron_erase": "Erase a patron's token",
    "epoch_begin": "Begin a new epoch of the record",
}


def test_each_act_has_the_title_that_people_read() -> None:
    """The list, the page of a request and its errors all name an act by its title."""
    assert {act.name: act.title for act in ACTS} == TITLES


@pytest.mark.parametrize(("name", "command"), TWO_PEOPLE.items())
def test_a_fact_of_two_people_is_released_by_the_roles_of_its_act(name: str, command: str) -> None:
    """Else two people who may not close a day would close it with a file."""
    its = act_of(command.replace(" ", "_"))
    release = act_of(release_act(fact_from("/hollywood/office/win", example_of(name))))
    assert (release.asks, release.gives) == (its.asks, its.gives)


def test_any_other_fact_is_released_by_ops_too() -> None:
    """The control of the test before."""
    assert "ops" in act_of(release_act(fact_from(SHOE, DEALT, OWN))).gives
