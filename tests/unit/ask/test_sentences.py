"""Sentences of guests, of the floor and of investigators: what each means is kept as data.

At least 95 of 100 are read right. A wrong one names words that it did not understand.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import asdict

from consumers.rounds.search import AmountRange, Filters
from replay.ask.house import House
from replay.ask.sentence import Understood, understand
from replay.ask.vocabulary import exposed_cards, printed_rows
from replay.text.times import wall

DATA = json.loads((Path(__file__).parents[2] / "data" / "sentences.json").read_text())
SENTENCES: list[dict[str, Any]] = DATA["sentences"]
RIGHT_SHARE = 95


@cache
def house() -> House:
    told = DATA["house"]
    return House(
        zone=ZoneInfo(told["zone"]),
        day_start=told["day_start"],
        tables=told["tables"],
        dealers=tuple(told["dealers"]),
        shifts={name: (since, until) for name, (since, until) in told["shifts"].items()},
    )


def read(says: str) -> Understood:
    now = datetime.fromisoformat(DATA["house"]["now"]).replace(tzinfo=house().zone)
    return understand(says, house(), round(now.astimezone(UTC).timestamp()) * 1_000_000)


def meaning(means: dict[str, Any]) -> dict[str, Any]:
    """What a sentence is kept to mean, as filters; times to the minute by the house's clock."""
    names = {"day": "gaming_day", "seat": "position", "from": "since", "to": "until"}
    found: dict[str, Any] = {}
    for name, value in means.items():
        if name == "hand":
            found["rows"] = printed_rows(value)
        elif name == "amounts":
            found["amounts"] = {amount(each) for each in value}
        elif name == "difference":
            ranged = amount(f"any:{value}")
            found |= {"difference_min": ranged.least, "difference_max": ranged.most}
        elif name == "calls":
            found["calls"] = exposed_cards() if value == "exposed" else (value,)
        else:
            found[names.get(name, name)] = tuple(value) if isinstance(value, list) else value
    return {name: value for name, value in found.items() if value is not None}


def amount(text: str) -> AmountRange:
    """`paid:50-75`: the kind, and the least and most dollars."""
    told = re.fullmatch(r"(\w+):([\d.]*)-([\d.]*)", text)
    assert told, text
    least, most = (round(float(each) * 100) if each else None for each in (told[2], told[3]))
    return AmountRange(None if told[1] == "any" else told[1], least or None, most)  # type: ignore[arg-type]


def understood(found: Understood) -> dict[str, Any]:
    """The filters of a sentence, in the form of `meaning`."""
    usual = asdict(Filters())
    given = {k: v for k, v in asdict(found.filters).items() if v != usual[k]}
    for name, ours in (("since_us", "since"), ("until_us", "until")):
        if name in given:
            given[ours] = f"{wall(given.pop(name), house().zone):%Y-%m-%d %H:%M}"
    if "amounts" in given:
        given["amounts"] = set(given["amounts"])
    return given


def said(found: Understood) -> str:
    return " | ".join(each.words for each in found.unread)


def is_right(each: dict[str, Any]) -> bool:
    found = read(each["says"])
    named = said(found)
    return understood(found) == meaning(each["means"]) and all(
        words in named for words in each.get("unread", ())
    )


def test_at_least_95_of_100_sentences_are_read_right() -> None:
    assert len(SENTENCES) >= 200
    wrong = [each["says"] for each in SENTENCES if not is_right(each)]
    assert 100 * (len(SENTENCES) - len(wrong)) >= RIGHT_SHARE * len(SENTENCES), wrong


def test_a_sentence_read_wrong_names_what_it_did_not_understand() -> None:
    silent = [e["says"] for e in SENTENCES if not is_right(e) and not read(e["says"]).unread]
    assert silent == []


@pytest.mark.parametrize("each", SENTENCES, ids=lambda each: each["says"][:40])
def test_every_word_of_a_sentence_is_in_a_chip_or_named(each: dict[str, Any]) -> None:
    found = read(each["says"])
    accounted = " ".join(
        [c.words for c in found.chips] + [u.words for u in found.unread] + list(found.passed_over)
    )
    for word in re.findall(r"\w+(?:'\w+)?", found.text):
        assert word in accounted, word
