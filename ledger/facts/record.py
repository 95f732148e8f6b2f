"""The record itself, by two people: breaks explained, inputs released, patrons erased, epochs."""

from typing import Annotated

from msgspec import Meta

from ledger.facts.vocabulary import (
    Body,
    Employee,
    FactRef,
    Identifier,
    Label,
    Pseudonym,
    Sha256,
    Text,
)

_Number = Annotated[int, Meta(ge=1, le=2**53)]


class BreakAcknowledged(Body, frozen=True, kw_only=True):
    """Two people know of a break of the record, and say why it is there.

    kind to quarantine: the break as `verify` names it, words of the kind joined by `_`.
    row_sha256: SHA-256 of the row that stood there then. If it changes, the break is a new one.
    """

    kind: Identifier
    tape: Label | None = None
    sequence: _Number | None = None
    position: _Number | None = None
    quarantine: _Number | None = None
    row_sha256: Sha256
    because: Text
    by: Employee
    second: Employee


class QuarantineReleased(Body, frozen=True, kw_only=True):
    """Two people release an input from quarantine: the fact that it is gets on record with this.

    quarantine: its number. of: the fact that is recorded, as sent or corrected.
    fact_sha256: SHA-256 of what that fact says, with its attributes.
    """

    quarantine: _Number
    of: FactRef
    fact_sha256: Sha256
    because: Text
    by: Employee
    second: Employee


class PatronErased(Body, frozen=True, kw_only=True):
    """Two people erase a patron: with this fact, the tokens behind the pseudonyms are gone.

    pseudonyms: what facts, views and the feed have in place of the token, and keep.
    """

    pseudonyms: Annotated[tuple[Pseudonym, ...], Meta(min_length=1, max_length=256)]
    because: Text
    by: Employee
    second: Employee


class EpochBegun(Body, frozen=True, kw_only=True):
    """Two people begin a new epoch: facts that a witnessed log sealed are lost for good.

    log, entries, root: the checkpoint of the log that ends, with its root in hexadecimal.
    kept: the highest position up to which the record still is what that log sealed; 0: none.
    lost: how many facts behind it that log sealed, and the record lacks, or has others.
    """

    log: Label
    entries: _Number
    root: Sha256
    kept: Annotated[int, Meta(ge=0, le=2**53)]
    lost: _Number
    because: Text
    by: Employee
    second: Employee
