"""Whatever is sent is a fact as it was received, or its bytes with a reason, and nothing else."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.facts import FACTS, SUBJECT_REQUIRED, Body, RoundCompleted, WagerPlaced, type_name
from ledger.record import wire
from ledger.record.tape import Quarantined, Received, unframe_attributes
from ledger.values import format_time
from tests.property.fact_strategies import JSON, TEXT, any_body, bodies
from tests.suite.budget import examples

REASONS = {
    "not_json", "not_utf8", "duplicate_key", "not_a_number", "not_an_object", "oversize",
    "too_deep", "data_base64", "content_type", "missing_attribute", "bad_attribute",
    "unknown_type", "unknown_version", "missing_field", "wrong_field", "missing_subject",
    "bad_subject", "data_missing",
}  # fmt: skip
SOURCE = "/hollywood/CC-07/shoe"
ROUND = "CC-07/2026-11-20/231"
IDS = st.text(TEXT, min_size=1, max_size=20).filter(
    lambda text: all(character.isprintable() for character in text)
)
TIMES = st.integers(0, 4_000_000_000_000_000)


def subject_of(body: Body) -> str | None:
    name = type_name(type(body))
    if name == "rules_submission_filed.v1":
        return "CC-07"
    return ROUND if name in SUBJECT_REQUIRED else None


def line_of(body: Body) -> bytes:
    return wire.encode(body, SOURCE, "b7-1", 1_795_168_800_123_456, subject_of(body), sequence=7)


def kept(octets: bytes) -> Received:
    fact = wire.parse_structured(octets)
    assert isinstance(fact, Received), fact
    return fact


@pytest.mark.parametrize("name", FACTS)
@examples(5, 20, data=st.data())
def test_every_fact_comes_back_as_it_was_told(name: str, data: st.DataObject) -> None:
    body = data.draw(bodies(name))
    id_, time_us = data.draw(IDS), data.draw(TIMES)
    sequence = data.draw(st.none() | st.integers(0, 10**18 - 1))
    boot = data.draw(st.none() | IDS)
    offset = data.draw(st.integers(-23 * 60, 23 * 60))
    line = wire.encode(
        body, SOURCE, id_, time_us, subject_of(body),
        sequence=sequence, boot=boot, offset_minutes=offset,
    )  # fmt: skip
    received = kept(line)
    fact = wire.fact_of(received)
    assert received.type == name
    assert received.data == msgspec.json.encode(body)
    assert unframe_attributes(received.attributes)["time"] == format_time(time_us, offset)
    assert (fact.body, fact.source, fact.id, fact.time_us) == (body, SOURCE, id_, time_us)
    assert (fact.sequence, fact.boot) == (sequence, boot)
    assert kept(wire.structured(received)) == received


@examples(50, 100, body=any_body(), id_=IDS, more=IDS)
def test_the_transport_mode_does_not_count(body: Body, id_: str, more: str) -> None:
    line = wire.encode(body, SOURCE, id_, 0, subject_of(body), sequence=1, boot=more)
    single = kept(line)
    attributes = unframe_attributes(single.attributes)
    headers = {f"ce-{name}": quote(value) for name, value in attributes.items()}
    assert wire.parse_batch(b"[" + line + b",\n" + line + b"]") == [single, single]
    assert wire.parse_binary(headers, single.data) == single
    assert wire.parse_binary(headers | {"content-type": "application/json"}, single.data) == single
    assert wire.parse_kept(line) == single


SPACES = st.text(" \t\r\n", max_size=3)


def odd_text(text: str, escaped: set[int]) -> str:
    """A JSON string, with the characters at some places escaped though they need not be."""
    return "".join(
        json.dumps(character)[1:-1]
        if place not in escaped or ord(character) > 0xFFFF
        else f"\\u{ord(character):04X}"
        for place, character in enumerate(text)
    )


@st.composite
def oddly_written(draw: st.DrawFn, value: Any) -> str:  # noqa: ANN401 - any JSON
    """The same JSON value in other bytes: white space and escapes where nobody puts them."""
    space = draw(SPACES)
    if isinstance(value, str):
        return f'"{odd_text(value, draw(st.sets(st.integers(0, 8), max_size=3)))}"'
    if isinstance(value, dict):
        members = draw(st.permutations(list(value.items())))
        inner = f"{space},".join(
            f"{space}{draw(oddly_written(name))}{space}:{space}{draw(oddly_written(member))}"
            for name, member in members
        )
        return f"{{{inner}{space}}}"
    if isinstance(value, list):
        return f"[{space}{f'{space},'.join(draw(oddly_written(part)) for part in value)}{space}]"
    return json.dumps(value)


@examples(50, 100, body=any_body(), unknown=JSON, data=st.data())
def test_order_and_white_space_of_attributes_do_not_count_and_data_stays_octet_for_octet(
    body: Body, unknown: object, data: st.DataObject
) -> None:
    plain = line_of(body)
    event = json.loads(plain)
    told = {**event.pop("data"), "a field nobody knows": unknown}
    octets = data.draw(oddly_written(told)).encode()
    attributes = data.draw(oddly_written(event)).encode()
    space = data.draw(SPACES).encode()
    member = space + b'"data"' + space + b":" + space + octets + space
    first = space + b"{" + member + b"," + attributes[1:] + space
    last = attributes.rstrip().removesuffix(b"}") + b"," + member + b"}"
    assert kept(first) == kept(last)
    assert kept(last).data == octets
    assert kept(last).attributes == kept(plain).attributes
    assert wire.fact_of(kept(last)).body == body


def judged(fact: Received | Quarantined, octets: bytes | None) -> None:
    """What is true of any answer."""
    if isinstance(fact, Received):
        assert wire.fact_of(fact).id == fact.id
        assert kept(wire.structured(fact)) == fact
        return
    assert fact.reason in REASONS
    assert octets is None or fact.octets == octets
    for text in (fact.what, fact.where, fact.hint, fact.source, fact.id):
        assert text is None or (text and "\x00" not in text and text.encode())


def anyhow(octets: bytes) -> None:
    """Read the bytes in every way there is; none may raise."""
    judged(wire.parse_structured(octets), octets)
    judged(wire.parse_line(octets), octets)
    judged(wire.parse_kept(octets), None)
    batch = wire.parse_batch(octets)
    for fact in batch if isinstance(batch, list) else [batch]:
        judged(fact, None)
    headers = {f"ce-{name}": value for name, value in json.loads(GOOD).items() if name != "data"}
    judged(wire.parse_binary(headers, octets), None)
    judged(wire.parse_binary(headers | {"ce-id": octets.decode("latin-1")}, b"{}"), None)


GOOD = line_of(WagerPlaced(position=3, wager="middle", amount=2500))


@examples(
    150,
    400,
    octets=st.binary(max_size=200)
    | st.text(alphabet='[]{}",:\\ 019eE.-naturefNls\x00\u20ac').map(str.encode),
)
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b'{"source":"\\ud800","id":' + b"9" * 10_000 + b"}")
@example(b'{"data":1e999,"data":-0}')
def test_no_octets_raise(octets: bytes) -> None:
    anyhow(octets)


@examples(150, 400, body=any_body(), data=st.data())
def test_no_damage_to_an_event_raises(body: Body, data: st.DataObject) -> None:
    octets = bytearray(line_of(body))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(octets)))
        end = data.draw(st.integers(start, min(start + 4, len(octets))))
        octets[start:end] = data.draw(
            st.binary(max_size=4)
            | st.sampled_from(
                [
                    b'"',
                    b"{",
                    b"}",
                    b"[",
                    b"]",
                    b",",
                    b":",
                    b"\\",
                    b"null",
                    b"NaN",
                    b"1.5",
                    b"\\u0000",
                ]
            )
        )
    anyhow(bytes(octets))


@examples(150, 400, body=any_body(), value=JSON, data=st.data())
def test_no_other_value_in_any_place_raises(body: Body, value: object, data: st.DataObject) -> None:
    event = json.loads(line_of(body))
    owner: Any = event
    name = data.draw(st.sampled_from(sorted(event)))
    while isinstance(owner[name], dict) and owner[name] and data.draw(st.booleans()):
        owner = owner[name]
        name = data.draw(st.sampled_from(sorted(owner)))
    if data.draw(st.booleans()):
        owner[name] = value
    else:
        del owner[name]
    anyhow(json.dumps(event).encode())


@given(cut=st.integers(0, len(GOOD) - 1))
def test_a_line_cut_anywhere_is_never_a_fact(cut: int) -> None:
    assert isinstance(wire.parse_line(GOOD[:cut]), Quarantined)


@given(
    octets=st.lists(st.sampled_from([GOOD, line_of(RoundCompleted()), b"1", b'{"a":[NaN,"]"]}']))
)
def test_a_batch_has_one_answer_for_each_event(octets: list[bytes]) -> None:
    answers = wire.parse_batch(b"[" + b" ,".join(octets) + b"]")
    assert answers == [wire.parse_structured(event) for event in octets]
