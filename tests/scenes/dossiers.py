"""A round with cameras, clocks, a Rules Submission and a dispute, chained as the record chains it.

No database: rows get the hashes that the record would give them. Footage is bytes that were
recorded, never decoded; frames are pictures made up.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ledger.adjudication.feed import adjudicate
from ledger.facts import (
    CameraMapped,
    ClockChecked,
    DisputeRaised,
    FootageExported,
    FootageLocked,
    SegmentRecorded,
    TipDropped,
)
from ledger.record.tape import GENESIS, Head, Received, TapeRow, chain_hash
from ledger.record.wire import encode, fact_of, parse_line
from ledger.rules.engine.ruling import Ruling
from ledger.simulate import deal, line, plan_of
from ledger.values import format_time, parse_subject
from replay.checker.reading import canonical
from replay.dossier import Evidence, EvidenceText, Filed, Making, Original, TapeRange
from replay.dossier.signing.keys import Signer
from replay.dossier.signing.sealing import contents_sha256, signature_json
from replay.dossier.writing.evidence import EvidenceClip
from replay.footage.decoding.decoder import FrameIndex
from replay.footage.library.files import FootageFiles, FrameFile, VerifiedFile
from replay.rounds.story import story

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from ledger.facts import Body

PLAN = plan_of(tables=1, minutes=40, seed=5, mistakes={"overpay": 1})
CAMERA = "CC-01-ovh"
SEGMENT = b"what a recorder wrote, in a format of its own " * 400
SHA256 = hashlib.sha256(SEGMENT).hexdigest()


def png(number: int) -> bytes:
    """A picture of one grey, another for each number."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + kind + data + check

    rows = b"".join(b"\0" + bytes([number % 256] * 32) for _ in range(18))
    head = (32).to_bytes(4, "big") + (18).to_bytes(4, "big") + bytes([8, 0, 0, 0, 0])
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def signer_of(seed: int) -> Signer:
    """A key that is the same each time, made for tests."""
    private = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return Signer(hashlib.sha256(public).hexdigest()[:16], public, private.sign)


HOUSE, OTHER = signer_of(1), signer_of(2)


class Chained(NamedTuple):
    """Rows as on a record, with what stands before each."""

    rows: list[TapeRow]
    previous: dict[tuple[str, int], bytes]
    heads: list[Head]


def chained(facts: Iterable[Received]) -> Chained:
    """Keep facts in this order, as the record does."""
    rows: list[TapeRow] = []
    previous: dict[tuple[str, int], bytes] = {}
    newest: dict[str, TapeRow] = {}
    seqs: dict[str, int] = defaultdict(int)
    for position, fact in enumerate(facts, 1):
        seqs[fact.tape] += 1
        at = (fact.tape, seqs[fact.tape])
        before = newest[fact.tape].hash if fact.tape in newest else GENESIS
        row = TapeRow(
            position, *at, fact.type, fact.source, fact.id, fact.time_us, fact.subject,
            fact.time_us + 2_000, fact.attributes, fact.data, GENESIS,
        )  # fmt: skip
        row = row._replace(hash=chain_hash(before, row))
        previous[at], newest[fact.tape] = before, row
        rows.append(row)
    heads = [Head(row.tape, row.table_seq, row.position, row.hash) for row in newest.values()]
    return Chained(rows, previous, sorted(heads))


