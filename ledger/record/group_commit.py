"""Group commit: all waiting appends of a process share one transaction and one flush.

One thread passes the waiting facts to the tape in one call, and each caller gets its own receipts.
An append without an answer is repeated. Facts that were already kept are then answered `duplicate`
with their original receipt, so nothing is doubled. Knows no database.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple, Self

from ledger.errors import Busy, Denied, Unavailable
from ledger.record.tape import Quarantined, Receipt, Received
from ledger.values import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ledger.record.tape import Tape

    Facts = Sequence[Received | Quarantined]

FACTS_A_COMMIT_MAX = 2_000
"""The most facts in one transaction, so that a flush is quick."""

OCTETS_A_COMMIT_MAX = 16 * 2**20
"""The most bytes in one transaction. A larger submission has one of its own."""

FACTS_WAITING_MAX = 20_000
"""The most facts that may wait. A caller beyond it gets `Busy`."""

OCTETS_WAITING_MAX = 64 * 2**20
"""The most bytes that may wait, so that large facts do not fill the memory."""

ASK_AGAIN_S_MAX = 45.0
"""Seconds during which an append is repeated while the tape does not answer."""

_PAUSE_S = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.0)
"""Pauses between the repeats, seconds. The last one is used from then on."""


class Submission(NamedTuple):
    """The facts that one caller wants kept together."""

    facts: Facts
    octets: int
    receipts: Future[list[Receipt]]


class CommitBacklog(NamedTuple):
    """The facts that wait for a commit, without those being committed."""

    facts: int
    octets: int


class Committer:
    """The committer of a process. `close`, or leaving the block, commits the rest and ends it."""

    def __init__(self, tape: Tape, *, ask_again_s_max: float = ASK_AGAIN_S_MAX) -> None:
        self._tape = tape
        self._ask_again_s_max = ask_again_s_max
        self._waiting: deque[Submission] = deque()
        self._facts_waiting = 0
        self._octets_waiting = 0
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
        self._thread.start()

    def append(self, facts: Sequence[Received | Quarantined]) -> list[Receipt]:
        """Keep these facts in one transaction and wait for it; one receipt each, in order.

        Raises `Busy` if too much waits; nothing is kept then. Raises `Unavailable` if the tape does
        not answer; the outcome is unknown, and sending again is safe. Raises what the tape refuses.
        """
        return self.submit(facts).result()

    def submit(self, facts: Sequence[Received | Quarantined]) -> Future[list[Receipt]]:
        """Like `append`, without waiting; for asyncio use `asyncio.wrap_future`.

        A future cancelled before its turn keeps nothing. After that it cannot be cancelled.
        """
        receipts: Future[list[Receipt]] = Future()
        octets = sum(map(_octets, facts))
        with self._changed:
            if self._closed:
                raise Unavailable(
                    "This process is stopping and accepts no further facts",
                    where="committer",
                    hint="Send them again when it is back; none of them was kept.",
                )
            if not self._has_room(len(facts), octets):
                raise Busy(
                    f"Waiting to be kept: {quantity(self._facts_waiting, 'fact')}",
                    where="committer",
                    hint="Send them again in a second; none of them was kept.",
                )
            self._waiting.append(Submission(facts, octets, receipts))
            self._facts_waiting += len(facts)
            self._octets_waiting += octets
            self._changed.notify()
        return receipts

    @property
    def waiting(self) -> CommitBacklog:
        """The facts and bytes that wait now."""
        with self._changed:
            return CommitBacklog(self._facts_waiting, self._octets_waiting)

    def close(self) -> None:
        """Commit what waits, then end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _has_room(self, facts: int, octets: int) -> bool:
        """Whether this much more may wait. A submission of any size may wait alone."""
        if not self._waiting:
            return True
        return (
            self._facts_waiting + facts <= FACTS_WAITING_MAX
            and self._octets_waiting + octets <= OCTETS_WAITING_MAX
        )

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if not self._waiting:
                    return
                group = self._take()
            keep(group, self._ask)

    def _take(self) -> list[Submission]:
        """The next submissions that fit into one transaction, at least one, in order."""
        group: list[Submission] = []
        facts = octets = 0
        while self._waiting:
            first = self._waiting[0]
            facts += len(first.facts)
            octets += first.octets
            if group and (facts > FACTS_A_COMMIT_MAX or octets > OCTETS_A_COMMIT_MAX):
                break
            group.append(self._waiting.popleft())
        self._facts_waiting -= sum(len(one.facts) for one in group)
        self._octets_waiting -= sum(one.octets for one in group)
        return [one for one in group if one.receipts.set_running_or_notify_cancel()]

    def _ask(self, facts: Facts) -> list[Receipt]:
        until = time.monotonic() + self._ask_again_s_max
        return ask(self._tape, facts, lambda: time.monotonic() > until or self._closed)


def keep(group: Sequence[Submission], asked: Callable[[Facts], list[Receipt]]) -> None:
    """Keep a group in one transaction. If it is refused, keep each alone; one is at fault."""
    try:
        receipts = iter(asked([fact for one in group for fact in one.facts]))
    except Unavailable as error:
        for one in group:
            one.receipts.set_exception(error)
    except Exception as error:  # noqa: BLE001 - any error belongs to a caller
        if len(group) > 1:
            for one in group:
                keep([one], asked)
        else:
            group[0].receipts.set_exception(error)
    else:
        for one in group:
            one.receipts.set_result([next(receipts) for _ in one.facts])


def ask(
    tape: Tape,
    facts: Facts,
    gives_up: Callable[[], bool],
    pause: Callable[[float], None] = time.sleep,
) -> list[Receipt]:
    """Append, and repeat while no answer comes. Raises the last `Unavailable` on giving up.

    A login that lacks a right is not asked for again: raises `Denied` at once.
    """
    attempt = 0
    while True:
        try:
            return tape.append(facts)
        except Denied:
            raise
        except Unavailable:
            if gives_up():
                raise
        pause(_PAUSE_S[min(attempt, len(_PAUSE_S) - 1)])
        attempt += 1


def _octets(fact: Received | Quarantined) -> int:
    if isinstance(fact, Received):
        return len(fact.attributes) + len(fact.data)
    return len(fact.octets)
