"""Every section the games cite is printed, and every paragraph printed is cited or listed."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from ledger.games import games
from ledger.regulations import chapters, resolves
from ledger.rules.game import NotModelled
from tests.contract.citations import ROOT, cited_in, spoken_of

# What a chapter's money goes by: rankings or throws, wagers, play, payouts, irregularities.
SCOPE = {"592": range(6, 14), "661a": (3, *range(5, 9))}
RULES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "ledger/rules").glob("*.py"))


def cites_of(game_id: str) -> set[str]:
    """Chapter-relative paragraphs that a game's module, or the rules by chapter, speak of."""
    chapter = games()[game_id].editions[0].chapter
    own = {paragraph for _, paragraph in cited_in(f"ledger/games/{game_id}.py")}
    shared = {cite for path in RULES for cite in cited_in(path)}
    return own | {paragraph for named, paragraph in shared if named == chapter}


def covered(paragraph: str, listed: set[str]) -> bool:
    """Whether a paragraph, or one it stands under, is listed as not modelled."""
    return any(paragraph == other or paragraph.startswith(f"{other}(") for other in listed)


def in_scope(chapter: str) -> dict[str, bool]:
    """The paragraphs that must be cited or listed, and whether each moves money."""
    numbers = {str(number) for number in SCOPE[chapter]}
    return {
        paragraph: money
        for paragraph, money in chapters()[chapter].paragraphs.items()
        if paragraph.partition("(")[0] in numbers
    }


@pytest.mark.parametrize("game_id", games())
def test_every_section_a_game_cites_is_printed(game_id: str) -> None:
    chapter = games()[game_id].editions[0].chapter
    cites = cited_in(f"ledger/games/{game_id}.py")
    assert len(cites) > 20
    wrong = [cite for cite in cites if not resolves(f"{cite[0] or chapter}.{cite[1]}")]
    assert wrong == []


@pytest.mark.parametrize("path", RULES)
def test_every_section_the_shared_rules_cite_by_chapter_is_printed(path: str) -> None:
    cites = [(chapter, paragraph) for chapter, paragraph in cited_in(path) if chapter]
    assert [cite for cite in cites if not resolves(".".join(cite))] == []


@pytest.mark.parametrize("game_id", games())
def test_every_paragraph_that_money_goes_by_is_cited_or_listed_with_a_reason(game_id: str) -> None:
    game = games()[game_id]
    chapter = game.editions[0].chapter
    cites, listed = cites_of(game_id), set(game.not_modelled)
    silent = [
        paragraph
        for paragraph in in_scope(chapter)
        if paragraph not in cites
        and not covered(paragraph, listed)
        and not any(cite.startswith(f"{paragraph}(") for cite in cites | listed)
    ]
    assert silent == []


@pytest.mark.parametrize("game_id", games())
def test_what_is_listed_as_not_modelled_is_printed_moves_no_money_and_is_not_modelled(
    game_id: str,
) -> None:
    game = games()[game_id]
    printed = chapters()[game.editions[0].chapter].paragraphs
    for paragraph, reason in game.not_modelled.items():
        assert reason in get_args(NotModelled), paragraph
        under = [each for each in printed if covered(each, {paragraph})]
        assert under, f"{paragraph} is not printed"
        assert not [each for each in under if printed[each]], f"{paragraph} moves money"
        assert paragraph not in cites_of_code(game_id), f"{paragraph} is cited, so it is modelled"


def cites_of_code(game_id: str) -> set[str]:
    """What a game cites outside its list of what is not modelled."""
    path = Path(f"ledger/games/{game_id}.py")
    source = (ROOT / path).read_text(encoding="utf-8")
    return {paragraph for _, paragraph in spoken_of(source.partition("not_modelled=")[0])}


@pytest.mark.parametrize("game_id", games())
def test_editions_and_the_index_tell_the_same_dates(game_id: str) -> None:
    for edition in games()[game_id].editions:
        chapter = chapters()[edition.chapter]
        assert chapter.whole
        told = (edition.status, edition.effective_from, edition.effective_until)
        assert told == (chapter.status, chapter.effective_from, chapter.effective_until)


def test_ranges_of_paragraphs_are_read_as_each_of_them() -> None:
    assert spoken_of("see 11(h)(1)-(3) and 592.6(b)") == {
        (None, "11(h)(1)"),
        (None, "11(h)(2)"),
        (None, "11(h)(3)"),
        ("592", "6(b)"),
    }
    assert spoken_of("(6(c)-(e))") == {(None, "6(c)"), (None, "6(d)"), (None, "6(e)")}
    assert spoken_of("661a.3(b)(6)(i)-(iii)") == {
        ("661a", f"3(b)(6)({numeral})") for numeral in ("i", "ii", "iii")
    }


def test_a_section_that_is_not_printed_does_not_resolve() -> None:
    assert resolves("592.12(b)")
    for section in ("592.12(d)", "592.14", "661a.8(c)", "999.1", "12(b)", "592.12"):
        assert resolves(section) is (section == "592.12")
