"""The check of a received fact at the door: who signed it, and whether that key may say it.

Only a property with keys on its roster has its facts checked. What is refused is quarantined with
its bytes and the key's id, and a person can release it (ADR 0231, ADR 0232).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.record.tape import Quarantined, Received, unframe_attributes
from ledger.record.wire import fact_of, structured
from ledger.roster.grants import outside
from ledger.roster.roster import ROSTER_FACTS
from ledger.roster.signature import signed
from ledger.values import format_time

if TYPE_CHECKING:
    from ledger.roster.roster import Roster, SigningKey, Verifies

_DAY_US = 86_400_000_000
AHEAD_US_MAX = 2 * _DAY_US
"""How far a device's time may be ahead of the ledger's."""

BEHIND_US_MAX = 400 * _DAY_US
"""How far it may be behind: a device may have kept facts for long, and a feed may be an old one."""

_NAMED_MAX = 64
_RELEASE = "look at the device; a person releases what is true with `round-ledger quarantine`"


class _Refusal(NamedTuple):
    reason: str
    what: str
    where: str
    hint: str = _RELEASE


COMMANDS_ONLY = {
    **dict.fromkeys(ROSTER_FACTS, "keys"),
    "grants_set.v1": "grants",
    "break_acknowledged.v1": "acknowledge",
    "quarantine_released.v1": "quarantine release",
    "patron_erased.v1": "erase",
    "epoch_begun.v1": "log epoch",
    "approval_requested.v1": "approve",
    "approval_given.v1": "approve",
    "approval_refused.v1": "approve",
    "approval_withdrawn.v1": "approve",
}
"""Facts that no device may report, by stored name, with the command that records each."""

_OF_DISPUTES = (
    "dispute_raised", "dispute_noted", "observation_recorded", "claim_revealed",
    "dispute_resolved", "adjustment_paid", "task_set", "task_done",
)  # fmt: skip

OWN_SOURCES: dict[str, frozenset[str]] = {
    "office/days": frozenset(("day_sealed.v1", "day_reopened.v1")),
    "office/submissions": frozenset(("rules_submission_filed.v1",)),
    "office/approvals": frozenset(),  # `COMMANDS_ONLY` has all of its facts
    "surveillance/disputes": frozenset(f"{name}.v1" for name in _OF_DISPUTES),
    "surveillance/locks": frozenset(("footage_locked.v1",)),
    "surveillance/log": frozenset(("log_entry_added.v1", "log_entry_corrected.v1")),
    "surveillance/shift": frozenset(
        ("shift_begun.v1", "shift_handed_over.v1", "shift_countersigned.v1")
    ),
}
"""The ledger's own sources, by place and device, whose facts have ids that can be foretold.

Each has the facts that the ledger records there. A copy of them may come by a feed (ADR 0282).
"""

TWO_PEOPLE = {
    "day_sealed.v1": "day close",
    "day_reopened.v1": "day reopen",
    "variance_explained.v1": "variance explain",
}
"""Facts that name two people, each signed in once a ledger has users; with their commands."""

CORRECTED = "fact_corrected.v1"
"""A fact that names two people too. A device that signs within its grants may report it."""

REPLACES = "quarantineid"
"""The attribute with which a released fact names the input in quarantine that it stands for."""

_REPLACES = REPLACES.encode()

REASONS = (
    "unsigned",
    "key_unknown",
    "bad_signature",
    "key_revoked",
    "outside_grant",
    "time_too_far",
    "not_of_a_device",
    "not_approved",
)
"""The reasons for which a well-formed fact is quarantined at the door."""


def checked(
    fact: Received,
    roster: Roster,
    now_us: int,
    verifies: Verifies,
    *,
    has_users: bool = False,
    is_waiting: bool = False,
) -> Received | Quarantined:
    """The fact with the key that signed it as its sender, or quarantined with a reason.

    `fact.sender` is what brought it: a bearer key or a login. has_users: whether the ledger knows
    people who sign in, so that two of them approve what names two. is_waiting: a person brings it
    at the machine, and an input with its source and id waits in quarantine.
    """
    judged = _by_roster(fact, roster, now_us, verifies)
    if not has_users or not isinstance(judged, Received):
        return judged
    refusal = _unapproved(judged, is_signed=bool(roster.keys), is_waiting=is_waiting)
    return _aside(judged, refusal) if refusal else judged


def may_need_two(fact: Received) -> bool:
    """Whether a fact may need two people who sign in, once there are any: a quick look."""
    return fact.type in TWO_PEOPLE or fact.type == CORRECTED or _REPLACES in fact.attributes


def _unapproved(fact: Received, *, is_signed: bool, is_waiting: bool) -> _Refusal | None:
    """Why two people have to approve a fact first, or None. is_signed: within a device's grants."""
    if fact.type in TWO_PEOPLE:
        says = "It names two people, and neither signed in for it"
        hint = f"use `round-ledger {TWO_PEOPLE[fact.type]}`, or let two people release it"
        return _Refusal("not_approved", says, "$.type", hint)
    hint = "let two people release it with `round-ledger quarantine release`"
    if _REPLACES in fact.attributes and REPLACES in unframe_attributes(fact.attributes):
        says = "It stands for an input in quarantine, and nobody released that"
        return _Refusal("not_approved", says, f"$.{REPLACES}", hint)
    if fact.type == CORRECTED and not is_signed:
        says = "It corrects a fact in the names of two people, and neither signed in for it"
        return _Refusal("not_approved", says, "$.type", hint)
    if is_waiting and not is_signed:
        says = "An input with its source and id waits in quarantine"
        return _Refusal("not_approved", says, "$.id", hint)
    return None


