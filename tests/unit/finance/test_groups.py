"""Sums of tables: figures without corrections, poker's rake, and tables of several games."""

from __future__ import annotations

import json

import msgspec
import pytest

from ledger.adjudication.feed import adjudicate
from ledger.finance.feed import wins, wins_by_shift
from ledger.finance.groups import games_of, grouped, over_days
from ledger.finance.win import SEVERAL, TableWin, game_name
from replay.text.wins import explained, rake_apart
from replay.web.finance.win import signed_steps
from tests.property.finance.floors import read_by_program, worked_out
from tests.scenes.table_days import DAY, NEXT, count, day_lines, fact, next_day, table_day
from tests.unit.finance.test_papers import TAKEN, coup

SOLD = fact("cash_bought_in", 10, position=1, amount=10_000)
COUNTED = count(59, currency={"10000": 1}, coupons=["W-1", "W-2"])


def corrected() -> list[dict[str, object]]:
    """The count of CC-07 had one coupon and $200; nothing was corrected at CC-08."""
    of = {"source": COUNTED["source"], "id": COUNTED["id"]}
    data = {**COUNTED["data"], "coupons": ["W-1"], "currency": {"10000": 2}}
    people = {"because": "Misread.", "by": "F-1", "second": "S-1"}
    mine = day_lines(SOLD, COUNTED, closer=490_000, once=True)
    text = json.dumps(day_lines(count(59, currency={"10000": 3}), once=True))
    other = json.loads(text.replace("CC-07", "CC-08").replace("B1", "B2"))
    for each in other:
        each["id"] += "-8"
    return [*mine, *other, fact("fact_corrected", 30, "office", of=of, data=data, **people)]


def test_what_was_told_of_coupons_and_of_a_house_stands_beside() -> None:
    """Version 9 of the report said no coupons; the control is the table without a correction."""
    facts = read_by_program(corrected())
    mine, other = found = wins(facts, [])
    told = {"counted": 0, "count_gap": 0, "drop.cash": 10_000, "drop.total": 10_000}
    assert mine.told == {**told, "coupons.counted": 2}
    assert other.told == {}
    [house] = grouped(found, "house")
    assert house.told == {
        "counted": 30_000, "count_gap": 30_000, "drop.cash": 40_000, "drop.total": 40_000,
        "coupons.counted": 2,
    }  # fmt: skip
    assert wins(facts, [], None, 9)[0].told == told


def test_a_house_whose_table_lacked_a_figure_before_its_correction_lacks_it_as_told() -> None:
    [mine, *_] = wins(read_by_program(corrected()), [])
    poker = msgspec.structs.replace(mine, owed=None, pay_gap=None, told={"counted": None})
    [house] = grouped([mine, poker], "house")
    assert house.told["counted"] is None
    assert "owed" not in house.told


@pytest.mark.parametrize(("rake", "says"), [(6_000, "moved has $60.00 of poker's rake"), (0, None)])
def test_rake_in_a_sum_is_said_apart(rake: int, says: str | None) -> None:
    [mine] = worked_out(day_lines(SOLD, COUNTED, closer=490_000, once=True))[0]
    poker = msgspec.structs.replace(mine, owed=None, pay_gap=None, moved=rake)
    [house] = grouped([mine, poker], "house")
    found = rake_apart(house)
    assert (found or "").startswith(says) if says else found is None
    assert rake_apart(poker) is None


def test_shifts_are_summed_in_order_of_time() -> None:
    """By name a day shift would come before the graveyard shift that it follows."""
    [mine] = worked_out(day_lines(SOLD, COUNTED, closer=490_000, once=True))[0]
    shifts = {"CC-07": ("day", "swing"), "CC-08": ("grave", "day", "swing"), "CC-09": ("grave",)}
    parts = [
        msgspec.structs.replace(mine, table=table, shift=shift)
        for table, its in shifts.items()
        for shift in its
    ]
    found = grouped(parts, "shift")
    assert [each.shift for each in found] == ["grave", "day", "swing"]
    assert [each.moved for each in found] == [2 * mine.moved] * 3


