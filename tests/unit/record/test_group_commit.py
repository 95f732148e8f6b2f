"""Group commit: who shares a transaction, who waits, who gets which answer in trouble."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from ledger.errors import Busy, Denied, Refused, Unavailable
from ledger.record import group_commit as module
from ledger.record.group_commit import FACTS_A_COMMIT_MAX, Committer
from ledger.record.tape import Head, Quarantined, Receipt, Received, TapeRow
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

REFUSED = Refused("too long", where="fact", hint="shorten it")
GONE = Unavailable("gone", where="server", hint="wait")


DENIED = Denied("no right", where="server", hint="grant it")


class SlowTape:
    """Judges as the record does, in memory; holds each call until released, and fails as set."""

    def __init__(self) -> None:
        self.calls: list[list[str | None]] = []
        self.kept: dict[str | None, Receipt] = {}
        self.go_on = threading.Event()
        self.go_on.set()
        self.called = threading.Event()
        self.lose_replies = 0
        self.lost: Unavailable = GONE
        self.refuse: str | None = None

    def append(self, facts: Sequence[Received | Quarantined]) -> list[Receipt]:
        self.calls.append([one.id for one in facts])
        self.called.set()
        assert self.go_on.wait(120)
        if self.refuse in self.calls[-1]:
            raise REFUSED
        receipts = [self._judge(one) for one in facts]
        if self.lose_replies:
            self.lose_replies -= 1
            raise self.lost
        return receipts

    def _judge(self, one: Received | Quarantined) -> Receipt:
        if one.id in self.kept:
            return self.kept[one.id]._replace(verdict="duplicate")
        position = len(self.kept) + 1
        self.kept[one.id] = Receipt("appended", one.source, one.id, position, position, b"")
        return self.kept[one.id]

    def read(self, after: int, limit: int) -> list[TapeRow]:
        raise NotImplementedError

    def rows_of(self, tape: str, seqs: Iterable[tuple[int, int]]) -> list[TapeRow]:
        raise NotImplementedError

    def heads(self) -> list[Head]:
        raise NotImplementedError


@pytest.fixture
def tape() -> SlowTape:
    return SlowTape()


@pytest.fixture
def committer(tape: SlowTape) -> Iterator[Committer]:
    with Committer(tape) as one:
        yield one
        tape.go_on.set()


def hold(tape: SlowTape, committer: Committer) -> None:
    """Let one append be under way, so that what comes now waits."""
    tape.go_on.clear()
    tape.called.clear()
    committer.submit([fact(0)])
    assert tape.called.wait(120)


def test_all_that_wait_share_one_transaction_and_get_their_own_receipts(
    tape: SlowTape, committer: Committer
) -> None:
    hold(tape, committer)
    waiting = [committer.submit([fact(n), fact(n + 100)]) for n in (1, 2, 3)]
    tape.go_on.set()
    told = [[receipt.id for receipt in future.result(120)] for future in waiting]
    assert told == [[fact(n).id, fact(n + 100).id] for n in (1, 2, 3)]
    assert [len(call) for call in tape.calls] == [1, 6]


def test_a_transaction_has_a_limit_and_a_submission_is_never_cut(
    tape: SlowTape, committer: Committer
) -> None:
    hold(tape, committer)
    sizes = (FACTS_A_COMMIT_MAX - 1, 1, 1, FACTS_A_COMMIT_MAX + 5)
    waiting = [
        committer.submit([fact(10_000 * n + i) for i in range(size)])
        for n, size in enumerate(sizes, start=1)
    ]
    tape.go_on.set()
    assert [len(future.result(120)) for future in waiting] == list(sizes)
    assert [len(call) for call in tape.calls[1:]] == [
        FACTS_A_COMMIT_MAX,
        1,
        FACTS_A_COMMIT_MAX + 5,
    ]


def test_large_facts_are_limited_by_their_octets(
    tape: SlowTape, committer: Committer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "OCTETS_A_COMMIT_MAX", 1_500)
    hold(tape, committer)
    waiting = [committer.submit([fact(n, data=b" " * 1_000)]) for n in (1, 2)]
    tape.go_on.set()
    for future in waiting:
        future.result(120)
    assert [len(call) for call in tape.calls] == [1, 1, 1]


@pytest.mark.parametrize("limit", ["FACTS_WAITING_MAX", "OCTETS_WAITING_MAX"])
def test_when_too_much_waits_the_next_is_told_to_come_back_and_nothing_of_it_is_kept(
    tape: SlowTape, committer: Committer, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(module, limit, 2)
    hold(tape, committer)
    first = committer.submit([fact(1), fact(2), fact(3)])  # alone, whatever its size
    with pytest.raises(Busy, match="Waiting to be kept: 3 facts"):
        committer.submit([fact(4)])
    tape.go_on.set()
    first.result(120)
    assert fact(4).id not in tape.kept
    assert committer.append([fact(4)])[0].verdict == "appended"


def test_what_is_refused_concerns_only_who_sent_it(tape: SlowTape, committer: Committer) -> None:
    hold(tape, committer)
    tape.refuse = fact(2).id
    waiting = [committer.submit([fact(n)]) for n in (1, 2, 3)]
    tape.go_on.set()
    assert waiting[0].result(120)[0].verdict == "appended"
    assert waiting[1].exception(10) is REFUSED
    assert waiting[2].result(120)[0].verdict == "appended"


def test_a_login_that_lacks_a_right_is_told_so_at_the_first_answer(
    tape: SlowTape, committer: Committer
) -> None:
    tape.lose_replies, tape.lost = 1_000, DENIED
    with pytest.raises(Denied):
        committer.append([fact(1)])
    assert len(tape.calls) == 1


def test_a_lost_answer_is_asked_for_again_and_says_duplicate(
    tape: SlowTape, committer: Committer
) -> None:
    tape.lose_replies = 3
    receipt = committer.append([fact(1)])[0]
    assert (receipt.verdict, receipt.position) == ("duplicate", 1)
    assert len(tape.calls) == 4


def test_asking_again_ends_and_the_outcome_is_said_to_be_unknown(tape: SlowTape) -> None:
    tape.lose_replies = 1_000
    with Committer(tape, ask_again_s_max=0.05) as committer:
        futures = [committer.submit([fact(n)]) for n in (1, 2)]
        assert all(future.exception(10) is GONE for future in futures)
        tape.lose_replies = 0
        assert committer.append([fact(1)])[0].verdict == "duplicate"


def test_leaving_commits_what_waits_and_then_takes_no_more(tape: SlowTape) -> None:
    with Committer(tape) as committer:
        futures = [committer.submit([fact(n)]) for n in range(50)]
    assert all(future.done() for future in futures)
    assert len(tape.kept) == 50
    with pytest.raises(Unavailable, match="stopping"):
        committer.append([fact(99)])


def test_a_submission_cancelled_before_its_turn_keeps_nothing(
    tape: SlowTape, committer: Committer
) -> None:
    hold(tape, committer)
    cancelled, other = committer.submit([fact(1)]), committer.submit([fact(2)])
    assert cancelled.cancel()
    tape.go_on.set()
    assert other.result(120)[0].verdict == "appended"
    assert fact(1).id not in tape.kept


def test_it_can_be_awaited(committer: Committer) -> None:
    async def send() -> list[Receipt]:
        return await asyncio.wrap_future(committer.submit([fact(1)]))

    assert asyncio.run(send())[0].verdict == "appended"
