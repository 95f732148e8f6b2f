"""The dossier on paper: the ruling on one page, the report whole, the same bytes each time."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

import pytest

from ledger.games import games
from replay.dossier import Making
from replay.dossier.writing.pages import Paper
from replay.dossier.writing.paper import Seal, report_pdf, ruling_pdf
from tests.scenes.dossiers import evidence, record, rounds_of
from tests.suite.budget import ONE_A_FAMILY, rest_long

if TYPE_CHECKING:
    from pathlib import Path

SEAL = Seal("ab" * 32, "34750f98bd59fcfc")


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", pdf))


def text(pdf: bytes) -> str:
    """What the pages print, in the order they print it."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    drawn = b"".join(zlib.decompress(each) for each in streams if each[:1] == b"x")
    strings = re.findall(rb"\(((?:[^()\\]|\\.)*)\)", drawn)
    return b" ".join(re.sub(rb"\\(.)", rb"\1", each) for each in strings).decode("cp1252")


@pytest.mark.parametrize("game", rest_long(sorted(games()), everyday=ONE_A_FAMILY))
def test_the_ruling_of_any_game_is_one_page_however_much_was_wagered(game: str) -> None:
    found = rounds_of(game)
    for each in [*found[:2], found[-1]]:
        assert pages(ruling_pdf(each, SEAL)) == 1


def test_the_ruling_says_what_was_paid_and_owed_by_which_section_with_lines_to_sign(
    tmp_path: Path,
) -> None:
    told = evidence(tmp_path)
    wrong = next(each for each in told.stories[0].lines if each.difference)
    says = text(ruling_pdf(told, SEAL))
    for expected in (
        "Criss-Cross Poker, table CC-01",
        "DISPUTE D-17",
        "I was paid short.",
        wrong.name,
        wrong.section or "",
        "too much",
        "Signature",
        "Date and time",
        "Patron, or witness",
        SEAL.contents,
        "34750f98bd59fcfc",
    ):
        assert expected in says, expected
    assert pages(ruling_pdf(told, SEAL)) == 1


def test_a_long_dispute_leaves_the_ruling_on_one_page(tmp_path: Path) -> None:
    told = evidence(tmp_path)
    many = told._replace(case_rows=list(told.case_rows) * 40)
    assert pages(ruling_pdf(many, SEAL)) == 1
    assert "more steps are in the report" in text(ruling_pdf(many, SEAL))


@pytest.mark.long
def test_an_unsigned_dossier_says_so_on_every_paper(tmp_path: Path) -> None:
    told, seal = evidence(tmp_path), Seal("ab" * 32, None)
    for paper in (ruling_pdf(told, seal), report_pdf(told, seal)):
        assert "UNSIGNED" in text(paper)
    assert "UNSIGNED" not in text(ruling_pdf(told, SEAL))


def test_the_report_has_every_fact_clock_and_custody(tmp_path: Path) -> None:
    told = evidence(tmp_path)
    says = re.sub(r"\s+", " ", text(report_pdf(told, SEAL)))
    for number in range(1, len(told.stories[0].moments) + 1):
        assert f" {number} " in says
    for expected in ("gps-1", "exported", "locked", "Original, untouched", "Camera CC-01-ovh saw"):
        assert expected in says, expected
    assert told.heads[0].hash.hex()[:20] in says.replace(" ", "")
    assert says.count("SHA-256") > 3


@pytest.mark.long
def test_the_same_evidence_gives_the_same_octets_whenever_it_is_printed(tmp_path: Path) -> None:
    told = evidence(tmp_path)
    assert report_pdf(told, SEAL) == report_pdf(told, SEAL)
    assert ruling_pdf(told, SEAL) == ruling_pdf(told, SEAL)
    later = told._replace(making=Making("S-2001", "2026-11-21T00:00:00.000000Z", 8, 12))
    assert ruling_pdf(told, SEAL) != ruling_pdf(later, SEAL)


def test_what_the_fonts_lack_is_told_and_breaks_nothing() -> None:
    paper = Paper("x", "y", "")
    paper.say("claim: 我的钱 \x1b[2J ♠ § ± é")
    says = text(paper.octets())
    assert "U+6211" in says
    assert "U+001B" in says
    assert "§ ± é" in says
    assert "Characters missing in this font" in says


def test_a_story_without_a_fact_or_a_ruling_still_prints(tmp_path: Path) -> None:
    kept = evidence(tmp_path)
    bare = kept.stories[0]._replace(
        rows=(), facts=(), moments=(), times=(), seen=(), ruling=None, lines=(), game=None
    )
    told = kept._replace(stories=(bare,), originals=(), clips=(), case_rows=(), custody_rows=())
    assert pages(ruling_pdf(told, SEAL)) == 1
    assert "There is no ruling." in text(report_pdf(told, SEAL))


def test_the_record_here_has_the_overpayment_it_should() -> None:
    assert record()[1].startswith("CC-01/")


def test_the_report_lists_the_marks_on_footage(tmp_path: Path) -> None:
    told = evidence(tmp_path)
    title = "Bookmarks, stills and shapes"
    assert title not in text(report_pdf(told, SEAL)), "the control"
    marked = told._replace(mark_rows=told.case_rows)
    assert title in text(report_pdf(marked, SEAL))
