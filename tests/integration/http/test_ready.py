"""Readiness of real processes on a real broker that is stopped and started."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, NamedTuple

import httpx
import pytest

from consumers.registry import install
from infra.kafka import topics
from infra.postgres.connection import Database, create_database
from infra.postgres.migrations import migrate
from infra.postgres.server.embedded import embedded, kept_running
from tests.fixtures.cli import Cli, environ
from tests.fixtures.postgres import url_of

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.fixtures.kafka import Cluster

READY_S = 3
COMMANDS = {
    "leader": ("relay",),
    "standby": ("relay",),
    "views": ("consume", "all", "--follow", "--from", "kafka"),
    "from tape": ("consume", "payouts", "--follow", "--from", "tape"),
    "alerts": ("consume", "alerts", "--follow"),
}


class Asked(NamedTuple):
    """A process and where it answers."""

    process: subprocess.Popen[bytes]
    port: int

    def get(self, path: str) -> tuple[int, str]:
        """Status and text; 0 where nobody answers."""
        with suppress(httpx.TransportError):
            answer = httpx.get(f"http://127.0.0.1:{self.port}/{path}", timeout=5)
            return answer.status_code, answer.text.strip()
        return 0, ""

    def ended(self) -> str:
        """What it ended with, where it has; its pipes are read to their end."""
        if self.process.poll() is None:
            return ""
        assert self.process.stderr
        return f"; it ended with {self.process.returncode}: {self.process.stderr.read().decode()}"

    def until(self, status: int, says: str = "", within_s: float = 120) -> str:
        """What `/readyz` said once it was as wanted."""
        told: list[tuple[int, str]] = []
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            told.append(self.get("readyz"))
            if told[-1][0] == status and says in told[-1][1]:
                return told[-1][1]
            time.sleep(0.1)
        raise AssertionError(f"{status} {says!r} was not said; last {told[-1]}{self.ended()}")


def asked(running: subprocess.Popen[bytes]) -> Asked:
    assert running.stderr
    for line in running.stderr:
        with suppress(ValueError, KeyError):
            return Asked(running, json.loads(line)["port"])
    raise AssertionError("it ended by itself")


@pytest.mark.long
def test_each_process_is_ready_while_brokers_answer_it_and_says_why_where_they_do_not(
    database: Database, own_kafka: Cluster, tmp_path: Path
) -> None:
    topics.apply(own_kafka.connection)
    install(database)
    cli = Cli(
        environ(
            tmp_path,
            ROUND_LEDGER_DATABASE_URL=database.url,
            ROUND_LEDGER_KAFKA_BOOTSTRAP=own_kafka.connection.bootstrap,
            ROUND_LEDGER_READY_S=str(READY_S),
            PYTHONWARNINGS="error,ignore::ResourceWarning",
        )
    )
    node = own_kafka.nodes.nodes[0]
    with ExitStack() as open_:
        told: dict[str, Asked] = {}
        for name, command in COMMANDS.items():
            running = open_.enter_context(cli.start(*command, "--port", "0"))
            open_.callback(running.kill)
            told[name] = asked(running)
            if name == "leader":
                told[name].until(200)
        assert told["leader"].until(200) == "ok: it leads"
        assert told["standby"].until(200) == "ok: it waits, another relay leads"
        assert {told[name].until(200) for name in ("views", "from tape", "alerts")} == {"ok"}

        own_kafka.kill(node)
        for name in ("alerts", "views", "leader"):
            told[name].until(503, "no broker has answered")
            alive = told[name].get("healthz")
            assert alive == (200, "ok"), f"{name}: a restart would help nobody"
        told["leader"].until(503, "no process listens")
        for name in ("standby", "from tape"):
            assert (told[name].get("healthz")[0], told[name].get("readyz")[0]) == (200, 200)

        own_kafka.start(node)
        own_kafka.wait()
        for name, each in told.items():
            each.until(200, "leads" if name in ("leader", "standby") else "ok")
        told["leader"].process.kill()
        told["standby"].until(200, "ok: it leads")


@pytest.mark.long
def test_views_kept_up_from_the_record_are_not_ready_while_it_is_away(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with embedded(home) as server, ExitStack() as open_:
        create_database(server, "record")
        database = Database(url_of(server, "record"), url_of(server, "record"))
        migrate(database.owner_url)
        install(database)
        cli = Cli(
            environ(
                tmp_path / "cli",
                ROUND_LEDGER_DATABASE_URL=database.url,
                ROUND_LEDGER_READY_S=str(READY_S),
            )
        )
        command = ("consume", "payouts", "--follow", "--from", "tape", "--port", "0")
        running = open_.enter_context(cli.start(*command))
        open_.callback(running.kill)
        told = asked(running)
        told.until(200)
        os.kill(int((home / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        assert "PostgreSQL" in told.until(503, "no record has answered")
        assert told.get("healthz") == (200, "ok")
        open_.enter_context(kept_running(home, every_s=0.5))
        told.until(200)
