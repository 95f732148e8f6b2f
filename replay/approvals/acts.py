"""The acts that two people sign: who may ask and approve, and the fact that an approved one makes.

An act is a row of `ACTS`. Its fact is made three times: when it is asked for, when the request is
shown, and when it is approved. All three must have the same digest.
"""

from __future__ import annotations

import hashlib
from importlib import metadata
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

import msgspec

from consumers.finance import variances
from consumers.finance.sealed import sealed_wins
from consumers.runtime.lifecycle import up_to_date
from infra.access.users import KEEPERS
from infra.postgres.recorder import InputRelease
from infra.postgres.tape import PostgresTape
from ledger.errors import NotFound, Refused, Usage
from ledger.facts import (
    BreakAcknowledged,
    EpochBegun,
    PatronErased,
    QuarantineReleased,
    VarianceExplained,
)
from ledger.facts.vocabulary import FactRef
from ledger.roster.door import TWO_PEOPLE
from ledger.values import dollars, format_time
from replay.approvals.erasures import patron_of, pseudonyms_of, require_no_hold
from replay.approvals.releases import corrected_of, fact_digest, released_fact, require_new
from replay.recording.plain_papers import EnteredPaper
from replay.recording.sealed_days import (
    SealedDay,
    Signers,
    keep_version,
    seal_rows,
    versions_folder,
)
from replay.text.typed import written
from replay.text.variances import limits_say
from replay.text.wins import signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from infra.access.users import Role
    from infra.postgres.connection import Database
    from ledger.facts import Body
    from ledger.finance.win import TableWin
    from ledger.record.tape import Received, TapeRow
    from replay.recording.decisions import Aggregate

ANOTHER = "another person"
"""Who stands as the second person as long as there is none."""


class Proposed(NamedTuple):
    """What an act would record, before another person approved it."""

    database: Database
    home: Path
    read: Callable[[Aggregate], Aggregate]  # an aggregate as the record has it
    property: str
    terms: Mapping[str, str]
    by: str
    second: str = ANOTHER


class MadeFact(NamedTuple):
    """The fact of an act, the aggregate that decides it, and what it says to people."""

    case: Aggregate
    body: Body
    about: str
    says: Sequence[tuple[str, str]]  # a name and a text each
    done: Callable[[], None] = lambda: None  # what follows once it is on record
    page: str = ""  # the address of a page that shows more of it
    release: InputRelease | None = None  # an input in quarantine that is released with it


class Act(NamedTuple):
    """A kind of act that two people sign. unsigned: fields of its fact that nobody approves."""

    name: str
    title: str
    asks: frozenset[Role]
    gives: frozenset[Role]
    make: Callable[[Proposed], MadeFact]
    unsigned: frozenset[str] = frozenset(("second",))

    def digest(self, made: MadeFact) -> str:
        """SHA-256 of the act and of what people sign with it."""
        fields = msgspec.to_builtins(made.body)
        signed = {name: each for name, each in fields.items() if name not in self.unsigned}
        octets = msgspec.json.encode([self.name, signed], order="deterministic")
        return hashlib.sha256(octets).hexdigest()


def _closed_day(of: Proposed) -> MadeFact:
    day, people = of.terms["gaming_day"], _signers(of)
    up_to_date(of.database, sealed_wins.VIEWS)
    pinned = sealed_wins.pinned_now(of.database, of.property, day)
    case = of.read(SealedDay(property=of.property, gaming_day=day))
    assert isinstance(case, SealedDay)  # noqa: S101 - what was read is of the kind that was named
    body = case.close(pinned, people, metadata.version("round-ledger"))
    if pinned.missing and people.despite is None:
        raise Refused(
            f"{' and '.join(pinned.missing)} lack a count, a ruling or a decision",
            where=day,
            hint="Complete them, or say why the day is closed as it is.",
        )
    tables = pinned.wins.as_version(body.version).tables
    says = [
        *_of_day(of, day),
        ("version", str(body.version)),
        *((each.table or "", _figures(each)) for each in tables),
        ("digest of the wins", body.digest),
    ]

    def done() -> None:
        keep_version(versions_folder(of.home), body, pinned)
        up_to_date(of.database, sealed_wins.VIEWS)

    return MadeFact(case, body, day, says, done, _win(of, day))


def _reopened_day(of: Proposed) -> MadeFact:
    day = of.terms["gaming_day"]
    up_to_date(of.database, sealed_wins.VIEWS)
    case = of.read(SealedDay(property=of.property, gaming_day=day))
    assert isinstance(case, SealedDay)  # noqa: S101 - as above
    body = case.reopen(_signers(of))
    says = [*_of_day(of, day), ("version", str(body.version))]

    def done() -> None:
        up_to_date(of.database, sealed_wins.VIEWS)

    return MadeFact(case, body, day, says, done, _win(of, day))


_OF_LINE = ("about", "period", "shift")
"""Terms that name the lines in which an explanation counts."""


