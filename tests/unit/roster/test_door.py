"""One device's key says its own facts alone: all else is quarantined with the key's id."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, find, settings

from ledger import facts
from ledger.games import games
from ledger.record.tape import Quarantined, Received, frame_attributes, unframe_attributes
from ledger.record.wire import parse_line
from ledger.roster.door import (
    AHEAD_US_MAX,
    BEHIND_US_MAX,
    COMMANDS_ONLY,
    CORRECTED,
    OWN_SOURCES,
    REASONS,
    REPLACES,
    TWO_PEOPLE,
    checked,
)
from ledger.roster.grants import GRANTS
from ledger.roster.roster import NO_ROSTER
from ledger.simulate import MISTAKES, plan_of
from replay.approvals import request
from replay.disputes import dispute as disputes
from replay.disputes.service import LOCKS
from replay.recording import sealed_days, submissions
from replay.recording.house_facts import screen
from replay.roster.key_files import verifies
from replay.roster.signed_floor import role_of
from tests.property.fact_strategies import bodies
from tests.scenes.signed_floor import (
    NOW_US,
    at_the_door,
    fact_from,
    key_for,
    roster_of,
    signed_by,
    signed_floor,
)

if TYPE_CHECKING:
    from ledger.facts import Body
    from ledger.roster.roster import Roster

SHOE = "/hollywood/CC-01/shoe"
TERMINAL = "/hollywood/CC-02/terminal"
OWN, OTHER = "CC-01/2026-11-20/7", "CC-02/2026-11-20/7"
DAY_US = 86_400_000_000
OTHERS_FACT = facts.FactRef(source="/hollywood/CC-02/layout", id="1")
ELSEWHERES_FACT = facts.FactRef(source="/elsewhere/CC-01/layout", id="1")
WHEN = {"from_": "2026-11-20T21:00:00Z", "to": "2026-11-20T21:01:00Z"}
SEGMENT = {"camera": "X-1", "sha256": "0" * 64, "start": "2026-11-20T21:00:00Z", "frames": 1}
DEALT = facts.CardsDealt(to="dealer", cards=("As",), face="up")


def footage(cls: Any) -> Body:  # noqa: ANN401 - one of five facts
    body: Body = cls(camera="CC-02-1", by="A-9", because="x", **WHEN)
    return body


ATTACKS: dict[str, tuple[Body, str | None, int]] = {
    "pays into another table's round": (
        facts.WagerPaid(position=1, wager="ante", amount=9_990_000), OTHER, NOW_US,
    ),
    "pays at its own table": (
        facts.WagerPaid(position=1, wager="ante", amount=9_990_000), OWN, NOW_US,
    ),
    "a second count of another table's box": (
        facts.DropBoxCounted(
            box="B-1", table="CC-02", gaming_day="2026-11-20", count=2, currency={},
            counter_checks=(), vouchers=(), coupons=(), counted_by=("C-1",),
        ), None, NOW_US,
    ),
    "a Rules Submission": (
        facts.RulesSubmissionFiled(game="lunar_poker", effective_from="2026-01-01"),
        "hollywood", NOW_US,
    ),
    "another table's camera an hour off": (
        facts.ClockChecked(
            camera="CC-02-1", camera_time="2026-11-20T22:00:00Z",
            reference_time="2026-11-20T21:00:00Z", reference="ntp", uncertainty_ms=1,
        ), None, NOW_US,
    ),
    "a camera lost": (facts.CameraLost(camera="CC-02-1", reason="x"), None, NOW_US),
    "a dispute": (
        facts.DisputeRaised(dispute="D-1", round=OTHER, position=1, claim="x", by="S-1"),
        None, NOW_US,
    ),
    "a dispute resolved": (
        facts.DisputeResolved(dispute="D-1", outcome="x", by="S-999"), None, NOW_US,
    ),
    "an adjustment from the cage": (
        facts.AdjustmentPaid(dispute="D-1", position=1, amount=5_000_000, paid_from="cage"),
        None, NOW_US,
    ),
    "footage released": (footage(facts.FootageReleased), None, NOW_US),
    "footage expired": (footage(facts.FootageExpired), None, NOW_US),
    "footage viewed by an auditor": (footage(facts.FootageViewed), None, NOW_US),
    "another device's fact corrected": (
        facts.FactCorrected(of=OTHERS_FACT, because="x", by="I-1", second="I-2"), None, NOW_US,
    ),
    "a segment of an absolute path": (
        facts.SegmentRecorded(path="/etc/passwd", duration_us=1, **SEGMENT), None, NOW_US,
    ),
    "a segment of a path that climbs": (
        facts.SegmentRecorded(path="../../x", duration_us=1, **SEGMENT), None, NOW_US,
    ),
    "an investigator's observation": (
        facts.ObservationRecorded(dispute="D-1", round=OTHER, saw="x", by="S-1"), None, NOW_US,
    ),
    "a fact of 2016": (DEALT, OWN, NOW_US - 3653 * DAY_US),
    "a fact of 2126": (DEALT, OWN, NOW_US + 36525 * DAY_US),
    "a round's number reserved": (
        facts.RoundCompleted(), "CC-01/2026-11-20/999999", NOW_US,
    ),
}  # fmt: skip


def refused(judged: Received | Quarantined, reason: str, key: str) -> Quarantined:
    assert isinstance(judged, Quarantined), judged
    assert (judged.reason, judged.sender) == (reason, key)
    return judged


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_shoe_owns_no_house(attack: str) -> None:
    body, subject, time_us = ATTACKS[attack]
    fact = signed_by(SHOE, fact_from(SHOE, body, subject, time_us=time_us))
    reason = "time_too_far" if attack.startswith("a fact of") else "outside_grant"
    judged = refused(
        at_the_door(fact, roster_of({SHOE: "shoe"})), reason, f"key:{key_for(SHOE).key}"
    )
    kept = parse_line(judged.octets)
    assert isinstance(kept, Received)
    assert kept == fact, "its bytes are kept, so a person can release it"


RIGHT = {
    "a second count of another table's box": "/hollywood/count-room/scale",
    "a Rules Submission": "/hollywood/office/desk",
    "a camera lost": "/hollywood/surveillance/recorder",
    "another table's camera an hour off": "/hollywood/surveillance/CC-02-1",
    "pays at its own table": "/hollywood/CC-01/layout",
    "pays into another table's round": "/hollywood/CC-02/layout",
    "a segment of an absolute path": "/hollywood/surveillance/recorder",
    "a round's number reserved": "/hollywood/CC-01/terminal",
}


@pytest.mark.parametrize("attack", RIGHT)
def test_control_the_same_fact_from_the_right_key_is_accepted(attack: str) -> None:
    body, subject, time_us = ATTACKS[attack]
    source = RIGHT[attack]
    fact = signed_by(source, fact_from(source, body, subject, time_us=time_us))
    judged = at_the_door(fact, roster_of({source: role_of(source)}))
    assert judged == fact._replace(sender=f"key:{key_for(source).key}")


def test_control_a_shoe_deals_at_its_table() -> None:
    fact = signed_by(SHOE, fact_from(SHOE, DEALT, OWN))._replace(sender="key:0f3a9c1b22d4")
    judged = at_the_door(fact, roster_of({SHOE: "shoe"}))
    assert judged == fact._replace(sender=f"key:{key_for(SHOE).key} key:0f3a9c1b22d4")


def test_without_a_roster_nothing_is_refused() -> None:
    for body, subject, time_us in ATTACKS.values():
        fact = fact_from(SHOE, body, subject, time_us=time_us)
        assert at_the_door(fact, NO_ROSTER) is fact


@pytest.mark.parametrize("own", OWN_SOURCES)
def test_nobody_else_reports_under_a_source_of_the_ledgers_own(own: str) -> None:
    source = f"/hollywood/{own}"
    tip = signed_by(source, fact_from(source, facts.TipDropped(amount=5)))
    for roster in (NO_ROSTER, roster_of({source: "table_terminal"})):
        judged = at_the_door(tip, roster)
        assert isinstance(judged, Quarantined)
        assert (judged.reason, judged.where) == ("not_of_a_device", "$.source")
        assert parse_line(judged.octets) == tip, "its bytes are kept, so a person can release it"
    beside = fact_from(f"{source}x", facts.TipDropped(amount=5))
    assert at_the_door(beside, NO_ROSTER) is beside


def test_control_a_copy_of_the_ledgers_own_facts_comes_by_a_feed() -> None:
    for own, types in OWN_SOURCES.items():
        for each in types:
            source = f"/hollywood/{own}"
            copy = fact_from(source, facts.TipDropped(amount=5))._replace(type=each)
            assert at_the_door(copy, NO_ROSTER) is copy


def test_the_ledgers_own_sources_are_those_of_its_decisions() -> None:
    decided = {*map(screen_of, (disputes.DEVICE, LOCKS))}
    decided |= {f"office/{each.DEVICE}" for each in (sealed_days, submissions, request)}
    assert decided <= OWN_SOURCES.keys()
    told = {facts.type_name(each) for each in disputes.FACTS}
    assert OWN_SOURCES[screen_of(disputes.DEVICE)] == told


def screen_of(device: str) -> str:
    return "/".join(screen("p", device)[1:])


@pytest.mark.parametrize("reason", ["unsigned", "key_unknown", "bad_signature", "key_revoked"])
def test_what_its_key_did_not_sign_is_refused(reason: str) -> None:
    roster = roster_of({SHOE: "shoe"})
    own, stranger = key_for(SHOE).key, key_for("/x/y/z").key
    fact, key = signed_by(SHOE, fact_from(SHOE, DEALT, OWN)), f"key:{own}"
    if reason == "unsigned":
        fact, key = fact_from(SHOE, DEALT, OWN)._replace(sender="os:anna"), "os:anna"
    elif reason == "key_unknown":
        fact, key = signed_by("/x/y/z", fact), f"named:{stranger}"
    elif reason == "bad_signature":
        fact, key = fact._replace(data=fact.data.replace(b"As", b"Ac")), f"named:{own}"
    else:
        keys = {each.key: each._replace(revoked_at_us=1) for each in roster.keys.values()}
        roster = roster._replace(keys=keys)
    refused(at_the_door(fact, roster), reason, key)


def test_a_long_name_of_a_key_is_cut() -> None:
    attributes = {
        **unframe_attributes(fact_from(SHOE, DEALT, OWN).attributes),
        "signkey": "x y" * 99,
    }
    fact = fact_from(SHOE, DEALT, OWN)._replace(attributes=frame_attributes(attributes))
    judged = at_the_door(fact, roster_of({SHOE: "shoe"}))
    assert isinstance(judged, Quarantined)
    assert judged.sender == "named:" + ("x_y" * 99)[:64]


def test_a_key_signs_for_no_other_source() -> None:
    roster = roster_of({SHOE: "shoe", "/hollywood/CC-01/shoe-2": "shoe"})
    other = signed_by(SHOE, fact_from("/hollywood/CC-01/shoe-2", DEALT, OWN))
    refused(at_the_door(other, roster), "outside_grant", f"key:{key_for(SHOE).key}")


@pytest.mark.parametrize("name", COMMANDS_ONLY)
def test_no_device_changes_the_roster_not_even_before_there_is_one(name: str) -> None:
    body = example_of(name)
    fact = fact_from("/hollywood/office/roster", body)
    for roster in (NO_ROSTER, roster_of({"/hollywood": "table_terminal"})):
        judged = at_the_door(fact, roster)
        assert isinstance(judged, Quarantined)
        assert judged.reason == "not_of_a_device"


@pytest.mark.parametrize("name", TWO_PEOPLE)
def test_once_there_are_users_nobody_is_named_as_one_of_two_who_did_not_sign_in(name: str) -> None:
    fact = fact_from("/hollywood/office/win", example_of(name))
    judged = checked(fact, NO_ROSTER, NOW_US, verifies, has_users=True)
    assert isinstance(judged, Quarantined)
    assert (judged.reason, judged.source) == ("not_approved", fact.source)
    assert checked(fact, NO_ROSTER, NOW_US, verifies) == fact, "the control: there are no users"
    other = fact_from("/hollywood/office/win", example_of("meter_reset.v1"))
    assert checked(other, NO_ROSTER, NOW_US, verifies, has_users=True) == other


def judged_with_users(fact: Received, roster: Roster = NO_ROSTER) -> Received | Quarantined:
    return checked(fact, roster, NOW_US, verifies, has_users=True)


def test_once_there_are_users_a_correction_needs_two_people_or_a_device_that_may_sign_it() -> None:
    """Else one person's `ingest` would do what two people release."""
    fact = fact_from(SHOE, example_of(CORRECTED))
    judged = judged_with_users(fact)
    assert isinstance(judged, Quarantined)
    assert (judged.reason, judged.where) == ("not_approved", "$.type")
    assert checked(fact, NO_ROSTER, NOW_US, verifies) == fact, "the control: there are no users"
    own = facts.FactCorrected(
        of=facts.FactRef(source=SHOE, id="1"), because="x", by="I-1", second="I-2"
    )
    signed = signed_by(SHOE, fact_from(SHOE, own, id_="2"))
    roster = roster_of({SHOE: "shoe"})
    may = roster._replace(grants={"shoe": (facts.Grant(facts=("fact_corrected",)),)})
    assert isinstance(judged_with_users(signed, may), Received)
    refused(judged_with_users(signed, roster), "outside_grant", f"key:{key_for(SHOE).key}")