def _by_roster(
    fact: Received, roster: Roster, now_us: int, verifies: Verifies
) -> Received | Quarantined:
    if refusal := _not_of_a_device(fact):
        return _aside(fact, refusal)
    if not roster.keys:
        return fact
    its = signed(fact)
    if its.key is None:
        hint = "sign it with a key of `round-ledger keys enrol`"
        return _aside(fact, _Refusal("unsigned", "The fact is not signed", "$.signkey", hint))
    key = roster.keys.get(its.key)
    told = its.key[:_NAMED_MAX].replace(" ", "_")
    named = _by(fact, f"named:{told}")
    if key is None:
        says = f"Key {told} is not on the roster"
        return _aside(named, _Refusal("key_unknown", says, "$.signkey"))
    if its.signature is None or not verifies(key.public, its.signature, its.octets):
        says = f"The signature is not one of key {key.key} over this fact"
        return _aside(named, _Refusal("bad_signature", says, "$.signature"))
    by_key = _by(fact, f"key:{key.key}")
    refusal = _may(fact, key, roster, now_us)
    return _aside(by_key, refusal) if refusal else by_key


def _not_of_a_device(fact: Received) -> _Refusal | None:
    """Why no device may say a fact, with any signature, or None."""
    if fact.type in COMMANDS_ONLY:
        says = "A fact of this type is recorded by a command, not received from devices"
        hint = f"use `round-ledger {COMMANDS_ONLY[fact.type]}` on the ledger's machine"
        return _Refusal("not_of_a_device", says, "$.type", hint)
    own = OWN_SOURCES.get(fact.source.partition("/")[2].partition("/")[2])
    if own is not None and fact.type not in own:
        says = "Its source is one of the ledger's own, which records no fact of this type there"
        hint = "let the device report under a source of its own"
        return _Refusal("not_of_a_device", says, "$.source", hint)
    return None


def _may(fact: Received, key: SigningKey, roster: Roster, now_us: int) -> _Refusal | None:
    """Why a key that signed a fact may not say it, or None."""
    if not key.signs:
        ended = "was revoked" if key.replaced_by is None else f"was replaced by {key.replaced_by}"
        return _Refusal("key_revoked", f"Key {key.key} {ended}", "$.signkey")
    if fact.source != key.source and not fact.source.startswith(f"{key.source}/"):
        says = f"Key {key.key} signs for {key.source}, not for {fact.source}"
        return _Refusal("outside_grant", says, "$.source")
    beyond = outside(fact_of(fact), fact, roster.grants.get(key.role, ()))
    if beyond:
        return _Refusal("outside_grant", f"Key {key.key}, a {key.role}, {beyond}", "$.data")
    if not now_us - BEHIND_US_MAX <= fact.time_us <= now_us + AHEAD_US_MAX:
        says = f"{format_time(fact.time_us)} is too far from the ledger's clock"
        return _Refusal("time_too_far", says, "$.time")
    return None


def _by(fact: Received, key: str) -> Received:
    """The fact with a key before what brought it."""
    return fact._replace(sender=key if fact.sender is None else f"{key} {fact.sender}")


def _aside(fact: Received, why: _Refusal) -> Quarantined:
    """The fact in quarantine, as one structured event with the bytes of its `data`."""
    return Quarantined(structured(fact), *why, fact.source, fact.id, fact.sender)
