"""Rules that hold for every command, new ones included."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from replay.cli.feed.views import _chosen
from replay.cli.shell.app import COMMANDS, Command, load
from replay.docs.cli import commands, told
from replay.docs.json_output import FORMS
from tests.e2e.docs.blocks import every_block, words_of
from tests.fixtures.cli import ROOT, START, environ

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.cli import Cli

ALL = dict(commands())
LEAVES = {
    name: command
    for name, command in ALL.items()
    if getattr(command, "invoke_without_command", True)
}
"""Commands that do something by themselves: all but the groups that only hold others."""
WITHOUT_JSON = {"demo", "demo-film", "dossier", "relay", "serve", "simulate"}
WITHOUT_JSON |= {"log prove", "log seal", "witness serve"}
WITHOUT_JSON |= {
    "keys revoke",
    "users add",
    "users disable",
    "users second-factor",
    "users end",
    "users password",
    "users roles",
}
"""Commands that need not print JSON: they make or change something, or serve it."""

HEAVY = ("cv2", "fastapi", "kafka", "numpy", "psycopg", "uvicorn")
NEEDS = {"games": (), "settings": (), "adjudicate": (), "verify": ("psycopg",)}

LOADED = """
import sys
from replay.cli.shell.app import app
try:
    app(sys.argv[1:], standalone_mode=True)
except SystemExit:
    pass
print(*[name for name in sys.modules if "." not in name], file=sys.stderr)
"""


INTERRUPTED = """
import sys, types
class Loading(types.ModuleType):
    def __getattr__(self, name):
        if name == "run":
            raise KeyboardInterrupt
        raise AttributeError(name)
sys.modules["replay.cli.shell.app"] = Loading("replay.cli.shell.app")
from replay.cli import main
main()
"""


def test_being_stopped_while_it_loads_is_no_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, cwd=ROOT, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (130, b"")


HINDERED = """
import errno, sys
from infra.postgres.server import embedded
number = int(sys.argv.pop(1))
def start(folder, first):
    raise OSError(number, "told by the system", "/srv/ledger")
embedded._start = start
from replay.cli import main
main()
"""


@pytest.mark.parametrize(
    ("number", "code"), [(errno.EROFS, 3), (errno.ENOSPC, 3), (errno.EBADF, 1)]
)
def test_what_the_machine_does_not_allow_is_exit_code_3_and_a_defect_is_a_traceback(
    tmp_path: Path, number: int, code: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HINDERED, str(number), "verify"],
        capture_output=True,
        cwd=ROOT,
        env=environ(tmp_path),
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    assert "/srv/ledger" in done.stderr
    assert ("Traceback" in done.stderr) == (code == 1)


@pytest.mark.parametrize(
    "asked",
    [
        "consume all alerts",
        "consume alerts rounds --follow",
        "consume all nonsense",
        "consume alerts --status",
        "consume alerts --from tape",
        "consume alerts --part 1/2",
        "consume all --follow --port -1",
        "relay --port -1",
        "rebuild all nonsense",
        "rebuild alerts",
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_asked(
    plain_cli: Cli, asked: str
) -> None:
    """Each was taken for something else: alerts that nobody raised, a look that raised them."""
    ran = plain_cli(*asked.split())
    assert ran.code == 2, ran.err
    assert "Traceback" not in ran.err


def test_a_view_that_is_named_twice_is_meant_once() -> None:
    assert _chosen(["rounds", "drop", "rounds"]) == _chosen(["rounds", "drop"])


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.name)
def test_the_list_says_the_first_line_of_the_commands_own_help(row: Command) -> None:
    text, _ = told(load(row))
    assert text.splitlines()[0] == row.says
    assert len(row.says) <= 64


HELPED = """
import contextlib, io, json, sys
from replay.cli.shell.app import app
told = {}
for name in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            app([*name.split(), "--help"], "round-ledger")
        except SystemExit as end:
            told[name] = [end.code, out.getvalue()]
