"""The quick way to read an event gives what the strict one gives, or leaves the event to it."""

from __future__ import annotations

import inspect
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from ledger.record import usual_event as quick
from ledger.record import wire
from ledger.record.strict_json import MalformedError
from ledger.record.tape import Quarantined
from ledger.record.usual_event import usual_event
from ledger.simulate.feed import deal, line
from ledger.simulate.plan import plan_of
from tests.suite.budget import budget

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.record.tape import Received

FRAGMENTS = (
    b" ", b",", b":", b'"', b'":', b'" :', b'": ', b"{", b"}", b"{}", b"[", b"]", b"[]",
    b"\\", b"\\u0041", b"\\u0000", b"\t", b"\n", b"\x00", b"\x7f", b"\xff",
    b"\xc3\xa9", b"\xef\xbf\xbf", b"\xef\xbb\xbf", b"null", b"true", b"NaN", b"1e999", b"-0", b"01",
    b"1.5", b"99999999999999999999", b"24", b"60", b'"id":"x",', b'"id" :"x",', b'"data":{},',
    b'"data":null,', b'"subject":"CC-07",', b'"subject":null,', b'"sequence":7,',
    b'"sequence":"7",', b'"boot":"b",', b'"datacontenttype":"application/json",',
    b'"data_base64":"",', b'"extension":"x",', b'"amount":1,', b'"amount" :1,',
    b'"x":{"a":1,"a":2},', b'"x":[":"],', b'"x":":y",',
)  # fmt: skip
"""What is put into an event: pieces of JSON, of other events, and of what is none."""


def strictly(octets: bytes) -> Received | None:
    """None if it is no fact."""
    try:
        return wire._structured(octets)
    except MalformedError:
        return None


def mutated(octets: bytes, chance: random.Random) -> bytes:
    """An event with one to three changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        at, to = sorted(chance.randrange(len(octets) + 1) for _ in range(2))
        to = min(to, at + 40)
        octets = chance.choice(
            (
                octets[:at] + chance.choice(FRAGMENTS) + octets[at:],
                octets[:at] + octets[at + 1 :],
                octets[:at] + octets[to:],
                octets[:to] + octets[at:to] + octets[to:],
                octets[:at] + bytes([chance.randrange(256)]) + octets[at + 1 :],
                octets[:at] + bytes([chance.choice(b"0123456789")]) + octets[at + 1 :],
            )
        )
    return octets


def dealt() -> list[bytes]:
    """Events of every kind that a floor sends."""
    plan = plan_of(minutes=5, tables=21, seed=3)
    facts, _ = deal(plan)
    return [line(plan, fact) for fact in facts]


@budget("tried", everyday=8_000, whole=400_000)
def test_however_an_event_is_changed_it_is_read_as_strictly_or_left_to_the_strict_way(
    tried: int,
) -> None:
    chance = random.Random(7)  # noqa: S311
    events, quickly = dealt(), 0
    for _ in range(tried):
        octets = mutated(chance.choice(events), chance)
        told = usual_event(octets)
        quickly += told is not None
        assert told is None or told == strictly(octets), octets
    assert tried / 20 < quickly < tried / 2


def test_nearly_every_event_of_a_floor_is_read_the_quick_way() -> None:
    events = dealt()
    told = {each: usual_event(each) for each in events}
    assert [each for each, fact in told.items() if fact and fact != strictly(each)] == []
    assert sum(fact is not None for fact in told.values()) > 0.95 * len(events)


def wager(more: str = "", id_: str = "w-1", data: str = "") -> bytes:
    """A wager that is read the quick way, with what an attack adds."""
    return (
        f'{{"specversion":"1.0","type":"roundledger.wager_placed.v1","source":"/h/CC-07/layout",{more}'
        f'"id":"{id_}","time":"2026-11-20T19:04:11.204000-05:00","subject":"CC-07/2026-11-20/231",'
        f'"data":{{{data}"position":1,"wager":"main","amount":500}}}}'
    ).encode()


def test_a_wager_is_read_the_quick_way() -> None:
    assert usual_event(wager()) == strictly(wager()) is not None


@pytest.mark.parametrize(
    ("guard", "instead", "attack"),
    [
        ("len(octets) > _OCTETS_MAX", "False", wager(data=f'"x":"{"y" * 70_000}",')),
        ("octets.translate(None, _PLAIN)", "False", wager(id_="\x7f")),
        ("b'\" ' in octets", "False", wager(data='"amount" :1,')),
        ('octets.count(b"[") > _ARRAYS_MAX', "False", wager(data=f'"x":{"[" * 40}{"]" * 40},')),
        ("names != _NAMES", "False", wager(more='"id":"another",')),
        ("names != _NAMES", "False", wager(data='"amount":1,')),
        ("size <= ID_MAX", "True", wager(id_="x" * 300)),
        ("len(sequence) <= _SEQUENCE_MAX", "True", wager(more=f'"sequence":"{"1" * 19}",')),
        ("not subject.is_round", "False", wager().replace(b"11-20/231", b"02-30/231")),
        ("elif kind.needs_subject:", "elif False:", wager().replace(b"subject", b"boot")),
        ('or digits >= "60"', "", wager().replace(b":11.204", b":60.204")),
    ],
)
def test_without_one_of_its_guards_it_would_take_what_the_strict_way_refuses(
    guard: str, instead: str, attack: bytes
) -> None:
    assert strictly(attack) is None
    assert usual_event(attack) is None
    assert without(guard, instead)(attack) is not None


def test_deep_nesting_raises_nothing_however_deep_the_stack_is_already() -> None:
    attack = wager(data='"x":' + '{"":' * 700 + "1" + "}" * 700 + ",")

    def called(read: Callable[[bytes], object], frames: int) -> object:
        return called(read, frames - 1) if frames else read(attack)

    free = sys.getrecursionlimit() - len(inspect.stack(0))
    assert called(usual_event, free - 200) is None
    fact = called(wire.parse_structured, free - 200)
    assert isinstance(fact, Quarantined)
    assert fact.reason == "too_deep"


def without(guard: str, instead: str) -> Callable[[bytes], Received | None]:
    """The function with one condition replaced."""
    source = Path(quick.__file__).read_text()
    assert source.count(guard) == 1
    module = ModuleType(quick.__name__)
    source = source.replace(guard, instead)
    for table in ("ID_MAX)", "_SEQUENCE_MAX)"):  # with room for what is too long
        source = source.replace(f'", {table}', '", 999)')
    exec(source, vars(module))  # noqa: S102
    return module.usual_event  # type: ignore[no-any-return]
