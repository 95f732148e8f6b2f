"""`dispute`: a patron's dispute from claim to outcome; footage kept for it, or without one."""

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import typer

from consumers.disputes import disputes
from consumers.rulings import rulings
from ledger.facts import Body, type_name
from ledger.values import dollars, format_time
from replay.cli.disputes import windows
from replay.cli.disputes.dispute_text import case_json, draw_case, lock_json, sides_json
from replay.cli.disputes.group import Property, dispute
from replay.cli.shell.app import family
from replay.disputes import dispute as cases
from replay.disputes import service
from replay.disputes.comparison import sides
from replay.disputes.dispute import Dispute
from replay.disputes.note_moments import moments_of
from replay.disputes.preserved_windows import named_by
from replay.disputes.service import DisputeContext, What, opened_office
from replay.recording.house_facts import Noted
from replay.rounds.reading import RoundName
from replay.shell.output import Json, print_json, print_lines, say, show_table
from replay.shell.settings import in_force
from replay.text.local_time import both, read, span
from replay.text.typed import cents, written

__all__ = ["app", "windows"]

app = family()
app.add_typer(dispute, name="dispute", help="Raise, review and resolve what patrons dispute.")

Name = Annotated[str, typer.Argument(metavar="DISPUTE", help="Its name, as D-2026-11-20-1.")]
By = Annotated[str, typer.Option("--by", metavar="EMPLOYEE", help="Your credential, as S-2001.")]


@dispute.command("raise")
def raise_(
    round_: RoundName,
    *,
    position: Annotated[int, typer.Option(help="Betting position of the patron.")],
    claim: Annotated[str, typer.Option(help="The claim, in the patron's words.")],
    by: By,
    name: Annotated[
        str | None, typer.Option("--name", help="Its name; else D-<gaming day>-<number>.")
    ] = None,
    json: Json = False,
) -> None:
    """Raise a dispute about a round; the footage around it is locked with it.

    Every camera that was on the table is locked, from ROUND_LEDGER_LOCK_BEFORE_S before the round
    to ROUND_LEDGER_LOCK_AFTER_S after it, by the camera's own clock and its plus-minus.

    Example: round-ledger dispute raise CC-07/2026-11-20/231 --position 3 --claim "Short" --by F-3
    """
    with opened_office() as office:
        doubt = service.doubt(office.base, round_, position)
        done = service.raise_(office, round_, position, claim, by, name)
    if doubt:
        say(f"{doubt}.")
    if json:
        print_json({**case_json(done.case), "locks": [lock_json(each) for each in done.locks]})
        return
    say(f"Dispute {done.case.dispute} is raised.")
    _tell_locks(done.locks)


@dispute.command("list")
def list_(
    *,
    status: Annotated[
        Literal["not_raised", "raised", "resolved"] | None, typer.Option(help="Only these.")
    ] = None,
    table: Annotated[str | None, typer.Option(help="Of rounds at this table.")] = None,
    property_: Property = None,
    unlocked: Annotated[bool, typer.Option(help="Open ones without any footage locked.")] = False,
    json: Json = False,
) -> None:
    """Disputes, the one raised last first.

    Claims are not shown: a reviewer may not know them yet.

    Example: round-ledger dispute list --status raised
    """
    with opened_office() as office:
        found = disputes.read(
            office.base, property=property_, status=status, table=table, unlocked=unlocked
        )
    if json:
        print_lines(_row_json(each) for each in found)
        return
    zone = in_force().time_zone
    show_table(
        "Disputes",
        ("dispute", "status", "round", "position", "raised", "observed", "adjusted", "locks"),
        (
            (
                each.dispute,
                each.status.replace("_", " "),
                each.round.subject if each.round else None,
                each.position,
                None if each.raised_us is None else both(each.raised_us, zone),
                each.observations,
                None if each.adjusted is None else dollars(each.adjusted),
                f"{each.locks - each.releases} of {each.locks}" if each.releases else each.locks,
            )
            for each in found
        ),
        right="position observed adjusted locks",
    )


