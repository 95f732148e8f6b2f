"""The page `errors.md` of the site: exit codes, errors, reasons, findings."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from ledger.errors import LedgerError
from ledger.rules.engine.finding_codes import CODES
from replay.docs import markdown
from replay.web.api.openapi import responses

if TYPE_CHECKING:
    from collections.abc import Iterator

EXITS = {
    0: "Done, and nothing found.",
    1: "Findings: what was asked for was done, and something differs from what must be.",
    2: "Usage, or unreadable input: the message says what, where and what to do now.",
    3: "Something needed is not available: a database, a port. Try again.",
    130: "Stopped by SIGINT (Ctrl-C). A server that is asked to stop ends with 0.",
    141: "The reader of the output went away, as `head` does.",
    143: "Stopped by SIGTERM.",
}

REASONS = {
    "bad_attribute": "An attribute of the event does not have its form.",
    "bad_signature": "The signature is not one of the key that the fact names.",
    "bad_subject": "`subject` names no round (or, for a Rules Submission, no table or property).",
    "content_type": "`datacontenttype` is not JSON in UTF-8.",
    "data_base64": "The event carries `data_base64`, which is not read here.",
    "data_missing": "There is no `data`, or it is null.",
    "duplicate_key": "A name appears twice in one object, or a header twice.",
    "equivocation": "Source and id are on record with other bytes; both are kept.",
    "key_revoked": "The key was revoked, or replaced by another.",
    "key_unknown": "The key that the fact names is not on the roster of the property.",
    "missing_attribute": "A required attribute of the event is missing.",
    "missing_field": "A required field of `data` is missing.",
    "missing_subject": "This fact needs a `subject`.",
    "not_a_number": "`NaN` or `Infinity`, which JSON does not have.",
    "not_an_object": "The event, or its `data`, is not an object.",
    "not_json": "The bytes are not JSON: cut off, or no JSON at all.",
    "not_approved": "It names two people, or stands for an input in quarantine. Once the ledger "
    "has users, two people release it.",
    "not_of_a_device": "Keys, grants, approvals and releases are recorded by commands alone, and "
    "are never released. Or its source is one of the ledger's own, which has no such facts.",
    "not_utf8": "The bytes are not UTF-8.",
    "outside_grant": "The key signs for another source, or its role may not report this.",
    "oversize": "The fact is over 65,536 bytes long.",
    "time_too_far": "Over two days ahead of the ledger's clock, or 400 days behind it.",
    "too_deep": "Arrays and objects are nested too deeply.",
    "unknown_type": "No fact has this name here. Release it after an upgrade that knows it.",
    "unknown_version": "This version is not known here. Release it after an upgrade that knows it.",
    "unsigned": "The property has a roster of keys, and the fact is not signed.",
    "wrong_field": "A field has a wrong value: a float for money, a card that does not exist.",
}


def page() -> str:
    """The page."""
    return markdown.page(
        "Errors",
        "## Exit codes",
        markdown.table(("code", "meaning"), EXITS.items()),
        "## Errors",
        "On stderr, as what is wrong, where, and what to do now. A traceback is a defect.",
        markdown.table(("code", "exit code", "meaning"), _errors(LedgerError)),
        "## HTTP",
        "`POST /v1/facts`: 200 says that everything of the request is kept, whatever the verdict: "
        "one object for structured and binary mode, a list for a batch. Any other status says that "
        "nothing is kept; sending again is safe.",
        markdown.table(
            ("status", "meaning"),
            ((status, says["description"]) for status, says in responses().items()),
        ),
        "## Reasons of quarantine",
        "An input that is malformed, or that its key may not say, is kept with its bytes and one "
        "of these. `round-ledger quarantine show` prints what is wrong, where, and what to do.",
        markdown.table(
            ("reason", "meaning"), ((markdown.code(name), says) for name, says in REASONS.items())
        ),
        "## Findings",
        "A round has a finding if its record differs from the rules. The finding names what "
        "differs, the section and the facts. A finding is no error.",
        markdown.table(
            ("code", "meaning"), ((markdown.code(name), says) for name, says in CODES.items())
        ),
    )


def _errors(kind: type[LedgerError]) -> Iterator[tuple[str, int, str]]:
    """Every kind of error, the general before the special."""
    first = (inspect.getdoc(kind) or "").split("\n\n")[0]
    if kind is not LedgerError:
        yield markdown.code(kind.code), kind.exit_code, first
    for special in kind.__subclasses__():
        if special.__module__ == LedgerError.__module__:
            yield from _errors(special)
