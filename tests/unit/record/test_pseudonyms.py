"""Pseudonyms of patrons: what stands in place of a token, and how a table of them is verified."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.record.pseudonyms import (
    NOT_KEPT,
    FactOnRecord,
    KeptPseudonym,
    PatronToken,
    is_pseudonym,
    patrons_in,
    pseudonym_of,
    said_again,
    verify_pseudonyms,
    with_pseudonyms,
)
from ledger.record.tape import Quarantined, Received, frame_attributes, unframe_attributes

P77 = PatronToken("p", "P-77")
SALT = bytes(range(32))
NAME = pseudonym_of(P77, SALT)
KEPT = KeptPseudonym(1, NAME, "p", "P-77", SALT, None)


def seat(data: bytes, **more: str) -> Received:
    attributes = frame_attributes({"source": "/p/CC-07/terminal", "id": "1", **more})
    return Received("p/CC-07", "seat_taken.v1", "/p/CC-07/terminal", "1", 0, None, attributes, data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"positions":[1],"patron":"P-77"}',
        b'{ "patron" : "P-77" , "positions" : [ 1 ] }',
        b'{"patron":"\\u0050-77"}',
        b'{"p\\u0061tro\\u006E":"P-77"}',
        b'{"of":{"source":"/p/x/y","id":"1"},"data":{"patron":"P-77"}}',
        b'{"note":"\\"patron\\":\\"no\\"","patron":"P-77"}',
    ],
)
def test_a_token_is_found_however_it_is_written(data: bytes) -> None:
    fact = seat(data)
    assert patrons_in(fact) == [P77]
    its = with_pseudonyms(fact, {P77: NAME})
    assert NAME.encode() in its.data
    assert patrons_in(its) == []
    json.loads(its.data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"patron":null}',
        b'{"positions":[1]}',
        b'{"note":"the patron: \\"P-77\\""}',
        b'{"patrons":"P-77"}',
        b'{"patron":""}',
        b'{"patron":"' + NAME.encode() + b'"}',
    ],
)
def test_what_is_no_token_stays(data: bytes) -> None:
    assert patrons_in(seat(data)) == []


@given(
    st.dictionaries(
        st.sampled_from(["patron", "note", 'a"patron', "positions", "\\", "patron\\"]),
        st.one_of(st.text(), st.integers(), st.none(), st.dictionaries(st.text(), st.text())),
    )
)
def test_nothing_but_tokens_changes(said: dict[str, object]) -> None:
    fact = seat(json.dumps(said).encode())
    known = {each: pseudonym_of(each, SALT) for each in patrons_in(fact)}
    after = json.loads(with_pseudonyms(fact, known).data)
    assert {name: each for name, each in after.items() if name != "patron"} == {
        name: each for name, each in json.loads(fact.data).items() if name != "patron"
    }
    token = said.get("patron")
    if isinstance(token, str | int) and token != "" and not isinstance(token, bool):
        assert is_pseudonym(after["patron"])


def test_broken_bytes_keep_no_token_either() -> None:
    for octets in (b'{"x: 1, "patron": "P-77"', b'{"patron": "P-77', b'{"patron":P-77,"patron":77'):
        aside = Quarantined(octets, "not_json", "", "", "", "/p/CC-07/terminal")
        known = {each: pseudonym_of(each, SALT) for each in patrons_in(aside)}
        assert known
        after = with_pseudonyms(aside, known).octets
        assert (b'"P-77' in after, b":77" in after) == (False, False), after


def test_a_signature_over_a_token_is_not_kept() -> None:
    """With the public key, anybody could try tokens against it."""
    signed = with_pseudonyms(
        seat(b'{"patron":"P-77"}', signature="c2ln", signkey="k1"), {P77: NAME}
    )
    assert unframe_attributes(signed.attributes).keys() == {"source", "id", "signkey"}
    whole = b'{"signature":"c2ln","data":{"patron":"P-77"}}'
    aside = with_pseudonyms(Quarantined(whole, "unsigned", "", "", "", "/p/a/b"), {P77: NAME})
    assert json.loads(aside.octets)["signature"] == NOT_KEPT
    plain = seat(b'{"positions":[1]}', signature="c2ln")
    assert patrons_in(plain) == [], "and one over no token is left alone"


def test_a_pseudonym_depends_on_casino_token_and_salt() -> None:
    others = (
        pseudonym_of(P77, bytes(32)),
        pseudonym_of(PatronToken("q", "P-77"), SALT),
        pseudonym_of(PatronToken("p", "P-78"), SALT),
        pseudonym_of(PatronToken("pP", "-77"), SALT),
    )
    assert len({NAME, *others}) == 5


def test_a_fact_sent_again_is_known_before_and_after_erasing() -> None:
    sent = seat(b'{"positions":[1],"patron":"P-77"}')
    other = seat(b'{"positions":[1],"patron":"P-78"}')
    moved = seat(b'{"positions":[2],"patron":"P-77"}')
    data = with_pseudonyms(sent, {P77: NAME}).data
    live, erased = FactOnRecord(data, frozenset([NAME])), FactOnRecord(data, frozenset())
    known = {P77: NAME}
    assert said_again(sent, live, known)
    assert not said_again(other, live, known)
    assert not said_again(moved, live, known)
    assert said_again(sent, erased, {})
    assert said_again(other, erased, {}), "nobody can tell any more"
    assert not said_again(moved, erased, {})
    before = FactOnRecord(sent.data, frozenset())
    assert said_again(sent, before, {}), "recorded before there were pseudonyms"
    assert not said_again(other, before, {})


def test_rows_that_are_not_as_they_were_kept_are_named() -> None:
    gone = KEPT._replace(token=None, salt=None, erased_position=9)

    def kinds(*rows: KeptPseudonym, counted: int = 1, at: int = 0) -> list[tuple[str, int | None]]:
        found = verify_pseudonyms(rows, counted, {NAME: at} if at else {})
        return [(each.kind, each.pseudonym) for each in found]

    assert kinds(KEPT) == []
    assert kinds(gone, at=9) == []
    edited = [("pseudonym edited", 1)]
    assert kinds(KEPT._replace(token=P77.property)) == edited
    assert kinds(KEPT._replace(salt=bytes(32))) == edited
    assert kinds(KEPT._replace(property="q")) == edited
    assert kinds(gone) == edited, "erased by nobody on record"
    assert kinds(gone, at=8) == edited
    assert kinds(KEPT, at=9) == edited, "erased, and there again"
    assert kinds() == [("pseudonym deleted", 1)]
    assert kinds(KEPT._replace(number=2), counted=2) == [("pseudonym deleted", 1)]
