"""`ingest` and `quarantine`, run as a user runs them."""

from __future__ import annotations

import base64
import json
import signal
import time
from typing import TYPE_CHECKING

import pytest

from tests.fixtures.cli import Cli, feed, lines

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.tape import PostgresTape

ANSWER = ["line", "verdict", "source", "id", "position", "table_seq", "hash", "reason"]


def test_every_line_gets_its_verdict_and_the_last_line_is_the_totals(
    cli: Cli, tmp_path: Path
) -> None:
    first, second, third = lines(3)
    other = second.replace(b'"amount":500', b'"amount":900')
    path = feed(tmp_path / "feed", [first, b"", second, first, other, b"no fact", third])
    ran = cli("ingest", path, "--json")
    assert ran.code == 0
    assert [(each["line"], each["verdict"]) for each in ran.json[:-1]] == [
        (1, "appended"),
        (3, "appended"),
        (4, "duplicate"),
        (5, "equivocation"),
        (6, "quarantined"),
        (7, "appended"),
    ]
    assert ran.out.splitlines()[-1] == (
        '{"received":6,"appended":3,"duplicate":1,"equivocation":1,"quarantined":1}'
    )
    assert list(ran.json[0]) == ANSWER
    assert len(ran.json[0]["hash"]) == 64


def test_a_duplicate_is_answered_with_the_first_receipt(cli: Cli, tmp_path: Path) -> None:
    path = feed(tmp_path / "feed", lines(40))
    before, after = cli("ingest", path, "--json").json, cli("ingest", path, "--json").json
    receipt = ("position", "table_seq", "hash")
    assert [[one[name] for name in receipt] for one in before[:-1]] == [
        [one[name] for name in receipt] for one in after[:-1]
    ]
    assert after[-1] == {
        "received": 40,
        "appended": 0,
        "duplicate": 40,
        "equivocation": 0,
        "quarantined": 0,
    }


def test_received_is_the_sum_of_the_verdicts_on_record(
    cli: Cli, tape: PostgresTape, tmp_path: Path
) -> None:
    path = feed(tmp_path / "feed", [*lines(20), b"{}", *lines(5)])
    told = cli("ingest", path, "--json").json[-1]
    kept = tape.counters()
    assert kept.nothing_lost
    assert kept._asdict() == told


def test_several_feeds_name_themselves_and_standard_input_is_one(cli: Cli, tmp_path: Path) -> None:
    path = feed(tmp_path / "feed", lines(2))
    ran = cli("ingest", path, "-", "--json", stdin=lines(3)[2])
    assert [(each["feed"], each["line"]) for each in ran.json[:-1]] == [
        (str(path), 1),
        (str(path), 2),
        ("-", 1),
    ]


def test_a_feed_that_cannot_be_read_keeps_nothing_of_the_others(
    cli: Cli, tape: PostgresTape, tmp_path: Path
) -> None:
    path = feed(tmp_path / "feed", lines(2))
    ran = cli("ingest", path, tmp_path / "absent")
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert "absent" in ran.err
    assert tape.counters().received == 0


def test_a_line_over_64_kib_is_quarantined_whole_and_one_over_8_mib_is_not_taken_in(
    cli: Cli, tmp_path: Path
) -> None:
    large, huge = b"x" * 70_000, b"x" * (8 * 2**20 + 1)
    ran = cli("ingest", feed(tmp_path / "large", [large]), "--json")
    assert (ran.json[0]["verdict"], ran.json[0]["reason"]) == ("quarantined", "oversize")
    shown = cli("quarantine", "show", "1", "--json").json[0]
    assert base64.b64decode(shown["bytes"]) == large
    ran = cli("ingest", feed(tmp_path / "huge", [lines(1)[0], huge]))
    assert ran.code == 2
    assert "line 2" in ran.err


def test_a_live_pipe_is_kept_as_it_comes(cli: Cli) -> None:
    process = cli.start("ingest", "-", "--json")
    assert process.stdin
    assert process.stdout
    with process:
        for number, line in enumerate(lines(3)):
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["position"] == number + 1
        process.stdin.close()
        assert json.loads(process.stdout.readline())["appended"] == 3


