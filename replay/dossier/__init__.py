"""A dossier: a round, a dispute or a window as files to hand over that prove themselves.

What it is made from is named here; `replay.dossier.writing.making` makes it, and is imported by who
does: to set paper takes a third of a second to import.
"""

from replay.dossier.signing.sealing import Filed
from replay.dossier.writing.evidence import (
    Evidence,
    EvidenceClip,
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
