"""The example of each command's help, as it is run on the demo, and what JSON is compared."""

from __future__ import annotations

from replay.cli.shell.app import COMMANDS
from replay.docs.cli import commands, told
from replay.docs.markdown import joined

NOT_RUN = {
    "adjudicate": "the README runs it",
    "demo": "the tutorial runs it",
    "demo-film": "it takes minutes; `tests/integration/film/test_film_behind.py` runs it",
    "dossier": "the page on dossiers runs it",
    "dlq replay": "there is no dead letter",
    "dlq show": "there is no dead letter",
    "footage calibrate": "the page on footage runs it",
    "footage watch": "it stays; the page on footage runs it",
    "grants set": "`tests/e2e/roster/test_cli_roster.py` runs it",
    "import-phh": "it needs a file of Poker hands; `tests/e2e/cli/test_cli_phh.py` has one",
    "keys enrol": "the demo's devices sign nothing; `tests/e2e/roster/test_cli_roster.py` runs it",
    "keys load": "`tests/e2e/roster/test_cli_roster.py` runs it",
    "keys rotate": "`tests/e2e/roster/test_cli_roster.py` runs it",
    "relay refill": "the record has not lost its end",
    "relay silence": "it would stop the topics",
    "restore": "the page on backups runs it",
    "serve": "the tutorial runs it",
    "services up": "the tutorial runs it",
    "services down": "it ends the servers of the test",
    "shift begin": "it begins one shift, which only a hand-over ends",
    "shift hand-over": "a shift is named after the day it is begun; test_shifts.py hands one over",
    "shift countersign": "as above",
    "shift report": "as above",
    "log begin": "the demo has begun one",
    "log epoch": "the demo's record has lost nothing",
    "log prove": "`tests/e2e/log/test_log.py` runs it",
    "witness begin": "as above",
    "witness key": "as above",
    "witness serve": "as above",
    "users add": "nobody is there to type a password; the page on sign-in runs it with a file",
    "users password": "nobody is there to type a password",
}
"""Commands whose example is not run, and why."""

KAFKA = ("consume", "dlq", "relay", "services", "topics")
"""Commands whose examples need Kafka, or its settings."""

WITH_USERS = (
    *("approve", "users", "acknowledge", "day close", "day reopen"),
    *("quarantine release", "variance explain"),
)
"""Commands whose examples are run once there are users: the beginnings of their names."""

ENDS = {
    "approve give": 2,  # nothing waits
    "approve refuse": 2,  # as above
    "approve show": 2,  # as above
    "approve withdraw": 2,  # as above
    "day close": 2,  # it is closed, and opened again once somebody approves it
    "acknowledge": 2,  # the demo's record has no break
    "erase patron": 2,  # no patron of the demo has that token
    "keys revoke": 2,  # that key is not there
    "keys signing make": 2,  # the demo has made a key
    "unpark": 2,  # nothing is parked
}
"""Exit codes of examples that cannot succeed on the demo."""

FINDS = {"adjudicate"}
"""Commands that find something, so that they end with exit code 1."""

INSTEAD = {
    "consume": "round-ledger consume all",
    "backup": "round-ledger backup backups/example",
    "day reopen": "round-ledger day reopen 2026-11-20 --by F-3001 --second F-3002 --because Late "
    "--password-file password",
    "footage release": "round-ledger footage release --dispute D-17 --because Settled --by S-2001",
    "log check": "round-ledger log check",
    "quarantine show": "round-ledger quarantine show 1",
    "quarantine release": "round-ledger quarantine release 1 --as corrected.json "
    "--because Corrected --by F-3001 --second F-3002 --password-file password",
    "rebuild": "round-ledger rebuild openings",
    "simulate": "round-ledger simulate --hours 0.5 --tables 1 --out floor",
    "relay republish": "round-ledger relay republish --from 1 --to 5",
    "services status": "round-ledger services status",
    "variance explain": "round-ledger variance explain CC-02 2026-11-20 --amount 0 --because Luck "
    "--by F-3001 --second F-3002 --property hollywood --password-file password",
}
"""What is run in place of an example that names what the demo does not have."""

MORE = {
    "adjudicate": "round-ledger adjudicate first.jsonl",
    "consume --status": "round-ledger consume all --status",
    "ingest": "round-ledger ingest odd.jsonl first.jsonl",
    "footage retention": "round-ledger footage retention --within 9999",
    "quarantine list": "round-ledger quarantine list",
    "rounds --ask": "round-ledger rounds --ask 'CC-02 seat 5 overpaid foo'",
    "rounds --errors": "round-ledger rounds --dealer D-1022 --errors",
    "dispute list": "round-ledger dispute list",
    "dispute overdue": "round-ledger dispute overdue",
    "review list": "round-ledger review list",
    "logbook list": "round-ledger logbook list",
    "log checkpoint": "round-ledger log checkpoint",
    "log key": "round-ledger log key",
    "shift list": "round-ledger shift list",
    "review samples": "round-ledger review samples",
    "coupons --quarter": "round-ledger coupons --quarter 2026-Q4",
    "win --by shift": "round-ledger win --by shift",
    "report": "round-ledger report schedule",
    "journal": "round-ledger journal --gaming-day 2026-11-20",
    "journal --redrive": "round-ledger journal --redrive",
}
"""Other lines whose JSON is compared. They are run first."""

NOT_COMPARED = {
    "acknowledge", "approve give", "approve list", "approve refuse", "approve show",
    "approve withdraw", "day close", "dispute lock", "dossier", "footage calibrate",
    "footage expire", "footage expire --delete",
    "footage health", "grants set", "keys enrol", "keys load", "keys rotate",
    "keys signing make", "unpark", "dlq show", "dlq replay", "relay refill", "relay silence",
    "services up", "services down", "topics apply", "topics check", "dlq list", "restore",
    "log begin", "log epoch", "witness begin", "witness key", "dispute overdue", "shift begin",
    "shift hand-over", "shift countersign", "shift report",
    "consume alerts", "footage watch", "keys signing show", "meters", "users passkeys",
    "users sessions", "erase patron",
}  # fmt: skip
"""Forms of JSON that no line prints: there is nothing to print, or it is not run."""


def examples(*, kafka: bool) -> dict[str, str]:
    """The line to run for each command, in the order of the help; for Kafka, or the others."""
    leaves = {name: each for name, each in commands() if not hasattr(each, "commands")}
    assert {*NOT_RUN, *ENDS, *INSTEAD} <= leaves.keys()
    assert {name.partition(" ")[0] for name in leaves} == {row.name for row in COMMANDS}
    return {
        name: INSTEAD.get(name) or joined(told(command)[1])
        for name, command in leaves.items()
        if name not in NOT_RUN
        if (name.partition(" ")[0] in KAFKA) == kafka
    }


def has_json(name: str) -> bool:
    """Whether a command has the option `--json`."""
    command = dict(commands()).get(name.partition(" --")[0])
    return any("--json" in each.opts for each in command.params) if command else False
