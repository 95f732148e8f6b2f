"""Checkpoints of a log, and proofs that stand alone (C2SP tlog-checkpoint and tlog-proof)."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import Refused
from ledger.witnessed_log.tree import HASH_OCTETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PROOF_HASHES_MAX = 63
_PROOF = "c2sp.org/tlog-proof@v1"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
_LINES = 3


class Checkpoint(NamedTuple):
    """The head of a log: all its leaves are committed to by the root."""

    origin: str  # name of the log
    size: int  # number of leaves
    root: bytes  # 32 bytes


class LeafProof(NamedTuple):
    """A proof that a leaf is in a log, with the note of the checkpoint it leads to."""

    leaf: int  # its number, from 0
    hashes: Sequence[bytes]
    note: str
    extra: bytes = b""  # vouched for by nobody: here the entry whose hash is the leaf


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """The text that is signed: three lines."""
    return f"{checkpoint.origin}\n{checkpoint.size}\n{hash_text(checkpoint.root)}\n"


def checkpoint_from_text(text: str, where: str) -> Checkpoint:
    """A checkpoint of the text of a note. Lines after the third say nothing here.

    Raises `Refused`.
    """
    lines = text.split("\n")[:-1]
    if len(lines) < _LINES or not all(lines) or not _NUMBER.fullmatch(lines[1]):
        raise Refused("This is not a checkpoint", where=where, hint="Give the whole file.")
    return Checkpoint(lines[0], int(lines[1]), _hash(lines[2], where))


def hash_text(hash_: bytes) -> str:
    """A hash as a line of these formats has it."""
    return base64.b64encode(hash_).decode()


def hashes_from_lines(lines: Iterable[str], where: str) -> list[bytes]:
    """The hashes of a proof, one a line. Raises `Refused`."""
    hashes = [_hash(line, where) for line in lines]
    if len(hashes) > PROOF_HASHES_MAX:
        raise Refused("The proof is too long", where=where, hint="No tree is that deep.")
    return hashes


def proof_text(proof: LeafProof) -> str:
    """The file of a proof."""
    hashes = "".join(f"{hash_text(each)}\n" for each in proof.hashes)
    extra = f"extra {base64.b64encode(proof.extra).decode()}\n" if proof.extra else ""
    return f"{_PROOF}\n{extra}index {proof.leaf}\n{hashes}\n{proof.note}"


def proof_from_text(text: str, where: str) -> LeafProof:
    """A proof of its file. Raises `Refused`."""
    head, _, note = text.partition("\n\n")
    first, *lines = head.split("\n")
    extra = b""
    if lines and lines[0].startswith("extra "):
        extra = _base64(lines.pop(0).removeprefix("extra "))
    index = lines[0].removeprefix("index ") if lines else ""
    if first != _PROOF or not note or not lines[0].startswith("index "):
        index = ""
    if not _NUMBER.fullmatch(index):
        raise Refused("This is not a proof of a log", where=where, hint="Give the whole file.")
    return LeafProof(int(index), hashes_from_lines(lines[1:], where), note, extra)


def _base64(text: str) -> bytes:
    """The bytes of a text; none if it is not base64."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""


def _hash(line: str, where: str) -> bytes:
    octets = _base64(line)
    if len(octets) != HASH_OCTETS:
        raise Refused(f"{line!r} is not a hash", where=where, hint="Give the whole file.")
    return octets
