"""What `make bench` prints can be believed: stalls are charged, limits are held both ways."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.benchmarks.tools.limits import LIMITS, held, table
from tests.benchmarks.tools.load import Request, run
from tests.benchmarks.tools.refresh import refreshed

if TYPE_CHECKING:
    from collections.abc import Iterator

POST = b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
STALL_S = 0.3


@contextmanager
def stalling(first_s: float) -> Iterator[int]:
    """A server of one connection that thinks that long about the first request, then not at all."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                wait_s = first_s
                while connection.recv(len(POST)):
                    time.sleep(wait_s)
                    connection.sendall(ANSWER)
                    wait_s = 0.0

        thread = threading.Thread(target=answer)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def waited(first_s: float) -> list[float]:
    with stalling(first_s) as port:
        took_s, answers = run(port, [Request(n / 100, 0, POST) for n in range(10)])
    assert [(answer.status, answer.body) for answer in answers] == [(200, b"ok")] * 10
    assert took_s >= 0.09
    return [answer.took_s for answer in answers]


def test_a_stall_is_charged_to_every_request_that_was_due_meanwhile() -> None:
    assert all(seconds > STALL_S - 0.1 for seconds in waited(STALL_S))
    assert min(waited(0.0)) < STALL_S / 2  # and to none where there is no stall


def test_a_figure_is_held_to_its_limit_and_one_not_measured_is_told() -> None:
    rows = held(
        {
            "machine": {"cpus": 2},
            "tape": {"append_50_a_call": {"ours_to_stock": 2.0, "ours_to_raw": 0.39}},
            "views": {"round_ms_at_10000000": {"warm_fetch_and_rule": {"p99": 5.1}}},
        }
    )
    met = {row.figure: row.met for row in rows}
    assert met["tape.append_50_a_call.ours_to_stock"] is True
    assert met["tape.append_50_a_call.ours_to_raw"] is False
    assert met["tape.singles_from_200_tables.ours_to_stock_recorder"] is None
    assert met["views.round_ms_at_10000000.warm_fetch_and_rule.p99"] is False
    assert not any(name.startswith("adjudicate") for name in met)  # it did not run
    assert [line.split()[0] for line in table(rows).splitlines()] == list(met)
    assert "NOT MET" in table(rows)
    assert "not measured" in table(rows)


def test_a_limit_on_every_game_is_told_game_by_game() -> None:
    measured = ("craps", "criss_cross_poker", "badugi")
    rows = held({"adjudicate": {name: {"adjudicated_to_decoded": 0.12} for name in measured}})
    told = {row.figure.split(".")[1]: (row.limit, row.met) for row in rows if row.value}
    assert told == {"criss_cross_poker": (">= 0.167", False), "craps": (">= 0.1", True)}
    assert len({limit.figure for limit in LIMITS}) == len(LIMITS)


def test_the_page_of_figures_takes_those_of_a_run_and_leaves_the_others() -> None:
    rows = [
        "| parsed | 0.5 | ≥ 0.65 | `judge.parsed_to_loaded` |",
        "| relay | 0.60 (apart) | ≥ 0.6 | `feed.relay` |",
        "| facts a second | 1 | `views.rounds` |",
        "| several | 1 · 2 | `views.rounds` · `views.drop` |",
        "text",
    ]
    figures = {"judge.parsed_to_loaded": 0.774, "feed.relay": 0.9, "views.rounds": 77029.1}
    assert refreshed("\n".join(rows), figures).split("\n") == [
        "| parsed | 0.77 | ≥ 0.65 | `judge.parsed_to_loaded` |",
        rows[1],
        "| facts a second | 77,029 | `views.rounds` |",
        *rows[3:],
    ]
