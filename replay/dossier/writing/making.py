"""Makes a dossier: every file, the manifest over them, the signature over the manifest.

The same record gives the same files, byte for byte, so this module reads no clock. A dossier is
written beside its target and then moved there, so that none is ever half written (ADR 0064).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from rich.console import Console

from ledger.record.verify import heads_to_json
from ledger.values import format_time
from ledger.witnessed_log.checkpoints import proof_text
from replay.dossier.signing.sealing import (
    Filed,
    contents_sha256,
    manifest_json,
    signature_json,
)
from replay.dossier.writing.evidence import Evidence, SealedFact, rows_by_file
from replay.dossier.writing.footage import files_of, footage_listed, plain_name
from replay.dossier.writing.package import (
    beside,
    refuse_what_is_there,
    summed,
    write_folder,
    write_zip,
)
from replay.dossier.writing.paper import Seal, report_pdf, ruling_pdf
from replay.dossier.writing.proof import on_one_line, proofs
from replay.dossier.writing.readme import readme
from replay.dossier.writing.report import report_html
from replay.dossier.writing.tables import (
    CLOCK_COLUMNS,
    CUSTODY_COLUMNS,
    clock_table,
    clock_words,
    csv_of,
    custody_table,
)
from replay.dossier.writing.verify_py import verify_py
from replay.rounds.drawing import WIDTH, without_trailing_blanks
from replay.rounds.story_text import moment_json, ruling_json, tell

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo
    from pathlib import Path

    from ledger.record.tape import TapeRow
    from replay.dossier.signing.keys import Signer
    from replay.rounds.story import Story


def write_dossier(
    evidence: Evidence, out: Path, *, signer: Signer | None = None, zipped: bool = False
) -> list[Filed]:
    """Write a folder or one zip; its files, by name.

    Raises `Refused` if the target exists or footage changed meanwhile.
    """
    refuse_what_is_there(out)
    with beside(out) as folder:
        files, filed = _fill(evidence, signer, folder)
        (write_zip if zipped else write_folder)(files, filed, out)
    return [filed[name] for name in sorted(filed)]


def plain(story: Story, zone: tzinfo) -> str:
    """The replay as text, without colour or trailing blanks."""
    console = Console(width=WIDTH, no_color=True, force_terminal=False, highlight=False)
    with console.capture() as capture:
        for part in tell(story, zone, hindsight=False):
            console.print(part)
    return without_trailing_blanks(capture.get())


def _fill(
    evidence: Evidence, signer: Signer | None, folder: Path
) -> tuple[dict[str, bytes | Path], dict[str, Filed]]:
    """All files, the pages that print their checksum, the manifest, and its signature.

    folder: a temporary place of the report.
    """
    key_id = signer.key_id if signer else None
    files = _contents(evidence, key_id)
    filed = {name: summed(name, content) for name, content in files.items()}
    contents = contents_sha256(filed.values())
    seal = Seal(contents, key_id)
    report = folder / "report.html"
    with report.open("wb") as file:
        file.writelines(piece.encode() for piece in report_html(evidence, contents, key_id))
    pages: dict[str, bytes | Path] = {
        "report.html": report,
        "report.pdf": report_pdf(evidence, seal),
        "ruling.pdf": ruling_pdf(evidence, seal),
    }
    files |= pages
    filed |= {name: summed(name, content) for name, content in pages.items()}
    manifest = manifest_json(_told(evidence, filed, contents, key_id), filed.values())
    last: dict[str, bytes] = {"manifest.json": manifest}
    if signer:
        signed_at = evidence.making.at if evidence.making else "not recorded"
        last["manifest.sig"] = signature_json(manifest, signer, signed_at)
    filed |= {name: summed(name, content) for name, content in last.items()}
    sums = "".join(f"{filed[name].sha256}  {name}\n" for name in sorted(filed)).encode()
    last["SHA256SUMS"] = sums
    filed["SHA256SUMS"] = summed("SHA256SUMS", sums)
    files |= last
    return files, filed


def _contents(evidence: Evidence, key_id: str | None) -> dict[str, bytes | Path]:
    """All files except the printed pages, the manifest and the checksums."""
    shown = rows_by_file(evidence)
    files: dict[str, bytes | Path] = {
        name: _lines(map(on_one_line, rows))
        for name, rows in shown.items()
        if rows or name in ("facts.jsonl", "camera-facts.jsonl")
    }
    files |= {
        "proof.jsonl": _lines(_json(each) for each in proofs(evidence)),
        "heads.jsonl": "".join(f"{line}\n" for line in heads_to_json(evidence.heads)).encode(),
        **{
            ruling_file(evidence, story): _json(ruling_json(story)) + b"\n"
            for story in evidence.stories
        },
        "replay.jsonl": _lines(
            _json(moment_json(story, at))
            for story in evidence.stories
            for at in range(1, len(story.moments) + 1)
        ),
        "replay.txt": "\n".join(plain(each, evidence.zone) for each in evidence.stories).encode(),
        "clocks.csv": csv_of(CLOCK_COLUMNS, clock_table(evidence)),
        "clocks.txt": _text(map(evidence.local, clock_words(evidence)), "No camera was mapped."),
        "custody.csv": csv_of(CUSTODY_COLUMNS, custody_table(evidence)),
        "coverage.txt": _text(
            map(evidence.local, evidence.coverage.words), "Coverage is not known."
        ),
        **{proof_file(each): proof_text(each.proof).encode() for each in evidence.sealed},
        "verify.py": verify_py(),
        "README.txt": readme(evidence, key_id).encode(),
    }
    if evidence.coverage.table:
        files["coverage.json"] = _lines(map(_json, evidence.coverage.table))
    return files | files_of(evidence)


def proof_file(sealed: SealedFact) -> str:
    """The file of a proof of the witnessed log."""
    return f"log/{plain_name(sealed.tape.replace('/', '-'))}.tlog-proof"


def ruling_file(evidence: Evidence, story: Story) -> str:
    """The file of a round's ruling."""
    if evidence.window is None:
        return "ruling.json"
    return f"rulings/{plain_name(story.round.subject.replace('/', '-'))}.json"


