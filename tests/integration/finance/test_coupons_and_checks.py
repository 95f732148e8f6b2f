"""`coupons` and `checks` read from the view what the whole feed says, however it arrives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from consumers.finance import coupons_and_checks
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up, rebuild
from ledger.facts import FactCorrected, FactRef
from ledger.finance import checks, coupons
from ledger.record.wire import encode, fact_of, parse_line
from tests.scenes.coupons import USUAL, check, dropped
from tests.scenes.table_days import fact
from tests.scenes.view_feeds import Prefix, dumped, record

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from ledger.record.tape import Received

T0 = 1_795_186_800_000_000


BOOK = fact(
    "check_book_signed_out", 1, "cage",
    book="B-1", check_from="K-1", check_to="K-9", issued_by="A-1", received_by="P-1",
)  # fmt: skip


def feed() -> list[Received]:
    """The usual batch, a check, and a dropped coupon whose serial is corrected from 9 to 8."""
    told = [*USUAL, check("K-1", 20_000), BOOK, dropped(9, 11)]
    found = [parse_line(json.dumps(each).encode()) for each in told]
    body = FactCorrected(
        of=FactRef("/p/CC-07/d", "coupon_dropped-CC-07-11"),
        data={"serial": "MP-0008", "face": 1_000},
        because="Misread.",
        by="F-1",
        second="F-2",
    )
    found.append(parse_line(encode(body, "/p/CC-07/d", "made", T0)))
    assert all(hasattr(each, "source") for each in found), found
    return found  # type: ignore[return-value] # checked above


@pytest.mark.parametrize("arrival", ["told", "backwards"])
def test_the_lines_are_those_of_the_corrected_feed(database: Database, arrival: str) -> None:
    facts = feed() if arrival == "told" else feed()[::-1]
    rows = record(database, facts)
    install(database)
    catch_up(database, Prefix(rows, 3), [coupons_and_checks.VIEW])
    catch_up(database, Prefix(rows, len(rows)), [coupons_and_checks.VIEW])
    its = coupons_and_checks.coupon_facts(database, None)["p"]
    usual = [fact_of(each) for each in feed()[:-1]]
    [line] = coupons.lines(its)
    assert isinstance(line, coupons.BatchLine)
    assert line.exceptions[0].serials == [("MP-0008", "MP-0008")], "as corrected, not MP-0009"
    assert coupons.lines(its) != coupons.lines(usual)
    assert checks.lines(coupons_and_checks.check_facts(database, "p")["p"]) == checks.lines(usual)
    assert [type(e) for e in checks.lines(usual)] == [checks.CheckLine, checks.BookLine]
    assert coupons_and_checks.check_facts(database, "elsewhere") == {}
    before = dumped(database, coupons_and_checks.VIEW)
    assert rebuild(database, Prefix(rows, len(rows)), coupons_and_checks.VIEW)
    assert dumped(database, coupons_and_checks.VIEW) == before
