"""Every section the games cite is printed, and every paragraph printed is cited or listed."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from ledger.games import games
from ledger.regulations import Amendment, chapters, origin, resolves
from ledger.rules.engine.game import InPart, NotModelled
from replay.games.game_card import not_modelled_of
from tests.contract.citations import ROOT, cited_in, spoken_of

RULES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "ledger/rules").rglob("*.py"))
PLAYED = sorted({edition.chapter for game in games().values() for edition in game.editions})
PARTLY = "printed only in part"


def games_of(chapter: str) -> list[str]:
    """The games with an edition in a chapter; one chapter may hold several."""
    return [name for name, game in games().items() if chapter in chapters_of(name)]


def chapters_of(game_id: str) -> list[str]:
    """The chapters of a game's editions; what it cites without a chapter stands in each."""
    return [edition.chapter for edition in games()[game_id].editions]


def cites_of(chapter: str) -> set[str]:
    """Chapter-relative paragraphs that its games' modules, or the rules by chapter, speak of."""
    modules = [cite for name in games_of(chapter) for cite in cited_in(f"ledger/games/{name}.py")]
    shared = [cite for path in RULES for cite in cited_in(path) if cite[0]]
    return {paragraph for named, paragraph in modules + shared if named in (None, chapter)}


def covered(paragraph: str, listed: set[str]) -> bool:
    """Whether a paragraph, or one it stands under, is listed as not modelled."""
    return any(paragraph == other or paragraph.startswith(f"{other}(") for other in listed)


@pytest.mark.parametrize("game_id", games())
def test_every_section_a_game_cites_is_printed(game_id: str) -> None:
    cites = cited_in(f"ledger/games/{game_id}.py")
    assert cites
    wrong = [
        f"{chapter}.{paragraph}"
        for named, paragraph in cites
        for chapter in ([named] if named else chapters_of(game_id))
        if not resolves(f"{chapter}.{paragraph}")
    ]
    assert wrong == []


@pytest.mark.parametrize("path", RULES)
def test_every_section_the_shared_rules_cite_by_chapter_is_printed(path: str) -> None:
    cites = [(chapter, paragraph) for chapter, paragraph in cited_in(path) if chapter]
    assert [cite for cite in cites if not resolves(".".join(cite))] == []


@pytest.mark.parametrize("chapter", PLAYED)
def test_every_paragraph_that_money_goes_by_is_cited_or_listed_with_a_reason(chapter: str) -> None:
    cites = cites_of(chapter)
    listed = {paragraph for name in games_of(chapter) for paragraph in games()[name].not_modelled}
    silent = [
        paragraph
        for paragraph in chapters()[chapter].in_scope()
        if paragraph not in cites
        and not covered(paragraph, listed)
        and not any(cite.startswith(f"{paragraph}(") for cite in cites | listed)
    ]
    assert silent == []


@pytest.mark.parametrize("game_id", games())
def test_what_is_listed_as_not_modelled_is_printed_moves_no_money_and_is_not_modelled(
    game_id: str,
) -> None:
    """Only what is printed in part may move money, and only where the chapter is."""
    of = [chapters()[chapter] for chapter in chapters_of(game_id)]
    for paragraph, why in games()[game_id].not_modelled.items():
        reason = why.reason if isinstance(why, InPart) else why
        assert reason in get_args(NotModelled), paragraph
        money = {each: flag for chapter in of for each, flag in chapter.paragraphs.items()}
        under = [each for each in money if covered(each, {paragraph})]
        assert under, f"{paragraph} is not printed"
        if reason == PARTLY:
            assert not any(chapter.whole for chapter in of), f"{paragraph} is printed whole"
        else:
            assert not [each for each in under if money[each]], f"{paragraph} moves money"
        assert paragraph not in cites_of_code(game_id), f"{paragraph} is cited, so it is modelled"


