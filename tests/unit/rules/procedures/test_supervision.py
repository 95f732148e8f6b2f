"""Who and what watches a floor: dealers, cameras, floorpersons; and how dice are inspected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger import facts as told
from ledger.adjudication.feed import adjudicate
from ledger.record.wire import Fact
from ledger.rules.engine.ruling import TableFindings
from ledger.rules.procedures.supervision import limit_of
from ledger.values import RoundId
from tests.unit.games.rounds import resolves

if TYPE_CHECKING:
    from ledger.facts import Body

DAY = "2015-03-01"
CARDS, CRAPS, FOOTBALL = "criss_cross_poker", "craps", "three_dice_football"


class Floor:
    """Facts of several tables of one property, a second apart."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.rounds = 0

    def say(self, table: str, *bodies: Body, round_: RoundId | None = None) -> None:
        for body in bodies:
            number = len(self.facts)
            source = f"/hollywood/{table}/terminal"
            us = number * 1_000_000
            self.facts.append(Fact(body, source, str(number), us, round_, table, None, None))

    def open(self, table: str, game: str) -> None:
        self.say(table, told.TableOpened(game=game, gaming_day=DAY, min_wager=5, max_wager=50))

    def staff(self, table: str, *roles: str) -> None:
        for number, role in enumerate(roles):
            self.say(table, told.DealerAssigned(employee=f"D-{number}", role=role))  # type: ignore[arg-type]  # a test's own words

    def camera(self, table: str, name: str, *covers: str, kind: str = "stationary") -> None:
        self.say(
            table,
            told.CameraMapped(camera=name, table=table, kind=kind, covers=covers),  # type: ignore[arg-type]  # as above
        )

    def round(self, table: str, game: str) -> None:
        self.rounds += 1
        round_ = RoundId("hollywood", table, DAY, self.rounds)
        self.say(table, told.RoundStarted(game=game), round_=round_)

    def found(self, *codes: str) -> list[str]:
        """Findings with these codes: table, section, due and there."""
        found = [
            (said.table, each)
            for said in adjudicate(self.facts)
            if isinstance(said, TableFindings)
            for each in said.findings
            if each.code in codes
        ]
        assert all(resolves(each.section or "") for _, each in found)
        return [f"{table} {each.section} {each.expected} {each.recorded}" for table, each in found]


STAFFS = [
    (CARDS, ["dealer"], []),
    (CARDS, ["stickperson"], []),
    (FOOTBALL, ["dealer", "dealer", "stickperson"], []),
    (FOOTBALL, ["dealer", "stickperson"], ["T-1 465a.35(b)(3) 3 2"]),
    (FOOTBALL, ["dealer", "dealer", "dealer"], ["T-1 465a.35(b)(3) stickperson none"]),
    (CRAPS, ["dealer", "dealer", "stickperson", "boxperson"], []),
    (CRAPS, ["dealer", "dealer", "stickperson"], ["T-1 465a.35(b)(4) boxperson none"]),
    (
        CRAPS,
        ["dealer", "stickperson", "boxperson"],
        ["T-1 465a.35(b)(3) 3 2"],
    ),
    ("baccarat", ["dealer", "dealer"], []),
    ("baccarat", ["dealer"], ["T-1 465a.35(b)(2) 2 1"]),
    (CARDS, [], []),
]


@pytest.mark.parametrize(("game", "roles", "found"), STAFFS)
def test_465a_35_b_a_game_is_dealt_by_so_many(
    game: str, roles: list[str], found: list[str]
) -> None:
    floor = Floor()
    floor.staff("T-1", *roles)
    for _ in range(3):
        floor.round("T-1", game)
    assert floor.found("dealers_short") == found


def test_465a_35_b_a_dealer_who_goes_is_missed_until_another_comes_and_told_again_later() -> None:
    floor = Floor()
    floor.staff("T-1", "dealer")
    gone = told.DealerRelieved(employee="D-0", role="dealer")
    for _ in range(2):
        floor.round("T-1", CARDS)
        floor.say("T-1", gone)
        floor.round("T-1", CARDS)
        floor.round("T-1", CARDS)
        floor.staff("T-1", "dealer")
    assert floor.found("dealers_short") == ["T-1 465a.35(b)(1) 1 0"] * 2


def test_465a_9_c_2_a_stationary_camera_a_table_and_one_an_end_of_a_dice_table() -> None:
    floor = Floor()
    floor.camera("T-1", "C-1", "table")
    floor.round("T-1", CARDS)
    floor.camera("T-2", "C-2", "table", kind="ptz")
    floor.round("T-2", CARDS)
    floor.camera("T-3", "C-3", "end_left")
    floor.camera("T-3", "C-4", "end_left")
    floor.round("T-3", CRAPS)
    floor.camera("T-4", "C-5", "end_left")
    floor.camera("T-4", "C-6", "end_right")
    floor.round("T-4", FOOTBALL)
    floor.camera("T-5", "C-7", "end_left", "end_right")
    floor.round("T-5", FOOTBALL)
    floor.camera("T-6", "C-8", "tray", kind="ptz")
    floor.round("T-6", "baccarat")
    floor.round("T-7", CARDS)
    unmapped = told.CameraUnmapped(camera="C-1", table="T-1", kind="stationary", covers=("table",))
    floor.say("T-1", unmapped)
    floor.round("T-1", CARDS)
    assert floor.found("cameras_short") == [
        "T-2 465a.9(c)(2)(i) 1 0",
        "T-3 465a.9(c)(2)(ii) 2, one an end 2",
        "T-5 465a.9(c)(2)(ii) 2, one an end 1",
        "T-1 465a.9(c)(2)(i) 1 0",
    ]


