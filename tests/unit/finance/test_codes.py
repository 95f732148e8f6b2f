"""Every code that finance prints has a row on the page that people look it up on."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.finance import coupons, exceptions

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/roles/finance.md").read_text(encoding="utf-8")
FOLDERS = ("ledger/finance", "consumers/finance")


def codes_in(path: Path) -> Iterator[str]:
    """The codes that a module gives to items, causes and exceptions, by name or as they are."""
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for each in given(node):
            if isinstance(each, ast.Name) and isinstance(code := vars(module).get(each.id), str):
                yield code
            elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value


def given(node: ast.AST) -> Iterator[ast.AST]:
    """What a part of a module gives as a code: `code=`, or the first of what a check lacks."""
    match node:
        case ast.keyword(arg="code", value=ast.IfExp(body=one, orelse=other)):
            yield from (one, other)
        case ast.keyword(arg="code", value=value):
            yield value
        case ast.Call(func=ast.Name(id="_exception"), args=[value, *_]):
            yield value
        case ast.Yield(value=ast.Tuple(elts=[value, *_])):
            yield value


def all_codes() -> set[str]:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    found = {code for path in files for code in codes_in(path)} | coupons._SAYS.keys()
    return found.union(*exceptions.SINCE.values())


def test_every_code_is_on_the_page_of_finance() -> None:
    found = all_codes()
    assert {"slip_missing", "digest_differs", "unrecorded", "boxed_twice", "no_range"} <= found
    assert found - set(re.findall(r"`([a-z_]+)`", PAGE)) == set()
