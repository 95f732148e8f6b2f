"""Findings of rulings that need action now: money, cards, procedures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.alerts.alert import AlertKind, Candidate, OfFinding, RuledFinding
from infra.settings import Threshold

if TYPE_CHECKING:
    from collections.abc import Iterator

PROCEDURES = frozenset(
    (
        "stub_count_overdue",
        "deck_change_overdue",
        "dice_change_overdue",
        "batch_not_alternated",
        "cut_too_shallow",
        "inspection_missing",
        "device_not_covered",
        "dice_not_inspected",
        "dealers_short",
        "supervision_exceeded",
        "cameras_short",
    )
)
"""Codes of findings of procedures."""

GRAVE = frozenset(
    (
        "card_mismatch",
        "duplicate_card",
        "impossible_card",
        "should_have_been_void",
        "wrongly_voided",
        "wrong_position_paid",
        "wrong_payer",
    )
)
"""Codes of findings that raise an alert at any amount."""

DIFFERENCE = Threshold(
    "ALERT_FINDING_CENTS",
    10_000,
    "cents",
    "Difference between owed and recorded from which a finding raises an alert",
)
TIMES = Threshold(
    "ALERT_PROCEDURES",
    1,
    "",
    "How many times a ruling must find the same overdue procedure before it raises an alert",
)


def _finding(each: RuledFinding) -> Iterator[Candidate]:
    if each.code not in PROCEDURES:
        grave = each.code in GRAVE
        yield Candidate(each.key, each.about, each.says, each.off, DIFFERENCE, always=grave)


def _procedure(each: RuledFinding) -> Iterator[Candidate]:
    if each.code in PROCEDURES:
        yield Candidate(each.key, each.about, each.says, each.nth, TIMES)


FINDING = AlertKind(
    name="finding",
    title="Mispaid or wrong card",
    severity="urgent",
    about="round",
    thresholds=(DIFFERENCE,),
    when="owed and recorded differ by at least this much; a wrong card or a wrong void is reported"
    " whatever the money",
    do="Open the round, compare paid with owed and the footage, then tell the floor or raise a"
    " dispute.",
    runbook="`replay ROUND`, then `dossier ROUND` for the person who decides",
    condition=OfFinding(_finding),
)

PROCEDURE = AlertKind(
    name="procedure",
    title="Procedure missed",
    severity="attention",
    about="round",
    thresholds=(TIMES,),
    when="one ruling finds a procedure of cards, dice, devices or people overdue or missing this"
    " often",
    do="Call the pit. The sentence names the section that asks for it.",
    runbook="call the pit; the finding names the section",
    condition=OfFinding(_procedure),
)
