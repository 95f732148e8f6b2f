"""The roster as the record has it, read by a door, and facts that come in by HTTP."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING

import httpx

from infra.access.keys import Keys
from infra.postgres.tape import PostgresTape
from ledger.facts import Grant, GrantsSet, KeyEnrolled, KeyRevoked, KeyRotated
from ledger.record.tape import Quarantined, Received
from ledger.record.wire import structured
from ledger.roster.door import REASONS
from ledger.values import Source
from replay.recording.house_facts import append_fact, now_us
from replay.roster.door import KNOWN_S, Door, read_roster
from replay.roster.key_files import sign_rotation
from tests.fixtures.http import BATCH, STRUCTURED, TRUST, batch
from tests.fixtures.web import ACTOR
from tests.scenes.signed_floor import fact_from, key_for, signed_by
from tests.unit.roster.test_door import DEALT, OTHER, OWN, SHOE

if TYPE_CHECKING:
    from ledger.facts import Body
    from replay.roster.key_files import DeviceKey
    from tests.fixtures.web import Site

OFFICE = Source("hollywood", "office", "roster")


def record(tape: PostgresTape, body: Body) -> None:
    append_fact(tape, body, OFFICE)


def enrolled(source: str, role: str) -> KeyEnrolled:
    key = key_for(source)
    return KeyEnrolled(key=key.key, public_key=text(key), source=source, role=role, by="IT-7")


def granted(name: str) -> GrantsSet:
    return GrantsSet(role="shoe", grants=(Grant(facts=(name,)),), because="x", by="IT-7")


def text(key: DeviceKey) -> str:
    return b64encode(key.public).decode()


def dealt(id_: str, subject: str = OWN) -> Received:
    return fact_from(SHOE, DEALT, subject, time_us=now_us(), id_=id_)


class Clock:
    """Seconds that the test says."""

    s = 100.0

    def __call__(self) -> float:
        return self.s


def test_a_door_learns_of_keys_grants_and_revocations_within_seconds(tape: PostgresTape) -> None:
    clock = Clock()
    door = Door(tape, clock=clock)

    def seen(fact: Received) -> str:
        [judged] = door.judged([fact], "os:anna")
        return judged.reason if isinstance(judged, Quarantined) else "accepted"

    assert seen(dealt("1")) == "accepted"
    record(tape, enrolled(SHOE, "shoe"))
    assert seen(dealt("1")) == "accepted", "it is remembered that there is no roster"
    assert door.is_quick([dealt("1")])
    clock.s += KNOWN_S
    assert not door.is_quick([dealt("1")])
    assert seen(dealt("1")) == "unsigned"
    assert seen(signed_by(SHOE, dealt("1"))) == "accepted"
    assert not door.is_quick([dealt("1")])

    record(tape, granted("tip_dropped"))
    clock.s += KNOWN_S
    assert seen(signed_by(SHOE, dealt("1"))) == "outside_grant"
    record(tape, granted("cards_dealt"))
    record(tape, KeyRevoked(key=key_for(SHOE).key, because="Lost", by="IT-7"))
    clock.s += KNOWN_S
    assert seen(signed_by(SHOE, dealt("1"))) == "key_revoked"
    assert seen(fact_from("/elsewhere/CC-01/shoe", DEALT, OWN, time_us=now_us())) == "accepted"


def test_only_the_old_key_names_its_successor(tape: PostgresTape) -> None:
    old, new, thief = key_for(SHOE), key_for("new"), key_for("thief")
    record(tape, enrolled(SHOE, "shoe"))
    for signer, successor in ((thief, thief), (old, new), (old, thief)):
        body = KeyRotated(
            key=successor.key,
            public_key=text(successor),
            replaces=old.key,
            signature=sign_rotation(signer, successor.public),
            by="IT-7",
        )
        record(tape, body)
    keys = read_roster(tape, "hollywood")[1].keys
    assert set(keys) == {old.key, new.key}, "a second successor is none"
    assert (keys[old.key].signs, keys[old.key].replaced_by) == (False, new.key)
    assert (keys[new.key].source, keys[new.key].role) == (SHOE, "shoe")


def test_a_key_whose_id_is_not_that_of_its_public_half_is_none(tape: PostgresTape) -> None:
    body = enrolled(SHOE, "shoe")
    forged = KeyEnrolled(
        key="0" * 16, public_key=body.public_key, source=SHOE, role="shoe", by="IT-7"
    )
    record(tape, forged)
    assert read_roster(tape, "hollywood")[1].keys == {}


def test_over_http_what_is_refused_is_kept_answered_and_counted(site: Site) -> None:
    bearer = Keys(site.ports.access).add("/hollywood/CC-01/shoe", ACTOR)
    with PostgresTape(site.database) as tape:
        record(tape, enrolled(SHOE, "shoe"))
        good, other = signed_by(SHOE, dealt("1")), signed_by(SHOE, dealt("2", OTHER))
        content = batch([structured(each) for each in (good, other, dealt("3"))])
        headers = {**BATCH, "Authorization": f"Bearer {bearer}"}
        answered = httpx.post(
            f"{site.url}/v1/facts", content=content, headers=headers, timeout=120, verify=TRUST
        )
        assert answered.status_code == httpx.codes.OK
        told = answered.json()
        assert [(each["verdict"], each["reason"]) for each in told] == [
            ("appended", None),
            ("quarantined", "outside_grant"),
            ("quarantined", "unsigned"),
        ]
        key, by = f"key:{key_for(SHOE).key}", f"key:{bearer.split('_')[1]}"
        assert tape.sender_of(told[0]["position"]) == f"{key} {by}"
        assert [list(row.senders) for row in tape.quarantined()] == [[f"{key} {by}"], [by]]
        again = httpx.post(
            f"{site.url}/v1/facts",
            content=structured(good),
            headers={**STRUCTURED, "Authorization": f"Bearer {bearer}"},
            timeout=120,
            verify=TRUST,
        )
        assert json.loads(again.content)["verdict"] == "duplicate"
    page = httpx.get(f"{site.url}/metrics", timeout=120, verify=TRUST).text
    assert 'round_ledger_http_door_refusals_total{reason="outside_grant"} 1.0' in page


def test_what_was_refused_is_summed_by_key_until_it_is_released(
    tape: PostgresTape,
) -> None:
    record(tape, enrolled(SHOE, "shoe"))
    door = Door(tape)
    other = signed_by(SHOE, dealt("2", OTHER))
    for sent in ([other], [other, dealt("3")], [signed_by(SHOE, dealt("1"))]):
        tape.append(door.judged(sent, "os:anna"))
    found = tape.door_refusals(REASONS, 0)
    assert [(each.sender, each.reason, each.times) for each in found] == [
        (f"key:{key_for(SHOE).key}", "outside_grant", 2),
        ("os:anna", "unsigned", 1),
    ]
    tape.release(1, other)
    assert [each.reason for each in tape.door_refusals(REASONS, 0)] == ["unsigned"]
    assert tape.door_refusals(REASONS, now_us() + 10**12) == []
