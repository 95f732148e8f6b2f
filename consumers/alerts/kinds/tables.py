"""Open tables that send no facts, and silent devices of tables where others send facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.alerts.alert import AlertKind, Candidate, OfState
from infra.settings import Threshold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.alerts.snapshot import Snapshot

SILENT_S = Threshold(
    "ALERT_DEVICE_SILENT_S",
    900,
    "seconds",
    "How long a device may send no fact while others at its open table do",
)
QUIET_S = Threshold(
    "ALERT_TABLE_QUIET_S", 600, "seconds", "How long an open table may send no fact"
)


def _quiet(state: Snapshot) -> Iterator[Candidate]:
    for tape, last_us in sorted(_last_of_open(state).items()):
        silent_s = (state.now_us - last_us) // 1_000_000
        says = f"Table {tape} is open but has sent no fact for {silent_s:,} s; check its devices."
        yield Candidate(f"{tape}:{last_us}", tape, says, silent_s, QUIET_S, last_us)


def _silent(state: Snapshot) -> Iterator[Candidate]:
    quiet_us = QUIET_S.of(state.settings) * 1_000_000
    last = _last_of_open(state)
    for each in state.devices:
        if each.tape not in last or state.now_us - last[each.tape] >= quiet_us:
            continue  # the table is closed, or quiet as a whole
        silent_s = (state.now_us - each.last_us) // 1_000_000
        says = (
            f"Device {each.source} has sent no fact for {silent_s:,} s; others at its table have."
        )
        key = f"{each.source}:{each.last_us}"
        yield Candidate(key, each.source, says, silent_s, SILENT_S, each.last_us)


def _last_of_open(state: Snapshot) -> dict[str, int]:
    """When the last fact of each open table was received, by tape."""
    open_ = {f"{board.property}/{board.table}" for board in state.boards if board.open}
    last: dict[str, int] = {}
    for each in state.devices:
        if each.tape in open_:
            last[each.tape] = max(last.get(each.tape, 0), each.last_us)
    return last


DEVICE_SILENT = AlertKind(
    name="device_silent",
    title="Device silent",
    severity="attention",
    about="device",
    thresholds=(SILENT_S,),
    when="a device sends no facts for this many seconds while its table continues",
    do="Have the device and its line checked. It stores its facts and sends them once it is back.",
    runbook="check the device and its network; it sends what it stored once it is back",
    condition=OfState(_silent),
)

TABLE_QUIET = AlertKind(
    name="table_quiet",
    title="Table quiet",
    severity="urgent",
    about="table",
    thresholds=(QUIET_S,),
    when="an open table sends no facts for this many seconds",
    do="Check whether the table is dealing. If it is, its devices or their network are down, and"
    " what happens there is not recorded now.",
    runbook="is it dealing? then check its devices and their network",
    condition=OfState(_quiet),
)
