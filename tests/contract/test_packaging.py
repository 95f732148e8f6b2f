"""What is installed is what is in the checkout: every package is named, and every extra pinned."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSIONS = (ROOT / "docs" / "reference" / "versions.md").read_text()
TOP_LEVEL = ("ledger", "consumers", "infra", "replay")
# Python writes a module's compiled form beside the others under a name of its own at first, so a
# file half written there is no file of ours.
NOT_READ = {"__pycache__", "docker"}


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_package_names_the_pythons_that_ci_runs(project: dict) -> None:
    told = project["project"]
    named = [each for each in told["classifiers"] if re.search(r":: 3\.\d+$", each)]
    versions = [each.rpartition(" ")[2] for each in named]
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    (run,) = re.findall(r"python: \[(.+)\]", workflow)
    assert versions == re.findall(r"[\d.]+", run)
    assert told["requires-python"] == f">={versions[0]}"
    assert "CI runs " + ", ".join(versions[:-1]) + f" and {versions[-1]}" in VERSIONS
    assert (told["license"], told["readme"]) == ("Apache-2.0", "README.md")
    assert not [each for each in told["classifiers"] if each.startswith("License")]
    assert "urls" not in told  # there is no address to name


def test_package_and_changelog_are_of_one_version(project: dict) -> None:
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == project["project"]["version"] == metadata.version("round-ledger")


def test_every_folder_of_modules_is_a_package_of_the_build(project: dict) -> None:
    find = project["tool"]["setuptools"]["packages"]["find"]
    assert find == {"include": [f"{top}*" for top in TOP_LEVEL], "namespaces": False}
    folders = {path.parent for top in TOP_LEVEL for path in (ROOT / top).rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


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
        if path.is_file() and path.suffix != ".py" and not NOT_READ & {*path.parts}
    }
    assert data - packaged == set()


def test_every_dependency_is_pinned_for_tests(project: dict) -> None:
    text = (ROOT / "constraints.txt").read_text()
    pinned = {name_of(line) for line in text.splitlines() if "==" in line}
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *(n for names in extras.values() for n in names)]
    assert {name_of(each) for each in wanted} - pinned == {"round-ledger"}  # extras of its own


def test_in_containers_one_service_keeps_the_views() -> None:
    told = re.findall(r"command: \[(.*)\]", (ROOT / "docker-compose.yml").read_text())
    commands = [re.findall(r'"([^"]+)"', each)[1:] for each in told]
    keep = [each for each in commands if each[0] == "serve" and "--no-views" not in each]
    keep += [each for each in commands if each[0] == "consume" and "all" in each]
    assert len(keep) == 1, keep


def name_of(requirement: str) -> str:
    """A distribution's name as indexes compare it, without version or extras."""
    return re.split(r"[\[<>=!~ ]", requirement)[0].lower().replace("_", "-")


def test_every_broker_in_a_container_tells_clients_where_they_really_reach_it() -> None:
    """A broker answers with its configured address; the second call meets a wrong one."""
    text = (ROOT / "docker-compose.yml").read_text()
    services = re.findall(r"^  (kafka\S*):\n((?:    .*\n)+)", text, re.MULTILINE)
    assert [name for name, _ in services] == ["kafka", "kafka-1", "kafka-2", "kafka-3"]
    (listeners,) = re.findall(r"KAFKA_LISTENERS: (\S+)", text)
    assert listeners == "INSIDE://:19092,OUTSIDE://:9092,CONTROLLER://:9093"
    (bootstrap,) = re.findall(r"ROUND_LEDGER_KAFKA_BOOTSTRAP: (\S+)", text)
    for name, body in services:
        (published,) = re.findall(r'ports: \["(\S+):9092"\]', body)
        (told,) = re.findall(r"KAFKA_ADVERTISED_LISTENERS: (\S+)", body)
        assert told == f"INSIDE://{name}:19092,OUTSIDE://{published}"
        assert published in bootstrap.split(",")
    voters = re.findall(r"KAFKA_CONTROLLER_QUORUM_VOTERS: (\S+)", text)
    voting = {each for line in voters for each in line.split(",")}
    assert voting == {"1@kafka:9093", *(f"{n}@kafka-{n}:9093" for n in (1, 2, 3))}
