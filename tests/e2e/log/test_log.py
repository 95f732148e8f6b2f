"""The witnessed log as its users run it: a sealer and a witness, killed and resumed."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from consumers.registry import VIEWS
from tests.fixtures.cli import Cli, feed, lines
from tests.fixtures.kafka import reached
from tests.fixtures.postgres import fact
from tests.footage.qr_codes import read_svg
from tests.scenes.table_days import DAY, day_lines
from tests.scenes.table_days import fact as said

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from infra.kafka.clients import Connection
    from infra.postgres.tape import PostgresTape

KILLS = 10
SOLD = said("cash_bought_in", 10, position=1, amount=10_000)


@pytest.fixture
def log(cli: Cli) -> str:
    """A log has begun; its public key."""
    return cli("log", "begin", "--name", "ledger.example/record").out.strip()


@pytest.fixture
def witnessed(cli: Cli, log: str, tmp_path: Path) -> Iterator[tuple[Cli, str]]:
    """The command with a running witness in its settings; the witness's public key."""
    folder = tmp_path / "witness"
    key = cli("witness", "begin", folder, "--name", "witness.example").out.strip()
    process = cli.start("witness", "serve", folder, "--log", log, "--port", "0")
    try:
        address = json.loads(line(process))["at"]
        listed = tmp_path / "witnesses"
        listed.write_text(f"{address} {key}\n")
        yield Cli({**cli.environ, "ROUND_LEDGER_WITNESSES_FILE": str(listed)}), key
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode == 0


def line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stderr is not None
    return process.stderr.readline()


def test_a_fact_is_sealed_witnessed_proved_and_checked_without_a_database(
    witnessed: tuple[Cli, str], plain_cli: Cli, log: str, tape: PostgresTape, tmp_path: Path
) -> None:
    cli, witness = witnessed
    tape.append([fact(n) for n in range(20)])
    done = cli("log", "seal", "--once")
    assert done.code == 0, done.err
    assert f"{21 + len(VIEWS)} entries" in done.err
    assert "cosigned by witness.example at 20" in done.err
    assert cli("log", "check").code == 0
    row = tape.read(7, 1)[0]
    proof = tmp_path / "fact.tlog-proof"
    assert cli("log", "prove", row.source, row.id, "--to", proof).code == 0
    seen = plain_cli("log", "check", proof, "--key", log, "--witness", witness, "--json")
    (told,) = seen.json
    assert (told["kind"], told["number"], told["log"]) == ("fact", 8, "ledger.example/record")
    assert [each["key"] for each in told["signed"]] == ["ledger.example/record", "witness.example"]
    proof.write_text(proof.read_text().replace("index 7", "index 6"))
    refused = plain_cli("log", "check", proof, "--key", log)
    assert refused.code == 2
    assert "does not lead to the root" in refused.err


def test_what_a_superuser_changed_is_named_with_no_head_kept_by_hand(
    cli: Cli, log: str, tape: PostgresTape
) -> None:
    del log
    tape.append([fact(n) for n in range(20)])
    cli("log", "seal", "--once")
    assert cli("log", "check", "--json").json[-1]["breaks"] == 0
    with tape.database.connect("ledger_owner") as connection:
        connection.execute("ALTER TABLE ledger.tape DISABLE TRIGGER ALL")
        connection.execute("UPDATE ledger.tape SET state = '{}' WHERE notification_id IN (3, 9)")
    seen = cli("log", "check", "--json")
    assert seen.code == 1
    *breaks, total = seen.json
    assert [(each["broken"]["kind"], each["broken"]["number"]) for each in breaks] == [
        ("fact", 3),
        ("fact", 9),
    ]
    assert total["breaks"] == 2
    assert "was edited" in cli("log", "check").out


