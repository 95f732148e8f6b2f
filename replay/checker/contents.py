"""Checks of the dossier's statements against its facts: rules, money, clocks, footage.

They do not rule on the round again. They check that its figures follow from these facts.
"""

from __future__ import annotations

import csv
import io
from typing import Any, Iterator

from replay.checker.chain import FACTS
from replay.checker.package import printable
from replay.checker.reading import ReceivedFact, microseconds, parsed
from replay.checker.report import Dossier, Report
from replay.checker.window import check_window

CAMERAS, SUBMISSION, RULING, CLOCKS = (
    "camera-facts.jsonl", "submission.jsonl", "ruling.json", "clocks.csv",
)  # fmt: skip
CUSTODY, CASE_OF = "custody.csv", "case.jsonl"
_HANDLED = {
    "footage_viewed": "viewed",
    "footage_exported": "exported",
    "footage_locked": "locked",
    "footage_released": "released",
    "footage_expired": "expired",
}
_CUSTODY = ("camera", "from", "to", "by", "because")
_CHIPS = {"wager_paid": "paid", "wager_collected": "collected", "wager_returned": "returned"}


def check_round(dossier: Dossier, report: Report) -> None:
    """Check that exactly the facts of the round (or window) are listed as its own."""
    check_counts(dossier, report)
    if dossier.manifest.get("window"):
        check_window(dossier, report)
        return
    place, _, subject = str(dossier.manifest.get("round")).partition(":")
    problems = [
        f"{fact.where} is not a fact of this round."
        for fact in dossier.facts.get(FACTS, [])
        if (fact.attributes.get("subject"), fact.tape.partition("/")[0]) != (subject, place)
    ]
    problems += [
        f"{fact.where} is a fact of this round, but is not listed as one."
        for file, facts in dossier.facts.items()
        for fact in facts
        if file != FACTS
        and (fact.attributes.get("subject"), fact.tape.partition("/")[0]) == (subject, place)
    ]
    count = len(dossier.facts.get(FACTS, []))
    hidden = sum(1 for row in dossier.rows if row.file is None)
    report.settle(
        problems,
        f"All {count} facts belong to the round"
        + ("." if hidden else ", and the ranges of rows in this dossier hold no other fact of it."),
    )
    if hidden:
        report.unknown.append(
            f"Rows between the first and the last fact that are here as hashes only: {hidden}. "
            "That none of them belongs to this round is not shown: only the signature "
            "vouches for it."
        )


def check_counts(dossier: Dossier, report: Report) -> None:
    """Check that every file of facts has the number of facts that the manifest lists."""
    counted = {name: len(facts) for name, facts in dossier.facts.items()}
    listed = sorted(dossier.manifest.get("fact_files", {}).items())
    problems = [
        f"{printable(name)} has another number of facts than listed: {counted.get(name, 0)}, not "
        f"{count}."
        for name, count in listed
        if counted.get(name, 0) != count
    ]
    told = dossier.manifest.get("facts")
    if told != (own := counted.get(FACTS, 0)):
        problems.append(f"The manifest counts {printable(told)} facts, but {FACTS} has {own}.")
    report.settle(
        problems, f"Each of the {len(listed)} files of facts has its listed number of facts."
    )


def check_rules(dossier: Dossier, report: Report) -> None:
    """Check that the Rules Submissions are those named, for the round's game, and in force."""
    facts = {fact.key: fact for fact in dossier.facts.get(SUBMISSION, [])}
    named = [(each, each.get("submission")) for each in rulings_of(dossier)]
    wanted = {(ref.get("source"), ref.get("id")) for _, ref in named if ref}
    problems = []
    if facts.keys() - wanted:
        problems.append(
            "The Rules Submission in submission.jsonl is not the one named."
            if wanted
            else "This dossier has a Rules Submission that the manifest does not name."
        )
    elif wanted - facts.keys():
        problems.append("The Rules Submission that the manifest names is missing.")
    for each, ref in named:
        fact = facts.get((ref.get("source"), ref.get("id"))) if ref else None
        if fact is None:
            continue
        told = fact.told()
        day = str(each["round"]).split("/")[1:2]
        if told.get("game") != _ruling(dossier, each).get("game"):
            problems.append("The Rules Submission in submission.jsonl is for another game.")
        if [str(told.get("effective_from"))] > day:
            problems.append("The Rules Submission was not yet in force on that gaming day.")
    report.settle(
        problems,
        "The Rules Submission is the one named, is for the game of the round, and was in force on "
        "its gaming day."
        if wanted
        else "No Rules Submission was on file: the ruling is without one.",
    )