def _variance(of: Proposed) -> VarianceExplained:
    """The fact of an explanation. Raises `Usage` for terms that no fact has."""
    fields = {name: text for name, text in of.terms.items() if name != "key"}
    because = written(of.terms.get("because", ""), "because")
    its = {**fields, "because": because, "by": of.by, "second": of.second}
    try:
        return msgspec.convert(its, VarianceExplained, strict=False)
    except msgspec.ValidationError as problem:
        raise Usage(str(problem), where="explanation", hint="Type it within this limit.") from None


def _explained_variance(of: Proposed) -> MadeFact:
    body = _variance(of)
    table, day = body.table, body.gaming_day
    up_to_date(of.database, sealed_wins.VIEWS)
    kept = versions_folder(of.home)
    its = variances.of_table(of.database, of.property, table, day, more=[body], kept=kept)
    new = EnteredPaper(
        property=of.property, place="office", fact="variance_explained", key=of.terms["key"]
    )
    case = of.read(new)
    assert isinstance(case, EnteredPaper)  # noqa: S101 - as above
    case.require(body)
    rest = [] if body.unexplained is None else [body.unexplained]
    says = [
        *_of_day(of, day),
        ("table", table),
        ("amount explained", signed(body.amount)),
        *(("amount that stays unexplained", signed(cents)) for cents in rest),
        *((name, of.terms[name]) for name in _OF_LINE if name in of.terms),
        *limits_say(its),
    ]
    return MadeFact(case, body, f"{table}, {day}", says, page=_win(of, day))


def _acknowledged_break(of: Proposed) -> MadeFact:
    """A break that changes while its request waits is a new one: the fact pins the row."""
    numbers = {
        name: int(of.terms[name])
        for name in ("sequence", "position", "quarantine")
        if name in of.terms
    }
    body = BreakAcknowledged(
        kind=of.terms["kind"],
        tape=of.terms.get("tape"),
        row_sha256=of.terms["row_sha256"],
        because=written(of.terms.get("because", ""), "because"),
        by=of.by,
        second=of.second,
        **numbers,
    )
    new = EnteredPaper(
        property=of.property, place="office", fact="break_acknowledged", key=of.terms["key"]
    )
    case = of.read(new)
    assert isinstance(case, EnteredPaper)  # noqa: S101 - as above
    case.require(body)
    named = ("kind", "tape", "sequence", "position", "quarantine", "row_sha256", "because")
    says = [(name, of.terms[name]) for name in named if name in of.terms]
    where = numbers.get("position") or numbers.get("quarantine") or of.terms.get("tape", "")
    return MadeFact(case, body, f"{of.terms['kind'].replace('_', ' ')} at {where}"[:128], says)


def _erased_patron(of: Proposed) -> MadeFact:
    """The request names pseudonyms, and never the token: it stays on record."""
    patron = patron_of(of.database, of.property, pseudonyms_of(of.terms))
    require_no_hold(of.database, patron)
    body = PatronErased(
        pseudonyms=patron.pseudonyms,
        because=written(of.terms.get("because", ""), "because"),
        by=of.by,
        second=of.second,
    )
    new = EnteredPaper(
        property=of.property, place="office", fact="patron_erased", key=of.terms["key"]
    )
    case = of.read(new)
    assert isinstance(case, EnteredPaper)  # noqa: S101 - as above
    case.require(body)
    says = [
        ("casino", of.property),
        ("token of the patron", patron.token),
        *(("pseudonym", each) for each in patron.pseudonyms),
        ("reason", body.because),
    ]
    return MadeFact(case, body, patron.pseudonyms[0], says)


def _begun_epoch(of: Proposed) -> MadeFact:
    """It is recorded once for each log that ends: its key is the log's root."""
    body = EpochBegun(
        log=of.terms["log"],
        entries=int(of.terms["entries"]),
        root=of.terms["root"],
        kept=int(of.terms["kept"]),
        lost=int(of.terms["lost"]),
        because=written(of.terms.get("because", ""), "because"),
        by=of.by,
        second=of.second,
    )
    new = EnteredPaper(property=of.property, place="office", fact="epoch_begun", key=body.root[:32])
    case = of.read(new)
    assert isinstance(case, EnteredPaper)  # noqa: S101 - as above
    case.require(body)
    says = [
        ("log that ends", body.log),
        ("its entries", f"{body.entries:,}"),
        ("its root", body.root),
        ("facts kept", f"{body.kept:,}"),
        ("facts lost", f"{body.lost:,}"),
        ("reason", body.because),
    ]
    return MadeFact(case, body, body.log, says)


def release_act(fact: Received) -> str:
    """The act that releases a fact: one that two people sign needs their roles."""
    return "closing_release" if fact.type in TWO_PEOPLE else "quarantine_release"


def _released_input(of: Proposed) -> MadeFact:
    return _release(of, "quarantine_release")