def test_wagers_that_are_printed_only_in_part_are_listed_by_name_as_not_modelled() -> None:
    """They are no wagers of the games, and their cards say where they are spoken of."""
    found = {
        (game.id, each.wager, each.section)
        for game in games().values()
        for each in not_modelled_of(game)
        if each.wager
    }
    assert found == {
        ("blackjack", "Bad Beat Progressive Wager", "633a.2(c)"),
        ("blackjack", "Hit and Run Progressive Wager", "633a.6(e)(10)"),
        ("blackjack", "Hit and Run Progressive Wager", "633a.7(o)(2)"),
        ("blackjack", "Three Card Poker Wager", "633a.7(g)(8)"),
        ("blackjack", "Royal Match 21 and King's Bounty Wagers", "633a.13(o)"),
        ("craps", "Fire Bet", "623a.2(d)(4)"),
        ("craps", "Fire Bet", "623a.4(c)(3)"),
        ("craps", "Come Bet", "623a.4(c)(2)"),
        ("minibaccarat", "Dragon 7 Insurance Wager", "627a.12(f)"),
    }
    named = {wager.name for game in games().values() for wager in game.wagers}
    assert named.isdisjoint(wager for _, wager, _ in found)


def cites_of_code(game_id: str) -> set[str]:
    """What a game cites outside its list of what is not modelled."""
    path = Path(f"ledger/games/{game_id}.py")
    source = (ROOT / path).read_text(encoding="utf-8")
    return {paragraph for _, paragraph in spoken_of(source.partition("not_modelled=")[0])}


@pytest.mark.parametrize("game_id", games())
def test_editions_and_the_index_tell_the_same_dates(game_id: str) -> None:
    for edition in games()[game_id].editions:
        chapter = chapters()[edition.chapter]
        assert chapter.scope
        told = (edition.status, edition.effective_from, edition.effective_until)
        assert told == (chapter.status, chapter.effective_from, chapter.effective_until)


@pytest.mark.parametrize("number", chapters())
def test_the_index_of_a_chapter_holds_together(number: str) -> None:
    chapter = chapters()[number]
    sections = {paragraph.partition("(")[0] for paragraph in chapter.paragraphs}
    assert sections <= set(chapter.paragraphs)
    assert {*chapter.scope, *chapter.partly, *chapter.amended} <= sections
    assert not set(chapter.referred) & set(chapter.paragraphs)
    assert not (chapter.whole and (chapter.partly or chapter.referred))
    for paragraph in chapter.paragraphs:
        assert paragraph in sections or paragraph[: paragraph.rindex("(")] in chapter.paragraphs
    moving = chapter.in_scope() if chapter.scope else chapter.paragraphs
    assert any(moving.values()) is bool(chapter.scope)


def test_a_section_tells_the_document_and_the_day_it_comes_from() -> None:
    first, later = origin("680a.13(a)"), origin("680a.11(f)")
    assert first
    assert later
    assert (first.effective_from, later.effective_from) == ("2016-12-10", "2019-11-02")
    assert (first.source, later.source) == (
        "46 Pa.B. 7661, adopted 2016-12-09",
        "49 Pa.B. 6676, amended 2019-11-01",
    )
    assert set(chapters()["680a"].amended.values()) == {
        Amendment("49 Pa.B. 6676, amended 2019-11-01", "2019-11-02")
    }
    referred = origin("603a.16(u)")
    assert referred
    assert not referred.printed
    assert origin("603a.16(t)") is None


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
    assert spoken_of("11(e)(2)(ii)(B)(I)-(III)") == {
        (None, f"11(e)(2)(ii)(B)({numeral})") for numeral in ("I", "II", "III")
    }


def test_a_section_that_is_not_printed_does_not_resolve() -> None:
    assert resolves("592.12(b)")
    for section in ("592.12(d)", "592.14", "661a.8(c)", "999.1", "12(b)", "592.12"):
        assert resolves(section) is (section == "592.12")
