"""The installation without extras is a device's: it forwards facts, with no server's library.

The program runs with every library hidden that only an extra installs.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tomllib
from importlib import metadata
from typing import TYPE_CHECKING

import pytest

from replay.text.extras import extra_of, install
from tests.fixtures.cli import ROOT, environ, lines
from tests.suite.budget import rest_long
from tests.until import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.http import Server

_BARE = """
import json, sys
from importlib.abc import MetaPathFinder

class Hide(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

hidden = set(json.loads(sys.argv.pop(1)))
sys.meta_path.insert(0, Hide())
from replay.cli import main
main()
"""


def plain_name(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0].lower().replace("_", "-")


def hidden() -> list[str]:
    """Top modules of the distributions that an installation without extras lacks."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [plain_name(each) for each in project["dependencies"]]
    kept: set[str] = {"round-ledger", "pip"}
    while wanted:
        name = wanted.pop()
        if name not in kept:
            kept.add(name)
            needs = metadata.requires(name) or []
            wanted += [plain_name(each) for each in needs if "extra ==" not in each]
    of_module = metadata.packages_distributions()
    return [top for top, names in of_module.items() if not kept & {*map(plain_name, names)}]


def bare(*args: str | Path, home: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", _BARE, json.dumps(hidden()), *map(str, args)],
        env=environ(home),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ran(*args: str | Path, home: Path) -> tuple[int, str, str]:
    with bare(*args, home=home) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out.decode(), err.decode()


def test_what_only_an_extra_installs_is_hidden() -> None:
    assert {"psycopg", "kafka", "cv2", "fastapi", "numpy", "cryptography"} <= set(hidden())
    assert {"msgspec", "typer", "rich", "replay"}.isdisjoint(hidden())


def test_a_device_forwards_its_file_with_no_servers_library(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "device.jsonl"
    file.write_bytes(b"".join(line + b"\n" for line in lines(50)))
    with bare("ingest", "--follow", file, "--to", server.url, "--json", home=tmp_path) as device:
        place = tmp_path / "device.jsonl.place"
        until(lambda: place.exists() and json.loads(place.read_text())["lines"] == 50)
        device.send_signal(signal.SIGTERM)
        out, err = device.communicate(timeout=120)
    assert device.returncode == 0, err.decode()
    assert json.loads(out.splitlines()[-1])["appended"] == 50


@pytest.mark.parametrize(
    "command",
    rest_long(
        [("serve",), ("ingest", "README.md"), ("replay", "CC-02/2026-11-20/1"), ("relay",)],
        everyday={("serve",)},
    ),
)
def test_a_command_that_needs_an_extra_names_it_and_the_command_that_installs_it(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    code, out, err = ran(*command, home=tmp_path)
    assert (code, out) == (3, "")
    assert "needs the extra `server`" in err
    assert f"do:    Install it with: {install('server')}\n" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "command", rest_long([("settings",), ("adjudicate", "-"), ("--help",)], everyday={("--help",)})
)
def test_commands_that_need_no_database_need_no_extra(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    with bare(*command, home=tmp_path) as process:
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err.decode()


def test_a_module_of_our_own_that_is_missing_is_a_defect_and_no_extra() -> None:
    assert extra_of("replay.web.nowhere") is None
    assert [extra_of(name) for name in ("av", "joserfc", "pyarrow", "psycopg")] == [
        "video",
        "oidc",
        "reports",
        "server",
    ]
    assert "pip install" in install("video")
    assert install("video").endswith("'round-ledger[video]'")
