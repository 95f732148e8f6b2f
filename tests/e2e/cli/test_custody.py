"""Coverage, keeping, locks and expiry of footage, run as a user runs them, over real files."""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from infra.postgres.server.embedded import embedded
from ledger.facts import CameraMapped, SegmentRecorded
from ledger.record.wire import encode
from replay.footage.library import thumbnails
from replay.footage.library.index import FootageIndex
from tests.fixtures.cli import Cli, environ

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AGO = timedelta(days=60)
"""How long ago the filmed day was: past the days of routine footage, not past a dispute's."""

WHO = ("--by", "S-1", "--because", "A fall.")


class Vault(NamedTuple):
    """A floor with one filmed round, its footage in the index; and the command over it."""

    cli: Cli
    folder: Path
    round: str
    camera: str
    span: tuple[str, str]  # of its footage, by its clock
    around: tuple[str, str]  # some days around it

    def ok(self, *args: str) -> list[Any]:
        ran = self.cli("footage", *args, "--json")
        assert ran.code == 0, ran.err
        return ran.json

    def lines(self, what: str, *args: str) -> list[Any]:
        return [each for each in self.ok("retention", *args) if each["what"] == what]

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.glob("dealt/footage/**/*.webm"))


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """For tests that change nothing in it."""
    with filmed(tmp_path_factory.mktemp("vault")) as made:
        yield made


@pytest.fixture
def own_vault(tmp_path: Path) -> Iterator[Vault]:
    """For a test that locks, releases or deletes."""
    with filmed(tmp_path) as made:
        yield made


@contextmanager
def filmed(folder: Path) -> Iterator[Vault]:
    """A vault in this folder, and its server."""
    then = datetime.now(UTC) - AGO
    day = then.date().isoformat()
    round_ = f"CC-01/{day}/3"
    around = [(then + timedelta(days=days)).isoformat() for days in (-5, 5)]
    home, out = folder / "home", folder / "dealt"
    cli = Cli(environ(home))
    with embedded(home):
        made = cli(
            "simulate", "--tables", "1", "--game", "criss_cross_poker", "--hours", "0.3",
            "--seed", "11", "--strip", "--footage", round_,
            "--gaming-day", day, "--out", out,
        )  # fmt: skip
        assert made.code == 0, made.err
        assert cli("ingest", out / "feed.jsonl", out / "footage.jsonl", "--json").code == 0
        lines = (out / "footage.jsonl").read_text().splitlines()
        told = [json.loads(line)["data"] for line in lines]
        cameras = sorted({each["camera"] for each in told})
        starts = sorted(each["start"] for each in told if each["camera"] == cameras[0])
        for camera in cameras:
            added = cli("footage", "add", out / "footage", "--camera", camera, "--json")
            assert added.code in (0, 1), added.err
        span = (starts[0], starts[-1])
        yield Vault(cli, folder, round_, cameras[0], span, (around[0], around[1]))


@pytest.mark.long
def test_the_coverage_of_a_round_says_what_each_camera_recorded_beside_465a_9(
    vault: Vault,
) -> None:
    [stated] = vault.ok("coverage", vault.round)
    [round_] = stated["stretches"]
    assert (round_["section"], round_["due"]) == ("465a.9(c)(2)(i)", "1")
    camera = round_["cameras"][0]
    lacking = [piece for piece in camera["pieces"] if piece["state"] == "gap"]
    lacking_us = sum(piece["to_us"] - piece["from_us"] for piece in lacking)
    whole_us = round_["to_us"] - round_["from_us"]
    assert 0 < lacking_us < 7_000_000, "a drawn round has one gap of some seconds"
    assert camera["recorded_us"] == round_["covered_us"] == whole_us - lacking_us
    assert round_["met"] is False
    assert camera["fps_min"] > 0, "the file was at hand and its rate is not told"
    assert camera["sizes"]
    told = vault.cli("footage", "coverage", vault.round).out
    assert "n/a" not in told


