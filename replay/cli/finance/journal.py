"""`journal`: the double entries of tables' gaming days, for hledger, Beancount or a program."""

from typing import Annotated

import typer

from consumers.finance import journal as entries
from ledger.errors import Usage
from replay.cli.shell.app import family
from replay.cli.shell.options import Casino, GamingDay, TableName
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_lines, print_text, say
from replay.text.journal import TEXTS, JournalFormat, require_one_house

app = family()


@app.command("journal")
def journal(
    *,
    gaming_day: GamingDay = None,
    table: TableName = None,
    form: Annotated[
        JournalFormat | None, typer.Option("--format", help="hledger unless you choose another.")
    ] = None,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Print a gaming day's double entries, for hledger or Beancount.

    The entries have the figures of `win`. Each one balances, and each count is a balance assertion,
    so that another program checks the house. A day ends with the tray at its closer and the boxes
    at their drop. Without --gaming-day the journal has every day. `--format json` prints each entry
    as an object, in cents, with its facts.

    Example: round-ledger journal --gaming-day 2026-11-20 > day.journal
    """
    if json and form not in (None, "json"):
        raise Usage(
            f"--json and --format {form} exclude each other", where="journal", hint="Give one."
        )
    with opened_views(entries.VIEWS) as database:
        found = entries.read(database, property=property_, table=table, gaming_day=gaming_day)
    if not found:
        say("No money is on record for this day and table.")
    text = None if json else TEXTS.get(form or "hledger")
    if text is None:
        print_lines(found)
        return
    require_one_house(found)
    for line in text(found) if found else ():
        print_text(line)
