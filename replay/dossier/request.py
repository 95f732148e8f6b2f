"""The request for a dossier: its subject, by whom, why, and how much footage around it."""

from typing import NamedTuple

from replay.dossier import Kind

PRE_S, POST_S = 8, 12
"""Default footage before the first fact of a round and after its last, in seconds."""


class DossierRequest(NamedTuple):
    """A request for a dossier. pre_s, post_s: seconds of footage around the round."""

    of: str  # the name of a round, a dispute or a window
    by: str  # credential
    because: str | None = None
    pre_s: int = PRE_S
    post_s: int = POST_S
    kind: Kind | None = None  # which of these; None: by the form of the name
