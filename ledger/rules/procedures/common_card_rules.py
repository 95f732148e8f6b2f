"""Rules most card chapters print alike: handling of cards (.3-.5) and five irregularities.

A game's own figures and paragraphs replace these. No chapter has all of them as they are here.
"""

from __future__ import annotations

from ledger.rules.engine.game import CardProcedures, Irregularity, NotModelled

CARE = CardProcedures(
    inspected="4(a)",
    spread="4(b)",
    washed="4(c)",
    shuffled="5(a)",
    count_wrong="5(b)",
    cut="5(d)",
    cut_due="5(c)(2)",
    cut_cards_min=10,
    alternated="3(b)(3)",
    changed="3(c)",
    change_hours={"hand": 4, "manual_shoe": 8, "automated_shoe": 8},
    stub={"manual_shoe": "8(e)", "hand": "9(d)", "automated_shoe": "10(d)"},
    stub_rounds=5,
    device_covered="13(f)",
    deck_cards=52,
    recut="5(e)",
)
"""Procedures that chapters 589, 592, 663a and 680a print, except the place of the stub."""

_MADE = ("2(b)", "2(c)", "2(d)", "3(a)", "3(b)(1)", "8(a)", "9(a)(1)")
_SEEN = ("3(b)(2)", "3(b)(4)", "5(f)", "7(a)", "9(a)(2)", "10(a)(1)")

NOT_MODELLED: dict[str, NotModelled] = {
    **dict.fromkeys(_MADE, "equipment"),
    **dict.fromkeys(_SEEN, "on camera, not in the feed"),
}
"""What those chapters print about layouts, shoes, racks and hands, which no fact reports."""

VOID = "void, wagers back, reshuffle"


def irregularities(
    face_up: str, unexposed: str, count: str, shuffler: str, shoe: str
) -> dict[str, Irregularity]:
    """The irregularities that most chapters print, each by its paragraph."""
    once = "not used, to the discard rack; a second voids"
    return {
        "card_face_up": Irregularity(face_up, void=False, says=once, once=True),
        "cards_face_up": Irregularity(face_up, void=True, says=VOID),
        "card_drawn_unexposed": Irregularity(unexposed, void=False, says="used as the next card"),
        "wrong_card_count": Irregularity(count, void=True, says=VOID),
        "shuffler_failed": Irregularity(shuffler, void=False, says="the cards are reshuffled"),
        "dealing_shoe_failed": Irregularity(shoe, void=True, says=VOID, only="automated_shoe"),
    }