@dispute.command("show")
def show(
    name: Name,
    *,
    blind: Annotated[
        bool,
        typer.Option(help="Hide the claim and the record until --by has observed or seen it."),
    ] = False,
    by: Annotated[
        str | None, typer.Option(metavar="EMPLOYEE", help="Who looks, with --blind.")
    ] = None,
    property_: Property = None,
    json: Json = False,
) -> None:
    """One dispute: claimed, seen, on record, owed and paid, beside one another.

    With `--blind` a reviewer who has neither observed nor been shown the claim sees the round and
    the position alone: the eyes come first. Watch, then `dispute observe`.

    Example: round-ledger dispute show D-2026-11-20-1 --blind --by S-2001
    """
    reviewer = service.reviewer(by, blind=blind)
    with opened_office(rulings.VIEW) as office:
        case = service.find(office.base, name, property_)
        left = service.unlocked_spans(office.vault, case)
        seen = sides(case, service.story_of(office.base, case), reviewer)
    if json:
        print_json(sides_json(seen))
        return
    draw_case(seen, in_force().time_zone)
    if left:
        cameras = ", ".join(sorted({each.camera for each in left}))
        say(f"Not all footage is locked ({cameras}): `round-ledger dispute lock {name}`.")


@dispute.command("note")
def note(
    name: Name,
    *,
    note: Annotated[str, typer.Option(help="What to note.")],
    by: By,
    moments: Annotated[
        list[str] | None,
        typer.Option(
            "--moment",
            metavar="MOMENT",
            help="A fact, as 12 or CC-07/2026-11-20/230#4; @TIME; CAMERA@TIME. May be repeated.",
        ),
    ] = None,
    property_: Property = None,
    json: Json = False,
) -> None:
    """Add a note, and attach moments to it.

    A moment is the N-th fact of the disputed round (or of another: ROUND#N), as `replay` counts
    them, or an instant: @TIME by the reference clock, CAMERA@TIME by that camera's own. A fact is
    kept by its own id, so it points at the same one when late ones arrive.

    Example: round-ledger dispute note D-2026-11-20-1 --note "The tray" --moment 12 --by S-2001
    """
    with opened_office() as office:
        case = service.find(office.base, name, property_)
        attached = moments_of(office.base, case, moments or [])
        _tell(office, case, cases.noted(case, note, by, attached), json=json)


@dispute.command("observe")
def observe(
    name: Name,
    *,
    saw: Annotated[str, typer.Option(help="What the footage shows.")],
    by: By,
    property_: Property = None,
    json: Json = False,
) -> None:
    """Write down what the footage shows, before knowing the claim.

    An observation by somebody who knew the claim is kept too, and marked.

    Example: round-ledger dispute observe D-2026-11-20-1 --saw "Two pairs, paid 2 to 1" --by S-2001
    """
    _act(name, property_, lambda case: cases.observed(case, saw, by), json=json)


@dispute.command("reveal")
def reveal(name: Name, *, by: By, property_: Property = None, json: Json = False) -> None:
    """Let a reviewer see the claim. Who sees it before observing is no longer blind.

    Example: round-ledger dispute reveal D-2026-11-20-1 --by S-2001
    """
    _act(name, property_, lambda case: cases.revealed(case, by), json=json)


@dispute.command("resolve")
def resolve(
    name: Name,
    *,
    outcome: Annotated[str, typer.Option(help="What is decided.")],
    by: By,
    property_: Property = None,
    json: Json = False,
) -> None:
    """Decide a dispute. Its footage stays locked until somebody releases it.

    Example: round-ledger dispute resolve D-2026-11-20-1 --outcome "Upheld: $25 short" --by S-2001
    """
    _act(name, property_, lambda case: cases.resolved(case, outcome, by), json=json)


@dispute.command("adjust")
def adjust(
    name: Name,
    amount: Annotated[str, typer.Argument(metavar="DOLLARS", help="What was paid.")],
    *,
    by: By,
    paid_from: Annotated[
        Literal["table", "cage"], typer.Option("--from", help="Where the money came from.")
    ] = "cage",
    position: Annotated[
        int | None, typer.Option(help="Who was paid; else the position that raised it.")
    ] = None,
    property_: Property = None,
    json: Json = False,
) -> None:
    """Put on record that money was paid to settle a dispute.

    Example: round-ledger dispute adjust D-2026-11-20-1 25.00 --from cage --by S-2001
    """
    paid = cents(amount, "DOLLARS") or 0
    _act(
        name,
        property_,
        lambda case: cases.adjusted(case, paid, paid_from, by, position),
        json=json,
    )


