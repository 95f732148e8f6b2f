"""Checks of a preserved window: it is the window that was locked, and it is complete.

A window's name contains its start and end. The ids of its locks contain the name, the lock's number
and the number of locks. So the record itself states what these checks compare.
"""

from __future__ import annotations

import re
from typing import Any, Iterator

from replay.checker.package import printable
from replay.checker.reading import ReceivedFact, microseconds
from replay.checker.report import Dossier, Report

CASE, FACTS_OF, BETWEEN_OF, CAMERA_FACTS_OF = (
    "case.jsonl", "facts.jsonl", "between.jsonl", "camera-facts.jsonl",
)  # fmt: skip
_AT = r"\d{8}T\d{6}(?:\.\d{6})?Z"
WINDOW = re.compile(rf"P-({_AT})-({_AT})-[0-9a-f]{{6}}")
"""The name of a window: start and end in UTC, and a part that makes it unique."""

LOCK_ID = re.compile(rf"({WINDOW.pattern})\.(\d+)of(\d+)")
_ROUND_NAME = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._-]{0,63})/\d{4}-\d{2}-\d{2}/[1-9]\d{0,8}", re.ASCII
)


def span_of(name: str) -> tuple[int, int] | None:
    """Start and end of a window by its name, in microseconds; None if it is not such a name."""
    match = WINDOW.fullmatch(name)
    if not match:
        return None
    start, end = (microseconds(_spread(each)) for each in match.groups())
    return None if start is None or end is None else (start, end)


def table_of(fact: ReceivedFact) -> str:
    """The table of a fact: its round's, else the one it names, else its source's place."""
    subject = fact.attributes.get("subject", "")
    of_round = _ROUND_NAME.fullmatch(subject)
    if of_round:
        return of_round.group(1)
    return str(fact.told().get("table") or fact.tape.partition("/")[2])


def check_window(dossier: Dossier, report: Report) -> None:
    """Check that the window is the one that was locked, and that exactly its facts are here."""
    window = dossier.manifest["window"]
    span = microseconds(window["from"]), microseconds(window["to"])
    problems = [*_locks(dossier, window, span), *_scope(dossier, window, span)]
    count = len(dossier.facts.get(FACTS_OF, []))
    report.settle(
        problems,
        f"The window is the one that its locks preserved. All {count} facts are facts of its table "
        "in that time, or of a round in it.",
    )
    hidden = sum(1 for row in dossier.rows if row.file is None)
    if hidden:
        report.unknown.append(
            f"Rows between the first and the last fact that are here as hashes only: {hidden}. "
            "That none of them belongs to this window is not shown: only the signature "
            "vouches for it."
        )
    _segments(dossier, report)


def _locks(dossier: Dossier, window: dict[str, Any], span: tuple[Any, Any]) -> Iterator[str]:
    name, place = printable(window["name"]), str(window["property"])
    found: dict[int, int] = {}
    tables = set()
    for fact in dossier.named("footage_locked"):
        match = LOCK_ID.fullmatch(fact.key[1])
        of_it = match and match.group(1) == window["name"]
        if match and of_it and fact.key[0] == f"/{place}/surveillance/locks":
            found[int(match.groups()[-2])] = int(match.groups()[-1])
            tables.add(_locked_table(dossier, fact))
    if not found:
        yield f"No fact of this dossier preserved window {name}: its locks were removed."
        return
    if span_of(str(window["name"])) != span:
        yield f"The window has another start or end than {name}, which was preserved."
    if tables != {window["table"]}:
        yield f"Window {name} was preserved for another table than {printable(window['table'])}."
    (*_, count) = found.values()
    if sorted(found) != list(range(1, len(found) + 1)) or len(found) != count:
        yield (
            f"{len(found)} of the {count} locks of window {name} are in this dossier: one was "
            "removed."
        )


def _locked_table(dossier: Dossier, lock: ReceivedFact) -> Any:  # noqa: ANN401 - any JSON value
    """The table that a lock names, else the table its camera was mapped to."""
    told = lock.told()
    if told.get("table"):
        return told["table"]
    mapped = [fact.told() for fact in dossier.named("camera_mapped")]
    on = {each.get("table") for each in mapped if each.get("camera") == told.get("camera")}
    wanted = dossier.manifest["window"]["table"]
    return wanted if wanted in on else None


def _scope(dossier: Dossier, window: dict[str, Any], span: tuple[Any, Any]) -> Iterator[str]:
    """Compare facts and rounds with the window in both directions."""
    place, table = str(window["property"]), window["table"]
    ruled = {str(each["round"]) for each in dossier.manifest["rulings"]}

    def within(fact: ReceivedFact) -> bool:
        at = microseconds(fact.attributes.get("time", ""))
        here = fact.tape.partition("/")[0] == place and table_of(fact) == table
        return here and at is not None and span[0] <= at <= span[1]

    own = dossier.facts.get(FACTS_OF, [])
    falls_in = {_round(fact, place) for fact in own if within(fact)} - {None}
    for fact in own:
        if not within(fact) and _round(fact, place) not in falls_in:
            yield f"{fact.where} is not a fact of this window."
    for file, facts in dossier.facts.items():
        for fact in facts if file != FACTS_OF else ():
            if (file == BETWEEN_OF and within(fact)) or _round(fact, place) in falls_in:
                yield f"{fact.where} is a fact of this window, but is not listed as one."
    for each in sorted(map(str, falls_in - ruled)):
        yield f"Round {printable(each)} falls in the window, but its ruling is missing."
    for each in sorted(ruled - falls_in):
        yield f"Round {printable(each)} has a ruling here, but no fact of it is in the window."


def _round(fact: ReceivedFact, place: str) -> Any:  # noqa: ANN401 - text or None, in sets of either
    """The round of a fact, with its property; None if it names none."""
    subject = fact.attributes.get("subject", "")
    here = fact.tape.partition("/")[0] == place
    return f"{place}:{subject}" if here and _ROUND_NAME.fullmatch(subject) else None


def _segments(dossier: Dossier, report: Report) -> None:
    """Report how many segments of the locked times are not in the dossier."""
    footage = dossier.manifest.get("footage", [])
    here = {each["sha256"] for each in footage if each["kind"] == "original"}
    locked = [
        (told.get("camera"), microseconds(str(told.get("from"))), microseconds(str(told.get("to"))))
        for told in (fact.told() for fact in dossier.facts.get(CASE, []))
        if fact_has_span(told)
    ]
    gone = set()
    for fact in dossier.named("segment_recorded"):
        told = fact.told()
        start = microseconds(str(told.get("start")))
        if start is None or told.get("sha256") in here:
            continue
        end = start + int(told.get("duration_us") or 0)
        for camera, first, last in locked:
            over = first is not None and last is not None and start <= last and end >= first
            if over and camera == told.get("camera"):
                gone.add(told.get("sha256"))
    if gone:
        report.unknown.append(
            f"Segments recorded in the locked times that are not in this dossier: {len(gone)}. "
            "coverage.txt and custody.csv have what is known of them."
        )


def fact_has_span(told: dict[str, Any]) -> bool:
    """Whether a fact has a span of footage."""
    return "from" in told and "to" in told


def _spread(at: str) -> str:
    """20261120T190000Z in RFC 3339 form."""
    return f"{at[:4]}-{at[4:6]}-{at[6:11]}:{at[11:13]}:{at[13:]}"
