"""A broker that is stopped takes connections and answers nothing: it is passed over."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from infra.kafka import bootstrap, clients
from infra.kafka.bootstrap import NobodyListensError, answering
from infra.kafka.clients import Connection, answered, client
from infra.kafka.library import KafkaConsumer, KafkaError, KafkaTimeoutError
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = "127.0.0.1:1"
ANSWER = b"\x00\x00\x00\x06"


@contextmanager
def stopped() -> Iterator[str]:
    """As a process under SIGSTOP: its machine takes connections, it does nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def living() -> Iterator[str]:
    """What answers each first question."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    taken, _ = server.accept()
                except OSError:
                    return
                with taken:
                    if taken.recv(1_000):
                        taken.sendall(ANSWER)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)


def test_the_addresses_that_answer_are_found_whichever_is_stopped() -> None:
    for at in range(3):
        with ExitStack() as open_:
            made = [open_.enter_context(stopped() if n == at else living()) for n in range(3)]
            assert answering(made, tls=False) == [a for n, a in enumerate(made) if n != at]


def test_one_of_three_is_enough() -> None:
    with stopped() as silent, living() as there:
        assert answering([NOBODY, silent, there], tls=False) == [there]


def test_nobody_is_told_at_once_and_silence_is_left_to_the_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(NobodyListensError):
        answering([NOBODY, "127.0.0.1:none"], tls=False)
    monkeypatch.setattr(bootstrap, "ANSWER_S_MAX", 0.05)
    with stopped() as silent:
        assert answering([NOBODY, silent], tls=False) == [NOBODY, silent]


def test_a_client_is_made_with_what_answers_and_says_that_nobody_listens() -> None:
    with stopped() as silent, living() as there:
        made = client(dict, Connection(f"{silent},{there}"), group_id=None)
        assert made["bootstrap_servers"] == [there]
        assert made["group_id"] is None
    with pytest.raises(Unavailable, match="no process listens on this address"):
        client(dict, Connection(NOBODY))


def test_the_library_by_itself_waits_for_a_stopped_broker_until_its_time_is_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The control: as soon as it draws that address."""
    with stopped() as silent, living() as there:
        port = int(silent.rpartition(":")[2])

        def draw(brokers: list[Any]) -> Any:  # noqa: ANN401 - the library is not typed
            return next(each for each in brokers if each.port == port)

        monkeypatch.setattr("kafka.net.manager.random.choice", draw)
        with pytest.raises(KafkaError, match="bootstrap"):
            KafkaConsumer(bootstrap_servers=[silent, there], bootstrap_timeout_ms=200)


def test_a_question_is_asked_again_while_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "_RETRY_S", 0.0)
    answers: list[object] = [KafkaTimeoutError("silent"), KafkaTimeoutError("silent"), 7]

    def question() -> object:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert answered(question, float("inf")) == 7
    answers += [KafkaTimeoutError("silent"), 7]
    with pytest.raises(KafkaTimeoutError):
        answered(question, 0.0)
    answers[:] = [KafkaError("for good"), 7]
    with pytest.raises(KafkaError, match="for good"):
        answered(question, float("inf"))
