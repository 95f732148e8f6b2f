"""verify.py knows no module of ours, so what it knows of the ledger is held to the ledger here."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledger.facts import UPCASTERS
from replay.checker.reading import UPCASTS, fact_of

DATA = Path(__file__).parent.parent / "data"


def test_facts_of_every_earlier_version_are_read_as_the_ledger_reads_them() -> None:
    assert UPCASTS.keys() == UPCASTERS.keys()
    for name, (old, upcast) in UPCASTERS.items():
        line = (DATA / f"{name}.jsonl").read_bytes().removesuffix(b"\n")
        data = bytes(msgspec.json.decode(line, type=dict[str, msgspec.Raw])["data"])
        ours = upcast(msgspec.json.decode(data, type=old))
        told = fact_of(line, name).told()
        assert msgspec.convert(told, type(ours)) == ours
