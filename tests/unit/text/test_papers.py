"""A paper in words, for the person who signs it: each amount, piece and number that is recorded."""

from __future__ import annotations

from ledger.facts import CouponsInventoried, DropBoxCounted, FillDispatched
from ledger.facts.money import CounterCheck, ForeignNotes, Voucher
from replay.text.papers import paper_name, paper_says


def test_a_count_names_all_that_the_box_held() -> None:
    counted = DropBoxCounted(
        box="B1", table="CC-07", gaming_day="2026-11-20", count=2,
        currency={"2000": 41, "10000": 3}, counter_checks=(CounterCheck("K-1", 20_000),),
        vouchers=(Voucher("V-1", 1_000), "V-2"), coupons=("MP-1", "MP-2"),
        foreign=(ForeignNotes("EUR", {"5050": 3}, "1.0850"),), counted_by=("N-1", "N-2"),
    )  # fmt: skip
    assert paper_name(counted) == "drop box counted"
    assert dict(paper_says(counted, "p/CC-07")) == {
        "casino": "p", "box": "B1", "table": "CC-07", "gaming day": "2026-11-20", "count": "2",
        "currency": "$20.00 x 41, $100.00 x 3", "counter checks": "K-1 $200.00",
        "vouchers": "V-1 $10.00, V-2", "coupons": "MP-1, MP-2",
        "foreign": "EUR 50.50 x 3 1.0850", "counted by": "N-1, N-2",
    }  # fmt: skip


def test_a_slip_says_its_chips_and_total_and_stock_its_ranges() -> None:
    slip = FillDispatched(slip="F-7", chips={"2500": 20}, total=50_000, by=("C-1", "C-2"))
    assert dict(paper_says(slip, "p/CC-07")) == {
        "casino": "p", "table": "CC-07", "slip": "F-7", "chips": "$25.00 x 20",
        "total": "$500.00", "by": "C-1, C-2",
    }  # fmt: skip
    stock = CouponsInventoried(held=(("MP-5", "MP-6"),), by="F-1", observed_by="F-2")
    assert ("held", "MP-5 to MP-6") in paper_says(stock, "p")
