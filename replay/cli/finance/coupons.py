"""`coupons` and `checks`: Match Play Coupons and counter checks, from issue to their end."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import typer
from msgspec import Struct

from consumers.finance import coupons_and_checks, money_facts
from consumers.finance.undecided import two_contents_of
from infra.postgres.connection import Database
from ledger.errors import Usage
from ledger.finance import checks as on_checks
from ledger.finance import coupons as on_coupons
from ledger.finance.checks import BookLine, CheckLine
from ledger.finance.coupons import PIECES, BatchLine, QuarterLine, UnknownLine
from ledger.finance.serials import range_text
from ledger.finance.win import AuditException
from ledger.values import dollars
from replay.cli.shell.app import family
from replay.cli.shell.options import Casino
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_json, say, show_table

app = family()

_VIEWS = (coupons_and_checks.VIEW, money_facts.VIEW)
Line = BatchLine | UnknownLine | QuarterLine

_QUARTER = re.compile(r"\d{4}-Q[1-4]")


@app.command("coupons")
def coupons(
    *,
    quarter: Annotated[
        str | None,
        typer.Option(metavar="QUARTER", help="Only what was redeemed in a quarter, as 2026-Q4."),
    ] = None,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Show coupons from printer to box.

    Each batch of Match Play Coupons has a line (603a.20-21). The columns count pieces. An
    exception names serials that do not fit, such as a coupon that two boxes held. With
    --quarter: the coupons redeemed in it, by face, as 603a.20(o) asks for. A coupon is redeemed
    on the gaming day of the box that held it.

    Example: round-ledger coupons
    """
    if quarter is not None and not _QUARTER.fullmatch(quarter):
        raise Usage(f"`{quarter}` is not a quarter", where="--quarter", hint="Give one as 2026-Q4.")
    with opened_views(_VIEWS, property_) as database:
        told = coupons_and_checks.coupon_facts(database, property_)
        twice = _told_twice(database, property_, on_coupons.COUPON_FACTS)
    found: dict[str, Sequence[Line]] = {
        name: on_coupons.lines(facts) if quarter is None else on_coupons.quarter(facts, quarter)
        for name, facts in told.items()
    }
    if json:
        _print_json(found, twice)
        return
    if not any(found.values()):
        say("No coupon is on record." if quarter is None else "No coupon was redeemed then.")
    for name, its in found.items():
        if its and quarter is None:
            _show_batches(name, its)
        elif its and quarter:
            _show_quarter(name, quarter, its)


class RecordedTwice(Struct, frozen=True):
    """The last line of a casino: facts of its lines that have a second content in quarantine."""

    exceptions: list[AuditException]


def _told_twice(
    database: Database, property_: str | None, kinds: tuple[type, ...]
) -> dict[str, RecordedTwice]:
    """What waits in quarantine as a second content of a fact that lines rest on, by casino.

    Each is printed on stderr, too.
    """
    found: dict[str, list[AuditException]] = defaultdict(list)
    for each in two_contents_of(database, property_, kinds):
        say(f"exception · {each.says}")
        found[each.facts[0].source.split("/")[1]].append(each)
    return {name: RecordedTwice(its) for name, its in found.items()}


def _print_json(found: Mapping[str, Sequence[object]], twice: Mapping[str, RecordedTwice]) -> None:
    """Print the lines of each casino, with its name; last those facts that are recorded twice."""
    for name, its in found.items():
        for line in (*its, *([twice[name]] if name in twice else ())):
            print_json(line, before={"property": name})


def _show_batches(property_: str, found: Sequence[Line]) -> None:
    batches = [each for each in found if isinstance(each, BatchLine)]
    if batches:
        show_table(
            f"{property_} · Match Play Coupons",
            ("serials", "face", *PIECES, "broken"),
            (
                (
                    range_text(each.serial_from, each.serial_to),
                    dollars(each.face),
                    *(str(getattr(each, name)) for name in PIECES),
                    " ".join(e for e, holds in each.equations.items() if holds is False) or "-",
                )
                for each in batches
            ),
            right=" ".join(("face", *PIECES)),
        )
    for line in _said(found):
        say(line)


def _said(found: Sequence[Line]) -> Iterator[str]:
    for each in found:
        if isinstance(each, UnknownLine):
            shown = ", ".join(range_text(*its) for its in each.unknown)
            yield f"no batch · Serials of no batch were seen: {shown}."
        if not isinstance(each, QuarterLine):
            yield from (f"{of.code.replace('_', ' ')} · {of.says}" for of in each.exceptions)


def _show_quarter(property_: str, quarter: str, found: Sequence[Line]) -> None:
    show_table(
        f"{property_} · {quarter} · coupons redeemed",
        ("face", "redeemed", "value"),
        (
            (_amount(each.face), str(each.redeemed), _amount(each.value))
            for each in found
            if isinstance(each, QuarterLine)
        ),
        right="face redeemed value",
    )


def _amount(cents: int | None) -> str | None:
    return None if cents is None else dollars(cents)


@app.command("checks")
def checks(*, property_: Casino = None, json: Json = False) -> None:
    """Show counter checks from issue to payment.

    Each is shown as issued, as found in a box, what was paid back and what is outstanding. A
    check that no table recorded, or that is in no box, is n/a there (null in JSON). A book of
    manual checks is shown by its numbers: those used, blank and missing (609a.13(c)(3)).

    Example: round-ledger checks
    """
    with opened_views(_VIEWS, property_) as database:
        told = coupons_and_checks.check_facts(database, property_)
        twice = _told_twice(database, property_, on_checks.CHECK_FACTS)
    found = {name: on_checks.lines(facts) for name, facts in told.items()}
    if json:
        _print_json(found, twice)
        return
    if not any(found.values()):
        say("No counter check is on record.")
    for name, its in found.items():
        if its:
            _show_checks(name, its)


def _show_checks(property_: str, found: Sequence[CheckLine | BookLine]) -> None:
    checks_ = [each for each in found if isinstance(each, CheckLine)]
    if checks_:
        show_table(
            f"{property_} · counter checks",
            ("check", "amount", "boxed", "redeemed", "outstanding", "voided"),
            (
                (
                    each.check,
                    *(None if c is None else dollars(c) for c in (each.amount, each.boxed)),
                    *(dollars(cents) for cents in (each.redeemed, each.outstanding)),
                    "voided" if each.voided else "-",
                )
                for each in checks_
            ),
            right="amount boxed redeemed outstanding",
        )
    for line in checks_:
        for of in line.exceptions:
            say(f"{line.check} · {of.code.replace('_', ' ')} · {of.says}")
    _show_books(property_, [each for each in found if isinstance(each, BookLine)])


def _show_books(property_: str, found: Sequence[BookLine]) -> None:
    if not found:
        return
    show_table(
        f"{property_} · books of counter checks",
        ("book", "checks", "used", "blank", "missing", "where"),
        (
            (
                each.book,
                ", ".join(range_text(*its) for its in each.ranges),
                *(str(pieces) for pieces in (each.used, each.blank, each.missing)),
                "out" if each.is_out else "in",
            )
            for each in found
        ),
        right="used blank missing",
    )
    for each in found:
        for of in each.exceptions:
            say(f"{each.book} · {of.code.replace('_', ' ')} · {of.says}")