def _released_closing(of: Proposed) -> MadeFact:
    return _release(of, "closing_release")


def _release(of: Proposed, act: str) -> MadeFact:
    number, given = int(of.terms["quarantine"]), corrected_of(of.terms)
    with PostgresTape(of.database) as tape:
        row, fact = released_fact(tape, number, given)
        require_new(tape, fact)
    if act != release_act(fact):
        raise Refused(
            f"A {fact.type} is not released so",
            where=f"number {number} in quarantine",
            hint="Ask for it again with `round-ledger quarantine release`.",
        )
    body = QuarantineReleased(
        quarantine=number,
        of=FactRef(fact.source, fact.id),
        fact_sha256=fact_digest(fact),
        because=written(of.terms.get("because", ""), "because"),
        by=of.by,
        second=of.second,
    )
    new = EnteredPaper(
        property=of.property, place="office", fact="quarantine_released", key=str(number)
    )
    case = of.read(new)
    assert isinstance(case, EnteredPaper)  # noqa: S101 - as above
    case.require(body)
    says = [
        ("number in quarantine", str(number)),
        ("why it is there", row.reason),
        ("brought by", ", ".join(row.senders) or "not known"),
        ("what is recorded", "a corrected fact" if given else "the same bytes"),
        ("type", fact.type),
        ("source", fact.source),
        ("id", fact.id),
        ("time", format_time(fact.time_us)),
        *((("subject", fact.subject),) if fact.subject else ()),
        ("data", fact.data.decode(errors="backslashreplace")),
        ("reason", body.because),
    ]
    about = f"number {number}, {fact.type}"
    return MadeFact(case, body, about, says, release=InputRelease(number, fact))


def _signers(of: Proposed) -> Signers:
    because, despite = (of.terms.get(name) for name in ("because", "despite"))
    return Signers(by=of.by, second=of.second, because=because, despite=despite)


def _of_day(of: Proposed, day: str) -> Iterator[tuple[str, str]]:
    yield "casino", of.property
    yield "gaming day", day
    for name, label in (("because", "reason"), ("despite", "closed as it is, because")):
        if name in of.terms:
            yield label, of.terms[name]


def _figures(win: TableWin) -> str:
    """The figures of a table's day that rest on papers."""
    drop, counted = (
        "n/a" if each is None else dollars(each) for each in (win.drop.total, win.counted)
    )
    return f"drop {drop}, counted win {counted}"


def _win(of: Proposed, day: str) -> str:
    """The page of a day's wins."""
    return "/win?" + urlencode({"property": of.property, "gaming_day": day})


_CENTS = frozenset(("amount", "unexplained"))


def terms_say(terms: Mapping[str, str]) -> list[tuple[str, str]]:
    """The terms of a request in words: amounts in dollars, without the key of its form."""
    return [
        (name.replace("_", " "), signed(int(text)) if name in _CENTS else text)
        for name, text in terms.items()
        if name != "key"
    ]


_FINANCE: frozenset[Role] = frozenset(("finance",))
_SURVEILLANCE: frozenset[Role] = frozenset(("surveillance",))
_KEEPERS: frozenset[Role] = frozenset(KEEPERS)

ACTS = (
    Act(
        "day_close", "Close a gaming day", _FINANCE, _FINANCE, _closed_day,
        frozenset(("second", "heads")),
    ),
    Act("day_reopen", "Open a gaming day again", _FINANCE, _FINANCE, _reopened_day),
    Act("variance_explain", "Explain a variance", _FINANCE, _FINANCE, _explained_variance),
    Act(
        "break_acknowledge", "Acknowledge a break of the record", _KEEPERS, _KEEPERS,
        _acknowledged_break,
    ),
    Act(
        "quarantine_release", "Release an input from quarantine", _KEEPERS, _KEEPERS,
        _released_input,
    ),
    Act(
        "closing_release", "Release a closing or an explanation from quarantine",
        _FINANCE, _FINANCE, _released_closing,
    ),
    Act("patron_erase", "Erase a patron's token", _SURVEILLANCE, _SURVEILLANCE, _erased_patron),
    Act("epoch_begin", "Begin a new epoch of the record", _KEEPERS, _KEEPERS, _begun_epoch),
)  # fmt: skip
"""Every act that two people sign."""

PEOPLE: tuple[Role, ...] = tuple(sorted({role for act in ACTS for role in act.asks | act.gives}))
"""Roles that ask for an act or approve one."""


def act_of(name: str) -> Act:
    """The act of a name. Raises `NotFound`."""
    found = next((act for act in ACTS if act.name == name), None)
    if found is None:
        raise NotFound(
            f"This program knows no act {name}", where="act", hint="Upgrade the program."
        )
    return found


def rows_about(database: Database, case: Aggregate) -> Sequence[TapeRow]:
    """The rows of the record about an aggregate of an act, from a view."""
    return seal_rows(database, case) if isinstance(case, SealedDay) else []
