"""The table drawn as SVG: every game and moment, nothing left out, nothing shown too early."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from ledger.games import games
from ledger.simulate import Plan, TablePlan, deal
from replay.rounds.moment import HeldCards, Moment, SeatMoment, SeenCard, Stake
from replay.rounds.reconstruct import reconstruct
from replay.text.money import money
from replay.web.table_svg import draw_table
from replay.web.table_svg.chips import area
from replay.web.table_svg.layouts import LAYOUTS
from tests.suite.budget import budget

if TYPE_CHECKING:
    from collections.abc import Sequence

OF_AREAS = sorted(game for game in LAYOUTS if LAYOUTS[game].seats != "ring")
"""Games whose wagers lie in areas; chips of poker lie in the pot."""

SVG = "{http://www.w3.org/2000/svg}"


@cache
def rounds(game: str) -> tuple[tuple[Moment, ...], ...]:
    """Moments of some simulated rounds; the same each time."""
    seats = min(games()[game].positions, 9)
    table = TablePlan(table="T-1", game=game, seats=seats)
    facts, _ = deal(Plan(tables=(table,), minutes=12))
    found = defaultdict(list)
    for fact in facts:
        if fact.round:
            found[fact.round].append(fact)
    return tuple(tuple(reconstruct(its)) for its in found.values())


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - ours


def moment(**values: object) -> Moment:
    usual = {
        "number": 1, "source": "/p/t/d", "id": "1", "time_us": 0, "fact": "cards_dealt",
        "position": None, "says": "Something.", "phase": "over", "seats": (), "held": (),
        "throws": (), "markers": {}, "burned": 0, "paid": 0, "collected": 0, "returned": 0,
        "rake": 0, "irregularities": (), "void": None, "closed": False,
    }  # fmt: skip
    return Moment(**usual | values)  # type: ignore[arg-type]


def seat(*stakes: Stake, position: int = 2, **values: object) -> SeatMoment:
    usual = {"decisions": (), "fees": 0, "in_pot": 0, "awarded": 0}
    return SeatMoment(position=position, stakes=stakes, **usual | values)  # type: ignore[arg-type]


def stake(wager: str, **values: object) -> Stake:
    usual = {"hand": 1, "placed": 0, "on_layout": 0, "paid": 0, "collected": 0, "returned": 0}
    return Stake(wager=wager, **{"state": None} | usual | values)  # type: ignore[arg-type]


def held(to: str, *cards: SeenCard, position: int | None = None) -> HeldCards:
    return HeldCards(to=to, position=position, hand=1, cards=cards, set_as={}, gone=False)


def test_every_game_has_a_layout_of_its_own() -> None:
    assert set(LAYOUTS) == set(games())


@budget("most", everyday=1, whole=4)
@pytest.mark.parametrize("game", sorted(games()))
def test_every_moment_of_a_game_is_a_picture_that_parses_and_needs_no_style(
    game: str, most: int
) -> None:
    for its in rounds(game)[:most]:
        for at, each in enumerate(its):
            svg = draw_table(each, game, before=its[at - 1] if at else None)
            root = ET.fromstring(svg)  # noqa: S314 - ours
            assert root.get("role") == "img"
            assert root.findtext(f"{SVG}title")
            assert " style=" not in svg
            assert "<style" not in svg
            assert "nan" not in svg


@budget("most", everyday=1, whole=3)
@pytest.mark.parametrize("game", OF_AREAS)
def test_every_amount_on_the_layout_is_told_in_the_picture(game: str, most: int) -> None:
    for its in rounds(game)[:most]:
        for each in its:
            told = " ".join(texts(draw_table(each, game)))
            for its_seat in each.seats:
                for lying in its_seat.stakes:
                    if lying.on_layout:
                        assert money(lying.on_layout) in told, (each.says, lying)
                    if lying.collected and each.phase == "wagers are settled":
                        assert f"\N{MINUS SIGN}{money(lying.collected)}" in told


@pytest.mark.parametrize("game", OF_AREAS)
def test_every_wager_of_a_game_has_an_area_or_lies_with_a_hand(game: str) -> None:
    layout = LAYOUTS[game]
    areas = {each.wager for each in (*layout.spots, *layout.fields)} | layout.by_hand
    assert {wager.id for wager in games()[game].wagers} <= areas


def test_a_card_face_down_is_not_told_before_hindsight() -> None:
    one = moment(held=(held("dealer", SeenCard("Kd", up=False)),))
    seen, known = (
        draw_table(one, "three_card_poker", hindsight=hindsight) for hindsight in (False, True)
    )
    assert "K" not in texts(seen)
    assert "K" in texts(known)
    assert "Every recorded card is shown." in known


def test_with_hindsight_a_card_that_lay_down_does_not_look_like_one_that_was_seen() -> None:
    down = moment(held=(held("dealer", SeenCard("Kd", up=False)),))
    up = moment(held=(held("dealer", SeenCard("Kd", up=True)),))
    assert draw_table(down, "three_card_poker", hindsight=True) != draw_table(
        up, "three_card_poker", hindsight=True
    )


@pytest.mark.parametrize("game", ["three_card_poker", "triple_draw_2_7", "criss_cross_poker"])
def test_no_card_of_a_real_round_is_shown_before_it_was_turned(game: str) -> None:
    for its in rounds(game)[:3]:
        for each in its:
            up = sum(card.up and card.card != "??" for h in each.held for card in h.cards)
            ranks = [t for t in texts(draw_table(each, game)) if re.fullmatch("10|[2-9JQKA]", t)]
            badges = max(games()[game].positions, max((s.position for s in each.seats), default=0))
            assert len([t for t in ranks if t in "JQKA"]) <= up
            assert len(ranks) <= up + badges


def test_an_unknown_card_and_a_joker_are_told() -> None:
    cards = (SeenCard("??", up=True), SeenCard("Jk", up=True), SeenCard("Td", up=True))
    told = texts(draw_table(moment(held=(held("dealer", *cards),)), "saigon_5_card"))
    assert {"??", "JOKER", "10"} <= set(told)


def test_paid_lost_and_given_back_are_told_by_sign_and_word_and_edge() -> None:
    stakes = (
        stake("ante", paid=2_500),
        stake("play", collected=5_000),
        stake("pair_plus", returned=500),
    )
    svg = draw_table(moment(seats=(seat(*stakes),)), "three_card_poker")
    assert {"+$25", "\N{MINUS SIGN}$50", "$5 back"} <= set(texts(svg))
    assert 'stroke-dasharray="7 4"' in svg


def test_a_high_stack_leaves_what_is_printed_on_its_area_free() -> None:
    """$20 is four chips, as high as the whole area where nothing holds them down."""
    drawn = area("Banker", stake("banker", on_layout=2_000), 80, 42, round_=False, lit=False)
    circles = re.findall(r'<circle [^>]*cy="([^"]+)" r="([^"]+)"', drawn)
    [printed] = re.findall(r' y="([^"]+)"[^>]*>Banker<', drawn)
    assert len(circles) == 2 * 4
    assert min(float(y) - float(radius) for y, radius in circles) > float(printed) + 2


def test_what_a_fact_changed_is_lit() -> None:
    before = moment(seats=(seat(stake("ante", placed=500, on_layout=500)),))
    now = moment(seats=(seat(stake("ante", placed=500, on_layout=0, paid=500)),), number=2)
    lit = draw_table(now, "three_card_poker", before=before)
    assert lit.count('stroke-width="4"') == 1
    assert 'stroke-width="4"' not in draw_table(now, "three_card_poker", before=now)


def test_a_wager_and_a_holder_without_a_place_on_the_layout_are_drawn_all_the_same() -> None:
    odd = moment(
        seats=(seat(stake("side_show", placed=700, on_layout=700)),),
        held=(held("stranger", SeenCard("9h", up=True)),),
    )
    for game in ("three_card_poker", "three_dice_football", "no_such_game", None):
        told = " ".join(texts(draw_table(odd, game)))
        assert "Side show" in told
        assert "$7" in told
    assert "9" in texts(draw_table(odd, "three_card_poker"))


def test_more_positions_than_a_layout_has_are_drawn() -> None:
    many = moment(
        seats=tuple(seat(stake("player", on_layout=100), position=p) for p in range(1, 15))
    )
    assert {str(p) for p in range(1, 15)} <= set(texts(draw_table(many, "minibaccarat")))


def test_words_of_the_record_cannot_become_markup() -> None:
    svg = draw_table(moment(void="<script>alert(1)</script>", says="<b>&"), "craps")
    assert "<script>" not in svg
    assert ET.fromstring(svg) is not None  # noqa: S314 - ours


def test_the_pot_of_a_poker_round_is_what_was_put_in_less_awards_and_rake() -> None:
    seats = (
        seat(stake("ante", placed=500, on_layout=500), position=1, in_pot=2_500, stack=10_000),
        seat(position=2, in_pot=3_000, awarded=1_000),
    )
    told = texts(
        draw_table(moment(seats=seats, rake=500, button=2, pots_taken={0: 1_500}), "badugi")
    )
    assert "Pot $45" in told
    assert "$70" in told  # what the first has left of 100
    assert "D" in told


def test_the_field_tells_yard_down_and_play_beside_the_markers() -> None:
    markers: dict[str, int | str] = {"yard": 7, "down": 4, "game_length": 3}
    told = texts(draw_table(moment(markers=markers), "three_dice_football"))
    assert {"yard 7", "● 1st & Goal", "● 3"} <= set(told)


def test_the_shooter_the_point_and_the_bonus_numbers_of_craps_are_told() -> None:
    now = moment(markers={"point": 6}, shooter=3, bonus_numbers=(4, 11))
    told = texts(draw_table(now, "craps"))
    assert {"ON", "shooter: position 3", "● 4", "● 11"} <= set(told)


def test_pictures_on_one_page_keep_their_ids_apart() -> None:
    ids = [re.findall(r' id="([^"]+)"', draw_table(moment(), "craps", key=k)) for k in "ab"]
    assert not set(ids[0]) & set(ids[1])


def bonus(moments: Sequence[Moment]) -> list[tuple[int, ...]]:
    return [each.bonus_numbers for each in moments]


def test_bonus_numbers_of_craps_add_up_until_a_bonus_wager_is_collected() -> None:
    told = [numbers for its in rounds("craps") for numbers in bonus(its)]
    assert max(map(len, told)) >= 2
    ended = [its for its in rounds("craps") if any(bonus(its))]
    assert any(not its[-1].bonus_numbers for its in ended)