def idle() -> list[dict[str, object]]:
    """A later day of CC-07 on which nobody opened it: its box hung, and its tray was counted."""
    return [each for each in next_day(*day_lines(count(59))) if "table_opened" not in each["type"]]


def test_a_period_whose_last_day_was_idle_has_the_game_and_pit_of_the_days_before() -> None:
    """Else a week's win would stand under no game. The control is the idle day alone."""
    lines = day_lines(SOLD, COUNTED, closer=490_000, once=True)
    [played, last] = worked_out([*lines, *idle()])[0]
    assert (last.gaming_day, last.game, last.pit) == (NEXT, None, None)
    [whole] = over_days([played, last])
    assert (whole.game, whole.pit) == ("criss_cross_poker", "North")
    [whole] = over_days([of_both(), last])
    assert game_name(whole) == BOTH


# -- several games at one table ------------------------------------------------------------------

RAKE = count(59, chips={"100": 7})
BACCARAT, POKER = "minibaccarat", "omaha_5_high"
BOTH = SEVERAL.join((BACCARAT, POKER))
SUMMED = ("counted", "moved", "owed", "pay_gap", "count_gap", "cage_paid", "handle", "expected")


def poker(fee: int = 0) -> list[dict[str, object]]:
    """A hand of poker with $7.00 of rake, and a fee that a patron paid."""
    told = [fact("round_started", 40, game=POKER), fact("rake_taken", 41, amount=700)]
    told += [fact("fee_paid", 42, position=1, fee="time", amount=fee)] if fee else []
    return [each | {"subject": f"CC-07/{DAY}/2"} for each in told]


def of_both(*lost: str) -> TableWin:
    """A coup of Minibaccarat and a hand of poker at one table."""
    return table_day(*coup(*lost), *poker(), RAKE, closer=506_500)


@pytest.mark.parametrize("lost", [(), (TAKEN,)])
def test_a_table_of_poker_and_a_banked_game_has_the_sums_of_a_table_of_each(
    lost: tuple[str, ...],
) -> None:
    """Its rake is in moved and nothing is owed for it, so that errors and luck are the other's."""
    banked = table_day(*coup(*lost), count(59), closer=506_500)
    alone = table_day(*poker(), RAKE)
    both = of_both(*lost)
    [house] = grouped([banked, alone], "house")
    for name in SUMMED:
        assert getattr(both, name) == getattr(house, name), name
    assert rake_apart(both) == rake_apart(house) is not None
    assert [i for i in both.items if i.gap == "pay"] == [i for i in banked.items if i.gap == "pay"]
    [sums], [wanted] = grouped([both, banked], "house"), grouped([banked, banked], "house")
    assert sums.expected == wanted.expected
    assert sums.expected
    assert sums.expected.z is not None


def test_the_rounds_of_each_game_stand_by_game_and_sum_to_the_day() -> None:
    both = of_both(TAKEN)
    banked, raked = both.games or []
    assert (banked.game, banked.moved, banked.owed, banked.pay_gap) == (
        (BACCARAT, 2_500, 6_500, -4_000)
    )
    assert (raked.game, raked.moved, raked.owed, raked.pay_gap, raked.rake) == (
        (POKER, 700, None, None, 700)
    )
    assert (banked.handle, raked.handle) == (6_500, 0)
    assert (banked.expected, raked.expected) == (both.expected, None)
    assert (both.game, game_name(both)) == (BACCARAT, BOTH)
    told = [each for each in explained(both) if each.startswith("rounds of ")]
    assert told == [
        "rounds of minibaccarat · moved $25.00, owed $65.00, pay gap -$40.00, handle $65.00",
        "rounds of omaha_5_high · moved $7.00, owed n/a, pay gap n/a, handle $0.00",
    ]
    assert table_day(*coup(), count(59)).games is msgspec.UNSET


