"""What each role of device may report, as data, and the check of one fact against it.

Roles of people's desks are among them: a desk signs what people enter at it. Facts that decide for
the house (corrections, disputes, releases, closings) are in no grant: people record them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledger.facts import ROUND_FACTS, FactRef, Grant
from ledger.values import parse_source, parse_subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.record.tape import Received
    from ledger.record.wire import Fact

_ROUND = tuple(sorted({name.rpartition(".")[0] for name in ROUND_FACTS}))
_MONEY_OF_ROUND = frozenset(
    ("wager_paid", "wager_collected", "wager_returned", "pot_awarded", "rake_taken", "fee_paid")
)
_CARDS = (
    "cards_dealt", "cards_turned", "card_burned", "cards_exchanged", "hole_card_checked",
    "hand_discarded", "cards_shuffled", "cards_cut", "cover_card_reached", "stub_counted",
)  # fmt: skip
_TABLE = (
    "table_opened", "table_closed", "seat_taken", "seat_left", "dealer_assigned",
    "dealer_relieved", "floorperson_assigned", "floorperson_relieved", "device_out_of_order",
    "device_restored", "decks_received", "cards_removed", "cards_inspected",
    "inspection_verified", "cards_spread", "cards_washed", "cards_shuffled", "cards_cut",
    "recut_directed", "cover_card_reached", "stub_counted", "decks_removed", "dice_received",
    "dice_inspected", "dice_sealed", "dice_opened", "dice_removed", "dice_discrepancy_reported",
)  # fmt: skip
_BANK_OF_TABLE = (
    "inventory_counted", "fill_requested", "fill_accepted", "fill_voided", "credit_requested",
    "credit_dispatched", "credit_voided", "cash_bought_in", "voucher_bought_in",
    "counter_check_issued", "counter_check_voided", "chips_exchanged", "tip_dropped",
    "drop_box_attached", "drop_box_removed", "coupon_dropped", "coupon_refused",
    "coupons_distributed", "meter_read", "meter_advanced", "meter_reset", "payout_verified",
    "jackpot_documented", "tournament_entered",
)  # fmt: skip
_CAGE = (
    "fill_dispatched", "fill_voided", "credit_accepted", "counter_check_redeemed",
    "counter_check_voided", "check_book_signed_out", "check_book_signed_in", "drop_box_verified",
    "tournament_entered", "tournament_prize_paid",
)  # fmt: skip
_CHIPS = (
    "wager_placed", "wager_withdrawn", "wager_marked", *sorted(_MONEY_OF_ROUND), "stack_counted",
    "chips_exchanged", "cash_bought_in", "voucher_bought_in", "tip_dropped", "coupon_dropped",
)  # fmt: skip
_BOXES = ("drop_box_attached", "drop_box_removed", "drop_box_counted")
_OFFICE = (
    "rules_submission_filed", "coupons_received", "coupons_requisitioned", "coupons_issued",
    "coupons_distributed", "coupons_returned", "coupons_voided", "coupons_cancelled",
    "coupons_inventoried", "meter_reset",
)  # fmt: skip

GRANTS: Mapping[str, Sequence[Grant]] = {
    "shoe": (Grant(facts=_CARDS),),
    "layout": (Grant(facts=_CHIPS),),
    "eye": (
        Grant(facts=tuple(name for name in _ROUND if name not in _MONEY_OF_ROUND)),
        Grant(facts=_CARDS),
    ),
    "table_terminal": (Grant(facts=(*_ROUND, *_TABLE, *_BANK_OF_TABLE)),),
    "cage_terminal": (Grant(facts=_CAGE, tables="any"),),
    "count_scale": (Grant(facts=_BOXES, tables="any"),),
    "camera": (Grant(facts=("segment_recorded", "clock_checked"), tables="any"),),
    "recorder": (
        Grant(
            facts=("segment_recorded", "clock_checked", "camera_lost", "camera_restored"),
            tables="any",
            cameras="any",
        ),
    ),
    "office_desk": (Grant(facts=_OFFICE, tables="any"),),
    "surveillance_desk": (
        Grant(facts=("camera_mapped", "camera_unmapped"), tables="any", cameras="any"),
    ),
}
"""The grants that hold until a property sets others, by role."""


def outside(fact: Fact, received: Received, grants: Sequence[Grant]) -> str | None:
    """What puts a fact outside these grants, in words; None if one of them covers it."""
    name = received.type.rpartition(".")[0]
    of_type = [grant for grant in grants if name in grant.facts]
    if not of_type:
        return f"reports no `{name}`"
    says = [_beyond(fact, received.subject, grant) for grant in of_type]
    return None if None in says else says[0]


def _beyond(fact: Fact, subject: str | None, grant: Grant) -> str | None:
    source = parse_source(fact.source)
    if source is None:
        return "names no source"
    if grant.tables != "any":
        allowed = {source.place} if grant.tables == "own" else set(grant.tables)
        other = next((each for each in _places(fact, subject) if each not in allowed), None)
        if other is not None:
            return f"may not report about {other}"
    camera = getattr(fact.body, "camera", None)
    if grant.cameras == "own" and camera is not None and camera != source.device:
        return f"may not report about camera {camera}"
    return None


def _places(fact: Fact, subject: str | None) -> Iterator[str]:
    """Every place that a fact is about: its subject's, its data's, its round's, another fact's."""
    source, body = parse_source(fact.source), _fields(fact)
    property_ = source.property if source else ""
    if fact.round is not None:
        yield fact.round.table
    elif subject is not None:
        yield subject
    table = body.get("table")
    yield from (table,) if table else ()
    named = body.get("round")
    if isinstance(named, str):
        round_ = parse_subject(named.rpartition(":")[2], property_)
        at = named.partition(":")[0] if ":" in named else property_
        yield round_.table if round_ and at == property_ else named
    of = body.get("of")
    if isinstance(of, FactRef):
        other = parse_source(of.source)
        yield other.place if other and other.property == property_ else of.source


def _fields(fact: Fact) -> dict[str, Any]:
    names = ("table", "round", "of")
    return {name: getattr(fact.body, name, None) for name in names}
