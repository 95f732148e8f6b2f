"""Lunar Poker: what its module holds beside what Chapter 589 prints, word for word."""

from __future__ import annotations

from ledger.adjudication import adjudicate
from tests.unit.games.lunar import GAME
from tests.unit.games.rounds import lines, printed

NO_STUB = "11(g)(2) voids no round, so no stub is asked about"
NO_ORDER = "the names are a set: each is asked for, and settled, in a step of its own"
SAME_ROWS = "every table of the letter has the same rows"

EQUIVALENT = {
    "DEALING: '11(g)(2)' -> '12'": NO_STUB,
    "MANUAL_SHOE: '11(g)(2)' -> '12'": NO_STUB,
    "OPENING_ENDS: ('decision_made', LOCK) -> (LOCK, 'decision_made')": NO_ORDER,
    "_compare: '11(e)(2)(i)' -> '11(e)(2)(ii)' #2": "the Ante's one row fits every hand",
    "_is_instant: 0 -> -1": SAME_ROWS,
    "_is_instant: 0 -> 1": SAME_ROWS,
    "decision_weights: 0 -> -1": SAME_ROWS,
    "decision_weights: 0 -> 1": SAME_ROWS,
    "play: '' -> 'x'": "no way of dealing has either name",
    "play: '7(d)' -> '7(e)'": "the source is not told the section of the wagers it looks for",
    "play: ('ante', 'super') -> ('super', 'ante')": NO_ORDER,
    "play: ('cards_turned', 'cards_exchanged') -> ('cards_exchanged', 'cards_turned')": NO_ORDER,
}
"""Mutants that change nothing, and why."""

EDGES = "ante 18.9 super -48.8"
"""What the house keeps, per cent, under the default readings."""

FAVOURABLE = {"second_combination=next_best": {"super"}}
"""Wagers that the player gains on, by reading: the Super Wager as it does by default."""

FAVOURABLE_DEFAULT = {
    "super": "an ace-king is printed to pay 5 or 6 to 1, and is one hand in six (ADR 0083)"
}

LATER = {"bet"}
"""Wagers made once cards are known: their edge is inside that of the Ante."""

INSTANT = """
    A 1500 500
    B 1500 400
    C 1500 300
    D 1200 400
    E 1200 300
    F 1000 300
    G  800 300
    H  600 300
"""
SUPER = """
    A 8 6
    B 8 5
    C 7 6
"""
FIRST = """
    ante  7(c)(1) Ante Wager
    bet   7(c)(1) Bet Wager
    super 7(c)(2) Super Wager (optional)
"""
REST = """
    [12(c) bet]
    Royal flush:     100 to 1
    Straight flush:   50 to 1
    Four-of-a-kind:   20 to 1
    Full house:        7 to 1
    Flush:             5 to 1
    Straight:          4 to 1
    Three-of-a-kind:   3 to 1
    Two pair:          2 to 1
    One pair:          1 to 1
    Ace-king:          1 to 1
    [12(d) ante]
    Ante Wager: 1 to 1
    super_ace_king 12(b): ace_king, ace_king_queen
    second_combination 11(e)(1)(ii): best_paying, next_best
    card_face_up         13(a): one only
    cards_face_up        13(a): void
    card_drawn_unexposed 13(b): play on
    wrong_card_count     13(c): void
    shuffler_failed      13(e): play on
    dealing_shoe_failed  13(f): void (automated_shoe)
    dealer_card_exposed  13(d): void
    card_missing         11(g)(2): play on
"""


def test_589_7_12_13_the_tables_are_as_printed() -> None:
    expected = lines(FIRST)
    for row in lines(INSTANT):
        _, royal, straight = row.split()
        expected += [
            "[12(a) instant]",
            f"Royal flush: {royal} to 1",
            f"Straight flush: {straight} to 1",
        ]
    for row in lines(SUPER):
        _, three, king = row.split()
        expected += lines(f"""
            [12(b) super]
            Four-of-a-kind:        250 to 1
            Same-colored straight: 150 to 1
            Full house:            100 to 1
            Flush:                  60 to 1
            Straight:               30 to 1
            Three-of-a-kind:        {three} to 1
            Ace-king:               {king} to 1
            Ace-king:               {king} to 1 if super_ace_king is ace_king
            Same colored five:       2 to 1
        """)
    assert printed(GAME) == expected + lines(REST)


def test_589_12_each_table_has_the_letter_it_is_printed_under() -> None:
    tables = adjudicate.games()[GAME].paytables
    letters = "".join(table.letter or "-" for table in tables)
    assert letters == "ABCDEFGHABC--"


def test_589_1_an_options_fee_is_a_payment_and_the_table_has_five_positions() -> None:
    game = adjudicate.games()[GAME]
    assert (game.fees, game.positions, game.decks) == (("options",), 5, 1)
    assert game.irregularities["dealer_card_exposed"].in_play


def test_589_chance_decides_by_the_cards_held() -> None:
    decision_weights = adjudicate.games()[GAME].player_model.decision_weights
    assert decision_weights
    rest = {"fold": 200, "exchange": 140, "sixth_card": 90, "force_dealer": 15}
    for cards, declare in (
        ("Ac Kd Jh 4c 2d", 0),
        ("Ac Kd Qh 4c 2d", 1000),
        ("Ac Kd Qh 4c 2d 9s", 1000),
        ("9c 8d Jh 4c 2d", 0),
        ("?? Kd Qh 4c 2d", 0),
    ):
        assert decision_weights(cards.split(), ()) == {"declare": declare, **rest}
    assert decision_weights("Ac Kd Qh 4c".split(), ()) == {"fold": 1000}  # noqa: SIM905 - as the others
