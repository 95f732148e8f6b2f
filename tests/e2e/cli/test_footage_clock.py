"""`footage calibrate`, `clock` and `health`, run as a user runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np
import pytest

from infra.postgres.server.embedded import embedded
from ledger.facts import CameraMapped, CardsDealt, RoundStarted, WagerPlaced
from ledger.record import wire
from ledger.values import format_time
from tests.fixtures.cli import Cli, environ, feed
from tests.footage.video_kinds import KINDS, picture, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

S, MS = 1_000_000, 1000
START_MS = 1_795_200_000_000  # 2026-11-20T18:40:00Z, by the reference
AHEAD_MS = 2_412  # of the camera's clock
KIND = KINDS["gop60"]._replace(options=KINDS["gop60"].options | {"g": "30", "crf": "28"})
CODES = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_1000)


class Seen(NamedTuple):
    cli: Cli
    folder: Path


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    top = tmp_path_factory.mktemp("seen")
    with embedded(top / "home"):
        yield Seen(Cli(environ(top / "home")), top)


def tablet(code: NDArray[np.uint8], number: int) -> NDArray[np.uint8]:
    """A table with a tablet on it that shows a code."""
    shown = picture(number, 0)
    shown[-40:] = 90
    height, width = code.shape[:2]
    shown[20 : 20 + height + 32, 40 : 40 + width + 32] = 255
    shown[36 : 36 + height, 56 : 56 + width] = code[:, :, None]
    return shown


def qr(text: str) -> NDArray[np.uint8]:
    code = cv2.QRCodeEncoder.create().encode(text)
    return cv2.resize(code, None, fx=4, fy=4, interpolation=cv2.INTER_NEAREST).astype(np.uint8)


def markers(time_ms: int) -> NDArray[np.uint8]:
    left, right = divmod(time_ms // 100 % 864_000, 1000)
    pair = np.full((64, 160), 255, np.uint8)
    pair[:, :64] = cv2.aruco.generateImageMarker(CODES, left, 64)
    pair[:, 96:] = cv2.aruco.generateImageMarker(CODES, right, 64)
    return pair


def filmed(seen: Seen, camera: str, codes: list[NDArray[np.uint8]], after_s: int = 0) -> None:
    """A segment of 3 s whose start is the camera's own clock, in its name to the millisecond."""
    start = format_time((START_MS + AHEAD_MS + after_s * 1000) * MS)
    name = start[:23].replace("-", "").replace(":", "") + "Z.mp4"
    folder = seen.folder / f"{camera}-{after_s}"
    folder.mkdir()
    write(folder / name, KIND, 90, pictures=[tablet(each, n) for n, each in enumerate(codes)])
    quiet = ("--property", "hollywood", "--no-calibrate")
    done = seen.cli("footage", "add", folder, "--camera", camera, *quiet)
    assert done.code == 0, done.err
    assert "is 2.4" not in done.err, "a clock was read that was not to be read"


def shown_ms(number: int, after_s: int = 0) -> int:
    """What the tablet shows as a frame is taken: drawn again every 50 ms."""
    return START_MS + after_s * 1000 + number * 1000 // 30 // 50 * 50