def test_a_log_set_back_is_named_by_the_topic_alone(
    cli: Cli, tape: PostgresTape, bare_kafka: Connection, tmp_path: Path
) -> None:
    """Nobody kept a head and no witness is asked: the checkpoints on Kafka show it."""
    folder = tmp_path / "log"
    its = {"ROUND_LEDGER_WITNESSED_LOG": str(folder), **reached(bare_kafka)}
    cli = Cli({**cli.environ, **its})
    assert cli("log", "begin", "--name", "ledger.example/record").code == 0
    assert cli("topics", "apply").code == 0
    tape.append([fact(1)])
    assert cli("log", "seal", "--once", "--topic").code == 0
    copy = shutil.copytree(folder, tmp_path / "copy")
    tape.append([fact(2)])
    assert cli("log", "seal", "--once", "--topic").code == 0
    assert cli("log", "check", "--topic").code == 0
    shutil.rmtree(folder)
    copy.rename(folder)
    refused = cli("log", "seal", "--once", "--topic")
    assert (refused.code, "the log was set back" in refused.err) == (2, True)
    assert cli("log", "check").code == 0, "the old copy fits the record"
    seen = cli("log", "check", "--topic")
    assert (seen.code, "the log was set back (ledger.checkpoints.v1" in seen.out) == (1, True)


@pytest.mark.long
def test_a_log_set_back_is_named_by_the_code_of_a_printed_report(
    cli: Cli, log: str, tmp_path: Path
) -> None:
    folder = Path(cli.environ["ROUND_LEDGER_HOME"]) / "log"
    day = feed(tmp_path / "day", [json.dumps(each).encode() for each in day_lines(SOLD)])
    assert cli("ingest", day).code == 0
    assert cli("log", "seal", "--once").code == 0
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert cli("ingest", feed(tmp_path / "more", lines(5))).code == 0
    assert cli("log", "seal", "--once").code == 0
    printed = tmp_path / "wins.html"
    asked = ("three-wins", "--gaming-day", DAY, "--property", "p")
    assert cli("report", *asked, "--to", printed).code == 0
    scanned = tmp_path / "scanned.txt"
    scanned.write_text(read_svg(printed.read_text()).rstrip())
    assert cli("log", "check", "--checkpoint", scanned, "--key", log).code == 0
    shutil.rmtree(folder)
    copy.rename(folder)
    seen = cli("log", "check", "--checkpoint", scanned)
    assert (seen.code, "the log was set back" in seen.out) == (1, True)
    assert cli("log", "check").code == 0, "the old copy fits the record"
    scanned.write_text(scanned.read_text().replace("record", "records"))
    seen = cli("log", "check", "--checkpoint", scanned, "--json")
    assert "no checkpoint that the log's key signed" in seen.json[-2]["broken"]["says"]


def test_a_ledger_set_back_takes_in_nothing_until_it_has_what_was_sealed(
    cli: Cli, log: str, tape: PostgresTape, tmp_path: Path
) -> None:
    feeds = [feed(tmp_path / str(n), lines(20)[10 * n : 10 * n + 10]) for n in range(2)]
    assert cli("ingest", feeds[0]).code == 0
    assert cli("log", "seal", "--once").code == 0
    assert cli("ingest", feeds[1]).code == 0, "it goes on from the log"
    with tape.database.connect("ledger_owner") as connection:
        for name in ("tape", "record", "heads", "identity"):
            connection.execute(f"ALTER TABLE ledger.{name} DISABLE TRIGGER ALL")
        connection.execute(SET_BACK)
    for refused in (cli("ingest", feeds[1]), cli("serve", "--port", "0")):
        assert refused.code == 2
        assert "The record lacks 4 facts that the witnessed log sealed" in refused.err
        assert "relay refill" in refused.err
    home, evidence = Path(cli.environ["ROUND_LEDGER_HOME"]), tmp_path / "evidence"
    (home / "log").rename(evidence)
    begin = ("log", "begin", "--name", "ledger.example/record/2")
    kept = cli(*begin)
    assert (kept.code, "the key of another log" in kept.err) == (2, True)
    (home / "log.key").rename(tmp_path / "evidence.key")
    early = cli(*begin, "--after", evidence)
    assert (early.code, "No two people have ended the log" in early.err) == (2, True)
    signers = ("--because", "Disk lost", "--by", "O-1", "--second", "O-2")
    [told] = cli("log", "epoch", evidence, *signers, "--json").json
    assert (told["log"], told["kept"], told["lost"]) == ("ledger.example/record", 6, 4)
    assert told["position"] == 7
    again = cli("log", "epoch", evidence, *signers)
    assert again.code == 2, "a log ends once"
    begun = cli(*begin, "--after", evidence, "--after-key", log)
    assert begun.code == 0, begun.err
    assert cli("ingest", feeds[1]).code == 0, "the facts are lost for good, and a new log began"
    assert cli("log", "seal", "--once").code == 0
    assert cli("log", "check").code == 0


