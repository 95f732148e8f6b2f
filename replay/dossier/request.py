"""What a dossier is asked for with: of what, by whom, why, and how much footage around it."""

from typing import NamedTuple

from replay.dossier import Kind

PRE_S, POST_S = 8, 12
"""Footage before the first fact of a round and after its last, seconds, unless told otherwise."""


class DossierRequest(NamedTuple):
    """What is to be handed over. pre_s, post_s: seconds of footage around the round."""

    of: str  # a round's name, a dispute's or a window's
    by: str  # credential
    because: str | None = None
    pre_s: int = PRE_S
    post_s: int = POST_S
    kind: Kind | None = None  # which of these; None: as its name reads
