"""Every code block of the documentation is run, or says why not; what stands in it is real."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.e2e.docs.blocks import (
    MARKS,
    REASONS,
    ROOT,
    RUN,
    blocks_of,
    commands_of,
    differs,
    every_block,
    pages,
    with_snippets,
)

if TYPE_CHECKING:
    from pathlib import Path

BLOCKS = every_block()
LANGUAGES = {*RUN, "json", "toml", "python", "ini", "text"}

NOT_RUN = {
    "CONTRIBUTING.md": ["hours"],
    "docs/benchmarks.md": ["hours"],
    "docs/explanation/sizing.md": ["tests/property/record/test_feed_simulation.py"],
    "docs/how-to/deploy.md": ["another machine", "docker", "docker"],
    "docs/how-to/install.md": ["package index", "package index", "package index", "systemd"],
    "docs/how-to/repair.md": [
        "tests/e2e/cli/test_cli_record.py",
        "tests/integration/shares/test_feed_in_parts.py",
    ],
    "docs/how-to/witness.md": ["tests/e2e/log/test_log.py"] * 4,
    "docs/reference/http-api.md": ["another machine"],
    "docs/reference/views.md": ["another machine"],
    "docs/roles/finance.md": [
        "tests/integration/feed/test_feed_sealed_days.py",
        "tests/integration/finance/test_day_command.py",
        "tests/property/finance/test_journal.py",
    ],
    "docs/runbook/backup.md": ["tests/integration/postgres/test_drill.py"] * 2,
    "docs/runbook/devices.md": [
        "package index",
        *["tests/e2e/roster/test_cli_roster.py"] * 3,
        "tests/integration/http/test_store_and_forward.py",
    ],
    "docs/runbook/failover.md": ["tests/integration/postgres/test_failover.py"],
    "docs/runbook/upgrade.md": ["tests/integration/postgres/test_migration_under_load.py"],
    "docs/tutorials/first-facts.md": ["another machine"],
}
"""The blocks that are not run, by page, and why: a mark needs its line here."""

RUN_AS = Counter(
    {
        "README.md": 2,
        "docs/how-to/dossier.md": 1,
        "docs/how-to/sign-in.md": 1,
        "docs/tutorials/first-reader.md": 2,
        "docs/tutorials/first-round.md": 1,
    }
)
"""How many blocks of a page are run in other words: `make demo` installs first, names vary."""

COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)


def test_every_comment_of_a_page_is_a_mark() -> None:
    known = rf" (({'|'.join(MARKS)})\b.*|generated: .+) "
    strange = [
        (page, comment)
        for page in pages()
        for comment in COMMENT.findall((ROOT / page).read_text())
        if not re.fullmatch(known, comment)
    ]
    assert strange == []


def test_every_block_has_a_language() -> None:
    assert [block.where for block in BLOCKS if block.language not in LANGUAGES] == []


def test_what_is_not_run_is_listed_with_its_reason() -> None:
    found: dict[str, list[str]] = {}
    for block in BLOCKS:
        if reason := block.marks.get("not run"):
            found.setdefault(block.page, []).append(reason)
    assert {page: sorted(reasons) for page, reasons in found.items()} == NOT_RUN
    named = {reason for reasons in found.values() for reason in reasons}
    assert [each for each in named if each not in REASONS and not (ROOT / each).is_file()] == []
    assert REASONS.keys() <= named
    assert Counter(block.page for block in BLOCKS if "run as" in block.marks) == RUN_AS


def test_most_blocks_are_run() -> None:
    of_shell = [block for block in BLOCKS if block.language in RUN]
    run = [block for block in of_shell if block.is_run]
    assert len(run) > 40
    assert len(run) * 4 > len(of_shell) * 3


def test_every_block_of_python_is_a_file() -> None:
    python = [block for block in BLOCKS if block.language == "python"]
    assert [each.where for each in python if "file" not in each.marks] == []
    for block in python:
        ast.parse(with_snippets(block.code))


def test_json_is_json() -> None:
    for block in BLOCKS:
        if block.language == "json":
            whole = block.code.lstrip().startswith("{\n") or "output" in block.marks
            for each in [block.code] if whole else block.code.splitlines():
                assert json.loads(each), block.where


def test_exit_codes_are_at_most_as_many_as_commands() -> None:
    for block in BLOCKS:
        codes = block.marks.get("exit", "").split()
        assert len(codes) <= len(commands_of(block)), block.where
        assert all(code in ("0", "1", "2", "3") for code in codes), block.where


def test_every_page_with_code_is_in_the_order() -> None:
    assert len(pages()) == len(set(pages()))
    assert pages()[:2] == ["docs/tutorials/first-round.md", "docs/tutorials/first-facts.md"]
    assert {"README.md", "CONTRIBUTING.md", "docs/runbook/backup.md"} <= set(pages())


@pytest.mark.parametrize(
    ("expected", "printed", "lacks"),
    [
        (["a 1.2 s"], ["a 3.4 s"], None),
        (["a", "…", "d"], ["a", "b", "c", "d"], None),
        (["a", "d"], ["a", "b", "d"], "d"),
        (["a … z"], ["a bc z"], None),
        (["a"], ["b"], "a"),
        (["a"], [], "a"),
        (["b", "a"], ["a", "b"], "b"),
    ],
)
def test_what_is_printed_otherwise_is_seen(
    expected: list[str], printed: list[str], lacks: str | None
) -> None:
    assert differs(expected, printed) == lacks


def test_a_mark_before_no_block_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "page.md").write_text("<!-- exit: 1 -->\nText\n")
    monkeypatch.setattr("tests.e2e.docs.blocks.ROOT", tmp_path)
    with pytest.raises(ValueError, match="before no block"):
        blocks_of("page.md")
