"""`migrate`: show which migrations the database lacks, and apply them."""

from typing import Annotated

import typer

from consumers.registry import install
from infra.postgres.connection import migrate_database, planned_migrations
from ledger.errors import Usage
from ledger.values import format_time
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.shell.connections import opened_unmigrated
from replay.shell.output import Json, print_lines, say, show_table
from replay.shell.settings import in_force
from replay.shell.zones import Zones

app = family()


@app.command("migrate")
def migrate(
    *,
    plan: Annotated[
        bool, typer.Option("--plan", help="List the migrations; change nothing.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Apply those that are pending.")] = False,
    json: Json = False,
) -> None:
    """Plan or apply the database's migrations.

    `--plan` ends with exit code 1 while a migration is pending. An earlier version of the program
    refuses to start on a migrated database, so back up before `--apply`. It also creates missing
    views, so that no other process needs a login that creates tables. The embedded database needs
    no `migrate`: every command migrates it.

    Example: round-ledger migrate --plan
    """
    if plan == apply:
        raise Usage(
            "It is not clear whether to plan or to apply",
            where="migrate",
            hint="Give one of --plan and --apply.",
        )
    with opened_unmigrated() as database:
        new = migrate_database(database) if apply else []
        views = install(database) if apply else []
        found = planned_migrations(database)
    pending = sum(each.applied_at_us is None for each in found)
    rows = [
        {
            "migration": each.name,
            "state": "pending" if each.applied_at_us is None else "applied",
            "applied_at": None if each.applied_at_us is None else format_time(each.applied_at_us),
            "now": each.name in new,
        }
        for each in found
    ]
    zone = Zones(in_force().time_zone, {}).of(None)  # an unmigrated record has no facts to read
    if json:
        print_lines(rows)
    else:
        columns = ("migration", "state", "applied at", "now")
        show_table("Migrations", columns, (row.values() for row in rows), zone=zone)
    say(f"{len(new)} applied now, {pending} pending.")
    if views:
        say(f"Created views: {', '.join(views)}.")
    if pending:
        raise typer.Exit(FINDINGS)
