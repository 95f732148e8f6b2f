"""How words, days and hours of a sentence are read, and that no text is too odd."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumers.rounds.hits import HitLine
from consumers.rounds.index import Round
from consumers.rounds.search import Dealt, Filters
from replay.ask import sheet
from replay.ask.house import House, HouseHours
from replay.ask.sentence import TEXT_MAX, Understood, understand
from replay.ask.vocabulary import phrases
from replay.text.times import wall

ZONE = ZoneInfo("America/New_York")
TABLES = {"CC-01": "criss_cross_poker", "CC-02": "criss_cross_poker", "BJ-01": "blackjack"}
HOUSE = House(zone=ZONE, tables=TABLES, dealers=("D-1022", "D-1042"))


def us(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=ZONE).astimezone(UTC).timestamp()) * (
        1_000_000
    )


def read(text: str, now: str = "2026-11-21T14:00", house: House = HOUSE) -> Understood:
    return understand(text, house, us(now))


def span(found: Understood) -> tuple[str, str]:
    filters = found.filters
    return tuple(  # type: ignore[return-value] # two of them
        "" if each is None else f"{wall(each, ZONE):%m-%d %H:%M}"
        for each in (filters.since_us, filters.until_us)
    )


@given(st.text(max_size=TEXT_MAX + 20))
def test_no_text_is_too_odd(text: str) -> None:
    found = read(text)
    assert len(found.text) <= TEXT_MAX


@given(
    st.lists(
        st.sampled_from(
            [
                *sorted(phrases())[::7],
                "CC-01",
                "CC-09",
                "9",
                "9 pm",
                "$25",
                ">",
                "#",
                "-",
                "D-1",
                "As",
                "2026-11-20",
                "11/31",
                "20th",
                "d-1022",
                "10",
                "99999999999999",
                "25:00",
            ]
        ),
        max_size=14,
    )
)
def test_phrases_in_any_order_are_read_without_a_word_lost(words: list[str]) -> None:
    found = read(" ".join(words))
    named = [c.words for c in found.chips] + [u.words for u in found.unread]
    assert sorted("".join([*named, *found.passed_over]).replace(" ", "")) == sorted(
        found.text.replace(" ", "")
    )


@pytest.mark.parametrize(
    ("text", "now", "expected"),
    [
        ("tonight", "2026-11-21T02:00", ("11-20 18:00", "11-21 05:59")),
        ("around 9 pm", "2026-11-21T02:00", ("11-20 20:30", "11-20 21:30")),
        ("around 9 pm", "2026-11-21T20:59", ("11-20 20:30", "11-20 21:30")),
        ("around 9 pm", "2026-11-21T21:00", ("11-21 20:30", "11-21 21:30")),
        ("9:12 pm", "2026-11-21T22:00", ("11-21 21:07", "11-21 21:17")),
        ("yesterday 2 am", "2026-11-21T14:00", ("11-21 01:30", "11-21 02:30")),
        ("last week", "2026-11-21T02:00", ("11-09 06:00", "11-16 05:59")),
        ("october 31 to november 1", "2026-11-21T02:00", ("10-31 06:00", "11-02 05:59")),
    ],
)
def test_a_gaming_day_begins_at_the_houses_hour(
    text: str, now: str, expected: tuple[str, str]
) -> None:
    assert span(read(text, now)) == expected


def test_the_house_says_when_its_day_begins() -> None:
    early = House(zone=ZONE, day_start=0)
    assert span(read("tonight", "2026-11-21T02:00", early))[0] == "11-21 18:00"
    assert read("today", "2026-11-21T02:00", early).filters.gaming_day == "2026-11-21"
    assert read("today", "2026-11-21T02:00").filters.gaming_day == "2026-11-20"


HOURS = HouseHours(4 * 60, {"late": 20 * 60, "early": 4 * 60, "mid": 12 * 60})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("early shift", ("11-20 04:00", "11-20 11:59")),
        ("the Late Shift yesterday", ("11-19 20:00", "11-20 03:59")),
        ("2nd shift", ("11-20 12:00", "11-20 19:59")),
        ("third shift", ("11-20 20:00", "11-21 03:59")),
    ],
)
def test_a_house_names_its_shifts(text: str, expected: tuple[str, str]) -> None:
    house = House(zone=ZONE, day_start=HOURS.day_start, shifts=HOURS.by_shift())
    assert span(read(text, "2026-11-21T02:00", house)) == expected


def test_a_shift_that_the_house_does_not_name_is_said_to_be_unread() -> None:
    house = House(zone=ZONE, day_start=HOURS.day_start, shifts=HOURS.by_shift())
    for text in ("swing shift", "4th shift"):
        assert [each.words for each in read(text, house=house).unread] == [text]
    assert [each.words for each in read("early shift").unread] == ["early"]


def test_a_day_of_25_hours_is_read_to_its_end() -> None:
    found = read("october 31 to november 1", "2026-11-21T02:00").filters
    assert found.since_us is not None
    assert found.until_us is not None
    assert found.until_us - found.since_us == 49 * 3_600_000_000 - 1


def test_an_hour_without_a_day_is_the_last_one_before_the_newest_round() -> None:
    old = House(zone=ZONE, tables=TABLES, newest_us=us("2026-11-10T23:00"))
    assert span(read("around 9 pm", house=old)) == ("11-10 20:30", "11-10 21:30")


def test_a_chip_says_what_was_assumed_and_offers_the_other_reading() -> None:
    (chip,) = read("around 9").chips
    assert chip.means == (
        "between 08:30 and 09:30, house time, 2026-11-21 (30 minutes either side of 09:00)"
    )
    (other,) = chip.choices
    assert span(read(other.sentence)) == ("11-20 20:30", "11-20 21:30")


def test_a_sentence_without_a_chip_is_the_rest_of_it() -> None:
    found = read("CC-01 around 9 pm two pair paid short")
    assert [each.without for each in found.chips] == [
        "around 9 pm two pair paid short",
        "CC-01 two pair paid short",
        "CC-01 around 9 pm paid short",
        "CC-01 around 9 pm two pair",
    ]


@pytest.mark.parametrize(
    "text",
    ["seat 99999", "round 99999999999999", "bet $99999999999999999", "paid > 9999999999999",
     "last 99999999999 days", "99999999999 hours ago", "99999999999 days ago", "1/1/0001",
     "CC-01/2026-11-20/99999999999999999", "overpaid $99999999999999999", "99999999999999999"],
)  # fmt: skip
def test_a_figure_beyond_all_measure_is_said_and_searches_for_nothing(text: str) -> None:
    found = read(text)
    assert found.filters in (Filters(), Filters(findings=("overpaid",)))
    assert found.unread


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("CC-03 flush", "table CC-01 flush"),
        ("dealer 1023", "dealer D-1022"),
        ("table 1", "table CC-01"),
        ("omaha", "Five-card Omaha High"),
        ("5", "seat 5"),
    ],
)
def test_what_is_ambiguous_is_said_with_its_choices(text: str, choice: str) -> None:
    found = read(text)
    (unread,) = found.unread
    assert choice in [each.sentence for each in unread.choices]
    assert read(choice).unread == ()


def test_no_cell_of_the_file_is_a_formula() -> None:
    round_ = Round("p", "=T-1", "2026-11-20", 1, game="@game")
    details = Dealt(["+D-1"], {}, [("overpaid", "")], ["-D-1"])
    line = HitLine(1, "=SUM(A1)", 1, 500, 500, 0, -500, "win", "=row", ["As"])
    (text,) = sheet.rows(round_, details, [line], ZONE)
    cells: list[Any] = text.strip().split(",")
    assert [cell for cell in cells if cell[:1] in "=+@-" and cell] == ["-5.00"]
    assert len(cells) == len(sheet.COLUMNS)
