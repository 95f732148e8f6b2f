"""Cameras that stay lost, and cameras whose clock is off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consumers.alerts.alert import AlertKind, Candidate, OfFact, OfState
from infra.settings import Threshold
from ledger.facts import every_version
from ledger.values import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.alerts.snapshot import Snapshot
    from ledger.record.tape import TapeRow

_DAY_US = 86_400_000_000

LOST_S = Threshold(
    "ALERT_CAMERA_LOST_S", 28_800, "seconds", "How long a camera may be lost and not restored"
)
OFF_MS = Threshold(
    "ALERT_CLOCK_MS",
    2_000,
    "ms",
    "How far a camera's clock may be off its reference, beyond what the check leaves open",
)


def _lost(state: Snapshot) -> Iterator[Candidate]:
    for each in state.lost_cameras:
        lost_s = (state.now_us - each.since_us) // 1_000_000
        about = f"{each.property}/{each.camera}"
        says = f"Camera {about} was lost {lost_s:,} s ago and is not restored: {each.reason}"
        yield Candidate(f"{about}:{each.since_us}", about, says, lost_s, LOST_S, each.since_us)


def _off(row: TapeRow, body: Any) -> Iterator[Candidate]:  # noqa: ANN401 - of any version
    """The clock's error less the uncertainty of the check: the clock is off by at least that."""
    camera_us, reference_us = parse_time(body.camera_time), parse_time(body.reference_time)
    if camera_us is None or reference_us is None:
        raise ValueError("it has no time")
    off_ms = abs(camera_us - reference_us) // 1000 - body.uncertainty_ms
    about = f"{row.tape.partition('/')[0]}/{body.camera}"
    which = "ahead of" if camera_us > reference_us else "behind"
    says = f"The clock of camera {about} is {off_ms:,} ms or more {which} {body.reference}."
    yield Candidate(f"{about}:{row.received_at_us // _DAY_US}", about, says, off_ms, OFF_MS)


CAMERA_LOST = AlertKind(
    name="camera_lost",
    title="Camera lost",
    severity="urgent",
    about="other",
    thresholds=(LOST_S,),
    when="a camera was lost this many seconds ago and is not restored",
    do="Have it repaired, and record that it is back. Check whether its table has enough cameras.",
    runbook="have it repaired and reported (`camera_restored`); is the table short of cameras?"
    " `footage coverage TABLE`",
    condition=OfState(_lost),
)

CLOCK_OFF = AlertKind(
    name="clock_off",
    title="Camera's clock off",
    severity="attention",
    about="other",
    thresholds=(OFF_MS,),
    when="a check found a camera's clock this many ms off, beyond the check's own uncertainty",
    do="Set the recorder to the house's clock, then have it checked again: replays go by checks.",
    runbook="set the recorder to the house's clock, then check it again (`footage calibrate`,"
    " `footage clock`); replays use the checks either way",
    condition=OfFact(every_version({"clock_checked.v1": "checked"}), _off),
)
