"""Every fact the floor can tell, as typed structs, and the registry of their stored names.

A stored name (`wager_placed.v1`) is ours and never a Python path: code may move, the tape may not.
A fact's struct is named after it: `wager_placed` is `WagerPlaced`.
"""

import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any, TypeVar

from ledger.facts import cameras, cases, money, rounds, tables
from ledger.facts.cameras import (
    CameraLost,
    CameraRestored,
    ClockChecked,
    FootageExpired,
    FootageExported,
    FootageLocked,
    FootageReleased,
    FootageViewed,
    SegmentRecorded,
)
from ledger.facts.cases import (
    AdjustmentPaid,
    Attached,
    ClaimRevealed,
    DisputeNoted,
    DisputeRaised,
    DisputeResolved,
    FactCorrected,
    ObservationRecorded,
)
from ledger.facts.money import (
    CashBoughtIn,
    ChipsExchanged,
    CounterCheck,
    CounterCheckIssued,
    CouponDropped,
    CouponRefused,
    CouponsIssued,
    CreditAccepted,
    CreditDispatched,
    CreditRequested,
    CreditVoided,
    DropBoxAttached,
    DropBoxCounted,
    DropBoxRemoved,
    FillAccepted,
    FillDispatched,
    FillRequested,
    FillVoided,
    InventoryCounted,
    JackpotDocumented,
    MeterAdvanced,
    MeterRead,
    MeterReset,
    PayoutVerified,
    TipDropped,
    Voucher,
    VoucherBoughtIn,
)
from ledger.facts.rounds import (
    CardBurned,
    CardsDealt,
    CardsExchanged,
    CardsTurned,
    DecisionMade,
    DecisionsLockedCalled,
    DiceOffered,
    DiceThrown,
    DiscardsReshuffled,
    FeePaid,
    HandDiscarded,
    HandMucked,
    HandSet,
    HandShown,
    HoleCardChecked,
    IrregularityCalled,
    MarkerPlaced,
    NoMoreBetsCalled,
    NoRollCalled,
    PotAwarded,
    RakeTaken,
    RoundCompleted,
    RoundStarted,
    RoundVoided,
    StackCounted,
    StartingPositionDetermined,
    WagerCollected,
    WagerMarked,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    WagerWithdrawn,
    indexes,
)
from ledger.facts.tables import (
    Breakage,
    CameraMapped,
    CameraUnmapped,
    CardsCut,
    CardsInspected,
    CardsRemoved,
    CardsShuffled,
    CardsSpread,
    CardsWashed,
    CoverCardReached,
    DealerAssigned,
    DealerRelieved,
    DecksReceived,
    DecksRemoved,
    DeviceOutOfOrder,
    DeviceRestored,
    DiceDiscrepancyReported,
    DiceInspected,
    DiceOpened,
    DiceReceived,
    DiceRemoved,
    DiceSealed,
    FloorpersonAssigned,
    FloorpersonRelieved,
    InspectionVerified,
    RecutDirected,
    RulesSubmissionFiled,
    SeatLeft,
    SeatTaken,
    StubCounted,
    TableClosed,
    TableOpened,
)
from ledger.facts.upcasters import UPCASTERS
from ledger.facts.vocabulary import (
    Body,
    Coupon,
    FactOutsideRound,
    FactRef,
)

