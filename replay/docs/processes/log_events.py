"""The tables of log events, by process, from the calls in the program that log them.

The texts, levels and figures are read from the source. What an event means to an operator is here.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from replay.docs import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
PACKAGES = ("consumers", "infra", "replay")
LEVELS = {"info": "info", "warning": "warning", "error": "error", "exception": "error"}
"""The level in a line, by the method that logs it."""

SECTIONS = (
    ("`serve`", ("replay/web/", "replay/cli/serving/", "replay/footage/live/")),
    ("`serve` and `consume --follow`", ("replay/disputes/",)),
    ("`consume`", ("consumers/runtime/", "infra/kafka/", "replay/cli/feed/views.py")),
    ("`consume alerts` and `dlq replay`", ("consumers/alerts/",)),
    ("`relay`", ("consumers/relay/", "infra/postgres/relay_progress.py", "replay/cli/feed/relay")),
    (
        "`log seal` and `witness serve`",
        ("consumers/sealer/", "replay/cli/record/log", "replay/cli/record/witness"),
    ),
    ("`ingest --follow`", ("replay/devices/", "replay/cli/record/")),
    ("Any process that reads footage", ("replay/footage/",)),
    ("Any process that starts PostgreSQL or Kafka", ("infra/postgres/", "infra/services/")),
)
"""Which process logs what is in these folders and files. The first section that fits counts."""


class LogEvent(NamedTuple):
    """One event as a line of the log has it."""

    text: str  # `…` for a part that varies
    level: str
    figures: tuple[str, ...]  # names; `…` for counts by verdict and the like
    file: str
    line: int


def part() -> str:
    """The tables, a section for each process."""
    found = events()
    sections = []
    for title, _ in SECTIONS:
        rows = dict.fromkeys(_row(each) for each in found if section_of(each) == title)
        table = markdown.table(("event", "level", "figures", "meaning"), rows)
        sections.append(f"### {title}\n\n{table}")
    return "\n\n".join(sections)


def section_of(event: LogEvent) -> str | None:
    """The section that shows an event; None if no section has its file."""
    return next((title for title, paths in SECTIONS if event.file.startswith(paths)), None)


def events() -> list[LogEvent]:
    """Every event that the program logs, in order of files; an event is listed once a file."""
    files = [
        path for top in ("infra", "consumers", "replay") for path in (ROOT / top).rglob("*.py")
    ]
    found = (each for path in sorted(files) for each in _events_in(path))
    return list(dict.fromkeys(found))


def _row(event: LogEvent) -> tuple[str, str, str, str]:
    figures = ", ".join(each if each == "…" else markdown.code(each) for each in event.figures)
    text = f"`` {event.text} ``" if "`" in event.text else markdown.code(event.text)
    return text, event.level, figures, MEANINGS.get(event.text, "")


def _events_in(path: Path) -> Iterator[LogEvent]:
    text = path.read_text(encoding="utf-8")
    if "logging" not in text and "LOG." not in text and "told(" not in text:
        return
    name = path.relative_to(ROOT).as_posix()
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            assigned = _assigned(function)
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    yield from _event(node, node.func, assigned, name)


def _event(
    call: ast.Call, called: ast.Attribute, assigned: dict[str, ast.expr], file: str
) -> Iterator[LogEvent]:
    """The event of a call, if it logs one. `told` of a device's side logs its keywords."""
    logs = isinstance(called.value, ast.Name) and called.value.id in ("LOG", "_log")
    text = _text(call.args[0], assigned) if call.args else None
    if text is None:
        return
    if logs and called.attr in LEVELS:
        yield LogEvent(text, LEVELS[called.attr], _figures(call, assigned), file, call.lineno)
    elif called.attr in ("told", "_told") and file.startswith("replay/devices/"):
        names = tuple(each.arg for each in call.keywords if each.arg)
        level = "warning" if {"lost", "because"} & {*names} else "info"
        yield LogEvent(text, level, names, file, call.lineno)


