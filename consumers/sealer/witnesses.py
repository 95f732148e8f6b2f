"""Witnesses as a log asks them (C2SP tlog-witness): they cosign what continues what they saw."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx

from ledger.errors import LedgerError, Refused
from ledger.witnessed_log.checkpoints import checkpoint_from_text, hash_text
from ledger.witnessed_log.signed_notes import OCTETS_MAX, verified
from ledger.witnessed_log.tree import consistency_proof, root

if TYPE_CHECKING:
    from infra.tile_folder import TileFolder
    from ledger.witnessed_log.checkpoints import Checkpoint
    from ledger.witnessed_log.signed_notes import VerifierKey

ANSWER_S_MAX = 5.0
"""How long a witness may take to answer, seconds."""

TRIES = 3
_OK, _CONFLICT, _OTHER_TREE = 200, 409, 422
_SIZE_DIGITS_MAX = 19

LOG = logging.getLogger("round_ledger.sealer")


Exchange = Callable[[str, str, str], tuple[int, str]]
"""Method, address and content of a request; status and text of the answer, 0 if there is none."""


class Witness:
    """One witness: its address, and its public key, which the log's owner was given."""

    def __init__(self, address: str, key: VerifierKey, exchange: Exchange | None = None) -> None:
        self.address, self.key = address.rstrip("/"), key
        self._exchange = exchange or over_http
        self._seen = 0  # size of the newest checkpoint that it cosigned

    def cosigned(self, folder: TileFolder, checkpoint: Checkpoint, note: str) -> str | None:
        """The line of its cosignature over a checkpoint, or None if it gives none.

        Raises `Refused` if it knows a longer log of this name, or another one.
        """
        for _ in range(TRIES):
            status, body = self._asked(folder, checkpoint, note)
            if status == _OK:
                self._seen = checkpoint.size
                return self._line(note, body)
            if status == _OTHER_TREE:
                raise self._other(self._seen)
            if status != _CONFLICT:
                return None
            self._seen = _size(body)
            self._require_not_longer(checkpoint.size)
        return None

    def require_beginning_of(self, folder: TileFolder, origin: str, size: int) -> None:
        """Compare the newest checkpoint that it cosigned with a log of `size` entries.

        Raises `Refused` if it is not of the log's beginning. A silent witness is passed over.
        """
        seen = self.newest(origin)
        if seen is None:
            return
        self._seen = seen.size
        self._require_not_longer(size)
        if root(seen.size, folder.hashes(size)) != seen.root:
            raise self._other(seen.size)

    def newest(self, origin: str) -> Checkpoint | None:
        """The newest checkpoint of a log that it cosigned; None if it has none or is silent."""
        hashed = hashlib.sha256(origin.encode()).hexdigest()
        status, body = self._exchange("GET", f"{self.address}/{hashed}/checkpoint", "")
        if status != _OK:
            return None
        try:
            text, held = verified(body, [self.key], self.address)
            return checkpoint_from_text(text, self.address) if held else None
        except LedgerError as error:
            LOG.warning("a witness gave something else", extra={"figures": {"what": error.what}})
            return None

    def _asked(self, folder: TileFolder, checkpoint: Checkpoint, note: str) -> tuple[int, str]:
        proof = consistency_proof(self._seen, checkpoint.size, folder.hashes(checkpoint.size))
        lines = "".join(f"{hash_text(each)}\n" for each in proof)
        body = f"old {self._seen}\n{lines}\n{note}"
        return self._exchange("POST", f"{self.address}/add-checkpoint", body)

    def _line(self, note: str, body: str) -> str | None:
        """Its line in an answer, if it holds over the checkpoint."""
        try:
            _, held = verified(note + body, [self.key], self.address)
        except LedgerError:
            held = []
        if held:
            mark = f"\N{EM DASH} {self.key.name} "
            return next(line for line in body.splitlines(keepends=True) if line.startswith(mark))
        LOG.warning(
            "a witness's cosignature does not hold", extra={"figures": {"witness": self.key.name}}
        )
        return None

    def _require_not_longer(self, size: int) -> None:
        if self._seen > size:
            raise Refused(
                f"The witness {self.key.name} knows {self._seen:,} entries of this log, which has"
                f" {size:,}: the record or the log was set back",
                where=self.address,
                hint="Restore the newest backup and the newest copy of the log's folder.",
            )

    def _other(self, size: int) -> Refused:
        return Refused(
            f"The first {size:,} entries of the log are not those that {self.key.name} cosigned",
            where=self.address,
            hint="Someone rewrote the log. Keep its folder and the database as evidence.",
        )


def over_http(method: str, url: str, content: str) -> tuple[int, str]:
    """The answer of a witness; status 0 if there is none. One limit holds for the whole."""
    end = time.monotonic() + ANSWER_S_MAX
    try:
        with (
            httpx.Client(timeout=ANSWER_S_MAX) as client,
            client.stream(method, url, content=content.encode()) as answer,
        ):
            octets = b""
            for part in answer.iter_bytes():
                octets += part
                if len(octets) > OCTETS_MAX or time.monotonic() > end:
                    break
            else:
                return answer.status_code, octets.decode(errors="replace")
            says = "its answer is too long or too slow"
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        says = str(error) or type(error).__name__
    LOG.warning("a witness does not answer", extra={"figures": {"witness": url, "what": says}})
    return 0, ""


def _size(body: str) -> int:
    text = body.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < _SIZE_DIGITS_MAX else 0