def test_sigterm_stops_between_blocks_and_loses_nothing(cli: Cli, tape: PostgresTape) -> None:
    process = cli.start("ingest", "-", "--json")
    assert process.stdin
    assert process.stdout
    assert process.stderr
    with process:
        process.stdin.write(lines(1)[0] + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["verdict"] == "appended"
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 143
        assert process.stderr.read().startswith(b"Stopped after 1 line;")
    assert tape.counters().appended == 1


def test_a_reader_that_goes_away_gets_no_traceback(cli: Cli, tmp_path: Path) -> None:
    path = feed(tmp_path / "feed", lines(3_000))
    process = cli.start("ingest", path, "--json")
    assert process.stdout
    assert process.stderr
    with process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(120) == 141
        assert process.stderr.read() == b""


def test_without_a_database_the_exit_code_is_3_and_no_password_is_told(
    plain_cli: Cli, tmp_path: Path
) -> None:
    began = time.monotonic()
    ran = plain_cli("ingest", feed(tmp_path / "feed", lines(1)))
    assert ran.code == 3
    assert time.monotonic() - began < 30
    assert "Traceback" not in ran.err
    assert "secret-word" not in ran.err + ran.out
    assert "ROUND_LEDGER_DATABASE_URL" in ran.err


@pytest.mark.long
def test_strict_ends_with_1_if_a_line_went_to_quarantine(cli: Cli, tmp_path: Path) -> None:
    good, bad = lines(2), [b"{}", b"not JSON"]
    whole = cli("ingest", "--strict", feed(tmp_path / "good", good))
    assert (whole.code, "quarantine" in whole.err) == (0, False)
    part = feed(tmp_path / "part", [*good, *bad])
    lenient, strict = cli("ingest", part), cli("ingest", "--strict", part)
    assert (lenient.code, strict.code) == (0, 1)
    assert "Put into quarantine: 2 of 4 lines" in strict.err
    other = good[1].replace(b'"amount":500', b'"amount":900')
    equivocal = cli("ingest", "--strict", "--json", feed(tmp_path / "other", [other]))
    assert (equivocal.code, equivocal.json[-1]["equivocation"]) == (1, 1)


def test_what_is_quarantined_can_be_listed_shown_and_released_as_a_corrected_fact(
    cli: Cli, tape: PostgresTape, tmp_path: Path
) -> None:
    good = lines(1)[0]
    bad = good.replace(b'"As"', b'"1s"')
    cli("ingest", feed(tmp_path / "feed", [bad]))
    listed = cli("quarantine", "list", "--json").json
    assert list(listed[0])[:6] == [
        "quarantine_id",
        "received_at",
        "reason",
        "what",
        "where",
        "bytes",
    ]
    assert base64.b64decode(listed[0]["bytes"]) == bad
    assert listed[0]["where"] == "$.data.cards[0]"

    again = cli("quarantine", "release", "1")
    assert again.code == 2
    assert "still malformed" in again.err

    (tmp_path / "fact.json").write_bytes(good)
    released = cli("quarantine", "release", "1", "--as", tmp_path / "fact.json", "--json")
    assert released.json[0]["verdict"] == "appended"
    assert b"quarantineid" in tape.read(0, 1)[0].attributes
    assert cli("quarantine", "list", "--json").json == []
    assert cli("quarantine", "list", "--released", "--json").json[0]["released_position"] == 1
    assert tape.counters().nothing_lost

    twice = cli("quarantine", "release", "1", "--as", tmp_path / "fact.json")
    assert twice.code == 2
    assert "released before" in twice.err


def test_an_equivocation_is_not_released_as_it_is(cli: Cli, tmp_path: Path) -> None:
    first = lines(2)[1]
    other = first.replace(b'"amount":500', b'"amount":900')
    cli("ingest", feed(tmp_path / "feed", [first, other]))
    ran = cli("quarantine", "release", "1")
    assert ran.code == 2
    assert "fact_corrected" in ran.err


def test_what_a_device_sent_never_steers_the_terminal(cli: Cli, tmp_path: Path) -> None:
    cli("ingest", feed(tmp_path / "feed", [b"\x1b[2J\x1b]0;owned\x07"]))
    shown = cli("quarantine", "show", "1")
    assert shown.code == 0
    assert "\x1b" not in shown.out
    assert "\\x1b[2J" in shown.out


def test_a_number_that_is_not_there_is_a_mistake_of_the_user(cli: Cli) -> None:
    ran = cli("quarantine", "show", "4711")
    assert ran.code == 2
    assert "4711" in ran.err
    assert "quarantine list" in ran.err


def test_an_identity_too_long_to_be_kept_is_quarantined_and_stops_no_feed(
    cli: Cli, tmp_path: Path
) -> None:
    first, second, third = lines(3)
    long = second.replace(b'"run1-00000001"', f'"{chr(0x1F0A1) * 256}"'.encode())
    ran = cli("ingest", feed(tmp_path / "feed", [first, long, third]), "--json")
    assert ran.code == 0
    assert [each["verdict"] for each in ran.json[:-1]] == ["appended", "quarantined", "appended"]
    assert ran.json[1]["where"] == "$.id"


@pytest.mark.long
def test_a_file_of_short_lines_that_is_no_feed_is_set_aside_line_by_line(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "no-feed.txt"
    path.write_text("".join(f"{number}\n" for number in range(100_000)))
    ran = cli("ingest", path, "--json")
    assert ran.code == 0, ran.err
    assert ran.json[-1]["quarantined"] == ran.json[-1]["received"] == 100_000