@cache
def record() -> tuple[Chained, str]:
    """A small record, and the subject of the round with an overpayment."""
    facts, planted = deal(PLAN)
    subject = next(each.round for each in planted if each.mistake == "overpay") or ""
    dealt = [received(line(PLAN, fact)) for fact in facts]
    own = [fact for fact in dealt if fact.subject == subject]
    at_us, until_us = own[0].time_us, own[-1].time_us
    told = [
        (CameraMapped(camera=CAMERA, table="CC-01", kind="stationary", covers=["table"]), -50),
        (_reading(at_us - 40_000_000, 350), -40),
        (_reading(at_us - 20_000_000, 352), -20),
        (
            SegmentRecorded(
                camera=CAMERA,
                path="nvr-2/CC-01-ovh.mp4",
                sha256=SHA256,
                start=format_time(at_us - 10_000_000),
                frames=2,
                duration_us=until_us - at_us + 20_000_000,
            ),
            3_600,
        ),
        (
            DisputeRaised(
                dispute="D-17", round=subject, position=3, claim="I was paid short.", by="S-2001"
            ),
            3_700,
        ),
        (_handled(FootageLocked, at_us, until_us), 3_701),
        (_handled(FootageExported, at_us, until_us), 3_702),
    ]
    surveillance = [
        received(
            encode(body, "/hollywood/surveillance/nvr", f"s-{number}", at_us + after_s * 1_000_000)
        )
        for number, (body, after_s) in enumerate(told)
    ]
    tip = encode(TipDropped(amount=500), "/hollywood/CC-01/pit", "tip-1", own[5].time_us + 1)
    order = sorted([*dealt, *surveillance, received(tip)], key=lambda fact: fact.time_us)
    return chained(order), subject


def evidence(folder: Path) -> Evidence:
    """All of it; the segment and a clip lie in `folder`."""
    (folder / "nvr.mp4").write_bytes(SEGMENT)
    (folder / "CC-01-ovh-cut.mp4").write_bytes(SEGMENT[:900])
    kept, subject = record()
    rows = [row for row in kept.rows if row.subject == subject]
    surveillance = [row for row in kept.rows if row.tape == "hollywood/surveillance"]
    camera = [row for row in surveillance if not row.type.startswith(("dispute", "footage_exp"))]
    submissions = [row for row in kept.rows if row.type == "rules_submission_filed.v1"]
    submission = next(r for r in submissions if fact_of(r).body.game == "criss_cross_poker")  # type: ignore[attr-defined]
    ruled = adjudicate(fact_of(row) for row in [*submissions, *rows])
    ruling = next(each for each in ruled if isinstance(each, Ruling))
    round_ = parse_subject(subject, "hollywood")
    assert round_
    span_us = rows[-1].time_us - rows[0].time_us + 20_000_000
    index = FrameIndex(tuple(range(0, span_us, 100_000)), (0,))
    at_hand = FootageFiles({SHA256: VerifiedFile(folder / "nvr.mp4", index, None)}, frozenset())
    whole = story(round_, rows, ruling, [fact_of(row) for row in camera], at_hand)
    frames: dict[tuple[str, int], FrameFile | str] = {}
    for seen in whole.seen:
        for sight in seen.sights:
            if sight.segment and sight.frame is not None:
                shown = png(sight.frame)
                digest = hashlib.sha256(shown).hexdigest()
                path = folder / f"{sight.frame}.png"
                path.write_bytes(shown)
                frame = FrameFile(sight.frame, sight.pts_us or 0, digest, path)
                frames[sight.segment, sight.frame] = frame
    seqs = [row.table_seq for row in rows]
    between = [
        row
        for row in kept.rows
        if row.tape == rows[0].tape
        and min(seqs) <= row.table_seq <= max(seqs)
        and row.subject != subject
    ]
    return Evidence(
        stories=(whole,),
        frames=frames,
        camera_rows=camera,
        previous=kept.previous,
        heads=kept.heads,
        between=between,
        stretches=[TapeRange(rows[0].tape, min(seqs), max(seqs))],
        submissions=(submission,),
        dispute="D-17",
        case_rows=[row for row in surveillance if row.type.startswith(("dispute", "footage_lock"))],
        custody_rows=[row for row in surveillance if row.type.startswith("footage")],
        originals=[Original(CAMERA, SHA256, folder / "nvr.mp4", "nvr-2/CC-01-ovh.mp4")],
        clips=[
            EvidenceClip(CAMERA, folder / "CC-01-ovh-cut.mp4", [SHA256], "Cut without decoding.")
        ],
        coverage=EvidenceText(
            ["Camera CC-01-ovh saw every fact of the round."], [{"table": "CC-01"}]
        ),
        making=Making("S-2001", "2026-11-20T20:00:00.000000Z", 8, 12),
    )


