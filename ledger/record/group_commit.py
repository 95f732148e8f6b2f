"""Group commit: every waiting append of this process shares one transaction and one flush.

One thread drains what waits and hands it to the tape in one call; each caller gets its own
receipts. An answer that did not come is asked for again: what was kept is then answered
`duplicate` with its original receipt, so nothing is doubled. Knows no database.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple, Self

from ledger.errors import Busy, Unavailable
from ledger.record.tape import Quarantined, Receipt, Received

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ledger.record.tape import Tape

    Facts = Sequence[Received | Quarantined]

FACTS_A_COMMIT_MAX = 2_000
"""Facts in one transaction, so that a flush is never long awaited."""

OCTETS_A_COMMIT_MAX = 16 * 2**20
"""Octets in one transaction; one submission larger than this goes alone."""

FACTS_WAITING_MAX = 20_000
"""Facts that may wait; beyond this a caller is told to come back (`Busy`)."""

OCTETS_WAITING_MAX = 64 * 2**20
"""Octets that may wait, so that large facts do not fill the memory."""

ASK_AGAIN_S_MAX = 45.0
"""How long an append is asked for again while the tape does not answer, seconds."""

_PAUSE_S = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.0)
"""Pauses between asking again; the last one repeats."""


class Submission(NamedTuple):
    """What one caller wants kept together."""

    facts: Facts
    octets: int
    receipts: Future[list[Receipt]]


class CommitBacklog(NamedTuple):
    """What waits for a commit; what is being committed no longer does."""

    facts: int
    octets: int


class Committer:
    """One a process. Leaving the block, or `close`, commits what waits and ends the thread."""

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
        """Keep all of them in one transaction and wait for it; one receipt each, in order.

        Raises `Busy` where too much waits (nothing kept), `Unavailable` where the tape did not
        answer (outcome unknown; sending again is safe), and what the tape refuses.
        """
        return self.submit(facts).result()

    def submit(self, facts: Sequence[Received | Quarantined]) -> Future[list[Receipt]]:
        """As `append`, without waiting; for asyncio use `asyncio.wrap_future`.

        A future that is cancelled before its turn keeps nothing; afterwards it cannot be.
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
                    f"{self._facts_waiting:,} facts are waiting to be kept",
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
        """How deep the queue is now."""
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
        """Whether this much may wait beside what does; whatever its size, one may wait alone."""
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
        """As many submissions as fit into one transaction, in order, at least one."""
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
    """Keep a group in one transaction; where it is refused, each alone: one is at fault."""
    try:
        receipts = iter(asked([fact for one in group for fact in one.facts]))
    except Unavailable as error:
        for one in group:
            one.receipts.set_exception(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to a caller
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
    """Append, and ask again while no answer comes. Raises the last `Unavailable`."""
    attempt = 0
    while True:
        try:
            return tape.append(facts)
        except Unavailable:
            if gives_up():
                raise
        pause(_PAUSE_S[min(attempt, len(_PAUSE_S) - 1)])
        attempt += 1


def _octets(fact: Received | Quarantined) -> int:
    if isinstance(fact, Received):
        return len(fact.attributes) + len(fact.data)
    return len(fact.octets)
