"""Journals checked by other programs: Beancount, and hledger if it is installed."""

from __future__ import annotations

import csv
import subprocess
from decimal import Decimal
from shutil import which
from typing import TYPE_CHECKING, Any

import pytest
from beancount import loader

from replay.text.journal import beancount, hledger
from tests.suite.required import NO_HLEDGER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ledger.finance.journal import JournalEntry


def beancount_says(entries: Sequence[JournalEntry]) -> list[str]:
    """What Beancount holds against a journal."""
    _, errors, _ = _loaded(entries)
    return [each.message for each in errors]


def beancount_balances(entries: Sequence[JournalEntry], day: str) -> dict[str, int]:
    """Beancount's balance of each account at the end of a day, cents."""
    found: dict[str, Decimal] = {}
    for each in _loaded(entries)[0]:
        for posting in getattr(each, "postings", ()) if str(each.date) <= day else ():
            account = posting.account
            found[account] = found.get(account, Decimal()) + posting.units.number
    return {name: int(amount * 100) for name, amount in found.items()}


def _loaded(entries: Sequence[JournalEntry]) -> Any:  # noqa: ANN401 - Beancount has no types
    return loader.load_string("\n".join(beancount(entries)) + "\n")


def hledger_says(entries: Sequence[JournalEntry], folder: Path) -> str:
    """What `hledger check --strict` holds against a journal. Skips without hledger."""
    return _hledger(entries, folder, "check", "--strict").stderr


def hledger_balances(entries: Sequence[JournalEntry], folder: Path, until: str) -> dict[str, int]:
    """hledger's balance of each account before a day, cents. Skips without hledger."""
    asked = ("balance", "--flat", "--no-total", "--output-format=csv", f"--end={until}")
    rows = csv.reader(_hledger(entries, folder, *asked).stdout.splitlines()[1:])
    return {account: int(Decimal(amount.removesuffix(" USD")) * 100) for account, amount in rows}


def _hledger(
    entries: Sequence[JournalEntry], folder: Path, *asked: str
) -> subprocess.CompletedProcess[str]:
    if not which("hledger"):
        pytest.skip(f"{NO_HLEDGER}: install the package hledger")
    journal = folder / "house.journal"
    journal.write_text("\n".join(hledger(entries)) + "\n", encoding="utf-8")
    environment = {"LANG": "C.UTF-8", "PATH": str(which("hledger")).rpartition("/")[0]}
    return subprocess.run(
        ["hledger", "-f", str(journal), *asked],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