def check_money(dossier: Dossier, report: Report) -> None:
    """Check that the amounts moved in ruling.json are the sums of the facts it names."""
    facts = {fact.key: fact for fact in dossier.facts.get(FACTS, [])}
    corrected = {_of(fact) for fact in dossier.named("fact_corrected")}
    problems: list[str] = []
    unnamed = {key for key, fact in facts.items() if fact.name in _CHIPS}
    counted = 0
    for of, line in _lines_of(dossier, problems):
        refs = [(ref["source"], ref["id"]) for ref in line["facts"]]
        unnamed.difference_update(refs)
        if corrected & set(refs) or any(
            ref in facts and facts[ref].name not in _CHIPS for ref in refs
        ):
            continue
        sums = dict.fromkeys(_CHIPS.values(), 0)
        for ref in refs:
            if ref in facts:
                sums[_CHIPS[facts[ref].name]] += facts[ref].told()["amount"]
        counted += len(refs)
        problems += _other_sums(printable(of["file"]), line, sums)
    report.settle(
        problems,
        f"The amounts paid, collected and returned in the {len(rulings_of(dossier))} rulings are "
        f"the sums of {counted} facts of this dossier."
        if dossier.manifest.get("window")
        else f"The amounts paid, collected and returned in ruling.json are the sums of {counted} "
        "facts of this dossier.",
    )
    if unnamed:
        report.unknown.append(
            f"Facts of this dossier that move chips, but that no ruling names: {len(unnamed)}."
        )
    report.unknown.append(
        "What was owed, and by which section, follows from the facts and the rules. This program "
        "does not compute it. Round Ledger does, from facts.jsonl and submission.jsonl."
    )


def check_clocks(dossier: Dossier, report: Report) -> None:
    """Check that clocks.csv has exactly the readings that are in facts, unchanged."""
    facts = dossier.facts.get(CAMERAS, [])
    told = sorted(_reading(fact) for fact in facts if fact.name == "clock_checked")
    octets = dossier.package.whole(CLOCKS) if CLOCKS in dossier.package.sizes else b""
    table = list(csv.DictReader(io.StringIO(octets.decode("utf-8"), newline="")))
    shown = sorted(_shown(line) for line in table)
    problems = [
        f"No fact has this clock reading of clocks.csv: camera {printable(each[0])}, "
        f"{printable(each[1])}."
        for each in shown
        if each not in told
    ]
    problems += [
        f"clocks.csv lacks a clock reading: camera {printable(each[0])}, {printable(each[1])}."
        for each in told
        if each not in shown
    ]
    report.settle(problems, f"All {len(told)} clock readings are those in the facts.")


def check_custody(dossier: Dossier, report: Report) -> None:
    """Check that custody.csv has exactly the entries that facts record."""
    facts = dossier.named(*_HANDLED)
    told = sorted(
        (_HANDLED[fact.name], *(_cell(str(fact.told().get(name))) for name in _CUSTODY))
        for fact in facts
    )
    octets = dossier.package.whole(CUSTODY) if CUSTODY in dossier.package.sizes else b""
    table = csv.DictReader(io.StringIO(octets.decode("utf-8"), newline=""))
    columns = ("what", "camera", "from_camera_clock", "to_camera_clock", "by", "because")
    shown = sorted(tuple(str(line.get(name)) for name in columns) for line in table)
    problems = [
        f"No fact has this entry of custody.csv: {printable(' '.join(each[:2]))}, "
        f"{printable(each[4])}"
        for each in shown
        if each not in told
    ]
    if len(shown) < len(told) or any(each not in shown for each in told):
        problems.append("custody.csv lacks an entry that a fact records.")
    named = dossier.manifest.get("dispute")
    if named and all(
        each.told().get("dispute") != named for each in dossier.facts.get(CASE_OF, [])
    ):
        problems.append(f"No fact in {CASE_OF} belongs to dispute {printable(named)}.")
    report.settle(problems, f"custody.csv has the {len(told)} entries that the facts record.")


def check_footage(dossier: Dossier, report: Report) -> None:
    """Check that originals have the recorded bytes, and that clips and frames name their source."""
    recorded = {fact.told().get("sha256"): fact for fact in dossier.named("segment_recorded")}
    footage = dossier.manifest.get("footage", [])
    originals = {each["sha256"] for each in footage if each["kind"] == "original"}
    derived = [each for each in footage if each["kind"] != "original"]
    problems: list[str] = []
    listed = {each["path"]: each["sha256"] for each in dossier.manifest["files"]}
    for each in footage:
        if listed.get(each["path"]) != each["sha256"]:
            problems.append(f"{printable(each['path'])} is listed with two different checksums.")
        if each["kind"] == "original":
            problems += _not_recorded(dossier, each, recorded)
        elif not each["of"] or set(each["of"]) - recorded.keys():
            problems.append(
                f"{printable(each['path'])} does not name the recorded segment it is made from."
            )
    named = {each["path"] for each in footage}
    problems += [
        f"{printable(path)} is footage, but is listed neither as original nor as derived."
        for path in sorted(listed)
        if path.split("/")[0] in ("footage", "clips", "frames", "stills") and path not in named
    ]
    report.settle(
        problems,
        f"Segments with exactly the bytes that were recorded: {len(originals)}. "
        f"Clips and frames listed as made from recorded segments: {len(derived)}.",
    )
    without = sum(1 for each in derived if not set(each["of"]) <= originals)
    if without:
        report.unknown.append(
            f"Clips and frames made from segments that are not in this dossier: {without}."
        )