@pytest.mark.long
@pytest.mark.parametrize("kind", ["qr", "aruco"])
def test_a_clock_held_before_the_camera_tells_how_far_its_own_is_off(seen: Seen, kind: str) -> None:
    camera = f"CAM-{kind}"
    for after_s in (0, 1200):
        times = [shown_ms(number, after_s) for number in range(90)]
        codes = [qr(f"T3 {t}") if kind == "qr" else markers(t) for t in times]
        filmed(seen, camera, codes, after_s)
    done = seen.cli(
        "footage", "calibrate", "--camera", camera, "--reference", "tablet-3", "--every", "0",
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert [each["verdict"] for each in done.json] == ["appended"] * 2
    for each in done.json:
        assert each["readings"] == 3
        off_us = each["offset_us"] - AHEAD_MS * MS
        assert abs(off_us) <= each["uncertainty_ms"] * MS <= 220_000
    again = seen.cli(
        "footage", "calibrate", "--camera", camera, "--reference", "tablet-3", "--every", "0",
        "--json",
    )  # fmt: skip
    assert [each["verdict"] for each in again.json] == ["duplicate"] * 2
    known = seen.cli("footage", "clock", "--camera", camera, "--json").json
    assert [each["epoch"] for each in known] == [0, 0]
    assert abs(known[0]["drift_ppm"]) < 200
    at = format_time((START_MS + 1000) * MS)
    frame = seen.cli(
        "footage", "frame", "--camera", camera, "--at", at, "--out", seen.folder, "--json"
    )
    (sight,) = frame.json
    assert sight["clock"] == "checked"
    assert abs(sight["pts_us"] - S) <= sight["plus_minus_us"] + 33_334


@pytest.mark.long
def test_a_clock_in_the_picture_is_read_as_footage_is_added_and_once(seen: Seen) -> None:
    running = [qr(f"T4 {shown_ms(number)}") for number in range(90)]  # no other camera's bytes
    filmed(seen, "CAM-a", running)
    adds = ("footage", "add", seen.folder / "CAM-a-0", "--camera", "CAM-a", "--json")
    done = seen.cli(*adds, "--reference", "tablet-3")
    assert done.code == 0, done.err
    _, check, _ = done.json
    assert (check["verdict"], check["reference"]) == ("appended", "tablet-3")
    off_us = check["offset_us"] - AHEAD_MS * MS
    assert abs(off_us) <= check["uncertainty_ms"] * MS <= 220_000
    assert len(seen.cli(*adds).json) == 2, "it was put on record twice"
    (known,) = seen.cli("footage", "clock", "--camera", "CAM-a", "--json").json
    assert known["offset_us"] == check["offset_us"]


@pytest.mark.long
def test_a_printed_code_is_no_clock_and_a_camera_without_one_is_not_checked(seen: Seen) -> None:
    filmed(seen, "CAM-p", [qr(f"T3 {shown_ms(0)}")] * 90)
    filmed(seen, "CAM-n", [np.full((100, 100), 255, np.uint8)] * 90)
    for camera in ("CAM-p", "CAM-n"):
        adds = ("footage", "add", seen.folder / f"{camera}-0", "--camera", camera, "--json")
        assert [each.get("verdict") for each in seen.cli(*adds).json] == ["duplicate", None]
        none = seen.cli("footage", "clock", "--camera", camera)
        assert (none.code, "never checked" in none.err) == (2, True)


@pytest.mark.long
def test_the_strip_is_not_taken_for_a_reference_unless_that_is_asked_for(seen: Seen) -> None:
    folder = seen.folder / "strip"
    folder.mkdir()
    write(folder / "20261120T184000.500Z.mp4", KIND, 60, start_ms=START_MS)
    added = seen.cli("footage", "add", folder, "--camera", "CAM-s", "--property", "hollywood")
    assert added.code == 0, added.err
    none = seen.cli("footage", "calibrate", "--camera", "CAM-s", "--reference", "strip")
    assert none.code == 2
    assert "Hold a code before the camera" in none.err
    asked = seen.cli(
        "footage", "calibrate", "--camera", "CAM-s", "--reference", "strip", "--code", "strip",
        "--json",
    )  # fmt: skip
    (told,) = asked.json
    assert abs(told["offset_us"] - 500_000) <= 1000 + told["uncertainty_ms"] * MS
    assert (
        seen.cli(
            "footage", "calibrate", "--camera", "CAM-s", "--reference", "x", "--code", "z"
        ).code
        == 2
    )


@pytest.mark.long
def test_a_reading_by_hand_is_put_on_record_and_a_step_shows_as_two_epochs(seen: Seen) -> None:
    args = (
        "--camera",
        "CAM-h",
        "--property",
        "hollywood",
        "--reference",
        "NTP",
        "--uncertainty-ms",
        "500",
    )
    for camera_time, reference_time in (
        ("2026-11-20T18:00:03Z", "2026-11-20T18:00:00Z"),
        ("2026-11-20T19:00:03.1Z", "2026-11-20T19:00:00Z"),
        ("2026-11-20T18:50:00Z", "2026-11-20T20:00:00Z"),
    ):
        done = seen.cli(
            "footage", "clock", *args, "--camera-time", camera_time,
            "--reference-time", reference_time,
        )  # fmt: skip
        assert done.code == 0, done.err
        assert "appended" in done.err
    known = seen.cli("footage", "clock", "--camera", "CAM-h", "--json").json
    assert [each["epoch"] for each in known] == [0, 0, 1]
    assert known[0]["drift_ppm"] == pytest.approx(27.8, abs=0.1)
    half = seen.cli("footage", "clock", "--camera", "CAM-h", "--reference", "NTP")
    assert half.code == 2
    assert "Give all four" in half.err


@pytest.mark.long
def test_a_camera_that_froze_during_play_is_found_and_one_at_a_quiet_table_is_not(
    seen: Seen,
) -> None:
    stuck = picture(7, 0)
    for name in ("BUSY", "QUIET"):
        folder = seen.folder / name
        folder.mkdir()
        write(folder / "20261120T184000.000Z.mp4", KIND, 240 + len(name), pictures=[stuck])
        done = seen.cli("footage", "add", folder, "--camera", name, "--property", "hollywood")
        assert done.code == 0, done.err
    told = []
    for number, (table, camera) in enumerate((("CC-30", "BUSY"), ("CC-31", "QUIET"))):
        mapped = CameraMapped(camera=camera, table=table, kind="stationary", covers=["table"])
        told.append(
            wire.encode(mapped, "/hollywood/surveillance/nvr", f"m{number}", (START_MS - 9000) * MS)
        )
    bodies = [
        RoundStarted(game="criss_cross_poker"),
        WagerPlaced(position=1, wager="ante_across", amount=500),
        CardsDealt(to="player", position=1, cards=["As", "Kd"], face="down"),
        WagerPlaced(position=2, wager="ante_across", amount=500),
    ]
    for number, body in enumerate(bodies):
        at = (START_MS + 2000 + number * 1000) * MS
        told.append(
            wire.encode(body, "/hollywood/CC-30/pad", f"f{number}", at, "CC-30/2026-11-20/1")
        )
    assert seen.cli("ingest", feed(seen.folder / "play.jsonl", told)).code == 0
    found = seen.cli("footage", "health", "--camera", "BUSY", "--every", "0.5", "--json")
    assert (found.code, [each["fault"] for each in found.json]) == (1, ["frozen"])
    assert "3 facts" in found.json[0]["says"]
    quiet = seen.cli("footage", "health", "--camera", "QUIET", "--every", "0.5", "--json")
    assert (quiet.code, quiet.json) == (0, [])
    stated = seen.cli("footage", "coverage", "CC-30/2026-11-20/1", "--json")
    assert stated.code == 0, stated.err
    (round_,) = stated.json[0]["stretches"]
    (camera,) = round_["cameras"]
    assert {each["state"] for each in camera["pieces"]} == {"recorded"}
    assert [each["fault"] for each in camera["findings"]] == ["frozen"]
    assert (camera["segments"], camera["pictured"]) == (1, 1)
    told_of = seen.cli("footage", "coverage", "CC-30/2026-11-20/1")
    assert "frozen" in told_of.out
    assert "Pictures were checked of 1 of 1 segment: 1 finding." in told_of.err
