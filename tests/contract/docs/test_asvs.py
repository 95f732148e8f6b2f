"""The page on ASVS 5.0: every requirement once, tests that exist, counts that are the tables'."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from infra.access import sessions, tries, users
from replay.cameras.intake.uploads import WAITING_MAX
from replay.footage.library.adding import BYTES_MAX

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/asvs.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+\.\d+\.\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
COUNT = re.compile(r"^\| ([a-z ]+) \| (\d+) \| [^|]+ \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")

SECTIONS = {
    "1.1": 2, "1.2": 9, "1.3": 11, "1.4": 3, "1.5": 2,
    "2.1": 3, "2.2": 3, "2.3": 4, "2.4": 1,
    "3.2": 2, "3.3": 4, "3.4": 6, "3.5": 5, "3.7": 2,
    "4.1": 3, "4.2": 1, "4.3": 2, "4.4": 4,
    "5.1": 1, "5.2": 3, "5.3": 2, "5.4": 3,
    "6.1": 3, "6.2": 12, "6.3": 4, "6.4": 4, "6.5": 5, "6.6": 3, "6.8": 4,
    "7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 2, "7.6": 2,
    "8.1": 2, "8.2": 3, "8.3": 1, "8.4": 1,
    "9.1": 3, "9.2": 4,
    "10.1": 2, "10.2": 2, "10.3": 4, "10.4": 11, "10.5": 5, "10.6": 2, "10.7": 3,
    "11.1": 2, "11.2": 3, "11.3": 3, "11.4": 4, "11.5": 1, "11.6": 1,
    "12.1": 3, "12.2": 2, "12.3": 4,
    "13.1": 1, "13.2": 5, "13.3": 2, "13.4": 5,
    "14.1": 2, "14.2": 4, "14.3": 3,
    "15.1": 3, "15.2": 3, "15.3": 7,
    "16.1": 1, "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 3,
    "17.1": 1, "17.2": 4, "17.3": 2,
}  # fmt: skip
"""By section, how many requirements of levels 1 and 2 it has; they are numbered from 1."""


def test_every_requirement_stands_once_under_its_chapter() -> None:
    wanted = [f"{section}.{n}" for section, last in SECTIONS.items() for n in range(1, last + 1)]
    assert len(wanted) == 253
    assert [number for number, *_ in ROW.findall(PAGE)] == wanted
    for part in re.split(r"^## ", PAGE, flags=re.MULTILINE):
        if chapter := re.match(r"V(\d+) ", part):
            assert {number.split(".")[0] for number, *_ in ROW.findall(part)} == {chapter[1]}


@pytest.mark.parametrize(("number", "state", "says"), [
    (number, state, says) for number, _, state, says in ROW.findall(PAGE)
])  # fmt: skip
def test_a_row_has_what_its_state_asks_for(number: str, state: str, says: str) -> None:
    if state == "held":
        for each in says.split(", "):
            named = TEST.fullmatch(each)
            assert named, number
            text = (ROOT / named[1]).read_text(encoding="utf-8")
            assert re.search(rf"^(?:async )?def {named[2]}\(", text, re.MULTILINE), number
    else:
        assert not TEST.search(says), number
        assert state in ("house", "not applicable", "open"), number
        assert state != "house" or re.search(r"\]\([^)]*\.md#|\]\(#duties", says), number


def test_the_counts_are_those_of_the_tables() -> None:
    states = Counter(state for _, _, state, _ in ROW.findall(PAGE))
    assert {state: int(count) for state, count in COUNT.findall(PAGE)} == states
    assert f"has {sum(states.values())} requirements" in PAGE


def test_every_duty_that_a_row_names_is_described() -> None:
    named = {
        match[1]
        for _, _, state, says in ROW.findall(PAGE)
        if state == "house" and (match := re.match(r"([^:]+): \[duties\]", says))
    }
    duties = PAGE.partition("## Duties of the house")[2].partition("\n## ")[0]
    assert len(named) > 5
    assert [each for each in named if f"\n| {each} |" not in duties] == []


def test_the_barred_words_are_those_of_the_program() -> None:
    assert f"add nothing to a password: {', '.join(users._CONTEXT)}." in PAGE


SIGN_IN, FOOTAGE = "how-to/sign-in.md", "how-to/footage.md"
SAID = {
    "5.1.1": (FOOTAGE, f"larger than {BYTES_MAX >> 30} GiB", "MP4, Matroska, WebM, MPEG-TS and AVI",
              f"at most {WAITING_MAX} files waiting"),
    "6.1.1": (SIGN_IN, "five of one name from one address", "thirty different names",
              "refused for fifteen minutes"),
    "6.1.3": (SIGN_IN, "## Passwords and sessions", "## Passkeys", "## An identity provider"),
    "7.1.1": (SIGN_IN, f"after {sessions.IDLE_S_MAX // 60} minutes unused",
              f"after {sessions.SESSION_S_MAX // 3600} hours"),
    "7.1.2": ("asvs.md", "any number of sessions at once"),
    "7.1.3": ("asvs.md", "Signing out here does not sign out there"),
    "8.1.1": (SIGN_IN, *users.ROLES),
    "8.1.2": (SIGN_IN, "without patrons' tokens", "without footage"),
    "15.1.1": ("../SECURITY.md", "14 days", "at most 90 days",
               "The times above hold for a dependency"),
    "13.1.1": ("how-to/deploy.md", "## Processes", "takes facts over HTTP", "## Database logins"),
}  # fmt: skip
"""By requirement of a document, its page and what the page has to say."""


@pytest.mark.parametrize("number", SAID)
def test_pages_say_what_the_program_does(number: str) -> None:
    page, *said = SAID[number]
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
    assert [each for each in said if each not in text] == []


def test_the_words_for_limits_of_guessing_are_the_programs_numbers() -> None:
    assert (tries.TRIES_MAX, tries.NAMES_MAX, tries.TRIES_S) == (5, 30, 15 * 60)


def test_rows_that_rest_on_a_page_are_the_ones_looked_up_here() -> None:
    resting = {number for number, _, _, says in ROW.findall(PAGE) if "test_pages_say_what" in says}
    assert resting == SAID.keys()
