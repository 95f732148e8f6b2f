"""`simulate`, `rounds`, `replay`, `drop` and `dossier`, run as a user runs them."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from infra.postgres.connection import open_database
from infra.postgres.server.embedded import embedded
from infra.postgres.tape import PostgresTape
from infra.settings import Settings
from tests.fixtures.cli import Cli, environ
from tests.fixtures.disk import no_room

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Floor(NamedTuple):
    """A small floor, dealt, filmed in part and taken in; and the command over it."""

    cli: Cli
    folder: Path
    planted: list[dict[str, Any]]
    filmed: str  # the round whose overpayment was filmed, with its property

    @property
    def subject(self) -> str:
        return self.filmed.partition(":")[2]

    @property
    def footage(self) -> Path:
        return self.folder / "footage"

    @property
    def home(self) -> Path:
        return self.folder.parent / "home"

    def handled(self) -> list[dict[str, Any]]:
        """Every fact that footage was looked at or taken out, in order."""
        with (
            open_database(Settings(self.home, postgres_stays_s=0)) as database,
            PostgresTape(database) as tape,
        ):
            rows = tape.read(0, 1_000_000)
        kinds = ("footage_exported.v1", "footage_viewed.v1")
        return [{"type": row.type} | json.loads(row.data) for row in rows if row.type in kinds]


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Floor]:
    folder = tmp_path_factory.mktemp("floor")
    home, out = folder / "home", folder / "dealt"
    cli = Cli(environ(home))
    with embedded(home):  # held, so that each command need not start it
        made = cli(
            "simulate", "--tables", "2", "--hours", "0.4", "--seed", "11", "--mistake",
            "overpay", "--strip", "--footage", "mistakes", "--out", out,
        )  # fmt: skip
        assert made.code == 0, made.err
        taken = cli("ingest", out / "feed.jsonl", out / "footage.jsonl", "--json")
        assert taken.json[-1]["quarantined"] == 0
        planted = [json.loads(line) for line in (out / "truth.jsonl").read_text().splitlines()]
        yield Floor(cli, out, planted, f"hollywood:{planted[0]['round']}")


def test_the_round_with_a_planted_overpayment_is_found_by_its_finding(floor: Floor) -> None:
    args = ("--finding", "overpaid", "--property", "hollywood")
    found = floor.cli("rounds", *args, "--json").json
    assert [each["round"] for each in found] == [floor.subject]


@pytest.mark.long
def test_rounds_are_found_by_table_position_wager_amount_and_outcome_together(
    floor: Floor,
) -> None:
    args = (
        "--property",
        "hollywood",
        "--table",
        "CC-01",
        "--position",
        "1",
        "--wager",
        "ante_across",
        "--outcome",
        "win",
    )
    found = floor.cli("rounds", *args, "--json").json
    assert found
    for each in found[:2]:
        ruling = floor.cli("replay", f"hollywood:{each['round']}", "--json").json[-1]["ruling"]
        assert any(
            (s["position"], s["wager"], s["outcome"]) == (1, "ante_across", "win")
            for s in ruling["settlements"]
        )
    most = floor.cli("rounds", *args, "--amount-min", "1,000,000", "--json").json
    assert most == []


@pytest.mark.long
def test_a_name_that_is_none_does_not_pass_for_nothing_found(floor: Floor) -> None:
    misspelt = floor.cli("rounds", "--finding", "overpayd")
    assert (misspelt.code, misspelt.out) == (2, "")
    assert "Did you mean overpaid?" in misspelt.err
    unmatched = floor.cli("rounds", "--finding", "cut_too_shallow")
    assert (unmatched.code, unmatched.out) == (0, "")
    assert "belongs to no round" in unmatched.err
    for option, said in (("--wager", "There is no wager"), ("--game", "There is no game")):
        found = floor.cli("rounds", option, "five-card-bonus")
        assert (found.code, found.out) == (0, "")
        assert said in found.err
    assert "There is no" not in floor.cli("rounds", "--amount-min", "1,000,000").err


def test_a_search_by_time_finds_rounds_that_overlap_it(floor: Floor) -> None:
    every = floor.cli("rounds", "--limit", "1000", "--json").json
    one = every[len(every) // 2]
    found = floor.cli(
        "rounds", "--from", one["began"], "--to", one["began"], "--table", "CC-01", "--json"
    ).json
    assert all(each["began"] <= one["began"] <= each["ended"] for each in found)
    assert floor.cli("rounds", "--from", "half past nine").code == 2


@pytest.mark.long
def test_replaying_a_round_twice_gives_identical_bytes(floor: Floor) -> None:
    args = ("replay", floor.filmed, "--footage", floor.footage)
    assert floor.cli(*args, "--json").out == floor.cli(*args, "--json").out
    assert floor.cli(*args).out == floor.cli(*args).out


def test_a_replay_is_one_object_a_fact_and_the_ruling_last(floor: Floor) -> None:
    *moments, last = floor.cli("replay", floor.filmed, "--json").json
    assert [each["moment"] for each in moments] == list(range(1, moments[0]["of"] + 1))
    over = [line for line in last["paid_beside_owed"] if line["difference"]]
    truth = floor.planted[0]
    assert [(line["position"], line["wager"]) for line in over] == [
        (truth["position"], truth["wager"])
    ]
    assert over[0]["paid"] - over[0]["owed"] == over[0]["difference"]
    assert [each["code"] for each in last["ruling"]["findings"]] == ["overpaid"]


@pytest.mark.long
def test_a_fact_that_a_camera_saw_names_its_frame_and_its_plus_minus(floor: Floor) -> None:
    ref = floor.cli("replay", floor.filmed, "--json").json[-1]["ruling"]["findings"][0]["facts"][0]
    moments = floor.cli("replay", floor.filmed, "--footage", floor.footage, "--json").json[:-1]
    paid = next(each for each in moments if each["id"] == ref["id"])
    sight = paid["cameras"][0]
    assert sight["state"] == "recorded"
    assert sight["frame"] is not None
    assert 250 < sight["plus_minus_ms"] < 1000
    assert sight["frames"][0] <= sight["frame"] <= sight["frames"][1]


def test_every_fact_without_a_frame_says_which_of_the_reasons_it_is(floor: Floor) -> None:
    unfilmed = next(
        f"hollywood:{each['round']}"
        for each in floor.cli("rounds", "--property", "hollywood", "--json").json
        if each["round"] != floor.subject
    )
    moments = floor.cli("replay", unfilmed, "--footage", floor.footage, "--json").json[:-1]
    states = {sight["state"] for each in moments for sight in each["cameras"]}
    assert states <= {"gap", "recorded"}
    assert "gap" in states
    assert all(sight["says"] for each in moments for sight in each["cameras"])


@pytest.mark.long
def test_an_altered_segment_is_not_shown_and_said_to_be_altered(
    floor: Floor, tmp_path: Path
) -> None:
    copy = tmp_path / "footage"
    shutil.copytree(floor.footage, copy)
    for path in copy.rglob("*.webm"):
        octets = bytearray(path.read_bytes())
        octets[len(octets) // 2] ^= 1
        path.write_bytes(octets)
    moments = floor.cli("replay", floor.filmed, "--footage", copy, "--json").json[:-1]
    states = {sight["state"] for each in moments for sight in each["cameras"]}
    assert "altered" in states
    assert "recorded" not in states
    kept = floor.cli("replay", floor.filmed, "--footage", floor.footage, "--json").json[:-1]
    assert "recorded" in {sight["state"] for each in kept for sight in each["cameras"]}


@pytest.mark.long
def test_one_moment_is_shown_alone(floor: Floor) -> None:
    shown = floor.cli("replay", floor.filmed, "--at", "5")
    assert "\n5 · " in shown.out
    assert "\n6 · " not in shown.out
    assert "Owed and paid" not in shown.out
    whole = floor.cli("replay", floor.filmed, "--json").json
    assert floor.cli("replay", floor.filmed, "--at", "5", "--json").json == [whole[4]]
    assert floor.cli("replay", floor.filmed, "--at", "5000").code == 2


@pytest.mark.long
def test_a_piped_replay_is_plain_text_of_at_most_100_columns(floor: Floor) -> None:
    out = floor.cli("replay", floor.filmed, "--footage", floor.footage).out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 100
    assert not any(line.endswith(" ") for line in out.splitlines())


@pytest.mark.long
def test_frames_are_written_as_pictures_that_name_camera_and_frame(
    floor: Floor, tmp_path: Path
) -> None:
    args = ("--footage", floor.footage, "--frames", tmp_path / "frames")
    assert floor.cli("replay", floor.filmed, *args).code == 0
    written = sorted((tmp_path / "frames").iterdir())
    assert written
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


@pytest.mark.long
def test_each_frame_written_is_a_fact_and_a_replay_that_shows_no_picture_tells_none(
    floor: Floor, tmp_path: Path
) -> None:
    before = floor.handled()
    replayed = floor.cli("replay", floor.filmed, "--footage", floor.footage, "--json")
    assert floor.cli("replay", floor.filmed, "--footage", floor.footage).code == 0
    assert floor.handled() == before, "a table and numbers of frames are no footage"

    args = ("--footage", floor.footage, "--frames", tmp_path, "--by", "S-2044")
    assert floor.cli("replay", floor.filmed, *args, "--because", "dispute D-9").code == 0
    told = floor.handled()[len(before) :]
    assert len(told) == len([*tmp_path.iterdir()]) > 0
    assert {(each["type"], each["by"], each["because"]) for each in told} == {
        ("footage_exported.v1", "S-2044", "dispute D-9")
    }
    times = {
        (sight["camera"], sight["camera_time"])
        for moment in replayed.json[:-1]
        for sight in moment["cameras"]
        if sight["frame"] is not None
    }
    assert {(each["camera"], each["from"]) for each in told} <= times
    assert all(each["from"] == each["to"] for each in told)


@pytest.mark.long
def test_no_frame_is_written_where_that_cannot_be_put_on_record(
    floor: Floor, tmp_path: Path
) -> None:
    out = tmp_path / "frames"
    args = ("replay", floor.filmed, "--footage", floor.footage, "--frames", out)
    with no_room(Settings(floor.home, postgres_stays_s=0)):
        refused = floor.cli(*args)
    assert (refused.code, "no room for what leaves" in refused.err) == (3, True), refused.err
    assert not out.exists()
    assert floor.cli(*args).code == 0
    assert [*out.iterdir()]


def test_a_round_that_is_not_on_record_or_no_name_at_all_says_what_to_do(floor: Floor) -> None:
    absent = floor.cli("replay", "CC-01/2026-11-20/99999")
    assert (absent.code, absent.out) == (2, "")
    assert "round-ledger rounds --table CC-01" in absent.err
    assert "CC-07/2026-11-20/231" in floor.cli("replay", "the big one").err


def test_a_round_cut_off_says_what_must_come_next(floor: Floor, tmp_path: Path) -> None:
    lines = (floor.folder / "feed.jsonl").read_bytes().splitlines()
    mine = [line for line in lines if b'"subject":"CC-01/2026-11-20/1"' in line][:12]
    cut = tmp_path / "cut.jsonl"
    moved = [line.replace(b"hollywood", b"elsewhere") for line in mine]
    cut.write_bytes(b"\n".join(moved) + b"\n")
    floor.cli("ingest", cut)
    last = floor.cli("replay", "elsewhere:CC-01/2026-11-20/1", "--json").json[-1]
    assert any("next comes" in says for says in last["missing"])
    assert all(line["difference"] is None for line in last["paid_beside_owed"])
    both = floor.cli("replay", "CC-01/2026-11-20/1")
    assert both.code == 2
    assert "elsewhere:CC-01/2026-11-20/1, hollywood:CC-01/2026-11-20/1" in both.err


def test_a_corrected_fact_is_shown_as_recorded_with_what_it_should_say(
    floor: Floor, tmp_path: Path
) -> None:
    lines = (floor.folder / "feed.jsonl").read_bytes().splitlines()
    subject = f'"subject":"{floor.subject}"'.encode()
    mine = [line.replace(b"hollywood", b"mended") for line in lines if subject in line]
    wrong = json.loads(
        next(line for line in mine if floor.planted[0]["facts"][0]["id"].encode() in line)
    )
    ruling = floor.cli("replay", floor.filmed, "--json").json[-1]
    owed = next(each["owed"] for each in ruling["paid_beside_owed"] if each["difference"])
    correction = {
        "specversion": "1.0",
        "type": "roundledger.fact_corrected.v1",
        "source": "/mended/office/desk",
        "id": "c-1",
        "time": "2026-11-21T09:00:00Z",
        "data": {
            "of": {"source": wrong["source"], "id": wrong["id"]},
            "data": wrong["data"] | {"amount": owed},
            "because": "misread stack",
            "by": "F-2001",
            "second": "F-2002",
        },
    }
    feed = tmp_path / "mended.jsonl"
    feed.write_bytes(b"\n".join([*mine, json.dumps(correction).encode()]) + b"\n")
    assert floor.cli("ingest", feed, "--json").json[-1]["quarantined"] == 0
    *moments, last = floor.cli("replay", f"mended:{floor.subject}", "--json").json
    told = next(each for each in moments if each["id"] == wrong["id"])
    assert "misread stack" in told["corrected"]
    assert "Corrected later by F-2001 and F-2002" in told["corrected"]
    assert not any(each["difference"] for each in last["paid_beside_owed"])
    assert [each["code"] for each in last["ruling"]["before"]["findings"]] == ["overpaid"]


def test_the_drop_keeps_expected_and_counted_apart_and_nothing_known_is_null(
    floor: Floor,
) -> None:
    days = floor.cli("drop", "--property", "hollywood", "--json").json
    tables = {each["table"]: each for each in days if each["gaming_day"]}
    card_table = tables["CC-01"]
    assert card_table["cash"] > 0
    assert {box["currency"] for box in card_table["boxes"]} == {card_table["cash"]}
    assert card_table["coupons"] is None
    shown = floor.cli("drop", "--table", "CC-01", "--property", "hollywood").out
    assert "n/a" in shown


@pytest.mark.long
def test_a_dossier_is_whole_and_its_sums_hold(floor: Floor, tmp_path: Path) -> None:
    args = ("--out", tmp_path / "dossier", "--footage", floor.footage)
    assert floor.cli("dossier", floor.filmed, *args).code == 0
    folder = tmp_path / "dossier"
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert any((folder / "frames").iterdir())
    assert "data:image/png;base64," in (folder / "report.html").read_text()
    heads = floor.cli("verify", "--head", folder / "heads.jsonl")
    assert heads.code == 0, heads.err
    assert floor.cli("dossier", floor.filmed, *args).code == 2


@pytest.mark.long
def test_the_same_seed_deals_the_same_bytes_and_another_seed_others(
    floor: Floor, tmp_path: Path
) -> None:
    dealt = {}
    for name, seed in (("one", "3"), ("two", "3"), ("other", "4")):
        floor.cli(
            "simulate", "--tables", "1", "--hours", "0.2", "--seed", seed, "--game",
            "three_dice_football", "--out", tmp_path / name,
        )  # fmt: skip
        dealt[name] = (tmp_path / name / "feed.jsonl").read_bytes()
    assert dealt["one"] == dealt["two"] != dealt["other"]
    assert b"criss_cross" not in dealt["one"]
    assert floor.cli("simulate", "--out", tmp_path / "one").code == 2
    assert floor.cli("simulate", "--mistake", "stolen_chips", "--out", tmp_path / "x").code == 2
    for odd in ("CC-01-cam1=melted", "CC-01-cam2=frozen", "frozen"):  # one camera is drawn
        refused = floor.cli("simulate", "--camera-fault", odd, "--out", tmp_path / "x")
        assert refused.code == 2
        assert "CC-01-cam1" in refused.err


OFFSET = "-05:00"
"""The offset of every device of a simulated floor."""


@pytest.mark.long
def test_rounds_and_replay_show_times_as_the_propertys_devices_do_or_in_the_zone_set(
    floor: Floor,
) -> None:
    """A camera's gap, a device's fact and a search: one clock, whose offset is always printed."""
    found = floor.cli("rounds", "--limit", "1").out
    assert f"times by devices ({OFFSET})" in found
    *moments, _ = floor.cli("replay", floor.filmed, "--json").json
    told = floor.cli("replay", floor.filmed).out
    assert "Zone: UTC-05:00." in told
    assert told.count(f" {OFFSET} ±") == len(moments) + sum(
        each["camera_time"] is not None for moment in moments for each in moment["cameras"]
    )
    assert "Z ±" not in told
    assert "No footage of this time" in told
    assert not re.search(r"\d\d:\d\d:\d\d\.\d{3}(?! -05:00)", " ".join(told.split()))

    west = Cli({**floor.cli.environ, "ROUND_LEDGER_TIME_ZONE": "hollywood=America/Denver"})
    assert "times by devices (-07:00)" in west("rounds", "--limit", "1").out
    told = west("replay", floor.filmed, "--at", "1").out
    assert "Zone: America/Denver." in told
    assert re.search(r"-07:00 \(device: [\d:.]+ -05:00\)", told)


def test_json_keeps_times_as_recorded_in_any_zone(floor: Floor) -> None:
    west = Cli({**floor.cli.environ, "ROUND_LEDGER_TIME_ZONE": "America/Denver"})
    for command in (("rounds", "--limit", "2"), ("replay", floor.filmed, "--at", "1")):
        assert west(*command, "--json").out == floor.cli(*command, "--json").out


@pytest.mark.long
def test_times_are_typed_as_people_write_them_and_a_time_of_day_is_of_the_gaming_day(
    floor: Floor,
) -> None:
    every = floor.cli("rounds", "--limit", "1000", "--json").json
    began = datetime.fromisoformat(every[len(every) // 2]["began"]).astimezone(
        timezone(timedelta(hours=-5))
    )
    day = ("--gaming-day", every[0]["round"].split("/")[1])
    ways = (
        f"{began:%m/%d/%Y} {began:%I:%M:%S %p}",
        f"{began:%Y-%m-%d %H:%M:%S}",
        f"{began:%I:%M:%S} {began:%p}".lower(),
        f"{began:%H:%M:%S}",
    )
    found = [floor.cli("rounds", *day, "--from", way, "--limit", "1000", "--json") for way in ways]
    rounds = [[each["round"] for each in ran.json] for ran in found]
    assert rounds[0] == rounds[1] == rounds[2] == rounds[3]
    assert 0 < len(rounds[0]) < len(every)
    said = f"is read as {began:%Y-%m-%d %H:%M:%S} -05:00."
    assert [said in ran.err for ran in found] == [False, False, True, True]


def test_a_closed_round_that_paid_nothing_paid_0_and_not_an_unknown_amount(floor: Floor) -> None:
    asked = ("rounds", "--property", "hollywood", "--limit", "1000")
    every = floor.cli(*asked, "--json").json
    unpaid = [each["round"] for each in every if each["paid"] is None]
    assert unpaid, "the floor has a round that paid nothing"
    shown = floor.cli(*asked).out.splitlines()
    paid = {
        line.split()[0].rpartition(":")[2]: line.split()[-1]
        for line in shown
        if "2026-11-20/" in line
    }
    assert {paid[name] for name in unpaid} == {"$0"}
    assert not any("n/a" in line for line in shown)
