"""The clips of a dossier: cut without decoding, and signed if there is a key."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from ledger.errors import LedgerError
from ledger.record.tape import TapeRow
from ledger.record.wire import fact_of
from ledger.values import format_time, parse_time, quantity
from replay.cameras.clocks import unchecked_us
from replay.cameras.coverage import Camera, coverage
from replay.cameras.cutting import Cut, name_of, reference_us
from replay.dossier import EvidenceClip, Making
from replay.dossier.signing.keys import Signer
from replay.dossier.signing.onvif import Export, sign
from replay.dossier.writing.footage import plain_name
from replay.footage.clips import clips
from replay.footage.library.index import FootageIndex
from replay.text import times

UNIT = "Round Ledger"
"""The name of the exporting program in an ONVIF export."""


def cut(
    library: FootageIndex,
    place: str,
    camera_rows: Sequence[TapeRow],
    cuts: Iterable[Cut],
    making: Making,
    signer: Signer | None,
    into: Path,
) -> tuple[list[EvidenceClip], list[str]]:
    """The clips, one for each piece of each camera's clock, and sentences about missing ones.

    If there is a key, a clip is signed as an ONVIF export. The signed file, under `into`, replaces
    the unsigned one.
    """
    covered = coverage(fact_of(row) for row in camera_rows)
    made: list[EvidenceClip] = []
    lacking: list[str] = []
    for each in cuts:
        at_hand = {one.sha256: one for one in each.stretches if library.entry(one.sha256)}
        if not at_hand:
            lacking += _no_piece(each)
            continue
        camera = covered.cameras.get((place, each.camera), Camera())
        try:
            cut_out = clips.clip(library, list(at_hand.values()))
            made.append(_signed(cut_out, camera, each, making, signer, into))
        except LedgerError as error:
            lacking.append(f"Camera {each.camera}: no clip was cut. {error.what}.")
    return made, lacking


def _no_piece(of: Cut) -> list[str]:
    """A sentence for a piece without footage, so that its missing clip is not passed over."""
    piece = _piece_says(of)
    return (
        [f"Camera {of.camera}: no clip was cut. No footage of it is available. {piece}"]
        if piece
        else []
    )


def _piece_says(of: Cut) -> str:
    """Which part of the time a clip shows, if the camera's clock was set in between."""
    piece = of.window.piece
    if piece is None:
        return ""
    span = f"{format_time(piece.from_us)} to {format_time(piece.to_us)}"
    return f"Piece {piece.number} of {piece.of}, {span} by the reference clock. {piece.says}"


def _clock_says(camera: Camera, of: Cut) -> str:
    """Whether the camera's clock was checked within the copied time, and its uncertainty."""
    window = of.window
    checked_us = (each.camera_us for each in camera.checks)
    away_us = unchecked_us(checked_us, window.from_us, window.to_us)
    if away_us is None or window.plus_minus_us is None:
        return "The camera's clock was never checked."
    within = f"its times are within {times.whole_ms(window.plus_minus_us)} ms of the reference"
    if away_us == 0:
        return f"The camera's clock was checked within that time; {within}."
    away = f"{away_us / 1_000_000:,.1f} s"
    return f"The camera's clock was not checked within that time, but {away} from it; {within}."


def _signed(
    cut_out: clips.Clip,
    camera: Camera,
    of: Cut,
    making: Making,
    signer: Signer | None,
    into: Path,
) -> EvidenceClip:
    path = Path(cut_out.path)
    name = f"{plain_name(name_of(of))}-{cut_out.sha256[:12]}.{cut_out.container}"
    says = (
        f"{quantity(cut_out.frames, 'frame')} from {format_time(cut_out.starts_us)}"
        " by the camera's clock, copied without re-encoding. The requested part begins "
        f"{cut_out.in_us / 1_000_000:.3f} s into it. {_clock_says(camera, of)} {_piece_says(of)}"
    ).rstrip()
    if cut_out.derived:
        says = says.replace("copied without re-encoding", "re-encoded for browsers")
    into.mkdir(parents=True, exist_ok=True)
    out = into / name
    made = EvidenceClip(of.camera, out, [each.sha256 for each in cut_out.sources], says)
    if not (signer and signer.clips):
        shutil.copyfile(path, out)
        return made
    starts_us = reference_us(camera, cut_out.starts_us, of.window.epoch)
    export = Export(UNIT, making.by, parse_time(making.at) or 0, of.camera, starts_us)
    sign(path, out, export, signer.clips)
    return made._replace(unsigned=None)
