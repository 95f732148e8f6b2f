"""A round described from its rows: the same bytes each time, money, sections, what is missing."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import random
from datetime import UTC
from functools import cache
from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace
from rich.console import Console

from ledger.adjudication.feed import adjudicate
from ledger.errors import Refused
from ledger.facts import FactCorrected, FactRef
from ledger.record.tape import Head, Received, TapeRow
from ledger.record.wire import Fact, fact_of, parse_line
from ledger.rules.engine.ruling import Ruling
from ledger.simulate import Planted, deal, line, plan_of
from ledger.values import parse_subject
from replay.cameras.timeline import FrameLookup
from replay.demo.audit import audit, money_at_stake
from replay.dossier import Evidence
from replay.dossier.writing.making import plain, write_dossier
from replay.rounds.story import Story, story
from replay.rounds.story_text import moment_json, ruling_json, tell

if TYPE_CHECKING:
    from pathlib import Path

PLAN = plan_of(tables=2, minutes=40, seed=5, mistakes={"overpay": 1, "not_collected": 1})


def test_a_correction_that_cannot_be_applied_says_that_it_has_no_effect() -> None:
    [paid, *_] = [row for row in dealt()[0] if row.type == "wager_paid.v1"]
    round_ = parse_subject(paid.subject or "", "hollywood")[0]
    assert round_ is not None
    told = msgspec.json.decode(paid.data)
    says = {}
    for name, data in (("fits", {**told, "amount": 5}), ("lacks", {"position": 1})):
        of = FactRef(source=paid.source, id=paid.id)
        people = {"because": "Misread.", "by": "F-1", "second": "F-2"}
        body = FactCorrected(of=of, data=data, **people)
        made = Fact(body, "/hollywood/office/d", name, paid.time_us, None, None, None, None)
        [says[name]] = story(round_, [paid], None, made=[made]).corrected.values()
    assert "it should say: " in says["fits"]
    assert "this has no effect, as its content does not fit: `wager` is missing." in says["lacks"]


@cache
def dealt() -> tuple[list[TapeRow], list[Planted]]:
    """Every fact as a row of the record, and what was planted."""
    facts, planted = deal(PLAN)
    rows = []
    for number, fact in enumerate(facts, 1):
        received = parse_line(line(PLAN, fact))
        assert isinstance(received, Received)
        at = (received.tape, number, received.type, received.source, received.id)
        times = (received.time_us, received.subject, 0)
        rows.append(TapeRow(number, *at, *times, received.attributes, received.data, bytes(32)))
    return rows, planted


def told(subject: str, keep: int | None = None, *, begin: int = 0) -> Story:
    """A round of the plan, or its facts from `begin` to `keep`."""
    rows = [row for row in dealt()[0] if row.subject == subject][begin:keep]
    submissions = [row for row in dealt()[0] if row.type == "rules_submission_filed.v1"]
    ruled = adjudicate(fact_of(row) for row in [*submissions, *rows])
    ruling = next((each for each in ruled if isinstance(each, Ruling)), None)
    round_ = parse_subject(subject, "hollywood")
    assert round_
    return story(round_, rows, ruling)


def planted(mistake: str) -> Planted:
    return next(each for each in dealt()[1] if each.mistake == mistake)


def told_bytes(of: Story) -> bytes:
    objects = [moment_json(of, at) for at in range(1, len(of.moments) + 1)]
    return b"\n".join(msgspec.json.encode(each) for each in [*objects, ruling_json(of)])


def evidence(of: Story) -> Evidence:
    previous = {(row.tape, row.table_seq): bytes(32) for row in of.rows}
    return Evidence((of,), {}, [], previous, [Head("hollywood/CC-01", 1, 1, bytes(32))])


def test_telling_a_round_twice_gives_identical_bytes() -> None:
    subject = planted("overpay").round or ""
    assert told_bytes(told(subject)) == told_bytes(told(subject))


def test_the_order_of_the_rows_changes_no_byte() -> None:
    subject = planted("overpay").round or ""
    whole = told(subject)
    rows = list(whole.rows)
    random.Random(3).shuffle(rows)  # noqa: S311 - a repeatable order
    again = story(whole.round, rows, whole.ruling)
    assert told_bytes(again) == told_bytes(whole)
    assert plain(again, UTC) == plain(whole, UTC)


def test_times_are_told_as_they_were_received_with_their_offset() -> None:
    first = told("CC-01/2026-11-20/1")
    assert all(time.endswith("-05:00") for time in first.times)
    assert moment_json(first, 1)["plus_minus_ms"] == 250


def test_an_overpayment_stands_beside_its_section_with_the_difference() -> None:
    mistake = planted("overpay")
    lines = [each for each in told(mistake.round or "").lines if each.difference]
    assert [(each.position, each.wager) for each in lines] == [(mistake.position, mistake.wager)]
    assert lines[0].difference == lines[0].paid - lines[0].owed > 0
    assert lines[0].section


def test_a_lost_stake_left_with_the_patron_is_a_difference_in_his_favour() -> None:
    mistake = planted("not_collected")
    line_ = next(each for each in told(mistake.round or "").lines if each.difference)
    assert (line_.collected, line_.difference) == (0, line_.stake)


def test_a_round_without_a_mistake_has_no_difference_and_lacks_nothing() -> None:
    mistaken = {each.round for each in dealt()[1]}
    subject = next(
        row.subject
        for row in dealt()[0]
        if row.type == "round_completed.v1" and row.subject not in mistaken
    )
    whole = told(subject or "")
    assert not any(each.difference for each in whole.lines)
    assert not whole.missing


def test_a_round_cut_short_says_what_must_come_next_and_claims_no_difference() -> None:
    subject = planted("overpay").round or ""
    cut = told(subject, keep=5)
    assert any("next comes" in says for says in cut.missing)
    assert all(each.difference is None for each in cut.lines)


def test_a_round_that_never_says_which_game_it_was_says_that() -> None:
    whole = told("CC-01/2026-11-20/1")
    rows = [row for row in whole.rows if row.type != "round_started.v1"]
    beheaded = story(whole.round, rows, None)
    assert beheaded.missing == (
        "The game of this round is not known: `round_started` is not on record.",
    )
    assert len(beheaded.moments) == len(whole.moments) - 1


def test_without_cameras_every_fact_says_so() -> None:
    whole = told("CC-01/2026-11-20/1")
    states = {sight.state for seen in whole.seen for sight in seen.sights}
    assert states == {"no_camera_mapped"}


def lines_of(of: Story) -> list[str]:
    """A story as it is printed."""
    console = Console(width=100, file=io.StringIO(), record=True)
    for each in tell(of, UTC, hindsight=False):
        console.print(each)
    return [line.strip() for line in console.export_text().splitlines()]


def test_a_round_without_cameras_says_so_once() -> None:
    whole = told("CC-01/2026-11-20/1")
    assert [each for each in lines_of(whole) if "camera was" in each] == [
        "No camera was mapped to CC-01 during the round."
    ]
    cam = FrameLookup(camera="cam1", state="gap", says="Nothing.")
    filmed, *others = whole.seen
    mixed = whole._replace(seen=(replace(filmed, sights=(cam,)), *others))
    printed = lines_of(mixed)
    assert printed.count("no camera: No camera was mapped to CC-01 then.") == len(others)


def test_an_open_round_awaits_a_wager_of_a_player() -> None:
    begun = told("CC-01/2026-11-20/1", keep=1)
    assert "by or for a player" in " ".join(begun.missing)


def test_a_round_of_a_game_not_on_record_says_so_without_none() -> None:
    printed = " ".join(lines_of(told("CC-01/2026-11-20/1", keep=2, begin=1)))
    assert "No chapter rules on this round, because its game is not known: awaiting." in printed
    assert "None" not in printed


def test_the_audit_agrees_where_everything_planted_was_found_and_nothing_else() -> None:
    facts = [fact_of(row) for row in dealt()[0]]
    rulings = {each.round: each for each in adjudicate(facts) if isinstance(each, Ruling)}
    assert audit(dealt()[1], rulings).agrees


def test_the_money_at_stake_is_what_went_where_it_should_not_have() -> None:
    mistake = planted("overpay")
    lines = told(mistake.round or "").lines
    assert money_at_stake(lines) == max(each.difference or 0 for each in lines) > 0


def test_the_audit_does_not_agree_where_a_mistake_was_missed_or_another_found() -> None:
    facts = [fact_of(row) for row in dealt()[0]]
    rulings = {each.round: each for each in adjudicate(facts) if isinstance(each, Ruling)}
    missed = planted("overpay").round or ""
    assert not audit(dealt()[1], {r: its for r, its in rulings.items() if r != missed}).agrees
    assert audit([], rulings).unexplained


@pytest.mark.long
def test_every_file_of_a_dossier_has_its_sum_and_size(tmp_path: Path) -> None:
    write_dossier(evidence(told(planted("overpay").round or "")), tmp_path / "dossier")
    sums = (tmp_path / "dossier" / "SHA256SUMS").read_text().splitlines()
    named = dict(reversed(each.split("  ")) for each in sums)
    there = {
        str(path.relative_to(tmp_path / "dossier")): path.read_bytes()
        for path in (tmp_path / "dossier").rglob("*")
        if path.is_file() and path.name != "SHA256SUMS"
    }
    assert named == {name: hashlib.sha256(octets).hexdigest() for name, octets in there.items()}
    manifest = json.loads(there.pop("manifest.json"))
    assert {each["path"]: each["bytes"] for each in manifest["files"]} == {
        name: len(octets) for name, octets in there.items()
    }


@pytest.mark.long
def test_a_dossier_holds_each_fact_with_its_data_in_the_octets_received(tmp_path: Path) -> None:
    whole = told(planted("overpay").round or "")
    write_dossier(evidence(whole), tmp_path / "dossier")
    lines = (tmp_path / "dossier" / "facts.jsonl").read_bytes().splitlines()
    again = [parse_line(each) for each in lines]
    assert [(each.attributes, each.data) for each in again if isinstance(each, Received)] == [
        (row.attributes, row.data) for row in whole.rows
    ]


@pytest.mark.long
def test_a_fact_of_several_lines_is_one_line_in_a_dossier_and_its_octets_are_in_the_proof(
    tmp_path: Path,
) -> None:
    whole = told(planted("overpay").round or "")
    printed = whole.rows[3]._replace(
        data=json.dumps(json.loads(whole.rows[3].data), indent=1).encode()
    )
    printed = printed._replace(data=printed.data.replace(b"\n", b"\r\n"))
    whole = whole._replace(
        rows=tuple(printed if row == whole.rows[3] else row for row in whole.rows)
    )
    write_dossier(evidence(whole), tmp_path / "dossier")
    lines = (tmp_path / "dossier" / "facts.jsonl").read_bytes().splitlines()
    again = [parse_line(each) for each in lines]
    assert [each.id for each in again] == [row.id for row in whole.rows]
    assert all(isinstance(each, Received) for each in again)
    proofs = map(json.loads, (tmp_path / "dossier" / "proof.jsonl").read_text().splitlines())
    octets = {each["position"]: each["data_base64"] for each in proofs}
    assert base64.b64decode(octets.pop(printed.position)) == printed.data
    assert set(octets.values()) == {None}


@pytest.mark.long
def test_two_dossiers_of_one_round_are_equal_to_the_byte(tmp_path: Path) -> None:
    made = [
        write_dossier(evidence(told(planted("overpay").round or "")), tmp_path / name)
        for name in ("one", "two")
    ]
    assert made[0] == made[1]


def test_a_dossier_never_overwrites_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    with pytest.raises(Refused, match="already"):
        write_dossier(evidence(told("CC-01/2026-11-20/1")), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


@pytest.mark.long
def test_the_report_needs_no_other_file_and_escapes_what_facts_say(tmp_path: Path) -> None:
    whole = told(planted("overpay").round or "")
    hostile = whole._replace(missing=("<script>alert(1)</script>",))
    write_dossier(evidence(hostile), tmp_path / "dossier")
    report = (tmp_path / "dossier" / "report.html").read_text()
    assert "<script" not in report
    assert "&lt;script&gt;" in report
    assert "http://" not in report
    assert "https://" not in report
