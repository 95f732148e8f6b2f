"""The page of coupons and counter checks: the lines of `coupons` and `checks`, and what to mend."""

from __future__ import annotations

import builtins
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Request, Response

from consumers.finance.coupons_and_checks import check_facts, coupon_facts
from infra.access.users import User
from ledger.finance import checks, coupons
from ledger.finance.checks import BookLine, CheckLine
from ledger.finance.coupons import PIECES, BatchLine, UnknownLine
from ledger.finance.serials import range_text
from replay.web.access.authentication import signed_in
from replay.web.page import page
from replay.web.ports import ports

PATH = "/win/coupons"
LINES_MAX = 500
"""Checks that are shown: those with the most outstanding."""

router = APIRouter(include_in_schema=False)
Analyst = Annotated[User, Depends(signed_in("finance", "auditor"))]


class HousePapers(NamedTuple):
    """The coupons and counter checks of a casino."""

    property: str
    batches: list[BatchLine]
    unknown: list[UnknownLine]
    checks: list[CheckLine]
    books: list[BookLine]

    @builtins.property  # `property` is a field here
    def wants(self) -> bool:
        """Whether something is to be worked off."""
        of_coupons = any(each.exceptions for each in self.batches)
        of_books = any(each.exceptions for each in self.books)
        of_checks = any(each.exceptions for each in self.checks)
        return of_coupons or bool(self.unknown) or of_books or of_checks

    @builtins.property
    def checks_shown(self) -> list[CheckLine]:
        """Those with the most outstanding, in order of number."""
        most = sorted(self.checks, key=lambda each: (-each.outstanding, each.check))[:LINES_MAX]
        return sorted(most, key=lambda each: each.check)


@router.get(PATH)
def coupons_page(
    request: Request,
    who: Analyst,
    property: str = "",  # noqa: A002 - as on the floor
) -> Response:
    """Every batch, check and book with its exceptions; property: empty: of every casino."""
    del who
    database, house = ports(request).database, property.strip() or None
    of_coupons, of_checks = coupon_facts(database, house), check_facts(database, house)
    return page(
        request,
        "coupons.html",
        found=[
            _papers(
                name,
                coupons.lines(of_coupons.get(name, ())),
                checks.lines(of_checks.get(name, ())),
            )
            for name in sorted({*of_coupons, *of_checks})
        ],
        casino=house or "",
        pieces=PIECES,
        range_text=range_text,
    )


def _papers(
    name: str,
    of_coupons: list[BatchLine | UnknownLine],
    of_checks: list[CheckLine | BookLine],
) -> HousePapers:
    return HousePapers(
        name,
        [each for each in of_coupons if isinstance(each, BatchLine)],
        [each for each in of_coupons if isinstance(each, UnknownLine)],
        [each for each in of_checks if isinstance(each, CheckLine)],
        [each for each in of_checks if isinstance(each, BookLine)],
    )
