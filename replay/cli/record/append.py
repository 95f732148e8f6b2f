"""Appends feeds to the record, block after block."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import NamedTuple

from infra.sender import current_sender
from ledger.record.group_commit import Committer
from ledger.record.tape import Quarantined, Receipt, Received
from ledger.record.wire import parse_line
from ledger.values import quantity
from replay.cli.shell.feeds import FeedLine, blocks, opened, size
from replay.recording.answers import answer
from replay.roster.door import Door
from replay.shell.connections import opened_tape
from replay.shell.output import print_json, progress, say

BLOCKS_WAITING_MAX = 4
"""The most blocks submitted to the record whose receipts were not read yet."""


class IngestedLine(NamedTuple):
    """A line, its judgement and its receipt."""

    line: FeedLine
    judged: Received | Quarantined
    receipt: Receipt


class _Block(NamedTuple):
    lines: list[FeedLine]
    judged: list[Received | Quarantined]
    receipts: Future[list[Receipt]]


def append_feeds(
    feeds: Sequence[str], signed: Callable[[bytes], bytes] = bytes, *, json: bool
) -> Counter[str]:
    """Append every line of the feeds; the number of each verdict. signed: what a line becomes."""
    verdicts: Counter[str] = Counter()
    with (
        opened(feeds) as sources,
        opened_tape(takes_in=True) as tape,
        Committer(tape) as committer,
        progress("ingest", size(sources)) as advance,
    ):
        try:
            door = Door(tape)
            for line, judged, receipt in keep(committer, blocks(sources), door, signed):
                verdicts[receipt.verdict] += 1
                advance(len(line.octets) + 1)
                if json:
                    which = {"feed": line.feed} if len(feeds) > 1 else {}
                    print_json(answer(judged, receipt), {**which, "line": line.number})
        except KeyboardInterrupt:
            say(
                f"Stopped after {quantity(verdicts.total(), 'line')};"
                " sending the whole feed again is safe."
            )
            raise
    return verdicts


def keep(
    committer: Committer,
    lines: Iterable[list[FeedLine]],
    door: Door,
    signed: Callable[[bytes], bytes] = bytes,
) -> Iterator[IngestedLine]:
    """Judge and append block after block; the receipts in order, as they arrive.

    While one block is committed, the next is judged. An empty block means that no line is waiting;
    then pending receipts are awaited.
    """
    waiting: deque[_Block] = deque()
    sender = current_sender()
    for block in lines:
        if block:
            judged = door.judged([parse_line(signed(line.octets)) for line in block], sender)
            waiting.append(_Block(block, judged, committer.submit(judged)))
        while waiting and (not block or len(waiting) > BLOCKS_WAITING_MAX):
            yield from _receipts(waiting.popleft())
    for left in waiting:
        yield from _receipts(left)


def _receipts(block: _Block) -> Iterator[IngestedLine]:
    return map(IngestedLine, block.lines, block.judged, block.receipts.result())