def rounds_of(
    game: str,
    as_told: Callable[[bytes], bytes] = bytes,
    **of_plan: Any,  # noqa: ANN401 - of `plan_of`
) -> list[Evidence]:
    """Some rounds of a game with nothing around them, the one with most wagers first.

    `as_told`: the bytes of a fact, as its device sent it.
    """
    plan = plan_of(tables=1, minutes=20, seats=9, seed=3, of=(game,), **of_plan)
    kept = chained(received(as_told(line(plan, fact))) for fact in deal(plan)[0])
    filed = [row for row in kept.rows if row.type == "rules_submission_filed.v1"]
    found = []
    for subject in sorted({str(r.subject) for r in kept.rows if r.type == "round_started.v1"}):
        rows = [row for row in kept.rows if row.subject == subject]
        ruled = adjudicate(fact_of(row) for row in [*filed, *rows])
        ruling = next((each for each in ruled if isinstance(each, Ruling)), None)
        round_ = parse_subject(subject, "hollywood")
        assert round_
        told = story(round_, rows, ruling)
        stretches = []
        for tape in sorted({row.tape for row in rows}):
            seqs = [row.table_seq for row in rows if row.tape == tape]
            stretches.append(TapeRange(tape, min(seqs), max(seqs)))
        between = [
            row
            for row in kept.rows
            if row.subject != subject
            and any(s.tape == row.tape and s.first <= row.table_seq <= s.last for s in stretches)
        ]
        own = [row for row in filed if fact_of(row).body.game == told.game]  # type: ignore[attr-defined]
        whole = Evidence((told,), {}, [], kept.previous, kept.heads, between, (), stretches)
        found.append(whole._replace(submissions=(own[0] if own else None,)))
    return sorted(found, key=lambda each: -len(each.stories[0].lines))


def redone(folder: Path, by: Signer | None = None, **told: Any) -> None:  # noqa: ANN401 - of the manifest
    """List what is in a folder as its maker would, and sign the list again where `by` is given.

    `told` replaces what the manifest says.
    """
    manifest = json.loads((folder / "manifest.json").read_bytes())
    apart = ("manifest.json", "manifest.sig", "SHA256SUMS")
    names = {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }
    sums = {name: _summed(name, path) for name, path in sorted(names.items())}
    listed = [each for name, each in sums.items() if name not in apart]
    manifest["files"] = [
        {f: getattr(each, f) for f in ("path", "bytes", "sha256")} for each in listed
    ]
    manifest["contents_sha256"] = contents_sha256(listed)
    for each in manifest["footage"]:
        if each["path"] in sums:
            each["sha256"] = sums[each["path"]].sha256
    manifest |= told
    if by:
        manifest["signing_key"] = by.key_id
    octets = canonical(manifest) + b"\n"
    (folder / "manifest.json").write_bytes(octets)
    if by:
        (folder / "manifest.sig").write_bytes(signature_json(octets, by, "2026-11-20T20:00:00Z"))
    last = [_summed(name, folder / name) for name in apart[:2] if (folder / name).is_file()]
    every = sorted([*listed, *last], key=lambda each: each.path)
    (folder / "SHA256SUMS").write_text("".join(f"{e.sha256}  {e.path}\n" for e in every))


def _summed(name: str, path: Path) -> Filed:
    octets = path.read_bytes()
    return Filed(name, len(octets), hashlib.sha256(octets).hexdigest())


def received(octets: bytes) -> Received:
    """A fact of these bytes, judged as one that arrives is."""
    fact = parse_line(octets)
    assert isinstance(fact, Received), fact
    return fact


def _reading(at_us: int, ahead_ms: int) -> Body:
    return ClockChecked(
        camera=CAMERA,
        camera_time=format_time(at_us + ahead_ms * 1000),
        reference_time=format_time(at_us),
        reference="gps-1",
        uncertainty_ms=40,
    )


def _handled(what: type[Any], at_us: int, until_us: int) -> Body:
    more = {"dispute": "D-17"} if what is FootageLocked else {}
    made: Body = what(
        camera=CAMERA,
        from_=format_time(at_us),
        to=format_time(until_us),
        by="S-2001",
        because="D-17",
        **more,
    )
    return made
