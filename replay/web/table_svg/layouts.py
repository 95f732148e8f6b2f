"""The games' layouts as data: places of betting areas and cards.

A game without an entry is drawn with an area for every wager on record. Coordinates are those of
the picture, 960 wide and 600 high; areas of a position are in columns and rows.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

WIDTH, HEIGHT = 960, 600


class BettingSpot(NamedTuple):
    """A betting area that each position has. column: from its left; row: from the player."""

    wager: str
    label: str
    column: int = 0
    row: int = 0
    round_: bool = False


class SharedArea(NamedTuple):
    """A betting area that all positions share: its left, its top and its size."""

    wager: str
    label: str
    x: float
    y: float
    width: float
    height: float


class CardsPlace(NamedTuple):
    """The place of the cards of the dealer or another non-player: centre and width."""

    to: str
    label: str
    x: float
    y: float
    width: float
    scale: float = 1.0


class FeltLayout(NamedTuple):
    """A table's layout. seats: in an arc, in a ring (poker), or around shared areas."""

    seats: Literal["arc", "ring", "areas"] = "arc"
    spots: tuple[BettingSpot, ...] = ()
    by_hand: frozenset[str] = frozenset()  # wagers beside one of several hands
    fields: tuple[SharedArea, ...] = ()
    places: tuple[CardsPlace, ...] = ()
    boxes: tuple[tuple[float, float], ...] = ()  # of community cards, in dealing order
    box_scale: float = 1.0
    title_y: float = 262  # height of the printed name of the game; 0: not printed
    box_labels: tuple[str, ...] = ()
    third_across: bool = False  # the third card of a hand lies across, as in baccarat
    centre: Literal["", "football", "craps", "pot"] = ""
    positions: int = 7  # if the game has no number of positions


def _grid(
    *rows: tuple[tuple[str, str], ...], round_: tuple[str, ...] = ()
) -> tuple[BettingSpot, ...]:
    """Rows of areas from the player's side, each from left to right."""
    return tuple(
        BettingSpot(wager, label, column, number, wager in round_)
        for number, row in enumerate(rows)
        for column, (wager, label) in enumerate(row)
    )


_DEALER = (CardsPlace("dealer", "Dealer", 480, 46, 420, 1.5),)
_HANDS = frozenset(("double_down", "split"))


def _felt(
    *rows: tuple[tuple[str, str], ...],
    round_: tuple[str, ...],
    by_hand: frozenset[str] = frozenset(),
) -> FeltLayout:
    """A layout of the dealer's cards and rows of areas; see `_grid`."""
    return FeltLayout(spots=_grid(*rows, round_=round_), places=_DEALER, by_hand=by_hand)


_CROSS = FeltLayout(
    spots=_grid(
        (("ante_across", "Ante Across"), ("ante_down", "Ante Down")),
        (("across", "Across"), ("down", "Down")),
        (("middle", "Middle"), ("five_card_bonus", "Five Card")),
        round_=("five_card_bonus",),
    ),
    boxes=((480, 20), (404, 98), (480, 98), (556, 98), (480, 176)),
    box_scale=1.22,
    title_y=284,
    box_labels=("far", "left", "middle", "right", "near"),
)

_BACCARAT = FeltLayout(
    spots=tuple(
        BettingSpot(wager, label, 0, row)
        for row, (wager, label) in enumerate(
            (
                ("player", "Player"),
                ("banker", "Banker"),
                ("tie", "Tie"),
                ("house_money", "House Money"),
            )
        )
    ),
    places=(
        CardsPlace("player_hand", "Player", 330, 46, 250, 1.5),
        CardsPlace("banker_hand", "Banker", 630, 46, 250, 1.5),
    ),
    third_across=True,
    positions=9,
)

_POKER = FeltLayout(
    seats="ring",
    title_y=192,
    boxes=((384, 220), (432, 220), (480, 220), (528, 220), (576, 220)),
    centre="pot",
)
_DRAW_POKER = _POKER._replace(boxes=())


def _row(
    entries: tuple[tuple[str, str], ...], y: float, height: float, left: float = 26, gap: float = 8
) -> tuple[SharedArea, ...]:
    """Shared areas side by side, over the whole width of the felt."""
    width = (WIDTH - 2 * left - gap * (len(entries) - 1)) / len(entries)
    return tuple(
        SharedArea(wager, label, left + at * (width + gap), y, width, height)
        for at, (wager, label) in enumerate(entries)
    )


