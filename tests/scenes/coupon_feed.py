"""A feed of coupons sent in every way: on time, late, elsewhere, corrected, from another house.

Two tables and two houses, coupons dropped in another round's time, at another table, corrected, and
batches filed after the rounds that played them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import (
    Body,
    CardsDealt,
    Coupon,
    CouponDropped,
    CouponRefused,
    CouponsIssued,
    FactCorrected,
    FactRef,
    NoMoreBetsCalled,
    RoundCompleted,
    RoundStarted,
    WagerCollected,
    WagerPlaced,
)
from ledger.record.wire import encode
from tests.scenes.view_feeds import received

if TYPE_CHECKING:
    from ledger.record.tape import Received

SECOND_US = 1_000_000
DAY = "2026-11-20"
MIDNIGHT_US = 1_795_150_800 * SECOND_US


class Feed:
    """Facts as they are sent, at seconds of a day."""

    def __init__(self) -> None:
        self.facts: list[Received] = []

    def tell(self, at: int, body: Body, *, where: str = "hollywood/MB-01", of: int = 0) -> str:
        """A fact of a place, in a round where it has one; its id."""
        name = str(len(self.facts))
        subject = f"{where.partition('/')[2]}/{DAY}/{of}" if of else None
        told = encode(body, f"/{where}/box", name, MIDNIGHT_US + at * SECOND_US, subject)
        self.facts.append(received(told))
        return name

    def coup(self, number: int, *serials: str, where: str = "hollywood/MB-01") -> list[str]:
        """A round of Minibaccarat that every player loses, by its number; ids of the wagers."""
        at = number * 100
        bodies: list[Body] = [RoundStarted(game="minibaccarat")]
        bodies += [
            WagerPlaced(position=seat, wager="player", amount=1000, coupon=Coupon(serial, 500))
            for seat, serial in enumerate(serials, 1)
        ]
        bodies.append(NoMoreBetsCalled())
        bodies += [
            CardsDealt(to="player_hand", cards=("6c", "Kd"), face="up"),
            CardsDealt(to="banker_hand", cards=("7h", "Ts"), face="up"),
        ]
        bodies += [
            WagerCollected(position=seat, wager="player", amount=1000)
            for seat, _ in enumerate(serials, 1)
        ]
        bodies.append(RoundCompleted())
        names = [self.tell(at + n, body, where=where, of=number) for n, body in enumerate(bodies)]
        return names[1 : 1 + len(serials)]

    def batch(self, low: str, high: str, house: str = "hollywood") -> None:
        """A batch of coupons issued before the day."""
        issued = CouponsIssued(
            serial_from=low,
            serial_to=high,
            face=500,
            terms="odds",
            games=("minibaccarat",),
            expires=DAY,
        )
        self.tell(-3600, issued, where=f"{house}/office")

    def correct(self, name: str, data: object, where: str = "hollywood/MB-01") -> None:
        """What a fact of a table should have said."""
        body = FactCorrected(
            of=FactRef(f"/{where}/box", name), data=data, because="typed", by="S-1", second="S-2"
        )  # type: ignore[call-arg, arg-type]  # as it stands in a feed
        self.tell(9_000, body, where="hollywood/surveillance")


def drop(serial: str) -> CouponDropped:
    """A coupon goes into the box."""
    return CouponDropped(serial=serial, face=500)


def feed() -> list[Received]:
    """Rounds 1 to 10 of one table and two elsewhere; `FOUND_BY_ROUND` is to be found of them."""
    told = Feed()
    told.coup(1, "MP-000001", "MP-000002")
    told.tell(105, drop("MP-000001"), of=1)
    told.tell(190, drop("MP-000002"))  # after the round, and naming none
    told.coup(2, "MP-000003")
    told.tell(305, drop("MP-000003"), of=3)  # in the next round's time
    told.coup(3, "MP-000004")
    told.tell(50, drop("MP-000004"))  # before it was played: another's
    told.coup(4, "MP-000005")
    told.tell(490, drop("MP-000005"), where="hollywood/MB-02")  # into another table's box
    told.coup(5, "MP-000006")
    told.correct(told.tell(590, drop("MP-900006")), {"serial": "MP-000006", "face": 500})
    [wager] = told.coup(6, "MP-000706")
    data = {"position": 1, "wager": "player", "amount": 1000}
    told.correct(wager, {**data, "coupon": {"serial": "MP-000007", "face": 500}})
    told.tell(690, drop("MP-000007"))
    told.coup(7, "MP-000008")
    told.tell(703, CouponRefused(serial="MP-000008", face=500))
    told.coup(8, "MP-000009")
    told.correct(told.tell(890, drop("MP-000009")), None)
    told.coup(9, "XX-000001")
    told.tell(990, drop("XX-000001"))
    told.coup(10, "MP-000001", "MP-000005")  # dropped in round 1; of round 4, elsewhere
    told.tell(1_090, drop("MP-000001"))
    told.tell(1_090, drop("MP-000005"))
    told.coup(11, "MP-000003", where="hollywood/MB-02")
    told.coup(1, "MP-000001", where="live/MB-01")
    told.batch("MP-000001", "MP-000005")
    told.batch("MP-000006", "MP-000099")
    return told.facts


FOUND: dict[int, list[str]] = {
    1: [],
    2: [],
    3: ["wager_not_permitted", "coupon_not_dropped"],
    4: ["coupon_not_dropped"],
    5: [],
    6: [],
    7: [],
    8: ["coupon_not_dropped"],
    9: ["wager_not_permitted"],
    10: ["wager_not_permitted", "wager_not_permitted"],
}
FOUND_BY_ROUND = {
    **{f"hollywood:MB-01/{DAY}/{number}": codes for number, codes in FOUND.items()},
    f"hollywood:MB-02/{DAY}/11": ["wager_not_permitted", "coupon_not_dropped"],
    f"live:MB-01/{DAY}/1": ["coupon_not_dropped"],
}
"""What is to be found of each round, by its name."""
