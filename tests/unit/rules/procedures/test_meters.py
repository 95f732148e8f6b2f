"""Progressive meters over a table's tape (633a.13(m)(2)): what is found, what just misses it."""

from __future__ import annotations

from typing import Any

import pytest

from ledger import facts as told
from ledger.adjudication.feed import adjudicate
from ledger.record.wire import Fact
from ledger.rules.engine.ruling import TableFindings
from ledger.values import RoundId
from tests.unit.games.rounds import resolves

JACK, DAY = "straight_jack", "2015-03-01"
OWN = {"rate": "1/10", "initial": 500_000, "reset": 600_000}
LINK = {**OWN, "meter": "link-7"}
SECOND_US = 1_000_000


class Tape:
    """A Blackjack table's wagers and its meter, sent a second apart."""

    def __init__(self, terms: dict[str, Any] | None = None, *, opens: bool = True) -> None:
        self.time_us = 10 * SECOND_US
        self.facts: list[Fact] = []
        self.number = 0
        self.meter = (terms or {}).get("meter", JACK)
        progressives = {} if terms is None else {JACK: terms}
        filing = told.RulesSubmissionFiled(
            game="blackjack", effective_from="2010-01-01", offers=(JACK,), progressives=progressives
        )
        self.say(filing, in_round=False)
        if opens:
            opened = told.TableOpened(
                game="blackjack", gaming_day=DAY, min_wager=500, max_wager=50_000
            )
            self.say(opened, in_round=False)

    def say(
        self, body: object, *, in_round: bool = True, by: str = "dealer", after_us: int = SECOND_US
    ) -> None:
        """Tell a fact of the table, or of the round in progress."""
        self.time_us += after_us
        round_ = RoundId("hollywood", "T-1", DAY, self.number) if in_round else None
        source, name = f"/hollywood/T-1/{by}", str(len(self.facts))
        self.facts.append(Fact(body, source, name, self.time_us, round_, "T-1", None, None))

    def run(self, script: str) -> list[str]:
        """Code, due and shown of what is found; one word and its numbers a part of the script.

        `round`, `over`, `void`; `bet SEAT CENTS`, `back`, `out`, `paid SEAT CENTS`; `read`, `up`,
        `reset`. A part that ends in `-` is of no round. One with `~` is a tenth of a second later,
        by a device of its own.
        """
        for part in script.split(","):
            first, *numbers = part.strip(" -~").split()
            self.tell(
                first,
                [int(number) for number in numbers],
                in_round="-" not in part,
                near="~" in part,
            )
        said = [each for each in adjudicate(self.facts) if isinstance(each, TableFindings)]
        told = [finding for each in said for finding in each.findings]
        found = [finding for finding in told if finding.code != "rules_submission_invalid"]
        assert all(each.section and resolves(each.section) for each in found)
        assert all(each.wager == JACK for each in found)
        return [
            " ".join(
                str(word) for word in (each.code, each.expected, each.recorded) if word is not None
            )
            for each in found
        ]

    def tell(self, first: str, numbers: list[int], *, in_round: bool, near: bool) -> None:
        """One part of a script."""
        body: Any
        if first == "round":
            self.number += 1
            body = told.RoundStarted(game="blackjack")
        elif first in ("over", "void"):
            body = told.RoundCompleted() if first == "over" else told.RoundVoided(reason="misdeal")
        elif first in METER:
            body = METER[first](meter=self.meter, amount=numbers[0])
        else:
            position, amount = numbers
            body = WAGER[first](position=position, wager=JACK, amount=amount)
        by = "meter" if near and first in METER else "dealer"
        self.say(body, in_round=in_round, by=by, after_us=SECOND_US // 10 if near else SECOND_US)


METER: dict[str, Any] = {
    "read": told.MeterRead,
    "up": told.MeterAdvanced,
    "reset": told.MeterReset,
}
WAGER: dict[str, Any] = {
    "bet": told.WagerPlaced,
    "out": told.WagerWithdrawn,
    "back": told.WagerReturned,
    "paid": told.WagerPaid,
}


def found(script: str, terms: dict[str, Any] | None = OWN) -> list[str]:
    return Tape(terms).run(script)


START = "read 700000 -, round, bet 1 500, bet 2 1000, "


@pytest.mark.parametrize("rate", ["1/10", "10%", "0.1", 0.1])
def test_633a_13_m_2_the_meter_goes_up_by_the_rate_that_is_filed(rate: object) -> None:
    for shown, wrong in (
        (700_150, []),
        (700_149, ["meter_wrong 700150 700149"]),
        (700_151, ["meter_wrong 700150 700151"]),
        (700_000, ["meter_wrong 700150 700000"]),
    ):
        assert found(f"{START}up {shown}, over", {**OWN, "rate": rate}) == wrong


def test_633a_13_m_2_what_a_meter_shows_counts_the_wagers_of_all_rounds_since() -> None:
    rounds = START + "over, round, bet 3 2500, over, round, "
    assert found(rounds + "read 700400, over") == []
    assert found(rounds + "read 700150, over") == ["meter_wrong 700400 700150"]
    # Each disagreement is found once, and the next reading is compared with what was shown.
    assert found(rounds + "read 700150, over, read 700150 -, round, read 700151, over") == [
        "meter_wrong 700400 700150",
        "meter_wrong 700150 700151",
    ]


def test_633a_13_m_2_two_readings_with_no_wager_between_show_the_same() -> None:
    assert found("read 700000 -, read 700000 -") == []
    assert found("read 700000 -, read 699999 -") == ["meter_wrong 700000 699999"]
    assert found("read 700000 -, read 700001 -") == ["meter_wrong 700000 700001"]


def test_633a_13_m_2_cents_below_a_whole_one_are_the_meters_own() -> None:
    odd = "read 700000 -, round, bet 1 505, over, "
    for shown in (700_050, 700_051):
        assert found(f"{odd}read {shown} -") == []
    assert found(odd + "read 700049 -") == ["meter_wrong 700050 700049"]
    assert found(odd + "read 700052 -") == ["meter_wrong 700051 700052"]


def test_633a_13_m_2_the_last_reading_of_a_round_counts_its_wagers_and_others_may() -> None:
    begun = "read 700000 -, round, bet 1 500, "
    for first in (700_000, 700_050, 700_150):
        assert found(f"{begun}up {first}, bet 2 1000, up 700150, over") == []
        # No clock decides: a reading a little before a wager may count it.
        assert found(f"{begun}up {first} ~, bet 2 1000 ~, up 700150 ~, over") == []
    for first, last, wrong in (
        (699_999, 700_150, ["meter_wrong 700000 699999", "meter_wrong 699999 700150"]),
        (700_151, 700_151, ["meter_wrong 700150 700151"]),
        (700_050, 700_050, ["meter_wrong 700150 700050"]),
        (700_050, 700_151, ["meter_wrong 700150 700151"]),
    ):
        assert found(f"{begun}up {first}, bet 2 1000, up {last}, over") == wrong
    # A round that is never recorded as over is over as the next begins.
    assert found(f"{begun}up 700049, round, over") == ["meter_wrong 700050 700049"]
    assert found(f"{begun}up 700049") == []


def test_633a_13_m_2_a_table_that_tells_its_meter_first_within_a_round_begins_there() -> None:
    for shown in ("up 700000", "up 700000, bet 2 1000, up 700100", "bet 2 1000, up 700000"):
        assert found(f"round, bet 1 500, {shown}, over") == []
    assert found("round, bet 1 500, up 700000, bet 2 1000, up 700151, over") == [
        "meter_wrong 700150 700151"
    ]
    assert found("round, bet 1 500, up 700000, over, round, bet 1 500, up 700051, over") == [
        "meter_wrong 700050 700051"
    ]


def test_633a_13_m_2_a_reading_of_no_round_need_not_count_the_round_in_progress() -> None:
    assert found(START + "read 700000 -, up 700150, over") == []
    assert found(START + "read 700050 -, up 700150, over") == []
    assert found(START + "over, read 700050 -") == ["meter_wrong 700150 700050"]
    assert found(START + "read 700000, over") == ["meter_wrong 700150 700000"]


def test_633a_13_m_2_wagers_taken_back_or_returned_may_stay_in_the_meter() -> None:
    for way in ("out 2 1000, over", "back 2 1000, void"):
        for shown in (700_150, 700_050):
            assert found(f"{START}{way}, read {shown} -") == []
        assert found(f"{START}{way}, read 700049 -") == ["meter_wrong 700050 700049"]
        assert found(f"{START}{way}, read 700151 -") == ["meter_wrong 700150 700151"]


def test_633a_13_m_2_without_a_rate_on_file_a_meter_only_never_falls() -> None:
    for terms in (None, {}, {"rate": "1/0"}, {"rate": "much"}):
        assert found(START + "up 900000, over", terms) == []
        assert found(START + "up 699999, over", terms) == ["meter_wrong 700000 699999"]
    # If no wager came between, the rate is not asked for.
    assert found("read 700000 -, read 700001 -", {}) == ["meter_wrong 700000 700001"]


def test_633a_13_m_2_a_meter_is_never_below_what_it_begins_at() -> None:
    assert found("read 500000 -") == []
    assert found("read 499999 -, read 499999 -") == ["meter_wrong 500000 499999"]
    assert found("read 599999 -", {"reset": 600_000}) == ["meter_wrong 600000 599999"]
    assert found("read 499999 -", None) == ["meter_wrong 500000 499999"]
    # One finding a reading: what it lost since the last is said first.
    assert found("read 500000 -, read 499999 -") == ["meter_wrong 500000 499999"]


WON = "read 700000 -, round, bet 1 500, up 700050, read 700050, paid 1 800050, "


def test_633a_13_m_2_after_a_win_of_the_whole_meter_it_is_reset_to_what_is_filed() -> None:
    assert found(WON + "reset 600000, over, round, bet 1 500, up 600050, over") == []
    assert found(WON + "over, reset 600000 -, round, bet 1 500, up 600050, over") == []
    for shown in (500_000, 599_999, 600_001, 700_000):
        assert found(f"{WON}reset {shown}, over") == [f"meter_wrong 600000 {shown}"]
    # Nothing filed: any amount of $5,000 or more.
    for shown, wrong in ((500_000, []), (900_000, []), (499_999, ["meter_wrong 500000 499999"])):
        assert found(f"{WON}reset {shown}, over", None) == wrong


def test_633a_13_m_2_a_meter_not_reset_after_a_win_of_the_whole_of_it_is_found_once() -> None:
    after = "over, round, bet 1 500, bet 2 500, over, round, bet 1 500, over"
    assert found(WON + after) == ["step_missing meter_reset"]
    # Two share it, and it is reset after the second of them was paid; or after the first.
    two = "read 700000 -, round, bet 1 500, bet 2 500, read 700100, paid 2 450050, "
    assert found(f"{two}paid 1 450050, {after}") == ["step_missing meter_reset"]
    assert found(f"{two}paid 1 450050, reset 600000, {after}") == []
    assert found(f"{two}reset 600000, paid 1 450050, {after}") == []


def test_633a_13_m_2_a_meter_that_goes_back_without_a_win_of_the_whole_of_it_is_found() -> None:
    back = ["meter_wrong 700000 600000"]
    assert found("read 700000 -, reset 600000 -") == back
    assert found("read 700000 -, round, bet 1 500, reset 600000, over") == back
    tenth = "read 700000 -, round, bet 1 500, paid 1 170000, "
    assert found(f"{tenth}reset 600000, over") == back
    # After one win, a second reset has none.
    after = f"{WON}reset 600000, over, round, bet 1 500, up 600050, over, "
    assert found(f"{after}reset 600000 -") == ["meter_wrong 600050 600000"]
    # It may go up, and nothing is known of what it showed before the first reading.
    assert found("read 600000 -, reset 600000 -") == found("reset 600000 -") == []
    # A link's meter may have been won at another table.
    assert found("read 700000 -, reset 600000 -", LINK) == []


def test_633a_13_m_1_a_tenth_of_the_meter_and_200_to_1_ask_for_no_reset() -> None:
    tenth = "read 700000 -, round, bet 1 500, read 700050, paid 1 170005, over, "
    after = "round, bet 1 500, over, "
    # Whether the tenth is taken off the meter no section says.
    for shown in (700_100, 630_095):
        assert found(f"{tenth}{after}read {shown} -") == []
    assert found(f"{tenth}{after}read 630094 -") == ["meter_wrong 630095 630094"]
    # A straight of five pays 200 to 1 and takes nothing of the meter, however much it is.
    five = "read 700000 -, round, bet 1 50000, read 705000, paid 1 10000000, over, "
    assert found(five + "round, bet 1 500, read 705050, over") == []
    assert found(five + "round, bet 1 500, read 705049, over") == ["meter_wrong 705050 705049"]


def test_633a_13_m_2_a_links_meter_is_fed_by_other_tables_too() -> None:
    assert found(START + "up 700150, over", LINK) == []
    assert found(START + "up 900000, over", LINK) == []
    assert found(START + "up 700149, over", LINK) == ["meter_wrong 700150 700149"]
    assert found("read 700000 -, read 710000 -", LINK) == []
    # Another table may have won all of it; never less than it begins at.
    assert found(START + "up 600050, over", LINK) == []
    assert found(START + "up 499999, over", LINK) == ["meter_wrong 500000 499999"]


def test_633a_13_m_2_another_meter_is_none_of_the_wagers() -> None:
    tape = Tape(OWN)
    tape.meter = "other"
    assert tape.run(START + "up 1, reset 1, over, read 9 -") == []


def test_what_is_told_of_a_meter_before_the_game_is_known_is_held_against_what_follows() -> None:
    tape = Tape(OWN, opens=False)
    assert tape.run("read 700000 -, read 1 -, round, bet 1 500, up 700050, over") == [
        "meter_wrong 51 700050"
    ]