def _told(
    evidence: Evidence, filed: dict[str, Filed], contents: str, key_id: str | None
) -> dict[str, object]:
    """The manifest without its list of files."""
    shown = rows_by_file(evidence)
    making = evidence.making
    sums = {name: each.sha256 for name, each in filed.items()}
    return {
        **_what(evidence),
        "dispute": evidence.dispute,
        "facts": len(evidence.rows),
        "fact_files": {name: len(rows) for name, rows in shown.items() if name in filed},
        "stretches": [
            {"tape": each.tape, "from": each.first, "to": each.last} for each in evidence.stretches
        ],
        "heads": [msgspec.json.decode(line) for line in heads_to_json(evidence.heads)],
        "log": [
            {"tape": each.tape, "sequence": each.table_seq, "file": proof_file(each)}
            for each in evidence.sealed
        ],
        "footage": list(footage_listed(evidence, sums)),
        "making": making._asdict() if making else None,
        "contents_sha256": contents,
        "signing_key": key_id,
    }


def _what(evidence: Evidence) -> dict[str, object]:
    """The round and its Rules Submission; or the window and its rounds."""
    judged = [_ref(row) for row in evidence.submissions] or [None] * len(evidence.stories)
    window = evidence.window
    if window is None:
        return {"round": str(evidence.stories[0].round), "submission": judged[0]}
    rulings = [
        {"round": str(story.round), "file": ruling_file(evidence, story), "submission": submission}
        for story, submission in zip(evidence.stories, judged, strict=True)
    ]
    told = {
        "name": window.name,
        "property": window.property,
        "table": window.table,
        "from": format_time(window.from_us),
        "to": format_time(window.to_us),
    }
    return {"window": told, "rulings": rulings}


def _ref(row: TapeRow | None) -> dict[str, str] | None:
    return {"source": row.source, "id": row.id} if row else None


def _text(sentences: Iterable[str], otherwise: str) -> bytes:
    return ("\n".join(sentences) or otherwise).encode() + b"\n"


def _lines(octets: Iterable[bytes]) -> bytes:
    return b"".join(each + b"\n" for each in octets)


def _json(each: object) -> bytes:
    return msgspec.json.encode(each)
