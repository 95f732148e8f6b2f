"""What footage costs: taking it in, a frame, a clip of 20 s across segments; beside FFmpeg's own.

Nine cameras of a round are played in Chromium, too (`tools/nine_cameras.py`).

Four segments of 30 s at 1280 x 720, 30 frames a second, key frames 2 s apart, are drawn and encoded
first, which takes longest and is not measured. `ffmpeg` is measured where it is installed.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from ledger.facts import SegmentRecorded
from ledger.record.wire import Fact
from replay.footage.clips.clips import SegmentCut, clip
from replay.footage.decoding.decoder import Job, decode, sha256_of
from replay.footage.decoding.reader import index
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.files import frames
from replay.footage.library.index import FootageIndex
from replay.footage.muxing.muxer import write as write_here
from replay.footage.muxing.muxing import Part, Writing
from tests.benchmarks.tools.nine_cameras import nine_cameras
from tests.footage.video_kinds import KINDS, write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from replay.footage.library.index import IndexedSegment

S = 1_000_000
SEGMENTS, FRAMES, WIDTH, HEIGHT = 4, 900, 1280, 720
ROUNDS, SEEKS = 9, 20
START_US = 1_795_000_000 * S
KIND = KINDS["gop60"]._replace(
    options={"preset": "veryfast", "crf": "26", "bf": "0", "g": "60", "sc_threshold": "0"}
)


def run() -> dict[str, object]:
    """Every figure of this file; a minute, and a quarter of an hour for the nine cameras."""
    with tempfile.TemporaryDirectory(prefix="round-ledger-bench-") as folder:
        top = Path(folder)
        paths = [segment(top, number) for number in range(SEGMENTS)]
        library = FootageIndex(top / "home")
        told = [
            FootageDetails("hollywood", "CC-07-A", START_US + n * 30 * S) for n in range(SEGMENTS)
        ]
        entries = []
        took_in = [0.0] * SEGMENTS
        for number, path in enumerate(paths):
            start = time.perf_counter()
            (added,) = add(library, [path], told[number])
            took_in[number] = (time.perf_counter() - start) * 1000
            if added.entry is None:
                raise SystemExit(f"a segment was not taken: {added.problem}")
            entries.append(added.entry)
        return {
            "material": {"mib": round(sum(entry.size for entry in entries) / 2**20, 1)},
            "take_in_ms_a_30_s_segment": {
                "whole": median(took_in),
                "hashing": timed(lambda: sha256_of(paths[0])),
                "indexing_without_decoding": timed(lambda: index(paths[0])),
                "child_process_with_index": timed(
                    lambda: decode([Job(str(paths[0]), entries[0].sha256)])
                ),
            },
            "frame_ms": frame_times(library, entries),
            "clip_of_20_s_across_segments_ms": clips(top, library, entries),
            "nine_cameras": nine_cameras(top / "nine"),
        }


def segment(top: Path, number: int) -> Path:
    """Half a minute of noise that moves: a picture that is not easily compressed."""
    chance = np.random.default_rng(number)
    ground = chance.integers(0, 255, (HEIGHT // 8, WIDTH // 8, 3), np.uint8)
    big = np.repeat(np.repeat(ground, 8, axis=0), 8, axis=1)
    pictures = [np.ascontiguousarray(np.roll(big, step * 3, axis=1)) for step in range(60)]
    path = top / f"{number}.mp4"
    write(path, KIND, FRAMES, pictures=pictures)
    return path


def frame_times(library: FootageIndex, entries: Sequence[IndexedSegment]) -> dict[str, float]:
    """One frame at a random place, each by a child process of its own, as a page asks for it."""
    facts = [recorded(entry) for entry in entries]
    chance = np.random.default_rng(4)
    times = []
    for _ in range(SEEKS):
        wanted = entries[int(chance.integers(len(entries)))].sha256, int(chance.integers(FRAMES))
        start = time.perf_counter()
        frames(library.at_hand(facts), [wanted])
        times.append((time.perf_counter() - start) * 1000)
    return {"median": median(times), "max": max(times)}


def recorded(entry: IndexedSegment) -> Fact:
    """The fact that makes a segment one of those at hand."""
    body = SegmentRecorded(
        camera="CC-07-A", path="x", sha256=entry.sha256, start="2026-11-18T11:06:40Z", frames=1,
        duration_us=1,
    )  # fmt: skip
    return Fact(body, "/hollywood/surveillance/nvr", entry.sha256, 0, None, None, None, None)


def clips(top: Path, library: FootageIndex, entries: Sequence[IndexedSegment]) -> dict[str, object]:
    """From 20 s into the first segment to 10 s into the second, each time to a new file."""
    one, two = entries[0], entries[1]
    late = count()

    def asked() -> list[SegmentCut]:  # never the same twice, or it would come from the cache
        more = next(late) * 1000
        return [
            SegmentCut(one.sha256, 20 * S + more, one.duration_us),
            SegmentCut(two.sha256, 0, 10 * S),
        ]

    def here() -> None:
        parts = (
            Part(str(one.path), one.sha256, 20 * S, one.duration_us, 0),
            Part(str(two.path), two.sha256, 0, 10 * S, one.duration_us),
        )
        write_here(Writing(parts, str(top / "here.mp4"), "mp4"))

    same = asked()
    clip(library, same)
    figures: dict[str, object] = {
        "stream_copy_alone": timed(here),
        "with_child_process_and_hashes": timed(lambda: clip(library, asked())),
        "found_made": timed(lambda: clip(library, same)),
        "exact_encoded_anew": timed(lambda: clip(library, asked(), way="exact"), 3),
        "ffmpeg_copy": None,
        "ffmpeg_to_ours_alone": None,
        "ffmpeg_to_ours": None,
    }
    program = shutil.which("ffmpeg")
    if program:
        theirs = timed(lambda: ffmpeg(program, top, one.path, two.path))
        figures["ffmpeg_copy"] = theirs
        figures["ffmpeg_to_ours_alone"] = theirs / timed(here)
        figures["ffmpeg_to_ours"] = theirs / timed(lambda: clip(library, asked()))
    return figures


def ffmpeg(program: str, top: Path, one: Path, two: Path) -> None:
    """The same clip by the program's concat reader and `-c copy`."""
    listed = top / "list.txt"
    listed.write_text(f"file '{one}'\nfile '{two}'\n")
    command = [
        program, "-v", "error", "-y", "-ss", "20", "-t", "20", "-f", "concat", "-safe", "0",
        "-i", str(listed), "-c", "copy", "-an", "-movflags", "+faststart", str(top / "theirs.mp4"),
    ]  # fmt: skip
    subprocess.run(command, check=True)


def timed(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Milliseconds, the median of several."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return median(times)
