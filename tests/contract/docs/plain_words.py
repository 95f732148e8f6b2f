"""Sentences that people read, and the habits in them that a program can see.

Pages of the documentation, templates of the screen and texts of the program are read: help,
errors, findings, alerts. Docstrings and comments are read as well, also those of scripts and of
files of settings. Code, names and anything in backticks are left out.

`python -m tests.contract.docs.plain_words ledger/record` lists the habits in the docstrings and
comments of a package or a file.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import sys
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WORDS_MAX = 30

HABITS = {
    "begins with Of or Where": re.compile(r"^(?:Of|Where)\b(?!.*\?$)"),
    "whoever": re.compile(r"\bwhoever\b", re.IGNORECASE),
    "told": re.compile(r"\b(?:told|tells)\b", re.IGNORECASE),
    "no more": re.compile(r"\bno more\b(?! bets)", re.IGNORECASE),
    "own word": re.compile(
        r"\b(?:octets?|amid|plus-minus|(?<!-)anew|lets? go of)\b", re.IGNORECASE
    ),
}

_WORD = re.compile(r"[A-Za-z0-9][\w'.,/:-]*")
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_ENDS = re.compile(r"(?<=[.!?])\s+|:\s*\n|\n\s*\n|\n(?=\S+(?:, \S+)?  |\W*[├└])")
"""The end of a sentence: its full stop, a list, a paragraph, or a line in columns or a tree."""
_SQL = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|JOIN|WHERE|GRANT|VALUES)\b")
_PLACEHOLDER = "X"
_SHOWN = re.compile(r'\b(?:title|aria-label|placeholder|alt)="([^"]*)"')
"""A text that a page shows or reads out, in an attribute."""
_SCRIPT_TEXT = re.compile(r'"([^"\n]*)"|`([^`]*)`')
_FOR_TOOLS = re.compile(r"# *(?:noqa|type:|mypy:|ruff:|pragma|pylint|fmt:|!)")
"""A comment that a tool reads, not a person."""


def habits(sentence: str) -> list[str]:
    """What is wrong with a sentence, by name."""
    plain = _CODE.sub(_PLACEHOLDER, sentence)
    found = [name for name, habit in HABITS.items() if habit.search(plain)]
    if len(_WORD.findall(plain)) > WORDS_MAX:
        found.append(f"over {WORDS_MAX} words")
    return found


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text."""
    for part in _ENDS.split(text):
        joined = " ".join(part.split())
        if joined:
            yield joined


def of_page(text: str) -> Iterator[str]:
    """The sentences of a page in Markdown: of its paragraphs, points and cells."""
    text = re.sub(r"^ *(```|~~~).*?^ *\1 *$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^(#.*)$", r"\1\n", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.))", text):
        cells = block.split("|") if block.lstrip().startswith("|") else [block]
        for cell in cells:
            yield from sentences(re.sub(r"^\s*(?:[-*#]+|\d+\.)\s+|\*\*|__", "", cell))


def of_template(text: str) -> Iterator[str]:
    """The sentences of a page of the screen, what the program fills in left open."""
    text = re.sub(r"{#.*?#}|<(script|style|svg)\b.*?</\1>", " ", text, flags=re.DOTALL)
    text = re.sub(r"{%.*?%}", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"{{.*?}}", _PLACEHOLDER, text, flags=re.DOTALL)
    yield from (sentence for shown in _SHOWN.findall(text) for sentence in sentences(shown))
    text = re.sub(r"</?(?:a|b|i|em|code|strong|span|abbr|time)\b[^>]*>", "", text)
    yield from sentences(re.sub(r"<[^>]*>", "\n\n", text))


def of_module(text: str) -> Iterator[str]:
    """The sentences that a module may show to people: its texts of two words or more."""
    nodes = [*ast.walk(ast.parse(text))]
    shown = _commands(nodes)
    aside = {
        id(each.value)
        for node in nodes
        for each in _statements(node)
        if isinstance(each, ast.Expr) and id(each.value) not in shown
    }
    within = {
        id(part)
        for node in nodes
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    for node in nodes:
        if id(node) in aside or id(node) in within:
            continue
        words = _text(node)
        if len(words.split()) > 1 and not _SQL.search(words) and "(?" not in words:
            yield from sentences(words)


def of_docstrings(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a module's docstrings, attributes' included, each with its line."""
    for node in ast.walk(ast.parse(text)):
        for each in _statements(node):
            if isinstance(each, ast.Expr) and (words := _text(each.value)):
                for sentence in of_page(inspect.cleandoc(words)):
                    yield each.lineno, sentence


def of_comments(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a module's comments, each with its line; lines below each other are one."""
    lines = text.splitlines()
    block: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or _FOR_TOOLS.match(token.string):
            continue
        line, column = token.start
        alone = not lines[line - 1][:column].strip()
        if not (block and alone and line == last + 1):
            yield from ((first, each) for each in of_page("\n".join(block)))
            block, first = [], line
        block.append(token.string.lstrip("# "))
        last = line
    yield from ((first, each) for each in of_page("\n".join(block)))


def of_settings(text: str, mark: str = "#") -> Iterator[str]:
    """The sentences of comments in a file of settings; lines below each other are one."""
    lines = (re.match(rf"\s*{mark}+ ?(.*)", line) for line in text.splitlines())
    yield from of_page("\n".join(line[1] if line else "" for line in lines))


def of_script(text: str) -> Iterator[str]:
    """The sentences of a script of the pages: its comments, and its texts of four words or more."""
    yield from of_settings(text, "//")
    for plain, filled in _SCRIPT_TEXT.findall(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)):
        shown = re.sub(r"\${[^}]*}", _PLACEHOLDER, plain or filled)
        if len(shown.split()) > 3:
            yield from sentences(shown)


def in_files(paths: Iterable[Path]) -> Iterator[str]:
    """Every habit in the docstrings and comments of these files, with file and line."""
    for path in sorted(paths):
        text = path.read_text()
        for line, sentence in sorted([*of_docstrings(text), *of_comments(text)]):
            if found := habits(sentence):
                yield f"{path}:{line}: {', '.join(found)}: {sentence}"


def _text(node: ast.AST) -> str:
    """The text that an expression is, the values in it left open; nothing for others."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (
            each.value if isinstance(each, ast.Constant) else _PLACEHOLDER for each in node.values
        )
        return "".join(map(str, parts))
    return ""


def _statements(node: ast.AST) -> list[ast.stmt]:
    body = getattr(node, "body", [])
    return body if isinstance(body, list) else []


def _commands(nodes: Sequence[ast.AST]) -> set[int]:
    """The docstrings of commands, which are their help."""
    return {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, ast.FunctionDef)
        and any("command(" in ast.unparse(each) for each in node.decorator_list)
        and isinstance(node.body[0], ast.Expr)
    }


if __name__ == "__main__":
    for name in map(Path, sys.argv[1:]):
        for each in in_files(name.rglob("*.py") if name.is_dir() else [name]):
            sys.stdout.write(f"{each}\n")