_FOOTBALL = FeltLayout(
    seats="areas",
    title_y=0,
    centre="football",
    positions=8,
    fields=(
        *_row(
            (
                ("touchdown", "Touchdown"),
                ("defense", "Defense"),
                ("extra_point", "Extra Point"),
                ("quick_strike_td", "Quick Strike TD"),
                ("game_changer", "Game Changer"),
            ),
            216,
            84,
        ),
        *_row(tuple((f"game_length_{n}", f"Game Length {n}") for n in range(1, 7)), 310, 72),
        *_row(
            (
                ("trips_td", "Trips TD"),
                ("penalty", "Penalty"),
                ("turnover", "Turnover"),
                ("cover_three", "Cover Three"),
            ),
            392,
            84,
        ),
        *_row(
            (
                ("no_gain", "No Gain"),
                ("big_play", "Big Play"),
                ("over_four", "Over Four Yards"),
                ("under_four", "Under Four Yards"),
            ),
            484,
            84,
        ),
    ),
)

_CRAPS = FeltLayout(
    seats="areas",
    title_y=0,
    centre="craps",
    positions=8,
    fields=(
        *_row(tuple((f"lay_{n}", f"Lay {n}") for n in (4, 5, 6, 8, 9, 10)), 222, 84),
        SharedArea("dont_pass", "Don't Pass", 26, 316, 908, 70),
        SharedArea("pass", "Pass Line", 26, 396, 908, 84),
        *_row(
            (
                ("all_small", "All Small"),
                ("all_or_nothing", "All Or Nothing At All"),
                ("all_tall", "All Tall"),
            ),
            490,
            78,
        ),
    ),
)

LAYOUTS: dict[str, FeltLayout] = {
    "criss_cross_poker": _CROSS,
    "three_dice_football": _FOOTBALL,
    "craps": _CRAPS,
    "five_card_hi_lo": _felt(
        (("ante", "Ante"), ("play", "Play")),
        (("tie", "Tie"), ("poker_bonus", "Bonus")),
        round_=("tie", "poker_bonus"),
    ),
    "lunar_poker": _felt(
        (("ante", "Ante"), ("bet", "Bet")), (("super", "Super"),), round_=("super",)
    ),
    "saigon_5_card": _felt(
        (("ante", "Ante"), ("pot", "Pot")), (("bonus", "Bonus"),), round_=("bonus",)
    ),
    "asia_poker": _felt((("asia_poker", "Asia Poker"), ("bonus", "Bonus")), round_=("bonus",)),
    "double_attack_blackjack": _felt(
        (("bet", "Bet"), ("double_attack", "Attack")),
        (("bust_it", "Bust It"), ("insurance", "Insurance")),
        round_=("bet", "double_attack", "bust_it"),
        by_hand=_HANDS,
    ),
    "blackjack": _felt(
        (("blackjack", "Blackjack"), ("insurance", "Insurance")),
        (("straight_jack", "Straight Jack"), ("house_money", "House Money")),
        round_=("blackjack",),
        by_hand=_HANDS,
    ),
    "spanish_21": _felt(
        (("spanish_21", "Spanish 21"), ("insurance", "Insurance")),
        round_=("spanish_21",),
        by_hand=_HANDS,
    ),
    "three_card_poker": _felt(
        (("ante", "Ante"), ("play", "Play")),
        (("pair_plus", "Pair Plus"), ("six_card_bonus", "Six Card")),
        round_=("pair_plus", "six_card_bonus"),
    ),
    "minibaccarat": _BACCARAT,
    "midibaccarat": _BACCARAT,
    "baccarat": _BACCARAT,
    "omaha_5_high": _POKER,
    "omaha_5_hi_lo": _POKER,
    "triple_draw_2_7": _DRAW_POKER,
    "triple_draw_a_5": _DRAW_POKER,
    "badeucey": _DRAW_POKER,
    "badacey": _DRAW_POKER,
    "badugi": _DRAW_POKER,
}
"""By the game's id."""

UNKNOWN = FeltLayout(
    places=_DEALER,
    boxes=((366, 130), (423, 130), (480, 130), (537, 130), (594, 130)),
)
"""A game without a layout of its own: the dealer's cards, a row of common ones, positions."""
