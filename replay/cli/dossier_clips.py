"""The clips of a dossier: cut without decoding, and signed where there is a key."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ledger.errors import LedgerError
from ledger.tape import TapeRow
from ledger.values import format_time, parse_time
from ledger.wire import fact_of
from replay.cli.dossier_found import Window
from replay.clocks import to_reference
from replay.coverage import Camera, coverage
from replay.dossier import Clip, Making
from replay.dossier.footage import plain_name
from replay.dossier.onvif import Export, sign
from replay.dossier.signing import Signer
from replay.footage import clips
from replay.footage.library import Library

UNIT = "Round Ledger"
"""What an export says that it was made with."""


NOT_IN_MP4 = "VP8 cannot be stored in ISO BMFF, which an ONVIF export file must be."
"""Why a clip that is WebM is not signed: of what is recorded in it only VP8 is not put into MP4."""


def cut(
    library: Library,
    place: str,
    camera_rows: Sequence[TapeRow],
    windows: Iterable[Window],
    making: Making,
    signer: Signer | None,
    into: Path,
) -> tuple[list[Clip], list[str]]:
    """One clip a camera, and in words why there is none of another.

    A clip that is MP4 is signed as an ONVIF export where there is a key, in a file of its own under
    `into`; it takes the place of the unsigned one.
    """
    known = coverage(fact_of(row) for row in camera_rows)
    made: list[Clip] = []
    lacking: list[str] = []
    for window in windows:
        camera = known.cameras.get((place, window.camera), Camera())
        wanted = list(_stretches(library, camera, window))
        if not wanted:
            continue
        try:
            cut_out = clips.clip(library, wanted)
            made.append(_signed(cut_out, camera, window, making, signer, into))
        except LedgerError as error:
            lacking.append(f"Camera {window.camera}: no clip was cut. {error.what}.")
    return made, lacking


def _stretches(library: Library, camera: Camera, window: Window) -> Iterator[tuple[str, int, int]]:
    """What of each segment lies in a window, in order; each segment once."""
    seen: set[str] = set()
    for segment in camera.segments:
        sha256 = segment.body.sha256
        from_us = max(0, window.from_us - segment.start_us)
        to_us = min(segment.end_us, window.to_us) - segment.start_us
        if to_us <= from_us or sha256 in seen or library.entry(sha256) is None:
            continue
        seen.add(sha256)
        yield sha256, from_us, to_us


def _signed(
    cut_out: clips.Clip,
    camera: Camera,
    window: Window,
    making: Making,
    signer: Signer | None,
    into: Path,
) -> Clip:
    path = Path(cut_out.path)
    name = f"{plain_name(window.camera)}-{cut_out.sha256[:12]}.{cut_out.container}"
    says = (
        f"{cut_out.frames} frames from {format_time(cut_out.starts_us)} by the camera's clock, "
        f"copied and not encoded anew; what was asked for begins "
        f"{cut_out.in_us / 1_000_000:.3f} s into it."
    )
    if cut_out.derived:
        says = says.replace("copied and not encoded anew", "encoded anew for browsers")
    into.mkdir(parents=True, exist_ok=True)
    out = into / name
    if signer and signer.clips and cut_out.container == "mp4":
        export = Export(
            UNIT,
            making.by,
            parse_time(making.at) or 0,
            window.camera,
            _utc(camera, cut_out.starts_us),
        )
        sign(path, out, export, signer.clips)
    else:
        shutil.copyfile(path, out)
    unsigned = _unsigned(cut_out, signer)
    return Clip(window.camera, out, [each.sha256 for each in cut_out.sources], says, unsigned)


def _unsigned(cut_out: clips.Clip, signer: Signer | None) -> str | None:
    """Why a clip carries no ONVIF signature; None where it does."""
    if cut_out.container != "mp4":
        return NOT_IN_MP4
    return None if signer and signer.clips else "There was no key for clips."


def _utc(camera: Camera, camera_us: int) -> int:
    """A camera's time by the reference clock, in its newest epoch; at its word where unchecked."""
    if camera.clock is None:
        return camera_us
    epochs = range(len(camera.clock.epochs))
    nearest = min(
        (to_reference(camera.clock, camera_us, epoch) for epoch in epochs),
        key=lambda mapped: mapped.from_check_us,
    )
    return nearest.time_us