@pytest.mark.long
def test_the_coverage_of_a_tables_day_names_every_round_without_footage(vault: Vault) -> None:
    table, day = vault.round.split("/")[:2]
    [stated] = vault.ok("coverage", "--table", table, "--gaming-day", day)
    open_, *rounds = stated["stretches"]
    assert (open_["name"], open_["met"]) == ("open", False)
    covered = {each["name"]: each["covered_us"] for each in rounds}
    assert len(covered) > 5
    assert [name for name, covered_us in covered.items() if covered_us] == [vault.round]
    states = {piece["state"] for piece in open_["cameras"][0]["pieces"]}
    assert states == {"recorded", "gap"}
    ran = vault.cli("footage", "coverage", "--table", table, "--gaming-day", day)
    assert "Rounds without all required footage" in ran.out
    for args, says in (
        (("--table", table), "Name a round, or a table and a gaming day"),
        (("--table", table, "--gaming-day", "2020-01-01"), "No fact on record says that"),
        ((f"CC-99/{day}/1",), "No fact of round"),
    ):
        ran = vault.cli("footage", "coverage", *args)
        assert (ran.code, says in ran.err) == (2, True), ran.err


@pytest.mark.long
def test_what_is_locked_is_listed_with_who_and_does_not_expire_until_it_is_released(
    own_vault: Vault,
) -> None:
    vault = own_vault
    assert vault.lines("expires"), "footage of two months ago is not past 30 days"
    claim = ("--position", "1", "--claim", "Short.", "--by", "F-3", "--name", "D-1")
    assert vault.cli("dispute", "raise", vault.round, *claim).code == 0
    assert vault.lines("expires") == [], "what a dispute locked is said to expire"
    assert {each["dispute"] for each in vault.lines("locked")} == {"D-1"}
    assert vault.ok("expire", "--by", "S-1") == []
    begin, end = vault.span
    vault.ok("lock", "--camera", vault.camera, "--from", begin, "--to", end, *WHO)
    vault.ok("release", "--dispute", "D-1", "--because", "Settled.", "--by", "S-1")
    left = vault.lines("locked")
    assert {(each["by"], each["because"]) for each in left} == {("S-1", "A fall.")}
    assert {each["because"] for each in vault.lines("released")} == {"Settled."}
    since, until = vault.around
    whole = ("--camera", vault.camera, "--from", since, "--to", until)
    vault.ok("release", *whole, "--all", "--because", "Done.", "--by", "S-1")
    assert vault.lines("locked") == []
    [due, *_] = vault.lines("expires", "--within", "3650")
    assert (due["reason"], due["days"]) == ("dispute", 365), "a release began no new count"
    for args, says in (
        (("release", "--dispute", "D-1", *WHO), "There is no such lock"),
        (("release", "--camera", vault.camera, *WHO), "No lock to release was named"),
        (
            ("lock", "--camera", "nobody", "--from", begin, "--to", end, *WHO),
            "The record has no fact about",
        ),
        (("lock", "--camera", vault.camera, "--from", end, "--to", begin, *WHO), "--to is before"),
    ):
        ran = vault.cli("footage", *args)
        assert (ran.code, says in ran.err) == (2, True), ran.err


@pytest.mark.long
def test_expiring_deletes_only_what_has_expired_is_unlocked_and_has_the_recorded_bytes(
    own_vault: Vault,
) -> None:
    """With a table of one day all is due, but the first segment is locked; with 365, none is."""
    vault = own_vault
    cli, patient = _keeping(vault, 1), _keeping(vault, 365)
    [first, *_] = vault.ok("list", "--camera", vault.camera)
    begin = first["start"]
    vault.ok("lock", "--camera", vault.camera, "--from", begin, "--to", begin, *WHO)
    stranger = vault.folder / "dealt" / "footage" / "holiday.webm"
    stranger.write_bytes(b"not ours")
    clips = vault.folder / "home" / "clips"
    held = vault.ok(
        "clip", "--camera", vault.camera, "--camera-clock", "--from", begin, "--to", begin,
        "--pre", "0", "--post", "0.5", "--out", str(vault.folder / "held"),
    )  # fmt: skip
    every = vault.ok("clip", vault.round, "--out", str(vault.folder / "every"))
    sums = {each["clip"]["sha256"] for each in held}
    assert not sums & {each["clip"]["sha256"] for each in every}
    assert len(_sums(clips)) == len(held) + len(every)
    before = vault.files
    small = {path: _small_picture(vault, path) for path in before}
    spared = patient("footage", "expire", "--by", "S-1", "--delete", "--json")
    assert (spared.code, spared.json) == (0, []), "the other table has more days"
    altered = next(path for path in before if path not in (stranger, _path(vault, first)))
    altered.write_bytes(altered.read_bytes() + b"!")
    ran = cli("footage", "expire", "--by", "S-1", "--json")
    assert ran.code == 0, ran.err
    assert vault.files == before, "expire without --delete deleted a file"
    ran = cli("footage", "expire", "--by", "S-1", "--delete", "--json")
    deleted = {each["deleted"] for each in ran.json if "deleted" in each}
    assert deleted, "nothing was deleted"
    assert set(vault.files) == {stranger, altered, _path(vault, first)}
    left = {path for path, picture in small.items() if picture.exists()}
    assert left == set(vault.files), "a small picture of deleted footage is left"
    assert _sums(clips) == sums, "a clip of deleted footage is left, or one that is locked is not"
    [stated] = vault.ok("coverage", vault.round)
    states = {piece["state"] for piece in stated["stretches"][0]["cameras"][0]["pieces"]}
    assert "expired" in states
    assert "altered" not in states, "what expired is said to have been altered"
    refused = cli("footage", "release", "--camera", vault.camera, "--from", begin, "--to", begin,
                  "--all", "--because", "x", "--by", "F-1")  # fmt: skip
    assert (refused.code, "may not release" in refused.err) == (2, True)


