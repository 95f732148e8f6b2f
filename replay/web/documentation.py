"""Serves the documentation site under `/docs/`, as `make site` builds it into the wheel.

It needs no sign-in, because it contains nothing of the record.
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
        """Raise `HTTPException` 404 if no site was built, as in a fresh checkout."""
        if not self._site.is_dir():
            raise HTTPException(404, "This installation has no documentation. Run `make site`.")

    async def get_response(self, path: str, scope: Scope) -> Response:
        """One file. The policy header of a page allows only the scripts it contains.

        Raises `HTTPException` 404 for a missing page.
        """
        response = await super().get_response("index.html" if path == "." else path, scope)
        if isinstance(response, FileResponse):
            response.headers["Cache-Control"] = "no-cache"
            if Path(response.path).suffix == ".html":
                response.headers["Content-Security-Policy"] = _policy(Path(response.path))
        return response


@lru_cache(maxsize=512)
def _policy(page: Path) -> str:
    """A page's content security policy: files of this server, and the page's inline scripts."""
    scripts = _INLINE.findall(page.read_text(encoding="utf-8"))
    sums = {base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts}
    hashes = " ".join(f"'sha256-{each}'" for each in sorted(sums))
    return (
        f"default-src 'self'; script-src 'self' {hashes}; img-src 'self' data:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
