"""The documentation site under `/docs/`, as `make site` built it and the wheel carries it.

It needs no sign-in: it holds nothing of the record.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

if TYPE_CHECKING:
    from starlette.types import Scope

SITE = Path(__file__).parent / "site"

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class Documentation(StaticFiles):
    """The built site's files. Its theme writes a few lines of script into each page."""

    def __init__(self, site: Path) -> None:
        super().__init__(directory=site, check_dir=False)
        self._site = site

    async def check_config(self) -> None:
        """Raise `HTTPException` 404 where no site was built: a checkout need not have one."""
        if not self._site.is_dir():
            raise HTTPException(404, "This installation has no documentation; build it: make site")

    async def get_response(self, path: str, scope: Scope) -> Response:
        """One file; a page carries the hashes of its own scripts, so that no other runs.

        Raises `HTTPException` 404 for a page that is not there.
        """
        response = await super().get_response("index.html" if path == "." else path, scope)
        if isinstance(response, FileResponse):
            response.headers["Cache-Control"] = "no-cache"
            if Path(response.path).suffix == ".html":
                response.headers["Content-Security-Policy"] = _policy(Path(response.path))
        return response


@lru_cache(maxsize=512)
def _policy(page: Path) -> str:
    """What a page may load: files of this server, and the scripts that stand in it."""
    scripts = _INLINE.findall(page.read_text(encoding="utf-8"))
    sums = {base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts}
    hashes = " ".join(f"'sha256-{each}'" for each in sorted(sums))
    return (
        f"default-src 'self'; script-src 'self' {hashes}; img-src 'self' data:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