def _small_picture(vault: Vault, path: Path) -> Path:
    """A small picture of the first frame of a file, as pages keep it."""
    name = sha256(path.read_bytes()).hexdigest()
    folder = FootageIndex(vault.folder / "home").folder / thumbnails.FOLDER / name[:2] / name
    folder.mkdir(parents=True)
    picture = folder / "0.jpg"
    picture.write_bytes(b"small")
    return picture


def _sums(clips: Path) -> set[str]:
    """The SHA-256 of each clip that is kept."""
    files = (path for path in clips.glob("*/*") if path.suffix != ".json")
    return {sha256(path.read_bytes()).hexdigest() for path in files}


def _keeping(vault: Vault, days: int) -> Cli:
    """The command with a table of so many days for all footage that nothing else keeps."""
    table = vault.folder / f"keeping-{days}.toml"
    table.write_text(
        f'[[areas]]\nname = "all"\ndays = {{ routine = {days} }}\nreleased_by = ["S-*"]\n'
    )
    return Cli(vault.cli.environ | {"ROUND_LEDGER_RETENTION_FILE": str(table)})


def _path(vault: Vault, segment: dict[str, Any]) -> Path:
    return next(path for path in vault.files if str(path) == segment["path"])


@pytest.mark.long
def test_a_table_of_keeping_that_cannot_hold_is_refused(vault: Vault) -> None:
    table = vault.folder / "wrong.toml"
    table.write_text('[[areas]]\nname = "a"\ndays = { dispute = 3 }')
    cli = Cli(vault.cli.environ | {"ROUND_LEDGER_RETENTION_FILE": str(table)})
    ran = cli("footage", "retention")
    assert (ran.code, "no days for `routine`" in ran.err) == (2, True), ran.err


def test_the_built_in_table_is_printed_to_start_from_and_names_no_jurisdiction(
    cli: Cli, tmp_path: Path
) -> None:
    told = cli("footage", "retention", "--policy").out
    assert 'jurisdiction = "none named"' in told
    assert "Pa. Code" not in told
    table = tmp_path / "own.toml"
    table.write_text(told)
    mapped = CameraMapped(camera="CC-01-A", table="CC-01", kind="stationary", covers=["table"])
    line = encode(mapped, "/hollywood/surveillance/nvr", "m-1", "2020-01-01T00:01:00Z")
    assert cli("ingest", "-", stdin=line + b"\n").code == 0
    own = Cli(cli.environ | {"ROUND_LEDGER_RETENTION_FILE": str(table)})
    ran = own("footage", "retention", "--json")
    assert ran.code == 0, ran.err


@pytest.mark.long
def test_a_segment_nobody_has_is_past_its_keeping_too(vault: Vault) -> None:
    body = SegmentRecorded(
        camera="CC-01-other", path="x/1.webm", sha256="ab" * 32, start="2020-01-01T00:00:00Z",
        frames=10, duration_us=1_000_000,
    )  # fmt: skip
    line = encode(body, "/hollywood/surveillance/nvr", "s-1", "2020-01-01T00:01:00Z")
    assert vault.cli("ingest", "-", "--json", stdin=line + b"\n").code == 0
    [told] = vault.ok("expire", "--camera", "CC-01-other", "--by", "S-1")
    assert told["to"] == "2020-01-01T00:00:00.999999Z"
    assert vault.ok("expire", "--camera", "CC-01-other", "--by", "S-1") == []