SET_BACK = """
DELETE FROM ledger.tape WHERE notification_id > 6;
DELETE FROM ledger.identity WHERE position > 6;
TRUNCATE ledger.heads;
INSERT INTO ledger.heads SELECT DISTINCT ON (originator_id) originator_version, notification_id,
    originator_id, hash FROM ledger.tape ORDER BY originator_id, originator_version DESC;
UPDATE ledger.record SET position = 6, received = received - 14
"""
"""SQL: an older backup in the place of the record."""


def test_errors_say_what_to_do(cli: Cli, log: str, tmp_path: Path) -> None:
    again = cli("log", "begin", "--name", "ledger.example/record")
    assert (again.code, "Seal on with `log seal`" in again.err) == (2, True)
    none = cli("log", "check")
    assert (none.code, "no checkpoint yet" in none.err) == (2, True)
    key = cli("log", "check", "--key", log[:-4])
    assert (key.code, "not the public key" in key.err) == (2, True)
    lacking = cli("witness", "serve", tmp_path / "none", "--log", log)
    assert (lacking.code, "witness begin" in lacking.err) == (2, True)


@pytest.mark.long
def test_a_sealer_and_a_witness_killed_again_and_again_lose_nothing(
    cli: Cli, log: str, tape: PostgresTape, tmp_path: Path
) -> None:
    """Every checkpoint that anybody saw is of one tree, and the witness cosigns the last one."""
    folder = tmp_path / "witness"
    key = cli("witness", "begin", folder, "--name", "witness.example").out.strip()
    listed = tmp_path / "witnesses"
    cli = Cli({**cli.environ, "ROUND_LEDGER_WITNESSES_FILE": str(listed)})
    roots: dict[int, str] = {}
    for number in range(KILLS):
        witness = cli.start("witness", "serve", folder, "--log", log, "--port", "0")
        listed.write_text(f"{json.loads(line(witness))['at']} {key}\n")
        sealer = cli.start("log", "seal", "--every", "1")
        tape.append([fact(100 * number + n) for n in range(40)])
        second = cli("log", "seal", "--once") if number == 0 and b"sealed" in line(sealer) else None
        if second is not None:
            assert (second.code, "Another sealer" in second.err) == (2, True)
        for process in (sealer, witness) if number % 2 else (witness, sealer):
            process.kill()
            process.communicate()
        if (checkpoint := cli("log", "checkpoint", "--json")).code == 0:
            (told,) = checkpoint.json
            assert roots.setdefault(told["entries"], told["root"]) == told["root"]
    witness = cli.start("witness", "serve", folder, "--log", log, "--port", "0")
    listed.write_text(f"{json.loads(line(witness))['at']} {key}\n")
    tape.append([fact(100_000)])
    assert "cosigned by witness.example" in cli("log", "seal", "--once").err
    seen = cli("log", "check", "--json")
    assert (seen.code, seen.json[-1]["breaks"]) == (0, 0)
    witness.send_signal(signal.SIGTERM)
    witness.communicate()
    assert roots
