"""The parts of the way of facts past FastAPI: receipts, key lookups, joined writes."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import TYPE_CHECKING, cast

from ledger.errors import Unavailable
from ledger.record.tape import Receipt
from replay.web.access.device_keys import Keyring
from replay.web.api.arrivals import AsyncCommitter
from replay.web.request_limits import JOINED_OCTETS_MAX, JoinedWrites

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from infra.access.keys import Keys
    from ledger.record.group_commit import Committer
    from ledger.record.tape import Quarantined, Received

RECEIPTS = [
    [Receipt("appended", "/h/T/d", str(number), number, number, b"")] for number in range(3)
]


class Held:
    """A committer whose outcomes come when the test says so."""

    def __init__(self) -> None:
        self.submitted: list[Future[list[Receipt]]] = []

    def submit(self, facts: Sequence[Received | Quarantined]) -> Future[list[Receipt]]:
        del facts
        self.submitted.append(Future())
        return self.submitted[-1]


def test_receipts_of_one_commit_wake_the_loop_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def floor() -> tuple[int, list[list[Receipt]]]:
        held, woken = Held(), 0
        committer = AsyncCommitter(cast("Committer", held))
        waiting = [asyncio.ensure_future(committer.append([])) for _ in RECEIPTS]
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        wake = loop.call_soon_threadsafe

        def counted(*args: object, **more: object) -> object:
            nonlocal woken
            woken += 1
            return wake(*args, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
        for future, receipts in zip(held.submitted, RECEIPTS, strict=True):
            future.set_result(receipts)
        return woken, await asyncio.gather(*waiting)

    assert asyncio.run(floor()) == (1, RECEIPTS)


def test_an_outcome_that_comes_later_wakes_the_loop_again() -> None:
    async def floor() -> list[list[Receipt]]:
        held = Held()
        committer = AsyncCommitter(cast("Committer", held))
        came = []
        for receipts in RECEIPTS:
            waiting = asyncio.ensure_future(committer.append([]))
            await asyncio.sleep(0)
            await asyncio.to_thread(held.submitted[-1].set_result, receipts)
            came.append(await waiting)
        return came

    assert asyncio.run(floor()) == RECEIPTS


def test_an_error_comes_to_its_own_caller_and_a_cancelled_one_keeps_nothing() -> None:
    async def floor() -> list[object]:
        held = Held()
        committer = AsyncCommitter(cast("Committer", held))
        waiting = [asyncio.ensure_future(committer.append([])) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        assert [each.cancelled() for each in held.submitted] == [True, False, False]
        held.submitted[1].set_exception(Unavailable("away", where="", hint=""))
        held.submitted[2].set_result(RECEIPTS[2])
        return list(await asyncio.gather(*waiting, return_exceptions=True))

    cancelled, error, receipts = asyncio.run(floor())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert isinstance(error, Unavailable)
    assert receipts == RECEIPTS[2]


class CountedKeys:
    def __init__(self, *, away: bool = False) -> None:
        self.looks = 0
        self.away = away

    def any(self) -> bool:
        self.looks += 1
        if self.away:
            raise Unavailable("No answer", where="", hint="")
        return True

    def source_of(self, key: str) -> str | None:
        return f"/{key}"


def test_requests_at_once_look_a_key_up_once() -> None:
    async def floor(keys: CountedKeys) -> list[object]:
        ring = Keyring(cast("Keys", keys))
        asked = [ring.opens(f"Bearer {name}") for name in ("h", "h", "i", "h")]
        return list(await asyncio.gather(*asked, return_exceptions=True))

    keys = CountedKeys()
    assert asyncio.run(floor(keys)) == ["/h", "/h", "/i", "/h"]
    assert keys.looks == 2
    away = CountedKeys(away=True)
    assert {type(each) for each in asyncio.run(floor(away))} == {Unavailable}
    assert away.looks == 2


class Transport:
    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.sent.append(bytes(data))

    def close(self) -> None:
        self.sent.append(b"closed")

    def is_closing(self) -> bool:
        return b"closed" in self.sent


def test_what_is_written_in_one_turn_is_sent_together() -> None:
    async def floor(transport: Transport) -> None:
        joined = JoinedWrites(cast("asyncio.Transport", transport), asyncio.get_running_loop())
        for part in (b"head ", b"body", b""):
            joined.write(part)
        assert transport.sent == []
        await asyncio.sleep(0)
        joined.write(b"x" * JOINED_OCTETS_MAX)
        assert len(transport.sent) == 1
        joined.write(b"y")
        assert len(transport.sent) == 2, "many bytes do not wait"
        joined.write(b"last")
        assert not joined.is_closing()
        joined.close()
        assert joined.is_closing()
        await asyncio.sleep(0)

    transport = Transport()
    asyncio.run(floor(transport))
    assert transport.sent[0] == b"head body"
    assert transport.sent[2:] == [b"last", b"closed"]
