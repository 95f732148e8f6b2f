"""`ingest --follow`: stores and forwards a growing file to a remote ledger or the one here."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from consumers.runtime.stopping import until_signalled
from ledger.errors import Denied, Refused, Unavailable, Usage
from ledger.record.group_commit import Committer
from ledger.record.tape import Quarantined, Received
from ledger.record.wire import parse_line
from replay.devices import file_tail
from replay.devices.forwarding import Manner, NotTaken, Send, forward
from replay.devices.http_client import HttpSender
from replay.recording.answers import Answer, answer
from replay.shell.logs import LOG, log_to_stderr
from replay.shell.output import print_json

TOLD_S = 60.0
"""Seconds between log records while lines are ingested."""

_STEP_S = 0.1

Judged = Received | Quarantined


def follow_file(
    feeds: Sequence[str],
    to: str | None,
    key_file: Path | None,
    signed: Callable[[bytes], bytes] = bytes,
    *,
    json: bool,
) -> Counter[str]:
    """Follow one file until stopped; the number of each verdict. Raises `Usage`.

    signed: what a line becomes before it is sent.
    """
    path = _one(feeds)
    log_to_stderr()
    verdicts: Counter[str] = Counter()
    with until_signalled() as stop, _sender(to, key_file) as send, file_tail.lock_file(path):
        with closing(file_tail.FileTail(path, file_tail.kept_place(path), _told)) as lines:
            manner = Manner(stop, _pausing(stop), _answering(verdicts, json=json), _told)
            LOG.info("following", extra={"figures": {"file": str(path), "to": to}})
            aside = forward(path, lines, lambda of: send([*map(signed, of)]), manner)
        LOG.info("stopped", extra={"figures": {**verdicts, "set_aside": aside}})
    return verdicts


def _one(feeds: Sequence[str]) -> Path:
    if len(feeds) != 1 or feeds[0] == "-" or Path(feeds[0]).is_dir():
        raise Usage(
            "--follow needs exactly one file",
            where="--follow",
            hint="Name one file. Standard input is read to its end without --follow.",
        )
    return Path(feeds[0]).absolute()


@contextmanager
def _sender(to: str | None, key_file: Path | None) -> Iterator[Send]:
    if to is not None:
        with HttpSender(to, key_file) as post:
            yield post
        return
    if key_file is not None:
        raise Usage("--key-file needs --to", where="--key-file", hint="Name the ledger with --to.")
    from infra.sender import os_login  # noqa: PLC0415 - as in `ingest`
    from replay.roster.door import Door  # noqa: PLC0415 - as above
    from replay.shell.connections import opened_tape  # noqa: PLC0415 - as above

    with opened_tape(serves=True, takes_in=True) as tape, Committer(tape) as committer:
        door, sender = Door(tape), os_login()
        yield _here(committer, lambda judged: door.judged(judged, sender))


def _here(committer: Committer, checked: Callable[[list[Judged]], list[Judged]]) -> Send:
    """Append to the record that the settings name."""

    def send(lines: Sequence[bytes]) -> Sequence[object]:
        try:
            judged = checked([parse_line(line) for line in lines])
            receipts = committer.append(judged)
        except Denied:
            raise
        except Unavailable as error:
            raise NotTaken(error.what) from error
        except Refused as error:
            raise NotTaken(error.what, never=True) from error
        return [answer(*each) for each in zip(judged, receipts, strict=True)]

    return send


def _answering(
    verdicts: Counter[str], *, json: bool
) -> Callable[[file_tail.TailLine, object], None]:
    """Count and print verdicts, and log the counts from time to time."""
    told_at = time.monotonic()

    def answered(line: file_tail.TailLine, said: object) -> None:
        nonlocal told_at
        told = said if isinstance(said, Answer) else msgspec.convert(said, _Said)
        verdicts[told.verdict] += 1
        if json:
            print_json(said, {"line": line.number})
        if time.monotonic() - told_at > TOLD_S:
            told_at = time.monotonic()
            LOG.info("lines were accepted", extra={"figures": {**verdicts, "line": line.number}})

    return answered


class _Said(msgspec.Struct):
    verdict: str


def _pausing(stop: Callable[[], bool]) -> Callable[[float], None]:
    def pause(seconds: float) -> None:
        until = time.monotonic() + seconds
        while not stop() and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _STEP_S))

    return pause


_LOUD = ("lost", "because")


def _told(says: str, **figures: object) -> None:
    """Log an event, as a warning if someone should check it."""
    level = logging.WARNING if any(name in figures for name in _LOUD) else logging.INFO
    LOG.log(level, says, extra={"figures": figures})
