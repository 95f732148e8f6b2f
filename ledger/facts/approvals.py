"""Approvals: what one person asks to have put on record, and another approves or refuses.

Only pages and commands record them, each by a person who is signed in (ADR 0248).
"""

from typing import Annotated

from msgspec import Meta

from ledger.facts.vocabulary import Body, Count, Employee, Identifier, Label, Sha256, Text

Terms = Annotated[dict[Identifier, Text], Meta(max_length=64)]


class ApprovalRequested(Body, frozen=True, kw_only=True):
    """A signed-in person asks that something be put on record. It waits for another person.

    terms: what was typed for it. digest: SHA-256 of what would be signed. hours: how long it waits.
    user: the sign-in name of `by`. asked: the only person who may approve it; None: any who may.
    """

    act: Identifier
    about: Label
    terms: Terms
    digest: Sha256
    hours: Count
    by: Employee
    user: Label
    asked: Employee | None = None


class ApprovalGiven(Body, frozen=True, kw_only=True):
    """Another signed-in person approves a request. What it asked for is recorded with it."""

    request: Label
    digest: Sha256
    by: Employee
    user: Label


class ApprovalRefused(Body, frozen=True, kw_only=True):
    """Another signed-in person refuses a request."""

    request: Label
    because: Text
    by: Employee
    user: Label


class ApprovalWithdrawn(Body, frozen=True, kw_only=True):
    """The person who asked takes a request back."""

    request: Label
    by: Employee
    user: Label