__all__ = [
    "FACTS",
    "ROUND_FACTS",
    "SUBJECT_REQUIRED",
    "UPCASTERS",
    "WAGER_MONEY",
    "AdjustmentPaid",
    "Attached",
    "Body",
    "Breakage",
    "CameraLost",
    "CameraMapped",
    "CameraRestored",
    "CameraUnmapped",
    "CardBurned",
    "CardsCut",
    "CardsDealt",
    "CardsExchanged",
    "CardsInspected",
    "CardsRemoved",
    "CardsShuffled",
    "CardsSpread",
    "CardsTurned",
    "CardsWashed",
    "CashBoughtIn",
    "ChipsExchanged",
    "ClaimRevealed",
    "ClockChecked",
    "CounterCheck",
    "CounterCheckIssued",
    "Coupon",
    "CouponDropped",
    "CouponRefused",
    "CouponsIssued",
    "CoverCardReached",
    "CreditAccepted",
    "CreditDispatched",
    "CreditRequested",
    "CreditVoided",
    "DealerAssigned",
    "DealerRelieved",
    "DecisionMade",
    "DecisionsLockedCalled",
    "DecksReceived",
    "DecksRemoved",
    "DeviceOutOfOrder",
    "DeviceRestored",
    "DiceDiscrepancyReported",
    "DiceInspected",
    "DiceOffered",
    "DiceOpened",
    "DiceReceived",
    "DiceRemoved",
    "DiceSealed",
    "DiceThrown",
    "DiscardsReshuffled",
    "DisputeNoted",
    "DisputeRaised",
    "DisputeResolved",
    "DropBoxAttached",
    "DropBoxCounted",
    "DropBoxRemoved",
    "FactCorrected",
    "FactOutsideRound",
    "FactRef",
    "FeePaid",
    "FillAccepted",
    "FillDispatched",
    "FillRequested",
    "FillVoided",
    "FloorpersonAssigned",
    "FloorpersonRelieved",
    "FootageExpired",
    "FootageExported",
    "FootageLocked",
    "FootageReleased",
    "FootageViewed",
    "HandDiscarded",
    "HandMucked",
    "HandSet",
    "HandShown",
    "HoleCardChecked",
    "InspectionVerified",
    "InventoryCounted",
    "IrregularityCalled",
    "JackpotDocumented",
    "MarkerPlaced",
    "MeterAdvanced",
    "MeterRead",
    "MeterReset",
    "NoMoreBetsCalled",
    "NoRollCalled",
    "ObservationRecorded",
    "PayoutVerified",
    "PotAwarded",
    "RakeTaken",
    "RecutDirected",
    "RoundCompleted",
    "RoundStarted",
    "RoundVoided",
    "RulesSubmissionFiled",
    "SeatLeft",
    "SeatTaken",
    "SegmentRecorded",
    "StackCounted",
    "StartingPositionDetermined",
    "StubCounted",
    "TableClosed",
    "TableOpened",
    "TipDropped",
    "Voucher",
    "VoucherBoughtIn",
    "WagerCollected",
    "WagerMarked",
    "WagerPaid",
    "WagerPlaced",
    "WagerReturned",
    "WagerWithdrawn",
    "every_version",
    "indexes",
    "type_name",
    "wager_money",
]


def _stored_name(cls: type[Body]) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__)
    return f"{words.lower()}.v1"


def _family(module: ModuleType) -> dict[str, type[Body]]:
    """The facts a module defines: its bodies that nothing else is derived from."""
    return {
        _stored_name(cls): cls
        for cls in vars(module).values()
        if isinstance(cls, type)
        and issubclass(cls, Body)
        and cls.__module__ == module.__name__
        and not cls.__subclasses__()
    }


_ROUNDS = _family(rounds)

FACTS: dict[str, type[Body]] = {
    **_ROUNDS,
    **_family(tables),
    **_family(money),
    **_family(cameras),
    **_family(cases),
}
"""The struct of every current fact, by its stored type name."""

_TODAY = {name: name.rpartition(".")[0] + ".v1" for name in UPCASTERS}

ROUND_FACTS: frozenset[str] = frozenset(_ROUNDS) | frozenset(
    name for name, today in _TODAY.items() if today in _ROUNDS
)
"""Stored names of the facts that belong to a round, earlier versions included."""

SUBJECT_REQUIRED: frozenset[str] = ROUND_FACTS | {"rules_submission_filed.v1"}
"""Stored names of the facts that say nothing without a `subject`."""

_NAMES = {cls: name for name, cls in FACTS.items()}


_T = TypeVar("_T")


def every_version(of: Mapping[str, _T]) -> dict[str, _T]:
    """What goes by stored names of today, by those of earlier versions as well.

    For whoever tells rows apart by their stored name: an old fact's body is in today's words, and
    its name is not.
    """
    return {**of, **{name: of[today] for name, today in _TODAY.items() if today in of}}


WAGER_MONEY = every_version(
    {
        "wager_placed.v1": "placed",
        "wager_withdrawn.v1": "placed",
        "wager_paid.v1": "paid",
        "wager_collected.v1": "collected",
        "wager_returned.v1": "returned",
    }
)
"""Stored names of the facts of one wager's money, by the amount that they add to."""


def wager_money(type_: str, body: Any) -> tuple[str, int]:  # noqa: ANN401 - a fact of WAGER_MONEY
    """Which amount of a wager a fact adds to, and how much: chips taken back lessen `placed`."""
    return WAGER_MONEY[type_], -body.amount if isinstance(body, WagerWithdrawn) else body.amount


def type_name(cls: type[Body]) -> str:
    """The stored name of a current fact's struct: `wager_placed.v1` for `WagerPlaced`.

    Raises KeyError for a struct that is no current fact.
    """
    return _NAMES[cls]
