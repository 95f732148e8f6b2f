"""What a device may send, what is kept with a reason instead, and what the reason says."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from ledger.errors import LedgerError
from ledger.facts import (
    Body,
    Coupon,
    DisputeRaised,
    DropBoxRemoved,
    MeterRead,
    RulesSubmissionFiled,
    StubCounted,
    WagerPlaced,
)
from ledger.record import wire
from ledger.record.envelope import DEPTH_MAX, FACT_OCTETS_MAX
from ledger.record.strict_json import elements
from ledger.record.tape import (
    Quarantined,
    Received,
    TapeRow,
    frame_attributes,
    unframe_attributes,
)
from ledger.values import RoundId, parse_round

SUBJECT = "CC-07/2026-11-20/231"
WAGER = WagerPlaced(position=3, wager="middle", amount=2500)
EVENT: dict[str, Any] = {
    "specversion": "1.0",
    "type": "roundledger.wager_placed.v1",
    "source": "/hollywood/CC-07/layout",
    "id": "b7-0042",
    "time": "2026-11-20T19:04:11.204-05:00",
    "subject": SUBJECT,
    "data": {"position": 3, "wager": "middle", "amount": 2500},
}


def event(**changes: object) -> bytes:
    """The event with some attributes changed; None leaves one out."""
    told = {**EVENT, **changes}
    return json.dumps({name: value for name, value in told.items() if value is not None}).encode()


def data(text: str, **changes: object) -> bytes:
    """The event with these bytes as its `data`."""
    return event(**changes, data="DATA").replace(b'"DATA"', text.encode())


def kept(octets: bytes) -> Received:
    fact = wire.parse_structured(octets)
    assert isinstance(fact, Received), fact
    return fact


def refused(octets: bytes) -> Quarantined:
    fact = wire.parse_structured(octets)
    assert isinstance(fact, Quarantined), fact
    assert fact.octets == octets
    assert fact.what
    assert fact.where
    assert fact.hint
    return fact


def test_a_fact_is_kept_exactly_as_it_was_received() -> None:
    octets = b"""{ "data" : {"position":3, "wager" : "mid\\u0064le","amount":2500 , "x":1.50e0},
      "time":"2026-11-20T19:04:11.204-05:00","id":"b7-0042","type":"roundledger.wager_placed.v1",
      "source":"/hollywood/CC-07/layout","specversion":"1.0","subject":"CC-07/2026-11-20/231",
      "datacontenttype":"application/json; charset=UTF-8","sequence":"17","boot":"b7",
      "flag":true,"number":-5,"nothing":null}"""
    fact = kept(octets)
    assert fact.data == b'{"position":3, "wager" : "mid\\u0064le","amount":2500 , "x":1.50e0}'
    assert unframe_attributes(fact.attributes) == {
        "specversion": "1.0",
        "type": "roundledger.wager_placed.v1",
        "source": "/hollywood/CC-07/layout",
        "id": "b7-0042",
        "time": "2026-11-20T19:04:11.204-05:00",
        "subject": "CC-07/2026-11-20/231",
        "sequence": "17",
        "boot": "b7",
        "flag": "true",
        "number": "-5",
    }
    assert fact[:6] == (
        "hollywood/CC-07",
        "wager_placed.v1",
        "/hollywood/CC-07/layout",
        "b7-0042",
        1_795_219_451_204_000,
        SUBJECT,
    )


def test_a_fact_is_decoded_with_who_when_and_where() -> None:
    fact = wire.fact_of(kept(event(sequence="17", boot="b7")))
    assert fact == wire.Fact(
        body=WAGER,
        source="/hollywood/CC-07/layout",
        id="b7-0042",
        time_us=1_795_219_451_204_000,
        round=RoundId("hollywood", "CC-07", "2026-11-20", 231),
        table="CC-07",
        boot="b7",
        sequence=17,
    )


NESTED = '{"position":3,"wager":"middle","amount":2500,"x":%s}'
DEEP = NESTED % ("[" * (DEPTH_MAX - 1) + "]" * (DEPTH_MAX - 1))
TOO_DEEP = NESTED % ("[" * DEPTH_MAX + "]" * DEPTH_MAX)

MALFORMED: list[tuple[str, bytes, str, str, str]] = [
    # what is wrong, the bytes, reason, where, a word of what or hint
    ("nothing", b"", "not_json", "byte 0", "Not JSON"),
    ("a cut line", event()[:-9], "not_json", "byte 2", "again whole"),
    ("two events", event() + event(), "not_json", f"byte {len(event())}", "Extra data"),
    ("a byte order mark", b"\xef\xbb\xbf" + event(), "not_json", "byte 0", "one JSON object"),
    ("a raw control character", event(id="a").replace(b'"a"', b'"\x01"'), "not_json", "byte", ""),
    ("half a surrogate pair", data('{"x":"\\ud800"}'), "not_json", "$", "whole characters"),
    ("Latin-1", event(id="Z\u00fcrich").replace(b"\\u00fc", b"\xfc"), "not_utf8", "byte", "0xfc"),
    ("UTF-16", event().decode().encode("utf-16-le"), "not_json", "byte 1", ""),
    ("an attribute twice", event()[:-1] + b',"id":"x"}', "duplicate_key", "$.id", "`id` appears"),
    ("a field twice", data('{"a":1,"a":1}'), "duplicate_key", "$.data.a", "twice"),
    (
        "deep down twice",
        data('{"b":[0,{"a":1,"\\u0061":2}]}'),
        "duplicate_key",
        "$.data.b[1].a",
        "",
    ),
    ("NaN", data('{"amount":NaN}'), "not_a_number", "$.data.amount", "NaN"),
    ("minus infinity", data('{"x":[-Infinity]}'), "not_a_number", "$.data.x[0]", "-Infinity"),
    ("NaN, then a cut", data('{"x":[NaN'), "not_json", "byte", ""),
    ("a huge integer", data('{"x":%s}' % ("9" * 5000)), "wrong_field", "$", "digits"),
    ("an array", b"[]", "not_an_object", "$", "one JSON object"),
    ("a text", b'"fact"', "not_an_object", "$", ""),
    ("too many octets", event(x="y" * FACT_OCTETS_MAX), "oversize", "$", "65536"),
    ("too many levels", data(TOO_DEEP), "too_deep", "$", "33 levels"),
    ("brackets without end", b"[" * 60_000, "too_deep", "$", "flatter"),
    ("data in base64", event(data=None, data_base64="e30="), "data_base64", "$.data_base64", ""),
    ("XML", event(datacontenttype="text/xml"), "content_type", "$.datacontenttype", "text/xml"),
    ("no id", event(id=None), "missing_attribute", "$.id", "`id` is missing"),
    ("no type", event(type=None), "missing_attribute", "$.type", ""),
    ("no source", event(source=None), "missing_attribute", "$.source", ""),
    ("no time", event(time=None), "missing_attribute", "$.time", ""),
    (
        "no version of CloudEvents",
        event(specversion=None),
        "missing_attribute",
        "$.specversion",
        "",
    ),
    ("CloudEvents 0.3", event(specversion="0.3"), "bad_attribute", "$.specversion", "1.0"),
    ("a number as id", event(id=42), "bad_attribute", "$.id", "not a text"),
    ("an empty id", event(id=""), "bad_attribute", "$.id", "empty"),
    ("a long id", event(id="x" * 257), "bad_attribute", "$.id", "too long"),
    ("a NUL in the id", event(id="a\x00"), "bad_attribute", "$.id", "control character"),
    ("a noncharacter", event(boot="\ufffe"), "bad_attribute", "$.boot", "control character"),
    ("a source of two parts", event(source="/a/b"), "bad_attribute", "$.source", "/property/"),
    ("a time without offset", event(time="2026-11-20T19:04:11"), "bad_attribute", "$.time", ""),
    ("a day that is none", event(time="2026-02-30T00:00:00Z"), "bad_attribute", "$.time", ""),
    ("a time in year 1", event(time="0001-01-01T00:00:00Z"), "bad_attribute", "$.time", "1900"),
    ("a sequence of letters", event(sequence="4a"), "bad_attribute", "$.sequence", "digits"),
    ("a negative sequence", event(sequence=-1), "bad_attribute", "$.sequence", ""),
    ("a fraction", event(x=1.5), "bad_attribute", "$.x", "strings"),
    ("an object as attribute", event(x={}), "bad_attribute", "$.x", "belongs in `data`"),
    ("an upper-case name", event(dealerName="x"), "bad_attribute", "$.dealerName", "lower-case"),
    ("another system's type", event(type="com.x.y"), "unknown_type", "$.type", "com.x.y"),
    ("an unknown fact", event(type="roundledger.tea_served.v1"), "unknown_type", "$.type", ""),
    ("version 7", event(type="roundledger.wager_placed.v7"), "unknown_version", "$.type", "v7"),
    ("no data", event(data=None), "data_missing", "$.data", ""),
    ("null as data", data("null"), "data_missing", "$.data", "`{}`"),
    ("an array as data", data("[1]"), "not_an_object", "$.data", ""),
    ("a text as data", data('"x"'), "not_an_object", "$.data", ""),
    ("no round", event(subject=None), "missing_subject", "$.subject", "gaming day"),
    ("a table for a round", event(subject="CC-07"), "bad_subject", "$.subject", "CC-07"),
    ("round 0", event(subject="CC-07/2026-11-20/0"), "bad_subject", "$.subject", ""),
    ("30 February", event(subject="CC-07/2026-02-30/1"), "bad_subject", "$.subject", ""),
    ("Arabic digits", event(subject="CC-07/2026-11-20/\u0661"), "bad_subject", "$.subject", ""),
    (
        "a field missing",
        data('{"position":3,"wager":"ante"}'),
        "missing_field",
        "$.data.amount",
        "",
    ),
]


@pytest.mark.parametrize(
    ("octets", "reason", "where", "word"),
    [row[1:] for row in MALFORMED],
    ids=[row[0] for row in MALFORMED],
)
def test_what_is_malformed_is_kept_with_a_reason(
    octets: bytes, reason: str, where: str, word: str
) -> None:
    fact = refused(octets)
    assert fact.reason == reason
    assert fact.where.startswith(where)
    assert word in f"{fact.what} {fact.hint}"


WRONG: list[tuple[str, str, str, str]] = [
    # a fact, its data, where, a word of what or hint
    ("wager_placed", '{"position":3,"wager":"a","amount":25.00}', "$.data.amount", "in cents"),
    ("wager_placed", '{"position":3,"wager":"a","amount":25e2}', "$.data.amount", "in cents"),
    ("wager_placed", '{"position":3,"wager":"a","amount":"25"}', "$.data.amount", "got `str`"),
    ("wager_placed", '{"position":3,"wager":"a","amount":null}', "$.data.amount", "got `null`"),
    (
        "wager_placed",
        '{"position":3,"wager":"a","amount":10000000000001}',
        "$.data.amount",
        "10^13",
    ),
    ("wager_placed", '{"position":-1,"wager":"a","amount":1}', "$.data.position", "bound"),
    ("wager_placed", '{"position":3,"wager":"A b","amount":1}', "$.data.wager", "form"),
    ("wager_placed", '{"position":3,"wager":"a\\n","amount":1}', "$.data.wager", "form"),
    ("wager_placed", '{"position":3,"wager":"a","amount":1,"n":"\\u0000"}', "$.data.n", "U+0000"),
    (
        "wager_placed",
        '{"position":3,"wager":"a","amount":1,"n":{"\\u0000":1}}',
        "$.data.n",
        "U+0000",
    ),
    (
        "cards_dealt",
        '{"to":"dealer","cards":["As","1s"],"face":"up"}',
        "$.data.cards[1]",
        "not a card",
    ),
    ("cards_dealt", '{"to":"dealer","cards":["as"],"face":"up"}', "$.data.cards[0]", "`As`"),
    ("cards_dealt", '{"to":"dealer","cards":"As","face":"up"}', "$.data.cards", "array"),
    ("cards_dealt", '{"to":"table","cards":[],"face":"up"}', "$.data.to", "`cards_dealt.v1`"),
    ("card_burned", '{"card":"10h"}', "$.data.card", "not a card"),
    ("dice_thrown", '{"dice":[1,7]}', "$.data.dice[1]", "bound"),
    ("irregularity_called", '{"kind":"dog_on_table"}', "$.data.kind", "dog_on_table"),
    ("hand_set", '{"to":"dealer","hands":{"Hi Lo":["As"]}}', "$.data.hands", "form"),
    (
        "no_roll_called",
        '{"reason":"","of":{"source":"/a/b/c","id":7}}',
        "$.data.of.id",
        "got `int`",
    ),
]


@pytest.mark.parametrize(("fact", "text", "where", "word"), WRONG)
def test_a_field_that_cannot_be_meant_is_named(fact: str, text: str, where: str, word: str) -> None:
    found = refused(data(text, type=f"roundledger.{fact}.v1"))
    assert found.reason == "wrong_field"
    assert found.where == where
    assert word in f"{found.what} {found.hint}"


@pytest.mark.parametrize(
    ("fact", "text", "where"),
    [
        ("cards_dealt", '{"to":"player","cards":[],"face":"up"}', "$.data.position"),
        ("dice_thrown", "{}", "$.data.dice"),
        ("no_roll_called", '{"reason":"","of":{"source":"/a/b/c"}}', "$.data.of.id"),
        ("discards_reshuffled", "{}", "$.data.except"),
    ],
)
def test_a_missing_field_is_named_with_its_place(fact: str, text: str, where: str) -> None:
    found = refused(data(text, type=f"roundledger.{fact}.v1"))
    assert (found.reason, found.where) == ("missing_field", where)
    assert f"`{fact}.v1`" in found.hint


def test_a_gaming_day_that_is_none_is_named() -> None:
    text = '{"box":"B","table":"T","gaming_day":"2026-02-30"}'
    found = refused(data(text, type="roundledger.drop_box_removed.v1", subject=None))
    assert (found.reason, found.where) == ("wrong_field", "$.data.gaming_day")


@pytest.mark.parametrize("subject", ["", "x" * 257, "CC-07/2026-02-30/1"])
def test_a_subject_beside_the_rounds_is_free_but_no_day_that_is_none(subject: str) -> None:
    reading = {"type": "roundledger.meter_read.v1"}
    kept(data('{"meter":"link","amount":1}', **reading, subject="tonight"))
    found = refused(data('{"meter":"link","amount":1}', **reading, subject=subject))
    assert (found.reason, found.where) == ("bad_subject", "$.subject")


@pytest.mark.parametrize("subject", [SUBJECT, "", "a table"])
def test_a_submission_holds_for_a_table_or_the_property(subject: str) -> None:
    filed = {"type": "roundledger.rules_submission_filed.v1"}
    text = '{"game":"craps","effective_from":"2026-01-01"}'
    kept(data(text, **filed, subject="CR-01"))
    found = refused(data(text, **filed, subject=subject))
    assert (found.reason, found.where) == ("bad_subject", "$.subject")


def test_what_is_at_the_limit_is_kept() -> None:
    kept(data(DEEP))
    room = FACT_OCTETS_MAX - len(event(x=""))
    kept(event(x="y" * room))
    assert refused(event(x="y" * (room + 1))).reason == "oversize"
    kept(event(id="x" * 256))
    kept(event(sequence="0"))
    kept(data('{"position":3,"wager":"a","amount":10000000000000}'))


def test_what_the_rules_do_not_know_is_still_recorded() -> None:
    kept(
        data(
            '{"position":99,"wager":"tea","amount":-5,"note":1.5,"more":{"deep":[NaN]}}'.replace(
                "NaN", "null"
            )
        )
    )
    kept(data('{"position":1,"decision":"dance"}', type="roundledger.decision_made.v1"))
    kept(data('{"game":"tea_poker"}', type="roundledger.round_started.v1"))


def test_brackets_in_texts_are_no_levels() -> None:
    kept(data(NESTED % json.dumps('["{' * 60)))


def test_an_escaped_backslash_before_u0000_is_no_nul() -> None:
    kept(data(NESTED % r'"\\u0000"'))


@pytest.mark.parametrize(
    ("octets", "source", "id_"),
    [
        (event(type="x.y"), "/hollywood/CC-07/layout", "b7-0042"),
        (event(x="y" * FACT_OCTETS_MAX), "/hollywood/CC-07/layout", "b7-0042"),
        (event()[:-1] + b',"id":"x"}', "/hollywood/CC-07/layout", None),
        (event()[:-1] + b',"source":"x"}', None, "b7-0042"),
        (event(id=42), "/hollywood/CC-07/layout", None),
        (event(id="a\x00"), "/hollywood/CC-07/layout", None),
        (event(id="x" * 257), "/hollywood/CC-07/layout", None),
        (event()[:-1], None, None),
        (b"[]", None, None),
        (b'{"source":' + b"[" * 50_000, None, None),
    ],
)
def test_source_and_id_are_told_where_they_could_be_read(
    octets: bytes, source: str | None, id_: str | None
) -> None:
    found = refused(octets)
    assert (found.source, found.id) == (source, id_)


def test_a_reason_can_be_shown_and_stored_whatever_was_sent() -> None:
    found = refused(event(type="\x00\x1b[2J" + "x" * 5000))
    assert found.reason == "bad_attribute"
    found = refused(data('{"position":1,"wager":"a","amount":1,"hand":"\\u001b"}'))
    assert "\x1b" not in found.what
    assert len(refused(event(source="/" + "x" * 5000)).what) < 600


class TestBatch:
    def test_each_event_is_judged_on_its_own_octets(self) -> None:
        bad = event(id=42)
        good, refused_ = wire.parse_batch(b"[ " + event() + b" ,\n" + bad + b"]")
        assert good == kept(event())
        assert refused_ == refused(bad)

    def test_an_event_that_is_no_json_spoils_no_other(self) -> None:
        bad = data('{"amount":NaN}')
        facts = wire.parse_batch(b"[" + event() + b", " + bad + b" ," + event(id="2") + b"]")
        assert facts == [kept(event()), refused(bad), kept(event(id="2"))]

    def test_an_event_of_many_levels_spoils_no_other(self) -> None:
        bad = data("[" * 20_000 + "]" * 20_000)
        assert wire.parse_batch(b"[" + bad + b"," + event() + b"]") == [refused(bad), kept(event())]

    def test_an_empty_batch_holds_nothing(self) -> None:
        assert wire.parse_batch(b" [ ] ") == []

    @pytest.mark.parametrize("octets", [b"", b"[", event(), b"[] []", b"]", b"[{]", b'["', b"[1}"])
    def test_what_frames_no_array_is_quarantined_as_one(self, octets: bytes) -> None:
        found = wire.parse_batch(octets)
        assert isinstance(found, Quarantined)
        assert (found.reason, found.octets) == ("not_json", octets)

    @pytest.mark.parametrize(
        ("octets", "expected"),
        [
            (b"[]", []),
            (b' [1, "a,]" ,{"b":[1,2]}] ', [b"1", b'"a,]"', b'{"b":[1,2]}']),
            (b"[NaN,,2]", [b"NaN", b"", b"2"]),
            (b"[1,]", [b"1", b""]),
            (b"[1]]", None),
            (b"[1],[2]", None),
            (b'"["', None),
            (b"x[1]", None),
        ],
    )
    def test_the_elements_of_an_array_are_found_without_reading_them(
        self, octets: bytes, expected: list[bytes] | None
    ) -> None:
        assert elements(octets) == expected


def binary(**changes: object) -> dict[str, str]:
    told = {**EVENT, **changes}
    return {
        f"Ce-{name}": quote(str(value), safe="/:")
        for name, value in told.items()
        if name != "data" and value is not None
    }


BODY = json.dumps(EVENT["data"]).encode()


class TestBinary:
    def test_a_fact_in_headers_equals_the_structured_one(self) -> None:
        headers = {**binary(), "Content-Type": "application/json", "Host": "x"}
        assert wire.parse_binary(headers, BODY) == kept(event())

    def test_white_space_around_the_body_is_not_part_of_data(self) -> None:
        assert wire.parse_binary(binary(), b" \r\n" + BODY + b"\t\n") == kept(event())

    def test_headers_are_percent_decoded_once_and_unquoted(self) -> None:
        told = wire.parse_binary({**binary(id="Z\u00fcrich %41 \u20ac")}, BODY)
        assert isinstance(told, Received)
        assert told.id == "Z\u00fcrich %41 \u20ac"
        told = wire.parse_binary({**binary(), "Ce-id": '"a \\"b\\" %41"'}, BODY)
        assert isinstance(told, Received)
        assert told.id == 'a "b" A'

    @pytest.mark.parametrize(
        "media", [None, "application/json", "application/x-www-form-urlencoded"]
    )
    def test_a_whole_event_without_its_media_type_is_answered_with_that_type(
        self, media: str | None
    ) -> None:
        told = wire.parse_binary({"content-type": media} if media else {}, event())
        assert isinstance(told, Quarantined)
        assert (told.reason, told.where) == ("missing_attribute", "$.specversion")
        assert "`application/cloudevents+json`" in told.hint

    @pytest.mark.parametrize(
        ("headers", "body", "reason"),
        [
            (binary(id=None), BODY, "missing_attribute"),
            (binary(), b"", "data_missing"),
            (binary(), b"{", "not_json"),
            (binary(), b"[" * 40 + b"]" * 40, "too_deep"),
            (binary(), b"x" * (FACT_OCTETS_MAX + 1), "oversize"),
            ({**binary(), "content-type": "text/plain"}, BODY, "content_type"),
            ({**binary(), "ce-ID": "x"}, BODY, "duplicate_key"),
            ({**binary(), "ce-data": "x"}, BODY, "bad_attribute"),
            ({**binary(), "ce-data_base64": "x"}, BODY, "bad_attribute"),
            ({**binary(), "ce-x": "%ff"}, BODY, "bad_attribute"),
            ({**binary(), "ce-x": "\u20ac"}, BODY, "bad_attribute"),
            ({**binary(), "ce-x": "a%0Ab"}, BODY, "bad_attribute"),
            ({}, BODY, "missing_attribute"),
        ],
    )
    def test_what_is_malformed_is_kept_and_judged_alike_again(
        self, headers: dict[str, str], body: bytes, reason: str
    ) -> None:
        found = wire.parse_binary(headers, body)
        assert isinstance(found, Quarantined)
        assert found.reason == reason
        assert found.octets.endswith(body)
        again = wire.parse_kept(found.octets)
        assert isinstance(again, Quarantined)
        assert again.reason == reason

    def test_what_was_quarantined_is_kept_whole_for_an_upgrade(self) -> None:
        found = wire.parse_binary(binary(type="roundledger.wager_placed.v7"), BODY)
        assert isinstance(found, Quarantined)
        assert (found.reason, found.id) == ("unknown_version", "b7-0042")
        upgraded = found.octets.replace(b".v7", b".v1")
        assert wire.parse_kept(upgraded) == kept(event())


def test_kept_octets_of_a_line_are_judged_as_a_line() -> None:
    assert wire.parse_kept(event()) == kept(event())
    assert wire.parse_line(event()) == kept(event())


def as_row(fact: Received) -> dict[str, Any]:
    """The columns of a fact that a row repeats: all but who brought it."""
    return {name: value for name, value in fact._asdict().items() if name != "sender"}


class TestDecode:
    @pytest.mark.parametrize(
        ("body", "source", "subject", "table"),
        [
            (WAGER, "/h/surveillance/cam", SUBJECT, "CC-07"),
            (StubCounted(batch="b", counted=3), "/h/CC-09/shoe", None, "CC-09"),
            (StubCounted(table="CC-01", batch="b", counted=3), "/h/pit-2/app", None, "CC-01"),
            (
                DropBoxRemoved(box="B", table="CC-02", gaming_day="2026-11-20"),
                "/h/count-room/app",
                None,
                "CC-02",
            ),
            (MeterRead(meter="link", amount=1), "/h/link/meter", SUBJECT, "CC-07"),
            (MeterRead(meter="link", amount=1), "/h/link/meter", "tonight", "link"),
            (
                DisputeRaised(dispute="D", round="h:" + SUBJECT, position=1, claim="", by="S-1"),
                "/h/surveillance/app",
                None,
                "CC-07",
            ),
            (
                RulesSubmissionFiled(game="craps", effective_from="2026-01-01"),
                "/h/office/app",
                "CR-01",
                "CR-01",
            ),
            (
                RulesSubmissionFiled(game="craps", effective_from="2026-01-01"),
                "/h/office/app",
                "h",
                "office",
            ),
        ],
    )
    def test_a_fact_tells_its_table(
        self, body: Body, source: str, subject: str | None, table: str
    ) -> None:
        fact = wire.fact_of(kept(wire.encode(body, source, "1", 0, subject)))
        assert fact.body == body
        assert fact.table == table

    def test_a_value_named_like_the_counter_is_not_the_counter(self) -> None:
        fact = wire.fact_of(kept(event(a="sequence", b="boot", boot="", zz="sequence")))
        assert (fact.boot, fact.sequence) == ("", None)
        long = "x" * 300
        fact = wire.fact_of(kept(event(a=long, boot=long[:256], sequence=7)))
        assert (fact.boot, fact.sequence) == (long[:256], 7)

    def test_a_row_of_the_record_decodes_like_the_fact_received(self) -> None:
        fact = kept(event())
        row = TapeRow(position=1, table_seq=1, received_at_us=2, hash=bytes(32), **as_row(fact))
        assert wire.fact_of(row) == wire.fact_of(fact)

    @pytest.mark.parametrize(
        ("type_", "source", "octets", "says"),
        [
            ("wager_placed.v9", "/h/T/d", b"{}", "newer"),
            ("wager_placed.v1", "nowhere", b"{}", "not known"),
            ("wager_placed.v1", "/h/T/d", b"{}", r"\$\.data\.position"),
            ("wager_placed.v1", "/h/T/d", b"{", "Not JSON"),
        ],
    )
    def test_a_row_that_does_not_decode_is_an_error_that_says_where(
        self, type_: str, source: str, octets: bytes, says: str
    ) -> None:
        with pytest.raises(wire.StoredFactError, match=says):
            wire.decode(type_, source, "7", 0, None, frame_attributes({}), octets)

    def test_a_row_of_the_record_that_does_not_decode_is_named_by_its_position(self) -> None:
        fact = kept(event())._replace(type="wager_placed.v9")
        row = TapeRow(position=4711, table_seq=1, received_at_us=2, hash=bytes(32), **as_row(fact))
        with pytest.raises(wire.StoredFactError, match=r"position 4,711 of the record, /") as told:
            wire.fact_of(row)
        assert isinstance(told.value, LedgerError)  # an end of a command, not a traceback


class TestEncode:
    def test_a_line_is_the_same_octets_every_time(self) -> None:
        body = WagerPlaced(
            position=3, wager="middle", amount=2500, coupon=Coupon(serial="C-1", face=1000)
        )
        line = wire.encode(
            body,
            "/h/CC-07/sim",
            "1",
            1_795_219_451_204_000,
            SUBJECT,
            sequence=17,
            boot="b7",
            offset_minutes=-300,
        )
        assert line == (
            b'{"specversion":"1.0","type":"roundledger.wager_placed.v1","source":"/h/CC-07/sim",'
            b'"id":"1","time":"2026-11-20T19:04:11.204000-05:00","subject":"CC-07/2026-11-20/231",'
            b'"sequence":"17","boot":"b7","data":{"position":3,"wager":"middle","amount":2500,'
            b'"coupon":{"serial":"C-1","face":1000}}}'
        )

    def test_a_time_given_as_text_is_written_as_it_is(self) -> None:
        line = wire.encode(WAGER, "/h/CC-07/sim", "1", "2026-11-20T19:04:11Z", SUBJECT)
        assert b'"time":"2026-11-20T19:04:11Z"' in line

    def test_a_kept_fact_is_shown_as_an_event_with_its_own_octets(self) -> None:
        fact = kept(data('{"position" : 3,"wager":"\\u0061","amount":1}', x="\u20ac"))
        assert b'"data":{"position" : 3,"wager":"\\u0061","amount":1}}' in wire.structured(fact)
        assert kept(wire.structured(fact)) == fact
        assert unframe_attributes(fact.attributes)["x"] == "\u20ac"


@pytest.mark.parametrize(
    ("name", "property_", "means"),
    [
        ("hollywood:CC-07/2026-11-20/231", None, "hollywood"),
        ("hollywood:CC-07/2026-11-20/231", "parx", "hollywood"),
        ("CC-07/2026-11-20/231", "parx", "parx"),
        ("CC-07/2026-11-20/231", "", ""),
        ("CC-07/2026-11-20/231", None, None),
        (":CC-07/2026-11-20/231", "parx", None),
        ("a:b:CC-07/2026-11-20/231", "parx", None),
        ("hollywood:CC-07", None, None),
        ("", "parx", None),
    ],
)
def test_a_rounds_name_may_leave_out_a_property_that_is_known(
    name: str, property_: str | None, means: str | None
) -> None:
    found = parse_round(name, property_)
    assert found == (None if means is None else RoundId(means, "CC-07", "2026-11-20", 231))
