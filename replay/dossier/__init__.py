"""A dossier: a round, a dispute or a window as files to hand over that prove themselves.

This package exports what a dossier is made from. `replay.dossier.writing.making` makes one. Its
callers import it late, because its PDF library takes a third of a second to import.
"""

from replay.dossier.signing.sealing import Filed
from replay.dossier.writing.evidence import (
    Evidence,
    EvidenceClip,
    EvidenceStill,
    EvidenceText,
    EvidenceWindow,
    Kind,
    Making,
    Original,
    TapeRange,
)
from replay.dossier.writing.footage import named_frames, picture_name, pictures, wanted

__all__ = [
    "Evidence",
    "EvidenceClip",
    "EvidenceStill",
    "EvidenceText",
    "EvidenceWindow",
    "Filed",
    "Kind",
    "Making",
    "Original",
    "TapeRange",
    "named_frames",
    "picture_name",
    "pictures",
    "wanted",
]  # fmt: skip
