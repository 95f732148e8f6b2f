"""A loop hears a signal; what does not come back to its loop in time is broken off."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from consumers.runtime import stopping
from consumers.runtime.stopping import until_signalled
from ledger.errors import Stopped


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "INSIST_S", 0.05)


def asked() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_loop_that_asks_ends_by_itself() -> None:
    with until_signalled() as stop:
        assert not stop()
        asked()
        assert stop()
    threading.Event().wait(0.1)  # no alarm comes once it has ended


def waits() -> None:
    with until_signalled() as stop:
        asked()
        assert stop()
        threading.Event().wait(60)


def test_what_waits_for_ever_is_broken_off() -> None:
    with pytest.raises(Stopped):
        waits()


def test_without_insisting_it_goes_on_waiting() -> None:
    """The control, and what may not be broken off: a recording that is being added."""
    with until_signalled(insist=False) as stop:
        asked()
        assert not threading.Event().wait(0.2)
        assert stop()


def test_handlers_are_those_from_before_again() -> None:
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)
    before = [signal.getsignal(number) for number in numbers]
    with until_signalled():
        assert [signal.getsignal(number) for number in numbers] != before
    assert [signal.getsignal(number) for number in numbers] == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