json.dump(told, sys.stdout)
"""


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_one_real_example_and_says_what_it_takes(name: str) -> None:
    text, example = told(LEAVES[name])
    assert text.endswith((".", ":"))
    assert f"round-ledger {name}" in example
    assert example.count("\n\n") == 0
    assert all(parameter.help for parameter in LEAVES[name].params if parameter.name != "help")


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_that_reads_prints_json(name: str) -> None:
    options = {option for parameter in ALL[name].params for option in parameter.opts}
    assert "--json" in options or name in WITHOUT_JSON


def test_the_page_of_json_declares_what_every_command_prints_and_no_other() -> None:
    prints = {
        name
        for name, command in ALL.items()
        if any("--json" in parameter.opts for parameter in command.params)
    }
    declared = {name for form in FORMS for name in form.commands}
    of_others = {"import-phh"}  # it prints what `ingest` or `adjudicate` prints
    assert prints - declared == of_others
    assert {name.partition(" --")[0] for name in declared} - {"consume alerts"} <= prints


def given_on_pages() -> list[tuple[str, list[str]]]:
    """Every command in the code of the documentation, and where: those that are not run, too."""
    return [
        (block.where, words)
        for block in every_block()
        if block.language in ("sh", "console")
        for words in words_of(block)
        if not words[0].startswith("-")
    ]


def test_every_command_of_a_page_exists_with_these_options() -> None:
    given = given_on_pages()
    assert len(given) > 80
    for where, words in given:
        names = [" ".join(words[:count]) for count in (1, 2, 3)]
        name = next((each for each in reversed(names) if each in ALL), None)
        assert name, f"{where}: there is no command {' '.join(words)}"
        known = {option for parameter in ALL[name].params for option in parameter.opts}
        options = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert options <= known | {"--help"}, f"{where}: {' '.join(words)}"


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.name)
def test_a_module_defines_what_the_list_says_of_it(row: Command) -> None:
    module = import_module(f"replay.cli.{row.module}")
    assert module.__doc__
    assert hasattr(module, "app")


@pytest.mark.long
def test_help_is_printed_without_a_database(plain_cli: Cli) -> None:
    done = subprocess.run(  # one process for all: each would spend its time starting
        [sys.executable, "-c", HELPED],
        input=json.dumps(["", *ALL]),
        capture_output=True,
        text=True,
        env=plain_cli.environ,
        cwd=ROOT,
        check=True,
    )
    told_of = json.loads(done.stdout)
    assert "65,535)" in told_of["serve"][1]
    assert set(told_of) == {"", *ALL}
    for name, (code, out) in told_of.items():
        assert code == 0, name
        assert f"Usage: round-ledger {name}".rstrip() in out, name
        raw = re.compile(r"\.\.\.}|<(str|int|float|bool|list)\b|[<>]=")
        assert [line for line in out.splitlines() if raw.search(line)] == [], name


def test_the_list_of_commands_imports_none_and_is_quick(tmp_path: Path) -> None:
    loaded = _loaded(tmp_path, "--help")
    assert not loaded & {*HEAVY, "ledger.games"}
    best = min(_seconds(tmp_path) for _ in range(3))
    assert best < 1.0, "the budget is 0.3 s of a processor; a second is a defect on any"


@pytest.mark.parametrize(("command", "needs"), NEEDS.items())
def test_a_command_imports_only_what_it_needs(
    command: str, needs: tuple[str, ...], tmp_path: Path
) -> None:
    loaded = _loaded(tmp_path, command, "--help" if needs else "")
    assert loaded & set(HEAVY) == set(needs)


def _loaded(home: Path, *args: str) -> set[str]:
    """The modules a command has imported by its end."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *filter(None, args)],
        capture_output=True,
        text=True,
        env=environ(home),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split())


def _seconds(home: Path) -> float:
    """What it takes of a processor: how long one waits hangs on what else the machine does."""
    began = os.times()
    _loaded(home, "--help")
    ended = os.times()
    return sum(ended[2:4]) - sum(began[2:4])  # of children that ended, user and system


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["nonsense"], "No such command"),
        (["settings", "--nonsense"], "No such option"),
        (["games", "no_such_game"], "There is no game"),
        (["adjudicate", "/no/such/feed"], "cannot be read"),
        (["adjudicate", str(ROOT)], "folder is not a feed"),
        (["adjudicate"], "Missing argument"),
        (["quarantine", "show", "x"], "give a whole number."),
        (["rounds", "--outcome", "winn"], "Invalid value for '--outcome': 'winn' is not one of"),
        (["rounds", "--limit", "0"], "give 1 or more."),
        (["serve", "--port", "-1"], "give 0 or more."),
        (["serve", "--port", "70000"], "give 65535 or less."),
        (["consume", "nope"], "Name one of: all, alerts, rounds,"),
        (["consume", "drop", "--part", "3/2"], "`3/2` is not a part"),
        (["consume", "drop", "--part", "1/25"], "at most 24."),
        (["consume", "drop", "--part", "half"], "`half` is not a part"),
        (["consume", "all", "--part", "1/2"], "One process follows payouts,"),
        (["rebuild", "nope"], "Name one of: all, rounds,"),
        (["users", "add", "joe", "--employee", "S-1", "--role", "chief"], "There is no role chief"),
        (["verify", "--head", "/no/such/file"], "cannot be read"),
        (["dossier", "D-1", "--because", "\u200b\u00ad"], "only blanks and invisible characters"),
    ],
)
def test_a_users_mistake_is_exit_code_2_and_told_without_a_traceback(
    plain_cli: Cli, args: list[str], says: str
) -> None:
    ran = plain_cli(*args)
    assert ran.code == 2
    assert says in " ".join(ran.err.split())
    assert "Traceback" not in ran.err
    assert ran.out == ""


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_standard_stream_is_no_traceback(tmp_path: Path, closed: str) -> None:
    """A service manager or a script may start a command without one: it is as if it were empty."""
    done = subprocess.run(
        ["bash", "-c", f'"$@" {closed}', "-", *START, "adjudicate", "-"],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env=environ(tmp_path),
        cwd=ROOT,
        text=True,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


def test_a_misspelt_setting_is_a_mistake_and_not_ignored(plain_cli: Cli) -> None:
    environment: dict[str, Any] = plain_cli.environ | {"ROUND_LEDGER_HTTP_PROT": "1"}
    ran = plain_cli._replace(environ=environment)("settings")
    assert ran.code == 2
    assert "Did you mean ROUND_LEDGER_HTTP_PORT?" in ran.err


def test_settings_tell_where_from_and_no_secret(plain_cli: Cli) -> None:
    for args in ((), ("--json",)):
        ran = plain_cli("settings", *args)
        assert ran.code == 0
        assert "secret-word" not in ran.out
        assert "nobody" not in ran.out
    rows = {row["setting"]: row for row in plain_cli("settings", "--json").json}
    assert rows["ROUND_LEDGER_DATABASE_URL"]["value"] == "postgresql://***@127.0.0.1:9/none"
    assert rows["ROUND_LEDGER_DATABASE_URL"]["origin"] == "environment"
    assert rows["ROUND_LEDGER_HTTP_PORT"]["origin"] == "default"