def _assigned(function: ast.AST) -> dict[str, ast.expr]:
    """The last value that each name is assigned in a function."""
    return {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _text(node: ast.expr, assigned: dict[str, ast.expr]) -> str | None:
    """A literal text, or the literal that a name was assigned; None for anything else."""
    node = assigned.get(node.id, node) if isinstance(node, ast.Name) else node
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.replace("%s", "…").replace("%d", "…").replace("%.0f", "…")
    return None


def _figures(call: ast.Call, assigned: dict[str, ast.expr]) -> tuple[str, ...]:
    """The names of a call's figures."""
    given = {each.arg: each.value for each in call.keywords}
    names = tuple(_keys(given.get("extra"), assigned))
    traced = "exc_info" in given or getattr(call.func, "attr", "") == "exception"
    return (*names, "error", "trace") if traced else names


def _keys(node: ast.expr | None, assigned: dict[str, ast.expr]) -> Iterator[str]:
    """The keys of `{"figures": {...}}`, through names that were assigned in the function."""
    node = assigned.get(node.id, node) if isinstance(node, ast.Name) else node
    if isinstance(node, ast.BinOp):
        yield from _keys(node.left, assigned)
        yield from _keys(node.right, assigned)
    if isinstance(node, ast.DictComp):
        yield "…"
    if not isinstance(node, ast.Dict):
        return
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and key.value == "figures":
            yield from _keys(value, assigned)
        else:
            yield str(key.value) if isinstance(key, ast.Constant) else "…"


MEANINGS = {
    "…; trying again": "PostgreSQL that the program starts did not start again yet",
    "… ended with … after … s; starting it again in … s": "a server of `services up` ended",
    "PostgreSQL in … did not stop: …": "stop it by hand",
    "PostgreSQL never ran in …: it is now …": "a first start was killed; remove the renamed folder",
    "a dead letter failed again": "the record stays a dead letter",
    "a dead letter was handled": "`dlq replay` succeeded",
    "a line was set aside: it can never be accepted": "the line is in `FILE.aside`",
    "a camera has no live picture": "somebody watches it, and `why` says what is wrong; it is tried"
    " again after `again_in_s`, and logged again only if `why` changes",
    "a live picture comes": "after it was asked for, or after a break",
    "a page failed": "a defect of the program",
    "a page could not be shown": "PostgreSQL did not answer for a page",
    "finance could not be read": "PostgreSQL did not answer `/v1/win` or `/v1/journal`",
    "a record is a dead letter": "the record went to the dead-letter topic",
    "a request was refused": "a role, a form or another site may not do it: `user`, `address`,"
    " `request` and `why`",
    "a stored offset no longer exists": "reading starts again at the partition's beginning",
    "a view has parked a tape": "the view applies no further facts of it: see [repair]"
    "(../how-to/repair.md#a-parked-tape)",
    "a view is of another version; its topic begins once it is rebuilt": "rebuild the view",
    "a view topic does not exist; run `round-ledger topics apply`": "create the topic",
    "a worker ended": "a process of `serve --workers` ended, `code` says how; it is started again",
    "a worker receives facts": "a process of `serve --workers` is ready",
    "alert": "an alert; the figures are those of [the topic](../feed.md)",
    "alerts go on without Kafka": "those of the state go to the log and the webhook; Kafka is tried"
    " again",
    "alerts were not raised: too old": "their facts are older than `ROUND_LEDGER_ALERT_AGE_S`",
    "an alert was not delivered": "it is tried again",
    "another program wrote to the topic": "the relay publishes on; see"
    " [repair](../how-to/repair.md#records-of-another-program)",
    "a witness does not answer": "it cosigns the next checkpoint",
    "the topic of checkpoints does not answer": "brokers are away; it gets a later checkpoint",
    "a witness gave something else": "its answer is no cosigned checkpoint: look at its address",
    "a witness's cosignature does not hold": "its key is not the one in the file of witnesses",
    "sealed a checkpoint": "with so many cosignatures",
    "a view was changed by another program": "it has other rows at the same position: `verify"
    " --views` names them",
    "witness serves": "at this address, for so many logs",
    "another relay leads; waiting": "this relay is the standby",
    "facts are accepted again": "the ledger accepts facts again",
    "facts were not kept": "the record did not answer; the sender got 503",
    "facts were not accepted": "the ledger did not accept them; they are sent again",
    "facts were quarantined": "a request had malformed input or an equivocation; counts by verdict",
    "following": "it started",
    "footage is locked for a dispute": "footage of an open dispute was locked",
    "footage could not be locked": "locking failed; read the hint",
    "footage is read by a process that could open other files: the system filters no system"
    " calls": "a decoder with a fault could reach other files; logged once a process: see "
    "[refused files](../how-to/footage.md#refused-files)",
    "footage is read by a process with a network: the system grants no network namespace": "the "
    "process still opens local files only; logged once a process: see "
    "[refused files](../how-to/footage.md#refused-files)",
    "footage is read without limits of: …": "the system refused these limits; once a process",
    "lines were accepted": "progress, once a minute; counts by verdict",
    "serving": "the server answers",
    "serving metrics": "metrics and health answer",
    "stopped": "it stopped after a signal",
    "brokers did not show the end of a topic": "brokers are away; it waits",
    "the feed contradicts the record": "see [repair](../how-to/repair.md)",
    "the feed is out of order": "a later fact of a tape came first",
    "the feed lacks facts; read from the record": "a gap was filled",
    "the file was cut short": "reading continues in the copy, then from the beginning",
    "the file was renamed, and is read to its end": "the file was rotated",
    "the identity provider's answer is not valid": "a sign-in by OpenID Connect was refused; `why`"
    " has the reason",
    "the identity provider's keys are fetched again": "no known key fits the signature",
    "the checkpoint is in no file: every file is sent whole": "the checkpoint was lost; "
    "repeats are `duplicate`",
    "PostgreSQL or Kafka does not answer": "it tries again after `again_in_s`",
    "the topic lacks old messages: everything that its views hold is published again": "you need "
    "to do nothing",
    "the topic lacks records it had acknowledged": "records are sent again from `position`",
    "topics have another prefix: everything is sent again": "the topic prefix changed",
    "views are no longer updated": "the view thread ended; read the hint",
}
"""What each event means to an operator."""
