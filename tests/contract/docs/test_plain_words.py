"""What people read is in plain words: short sentences, the subject first, the field's own terms."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.docs.pages import generate
from tests.contract.docs.plain_words import (
    habits,
    in_files,
    of_comments,
    of_docstrings,
    of_module,
    of_page,
    of_script,
    of_settings,
    of_template,
)

ROOT = Path(__file__).parents[3]

SETTINGS = (
    *("Makefile", ".ci/run", ".dockerignore", ".gitignore", "*.toml", "*.yml"),
    *(".github/workflows/*.yml", "infra/kafka/*.toml", "infra/*/*.service", "infra/*/*/*.conf"),
    *("infra/caddy/Caddyfile", "infra/docker/Dockerfile", "infra/docker/*.sh"),
    "infra/docker/env.example",
)
"""Files of settings, by pattern."""

READERS = {
    "pages": (of_page, [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]),
    "templates": (of_template, [*(ROOT / "replay/web/templates").glob("*.html")]),
    "scripts": (of_script, [*(ROOT / "replay/web/static").glob("*.js")]),
    "settings": (of_settings, [path for name in SETTINGS for path in ROOT.glob(name)]),
    **{
        package: (of_module, [*(ROOT / package).rglob("*.py")])
        for package in ("ledger", "infra", "consumers", "replay")
    },
}

CLEAN = ("consumers", "infra", "ledger", "replay", "tests")
"""Packages whose docstrings and comments are held to plain words."""

FOLDERS = sorted({path.parent for package in CLEAN for path in (ROOT / package).rglob("*.py")})


def wrong(name: str, sentences: list[str]) -> list[str]:
    return [
        f"{name}: {', '.join(found)}: {sentence}"
        for sentence in sentences
        if (found := habits(sentence))
    ]


@pytest.mark.parametrize("kind", READERS)
def test_sentences_are_plain(kind: str) -> None:
    reader, paths = READERS[kind]
    found = [
        each
        for path in sorted(paths)
        for each in wrong(path.relative_to(ROOT).as_posix(), list(reader(path.read_text())))
    ]
    assert found == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_docstrings_and_comments_are_plain(folder: Path) -> None:
    assert [*in_files(folder.glob("*.py"))] == []


@pytest.mark.long  # house edges are worked out for the pages of the games
def test_the_sentences_of_generated_pages_are_plain() -> None:
    assert [
        each for name, text in generate().items() for each in wrong(name, [*of_page(text)])
    ] == []


@pytest.mark.parametrize(
    ("sentence", "habit"),
    [
        ("Where something lacks, its tests are skipped.", "begins with Of or Where"),
        ("Of one that was killed another delivers that alert.", "begins with Of or Where"),
        ("Whoever keeps views up reads it.", "whoever"),
        ("A device is told of it.", "told"),
        ("It takes no more of that place.", "no more"),
        ("It sends the octets anew.", "own word"),
        (" ".join(["word"] * 31) + ".", "over 30 words"),
    ],
)
def test_a_habit_is_seen(sentence: str, habit: str) -> None:
    assert habits(sentence) == [habit]


def test_code_calls_of_the_floor_and_questions_are_left_alone() -> None:
    assert habits("The dealer calls no more bets.") == []
    assert habits("Set `told` to what `whoever` says.") == []
    assert habits("Where does it stand?") == []


def test_what_people_read_is_found_and_what_they_do_not_is_not() -> None:
    module = '''
"""Of the module."""
@app.command()
def show():
    """Show what was told."""
def other():
    """Where nobody looks."""
    raise Refused(f"Of {number} facts none fits", hint="Send it again.")
SHOWN = name or "not told"
STARTS = re.compile(r"(?<=of) (?P<told>[0-9]) told")
'''
    assert [each for each in of_module(module) if habits(each)] == [
        "Show what was told.",
        "not told",
        "Of X facts none fits",
    ]


def test_attributes_comments_and_texts_of_pages_scripts_and_settings_are_read() -> None:
    page = '<a title="Where it stands" class="told">It is there.</a>'
    assert [each for each in of_template(page) if habits(each)] == ["Where it stands"]
    script = '// Of a player\n// that stands.\nsay("it is told when it can", `no ${one} was told`);'
    assert [each for each in of_script(script) if habits(each)] == [
        "Of a player that stands.",
        "it is told when it can",
        "no X was told",
    ]
    settings = "# Whoever reads it\n# may change it.\nNAME=told\n"
    assert [*of_settings(settings)] == ["Whoever reads it may change it."]
    assert all(paths for _, paths in READERS.values())


def test_docstrings_and_comments_are_read_and_what_tools_read_is_not() -> None:
    module = '''
"""Of the module."""
LIMIT = 3  # Whoever sets it.
"""The limit, as the device tells it."""
class Seat:
    """A seat."""
    place: int
    """Where it is."""  # noqa: told
    def sit(self):
        """- A point.
        - Of two points.
        """
        # A player sits down
        # and takes no more.
        return "Of text" # type: ignore # told
'''
    assert [each for each in of_docstrings(module) if habits(each[1])] == [
        (2, "Of the module."),
        (4, "The limit, as the device tells it."),
        (8, "Where it is."),
        (10, "Of two points."),
    ]
    assert [*of_comments(module)] == [
        (3, "Whoever sets it."),
        (13, "A player sits down and takes no more."),
    ]
