"""`review`: findings and the work on each, and control samples."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Literal

import typer

from consumers.disputes import disputes
from consumers.review import desk as review_view
from consumers.review import queue
from consumers.review import samples as samples_view
from consumers.review.queue import Queued
from consumers.review.samples import SampledRound
from consumers.rounds import index, search, search_index
from consumers.rulings import rulings
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.values import RoundId, dollars, quantity
from replay.cli.shell.app import family
from replay.cli.shell.options import By, PasswordFile, require_gaming_day
from replay.cli.shell.people import INVESTIGATORS, Signing, signer
from replay.disputes import service
from replay.recording.house_facts import Noted
from replay.review import desk, samples
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_json, print_list, say
from replay.shell.zones import house_zones
from replay.text.times import stamp

VIEWS = (*(rulings.VIEW, review_view.VIEW, index.ROUND_INDEX, search_index.VIEW), disputes.VIEW)

app = family()
review = family()
app.add_typer(review, name="review", help="Work on findings: take, give, close and reopen them.")

Names = Annotated[
    list[str],
    typer.Argument(metavar="NAME", help="Names from `review list`, or rounds for all of theirs."),
]
DayOf = Annotated[
    str,
    typer.Option("--gaming-day", metavar="DAY", help="Gaming day.", callback=require_gaming_day),
]
Because = Annotated[str, typer.Option(help="What was seen, or why.")]


@contextmanager
def _opened() -> Iterator[tuple[Database, PostgresTape]]:
    with opened_views(VIEWS) as database, PostgresTape(database) as tape:
        yield database, tape


@review.command("list")
def list_(
    *,
    state: Annotated[
        Literal["open", "mine", "closed"], typer.Option(help="Which findings.")
    ] = "open",
    by: Annotated[
        str, typer.Option("--by", metavar="EMPLOYEE", help="Whose findings, with --state mine.")
    ] = "",
    page: Annotated[int, typer.Option(min=1, max=10_000, help="Page of the list.")] = 1,
    blind: Annotated[
        bool, typer.Option(help="Hide the findings of rounds that --by must review blind.")
    ] = False,
    json: Json = False,
) -> None:
    """List findings: unseen ones first, then by gravity and money.

    Findings that are alike stand together: one code, table, wager and hour. With `--blind` the
    rounds of control samples stand among them, and nothing is shown of a round that --by must
    review blind. Without it everything is shown: a command reads with the machine's own login.

    Example: round-ledger review list
    """
    reviewer = service.reviewer(by or None, blind=blind)
    with _opened() as (database, _):
        waiting = samples_view.open_rounds(database)
        hidden = _hidden(database, reviewer, waiting) if reviewer else ()
        found = queue.page(database, state, by, number=page, without=hidden)
        members = [each for group in found.groups for each in group.members]
        if reviewer and state == "open" and page == 1:
            members += [each.queued for each in waiting]
        dealers = search.dealers_of(database, [each.round for each in members if each.round])
        zones = house_zones(database)
    print_list(
        "Findings",
        members,
        {
            "name": lambda each: each.name,
            "finding": lambda each: each.says,
            "off": lambda each: None if each.off is None else dollars(each.off),
            "dealer": lambda each: ", ".join(dealers.get(each.round, ())),
            "when": lambda each: stamp(each.time_us, zones.of(each.property), ms=False),
            "state": lambda each: each.outcome or each.holder or each.status,
        },
        json=json,
        as_json=lambda each: _as_json(each, dealers.get(each.round, ())),
        right="off",
        whole="name",
        none="No finding is in this state.",
    )


@review.command("take")
def take(
    names: Names,
    *,
    by: By,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Take findings to work on them.

    Example: round-ledger review take CC-02/2026-11-20/61 --by S-2001
    """
    signing = Signing(by, password_file)
    _act(names, signing, desk.take, "taken", json=json)


