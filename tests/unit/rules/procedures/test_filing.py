"""A Rules Submission that names what its game does not know, and what it may name instead."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.adjudication.submissions import FiledSubmission, in_force
from ledger.facts import Breakage, RulesSubmissionFiled
from ledger.games import games
from ledger.rules.procedures.submission_check import problems


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


METER = "straight_jack"
TERMS = "meter rate reset initial"
LEAST = "an amount of 500000 cents or more"
RATES = "a part above 0 and up to 1, such as 1/10, 10% or 0.1"
TERMS_UNKNOWN = [
    ({"blackjack": {}}, "blackjack", METER),
    ({METER: "1/10"}, METER, f"an object of {TERMS.replace(' ', ', ')}"),
    ({METER: {"seed": 500_000}}, f"{METER}.seed", TERMS),
    ({METER: {"meter": 7}}, f"{METER}.meter", "the name that its facts give the meter"),
    ({METER: {"meter": ""}}, f"{METER}.meter", "the name that its facts give the meter"),
    *(
        ({METER: {"rate": rate}}, f"{METER}.rate", RATES)
        for rate in (0, "0%", "-1/10", 2, "101%", "much", None, "1/0", [])
    ),
    *(
        ({METER: {name: cents}}, f"{METER}.{name}", LEAST)
        for name in ("initial", "reset")
        for cents in (499_999, -500_000, "500000", 500_000.0, True, None)
    ),
]


@pytest.mark.parametrize(("terms", "where", "allowed"), TERMS_UNKNOWN)
def test_633a_13_m_2_terms_of_a_meter_that_cannot_hold_are_named(
    terms: dict[str, Any], where: str, allowed: str
) -> None:
    found = problems(games()["blackjack"], filing("blackjack", progressives=terms))
    assert [(each.where, " ".join(each.allowed)) for each in found] == [
        (f"progressives.{where}", allowed)
    ]


@pytest.mark.parametrize("rate", ["1/10", "10%", "0.1", 0.1, 1, "100%"])
def test_633a_13_m_2_terms_of_a_meter_that_hold_are_not(rate: object) -> None:
    terms = {"meter": "link-7", "rate": rate, "initial": 500_000, "reset": 600_000}
    assert problems(games()["blackjack"], filing("blackjack", progressives={METER: terms})) == []
    assert problems(games()["blackjack"], filing("blackjack", progressives={METER: {}})) == []


@pytest.mark.parametrize("game_id", ["saigon_5_card", "asia_poker", "badugi"])
def test_a_limit_that_no_section_knows_or_below_its_least_is_named_and_limits_nothing(
    game_id: str,
) -> None:
    game = games()[game_id]
    name, least = next(iter(game.limits.items()))
    for limits, wrong in (
        ({name: least}, []),
        ({name: None}, []),
        ({name: least - 1}, [(f"limits.{name}", f"an amount of {least} cents or more")]),
        ({"payout": 1}, [("limits.payout", " ".join(game.limits))]),
    ):
        chosen = filing(game_id, limits=limits)
        assert [(each.where, " ".join(each.allowed)) for each in problems(game, chosen)] == wrong
        rules = in_force(game, "p", "T-1", "2015-03-01", [FiledSubmission("p", None, 0, chosen)])
        assert rules.limits == ({name: least} if limits.get(name) == least else {})


@pytest.mark.parametrize("game_id", games())
def test_a_limit_of_null_is_none_whether_the_game_knows_one_or_not(game_id: str) -> None:
    game = games()[game_id]
    chosen = filing(game_id, limits={"payout_per_player_round": None})
    assert problems(game, chosen) == []
    assert (
        in_force(game, "p", "T-1", "2015-03-01", [FiledSubmission("p", None, 0, chosen)]).limits
        == {}
    )


def test_680a_12_d_and_659a_12_c_a_payout_limit_is_at_least_50_000_dollars() -> None:
    for game_id in ("saigon_5_card", "asia_poker"):
        assert games()[game_id].limits == {"payout_per_player_round": 5_000_000}


def test_what_a_game_does_not_know_chooses_nothing() -> None:
    game = games()["criss_cross_poker"]
    chosen = filing(
        readings={"pair_of_tens": "lose"},
        options={"decks": 2},
        paytables={"middle": {"flush": "nothing"}},
        breakage=Breakage(unit=25),
    )
    rules = in_force(game, "p", "T-1", "2015-03-01", [FiledSubmission("p", None, 0, chosen)])
    assert rules.readings == {"pair_of_tens": "push", "coupon_on_push": "returned"}
    assert rules.decks == 1
    assert rules.breakage_unit == 25
