"""The manifest, who signed it, and that every file is the one it lists."""

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
"""Pages that print the sum over all other files, and so are not in it."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


def key_id(public: bytes) -> str:
    """The short name of a key: it names, it proves nothing."""
    return hashlib.sha256(public).hexdigest()[:16]


def message(statement: dict[str, Any]) -> bytes:
    """The octets that are signed: all that the statement says but the signature itself."""
    said = {name: value for name, value in statement.items() if name != "signature"}
    return STATEMENT.encode() + b"\n" + canonical(said)


def manifest_of(package: Package) -> dict[str, Any]:
    """The list of everything. Raises Unreadable where there is none to go by."""
    if MANIFEST not in package.sizes:
        raise Unreadable("There is no manifest.json, so nothing says what belongs in here.")
    octets = package.whole(MANIFEST)
    try:
        told = an_object(octets, MANIFEST)
    except Malformed as error:
        raise Unreadable(str(error)) from None
    if told.get("format") != FORMAT:
        raise Unreadable(f"manifest.json is not of the kind that is checked here, {FORMAT!r}.")
    if canonical(told) + b"\n" != octets:
        raise Unreadable("manifest.json is not written as a manifest is: it was edited by hand.")
    files = told.get("files")
    if not isinstance(files, list) or not all(map(_is_listed, files)):
        raise Unreadable("manifest.json does not list files by name, size and SHA-256.")
    return told


def check_signature(
    package: Package, manifest: dict[str, Any], public: bytes | None, report: Report
) -> None:
    """Who vouches for the manifest: the holder of the key that the reader brought, or nobody."""
    if SIGNATURE not in package.sizes:
        named = manifest.get("signing_key")
        report.broken.append(
            f"The signature is gone: manifest.json says that key {printable(named)} signed it, "
            "and there is no manifest.sig."
            if named
            else "This dossier was made without a key: it is unsigned, and nobody vouches for it."
        )
        return
    try:
        statement = an_object(package.whole(SIGNATURE), SIGNATURE)
        signature = bytes.fromhex(str(statement.get("signature")))
        signer = bytes.fromhex(str(statement.get("public_key")))
    except (Malformed, ValueError):
        report.broken.append("manifest.sig is not a signature of this kind.")
        return
    problems = []
    if statement.get("manifest_sha256") != package.sha256(MANIFEST):
        problems.append("manifest.json is not the one that was signed: it was changed since.")
    if public is None:
        report.broken += problems
        report.unknown.append(
            f"Key {key_id(signer)} claims to have signed this. Whether that is the house's key "
            "cannot be seen from here: get the key from the house by another way, and give it "
            "with --key."
        )
        return
    if signer != public:
        problems.append(
            f"It is signed by another key: {key_id(signer)}, and yours is {key_id(public)}."
        )
    elif statement.get("algorithm") != "Ed25519" or not is_signed(
        public, message(statement), signature
    ):
        problems.append("The signature is not good: your key did not sign this statement.")
    if manifest.get("signing_key") != key_id(signer):
        problems.append("manifest.json names another key than the one it is signed by.")
    when = printable(statement.get("signed_at"))
    report.settle(problems, f"manifest.json was signed with your key {key_id(public)} ({when}).")


def check_files(package: Package, manifest: dict[str, Any], report: Report) -> None:
    """Every file is listed, there, and unchanged; nothing else is there."""
    listed = {each["path"]: each for each in manifest["files"]}
    problems = []
    if len(listed) != len(manifest["files"]):
        problems.append("manifest.json lists a file twice.")
    for path, each in sorted(listed.items()):
        if path not in package.sizes:
            problems.append(f"{printable(path)} is missing.")
        elif package.sizes[path] != each["bytes"]:
            problems.append(
                f"{printable(path)} is not as it was put in: it has {package.sizes[path]} octets, "
                f"not {each['bytes']}."
            )
        elif package.sha256(path) != each["sha256"]:
            problems.append(f"{printable(path)} is not as it was put in: its SHA-256 is another.")
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
        problems.append("The sum over the contents is not the one that the pages print.")
    if SUMS not in package.sizes or _sums(package, listed) != package.whole(SUMS):
        problems.append("SHA256SUMS does not say what manifest.json says.")
    report.settle(
        problems,
        f"All {len(listed)} files listed are there, unchanged, and there is no other. "
        f"The sum that report and ruling print must be {contents}.",
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
