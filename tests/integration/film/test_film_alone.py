"""Who has a simulated table's film alone: what he can tell, and what the picture never says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import cv2
import pytest
from msgspec.structs import replace

from ledger.facts import FACTS, CardsDealt, CardsTurned, WagerPaid, indexes
from ledger.games import games
from ledger.simulate import FilmedWindow, Plan, Planted, happenings, plan_of
from ledger.simulate.cameras.cameras import camera_plan, cameras_of
from ledger.simulate.cameras.scenes import shots
from ledger.simulate.cameras.shot_list import ShotList
from ledger.simulate.floor_files import ROUND_US, rounds_seen
from ledger.values import format_time
from replay.footage.simulated.camera import draw
from tests.footage.film_reader import Read, pictures_of, read_round
from tests.suite.required import NO_TESSERACT

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from ledger.record.wire import Fact
    from ledger.simulate.device_emitter import Witnessed

GAME = "criss_cross_poker"
HANDS: dict[str, dict[str, tuple[int, ...]]] = {
    GAME: {"player": (2,), "community": (5,)},
    "three_card_poker": {"player": (3,), "dealer": (3,)},
    "baccarat": {"player_hand": (3, 2), "banker_hand": (3, 2)},
}
"""How many cards a holder may have, by game: as anyone knows who knows the game."""

ROUNDS = {GAME: 20, "three_card_poker": 15, "baccarat": 15}  # 50 in all
LAST_US = 32_000_000  # of a round: turned up and settled
RIGHT_MIN = 0.9
OCR_SURE = 50  # per cent


class Dealt(NamedTuple):
    """A table's rounds as they happened, and as its devices reported them."""

    plan: Plan
    seen: list[Witnessed]
    told: list[Fact]
    planted: list[Planted]

    @property
    def rounds(self) -> dict[str, FilmedWindow]:
        """When each round was played."""
        return rounds_seen(self.seen)


@cache
def dealt(minutes: int, lies: int = 0, game: str = GAME) -> Dealt:
    mistakes = {"payment_misread": lies} if lies else {}
    plan = plan_of(tables=1, minutes=minutes, seed=4, mistakes=mistakes, of=(game,))
    seen: dict[str, list[Witnessed]] = {plan.tables[0].table: []}
    told, planted = [], []
    for each, made in happenings(plan, seen):
        told.append(each.fact)
        planted += made
    return Dealt(plan, seen[plan.tables[0].table], told, planted)


def film(floor: Dealt, window: FilmedWindow, folder: Path, *, rate: int = 2) -> list[Path]:
    """The files of a round's last seconds."""
    table = floor.plan.tables[0]
    began_us = window.from_us + ROUND_US  # before it the chips of another round may lie there
    from_us = max(began_us, window.to_us - LAST_US)
    fixed = camera_plan(cameras_of(floor.plan, table)[0], from_us, window.to_us, at=table)
    fixed = replace(fixed, frames_per_second=rate, dropped_permille=0)
    drawn = draw(ShotList(fixed, shots(table, floor.seen, from_us, window.to_us)), folder)
    return [folder / each.fact.path for each in drawn]


def happened(floor: Dealt, name: str) -> Read:
    """The cards turned up and the sums paid in a round, as they truly were."""
    cards: dict[tuple[str, int | None], dict[int, str]] = {}
    paid: Counter[tuple[int, str]] = Counter()
    dealt_to: Counter[tuple[str, int | None]] = Counter()
    for each in floor.seen:
        body = each.body
        if not each.round or each.round.subject != name:
            continue
        if isinstance(body, CardsDealt):
            holder = (body.to, body.position)
            if body.face == "up":
                places = range(dealt_to[holder], dealt_to[holder] + len(body.cards))
                cards.setdefault(holder, {}).update(zip(places, body.cards, strict=True))
            dealt_to[holder] += len(body.cards)
        if isinstance(body, WagerPaid):
            paid[body.position, body.wager] += body.amount
        if isinstance(body, CardsTurned):
            cards.setdefault((body.to, body.position), {}).update(
                zip(indexes(body), body.cards, strict=True)
            )
    faces = {holder: tuple(up[at] for at in sorted(up)) for holder, up in cards.items()}
    return Read(faces, dict(paid))


