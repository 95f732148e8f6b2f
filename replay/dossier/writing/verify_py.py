"""Makes `verify.py`, the file in a dossier: the modules of the checker joined into one.

The modules are written and tested separately; a recipient needs one file. Their code is copied
unchanged, except that imports of each other are left out.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PARTS = (
    "ed25519",
    "package",
    "reading",
    "report",
    "seal",
    "chain",
    "log",
    "window",
    "contents",
    "clips",
    "main",
)
"""In the order of their dependencies."""

_OURS = "replay."
_HEAD = '''#!/usr/bin/env python3
"""{says}"""

from __future__ import annotations

{imports}
'''


@cache
def verify_py() -> bytes:
    """The file, always the same bytes."""
    imports: set[str] = set()
    bodies = []
    says = ""
    for part in PARTS:
        text = (Path(__file__).parents[2] / "checker" / f"{part}.py").read_text()
        tree = ast.parse(text)
        says = ast.get_docstring(tree, clean=False) or ""
        lines = text.splitlines()
        for node in reversed(tree.body):
            if isinstance(node, ast.Import | ast.ImportFrom):
                if not _is_ours(node):
                    imports.add(ast.unparse(node))
                del lines[node.lineno - 1 : node.end_lineno]
        docstring = tree.body[0]
        del lines[: docstring.end_lineno]
        bodies.append(f"# {'-' * 40} {part}\n\n" + "\n".join(lines).strip() + "\n")
    imports.discard("from __future__ import annotations")
    text = _HEAD.format(says=says, imports="\n".join(sorted(imports)))
    return (text + "\n\n" + "\n\n".join(bodies)).encode()


def _is_ours(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_OURS)
