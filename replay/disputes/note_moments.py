"""Moments as they are typed, for a note to point at: facts by number, cameras by their clock."""

import re
from collections.abc import Sequence

from infra.postgres.connection import Database
from ledger.errors import NotFound, Usage
from ledger.facts import Attached, FactRef
from ledger.values import format_time, parse_time
from replay.disputes.dispute import Dispute
from replay.rounds.reading import load_round

_FACT = re.compile(r"(?:(?P<round>[^#@]+)#)?(?P<number>[1-9][0-9]{0,5})", re.ASCII)
_INSTANT = re.compile(r"(?P<camera>.{0,128})@(?P<time>[^@]+)")


def moments_of(base: Database, case: Dispute, texts: Sequence[str]) -> list[Attached]:
    """Moments from `12`, `ROUND#12`, `@TIME` or `CAMERA@TIME`. Raises `Usage`, `NotFound`.

    A fact's number is the one it has now; what is kept is its source and id, which stay.
    """
    return [_moment(base, case, text) for text in texts]


def _moment(base: Database, case: Dispute, text: str) -> Attached:
    if fact := _FACT.fullmatch(text):
        return _fact(base, case, fact["round"], int(fact["number"]))
    instant = _INSTANT.fullmatch(text)
    time_us = parse_time(instant["time"]) if instant else None
    if instant is None or time_us is None:
        raise Usage(
            f"`{text}` is no moment",
            where="--moment",
            hint="Give 12, CC-07/2026-11-20/230#4 or CC-07-1@2026-11-20T19:04:11-05:00.",
        )
    if not instant["camera"]:
        return Attached(reference_time=format_time(time_us))
    return Attached(camera=instant["camera"], camera_time=format_time(time_us))


def _fact(base: Database, case: Dispute, name: str | None, number: int) -> Attached:
    """The `number`-th fact of a round, as a replay counts them."""
    disputed = case.claim.round if case.claim else None
    if name is None and disputed is None:
        raise NotFound(
            "The dispute names no round",
            where=f"dispute {case.dispute}",
            hint="Name one: CC-07/2026-11-20/230#4.",
        )
    story = load_round(base, name or str(disputed), None).story
    if number > len(story.moments):
        raise Usage(
            f"Round {story.round.subject} has {len(story.moments)} facts",
            where=f"--moment {number}",
            hint="`round-ledger replay` numbers them.",
        )
    moment = story.moments[number - 1]
    return Attached(round=str(story.round), fact=FactRef(moment.source, moment.id))
