"""The optional parts of an installation (extras), and the command that installs one.

The installation without extras is a device's: it forwards facts, rules on files and reads settings.
"""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec

_EXTRA_OF = {"av": "video", "joserfc": "oidc", "openpyxl": "reports", "pyarrow": "reports"}
"""The extra of a library; all others come with `server`."""

_OURS = ("ledger", "infra", "consumers", "replay")


def extra_of(module: str) -> str | None:
    """The extra that a missing module comes with; None for one of this program's own."""
    top = module.partition(".")[0]
    return None if top in _OURS else _EXTRA_OF.get(top, "server")


def install(extra: str) -> str:
    """The command that adds an extra to this installation."""
    python = shlex.quote(sys.executable)
    what = f"'round-ledger[{extra}]'"
    if find_spec("pip") is None:  # as in an environment that uv made
        return f"uv pip install --python {python} {what}"
    return f"{python} -m pip install {what}"