def test_once_there_are_users_no_fact_says_that_it_was_released_from_quarantine() -> None:
    """Signed or not: the attribute says that two people released it."""
    dealt = fact_from(SHOE, DEALT, OWN)
    attributes = unframe_attributes(dealt.attributes)
    marked = dealt._replace(attributes=frame_attributes(attributes | {REPLACES: "17"}))
    roster = roster_of({SHOE: "shoe"})
    for fact, of in ((marked, NO_ROSTER), (signed_by(SHOE, marked), roster)):
        judged = judged_with_users(fact, of)
        assert isinstance(judged, Quarantined)
        assert (judged.reason, judged.where) == ("not_approved", f"$.{REPLACES}")
        assert isinstance(at_the_door(fact, of), Received), "the control: there are no users"
    beside = dealt._replace(attributes=frame_attributes(attributes | {"note": REPLACES}))
    assert judged_with_users(beside) == beside, "a value is no attribute"


def test_times_within_the_limits_are_accepted() -> None:
    roster = roster_of({SHOE: "shoe"})
    for time_us, kept in (
        (NOW_US + AHEAD_US_MAX, True),
        (NOW_US + AHEAD_US_MAX + 1, False),
        (NOW_US - BEHIND_US_MAX, True),
        (NOW_US - BEHIND_US_MAX - 1, False),
    ):
        fact = signed_by(SHOE, fact_from(SHOE, DEALT, OWN, time_us=time_us))
        assert isinstance(at_the_door(fact, roster), Received) is kept


