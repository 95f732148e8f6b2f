"""The HTML report: one file that needs no other file and no network."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from PIL import Image

from ledger.games import games
from ledger.record.wire import fact_of
from ledger.values import dollars, quantity
from replay.dossier.writing.footage import clip_says, picture_name, still_name
from replay.dossier.writing.previews import preview
from replay.dossier.writing.proof import proofs
from replay.dossier.writing.tables import clock_table, clock_words, custody_table
from replay.footage.library.files import FrameFile
from replay.review.shapes import shapes_svg
from replay.rounds.drawing import layout, notes, seats, without_trailing_blanks
from replay.rounds.sentences import in_words, wager_namer
from replay.rounds.story import facts_in_findings, ruled_by
from replay.rounds.story_text import moved_text, settlement_reason, sight_text, signed, wager_text
from replay.text import times
from replay.text.money import money

if TYPE_CHECKING:
    from collections.abc import Iterator

    from replay.cameras.timeline import FrameLookup
    from replay.dossier.writing.evidence import Evidence, EvidenceStill
    from replay.rounds.owed import OwedLine
    from replay.rounds.story import Story

_TEMPLATES = Path(__file__).parents[2] / "web" / "templates"


def title_of(story: Story) -> str:
    """The game as people call it."""
    game = games().get(story.game or "")
    return game.title if game else story.game or "A game not on record"


def heading(evidence: Evidence) -> str:
    """The first line of report and papers."""
    window = evidence.window
    if window:
        return f"Table {window.table}, preserved window"
    (story,) = evidence.stories
    return f"{title_of(story)}, table {story.round.table}, round {story.round.number}"


def told_first(evidence: Evidence) -> list[str]:
    """The lines below the heading: property, time, number of facts, ruling."""
    window = evidence.window
    if window:
        span = f"{evidence.at(window.from_us)} to {evidence.at(window.to_us)}"
        count, rounds = len(evidence.rows), len(evidence.stories)
        return [
            f"{window.property}, window {window.name}: {span}.",
            f"{quantity(count, 'fact')} of the table; {quantity(rounds, 'round')}.",
        ]
    (story,) = evidence.stories
    span = f" from {story.times[0]} to {story.times[-1]}" if story.times else ""
    facts = f"{quantity(len(story.moments), 'fact')}{evidence.local(span)}."
    return [
        f"{story.round.property}, gaming day {story.round.gaming_day}; {facts}",
        *ruled(story),
    ]


def ruled(story: Story) -> list[str]:
    """The chapter and status of a round's ruling, if it has one."""
    return [ruled_by(story.ruling)] if story.ruling else []


def report_html(evidence: Evidence, contents: str, key_id: str | None) -> Iterator[str]:
    """The report in pieces, because with its pictures it is large.

    contents: the checksum over the dossier's files; key_id: the signing key, or None.
    """
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").generate(
        about=evidence.about,
        heading=heading(evidence),
        told_first=told_first(evidence),
        window=evidence.window,
        rounds=[_round(evidence, story) for story in evidence.stories],
        others=others_told(evidence),
        heads=evidence.heads,
        proofs=[each for each in proofs(evidence) if each.source],
        contents=contents,
        key_id=key_id,
        making=evidence.making,
        dispute=evidence.dispute,
        case=case_told(evidence),
        clocks=list(map(evidence.local, clock_words(evidence))),
        readings=clock_table(evidence),
        custody=custody_table(evidence),
        coverage=list(map(evidence.local, evidence.coverage.words)),
        clock=evidence.clock,
        local=evidence.local,
        originals=evidence.originals,
        marks=marks_told(evidence),
        stills=[_still(each) for each in evidence.stills],
        clips=[(each, evidence.local(clip_says(each))) for each in evidence.clips],
    )


def _round(evidence: Evidence, story: Story) -> dict[str, object]:
    """One round as the report prints it."""
    return {
        "story": story,
        "title": title_of(story),
        "ruled": ruled(story),
        "lines": [line_told(line) for line in story.lines],
        "moments": (_moment(evidence, story, at) for at in range(len(story.moments))),
    }


def others_told(evidence: Evidence) -> list[tuple[str, str, str]]:
    """The facts of a window that belong to none of its rounds: time, source, sentence."""
    name = wager_namer(next((story.game for story in evidence.stories), None))
    rows = sorted(evidence.window_rows, key=lambda row: (row.time_us, row.position))
    return [
        (evidence.at(row.time_us), row.source, in_words(fact_of(row).body, name)) for row in rows
    ]


