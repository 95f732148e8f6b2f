"""The lock has what pyproject.toml asks for, by hash, and the bills of materials list it."""

from __future__ import annotations

import json
import re
import runpy
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "requirements"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
LOCK = runpy.run_path(str(FOLDER / "lock.py"))
SBOM = runpy.run_path(str(FOLDER / "sbom.py"))
FILES = sorted(FOLDER.glob("*.txt"))

NEEDS = {"setuptools": [], "opencv-python-headless": metadata.requires("opencv-python")}
"""What packages need that an installation for tests may lack."""

LINE = re.compile(
    r"-r \w+\.txt"
    r"|[A-Za-z0-9._-]+==[^ ;]+(?: ; sys_platform == 'linux')? \\"
    r"|    --hash=sha256:[0-9a-f]{64}(?: \\)?"
)
"""Every line of a lock file: no index, no address, no path, and a pin never without a hash."""


def pins(name: str) -> dict[str, str]:
    """Versions by package that a lock file and those it includes have for this system."""
    found = [Requirement(line.rstrip(" \\")) for line in SBOM["lines_of"](name) if "==" in line]
    return {
        canonicalize_name(each.name): str(each.specifier)[2:]
        for each in found
        if not each.marker or each.marker.evaluate()
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_lock_file_is_pins_with_hashes_and_nothing_else(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        assert line.endswith("\\") == following.startswith("    --hash"), line


def test_every_part_has_its_file_and_every_file_its_part() -> None:
    assert {path.stem for path in FILES} == set(LOCK["INCLUDES"])
    assert set(EXTRAS) < set(LOCK["INCLUDES"])
    for name, includes in LOCK["INCLUDES"].items():
        lines = (FOLDER / f"{name}.txt").read_text().splitlines()
        assert [line for line in lines if line.startswith("-r")] == [
            f"-r {each}.txt" for each in includes
        ]


def needed(requirements: list[str]) -> set[tuple[str, str]]:
    """The installed packages that these need, and the extra for which each is needed."""
    seen: set[tuple[str, str]] = set()
    waiting = [(Requirement(each), "") for each in requirements]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for each in ("", *requirement.extras):
            if (name, each) not in seen:
                seen.add((name, each))
                needs = NEEDS[name] if name in NEEDS else metadata.requires(name)
                waiting += [(Requirement(need), each) for need in needs or []]
    return seen


def asked(name: str) -> list[str]:
    """What pyproject.toml asks for in a part and those it includes."""
    wanted = LOCK["wanted"](PROJECT)
    return [each for part in LOCK["parts_of"](name) for each in wanted[part]]


@pytest.mark.parametrize("name", LOCK["INCLUDES"])
def test_a_lock_file_has_all_that_its_part_needs_and_no_more(name: str) -> None:
    """Nothing is resolved at installation, so what is missing here is missing there."""
    found = pins(name)
    assert {package for package, _ in needed(asked(name))} == set(found)
    for requirement in map(Requirement, asked(name)):
        assert requirement.specifier.contains(found[canonicalize_name(requirement.name)])


def test_what_a_part_lacks_is_found() -> None:
    assert ("httpcore", "") in needed(["httpx"])
    assert ("pydantic-core", "") in needed(asked("server"))
    assert "fastapi" not in pins("device")


def test_the_lock_pins_the_tested_versions_each_once() -> None:
    text = (ROOT / "constraints.txt").read_text()
    tested = dict(line.split("==") for line in text.splitlines() if "==" in line)
    locked: list[tuple[str, str]] = []
    for path in FILES:
        locked += re.findall(r"^(\S+)==([^ ;]+)", path.read_text(), re.MULTILINE)
    names = [name for name, _ in locked]
    assert {name for name in names if names.count(name) > 1} == {"numpy"}  # opencv, or headless
    assert {canonicalize_name(name): version for name, version in tested.items()} == dict(locked)


def test_the_same_is_installed_everywhere() -> None:
    """By make, by the image and by the pages, always by hash and without resolving."""
    for name in ("Makefile", "infra/docker/Dockerfile", "docs/how-to/install.md"):
        text = (ROOT / name).read_text().replace("\\\n", " ")
        assert "-c constraints.txt" not in text, name
        for line in re.findall(r"^.*-r requirements/.*$", text, re.MULTILINE):
            assert "--require-hashes" in line or "$(LOCKED)" in line, (name, line)
        assert "--no-deps" in text or "PIP_NO_DEPS=1" in text, name
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert "!requirements" in ignored


@pytest.fixture(scope="module")
def bills(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("dist")
    SBOM["main"](folder)
    return {path.name.removesuffix(".cdx.json"): path for path in folder.iterdir()}


def test_a_bill_is_valid_cyclonedx_and_a_wrong_one_is_not(bills: dict[str, Path]) -> None:
    """By the schema that CycloneDX publishes, as its library for Python has it."""
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415 - slow to load
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415 - as said

    validator = JsonStrictValidator(SchemaVersion.V1_6)
    for path in bills.values():
        assert validator.validate_str(path.read_text()) is None
    wrong = bills["round-ledger-device"].read_text().replace('"SHA-256"', '"SHA-1024"')
    assert validator.validate_str(wrong) is not None


def test_a_bill_lists_what_its_lock_files_have(bills: dict[str, Path]) -> None:
    listed = {
        name: {
            (each["name"], each["version"]) for each in json.loads(path.read_text())["components"]
        }
        for name, path in bills.items()
    }
    server = pins("video") | pins("oidc") | pins("reports")
    assert listed["round-ledger-server"] == set(server.items())
    assert listed["round-ledger-device"] == set(pins("sign").items())
    image = {name for name, _ in listed["round-ledger-image"]}
    assert image == (set(pins("oidc")) - {"opencv-python"}) | {"opencv-python-headless"}


def test_a_bill_names_the_program_and_the_hash_of_each_file(bills: dict[str, Path]) -> None:
    bill = json.loads(bills["round-ledger-device"].read_text())
    program = bill["metadata"]["component"]
    assert (program["name"], program["version"]) == ("round-ledger", PROJECT["project"]["version"])
    (msgspec,) = (each for each in bill["components"] if each["name"] == "msgspec")
    lock = (FOLDER / "device.txt").read_text()
    (block,) = re.findall(r"^msgspec==.*(?:\n    --hash.*)+", lock, re.MULTILINE)
    hashes = [each["content"] for each in msgspec["externalReferences"][0]["hashes"]]
    assert hashes == re.findall(r"sha256:(\w+)", block)


def test_the_same_lock_gives_the_same_bill(bills: dict[str, Path], tmp_path: Path) -> None:
    SBOM["main"](tmp_path)
    for path in bills.values():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
