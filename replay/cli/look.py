"""`rounds`, `replay` and `drop`: what an investigator and an analyst ask of the record.

They judge nothing: a replay of a round with findings ends with exit code 0, as any answer does.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from consumers import drop as drop_view
from consumers import rulings
from consumers.rounds import ROUND_INDEX, Filters, Round, search
from ledger.errors import Refused, Usage
from ledger.games import games
from ledger.values import dollars, format_time, parse_time
from replay.cli.app import family
from replay.cli.output import Json, print_lines, say, show_table
from replay.cli.stories import (
    FootageFolder,
    RoundName,
    footage_folder,
    frames_of,
    opened_views,
    told,
)
from replay.dossier import pictures, without_trailing_blanks
from replay.drawing import WIDTH, boxed_table, money
from replay.footage.decoder import Frame
from replay.story import Story
from replay.telling import moment_json, ruling_json, tell

app = family()

_MONEY = re.compile(r"\$?(\d{1,3}(?:,\d{3})+|\d{1,12})(?:\.(\d{2}))?")


@app.command("rounds")
def rounds(  # noqa: PLR0913 - one option a way to search
    *,
    table: Annotated[str | None, typer.Option(help="Table, as CC-07.")] = None,
    gaming_day: Annotated[str | None, typer.Option(help="Gaming day, YYYY-MM-DD.")] = None,
    game: Annotated[
        str | None, typer.Option(help="Game id, as `round-ledger games` lists.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--from", help="Not over before: 2026-11-20T19:00:00-05:00.")
    ] = None,
    until: Annotated[str | None, typer.Option("--to", help="Begun by then.")] = None,
    position: Annotated[int | None, typer.Option(help="Betting position.")] = None,
    wager: Annotated[str | None, typer.Option(help="Wager id, as middle.")] = None,
    amount: Annotated[
        str | None, typer.Option(metavar="DOLLARS", help="On one wager: placed, paid, collected.")
    ] = None,
    amount_min: Annotated[
        str | None, typer.Option(metavar="DOLLARS", help="As --amount, or more.")
    ] = None,
    amount_max: Annotated[
        str | None, typer.Option(metavar="DOLLARS", help="As --amount, or less.")
    ] = None,
    outcome: Annotated[
        Literal["win", "lose", "push", "void"] | None, typer.Option(help="Of one wager.")
    ] = None,
    finding: Annotated[str | None, typer.Option(help="Code of a finding, as overpaid.")] = None,
    status: Annotated[
        Literal["open", "completed", "voided"] | None, typer.Option(help="Of the record.")
    ] = None,
    property_: Annotated[
        str | None, typer.Option("--property", help="Casino, as hollywood.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 50,
    json: Json = False,
) -> None:
    """Search rounds; the newest first.

    What is given must all hold; position, wager, amount and outcome of one and the same wager.

    Example: round-ledger rounds --table CC-07 --position 3 --finding overpaid
    """
    low, high = _cents(amount_min, "--amount-min"), _cents(amount_max, "--amount-max")
    exact = _cents(amount, "--amount")
    filters = Filters(
        property=property_,
        table=table,
        gaming_day=gaming_day,
        game=game,
        status=status,
        since_us=_moment(since, "--from"),
        until_us=_moment(until, "--to"),
        position=position,
        wager=wager,
        amount_min=low if exact is None else exact,
        amount_max=high if exact is None else exact,
        outcome=outcome,
        finding=finding,
        limit=limit,
    )
    with opened_views([ROUND_INDEX, rulings.VIEW]) as base:
        found = search(base, filters)
    if json:
        print_lines(_round_json(each) for each in found)
        return
    if not found:
        say("No round on record fits all of that.")
        return
    draw([_rounds_table(found)])
    if len(found) == limit:
        say(f"There may be more than {limit}: narrow the search, or raise --limit.")


@app.command("replay")
def replay(
    round_: RoundName,
    *,
    at: Annotated[
        int | None, typer.Option(metavar="N", help="The moment after fact N alone.")
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Show face-down cards as the record knows them.")
    ] = False,
    footage: FootageFolder = None,
    frames: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the frames there, as PNG.")
    ] = None,
    json: Json = False,
) -> None:
    """Replay a round: table, cameras, money paid beside owed.

    The table as it stood after each fact, and the frame of each camera at that instant.

    Cards face down stay so until they are turned. Where a camera has no frame, one of seven reasons
    says why.

    Example: round-ledger replay CC-07/2026-11-20/231
    """
    with opened_views() as base:
        found = told(base, round_, footage_folder(footage))
    story = found.story
    if at is not None and not 1 <= at <= len(story.moments):
        raise Usage(
            f"The round has {len(story.moments)} facts",
            where=f"--at {at}",
            hint=f"Give a number from 1 to {len(story.moments)}.",
        )
    if json:
        print_lines(_replay_json(story, at))
    else:
        draw(tell(story, at=at, hindsight=all_))
    if frames is not None:
        written = _write_frames(story, frames_of(found), frames)
        say(f"{written} frames are in {frames}.")


@app.command("drop")
def drop(
    *,
    table: Annotated[str | None, typer.Option(help="Table, as CC-07.")] = None,
    gaming_day: Annotated[str | None, typer.Option(help="Gaming day, YYYY-MM-DD.")] = None,
    property_: Annotated[
        str | None, typer.Option("--property", help="Casino, as hollywood.")
    ] = None,
    json: Json = False,
) -> None:
    """The drop and the win of each table and gaming day.

    What facts at the table say the box should hold stands beside what was counted. What is not on
    record is n/a (null in JSON), never 0.

    Example: round-ledger drop --gaming-day 2026-11-20
    """
    with opened_views([drop_view.DROP]) as base:
        days = drop_view.read(base, property=property_, table=table, gaming_day=gaming_day)
    if json:
        print_lines(days)
        return
    for day in days:
        _show_day(day)
    if not days:
        say("No money fact of that is on record.")


def draw(parts: Iterable[RenderableType]) -> None:
    """Draw on a terminal as wide as it is; elsewhere in 100 columns, without trailing blanks."""
    if sys.stdout.isatty():
        console = Console(highlight=False)
        for part in parts:
            console.print(part)
        return
    console = Console(width=WIDTH, no_color=True, force_terminal=False, highlight=False)
    for part in parts:
        with console.capture() as capture:
            console.print(part)
        sys.stdout.write(without_trailing_blanks(capture.get()))


def _replay_json(story: Story, at: int | None) -> Iterator[dict[str, object]]:
    """One object a moment, and the ruling last; the one moment alone where one is asked for."""
    if at is not None:
        yield moment_json(story, at)
        return
    for number in range(1, len(story.moments) + 1):
        yield moment_json(story, number)
    yield ruling_json(story)


def _write_frames(story: Story, read: dict[tuple[str, int], Frame | str], folder: Path) -> int:
    """The frames as files; how many."""
    written = 0
    for name, frame in pictures(story, read):
        path = folder / Path(name).name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(frame.png)
        except OSError as error:
            raise Refused(
                f"A frame cannot be written: {error.strerror}",
                where=str(path),
                hint="Name a folder you may write to.",
            ) from error
        written += 1
    return written


def _round_json(round_: Round) -> dict[str, object]:
    """A round as it is printed to pipe; times of devices in UTC."""
    return {
        "round": round_.id.subject,
        "property": round_.property,
        "game": round_.game,
        "status": round_.status,
        "began": format_time(round_.began_us),
        "ended": None if round_.ended_us is None else format_time(round_.ended_us),
        "positions": round_.positions,
        "wagers": round_.wagers,
        "wagered": round_.wagered,
        "paid": round_.paid,
        "facts": round_.facts,
    }


def _rounds_table(found: Sequence[Round]) -> Table:
    """Rounds to read, a line each in 80 columns; the property only where there are several."""
    several = len({each.property for each in found}) > 1
    table = boxed_table(
        "round", "began", "game", "status", "positions", "wagered", "paid",
        right=("wagered", "paid"), title="Rounds; times of devices, in UTC",
    )  # fmt: skip
    table.padding = (0, 1, 0, 0)
    for column in table.columns:
        column.no_wrap = column.header != "game"
    for each in found:
        game = games().get(each.game or "")
        table.add_row(
            str(each.id) if several else each.id.subject,
            format_time(each.began_us)[11:19],
            Text(game.title if game else each.game or "n/a", no_wrap=True, overflow="ellipsis"),
            each.status,
            " ".join(map(str, each.positions)),
            "n/a" if each.wagered is None else money(each.wagered),
            "n/a" if each.paid is None else money(each.paid),
        )
    return table


_EXPECTED = ("cash", "counter_checks", "vouchers", "coupons", "rake")
_COUNTED = ("currency", "counter_checks", "vouchers", "coupon_count", None)
_TRAY = ("opener", "fills", "credits", "closer")
_RESULT = ("handle", "payouts", "payouts_cage", "collected", "returned", "fees", "tips", "win")


def _show_day(day: drop_view.Drop) -> None:
    """One table's gaming day: the box, the tray, the result, and the win by wager."""
    title = f"{day.property}:{day.table} · {day.gaming_day or 'gaming day not told'}"
    counts = [f"{box.box}, count {box.count}" for box in day.boxes]
    show_table(
        f"{title} · into the box",
        ("what", "expected", *(counts or ("counted",))),
        (
            (
                name.replace("_", " "),
                _money(getattr(day, name)),
                *([_counted(box, field) for box in day.boxes] or [None]),
            )
            for name, field in zip(_EXPECTED, _COUNTED, strict=True)
        ),
        right="expected",
    )
    show_table(
        "Tray and result",
        ("what", "amount"),
        ((name.replace("_", " "), _money(getattr(day, name))) for name in (*_TRAY, *_RESULT)),
        right="amount",
    )
    show_table(
        "By wager",
        ("wager", "handle", "payouts", "collected", "returned", "win"),
        (
            (each.wager, *map(_money, (each.handle, each.payouts, each.collected)),
             *map(_money, (each.returned, each.win)))
            for each in day.wagers
        ),
        right="handle payouts collected returned win",
    )  # fmt: skip


def _counted(box: drop_view.Box, field: str | None) -> str | None:
    """What the count room found of one kind; coupons are pieces, all else dollars."""
    if field is None:
        return None
    value: int | None = getattr(box, field)
    return f"{value} pieces" if field == "coupon_count" else _money(value)


def _money(cents: int | None) -> str | None:
    return None if cents is None else dollars(cents)


def _cents(text: str | None, option: str) -> int | None:
    """Dollars as typed, in cents. Raises `Usage`."""
    if text is None:
        return None
    match = _MONEY.fullmatch(text.strip())
    if match is None:
        raise Usage(
            f"`{text}` is not an amount", where=option, hint="Give dollars: 25, 25.00 or 1,250.00."
        )
    return int(match[1].replace(",", "")) * 100 + int(match[2] or 0)


def _moment(text: str | None, option: str) -> int | None:
    """A time as typed. Raises `Usage`: without an offset nobody knows which hour it means."""
    if text is None:
        return None
    time_us = parse_time(text)
    if time_us is None:
        raise Usage(
            f"`{text}` is not a time with offset",
            where=option,
            hint="Give it as 2026-11-20T19:04:11-05:00 (or Z for UTC).",
        )
    return time_us