def test_what_poker_moved_beside_its_rake_is_an_item_of_the_pay_gap() -> None:
    win = table_day(*coup(), *poker(fee=300), RAKE, closer=506_800)
    assert (win.owed, win.moved, win.pay_gap, win.count_gap) == (6_500, 7_500, 300, 0)
    [item] = win.items
    assert (item.gap, item.code, item.amount) == ("pay", "play", 300)
    assert [ref.id for ref in item.facts] == ["fee_paid-CC-07-42"]
    assert sum(each.moved for each in win.games or ()) == win.moved


def test_a_table_of_several_games_is_a_group_of_its_own() -> None:
    banked = table_day(*coup(), count(59), closer=506_500)
    found = grouped([banked, of_both()], "game")
    assert [(each.game, each.counted) for each in found] == [(BACCARAT, 6_500), (BOTH, 7_200)]
    assert [each.games or [] for each in found] == [[], of_both().games]
    assert {each.game: each.owed for each in games_of([banked, of_both()])} == {
        BACCARAT: 13_000,
        POKER: None,
    }
    [house] = grouped([banked, of_both()], "house")
    assert (house.counted, house.games) == (13_700, msgspec.UNSET)


def test_a_table_whose_days_have_other_games_has_several_over_them() -> None:
    """The control is a table with one game on both days."""
    first = table_day(*coup(), count(59), closer=506_500)
    [same] = over_days([first, msgspec.structs.replace(first, gaming_day=NEXT)])
    later = msgspec.structs.replace(table_day(*poker(), RAKE), gaming_day=NEXT)
    [both] = over_days([first, later])
    assert (game_name(same), game_name(both)) == (BACCARAT, BOTH)
    assert [(each.game, each.moved) for each in both.games or ()] == [
        (BACCARAT, 6_500),
        (POKER, 700),
    ]
    assert (both.owed, both.pay_gap, rake_apart(both)) == (first.owed, 0, rake_apart(of_both()))


def test_a_shift_of_another_game_than_the_days_first_says_so() -> None:
    box = fact("drop_box_attached", 39, "count-room", box="B2", table="CC-07", gaming_day=DAY)
    box["data"]["shift"] = "2"
    lines = day_lines(*coup(), box, *poker(), RAKE, closer=506_500)
    lines[1]["data"]["shift"] = "1"
    facts = read_by_program(lines)
    first, second = wins_by_shift(facts, list(adjudicate(facts)))
    assert (first.shift, first.games, first.owed) == ("1", msgspec.UNSET, 6_500)
    assert (second.shift, game_name(second), second.owed, second.moved) == ("2", POKER, 0, 700)


def test_before_version_12_the_rake_was_owed_and_no_game_had_its_own() -> None:
    again = fact("table_opened", 38, game=POKER, gaming_day=DAY, pit="South", min_wager=1)
    again["data"]["max_wager"] = 2
    facts = read_by_program(day_lines(*coup(), again, *poker(), RAKE, closer=506_500))
    rulings = list(adjudicate(facts))
    [now], [then] = (wins(facts, rulings, None, report) for report in (12, 11))
    assert (then.owed, then.pay_gap, then.games, then.pit) == (7_200, 0, msgspec.UNSET, "North")
    assert (now.owed, now.pay_gap, now.pit) == (6_500, 0, "North and South")
    assert (game_name(then), game_name(now)) == (BACCARAT, BOTH)
    ends = [
        [each.says.partition("No count")[2] or each.says.partition("is in ")[2] for each in of]
        for of in (then.exceptions, now.exceptions)
    ]
    assert ends == [
        ["moved and owed.", " parts its money, which is all under one game and one pit."],
        ["moved; nothing is owed for it.",
         " parts its money; what its rounds say stands by game."],
    ]  # fmt: skip
    assert [each.pit for each in grouped([now], "pit")] == ["North and South"]


def test_the_tray_of_a_closed_day_leaves_out_the_rake_which_is_in_the_box() -> None:
    steps = {each.says: each.amount for each in signed_steps(of_both())}
    assert steps == {"Opener": 500_000, "Chips that rounds moved": 6_500, "Closer": 506_500}
