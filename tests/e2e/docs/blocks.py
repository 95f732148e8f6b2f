"""The code blocks of the documentation, each with the marks that stand before it.

A mark is an HTML comment on a line of its own before the block, which readers do not see:
`<!-- needs: kafka -->`.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]

RUN = ("sh", "console", "sql")
"""Languages of blocks that are run."""

MARKS = {
    "not run": "It is not run. The reason is one of `REASONS`, or the test that does the same.",
    "needs": "kafka: it is run with `services up`. server: it is run while `serve` answers.",
    "stays": "It runs until its page ends. It is ready once it prints this text.",
    "exit": "Exit codes of its commands, if one is not 0.",
    "file": "It is the content of this file.",
    "output": "It is what the block before it prints.",
    "run as": "These commands are run in its place.",
}
"""Every mark, and what it says of the block."""

ELSEWHERE = ("docs/adr/", "docs/adding/")
"""Decisions have nothing to run; `tests/contract/test_adding.py` follows the walk-throughs."""

REASONS = {
    "docker": "containers are tried by hand, with what the page says of it",
    "systemd": "it changes the machine's services",
    "another machine": "it names servers that are not here",
    "hours": "it takes minutes to hours, or is this test itself",
    "package index": "it installs packages",
}
"""Why a block may be left out."""

_MARK = re.compile(rf"<!-- ({'|'.join(MARKS)})(?:: (.+?))? -->")
_SNIPPET = re.compile(r'^--8<-- "(.+)"$', re.MULTILINE)
_FENCE = re.compile(r"( *)```\s*(\{ \.)?(\w*)")


class Block(NamedTuple):
    """One code block of a page."""

    page: str  # below the checkout
    line: int  # of its first line of code
    language: str
    code: str
    marks: dict[str, str]

    @property
    def where(self) -> str:
        """As an editor finds it."""
        return f"{self.page}:{self.line}"

    @property
    def is_run(self) -> bool:
        """Whether a reader is to run it, and the tests can."""
        other = {"not run", "file", "output"}
        return self.language in RUN and not other & self.marks.keys()


def pages() -> list[str]:
    """Every page that may have code to run, in the order in which a reader comes to it."""
    found = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    kept = {each for each in found if not each.startswith(ELSEWHERE)}
    begin = ["docs/tutorials/first-round.md", "docs/tutorials/first-facts.md"]
    folders = [
        "docs/tutorials/",
        "docs/roles/",
        "docs/how-to/",
        "docs/reference/",
        "docs/explanation/",
    ]
    order = {name: at for at, name in enumerate(begin)}
    rest = len(begin) + len(folders)

    def place(page: str) -> tuple[int, str]:
        inside = (len(begin) + at for at, name in enumerate(folders) if page.startswith(name))
        return order.get(page, next(inside, rest)), page

    return [*sorted(kept, key=place), "README.md", "CONTRIBUTING.md"]


def blocks_of(page: str) -> list[Block]:
    """The code blocks of a page, in order. Raises ValueError for a mark before none."""
    found, marks = [], {}
    lines = iter(enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1))
    for number, line in lines:
        if mark := _MARK.fullmatch(line.strip()):
            marks[mark[1]] = mark[2] or ""
        elif fence := _FENCE.match(line):
            code = []
            for _, each in lines:
                if each.strip() == "```":
                    break
                code.append(each.removeprefix(fence[1]))
            found.append(Block(page, number + 1, fence[3], "\n".join(code) + "\n", marks))
            marks = {}
        elif marks and line.strip():
            raise ValueError(f"{page}:{number}: a mark stands before no block")
    return found


def every_block() -> list[Block]:
    """The blocks of all pages, in the order in which they are run."""
    return [block for page in pages() for block in blocks_of(page)]


def commands_of(block: Block) -> list[str]:
    """The commands of a block, one a line: without comments and what is printed."""
    joined = block.code.replace("\\\n", " ")
    if block.language == "console":
        return [line[2:] for line in joined.splitlines() if line.startswith("$ ")]
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def words_of(block: Block) -> Iterator[list[str]]:
    """The words of each `round-ledger` in a block, after that name."""
    words: list[str] = []
    for line in commands_of(block):
        for word in [*shlex.split(line, comments=True), ";"]:
            if word not in ("&&", "|", ";", ">", "<"):
                words.append(word)
                continue
            if "round-ledger" in words:
                yield words[words.index("round-ledger") + 1 :]
            words = []


def outputs_of(block: Block) -> list[str]:
    """The printed lines of a console block: those that are no commands."""
    return [line for line in block.code.splitlines() if not line.startswith("$ ")]


def with_snippets(code: str) -> str:
    """A block with the files that it includes, as the site shows it."""
    return _SNIPPET.sub(lambda name: (ROOT / name[1]).read_text(encoding="utf-8"), code)


VARIES = (
    (re.compile(r"\b\d+\.\d s\b"), "SECONDS"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\b127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"\b\d+ ms\b"), "MS"),
)
"""Figures that another run prints differently, and what stands for them when lines are compared."""


def masked(line: str) -> str:
    """A line to compare: spaces made one, and figures that vary replaced."""
    line = " ".join(line.split())
    for pattern, name in VARIES:
        line = pattern.sub(name, line)
    return line


def differs(expected: list[str], printed: list[str]) -> str | None:
    """The first expected line that was not printed in its place; None if all were.

    A line `…` stands for any lines, `…` in a line for any text.
    """
    left, anywhere = [masked(line) for line in printed if line.strip()], False
    for line in [each for each in expected if each.strip()]:
        if line.strip() == "…":
            anywhere = True
            continue
        pattern = re.escape(masked(line)).replace("…", ".*")
        at = next((n for n, each in enumerate(left) if re.fullmatch(pattern, each)), None)
        if at is None or (at and not anywhere):
            return line
        left, anywhere = left[at + 1 :], False
    return None
