"""Processes of tests that share a Kafka take turns on it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from infra.kafka.clients import Connection
from tests.fixtures.kafka import lock_of, turn

if TYPE_CHECKING:
    from collections.abc import Iterator

WHERE = Connection(f"nobody:{os.getpid()}")
HOLDS = f"""
import sys
from infra.kafka.clients import Connection
from tests.fixtures.kafka import turn
with turn(Connection({WHERE.bootstrap!r})):
    print("has it", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def gone() -> Iterator[None]:
    yield
    lock_of(WHERE).unlink(missing_ok=True)


def is_free() -> bool:
    with lock_of(WHERE).open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def test_a_kafka_is_nobody_elses_during_a_turn_and_free_once_its_process_was_killed() -> None:
    with turn(WHERE):
        assert not is_free()
    assert is_free()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        cwd=Path(__file__).parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "has it\n"
        assert not is_free()
        other.kill()
        other.wait()
    with turn(WHERE):
        assert not is_free()
