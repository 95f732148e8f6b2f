"""What is installed is what is in the checkout: every package is named, and every extra pinned."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOP_LEVEL = ("ledger", "consumers", "infra", "replay")


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_package_is_named_in_the_build(project: dict) -> None:
    found = {
        ".".join(folder.relative_to(ROOT).parts)
        for top in TOP_LEVEL
        for folder in [ROOT / top, *(ROOT / top).rglob("*")]
        if (folder / "__init__.py").is_file()
    }
    assert set(project["tool"]["setuptools"]["packages"]) == found


def test_every_file_that_is_read_at_run_time_is_packaged(project: dict) -> None:
    packaged = {
        path
        for package, patterns in project["tool"]["setuptools"]["package-data"].items()
        for pattern in patterns
        for path in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    data = {
        path
        for top in TOP_LEVEL
        for path in (ROOT / top).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and "docker" not in path.parts
    }
    assert data - packaged == set()


def test_every_dependency_is_pinned_for_tests(project: dict) -> None:
    text = (ROOT / "constraints.txt").read_text()
    pinned = {name_of(line) for line in text.splitlines() if "==" in line}
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *(n for names in extras.values() for n in names)]
    assert {name_of(each) for each in wanted} - pinned == set()


def name_of(requirement: str) -> str:
    """A distribution's name as indexes compare it, without version or extras."""
    return re.split(r"[\[<>=!~ ]", requirement)[0].lower().replace("_", "-")
