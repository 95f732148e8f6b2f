"""A dossier: a round, a dispute or a window as files to hand over that prove themselves.

What it is made from is named here; `replay.dossier.making` makes it, and is imported by who does:
to set paper takes a third of a second to import.
"""

from replay.dossier.evidence import (
    Clip,
    Evidence,
    Kind,
    Making,
    Original,
    Stretch,
    Told,
    Window,
)
from replay.dossier.footage import named_frames, picture_name, pictures, wanted
from replay.dossier.sealing import Filed

__all__ = [
    "Clip", "Evidence", "Filed", "Kind", "Making", "Original", "Stretch", "Told", "Window",
    "named_frames", "picture_name", "pictures", "wanted",
]  # fmt: skip
