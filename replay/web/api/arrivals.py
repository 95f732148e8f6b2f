"""The committer for an event loop: receipts of one commit come back to the loop together.

`asyncio.wrap_future` wakes the loop once for each receipt, by a write and a read of its own. A
commit has up to two thousand, so here the first of them wakes the loop, and it takes all.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from ledger.record.group_commit import Committer
    from ledger.record.tape import Quarantined, Receipt, Received


class _Arrival(NamedTuple):
    """A submission with its outcome, and the coroutine's future that gets it."""

    done: Future[list[Receipt]]
    waited_for: asyncio.Future[list[Receipt]]


class AsyncCommitter:
    """Submits facts to a committer of this process; for one event loop."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer
        self._arrived: deque[_Arrival] = deque()
        self._woken = False

    async def append(self, facts: Sequence[Received | Quarantined]) -> list[Receipt]:
        """As `Committer.append`. If it is cancelled before its turn, nothing is kept."""
        loop = asyncio.get_running_loop()
        waited_for: asyncio.Future[list[Receipt]] = loop.create_future()
        submitted = self._committer.submit(facts)
        submitted.add_done_callback(lambda done: self._arrive(_Arrival(done, waited_for), loop))
        try:
            return await waited_for
        except asyncio.CancelledError:
            submitted.cancel()
            raise

    def _arrive(self, arrival: _Arrival, loop: asyncio.AbstractEventLoop) -> None:
        """In the committer's thread: leave an outcome, and wake the loop unless it is woken."""
        self._arrived.append(arrival)
        if not self._woken:
            self._woken = True
            with suppress(RuntimeError):  # the loop is closed, and nobody waits
                loop.call_soon_threadsafe(self._hand_out)

    def _hand_out(self) -> None:
        """In the loop: give every outcome that arrived to its coroutine."""
        self._woken = False  # before the first look: what arrives after it wakes the loop again
        while self._arrived:
            done, waited_for = self._arrived.popleft()
            if waited_for.cancelled():
                continue
            if (error := done.exception()) is not None:
                waited_for.set_exception(error)
            else:
                waited_for.set_result(done.result())