def read(floor: Dealt, name: str, folder: Path) -> Read:
    paths = film(floor, floor.rounds[name], folder / name.replace("/", "-"))
    table = floor.plan.tables[0]
    return read_round(pictures_of(paths), table, HANDS[table.game])


def read_right(game: str, rounds: int, tmp_path: Path) -> list[str]:
    """The rounds of a game whose hands and payments can be read from the film alone."""
    floor = dealt(rounds * 2 + 5, game=game)
    names = list(floor.rounds)[:rounds]
    assert len(names) == rounds
    right = [name for name in names if read(floor, name, tmp_path) == happened(floor, name)]
    assert any(happened(floor, name).paid for name in right)
    wrong = sorted({*names} - {*right})
    sys.stdout.write(f"{game}: {len(right)} of {rounds} rounds read; not {wrong}\n")
    return right


@pytest.mark.long
@pytest.mark.parametrize("game", HANDS)
def test_who_has_the_film_alone_tells_hands_and_payments(game: str, tmp_path: Path) -> None:
    assert len(read_right(game, 3, tmp_path)) == 3


@pytest.mark.exhaustive
@pytest.mark.timeout(7200)
def test_who_has_the_film_alone_tells_nine_of_ten_rounds(tmp_path: Path) -> None:
    right = [name for game, rounds in ROUNDS.items() for name in read_right(game, rounds, tmp_path)]
    assert len(right) >= RIGHT_MIN * sum(ROUNDS.values())


@pytest.mark.long
def test_a_layout_that_lies_is_caught_by_eye(tmp_path: Path) -> None:
    floor = dealt(12, lies=1)
    [lie] = floor.planted
    assert lie.round
    spot = (lie.position or 0, lie.wager or "")
    [told] = [
        each.body.amount
        for each in floor.told
        if (each.source, each.id) == (lie.facts[0].source, lie.facts[0].id)
        and isinstance(each.body, WagerPaid)
    ]
    assert read(floor, lie.round, tmp_path).paid[spot] == told - lie.cents
    assert happened(floor, lie.round).paid[spot] != told


def ocr(picture: NDArray[np.uint8], path: Path) -> list[str]:
    """What tesseract reads in a picture with some confidence."""
    cv2.imwrite(str(path), cv2.resize(picture, None, fx=2, fy=2))
    said = subprocess.run(
        ["tesseract", path, "-", "--psm", "11", "tsv"], capture_output=True, text=True, check=True
    ).stdout
    rows = [row.split("\t") for row in said.splitlines()[1:]]
    return [
        row[11].strip().lower() for row in rows if row[11].strip() and float(row[10]) > OCR_SURE
    ]


def of_the_ledger(found: Iterable[str]) -> set[str]:
    """What a reader of the ledger's words would know: of facts, wagers, decisions, sums."""
    names = [*(wager.id for wager in games()[GAME].wagers), *FACTS]
    words = {word for name in names for word in re.split(r"[_.]", name) if len(word) > 2}
    words |= {"position", "lost", "fold", "win", "owed"}
    return {each for each in found if "$" in each or words & set(re.findall(r"[a-z]+", each))}


@pytest.mark.long
def test_ocr_finds_clock_and_camera_in_a_picture_and_nothing_of_the_ledger(
    tmp_path: Path,
) -> None:
    if not shutil.which("tesseract"):
        pytest.skip(f"{NO_TESSERACT}: install the package tesseract-ocr")
    floor = dealt(13)
    window = list(floor.rounds.values())[2]
    pictures = list(pictures_of(film(floor, window, tmp_path, rate=1)))[::6]
    found = Counter(each for picture in pictures for each in ocr(picture, tmp_path / "it.png"))
    assert found["cc-01-cam1"] > len(pictures) / 2, found
    assert found[format_time(window.to_us)[:10]] > len(pictures) / 2, found
    assert not of_the_ledger(found), found
    cv2.putText(pictures[0], "wager paid, position 4: $25", (420, 690), 0, 1, (255, 255, 255), 2)
    assert of_the_ledger(ocr(pictures[0], tmp_path / "it.png"))  # the control: a caption as before
