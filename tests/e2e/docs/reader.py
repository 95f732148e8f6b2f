"""A reader who follows the pages: one folder, a shell a page, processes that stay until its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg

from replay.cli.shell.errors import FINDINGS
from replay.docs.json_output import form_of
from tests.e2e.docs.blocks import ROOT, commands_of, differs, outputs_of, with_snippets
from tests.e2e.docs.examples import ENDS, FINDS, has_json
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.docs.blocks import Block

_PORT = "127.0.0.1:8080"
"""The server's address on the pages; its port may be taken here."""

SERVE = "round-ledger serve"


class Printed(NamedTuple):
    """What a block printed."""

    out: str
    err: str


class Reader:
    """Runs the blocks of pages one after the other, and notes what is not as a page says."""

    def __init__(self, folder: Path, environ: dict[str, str], port: int) -> None:
        self.folder = folder
        self.url = ""  # of the server with the demo, as its superuser
        self.wrong: list[str] = []
        self.compared: set[str] = set()  # commands whose JSON was as declared
        self._begin = environ | {"ROUND_LEDGER_HTTP_PORT": str(port)}
        self._port = port
        self._environ = dict(self._begin)
        self._staying: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._printed = Printed("", "")

    def begin_page(self) -> None:
        """A shell of its own for the page."""
        self._environ = dict(self._begin)

    def end_page(self) -> None:
        """Stop what the page started; it must end well."""
        while self._staying:
            where, process = self._staying.pop()
            process.send_signal(signal.SIGTERM)
            if process.wait(60) not in (0, 143):
                self.wrong.append(f"{where}: ended with {process.returncode} when it was stopped")

    def follow(self, block: Block) -> None:
        """Do what the block asks for."""
        marks = block.marks
        if "not run" in marks:
            return
        if "file" in marks:
            (self.folder / marks["file"]).write_text(with_snippets(block.code))
        elif "output" in marks:
            self._compare(block, block.code.splitlines())
        elif "stays" in marks:
            self._stay(block, self._commands(block), marks["stays"])
        elif block.language == "sql":
            self._query(block)
        elif block.is_run:
            self._run(block)

    def try_example(self, name: str, line: str) -> None:
        """Run a line, with `--json` if it has that; the page must declare each object printed."""
        json_ = has_json(name)
        if json_ and not {"|", ">", "--json"} & {*line.split()}:
            line = f"{line} --json"
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self._environ,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        finds = name in FINDS and "|" not in line
        if done.returncode != (FINDINGS if finds else ENDS.get(name, 0)):
            self.wrong.append(f"{line}: ended with {done.returncode}: {done.stderr.decode()}")
        if "--json" in line:
            printed = [json.loads(each) for each in done.stdout.splitlines()]
            strange = [[*each] for each in printed if form_of(name, each) is None]
            self.wrong += [f"{name}: not in json_output.py: {each}" for each in strange[:3]]
            self.compared |= {name} if printed else set()

    def _commands(self, block: Block) -> list[str]:
        found = [block.marks["run as"]] if "run as" in block.marks else commands_of(block)
        return [each.replace(_PORT, f"127.0.0.1:{self._port}") for each in found]

    def _run(self, block: Block) -> None:
        if block.marks.get("needs") == "server" and not self._serves():
            self._stay(block, [SERVE], '"event":"serving')
        commands = self._commands(block)
        codes, environ = self.folder / ".codes", self.folder / ".environ"
        codes.write_text("")
        noted = [line for each in commands for line in (each, f"echo $? >> {codes}")]
        done = subprocess.run(
            ["bash", "-c", "\n".join([*noted, *_saved(environ)])],
            cwd=self.folder,
            env=self._environ,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=600,
            check=False,
        )
        self._environ = _read(environ)
        self._printed = Printed(done.stdout.decode(), done.stderr.decode())
        due = [*block.marks.get("exit", "").split(), *["0"] * len(commands)][: len(commands)]
        if (ended := codes.read_text().split()) != due:
            self.wrong.append(f"{block.where}: ended with {ended}\n{self._printed.err[-800:]}")
        if block.language == "console":
            self._compare(block, outputs_of(block))

    def _serves(self) -> bool:
        return any(process.poll() is None for _, process in self._staying)

    def _stay(self, block: Block, commands: list[str], ready: str) -> None:
        """Start the last of the commands, and go on once it prints what says that it is ready."""
        environ = self.folder / ".environ"
        environ.unlink(missing_ok=True)
        *first, last = commands
        log = self.folder / f".log-{len(self._staying)}"
        with log.open("wb") as file:
            process = subprocess.Popen(
                ["bash", "-c", "\n".join([*first, *_saved(environ), f"exec {last}"])],
                cwd=self.folder,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        self._staying.append((block.where, process))
        until(lambda: ready in log.read_text() or process.poll() is not None)
        if process.poll() is not None:
            self.wrong.append(f"{block.where}: ended at once\n{log.read_text()[-800:]}")
        until(environ.exists)
        self._environ = _read(environ)

    def _query(self, block: Block) -> None:
        """A statement as a reader of the views runs it; it must find something."""
        with psycopg.connect(self.url) as connection:
            connection.execute("SET ROLE ledger_reader")
            try:
                rows = connection.execute(block.code.encode()).fetchall()
            except psycopg.Error as error:
                self.wrong.append(f"{block.where}: {error}")
            else:
                self.wrong += [] if rows else [f"{block.where}: finds no row"]

    def _compare(self, block: Block, expected: list[str]) -> None:
        line = differs(expected, (self._printed.out + self._printed.err).splitlines())
        if block.language in _PARSED:
            parse = _PARSED[block.language]
            line = None if alike(parse(block.code), parse(self._printed.out)) else block.code
        if line is not None:
            shown = (self._printed.out + self._printed.err)[-1500:]
            self.wrong.append(f"{block.where}: not printed: {line}\nbut:\n{shown}")


_PARSED: dict[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads}


def alike(shown: Any, printed: Any) -> bool:  # noqa: ANN401 - of JSON
    """Whether a value was printed as the page shows it; `…` stands for any text."""
    if isinstance(shown, dict) and isinstance(printed, dict):
        same = shown.keys() == printed.keys()
        return same and all(alike(shown[name], printed[name]) for name in shown)
    return shown in ("…", printed)


def _saved(environ: Path) -> list[str]:
    """What a shell does to leave its environment there, whole or not at all."""
    return [f"env -0 > {environ}.new", f"mv {environ}.new {environ}"]


def _read(environ: Path) -> dict[str, str]:
    return dict(each.split("=", 1) for each in environ.read_text().split("\0") if each)


def environ_of_a_reader(folder: Path, bin_: Path) -> dict[str, str]:
    """What the shell of a reader has: the command and this Python, a home, and nothing of ours."""
    python = Path(sys.executable).parent
    return {
        "PATH": f"{bin_}:{python}:{os.defpath}:/usr/local/bin",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "ROUND_LEDGER_HOME": str(folder / "demo" / "home"),
        "ROUND_LEDGER_POSTGRES_STAYS_S": "0",
        "PYTHONPATH": str(ROOT),
    }