@dispute.command("preserve")
def preserve(
    *,
    since: Annotated[str, typer.Option("--from", help="From when: 2026-11-20T19:00:00-05:00.")],
    until: Annotated[str, typer.Option("--to", help="Until when.")],
    because: Annotated[
        str,
        typer.Option(help="Why it is kept.", callback=lambda text: written(text, "--because")),
    ],
    by: By,
    table: Annotated[str | None, typer.Option(help="Every camera that was on this table.")] = None,
    camera: Annotated[str | None, typer.Option(help="This camera.")] = None,
    property_: Property = None,
    json: Json = False,
) -> None:
    """Lock a stretch of time without a dispute: every camera on a table, or one camera.

    Times are the reference's; what is locked is told by each camera's own clock. A time without an
    offset is one by the floor's clock (ROUND_LEDGER_TIME_ZONE), where that showed it once.

    Example: round-ledger dispute preserve --table CC-07 --from 2026-11-20T19:00:00Z
    --to 2026-11-20T19:20:00Z --because "A fall" --by S-2001
    """
    zone = in_force().time_zone
    from_us, to_us = read(since, zone, "--from"), read(until, zone, "--to")
    with opened_office() as office:
        locks = service.preserve(
            office.vault, What(table, camera, property_), (from_us, to_us), because, by
        )
    if json:
        print_lines(lock_json(each) for each in locks)
        return
    say(f"Preserved: {span(from_us, to_us, zone)}.")
    _tell_locks(locks)
    window = named_by(locks[0].fact.id) if locks else None
    if window:
        say(f"It is window {window}; `round-ledger dossier {window}` hands it over.")


@dispute.command("lock")
def lock(
    name: Annotated[
        str | None, typer.Argument(metavar="[DISPUTE]", help="One; else every open one.")
    ] = None,
    *,
    property_: Property = None,
    json: Json = False,
) -> None:
    """Lock footage of disputes that is not locked yet.

    For disputes that were raised elsewhere, or before a camera was known to be on the table.
    `consume --follow` and `serve` do so by themselves for open disputes without any lock.

    Example: round-ledger dispute lock
    """
    with opened_office() as office:
        if name is None:
            done = service.lock_pending(office.vault)
        else:
            case = service.find(office.base, name, property_)
            done = [service.Raised(case, service.lock(office.vault, case))]
    for each in done:
        if json:
            locks = [lock_json(lock) for lock in each.locks]
            print_json({"dispute": each.case.dispute, "locks": locks})
        else:
            say(f"Dispute {each.case.dispute}:")
            _tell_locks(each.locks)
    if not done and not json:
        say("No open dispute is without a lock, as far as cameras and rounds are on record.")


def _act(
    name: str, property_: str | None, decide: Callable[[Dispute], Body], *, json: bool
) -> None:
    """Decide on a dispute as it stands, and put that on record."""
    with opened_office() as office:
        case = service.find(office.base, name, property_)
        _tell(office, case, decide(case), json=json)


def _tell(office: DisputeContext, case: Dispute, body: Body, *, json: bool) -> None:
    """Put a decision on record, and say what should be known about it."""
    warning = cases.warning(case, body)
    [position] = office.desk.tell(case, body)
    fact = type_name(type(body)).removesuffix(".v1")
    if json:
        told = {"dispute": case.dispute, "property": case.property, "fact": fact}
        print_json({**told, "position": position, "warning": warning})
        return
    say(f"On record: {fact.replace('_', ' ')} of {case.dispute}, position {position:,}.")
    if warning:
        say(f"Note: {warning}")


def _tell_locks(locks: Sequence[Noted]) -> None:
    for each in locks:
        told = lock_json(each)
        say(f"Locked: {told['camera']}, {told['from']} to {told['to']} by its own clock.")
    if not locks:
        say("Nothing more was locked: no camera was on the table, or no fact of the round is here.")


def _row_json(each: disputes.Dispute) -> dict[str, object]:
    return {
        "dispute": each.dispute,
        "property": each.property,
        "status": each.status,
        "round": each.round.subject if each.round else None,
        "position": each.position,
        "raised": None if each.raised_us is None else format_time(each.raised_us),
        "raised_by": each.claimed_by,
        "resolved": None if each.resolved_us is None else format_time(each.resolved_us),
        "observations": each.observations,
        "notes": each.notes,
        "reveals": each.reveals,
        "adjusted": each.adjusted,
        "locks": each.locks,
        "releases": each.releases,
    }
