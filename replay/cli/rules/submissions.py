"""`submissions`: checks and files Rules Submissions, with house edges."""

from pathlib import Path
from typing import Annotated

import typer
from msgspec import to_builtins
from msgspec.structs import replace

from consumers.rulings import rulings
from infra.access.users import KEEPERS
from infra.postgres.tape import PostgresTape
from ledger.facts import RulesSubmissionFiled
from ledger.games import games
from replay.cli.shell.app import family
from replay.cli.shell.options import PasswordFile
from replay.cli.shell.people import Signing
from replay.games.game_card import EdgeCard
from replay.games.submission_file import edges_of, read_filing
from replay.recording.answers import appended
from replay.recording.submissions import RulesSubmissions, SubmissionDecisions
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_json, say, show_table
from replay.text.typed import written

app = family()
submissions = family()
app.add_typer(submissions, name="submissions", help="Check Rules Submissions and file them.")

FilingFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The `data` of a `rules_submission_filed`, as JSON.")
]


@submissions.command("check")
def check(path: FilingFile, *, json: Json = False) -> None:
    """Check a Rules Submission before it is filed.

    Names paytables, readings and options that the game does not have. Prints what the house keeps
    of each wager and warns of a wager that favours the player. Needs no database.

    Example: round-ledger submissions check submission.json
    """
    filing = read_filing(path)
    edges = edges_of(filing, path)
    if json:
        print_json({"game": filing.game, "edges": to_builtins(edges)})
        return
    _show(filing, edges)


@submissions.command("file")
def file(
    path: FilingFile,
    *,
    property_: Annotated[str, typer.Option("--property", help="The casino.")] = "hollywood",
    table: Annotated[
        str | None, typer.Option(help="Only for this table; else for the whole property.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="EMPLOYEE",
            help="Your credential, such as F-3001; needed once the ledger has users.",
            callback=lambda text: text and written(text, "--by"),
        ),
    ] = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """File a Rules Submission; it applies to every round from its day on.

    Refused if it names a paytable, a reading or an option that its game does not have, or if the
    same submission is in force from its day on.

    Example: round-ledger submissions file submission.json --table CC-02
    """
    filing = read_filing(path)
    edges = edges_of(filing, path)
    new = RulesSubmissions(property=property_, game=filing.game, table=table)
    with (
        opened_views([rulings.VIEW]) as database,
        SubmissionDecisions(database) as decisions,
        PostgresTape(database) as tape,
    ):
        filing = replace(filing, by=Signing(by, password_file).of(database, *KEEPERS))
        filed = decisions.read(new)
        [position] = decisions.decide(filed, filed.file(filing), subject=table or property_)
        [row] = tape.read(position - 1, 1)
    if json:
        print_json(appended(row), {"edges": to_builtins(edges)})
        return
    _show(filing, edges)
    say(
        f"Filed for {table or property_} from gaming day {filing.effective_from}: "
        f"position {position}."
    )


def _show(filing: RulesSubmissionFiled, edges: list[EdgeCard]) -> None:
    show_table(
        f"{games()[filing.game].title}: the house's share of a stake under this submission",
        ("wager", "keeps", "how it is computed"),
        ((each.wager, each.percent, each.how) for each in edges),
        right="keeps",
    )
    for each in edges:
        if each.edge.startswith("-"):
            say(f"Warning: the player gains {each.percent.lstrip('-')} on {each.wager}.")