LIMITS = [
    ([CARDS] * 4, "465a.35(c)(1) 4"),
    ([CARDS, "blackjack", "minibaccarat"], "465a.35(c)(1) 4"),
    (["baccarat"], "465a.35(c)(2) 1"),
    (["badugi", "omaha_5_high"], "465a.35(c)(12) 10"),
    ([FOOTBALL], "465a.35(c)(13) 2"),
    ([FOOTBALL, CARDS], "465a.35(c)(13) 2"),
    # What the documents do not print is nobody's finding.
    (["craps"], None),
    (["midibaccarat", CARDS], None),
    (["baccarat", CARDS], None),
    (["badugi", CARDS], None),
    ([FOOTBALL, "baccarat"], None),
]


@pytest.mark.parametrize(("supervised", "limit"), LIMITS)
def test_465a_35_c_a_floorperson_supervises_so_many(
    supervised: list[str], limit: str | None
) -> None:
    found = limit_of(supervised)
    assert (found and f"{found.section} {found.most}") == limit


def test_465a_35_c_one_table_too_many_is_told_where_it_comes_and_once() -> None:
    floor = Floor()
    for number in range(1, 6):
        floor.say(f"T-{number}", told.FloorpersonAssigned(employee="F-1"))
    for number in range(1, 6):
        floor.open(f"T-{number}", CARDS)
        floor.round(f"T-{number}", CARDS)
    assert floor.found("supervision_exceeded") == ["T-5 465a.35(c)(1) 4 5"]
    floor.say("T-2", told.TableClosed())
    floor.say("T-3", told.FloorpersonRelieved(employee="F-1"))
    floor.open("T-6", CARDS)
    floor.say("T-6", told.FloorpersonAssigned(employee="F-1"))
    assert floor.found("supervision_exceeded") == ["T-5 465a.35(c)(1) 4 5"]
    floor.open("T-2", FOOTBALL)
    assert floor.found("supervision_exceeded")[1:] == ["T-2 465a.35(c)(13) 2 5"]


def dice(alternative: int, by: tuple[str, ...], watching: tuple[str, ...]) -> Floor:
    """A set of dice inspected so."""
    floor = Floor()
    floor.say("T-1", told.DiceReceived(set="S-1", dice=5))
    inspected = told.DiceInspected(set="S-1", by=by, observed_by=watching, alternative=alternative)  # type: ignore[arg-type]  # one of three
    floor.say("T-1", inspected)
    return floor


def thrown(floor: Floor) -> list[str]:
    """What is found when the dice are thrown."""
    floor.round("T-1", FOOTBALL)
    throw = told.DiceThrown(offensive=(1, 2), defensive=3)
    for _ in range(2):
        floor.say("T-1", throw, round_=RoundId("hollywood", "T-1", DAY, floor.rounds))
    return floor.found("dice_not_inspected", "step_missing")


INSPECTED = [
    (1, ("F-1",), ("D-1",), []),
    (1, ("F-1",), (), ["T-1 603a.13(f)(1)(ii) None S-1"]),
    (2, ("F-1",), ("F-2",), []),
    (2, ("F-1",), ("F-1",), ["T-1 603a.13(f)(2)(i) None S-1"]),
    (3, ("F-1",), ("A-1", "S-1"), []),
    (3, ("F-1",), ("A-1",), ["T-1 603a.13(f)(3)(i) None S-1"]),
]


@pytest.mark.parametrize(("alternative", "by", "watching", "found"), INSPECTED)
def test_603a_13_f_dice_are_inspected_before_those_who_must_watch(
    alternative: int, by: tuple[str, ...], watching: tuple[str, ...], found: list[str]
) -> None:
    assert thrown(dice(alternative, by, watching)) == found


@pytest.mark.parametrize(
    ("alternative", "section"), [(2, "603a.13(f)(2)(iv)(B)"), (3, "603a.13(f)(3)(vi)")]
)
def test_603a_13_f_dice_under_a_broken_seal_are_inspected_again(
    alternative: int, section: str
) -> None:
    people: tuple[tuple[str, ...], tuple[str, ...]] = (("F-1",), ("A-1", "S-1"))
    for intact, again in ((True, False), (False, False), (False, True)):
        floor = dice(alternative, *people)
        opened = told.DiceOpened(set="S-1", envelope="E-1", seal_intact=intact, by=("F-1",))
        floor.say("T-1", opened)
        if again:
            floor.say(
                "T-1",
                told.DiceInspected(set="S-1", by=("F-1",), observed_by=("D-1",), alternative=1),
            )
        assert thrown(floor) == ([] if intact or again else [f"T-1 {section} None S-1"])


def test_603a_13_g_dice_with_a_discrepancy_reported_leave_the_table() -> None:
    floor = dice(1, ("F-1",), ("D-1",))
    floor.say("T-1", told.DiceDiscrepancyReported(set="S-1", reason="chipped"))
    assert thrown(floor) == ["T-1 603a.13(g) dice_removed S-1"]
    floor = dice(1, ("F-1",), ("D-1",))
    floor.say("T-1", told.DiceDiscrepancyReported(set="S-1", reason="chipped"))
    floor.say("T-1", told.DiceRemoved(set="S-1", reason="chipped"))
    assert thrown(floor) == []
