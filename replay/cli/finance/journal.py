"""`journal`: the double entries of tables' gaming days, for hledger, Beancount or a program."""

from typing import Annotated

import typer

from consumers.finance import papers
from consumers.finance.sealed import redrive, signed_entries
from consumers.finance.undecided import two_contents_of_money
from ledger.errors import Usage
from ledger.values import quantity
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
    again: Annotated[
        bool,
        typer.Option("--redrive", help="Say which entries of closed days would be sent again."),
    ] = False,
    for_real: Annotated[
        bool, typer.Option("--for-real", help="With --redrive: send them again.")
    ] = False,
    json: Json = False,
) -> None:
    """Print a gaming day's double entries, for hledger or Beancount.

    The entries have the figures of `win`. Each one balances, and each count is a balance assertion,
    so that another program checks the house. A day ends with the tray at its closer and the boxes
    at their drop. A closed day has the entries that were signed. Without --gaming-day the journal
    has every day, each as the record has it now. `--format json` prints each entry as an object, in
    cents, with its facts.

    `--redrive` is about the topic of closed days, for a general ledger that lost some. It counts
    their entries; with `--for-real` the relay sends them again, under the same keys.

    Example: round-ledger journal --gaming-day 2026-11-20 > day.journal
    """
    if for_real and not again:
        raise Usage("--for-real is for --redrive alone", where="journal", hint="Give both.")
    if again:
        _redrive(property_, gaming_day, table or form, for_real=for_real, json=json)
        return
    if json and form not in (None, "json"):
        raise Usage(
            f"--json and --format {form} exclude each other", where="journal", hint="Give one."
        )
    with opened_views(signed_entries.VIEWS, property_) as database:
        found = signed_entries.read(
            database, property=property_, table=table, gaming_day=gaming_day
        )
        if table and not found:
            papers.require_table(database, property_, table)
        told = two_contents_of_money(database, property_, gaming_day, table)
    for (_, day, name), its in sorted(told.items()):
        for each in its:
            say(f"{name} · {day} · exception · {each.says}")
    if not found:
        say("No money is on record for this day and table.")
    text = None if json else TEXTS.get(form or "hledger")
    if text is None:
        print_lines(found)
        return
    require_one_house(found)
    for line in text(found) if found else ():
        print_text(line)


def _redrive(
    property_: str | None,
    gaming_day: str | None,
    part: str | None,
    *,
    for_real: bool,
    json: bool,
) -> None:
    """Count the entries of closed days on their topic; for real: send them again.

    part: what was given of less than whole days, which is refused.
    """
    if part:
        raise Usage(
            "--redrive is for whole days", where="journal", hint="Leave out --table, --format."
        )
    with opened_views(signed_entries.VIEWS, property_) as database:
        found = redrive.redrive(
            database, property_=property_, gaming_day=gaming_day, for_real=for_real
        )
    if json:
        print_lines(found)
        return
    for each in found:
        name = f"{each.property} · {each.gaming_day} · version {each.version}"
        if each.entries is None:
            say(f"{name}: this program works out other wins than were signed, so no entry is sent.")
        else:
            say(f"{name}: {quantity(each.entries, 'entry', 'entries')}")
    if not found:
        say("No gaming day was closed.")
    elif for_real:
        say("The relay sends them next.")
    else:
        say("Nothing was sent. With --for-real the relay sends them again.")
