"""What a reader is promised of the house itself: sizes, and that every pointer leads somewhere."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from os.path import normpath
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from infra.postgres.migrations import ROLES
from ledger.record.verify import BreakKind
from replay.docs.pages import PAGES as MADE

ROOT = Path(__file__).parents[2]
PACKAGES = ("ledger", "consumers", "infra", "replay")
MODULES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
}
SQL = "\n".join(path.read_text() for path in sorted((ROOT / "infra/postgres/sql").glob("*.sql")))
TOPICS = (ROOT / "infra/kafka/topics.toml").read_text()
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
}
GENERATED = {f"docs/{path}" for path in MADE}
DECISIONS = {path.name[:4] for path in (ROOT / "docs" / "adr").glob("[0-9]*.md")}

BODY_MAX = 60  # lines of a function below its parameters
WITH_FLOATS = (  # chances, waits and rates
    "ledger/simulate/", "ledger/record/group_commit.py", "ledger/statistics/rates.py",
)  # fmt: skip

LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")
FILE = re.compile(r"`((?:ledger|consumers|infra|replay|tests|docs)/[\w./]+\.(?:py|md|sql|toml))`")
NEW_FILE = re.compile(r"New file `[^`]+`")  # that a reader is to write
COPY = re.compile(r"^cp \S+ (\S+)$", re.MULTILINE)  # or to copy
NAME = re.compile(r"`((?:ledger|consumers|infra|replay)(?:\.\w+)+)`")
SERVED = re.compile(r"/(docs/[\w/-]+)\.html")
DECISION = re.compile(r"ADR (\d{4})")


def nodes(text: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(text)))


class Defined(NamedTuple):
    """What a module says of itself, and its functions with their lines below the parameters."""

    docstring: str | None
    functions: dict[str, int]


def room_of(path: str) -> str:
    """The two upper folders of a module: reading all of a package in one test takes too long."""
    return "/".join(path.split("/")[:-1][:2])


ROOMS = sorted({room_of(path) for path in MODULES})


@cache
def defined(room: str) -> dict[str, Defined]:
    """What every module of a room defines, read once."""
    found = {}
    for path, text in MODULES.items():
        if room_of(path) != room:
            continue
        tree = ast.parse(text)
        functions = {
            f"{path}:{node.name}:{node.lineno}": (node.end_lineno or 0) - node.body[0].lineno + 1
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        found[path] = Defined(ast.get_docstring(tree), functions)
    return found


def means_something(dotted: str) -> bool:
    """Whether a dotted name is a module, a name in one, a topic, or an object of the database."""
    holder, _, last = dotted.replace(".", "/").rpartition("/")
    if f"{holder}/{last}.py" in MODULES or (ROOT / holder / last / "__init__.py").is_file():
        return True
    within = MODULES.get(f"{holder}.py", "") + MODULES.get(f"{holder}/__init__.py", "")
    return re.search(rf"\b{last}\b", within) is not None or dotted in SQL + TOPICS


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_says_what_it_is(room: str) -> None:
    assert [path for path, each in defined(room).items() if not each.docstring] == []


@pytest.mark.parametrize("room", ROOMS)
def test_no_function_is_longer_than_one_keeps_in_mind(room: str) -> None:
    long = [
        name
        for each in defined(room).values()
        for name, lines in each.functions.items()
        if lines > BODY_MAX
    ]
    assert long == []


def test_every_link_of_a_page_leads_somewhere() -> None:
    """Links in the pages beside the code.

    A link of the site that leads nowhere fails `make site`.
    """
    links = [(page, to) for page, text in PAGES.items() for to in LINK.findall(text)]
    lost = [
        (page, to)
        for page, to in links
        if not (ROOT / page).parent.joinpath(to).exists()
        and (not page.startswith("docs/") or normpath(f"{page}/../{to}") not in GENERATED)
    ]
    assert len(links) > 50
    assert lost == []


def test_every_file_module_and_decision_that_a_text_names_is_there() -> None:
    for where, text in {**MODULES, **PAGES, "infra/postgres/sql": SQL}.items():
        named = set(FILE.findall(NEW_FILE.sub("", text))) - GENERATED - set(COPY.findall(text))
        assert [file for file in named if not (ROOT / file).exists()] == [], where
        assert [name for name in NAME.findall(text) if not means_something(name)] == [], where
        assert set(DECISION.findall(text)) <= DECISIONS, where


def test_the_architecture_page_says_of_each_folder_what_its_package_says() -> None:
    rows = [
        f"| `{path.removesuffix('__init__.py')}` | {first_line(text)} |"
        for path, text in MODULES.items()
        if path.endswith("/__init__.py")
    ]
    assert [row for row in rows if row not in PAGES["docs/architecture.md"]] == []
    assert PAGES["docs/architecture.md"].count("/` | ") == len(rows)


def test_every_page_of_the_documentation_that_a_message_names_is_there() -> None:
    """By its path under `serve`: an installation has no other."""
    templates = {path.name: path.read_text() for path in (ROOT / "replay/web").rglob("*.html")}
    named = {name for text in {**MODULES, **templates}.values() for name in SERVED.findall(text)}
    assert len(named) > 3
    assert named <= {path.removesuffix(".md") for path in {*PAGES, *GENERATED}}


def first_line(text: str) -> str:
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


FILES_MAX = 15
EXCEPTED = ("ledger/games", "ledger/edges", "tests/unit/games")


def test_no_folder_holds_more_files_than_one_looks_through() -> None:
    tests = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py")]
    files = [path for path in [*MODULES, *tests] if not path.endswith("/__init__.py")]
    counts = Counter(path.rpartition("/")[0] for path in files)
    crowded = [folder for folder, count in counts.items() if count > FILES_MAX]
    assert [folder for folder in crowded if folder not in EXCEPTED] == []


CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)
PUBLISHED_ALIKE = {"FactRef"}  # schemas of facts and of rulings name two structs so


def files_of_classes() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path, text in MODULES.items():
        for name in CLASS.findall(text):
            found.setdefault(name, []).append(path)
    return found


def test_a_public_class_name_stands_in_one_file() -> None:
    double = {name for name, files in files_of_classes().items() if len(files) > 1}
    assert double == PUBLISHED_ALIKE


def test_a_name_that_is_nowhere_is_seen() -> None:
    assert means_something("ledger.rules.engine.odds")
    assert means_something("ledger.rules.engine.odds.paytable")
    assert means_something("ledger.append")
    assert not means_something("ledger.rules.oddities")
    assert not means_something("ledger.rules.engine.odds.payroll")


def test_pages_name_every_role_and_every_way_a_record_can_be_broken() -> None:
    roles, breaks = PAGES["docs/how-to/deploy.md"], PAGES["docs/explanation/integrity.md"]
    assert [role for role in ROLES if f"| `{role}` |" not in roles] == []
    assert f"({', '.join(get_args(BreakKind))})" in " ".join(breaks.split())


def test_the_environment_is_read_in_one_place() -> None:
    readers = {path for path, text in MODULES.items() if re.search(r"os\.environ|getenv", text)}
    sets_only = {
        "replay/footage/decoding/reader.py"
    }  # what OpenCV looks for, in a process of its own
    assert readers - sets_only == {"replay/shell/settings.py"}


def test_output_is_written_in_one_place_which_keeps_no_line_back() -> None:
    writes = re.compile(r"stdout\.(write|buffer|flush|reconfigure)|(?<!\w)print\(|\becho\(")
    writers = {path for path, text in MODULES.items() if writes.search(text)}
    ends_it = {"replay/cli/shell/errors.py"}  # and reports a full disk as one
    no_command_of_ours = {
        "ledger/edges/asia_poker.py",
        "ledger/edges/lunar_poker.py",
        "ledger/edges/spread/kept.py",
        "ledger/edges/spread/measured.py",
        "ledger/facts/schemas.py",
        "replay/docs/__main__.py",
        "replay/checker/main.py",
        "replay/footage/decoding/sandbox.py",
        "replay/footage/live/receiver.py",
    }
    draws = {
        "replay/cli/shell/terminal.py",
        "replay/dossier/writing/making.py",
    }  # Rich flushes what it prints
    assert writers - ends_it - no_command_of_ours - draws == {"replay/shell/output.py"}


def test_no_float_is_anywhere_near_money() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, text in MODULES.items()
        if path.startswith("ledger/") and not path.startswith(WITH_FLOATS)
        for node in nodes(text)
        if (isinstance(node, ast.Constant) and isinstance(node.value, float))
        or (isinstance(node, ast.Name) and node.id == "float")
    ]
    assert found == []
