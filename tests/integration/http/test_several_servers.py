"""Several `serve` processes over one record: each commits, and devices use any of them."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.fixtures.cli import lines
from tests.fixtures.http import STRUCTURED, Server
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from tests.fixtures.cli import Cli

PLACES = ("T-1", "T-2", "T-3")


@contextmanager
def served(cli: Cli) -> Iterator[Server]:
    with cli.start("serve", "--no-views", "--port", "0") as process:
        try:
            assert process.stderr
            port = httpx.Response(200, content=process.stderr.readline()).json()["port"]
            yield Server(f"http://127.0.0.1:{port}", process)
        finally:
            process.kill()


def told(server: Server, line: bytes) -> dict[str, Any] | None:
    """The answer; None where the server is gone."""
    with suppress(httpx.TransportError):
        answer = server.post(line, STRUCTURED)
        assert answer.status_code == 200
        return dict(answer.json())
    return None


@pytest.mark.long
def test_a_fact_sent_to_two_servers_is_on_record_once(cli: Cli, tape: PostgresTape) -> None:
    sent = [line for place in PLACES for line in lines(8, place=place)]
    with served(cli) as one, served(cli) as two, ThreadPoolExecutor(8) as pool:
        pairs = [(pool.submit(told, one, line), pool.submit(told, two, line)) for line in sent]
        answers = [(first.result(), second.result()) for first, second in pairs]
        assert all(
            Counter(each["verdict"] for each in pair if each) == {"appended": 1, "duplicate": 1}
            for pair in answers
        )
        receipts = [{(each["position"], each["hash"]) for each in pair if each} for pair in answers]
        assert all(len(each) == 1 for each in receipts), "both name the same row"
        other = told(two, sent[0].replace(b'"position":1', b'"position":2'))
        assert other is not None
        assert other["verdict"] == "equivocation"
        assert [server.stop()[0] for server in (one, two)] == [0, 0]
    assert sorted(position for each in receipts for position, _ in each) == [*range(1, 25)]
    assert tape.verify().broken is None
    assert {head.tape: head.table_seq for head in tape.heads()} == {
        f"hollywood/{place}": 8 for place in PLACES
    }


@pytest.mark.long
def test_one_of_two_servers_is_killed_and_the_other_takes_all(cli: Cli, tape: PostgresTape) -> None:
    sent = [line for place in PLACES for line in lines(30, place=place)]
    answered: dict[bytes, int] = {}

    def send(server: Server, mine: list[bytes]) -> int:
        """How many were answered, up to the first that was not."""
        for number, line in enumerate(mine):
            if (answer := told(server, line)) is None:
                return number
            answered[line] = answer["position"]
        return len(mine)

    with ExitStack() as ending:
        one, two = (ending.enter_context(served(cli)) for _ in range(2))
        pool = ending.enter_context(ThreadPoolExecutor(2))
        cut = pool.submit(send, one, sent[::2])
        whole = pool.submit(send, two, sent[1::2])
        until(lambda: len(answered) >= 10)
        one.process.kill()
        assert cut.result() < len(sent[::2]), "it was killed after its last fact"
        assert whole.result() == len(sent[1::2])
        before = dict(answered)
        assert send(two, sent) == len(sent)
    assert all(answered[line] == position for line, position in before.items())
    assert sorted(answered.values()) == [*range(1, len(sent) + 1)]
    assert tape.verify().broken is None


def test_a_server_that_keeps_no_views_has_their_tables(cli: Cli, database: Database) -> None:
    """Its pages and its locks read them: the thread of locks once ended for want of one."""
    with served(cli), database.connect("ledger_reader") as connection:
        row = connection.execute("SELECT to_regclass('views.disputes') IS NOT NULL").fetchone()
    assert row == (True,)