@pytest.mark.parametrize(
    ("body", "subject"),
    [
        (facts.DropBoxRemoved(box="B", table="CC-02", gaming_day="2026-11-20"), None),
        (facts.TipDropped(amount=1, table="CC-02"), None),
        (facts.NoRollCalled(reason="x", of=OTHERS_FACT), OWN),
        (facts.NoRollCalled(reason="x", of=ELSEWHERES_FACT), OWN),
        (facts.TipDropped(amount=1), "CC-02"),
        (facts.TipDropped(amount=1, table="CC-02"), OWN),
        (facts.SeatTaken(positions=(1,)), OTHER),
    ],
)
def test_a_terminal_reports_nothing_about_another_table(body: Body, subject: str | None) -> None:
    source = "/hollywood/CC-01/terminal"
    fact = signed_by(source, fact_from(source, body, subject))
    judged = at_the_door(fact, roster_of({source: "table_terminal"}))
    refused(judged, "outside_grant", f"key:{key_for(source).key}")


def test_two_hundred_facts_drawn_over_types_and_roles_do_what_the_grants_say() -> None:
    """Drawn with a seed. Which facts a role may report is read from the grants, about its table."""
    chance = random.Random(20)  # noqa: S311 - repeatable
    sources = {f"/hollywood/CC-01/{role.replace('_', '-')}": role for role in sorted(GRANTS)}
    roster = roster_of(sources)
    names = sorted(set(facts.FACTS) - set(COMMANDS_ONLY))
    accepted = 0
    for number in range(200):
        source, role = chance.choice(sorted(sources.items()))
        name = chance.choice(names)
        granted = any(name.removesuffix(".v1") in grant.facts for grant in GRANTS[role])
        subject = "hollywood" if name.startswith("rules_sub") else chance.choice((OWN, OTHER))
        fact = signed_by(source, fact_from(source, example_of(name), subject, id_=str(number)))
        judged = at_the_door(fact, roster)
        if isinstance(judged, Received):
            accepted += 1
            assert granted, (role, name)
            continue
        assert judged.reason == "outside_grant"
        assert judged.sender == f"key:{key_for(source).key}"
    assert 4 < accepted < 190


@cache
def example_of(name: str) -> Body:
    """The same body of a type each time."""
    quick = settings(
        database=None, derandomize=True, max_examples=1, phases=[Phase.generate], deadline=None
    )
    return find(bodies(name), lambda _: True, settings=quick)


@pytest.mark.parametrize("game", sorted(games()))
def test_honest_devices_of_every_game_need_no_setting(game: str) -> None:
    plan = plan_of(
        tables=1, of=[game], minutes=6, seats=4, seed=5, mistakes=dict.fromkeys(MISTAKES, 1)
    )
    floor = list(signed_floor(plan))
    roster = roster_of({fact.source: role_of(fact.source) for fact in floor})
    judged = [at_the_door(fact, roster) for fact in floor]
    assert [each for each in judged if isinstance(each, Quarantined)] == []
    assert len(judged) > 40


def test_every_reason_has_a_test_here() -> None:
    assert set(REASONS) == {
        "unsigned", "key_unknown", "bad_signature", "key_revoked", "outside_grant",
        "time_too_far", "not_of_a_device", "not_approved",
    }  # fmt: skip
