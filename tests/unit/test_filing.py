"""A Rules Submission that names what its game does not know, and what it may name instead."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.facts import Breakage, RulesSubmissionFiled
from ledger.games import games
from ledger.rules.filing import problems
from ledger.submissions import Filed, in_force


def filing(game: str = "criss_cross_poker", **fields: Any) -> RulesSubmissionFiled:  # noqa: ANN401 - its fields
    return RulesSubmissionFiled(game=game, effective_from="2015-01-01", **fields)


@pytest.mark.parametrize("game_id", games())
def test_what_a_game_leaves_to_choose_may_be_named(game_id: str) -> None:
    game = games()[game_id]
    letters = {
        key: table.letter for table in game.paytables for key in table.wagers if table.letter
    }
    for last in (False, True):
        chosen = filing(
            game_id,
            edition=game.editions[0].chapter,
            offers=tuple(wager.id for wager in game.wagers if wager.optional),
            paytables=letters,
            readings={each.name: each.values[-last] for each in game.readings},
            options={each.name: each.values[-last] for each in game.options},
        )
        assert problems(game, chosen) == []


PAID = "ante_across ante_down across down middle five_card_bonus"

UNKNOWN = [
    ({"edition": "999"}, "edition", "592"),
    ({"offers": ("tie",)}, "offers", "five_card_bonus"),
    ({"offers": ("ante_across",)}, "offers", "five_card_bonus"),
    ({"readings": {"pair_of_tens": "lose"}}, "readings.pair_of_tens", "push one_to_one"),
    ({"readings": {"tens": "push"}}, "readings.tens", "pair_of_tens coupon_on_push"),
    ({"options": {"decks": 2}}, "options.decks", ""),
    ({"paytables": {"middle": "B"}}, "paytables.middle", ""),
    ({"paytables": {"middle": {"flush": "8 to 1"}}}, "paytables.middle.flush", ""),
    ({"paytables": {"tie": "A"}}, "paytables.tie", PAID),
]


@pytest.mark.parametrize(("fields", "where", "allowed"), UNKNOWN)
def test_what_a_game_does_not_know_is_named_with_what_it_does(
    fields: dict[str, Any], where: str, allowed: str
) -> None:
    found = problems(games()["criss_cross_poker"], filing(**fields))
    assert [(each.where, " ".join(each.allowed)) for each in found] == [(where, allowed)]


def test_what_a_game_does_not_know_chooses_nothing() -> None:
    game = games()["criss_cross_poker"]
    chosen = filing(
        readings={"pair_of_tens": "lose"},
        options={"decks": 2},
        paytables={"middle": {"flush": "nothing"}},
        breakage=Breakage(unit=25),
    )
    rules = in_force(game, "p", "T-1", "2015-03-01", [Filed("p", None, 0, chosen)])
    assert rules.readings == {"pair_of_tens": "push", "coupon_on_push": "returned"}
    assert rules.decks == 1
    assert rules.breakage_unit == 25
