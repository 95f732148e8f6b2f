"""The tree of commands: which there are, where each is defined, and how one is run.

A command's module is imported when the command is asked for, so that `games` needs no database
driver and `--help` is quick. To add a command: register it on the `app` of its family's module, and
add its row to `COMMANDS`. How any of them ends is decided in `ending`, here once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from replay.cli.shell.errors import ending
from replay.shell import collector
from replay.shell.output import print_text

if TYPE_CHECKING:
    from typer._click import Command as AnyCommand

TRY, INVESTIGATORS, FINANCE = "To try it", "Investigators", "Finance"
OPERATIONS, ENGINEERS = "Operations", "Engineers"
"""Panels of `round-ledger --help`: who a command is for."""


class Command(NamedTuple):
    """One row of `round-ledger --help`."""

    name: str
    module: str  # under `replay.cli`; its `app` holds the command
    panel: str
    says: str  # the first line of the command's own help


COMMANDS = (
    Command("demo", "demo.demo", TRY, "Deal a gaming day, find its mistakes, replay the worst."),
    Command("demo-film", "demo.demo", TRY, "Draw an hour of the demonstration's film, behind."),
    Command("simulate", "demo.simulate", TRY, "Deal a floor at random, with mistakes and footage."),
    Command("games", "rules.rules", TRY, "Show the games: paytables, readings, house edges."),
    Command("rounds", "rounds.rounds", INVESTIGATORS, "Search rounds, newest first."),
    Command(
        "replay",
        "rounds.replay",
        INVESTIGATORS,
        "Replay a round: table, cameras, money owed and paid.",
    ),
    Command(
        "footage", "footage.footage", INVESTIGATORS, "Add footage; show frames, clips and clocks."
    ),
    Command(
        "review",
        "review.review",
        INVESTIGATORS,
        "Work on findings: take, give, close and reopen them.",
    ),
    Command("logbook", "review.logbook", INVESTIGATORS, "Write and read surveillance's log."),
    Command("shift", "review.shift", INVESTIGATORS, "Begin a shift, hand it over, countersign it."),
    Command("dispute", "disputes.dispute", INVESTIGATORS, "Raise, review and resolve disputes."),
    Command(
        "dossier",
        "dossier.dossier",
        INVESTIGATORS,
        "Write a round, dispute or window as files to hand over.",
    ),
    Command(
        "errors", "rounds.errors", INVESTIGATORS, "Show how often dealers err, beside the house."
    ),
    Command("drop", "rounds.drop", FINANCE, "Show drop and win of each table and gaming day."),
    Command(
        "win",
        "finance.win",
        FINANCE,
        "Show the three wins of a gaming day: counted, moved and owed.",
    ),
    Command(
        "variance",
        "finance.variance",
        FINANCE,
        "Compare hold with its limits; explain what differs.",
    ),
    Command(
        "journal",
        "finance.journal",
        FINANCE,
        "Print a gaming day's double entries, for hledger or Beancount.",
    ),
    Command(
        "report",
        "finance.report",
        FINANCE,
        "Print a report of a gaming day to a file, or list reports.",
    ),
    Command("coupons", "finance.coupons", FINANCE, "Show coupons from printer to box."),
    Command("checks", "finance.coupons", FINANCE, "Show counter checks from issue to payment."),
    Command("meters", "finance.meters", FINANCE, "Show progressive meters, and what moved them."),
    Command("day", "finance.day", FINANCE, "Close a gaming day, signed by two; open it again."),
    Command(
        "approve", "approvals.approve", FINANCE, "Approve or refuse what another person asks for."
    ),
    Command("submissions", "rules.submissions", FINANCE, "Check Rules Submissions and file them."),
    Command("ingest", "record.ingest", OPERATIONS, "Ingest a feed; print a verdict per fact."),
    Command(
        "quarantine", "record.quarantine", OPERATIONS, "Show malformed inputs, and release them."
    ),
    Command("verify", "record.record", OPERATIONS, "Recompute every tape's hash chain."),
    Command(
        "acknowledge",
        "record.acknowledge",
        OPERATIONS,
        "Acknowledge a break of the record, by two people, with a reason.",
    ),
    Command(
        "erase", "record.erase", OPERATIONS, "Erase a patron's token, by two people, on record."
    ),
    Command("log", "record.log", OPERATIONS, "Seal the record into a log that others witness."),
    Command("witness", "record.witness", OPERATIONS, "Witness a log: cosign what continues it."),
    Command(
        "backup",
        "record.record",
        OPERATIONS,
        "Write the record, its heads and the home's stills to a folder.",
    ),
    Command("restore", "record.record", OPERATIONS, "Restore a backup to a new database."),
    Command("migrate", "record.migrate", OPERATIONS, "Plan or apply the database's migrations."),
    Command("serve", "serving.serve", OPERATIONS, "Serve the pages and receive facts."),
    Command("consume", "feed.views", OPERATIONS, "Bring views to the end of the record."),
    Command("rebuild", "feed.views", OPERATIONS, "Rebuild views from the record, then swap them."),
    Command("unpark", "feed.views", OPERATIONS, "Resume a parked table once its fault is fixed."),
    Command("relay", "feed.relay", OPERATIONS, "Publish the record on Kafka."),
    Command("topics", "feed.topics", OPERATIONS, "Create the feed's topics, and check them."),
    Command("dlq", "feed.dead_letters", OPERATIONS, "Show dead letters, and process them again."),
    Command("users", "serving.users", OPERATIONS, "Manage users of the pages and their roles."),
    Command(
        "keys", "serving.keys", OPERATIONS, "Manage keys of devices and readers, and signing keys."
    ),
    Command(
        "grants", "serving.grants", OPERATIONS, "Show and set what each role of device may report."
    ),
    Command("services", "serving.services", OPERATIONS, "Run PostgreSQL and Kafka without Docker."),
    Command("settings", "serving.settings", OPERATIONS, "Show every setting and its origin."),
    Command("adjudicate", "rules.rules", ENGINEERS, "Rule on a feed's rounds without a database."),
    Command("import-phh", "record.phh", ENGINEERS, "Convert Poker Hand History files to facts."),
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
        command = load(row)
        collector.resume()
        return command

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override] # vendored
        """The options before a command, as people type them."""
        given: list[Any] = super().get_params(ctx)
        for each in given:
            _plain_type(each)
        return given

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
    _plain_help(command)
    return command


def _plain_help(command: Any) -> None:  # noqa: ANN401 - vendored, as above
    """Let help show `<name>`, which Markdown drops as HTML, and what people type for a type."""
    for each in (command, *command.params):
        each.help = (getattr(each, "help", None) or "").replace("<", "\\<")
    for each in command.params:
        _plain_type(each)
        _range_in_words(each)
    help_option = command.get_help_option
    command.get_help_option = lambda ctx: _plain_type(help_option(ctx))
    for sub in getattr(command, "commands", {}).values():
        _plain_help(sub)


def _plain_type(parameter: Any) -> Any:  # noqa: ANN401 - vendored, as above
    """Show `--table TABLE` for `--table <str>`, and a flag without `<bool>`."""
    if parameter.param_type_name == "argument":
        parameter.display_type_rich = _nothing
    elif getattr(parameter, "is_flag", False):
        parameter.metavar = ""
    elif parameter.metavar is None and not parameter.type_descriptor.is_choice:
        parameter.metavar = parameter.opts[0].strip("-").replace("-", " ").upper()
    return parameter


def _range_in_words(parameter: Any) -> None:  # noqa: ANN401 - vendored, as above
    """Say `1 to 1,000` in the help of a number, not `[1<=x<=1000]` beside its name."""
    if parameter.min is None:
        return
    most = f" to {parameter.max:,}" if parameter.max is not None else " or more"
    parameter.help = f"{parameter.help.rstrip('.')} ({parameter.min:,}{most})."
    parameter._get_number_range_help_str = _nothing  # noqa: SLF001 - it has no other name


def _nothing(ctx: object = None) -> None:
    """Print nothing in this column of help."""
    del ctx


app = typer.Typer(
    name="round-ledger",
    cls=Lazy,
    help="Record casino table games as facts, rule on every round, and replay what happened.",
    epilog="Exit codes: 0 done, nothing found · 1 findings · 2 usage or unreadable input · "
    "3 something needed is not available.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:  # noqa: FBT001 - as Typer calls it
    if asked:
        from importlib import metadata  # noqa: PLC0415 - it loads the parser of e-mail

        print_text(f"round-ledger {metadata.version('round-ledger')}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Record casino table games as facts, rule on every round, and replay what happened."""


def family() -> typer.Typer:
    """What a family's module registers its commands on, as `app`."""
    return typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode="markdown")


def run() -> None:
    """Run `round-ledger`."""
    app(prog_name="round-ledger")
