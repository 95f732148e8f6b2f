"""A round as a folder to hand over: facts as received, proof, ruling, frames, and a report to open.

The same record gives the same folder to the byte, so nothing here asks a clock. It is written
beside its place and moved there whole: a folder half written is never found (ADR 0064).
"""

from __future__ import annotations

import hashlib
import shutil
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from msgspec import Struct
from rich.console import Console

from ledger.errors import Refused
from ledger.games import games
from ledger.values import format_time
from ledger.verify import heads_to_json
from ledger.wire import structured
from replay.drawing import WIDTH, layout, money, notes, seats, without_trailing_blanks
from replay.footage.decoder import Frame
from replay.story import flagged
from replay.telling import (
    ground,
    moment_json,
    moved_text,
    ruling_json,
    sight_text,
    signed,
    tell,
    wager_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.tape import Head, TapeRow
    from replay.owed import Line
    from replay.story import Story
    from replay.timeline import Sight

_TEMPLATES = Path(__file__).parent / "web" / "templates"


class Proof(Struct, frozen=True, kw_only=True):
    """Where one fact stands in the chain of its tape; hashes in hexadecimal."""

    source: str
    id: str
    tape: str
    table_seq: int
    position: int
    received_at_us: int  # microseconds since the epoch, the ledger's clock
    previous: str  # the hash of the row before it on its tape
    hash: str
    data_base64: str | None  # the octets of `data`, where facts.jsonl lays them on one line


class Filed(Struct, frozen=True):
    """One file of a dossier."""

    path: str
    bytes: int
    sha256: str


class Evidence(NamedTuple):
    """What goes into a dossier beside the story."""

    story: Story
    frames: Mapping[tuple[str, int], Frame | str]  # by segment and frame number
    camera_rows: Sequence[TapeRow]  # the facts of its cameras
    previous: Mapping[tuple[str, int], bytes]  # hash before a row, by tape and table_seq
    heads: Sequence[Head]  # of every tape when this was read


def write_dossier(evidence: Evidence, folder: Path) -> list[Filed]:
    """Write the folder; its files, in order of name. Raises `Refused` where it is there already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(
            "There is something in that place already",
            where=str(folder),
            hint="Name another folder with --out, or move this one away.",
        )
    beside = folder.with_name(folder.name + ".partial")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        filed = _fill(evidence, beside)
        if folder.is_dir():
            folder.rmdir()
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return filed


def picture_name(sight: Sight) -> str:
    """The file of the frame a camera has of a fact; one file a frame, however many facts it saw."""
    return f"frames/{sight.camera}-{(sight.segment or '')[:12]}-{sight.frame:06d}.png"


def pictures(
    story: Story, frames: Mapping[tuple[str, int], Frame | str]
) -> Iterator[tuple[str, Frame]]:
    """Every frame that was read, once, with the name of its file."""
    named: dict[str, Frame] = {}
    for seen in story.seen:
        for sight in seen.sights:
            frame = _frame(sight, frames)
            if isinstance(frame, Frame):
                named[picture_name(sight)] = frame
    yield from named.items()


def wanted(story: Story) -> set[tuple[str, int]]:
    """The frames that cameras have of a round: segment and frame number."""
    return {
        (sight.segment, sight.frame)
        for seen in story.seen
        for sight in seen.sights
        if sight.segment is not None and sight.frame is not None
    }


def plain(story: Story) -> str:
    """The replay as text, without colour or trailing blanks."""
    console = Console(width=WIDTH, no_color=True, force_terminal=False, highlight=False)
    with console.capture() as capture:
        for part in tell(story, hindsight=False):
            console.print(part)
    return without_trailing_blanks(capture.get())


def _fill(evidence: Evidence, folder: Path) -> list[Filed]:
    """Every file, then the manifest over them, then the sums over all."""
    story = evidence.story
    files: dict[str, bytes] = {
        "facts.jsonl": _lines(_on_one_line(row) for row in story.rows),
        "camera-facts.jsonl": _lines(_on_one_line(row) for row in evidence.camera_rows),
        "proof.jsonl": _lines(_json(each) for each in _proofs(evidence)),
        "heads.jsonl": "".join(f"{line}\n" for line in heads_to_json(evidence.heads)).encode(),
        "ruling.json": _json(ruling_json(story)) + b"\n",
        "replay.jsonl": _lines(
            _json(moment_json(story, at)) for at in range(1, len(story.moments) + 1)
        ),
        "replay.txt": plain(story).encode(),
        "report.html": _report(evidence).encode(),
        "README.txt": _readme(story).encode(),
    }
    files |= {name: frame.png for name, frame in pictures(story, evidence.frames)}
    filed = [_filed(name, octets) for name, octets in sorted(files.items())]
    manifest = {"round": str(story.round), "facts": len(story.rows), "files": filed}
    files["manifest.json"] = msgspec.json.format(_json(manifest), indent=1) + b"\n"
    sums = [_filed(name, octets) for name, octets in sorted(files.items())]
    files["SHA256SUMS"] = "".join(f"{each.sha256}  {each.path}\n" for each in sums).encode()
    for name, octets in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(octets)
    return [_filed(name, octets) for name, octets in sorted(files.items())]


def _lines(octets: Iterable[bytes]) -> bytes:
    return b"".join(each + b"\n" for each in octets)


def _json(each: object) -> bytes:
    return msgspec.json.encode(each)


def _filed(name: str, octets: bytes) -> Filed:
    return Filed(name, len(octets), hashlib.sha256(octets).hexdigest())


def _proofs(evidence: Evidence) -> Iterator[Proof]:
    for row in sorted(evidence.story.rows):
        yield Proof(
            source=row.source,
            id=row.id,
            tape=row.tape,
            table_seq=row.table_seq,
            position=row.position,
            received_at_us=row.received_at_us,
            previous=evidence.previous[row.tape, row.table_seq].hex(),
            hash=row.hash.hex(),
            data_base64=b64encode(row.data).decode() if _is_broken(row.data) else None,
        )


def _on_one_line(row: TapeRow) -> bytes:
    """The fact as a line of a feed: what breaks lines in JSON stands between its values only."""
    return structured(row._replace(data=row.data.translate(_BLANKS)))


def _is_broken(data: bytes) -> bool:
    return b"\n" in data or b"\r" in data


_BLANKS = bytes.maketrans(b"\r\n", b"  ")


def _frame(sight: Sight, frames: Mapping[tuple[str, int], Frame | str]) -> Frame | str | None:
    if sight.segment is None or sight.frame is None:
        return None
    return frames.get((sight.segment, sight.frame))


def _report(evidence: Evidence) -> str:
    """The report to open: one file that needs no other."""
    story = evidence.story
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    game = games().get(story.game or "")
    return environment.get_template("report.html").render(
        story=story,
        title=game.title if game else story.game or "A game not on record",
        lines=[_line(line) for line in story.lines],
        moments=[_moment(evidence, at) for at in range(len(story.moments))],
        heads=evidence.heads,
        proofs=list(_proofs(evidence)),
    )


def _line(line: Line) -> dict[str, object]:
    """One wager as the report prints it."""
    return {
        "position": line.position,
        "wager": wager_text(line),
        "stake": "n/a" if line.stake is None else money(line.stake),
        "owed": signed(line.owed),
        "ground": ground(line),
        "reading": f"{line.reading} = {line.reading_value}" if line.reading else "",
        "moved": moved_text(line),
        "difference": "n/a" if line.difference is None else signed(line.difference),
        "differs": bool(line.difference),
    }


def _moment(evidence: Evidence, at: int) -> dict[str, object]:
    """One fact as the report prints it: words, table, and what each camera has of it."""
    story = evidence.story
    moment, seen = story.moments[at], story.seen[at]
    return {
        "number": moment.number,
        "time": story.times[at],
        "plus_minus_ms": -(-seen.plus_minus_us // 1000),
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
        "flagged": (moment.source, moment.id) in flagged(story),
        "sights": [_sight(sight, evidence.frames) for sight in seen.sights],
    }


def _sight(sight: Sight, frames: Mapping[tuple[str, int], Frame | str]) -> dict[str, object]:
    """What one camera has of a fact, its picture within the page."""
    frame = _frame(sight, frames)
    png = frame.png if isinstance(frame, Frame) else None
    return {
        "text": sight_text(sight),
        "problem": frame if isinstance(frame, str) else None,
        "name": picture_name(sight) if png else None,
        "picture": b64encode(png).decode() if png else None,
        "sha256": frame.sha256 if isinstance(frame, Frame) else None,
        "camera": sight.camera,
        "camera_time": format_time(sight.camera_time_us) if sight.camera_time_us else None,
    }


def _readme(story: Story) -> str:
    """What a reader finds here, and how to check it without this program."""
    return f"""Round {story.round}

Open report.html in any browser; it needs no network and prints.

report.html         what was paid beside what was owed, and every fact with table and cameras
replay.txt          the same replay as text
ruling.json         settlements and findings with their sections, and the money beside them
replay.jsonl        one object a fact: the table after it, and what each camera has of it
facts.jsonl         the {len(story.rows)} facts of the round, one a line, `data` as received
camera-facts.jsonl  the facts of its cameras: clocks, segments, locks
proof.jsonl         where each fact stands in the hash chain of its tape; `data` of several lines,
                    which facts.jsonl lays on one, in the octets received
heads.jsonl         the newest row of every tape when this was read
frames/             the frames named in the report, as PNG
manifest.json       size and SHA-256 of each file above
SHA256SUMS          the same sums, and the manifest's

To check that no file was changed:  sha256sum -c SHA256SUMS   (macOS: shasum -a 256 -c SHA256SUMS)
To check the facts against the record they came from:  round-ledger verify --head heads.jsonl

What this cannot show: that devices told the truth, or that the record was honest before its heads
were first kept elsewhere. A camera's time is known within its plus-minus, never better.
"""
