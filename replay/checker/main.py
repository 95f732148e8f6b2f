"""Checks a dossier of Round Ledger and reports what is valid and what is not.

    python verify.py --key PUBLIC_KEY [FOLDER or ZIP]

PUBLIC_KEY is 64 hexadecimal digits, or a file that holds them. Get the key from the house that made
the dossier, but not together with the dossier: anyone can sign with their own key. Exit codes: 0
all valid, 1 something is broken, 2 it could not be checked. Needs no network.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from pathlib import Path
from typing import Any, Callable

from replay.checker.chain import check_chain, check_facts, check_heads, rows_of
from replay.checker.clips import check_clips
from replay.checker.contents import (
    check_clocks,
    check_custody,
    check_footage,
    check_money,
    check_round,
    check_rules,
    check_stills,
)
from replay.checker.log import NoteKey, check_log, note_key
from replay.checker.package import Package, Unreadable, opened, printable
from replay.checker.reading import Malformed, an_object, fact_of
from replay.checker.report import Dossier, Report
from replay.checker.seal import check_files, check_signature, manifest_of

HOLDS, BROKEN, UNCHECKED = 0, 1, 2
_KEY = re.compile(r"[0-9a-fA-F]{64}")
_KEY_FILE_MAX = 10_000
CANNOT_SHOW = (
    "that devices sent the truth: a fact shows what was sent and when it was received.",
    (
        "that the record was honest before a witness first saw it, or before one of its heads was "
        "kept elsewhere. Give a head that you or someone else kept with --head."
    ),
    "that footage was not altered before its hash was put on record.",
    "that a clip or a frame shows the same as its segment: compare them in a player.",
    (
        "that report.html, report.pdf and ruling.pdf agree with the facts: only their checksums "
        "are compared."
    ),
    "anything, if this program or the key came to you only with the dossier.",
)


def check(
    package: Package,
    public: bytes | None,
    kept: list[dict[str, Any]],
    keys: list[NoteKey] | None = None,
) -> Report:
    """Run all checks. Raises Unreadable if the dossier has no usable manifest.

    keys: of the witnessed log and its witnesses.
    """
    report = Report()
    manifest = manifest_of(package)
    check_signature(package, manifest, public, report)
    check_files(package, manifest, report)
    try:
        dossier = _read(package, manifest)
    except (Malformed, Unreadable, KeyError, TypeError, AttributeError) as error:
        report.broken.append(f"The facts and their chain cannot be read: {printable(error)}")
        return report
    checks: list[Callable[[], None]] = [
        lambda: check_facts(dossier, report),
        lambda: check_chain(dossier, report),
        lambda: check_heads(dossier, kept, report),
        lambda: check_log(dossier, keys or [], report),
        lambda: check_round(dossier, report),
        lambda: check_rules(dossier, report),
        lambda: check_money(dossier, report),
        lambda: check_clocks(dossier, report),
        lambda: check_custody(dossier, report),
        lambda: check_footage(dossier, report),
        lambda: check_stills(dossier, report),
        lambda: check_clips(dossier, report),
    ]
    for each in checks:
        _survived(each, report)
    return report


def _survived(check_one: Callable[[], None], report: Report) -> None:
    """Run one check; unreadable content is reported as broken."""
    try:
        check_one()
    except (Malformed, Unreadable) as error:
        report.broken.append(str(error))
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        csv.Error,
    ) as error:
        report.broken.append(f"Some content has an unexpected form: {printable(repr(error))}")


def main(arguments: list[str] | None = None) -> int:
    """Check, print, and return the exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a console may lack characters
        sys.stdout.reconfigure(errors="backslashreplace")
    asked = _arguments().parse_args(arguments)
    try:
        public = _public(asked.key) if asked.key else None
        kept = _heads(asked.head) if asked.head else []
        keys = [note_key(each) for each in [*asked.log, *asked.witness]]
        package = opened(Path(asked.dossier) if asked.dossier else Path(__file__).resolve().parent)
        report = check(package, public, kept, keys)
    except Unreadable as error:
        sys.stdout.write(f"NOT CHECKED  {error}\n")
        return UNCHECKED
    return _tell(report, signed_by_whom_is_known=public is not None)


def _tell(report: Report, *, signed_by_whom_is_known: bool) -> int:
    lines = [f"holds   {each}" for each in report.holds]
    lines += [f"BROKEN  {each}" for each in report.broken]
    lines += [f"open    {each}" for each in report.unknown]
    lines += ["", "This cannot show:", *(f"  - {each}" for each in CANNOT_SHOW), ""]
    if report.broken:
        lines.append(f"DOES NOT HOLD: {len(report.broken)} checks failed, see BROKEN above.")
        code = BROKEN
    elif not signed_by_whom_is_known:
        lines.append(
            "NOT CHECKED: who signed it. Everything else holds. Give the house's key with --key."
        )
        code = UNCHECKED
    else:
        lines.append("HOLDS: all checks passed.")
        code = HOLDS
    sys.stdout.write("\n".join(lines) + "\n")
    return code


def _read(package: Package, manifest: dict[str, Any]) -> Dossier:
    facts = {
        name: [
            fact_of(line, f"{name} line {number}")
            for number, line in enumerate(_lines_of_file(package, name), 1)
        ]
        for name in manifest["fact_files"]
        if name in package.sizes
    }
    return Dossier(package, manifest, facts, rows_of(package))


def _lines_of_file(package: Package, name: str) -> list[bytes]:
    """The lines of a file. Raises Malformed if the last one has no line end."""
    *lines, rest = package.whole(name).split(b"\n")
    if rest:
        raise Malformed(f"{name} has an unfinished last line")
    return lines


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="verify.py", description="Check a dossier of Round Ledger, offline."
    )
    parser.add_argument(
        "dossier", nargs="?", help="the folder or the zip; default: the folder of this file"
    )
    parser.add_argument(
        "--key", metavar="HEX|FILE", help="the house's public key, not taken from the dossier"
    )
    parser.add_argument(
        "--head", metavar="FILE", help="heads kept elsewhere, as `round-ledger verify` prints them"
    )
    for name, whose in (("--log", "the log"), ("--witness", "a witness")):
        parser.add_argument(
            name,
            metavar="KEY",
            action="append",
            default=[],
            help=f"the public key of {whose}, not taken from the dossier",
        )
    return parser


def _public(key: str) -> bytes:
    """The key, from its digits or from a file with them. Raises Unreadable."""
    text = key
    if not _KEY.fullmatch(key.strip()):
        try:
            with Path(key).open("rb") as file:
                text = file.read(_KEY_FILE_MAX).decode("ascii", "replace")
        except (OSError, ValueError):
            raise Unreadable(
                f"{printable(key)} is neither a public key nor a file with one."
            ) from None
    found = [word for word in text.split() if _KEY.fullmatch(word)]
    if len(found) != 1:
        raise Unreadable("A public key is 64 hexadecimal digits; that file has none.")
    return bytes.fromhex(found[0])


def _heads(path: str) -> list[dict[str, Any]]:
    """Heads, one JSON object a line. Raises Unreadable."""
    try:
        lines = Path(path).read_bytes().splitlines()
        return [an_object(line, printable(path)) for line in lines if line.strip()]
    except (OSError, Malformed) as error:
        raise Unreadable(f"The heads to compare with cannot be read: {error}") from None


if __name__ == "__main__":
    raise SystemExit(main())