def line_told(line: OwedLine) -> dict[str, object]:
    """One wager as the report prints it."""
    return {
        "position": line.position,
        "wager": wager_text(line),
        "stake": "n/a" if line.stake is None else money(line.stake),
        "owed": signed(line.owed),
        "ground": settlement_reason(line),
        "reading": f"{line.reading} = {line.reading_value}" if line.reading else "",
        "moved": moved_text(line),
        "difference": "n/a" if line.difference is None else signed(line.difference),
        "differs": bool(line.difference),
    }


def case_told(evidence: Evidence) -> list[tuple[str, str]]:
    """The dispute's own facts in sentences, each with its time, by time."""
    name = wager_namer(next((story.game for story in evidence.stories), None))
    rows = sorted(evidence.case_rows, key=lambda row: (row.time_us, row.position))
    return [(evidence.at(row.time_us), in_words(fact_of(row).body, name)) for row in rows]


def marks_told(evidence: Evidence) -> list[tuple[str, str]]:
    """The facts of bookmarks, stills and shapes in sentences, each with its time, by time."""
    name = wager_namer(None)
    rows = sorted(evidence.mark_rows, key=lambda row: (row.time_us, row.position))
    return [(evidence.at(row.time_us), in_words(fact_of(row).body, name)) for row in rows]


def _still(still: EvidenceStill) -> dict[str, object]:
    """One still as the report prints it: its picture, and the shapes above it."""
    shown = preview(still.path)
    with Image.open(still.path) as picture:
        width, height = picture.size
    return {
        "name": still_name(still),
        "camera": still.body.camera,
        "says": still.says,
        "sha256": still.body.sha256,
        "segment": still.body.segment,
        "media": shown.media,
        "picture": b64encode(shown.octets).decode(),
        "smaller": shown.smaller,
        "shapes": Markup(shapes_svg(still.shapes, width, height))  # noqa: S704 - escaped there
        if still.shapes
        else "",
    }


def at_stake(story: Story) -> str:
    """The total difference as a sentence."""
    open_ = [line for line in story.lines if line.difference is None]
    wrong = [line.difference for line in story.lines if line.difference]
    if open_:
        return "The record ends too early to compare every wager."
    if not wrong:
        return "Every wager was paid, collected or returned as the sections require."
    over = sum(cents for cents in wrong if cents > 0)
    under = -sum(cents for cents in wrong if cents < 0)
    parts = [f"{dollars(over)} too much"] * bool(over) + [f"{dollars(under)} too little"] * bool(
        under
    )
    return f"Patrons received {' and '.join(parts)}."


def _moment(evidence: Evidence, story: Story, at: int) -> dict[str, object]:
    """One fact as the report prints it: sentence, table, and the pictures of each camera."""
    moment, seen = story.moments[at], story.seen[at]
    return {
        "number": moment.number,
        "time": times.as_recorded(story.times[at], evidence.zone),
        "plus_minus_ms": times.whole_ms(seen.plus_minus_us),
        "device": moment.source,
        "says": moment.says,
        "phase": moment.phase,
        "corrected": story.corrected.get((moment.source, moment.id)),
        "layout": without_trailing_blanks(layout(moment, story.game).plain),
        "seats": [
            (seat.position, cards.plain, wagers.plain)
            for seat, cards, wagers in seats(moment, story.game)
        ],
        "position": moment.position,
        "notes": [note for note in notes(moment) if note],
        "flagged": (moment.source, moment.id) in facts_in_findings(story),
        "sights": [_sight(sight, evidence) for sight in seen.sights],
    }


def _sight(sight: FrameLookup, evidence: Evidence) -> dict[str, object]:
    """One camera's picture of a fact, embedded in the page, or why there is none."""
    found = None
    if sight.segment is not None and sight.frame is not None:
        found = evidence.frames.get((sight.segment, sight.frame))
    shown = preview(found.path) if isinstance(found, FrameFile) else None
    name = picture_name(sight) if shown else None
    return {
        "text": sight_text(sight, evidence.zone),
        "problem": found if isinstance(found, str) else None,
        "name": name,
        "media": shown.media if shown else None,
        "picture": b64encode(shown.octets).decode() if shown else None,
        "smaller": shown is not None and shown.smaller,
        "sha256": found.sha256 if isinstance(found, FrameFile) else None,
        "camera": sight.camera,
        "camera_time": evidence.at(sight.camera_time_us) if sight.camera_time_us else None,
    }
