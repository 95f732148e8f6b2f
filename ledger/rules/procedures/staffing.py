"""Staff and cameras of a table while it is dealt: 465a.35(b) and 465a.9(c)(2).

Each round is judged. A shortage is found once until it ends. A table that reports no employees, or
no camera, is not judged by them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.facts import CameraMapped, CameraUnmapped, DealerAssigned, DealerRelieved, RoundStarted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ledger.rules.procedures.equipment import Judge

STATIONARY = "stationary"
ENDS = ("end_left", "end_right")


class Staff(NamedTuple):
    """The minimum staff at a table of a game."""

    section: str
    dealers: int  # whether one of them is the stickperson
    stickperson: bool = False


ONE_DEALER = Staff("465a.35(b)(1)", 1)
STAFF: dict[str, Staff] = {
    "baccarat": Staff("465a.35(b)(2)", 2),
    "craps": Staff("465a.35(b)(3)", 3, stickperson=True),
    "three_dice_football": Staff("465a.35(b)(3)", 3, stickperson=True),
}
"""Staff by game. Any other table has one dealer."""

BOXPERSON = ("craps",)


class Watched(NamedTuple):
    """The minimum of stationary cameras at a table of a game; `ends`: one on each end."""

    section: str
    cameras: int
    ends: bool


ONE_CAMERA = Watched("465a.9(c)(2)(i)", 1, ends=False)
BOTH_ENDS = Watched("465a.9(c)(2)(ii)", 2, ends=True)
WATCHED: dict[str, Watched | None] = {
    "craps": BOTH_ENDS,
    "three_dice_football": BOTH_ENDS,
    **dict.fromkeys(("baccarat", "roulette", "big_six_wheel")),  # the documents print no figure
}


def cameras_due(game: str) -> Watched | None:
    """The cameras due on a table of a game; None if the documents print no figure."""
    return WATCHED.get(game, ONE_CAMERA)


def watched(due: Watched, covers: Sequence[Collection[str]]) -> bool:
    """Whether stationary cameras with this coverage are as many as are due."""
    if not due.ends:
        return len(covers) >= due.cameras
    return len(covers) >= due.cameras and len(_ends(covers)) == len(ENDS)


def _ends(covers: Sequence[Collection[str]]) -> list[str]:
    return [end for end in ENDS if any(end in each for each in covers)]


def _assigned(j: Judge, body: DealerAssigned, _: object) -> None:
    staff = j.state.staff or {}
    j.state.staff = {**staff, body.employee: body.role}


def _relieved(j: Judge, body: DealerRelieved, _: object) -> None:
    staff = j.state.staff or {}
    j.state.staff = {who: role for who, role in staff.items() if who != body.employee}


def _mapped(j: Judge, body: CameraMapped, _: object) -> None:
    cameras = j.state.cameras or {}
    if body.kind == STATIONARY:
        cameras = {**cameras, body.camera: list(body.covers)}
    j.state.cameras = cameras


def _unmapped(j: Judge, body: CameraUnmapped, _: object) -> None:
    cameras = j.state.cameras or {}
    j.state.cameras = {name: covers for name, covers in cameras.items() if name != body.camera}


def _round(j: Judge, body: RoundStarted, _: object) -> None:
    """Judge the staff and the cameras of a round."""
    short = [*_people_short(j, body.game), *_cameras_short(j, body.game)]
    for code, section, says, expected, recorded in short:
        if says not in j.state.short:
            j.find(code, section, says, expected=expected, recorded=recorded)
    j.state.short = [says for _, _, says, _, _ in short]


Short = tuple[str, str, str, str, str]
"""Code, section, the shortage in words, the number due, the number there."""


def _people_short(j: Judge, game: str) -> list[Short]:
    if j.state.staff is None:
        return []
    roles = list(j.state.staff.values())
    due = STAFF.get(game, ONE_DEALER)
    found: list[Short] = []
    dealers = sum(role in ("dealer", "stickperson") for role in roles)
    if dealers < due.dealers:
        says = f"The round was dealt with {dealers} of {due.dealers} dealers at the table"
        found.append(("dealers_short", due.section, says, str(due.dealers), str(dealers)))
    elif due.stickperson and "stickperson" not in roles:
        says = "The round was dealt without a stickperson among the dealers"
        found.append(("dealers_short", due.section, says, "stickperson", "none"))
    if game in BOXPERSON and "boxperson" not in roles:
        says = "The round was dealt without a boxperson"
        found.append(("dealers_short", "465a.35(b)(4)", says, "boxperson", "none"))
    return found


def _cameras_short(j: Judge, game: str) -> list[Short]:
    cameras, due = j.state.cameras, cameras_due(game)
    if cameras is None or due is None:
        return []
    covers = list(cameras.values())
    if watched(due, covers):
        return []
    if not due.ends:
        says = "The round was dealt without a stationary camera on the table"
        return [("cameras_short", due.section, says, "1", "0")]
    ends = ", ".join(_ends(covers)) or "neither end"
    says = f"The round was dealt with {len(cameras)} stationary cameras, which cover {ends}"
    return [("cameras_short", due.section, says, "2, one an end", str(len(cameras)))]


CARE: dict[type, Callable[[Judge, Any, object], None]] = {
    DealerAssigned: _assigned,
    DealerRelieved: _relieved,
    CameraMapped: _mapped,
    CameraUnmapped: _unmapped,
    RoundStarted: _round,
}
