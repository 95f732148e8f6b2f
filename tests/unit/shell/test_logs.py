"""The log: one JSON object a line, whatever a text in it holds."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime, timedelta

import pytest

from replay.shell.logs import JsonLines


def line_of(event: str, *, exc_info: bool = False, **figures: object) -> str:
    given = {"figures": figures}
    failed = sys.exc_info() if exc_info else None
    record = logging.LogRecord("round_ledger", logging.WARNING, "", 0, event, None, failed)
    record.__dict__.update(given)
    return JsonLines().format(record)


@pytest.mark.parametrize("text", ['a\n{"event":"forged"}', "a\r\nb", "\x1b[2J", '","level":"info'])
def test_a_text_begins_no_line_and_no_field_of_its_own(text: str) -> None:
    line = line_of("an event", place=text)
    assert not [each for each in line if ord(each) < ord(" ")]
    assert json.loads(line)["place"] == text
    assert (json.loads(line)["level"], json.loads(line)["event"]) == ("warning", "an event")


def test_a_line_says_when_in_utc() -> None:
    before = datetime.now(UTC)
    said = datetime.fromisoformat(json.loads(line_of("an event"))["time"])
    assert said.utcoffset() == timedelta(0)
    assert before - timedelta(milliseconds=1) <= said <= datetime.now(UTC)


def test_an_exception_has_its_name_and_traceback_in_the_same_line() -> None:
    try:
        int("two\nlines")
    except ValueError:
        line = line_of("a page failed", exc_info=True)
    assert "\n" not in line
    assert json.loads(line)["error"] == "ValueError"
    assert "test_logs" in json.loads(line)["trace"]
