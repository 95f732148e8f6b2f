"""A reader who does what the documentation says, page by page, gets what it says."""

from __future__ import annotations

import json
import shutil
import socket
from typing import TYPE_CHECKING

import pytest

from infra.postgres.connection import NAME
from infra.postgres.server.embedded import embedded
from replay.docs.json_output import FORMS
from tests.e2e.docs.blocks import blocks_of, pages
from tests.e2e.docs.examples import KAFKA as KAFKA_COMMANDS
from tests.e2e.docs.examples import MORE, NOT_COMPARED, WITH_USERS, examples
from tests.e2e.docs.front import command_on_path
from tests.e2e.docs.reader import Reader, environ_of_a_reader
from tests.fixtures.kafka import required_programs
from tests.fixtures.postgres import url_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.long

KAFKA = "docs/tutorials/first-reader.md"
CORRECTED = {
    "specversion": "1.0",
    "type": "roundledger.tip_dropped.v1",
    "source": "/hollywood/CC-02/layout",
    "id": "corrected-1",
    "time": "2026-11-20T22:00:00-05:00",
    "data": {"amount": 500},
}
"""A fact for a malformed input that is released."""

BEGINS = ["docs/tutorials/first-round.md", "README.md"]
"""The demo comes first; then what most people see first."""

ENDS = ["docs/how-to/sign-in.md"]
"""It makes users. From then on commands ask for passwords, and nobody is there to type them."""


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    if shutil.which("curl") is None:
        pytest.skip("no curl")
    folder = tmp_path / "reader"
    folder.mkdir()
    (folder / "odd.jsonl").write_text("odd\n")
    (folder / "corrected.json").write_text(json.dumps(CORRECTED))
    (folder / "password").write_text("correct horse battery")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with command_on_path(tmp_path / "bin"):
        reader = Reader(folder, environ_of_a_reader(folder, tmp_path / "bin"), port)
        yield reader
        reader.end_page()


def in_order() -> list[str]:
    return [*BEGINS, *(page for page in pages() if page not in BEGINS + ENDS), *ENDS]


def test_the_pages_are_true_for_a_reader_with_the_demo(reader: Reader) -> None:
    first, *others = in_order()
    follow(reader, first)
    with embedded(reader.folder / "demo" / "home") as url:  # commands do not start it one by one
        reader.url = url_of(url, NAME)
        lines = [*MORE.items(), *examples(kafka=False).items()]
        for page in others:
            if page in ENDS:
                reader.begin_page()
                for name, line in lines:
                    if not name.startswith(WITH_USERS):
                        reader.try_example(name, line)
            follow(reader, page)
        reader.begin_page()
        for name, line in lines:
            if name.startswith(WITH_USERS):
                reader.try_example(name, line)
    declared = {name for form in FORMS for name in form.commands}
    needs_kafka = {name for name in declared if name.partition(" ")[0] in KAFKA_COMMANDS}
    assert declared - reader.compared - needs_kafka - NOT_COMPARED == set()
    assert not reader.wrong, "\n\n".join(reader.wrong)


def test_the_pages_are_true_for_a_reader_with_kafka(reader: Reader) -> None:
    """Everything that needs Kafka, on the ledger of the tutorial that starts it."""
    jars = required_programs().class_path
    cache = reader.folder / "reader-home" / "cache"
    cache.mkdir(parents=True)
    (cache / jars.name).symlink_to(jars)
    *tutorial, stop = blocks_of(KAFKA)
    try:
        for block in tutorial:
            reader.follow(block)
        for page in in_order():
            for block in blocks_of(page):
                if page != KAFKA and block.marks.get("needs") == "kafka":
                    reader.follow(block)
            reader.end_page()
        for name, line in examples(kafka=True).items():
            reader.try_example(name, line)
    finally:
        reader.follow(stop)
    assert not reader.wrong, "\n\n".join(reader.wrong)


def follow(reader: Reader, page: str) -> None:
    """Do what a page says, but for what needs Kafka."""
    reader.begin_page()
    for block in blocks_of(page):
        if page != KAFKA and block.marks.get("needs") != "kafka":
            reader.follow(block)
    reader.end_page()
