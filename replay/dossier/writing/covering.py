"""The statement of coverage in sentences: which cameras filmed a round, and the gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.values import format_time, quantity
from replay.cameras.timeline import SEEN
from replay.text import times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from replay.cameras.statement import CameraCover, Cover, Statement

GAPS_MAX = 20
"""The most gaps of one camera that are listed; more are counted."""


def in_sentences(stated: Statement) -> list[str]:
    """The coverage of each time: by camera, with each gap and its cause."""
    told = []
    if not stated.looked:
        told.append(
            "No footage was available: this statement follows from the recorded facts alone."
        )
    several = len(stated.stretches) > 1
    for cover in stated.stretches:
        told += [f"{cover.name[0].upper()}{cover.name[1:]}:"] * several
        told += _cover(cover)
    return told


def _cover(cover: Cover) -> Iterator[str]:
    whole = _span(cover.from_us, cover.to_us)
    if cover.due is None and not cover.game:
        yield f"From {whole}. The game is not on record, so no required number of cameras applies."
    elif cover.due is None:
        yield (
            f"From {whole}. The regulation prints no number of cameras for this game, so none is "
            "required here."
        )
    else:
        lacking = cover.to_us - cover.from_us - (cover.covered_us or 0)
        met = "met throughout" if cover.met else f"not met for {_seconds(lacking)}"
        yield f"From {whole}. {cover.section}, stationary cameras required: {cover.due}; {met}."
    if not cover.cameras:
        yield "No camera was mapped to the table."
    for camera in cover.cameras:
        yield from _camera(camera)


def _camera(camera: CameraCover) -> Iterator[str]:
    picture = ""
    if camera.fps_min is not None and camera.fps_max is not None:
        rate = f"{camera.fps_min:g} to {camera.fps_max:g} frames a second"
        picture = f"; {' and '.join(camera.sizes)}, {rate}, measured in the files"
    yield (
        f"Camera {camera.camera}, {camera.kind}, covers {' and '.join(camera.covers)}: "
        f"{_seconds(camera.recorded_us)} of {_seconds(camera.mapped_us)} recorded; "
        f"{_clock(camera)}{picture}."
    )
    gaps = [piece for piece in camera.pieces if piece.state not in SEEN]
    for piece in gaps[:GAPS_MAX]:
        state = piece.state.replace("_", " ")
        yield f"  {state}, {_span(piece.from_us, piece.to_us)}: {piece.says}"
    if len(gaps) > GAPS_MAX:
        yield f"  and {len(gaps) - GAPS_MAX} more gaps."
    if camera.segments:
        segments = quantity(camera.segments, "segment")
        yield f"  Pictures were checked of {camera.pictured} of {segments}."
    for each in camera.findings[:GAPS_MAX]:
        yield (
            f"  {each.fault}, {_span(each.from_us, each.to_us)}: {each.says}; still counted as "
            "recorded."
        )
    if len(camera.findings) > GAPS_MAX:
        yield f"  and {len(camera.findings) - GAPS_MAX} more such times."


def _clock(camera: CameraCover) -> str:
    """The uncertainty of a camera's clock, and whether it was checked within the time."""
    if camera.plus_minus_us is None or camera.unchecked_us is None:
        return "its clock was never checked"
    known = f"known within {times.whole_ms(camera.plus_minus_us)} ms"
    if camera.unchecked_us == 0:
        return f"its clock is {known}, and was checked within this time"
    away = _seconds(camera.unchecked_us)
    return f"its clock was not checked within this time, but {away} from it, and is {known}"


def _span(from_us: int, to_us: int) -> str:
    return f"{format_time(from_us)} to {format_time(to_us)}"


def _seconds(span_us: int) -> str:
    return f"{span_us / 1_000_000:.1f} s"
