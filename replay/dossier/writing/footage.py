"""The footage files of a dossier: originals untouched, clips and frames listed as derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from replay.checker.clips import COVERED
from replay.footage.library.files import FrameFile
from replay.rounds.story import facts_in_findings
from replay.text.file_names import file_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from replay.cameras.timeline import FrameLookup
    from replay.dossier.writing.evidence import (
        Evidence,
        EvidenceClip,
        EvidenceStill,
        Original,
    )
    from replay.rounds.story import Story

_KINDS = frozenset((".mp4", ".mkv", ".webm", ".ts", ".avi", ".mov", ".m4v"))


def picture_name(sight: FrameLookup) -> str:
    """The file of a frame. Facts that share a frame share its file."""
    camera = plain_name(sight.camera or "")
    return f"frames/{camera}-{(sight.segment or '')[:12]}-{sight.frame:06d}.png"


def pictures(
    story: Story, frames: Mapping[tuple[str, int], FrameFile | str]
) -> dict[str, tuple[FrameLookup, FrameFile]]:
    """Every frame that was read, once, by file name, with one lookup that found it."""
    named: dict[str, tuple[FrameLookup, FrameFile]] = {}
    for seen in story.seen:
        for sight in seen.sights:
            if sight.segment is None or sight.frame is None:
                continue
            frame = frames.get((sight.segment, sight.frame))
            if isinstance(frame, FrameFile):
                named[picture_name(sight)] = (sight, frame)
    return named


def wanted(story: Story) -> set[tuple[str, int]]:
    """The frames of a round's facts: segment and frame number."""
    return {
        (sight.segment, sight.frame)
        for seen in story.seen
        for sight in seen.sights
        if sight.segment is not None and sight.frame is not None
    }


def named_frames(story: Story) -> set[tuple[str, int]]:
    """The frames of facts that a finding names."""
    named = facts_in_findings(story)
    told = zip(story.moments, story.seen, strict=True)
    sights = (sight for moment, seen in told if (moment.source, moment.id) in named
              for sight in seen.sights)  # fmt: skip
    return {
        (sight.segment, sight.frame)
        for sight in sights
        if sight.segment is not None and sight.frame is not None
    }


def original_name(original: Original) -> str:
    """The file of an untouched segment: its camera and the first digits of its hash."""
    kind = "." + original.label.rpartition(".")[2].lower()
    return (
        f"footage/{plain_name(original.camera)}-{original.sha256[:12]}"
        f"{kind if kind in _KINDS else '.bin'}"
    )


def files_of(evidence: Evidence) -> dict[str, bytes | Path]:
    """The footage files, by name."""
    files: dict[str, bytes | Path] = {
        name: frame.path
        for story in evidence.stories
        for name, (_, frame) in pictures(story, evidence.frames).items()
    }
    files |= {original_name(each): each.path for each in evidence.originals}
    files |= {f"clips/{plain_name(each.path.name)}": each.path for each in evidence.clips}
    files |= {still_name(each): each.path for each in evidence.stills}
    return files


def footage_listed(evidence: Evidence, sums: Mapping[str, str]) -> Iterator[dict[str, object]]:
    """The manifest's entry for each footage file. sums: SHA-256 by name."""
    for original in evidence.originals:
        name = original_name(original)
        yield {
            "path": name,
            "sha256": sums[name],
            "kind": "original",
            "camera": original.camera,
            "of": [],
            "says": f"The segment as recorded, untouched; its label was {original.label}.",
        }
    for clip in evidence.clips:
        name = f"clips/{plain_name(clip.path.name)}"
        yield {
            "path": name,
            "sha256": sums[name],
            "kind": "clip",
            "camera": clip.camera,
            "of": list(clip.of),
            "says": clip_says(clip),
            "onvif": {"signed": clip.unsigned is None, "because": clip.unsigned},
        }
    for still in {still_name(each): each for each in evidence.stills}.values():
        name = still_name(still)
        yield {
            "path": name,
            "sha256": sums[name],
            "kind": "still",
            "camera": still.body.camera,
            "of": [still.body.segment],
            "says": f"Frame {still.body.frame}, saved as a picture when a fact recorded its hash.",
        }
    seen = {
        name: each
        for story in evidence.stories
        for name, each in pictures(story, evidence.frames).items()
    }
    for name, (sight, frame) in sorted(seen.items()):
        yield {
            "path": name,
            "sha256": sums[name],
            "kind": "frame",
            "camera": sight.camera,
            "of": [sight.segment],
            "says": f"Frame {frame.number}, {frame.pts_us} microseconds after the first, decoded.",
        }


def still_name(still: EvidenceStill) -> str:
    """The file of a still."""
    body = still.body
    of = f"{plain_name(body.camera)}-{body.segment[:12]}-{body.frame:06d}"
    return f"stills/{of}-{body.sha256[:12]}.png"


def clip_says(clip: EvidenceClip) -> str:
    """What a clip shows, and whether it has an ONVIF signature, or why it has none."""
    if clip.unsigned is None:
        return f"{clip.says} It has an ONVIF signature."
    return f"{clip.says} It has no ONVIF signature: {clip.unsigned} {COVERED}"


def plain_name(text: str) -> str:
    """A camera's label as part of a file's name."""
    return file_name(text, leading=".-")