def check_stills(dossier: Dossier, report: Report) -> None:
    """Check that each still has the picture that a fact records, of the segment it names."""
    told = {(fact.told().get("sha256"), fact.told().get("segment"), fact.told().get("camera"))
            for fact in dossier.named("still_taken")}  # fmt: skip
    listed = [each for each in dossier.manifest.get("footage", []) if each["kind"] == "still"]
    if not told and not listed:
        return
    problems, shown = [], set()
    for each in listed:
        if each["path"] not in dossier.package.sizes:
            continue  # reported as missing already
        found = dossier.package.sha256(each["path"])
        shown.add(found)
        if len(each["of"]) != 1 or (found, each["of"][0], each["camera"]) not in told:
            problems.append(
                f"{printable(each['path'])} is not the picture of a still that a fact records."
            )
    report.settle(
        problems,
        f"Stills with exactly the picture that a fact records, each of a recorded segment: "
        f"{len(shown)}.",
    )
    without = sum(1 for picture, _, _ in told if picture not in shown)
    if without:
        report.unknown.append(f"Stills on record whose picture is not in this dossier: {without}.")


def _not_recorded(
    dossier: Dossier, each: dict[str, Any], recorded: dict[Any, ReceivedFact]
) -> list[str]:
    """The problem, if an original does not have the bytes that a fact records."""
    path = each["path"]
    if path not in dossier.package.sizes:
        return []  # reported as missing already
    found = dossier.package.sha256(path)
    if found in recorded:
        return []
    fact = recorded.get(each["sha256"])
    says = f" in {fact.where}" if fact else ""
    return [f"{printable(path)} does not have the bytes of a segment recorded{says}."]


def rulings_of(dossier: Dossier) -> list[dict[str, Any]]:
    """Each ruled round: its name, its file, and its Rules Submission."""
    if dossier.manifest.get("window"):
        found: list[dict[str, Any]] = dossier.manifest["rulings"]
        return found
    alone = {name: dossier.manifest.get(name) for name in ("round", "submission")}
    return [{**alone, "file": RULING}]


def _lines_of(
    dossier: Dossier, problems: list[str]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each wager of each ruling; a file with the ruling of another round is a problem."""
    for each in rulings_of(dossier):
        ruling = _ruling(dossier, each)
        told = f"{ruling.get('property')}:{ruling.get('round')}"
        if told != str(each["round"]):
            problems.append(f"{printable(each['file'])} is the ruling of another round.")
        for line in ruling.get("paid_beside_owed") or []:
            yield each, line


def _ruling(dossier: Dossier, of: dict[str, Any]) -> dict[str, Any]:
    if of["file"] not in dossier.package.sizes:
        return {}
    found = parsed(dossier.package.whole(of["file"]), of["file"])
    return found if isinstance(found, dict) else {}


def _other_sums(file: str, line: dict[str, Any], sums: dict[str, int]) -> Iterator[str]:
    for what, amount in sums.items():
        if line[what] != amount:
            yield (
                f"{file} has {_dollars(line[what])} {what} at position {line['position']} on "
                f"{printable(line['wager'])}; the facts add up to {_dollars(amount)}."
            )


def _dollars(cents: object) -> str:
    """Cents as people read them: `$1,234.50`; what is no number as it stands."""
    if not isinstance(cents, int):
        return printable(str(cents))
    return f"{'-' if cents < 0 else ''}${abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def _of(fact: ReceivedFact) -> tuple[str, str]:
    of = fact.told().get("of") or {}
    return (str(of.get("source")), str(of.get("id")))


def _reading(fact: ReceivedFact) -> tuple[str, ...]:
    told = fact.told()
    return (
        _cell(told["camera"]),
        *(str(microseconds(told[name])) for name in ("camera_time", "reference_time")),
        _cell(told["reference"]),
        str(told["uncertainty_ms"]),
    )


def _cell(text: str) -> str:
    """A text as in a CSV table, where a leading mark keeps it from becoming a formula."""
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _shown(line: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(line.get("camera")),
        *(str(microseconds(str(line.get(name)))) for name in ("camera_time", "reference_time")),
        str(line.get("reference")),
        str(line.get("plus_minus_ms")),
    )
