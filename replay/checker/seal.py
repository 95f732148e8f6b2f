"""Checks of the manifest, its signature, and every file against the manifest."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from replay.checker.ed25519 import is_signed
from replay.checker.package import Package, Unreadable, printable
from replay.checker.reading import Malformed, an_object, canonical
from replay.checker.report import Report

MANIFEST, SIGNATURE, SUMS = "manifest.json", "manifest.sig", "SHA256SUMS"
FORMAT = "round-ledger dossier 1"
STATEMENT = "round-ledger dossier signature 1"
PRINTED = ("report.html", "report.pdf", "ruling.pdf")
"""Pages that print the checksum over all other files, so it does not include them."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


def key_id(public: bytes) -> str:
    """The short name of a key. It proves nothing."""
    return hashlib.sha256(public).hexdigest()[:16]


def message(statement: dict[str, Any]) -> bytes:
    """The signed bytes: the statement without its signature."""
    said = {name: value for name, value in statement.items() if name != "signature"}
    return STATEMENT.encode() + b"\n" + canonical(said)


def manifest_of(package: Package) -> dict[str, Any]:
    """The manifest, which lists all files. Raises Unreadable if it is missing or malformed."""
    if MANIFEST not in package.sizes:
        raise Unreadable(
            "There is no manifest.json, so it is unknown which files belong to the dossier."
        )
    octets = package.whole(MANIFEST)
    try:
        told = an_object(octets, MANIFEST)
    except Malformed as error:
        raise Unreadable(str(error)) from None
    if told.get("format") != FORMAT:
        raise Unreadable(
            f"manifest.json is not of the format that this program checks, {FORMAT!r}."
        )
    if canonical(told) + b"\n" != octets:
        raise Unreadable("manifest.json is not in its canonical form: it was edited by hand.")
    files = told.get("files")
    if not isinstance(files, list) or not all(map(_is_listed, files)):
        raise Unreadable("manifest.json does not list files by name, size and SHA-256.")
    return told


def check_signature(
    package: Package, manifest: dict[str, Any], public: bytes | None, report: Report
) -> None:
    """Check whether the key that the reader gave signed the manifest."""
    if SIGNATURE not in package.sizes:
        named = manifest.get("signing_key")
        report.broken.append(
            f"The signature is missing: manifest.json names signing key {printable(named)}, but "
            "there is no manifest.sig."
            if named
            else "This dossier is unsigned: it was made without a key, so nobody vouches for it."
        )
        return
    try:
        statement = an_object(package.whole(SIGNATURE), SIGNATURE)
        signature = bytes.fromhex(str(statement.get("signature")))
        signer = bytes.fromhex(str(statement.get("public_key")))
    except (Malformed, ValueError):
        report.broken.append("manifest.sig is not a signature of a dossier.")
        return
    problems = []
    if statement.get("manifest_sha256") != package.sha256(MANIFEST):
        problems.append("manifest.json was changed after it was signed.")
    if public is None:
        report.broken += problems
        report.unknown.append(
            f"Key {key_id(signer)} is named as the signer. This program cannot tell whether it is "
            "the house's key. Get the key from the house by another way than the dossier, and "
            "give it with --key."
        )
        return
    if signer != public:
        problems.append(f"Another key signed it: {key_id(signer)}. Your key is {key_id(public)}.")
    elif statement.get("algorithm") != "Ed25519" or not is_signed(
        public, message(statement), signature
    ):
        problems.append("The signature is not valid: your key did not sign this statement.")
    if manifest.get("signing_key") != key_id(signer):
        problems.append("manifest.json names another key than the one that signed it.")
    when = printable(statement.get("signed_at"))
    report.settle(problems, f"Your key {key_id(public)} signed manifest.json ({when}).")


def check_files(package: Package, manifest: dict[str, Any], report: Report) -> None:
    """Check that every listed file is present and unchanged, and that there is no other file."""
    listed = {each["path"]: each for each in manifest["files"]}
    problems = []
    if len(listed) != len(manifest["files"]):
        problems.append("manifest.json lists a file twice.")
    for path, each in sorted(listed.items()):
        if path not in package.sizes:
            problems.append(f"{printable(path)} is missing.")
        elif package.sizes[path] != each["bytes"]:
            problems.append(
                f"{printable(path)} was changed: it has {package.sizes[path]} bytes, not "
                f"{each['bytes']}."
            )
        elif package.sha256(path) != each["sha256"]:
            problems.append(f"{printable(path)} was changed: its SHA-256 differs.")
    problems += [
        f"{printable(path)} is not listed: it was added."
        for path in sorted(package.sizes.keys() - listed.keys() - {MANIFEST, SIGNATURE, SUMS})
    ]
    others = sorted(
        (each for each in listed.values() if each["path"] not in PRINTED),
        key=lambda each: str(each["path"]),
    )
    contents = hashlib.sha256(canonical(others)).hexdigest()
    if contents != manifest.get("contents_sha256"):
        problems.append("The SHA-256 of the contents is not the one in manifest.json.")
    if SUMS not in package.sizes or _sums(package, listed) != package.whole(SUMS):
        problems.append("SHA256SUMS differs from manifest.json.")
    report.settle(
        problems,
        f"All {len(listed)} listed files are present and unchanged, and there is no other file. "
        f"Report and ruling must print the SHA-256 {contents}.",
    )


def _sums(package: Package, listed: dict[str, Any]) -> bytes:
    sums = {path: each["sha256"] for path, each in listed.items()}
    sums[MANIFEST] = package.sha256(MANIFEST)
    if SIGNATURE in package.sizes:
        sums[SIGNATURE] = package.sha256(SIGNATURE)
    return "".join(f"{sums[path]}  {path}\n" for path in sorted(sums)).encode()


def _is_listed(each: object) -> bool:
    return (
        isinstance(each, dict)
        and isinstance(each.get("path"), str)
        and isinstance(each.get("bytes"), int)
        and bool(_SHA256.fullmatch(str(each.get("sha256"))))
    )
