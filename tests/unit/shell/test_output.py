"""What commands print beside their results."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from rich.text import Text

from replay.cli.shell.terminal import draw
from replay.shell.output import print_list, say, warn

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_warning_is_red_on_a_terminal_and_plain_elsewhere(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w") as terminal, contextlib.redirect_stderr(terminal):
        warn("3 of 4 lines went to quarantine.")
        terminal.flush()
        shown = os.read(ours, 1_000)
    os.close(ours)
    assert b"\x1b[31m3 of 4 lines" in shown

    with (tmp_path / "log").open("w") as log, contextlib.redirect_stderr(log):
        warn("3 of 4 lines went to quarantine.")
    assert (tmp_path / "log").read_text() == "3 of 4 lines went to quarantine.\n"


def test_a_device_that_writes_two_lines_or_colours_makes_one_plain_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for write in (say, warn):
        write("Fill Slip 7\nThe day is closed.\x1b[2J was accepted.")
        told = r"Fill Slip 7\nThe day is closed.\x1b[2J was accepted."
        assert capsys.readouterr().err == f"{told}\n"


def test_an_empty_list_is_a_sentence_and_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    for json in (False, True):
        print_list("Keys", [], ("key", "source"), json=json, none="There is no key yet.")
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err == ("" if json else "There is no key yet.\n")


def test_a_line_to_copy_is_not_broken_in_two(capsys: pytest.CaptureFixture[str]) -> None:
    command = "round-ledger " + "word " * 40 + "end"
    draw([Text(command, no_wrap=True, overflow="ignore"), Text(command)])
    first, *others = capsys.readouterr().out.splitlines()
    assert first == command
    assert len(others) > 1, "the control: a text is"
