"""A number before a noun: `1 fact`, never `1 facts`."""

from __future__ import annotations

import re
from pathlib import Path

from ledger.values import quantity

ROOT = Path(__file__).parents[3]
COUNTED = re.compile(
    r"\{+ ?[\w.()\[\], -]+(?::,|[|] (?:length|thousands))? ?\}+ (?:other )?"
    r"(alerts|breaks|bytes|cameras|disputes|facts|files|findings|frames|heads|inputs|lines|"
    r"messages|migrations|records|rounds|rows|segments|tapes|wagers)\b"
)
SEVERAL = {
    "ledger/": "the rules' sentences: numbers above one, or of a limit",
    "replay/checker/": "numbers last in a sentence, or of whole rounds and tapes",
    "replay/cli/footage/status.py": "0 segments, or thousands",
    "replay/footage/library/": "bytes of a file above 8 GiB, and the most files of a folder",
    "replay/footage/decoding/reader.py": "the most frames of a file",
    "replay/demo/report.py": "the command `rounds`, after the program's name",
    "replay/dossier/gathering/found.py": "tables, where one is no problem",
    "replay/cameras/health.py": "two facts at least",
    "replay/web/api/facts.py": "bytes of memory, a setting",
    "consumers/relay/refill.py": "bytes above 256 KiB",
    "consumers/alerts/webhook.py": "bytes of a secret, above one",
    "infra/postgres/tape.py": "bytes above a limit",
}
"""The files that may write a plural after any number, and why."""


def test_a_number_of_things_is_written_by_one_function() -> None:
    paths = [
        path
        for top in ("replay", "consumers", "infra")
        for kind in ("*.py", "templates/*.html")
        for path in (ROOT / top).rglob(kind)
    ]
    found = {
        f"{name}: {match[0]}"
        for path in paths
        if not (name := path.relative_to(ROOT).as_posix()).startswith(tuple(SEVERAL))
        for match in COUNTED.finditer(path.read_text(encoding="utf-8"))
    }
    assert len(paths) > 300
    assert found == set(), "write it with `quantity` of ledger.values"


def test_the_pattern_sees_what_it_is_for() -> None:
    for wrong in ('f"{count:,} facts"', "{{ facts | length }} facts", "{len(filed)} files"):
        assert COUNTED.search(wrong), wrong
    assert not COUNTED.search("""{quantity(count, "fact")} of""")


def test_one_is_singular_and_others_are_not() -> None:
    assert [quantity(n, "fact") for n in (0, 1, 1204)] == ["0 facts", "1 fact", "1,204 facts"]
    assert quantity(2, "failed try", "failed tries") == "2 failed tries"
