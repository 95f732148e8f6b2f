"""Checks of proofs that facts of the dossier are in a witnessed log, by keys that the reader gave.

RFC 6962 trees; C2SP's signed notes, checkpoints, cosignatures and proofs.
"""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import datetime, timezone
from typing import Any, NamedTuple

from replay.checker.chain import row_hash
from replay.checker.ed25519 import is_signed
from replay.checker.package import Unreadable, printable
from replay.checker.reading import Malformed
from replay.checker.report import Dossier, Report, Row

LOG_KEY, WITNESS_KEY = 1, 4
"""Kinds of a key: a witness signs a time before the text."""

_FORM = re.compile(
    r"c2sp\.org/tlog-proof@v1\n"
    r"extra (?P<entry>\S+)\n"
    r"index (?P<leaf>0|[1-9][0-9]{0,18})\n"
    r"(?P<hashes>(?:\S+\n)*)\n"
    r"(?P<text>(?P<origin>[^\n]+)\n(?P<size>0|[1-9][0-9]{0,18})\n(?P<root>\S+)\n)\n"
    r"(?P<lines>(?:[^\n]+\n)+)"
)
_GENESIS = bytes(32)


class NoteKey(NamedTuple):
    """The public key of a log or a witness."""

    name: str
    key_id: bytes
    kind: int
    public: bytes


class LogProof(NamedTuple):
    """A proof of a leaf, and the checkpoint that it leads to."""

    entry: bytes
    leaf: int
    hashes: list[bytes]
    origin: str
    size: int
    root: bytes
    text: str  # what is signed
    lines: list[str]  # of signatures


def note_key(text: str) -> NoteKey:
    """The public key of a log or a witness from its line. Raises Unreadable."""
    name, _, rest = text.strip().partition("+")
    key_id, _, octets = rest.partition("+")
    try:
        decoded = base64.b64decode(octets, validate=True)
        key = NoteKey(name, bytes.fromhex(key_id), decoded[0], decoded[1:])
    except (ValueError, IndexError):
        raise Unreadable(
            f"{printable(text)} is not the public key of a log or a witness."
        ) from None
    named = hashlib.sha256(name.encode() + b"\n" + decoded).digest()[:4]
    if key.key_id != named or key.kind not in (LOG_KEY, WITNESS_KEY):
        raise _no_key(text)
    return key


def _no_key(text: str) -> Unreadable:
    return Unreadable(f"{printable(text)} is not the public key of a log or a witness.")


def check_log(dossier: Dossier, keys: list[NoteKey], report: Report) -> None:
    """Check that the newest fact of each tape is in the log, and who vouches for that log."""
    listed: list[dict[str, Any]] = dossier.manifest.get("log", [])
    rows = {(row.tape, row.table_seq): row for row in dossier.rows}
    problems: list[str] = []
    proofs: list[LogProof] = []
    for each in listed:
        proof = _proof(dossier.package.whole(each["file"]).decode(), each["file"])
        proofs.append(proof)
        problems += _of_row(proof, rows.get((each["tape"], each["sequence"])), each["file"])
    if listed:
        sizes = {proof.size for proof in proofs}
        report.settle(
            problems,
            f"The newest sealed fact of each of {len(listed)} tapes is in the log"
            f" {printable(proofs[0].origin)}, which had {max(sizes)} entries.",
        )
    signers = [_vouched(proofs, key) for key in keys]
    _tell_signers(keys, signers, report)
    if listed and not any(key.kind == LOG_KEY for key in keys):
        report.unknown.append(
            "Who signed the log's checkpoint is not checked: give the log's key with --log, and"
            " those of its witnesses with --witness."
        )
    lacking = {row.tape for row in dossier.rows} - {each["tape"] for each in listed}
    if keys and lacking:
        report.unknown.append(
            f"The log has no fact of {', '.join(map(printable, sorted(lacking)))}: none was sealed"
            " when this dossier was made."
        )


def _tell_signers(keys: list[NoteKey], signers: list[list[str] | None], report: Report) -> None:
    for key, times in zip(keys, signers):
        if times is None:
            report.broken.append(f"A signature of {printable(key.name)} does not hold.")
        elif not times:
            report.broken.append(f"{printable(key.name)} has not signed the log's checkpoint.")
        elif key.kind == LOG_KEY:
            report.holds.append(f"The log's checkpoint is signed by {printable(key.name)}.")
        else:
            report.holds.append(
                f"The witness {printable(key.name)} vouches: at {max(times)} the log had only"
                " grown since it was first seen."
            )


def _of_row(proof: LogProof, row: Row | None, file: str) -> list[str]:
    """What is wrong with a proof of a fact, if anything."""
    if row is None:
        return [f"{printable(file)} is about a fact that is not in this dossier."]
    digest = row_hash(row._replace(previous=_GENESIS))
    if proof.entry != f"fact {row.position} {digest.hex()}".encode():
        return [f"{printable(file)} is about another fact than the one at {row.place}."]
    leaf = hashlib.sha256(b"\0" + proof.entry).digest()
    if _root(leaf, proof) != proof.root:
        return [f"{printable(file)} does not lead to the root of the log's checkpoint."]
    return []


def _root(leaf: bytes, proof: LogProof) -> bytes | None:
    """The root that a proof leads to (RFC 9162, 2.1.3.2)."""
    node, last, result = proof.leaf, proof.size - 1, leaf
    if not 0 <= node <= last:
        return None
    for beside in proof.hashes:
        if last == 0:
            return None
        if node & 1 or node == last:
            result = hashlib.sha256(b"\1" + beside + result).digest()
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            result = hashlib.sha256(b"\1" + result + beside).digest()
        node, last = node >> 1, last >> 1
    return result if last == 0 else None


def _vouched(proofs: list[LogProof], key: NoteKey) -> list[str] | None:
    """The times of a key's signatures, one a checkpoint; None if one does not hold.

    Empty if it did not sign every checkpoint. A log's signature has the time "".
    """
    times = []
    for proof in proofs:
        found = [_signature(line, key) for line in proof.lines]
        octets = next((each for each in found if each is not None), None)
        if octets is None:
            return []
        before, time = "", ""
        if key.kind == WITNESS_KEY:
            seconds, octets = int.from_bytes(octets[:8], "big"), octets[8:]
            before = f"cosignature/v1\ntime {seconds}\n"
            at = datetime.fromtimestamp(seconds, timezone.utc)
            time = at.strftime("%Y-%m-%dT%H:%M:%SZ")
        if not is_signed(key.public, (before + proof.text).encode(), octets):
            return None
        times.append(time)
    return times


def _signature(line: str, key: NoteKey) -> bytes | None:
    """The signature of a line, if it is of this key."""
    dash, name, text = [*line.split(" "), "", ""][:3]
    try:
        octets = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    if (dash, name, octets[:4]) != ("\N{EM DASH}", key.name, key.key_id):
        return None
    return octets[4:]


def _proof(text: str, file: str) -> LogProof:
    """A proof from its file. Raises Malformed."""
    found = _FORM.fullmatch(text)
    try:
        if found:
            return LogProof(
                base64.b64decode(found["entry"], validate=True),
                int(found["leaf"]),
                [base64.b64decode(each, validate=True) for each in found["hashes"].split()],
                found["origin"],
                int(found["size"]),
                base64.b64decode(found["root"], validate=True),
                found["text"],
                found["lines"].split("\n"),
            )
    except ValueError:
        pass
    raise Malformed(f"{printable(file)} is not a proof of a log.")
