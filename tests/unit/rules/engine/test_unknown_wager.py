"""A wager whose name the game does not have: its findings do not contradict each other."""

from __future__ import annotations

from tests.unit.games.rounds import ruling

ROUND = """
start
1 pass   500
1 luckky 500
roll 2 2
roll 3 4
take 1 pass 500
"""


def of_it(script: str) -> list[tuple[str, int | str | None, int | str | None, str]]:
    findings = ruling(script, "craps").findings
    return [
        (each.code, each.expected, each.recorded, each.says)
        for each in findings
        if each.wager == "luckky"
    ]


def test_the_wager_is_one_finding_and_chips_paid_on_it_are_another() -> None:
    """The first is of the rule, the second of money; both are true of one wager on record."""
    says = "Position 1 put $5.00 on luckky: this game does not have it."
    rule = ("wager_not_permitted", None, 500, says)
    assert of_it(f"{ROUND}done") == [rule]
    assert of_it(f"{ROUND}back 1 luckky 500\ndone") == [rule], "its stake may go back"

    says = "Position 1 was paid $10.00 on luckky; no such wager was in play."
    assert of_it(f"{ROUND}pay 1 luckky 1000\ndone") == [rule, ("overpaid", 0, 1000, says)]

    says = "Position 1 lost $5.00 on luckky to the dealer; no such wager was in play."
    assert of_it(f"{ROUND}take 1 luckky 500\ndone") == [rule, ("wrongly_collected", 0, 500, says)]
