"""Dossiers made to break the program that checks them: each is described, and none ends it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.fixtures.dossier import KEY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.dossier import Made

EDITS = {
    "half a character": b',"x":"\\ud800"}\n',
    "no number": b',"x":NaN}\n',
    "a number without end": b',"x":' + b"9" * 5_000 + b"}\n",
    "nested": b',"x":' + b"[" * 900 + b"]" * 900 + b"}\n",
    "nested without bottom": b',"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    "a name twice": b',"format":"round-ledger dossier 1"}\n',
    "a carriage return": b"}\r\n",
}


@pytest.mark.parametrize("name", ["manifest.json", "manifest.sig"])
@pytest.mark.parametrize("edit", EDITS)
def test_json_that_is_made_to_trip_a_reader_is_told(
    made: Made, tmp_path: Path, name: str, edit: str
) -> None:
    shutil.copytree(made.folder, tmp_path / "d")
    path = tmp_path / "d" / name
    path.write_bytes(path.read_bytes()[:-2] + EDITS[edit])
    code, said = made.checked(tmp_path / "d")
    assert code in (1, 2), said
    assert "BROKEN  " in said or "NOT CHECKED  " in said


ADDED = {
    "a name twice": (zipfile.ZIP_STORED, "README.txt", "Two files are named"),
    "another case": (zipfile.ZIP_STORED, "readme.TXT", "Two files are named"),
    "out of it": (zipfile.ZIP_STORED, "../verify.py", "cannot be the name of a file in a dossier"),
    "from the root": (zipfile.ZIP_STORED, "/etc/x", "cannot be the name of a file in a dossier"),
    "a bomb": (zipfile.ZIP_DEFLATED, "bomb.txt", "is compressed in the zip"),
    "one more": (zipfile.ZIP_STORED, "more.txt", "more.txt is not listed: it was added."),
}


@pytest.mark.parametrize("what", ADDED)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_somebody_put_into_the_zip_is_told(
    made: Made, tmp_path: Path, what: str
) -> None:
    compression, name, told = ADDED[what]
    shutil.copy(made.zip, tmp_path / "d.zip")
    with zipfile.ZipFile(tmp_path / "d.zip", "a", compression) as archive:
        archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), bytes(1 << 20), compression)
    code, said = made.checked(tmp_path / "d.zip")
    assert code in (1, 2), said
    assert told in said


def test_a_console_that_knows_few_characters_is_told_too(made: Made, tmp_path: Path) -> None:
    shutil.copytree(made.folder, tmp_path / "d")
    path = tmp_path / "d" / "manifest.sig"
    path.write_bytes(path.read_bytes().replace(b'"Ed25519"', '"한"'.encode()))
    (tmp_path / "d" / "한.txt").touch()
    ran = subprocess.run(
        [sys.executable, "-S", made.folder / "verify.py", "--key", KEY, tmp_path / "d"],
        env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (2, "")
    assert "\\ud55c.txt" in ran.stdout
