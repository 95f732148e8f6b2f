"""The tree of commands: which there are, where each is defined, and how one is run.

A command's module is imported when the command is asked for, so that `games` needs no database
driver and `--help` is quick. To add a command: register it on the `app` of its family's module, and
add its row to `COMMANDS`. How any of them ends is decided in `ending`, here once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from replay.cli.shell.errors import ending

if TYPE_CHECKING:
    from typer._click import Command as AnyCommand

RECORD, RULES, LOOK, RUN = "Record", "Rules", "Look", "Run"
"""Panels of `round-ledger --help`."""


class Command(NamedTuple):
    """One row of `round-ledger --help`."""

    name: str
    module: str  # under `replay.cli`; its `app` holds the command
    panel: str
    says: str  # the first line of the command's own help


COMMANDS = (
    Command("ingest", "record.ingest", RECORD, "Keep every fact of a feed; a verdict for each."),
    Command("quarantine", "record.ingest", RECORD, "Look at what was malformed, and release it."),
    Command("verify", "record.record", RECORD, "Recompute every tape's hash chain from its bytes."),
    Command("backup", "record.record", RECORD, "Write the record and its heads into a folder."),
    Command(
        "restore", "record.record", RECORD, "Restore a backup into a new database, and verify it."
    ),
    Command("import-phh", "record.phh", RECORD, "Turn Poker Hand History files into facts."),
    Command(
        "adjudicate", "rules.rules", RULES, "Rule on every round of a feed; needs no database."
    ),
    Command("games", "rules.rules", RULES, "Show what the ledger knows of its games."),
    Command("submissions", "rules.submissions", RULES, "Check Rules Submissions, and file them."),
    Command("rounds", "rounds.rounds", LOOK, "Search rounds; the newest first."),
    Command(
        "replay", "rounds.replay", LOOK, "Replay a round: table, cameras, money paid beside owed."
    ),
    Command(
        "footage",
        "footage.footage",
        LOOK,
        "Take in footage; frames, clips, clocks, pictures of it.",
    ),
    Command("dispute", "disputes.dispute", LOOK, "Raise, review and resolve what patrons dispute."),
    Command("drop", "rounds.drop", LOOK, "The drop and the win of each table and gaming day."),
    Command(
        "dossier",
        "dossier.dossier",
        LOOK,
        "Write a round, dispute or window as files to hand over.",
    ),
    Command(
        "demo", "demo.demo", RUN, "Deal a gaming day, find its mistakes, replay the worst one."
    ),
    Command("simulate", "demo.simulate", RUN, "Deal a floor by chance, with mistakes and footage."),
    Command("consume", "feed.views", RUN, "Bring views to the end of the record."),
    Command(
        "rebuild", "feed.views", RUN, "Make views anew from the record, then put them in place."
    ),
    Command(
        "unpark", "feed.views", RUN, "Let a parked table into the views again, once it is mended."
    ),
    Command("serve", "serving.serve", RUN, "Serve the pages, and take in facts, until stopped."),
    Command("users", "serving.users", RUN, "Say who may sign in to the pages."),
    Command("keys", "serving.keys", RUN, "Say which devices may send facts."),
    Command("relay", "feed.relay", RUN, "Publish the record on Kafka."),
    Command("dlq", "feed.dead_letters", RUN, "Look at dead letters, and handle them again."),
    Command("topics", "feed.topics", RUN, "Make the feed's topics, and check them."),
    Command("services", "serving.services", RUN, "Run PostgreSQL and Kafka here, without Docker."),
    Command(
        "settings",
        "serving.settings",
        RUN,
        "Show every setting: the value in force, and its origin.",
    ),
)


class Lazy(TyperGroup):
    """The top of the tree: knows every command's name and first line, imports only what is run."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override] # vendored
        """Names, in the order of `COMMANDS`."""
        del ctx
        return [row.name for row in COMMANDS]

    def get_command(self, ctx: typer.Context, cmd_name: str) -> "AnyCommand | None":  # type: ignore[override] # vendored
        """The command; while the help of all is printed, only its name and first line."""
        row = next((row for row in COMMANDS if row.name == cmd_name), None)
        if row is None:
            return None
        if ctx.meta.get("listing"):
            return TyperCommand(row.name, help=row.says, rich_help_panel=row.panel)
        return load(row)

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override] # noqa: ANN401 - vendored
        """The list of all commands, without importing one."""
        ctx.meta["listing"] = True
        super().format_help(ctx, formatter)
        ctx.meta["listing"] = False

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override] # noqa: ANN401 - as the base says
        """Run the command; however it ends, the exit code is one of the contract's."""
        with ending():
            return super().invoke(ctx)


def load(row: Command) -> "AnyCommand":
    """Import the module of a command and take the command out of its `app`."""
    family: typer.Typer = import_module(f"replay.cli.{row.module}").app
    command = get_group(family).commands[row.name]
    command.name = row.name
    return command


app = typer.Typer(
    name="round-ledger",
    cls=Lazy,
    help="Record casino table games as facts, rule on every round, and replay what happened.",
    epilog="Exit codes: 0 done, nothing found · 1 findings · 2 usage or unreadable input · "
    "3 something needed is not available.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def root() -> None:
    """Record casino table games as facts, rule on every round, and replay what happened."""


def family() -> typer.Typer:
    """What a family's module registers its commands on, as `app`."""
    return typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode="markdown")


def run() -> None:
    """Run `round-ledger`."""
    app(prog_name="round-ledger")