@review.command("give")
def give(
    names: Names,
    *,
    to: Annotated[str, typer.Option(metavar="EMPLOYEE", help="Who works on it from now on.")],
    by: By,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Give findings to another person.

    Example: round-ledger review give CC-02/2026-11-20/61 --to S-2002 --by S-2001
    """
    signing = Signing(by, password_file)
    _act(
        names,
        signing,
        lambda tape, found, by: desk.give(tape, found, to, by),
        f"given to {to}",
        json=json,
    )


@review.command("close")
def close(
    names: Names,
    *,
    outcome: Annotated[
        Literal["right", "wrong", "not_visible", "known"],
        typer.Option(help="What the footage says of the finding."),
    ],
    because: Because = "",
    by: By,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Close findings: right, wrong, not visible, or known before.

    A round of a control sample is closed so too: right, wrong or not visible.

    Example: round-ledger review close CC-02/2026-11-20/61 --outcome right --by S-2001
    """
    signing = Signing(by, password_file)
    _act(
        names,
        signing,
        lambda tape, found, by: desk.close(tape, found, outcome, because, by),
        "closed",
        json=json,
    )


@review.command("reopen")
def reopen(
    names: Names,
    *,
    because: Because,
    by: By,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Open closed findings again.

    Example: round-ledger review reopen CC-02/2026-11-20/61 --because "Wrong seat" --by S-2001
    """
    signing = Signing(by, password_file)
    _act(
        names,
        signing,
        lambda tape, found, by: desk.reopen(tape, found, because, by),
        "reopened",
        json=json,
    )


@review.command("sample")
def sample(
    *,
    property_: Annotated[str, typer.Option("--property", help="Casino, such as hollywood.")],
    gaming_day: DayOf,
    shift: Annotated[
        str | None, typer.Option(help="Shift of the day, such as swing; else the whole day.")
    ] = None,
    rounds: Annotated[int, typer.Option(help="Rounds without a finding.")] = 10,
    seed: Annotated[
        str | None, typer.Option(help="Draws the same rounds again; else a new one is made.")
    ] = None,
    by: By,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Draw rounds without a finding, to be reviewed blind among rounds with one.

    No page says which is which until each is closed.

    Example: round-ledger review sample --property hollywood --gaming-day 2026-11-20 --by S-9
    """
    asked = samples.Draw(property_, gaming_day, shift, rounds, seed or samples.new_seed())
    with _opened() as (database, tape):
        by = signer(database, by, password_file, *INVESTIGATORS)
        drawn = samples.draw(database, tape, asked, by)
    if json:
        print_json(
            {
                "sample": drawn.sample,
                "seed": asked.seed,
                "drawn": [str(each) for each in drawn.rounds],
                "position": drawn.position,
            }
        )
        return
    say(f"{quantity(len(drawn.rounds), 'round')} to watch in Review; sample {drawn.sample}.")


@review.command("samples")
def samples_(*, json: Json = False) -> None:
    """List control samples, and what the ledger misses by each.

    Example: round-ledger review samples
    """
    with _opened() as (database, _):
        found = samples.results(database)
    print_list(
        "Control samples",
        found,
        {
            "sample": lambda each: each.sample,
            "drawn by": lambda each: each.drawn_by,
            "watched": lambda each: f"{each.closed} of {each.rounds}",
            "result": lambda each: each.says,
        },
        json=json,
        as_json=lambda each: each._asdict() | {"says": each.says},
        none="No sample was drawn yet.",
    )


def _hidden(
    database: Database, reviewer: str, waiting: Sequence[SampledRound]
) -> Sequence[RoundId]:
    """The rounds that a person must review blind: of disputes and of control samples."""
    return [*{*service.unknown_to(database, reviewer), *(each.round for each in waiting)}]


def _find(database: Database, names: Sequence[str]) -> list[Queued]:
    """The findings with these names, and the rounds of control samples that wait."""
    waiting = {each.queued.name: each.queued for each in samples_view.open_rounds(database)}
    rest = [name for name in names if name not in waiting]
    known = [waiting[name] for name in names if name in waiting]
    return known + (desk.find(database, rest) if rest else [])


def _act(
    names: Sequence[str],
    signing: Signing,
    act: Callable[[PostgresTape, Sequence[Queued], str], list[Noted]],
    done: str,
    *,
    json: bool,
) -> None:
    with _opened() as (database, tape):
        by = signing.of(database, *INVESTIGATORS) or ""
        found = _find(database, names)
        noted = act(tape, found, by)
    if json:
        for each, note in zip(found, noted, strict=True):
            print_json({"name": each.name, "property": each.property, "position": note.position})
        return
    say(f"{quantity(len(found), 'finding')} {done}.")


def _as_json(each: Queued, dealers: Sequence[str]) -> dict[str, object]:
    round_ = each.round
    told = each._asdict() | {"round": round_.subject if round_ else None, "dealers": [*dealers]}
    for name in ("number", "source", "fact_id"):
        del told[name]
    return told
