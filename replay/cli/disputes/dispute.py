"""`dispute`: a patron's dispute from claim to outcome, and locked footage with or without one.

Output is for people or, with `--json`, for programs. Neither contains what is hidden from a
reviewer.
"""

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Annotated, Literal

import typer
from msgspec import to_builtins
from msgspec.json import decode
from rich.markup import escape

from consumers.cameras.cameras import CAMERAS
from consumers.disputes import disputes
from consumers.rulings import rulings
from infra.postgres.tape import PostgresTape
from ledger.facts import Attached, Body, type_name
from ledger.values import dollars, format_time
from replay.cameras.retention import policy_from
from replay.cli.shell.app import family
from replay.cli.shell.options import By, PasswordFile, RoundName, between
from replay.cli.shell.people import INVESTIGATORS, Signing, signer
from replay.disputes import preserved_windows, service
from replay.disputes.comparison import CaseComparison, compare
from replay.disputes.dispute import CATEGORIES, Dispute
from replay.disputes.preserved_windows import CameraScope, PreservedWindow, named_by, windows_of
from replay.disputes.service import DisputeContext, moments_of, opened_disputes
from replay.disputes.watched import how_seen, typed_spans
from replay.recording.house_facts import Noted, now_us
from replay.rounds.story_text import owed_table, signed
from replay.rounds.views import opened_views
from replay.shell.output import (
    Json,
    print_json,
    print_lines,
    print_list,
    printable,
    say,
    show_table,
)
from replay.shell.output import show as draw
from replay.shell.settings import in_force
from replay.shell.zones import house_zones
from replay.text.times import as_recorded, day, local, localized, read, span, stamp
from replay.text.typed import cents, written

app = family()
dispute = family()
app.add_typer(dispute, name="dispute", help="Raise, review and resolve disputes.")

Property = Annotated[
    str | None, typer.Option("--property", help="Casino; default: the only one that has it.")
]

Name = Annotated[
    str, typer.Argument(metavar="DISPUTE", help=("Name of the dispute, such as D-2026-11-20-1."))
]


@dispute.command("windows")
def windows(*, property_: Property = None, json: Json = False) -> None:
    """List windows preserved without a dispute, newest first.

    Each has a name for `round-ledger dossier` and `footage release --window`. A window without any
    lock left says who released it and why.

    Example: round-ledger dispute windows
    """
    policy = policy_from(in_force().retention_file)
    with opened_views([CAMERAS]) as database, PostgresTape(database) as tape:
        found = windows_of(database, tape, policy, property_)
        zones = house_zones(database)
    print_list(
        "Preserved windows",
        found,
        {
            "window": lambda each: each.name,
            "table": lambda each: each.table,
            "when": lambda each: span(each.from_us, each.to_us, zones.of(each.property)),
            "cameras": lambda each: len(each.locks),
            "by": lambda each: each.by,
            "because": lambda each: each.because,
            "state": lambda each: each.status.replace("_", " "),
            "kept until": lambda each: _until(each, zones.of(each.property)),
        },
        json=json,
        as_json=_window_json,
        right="cameras",
        whole="window",
        none="No window was preserved. `round-ledger dispute preserve` preserves one.",
    )


@dispute.command("raise")
def raise_(
    round_: RoundName,
    *,
    position: Annotated[int, typer.Option(help="Betting position of the patron.")],
    claim: Annotated[str, typer.Option(help="The claim, in the patron's words.")],
    by: By,
    name: Annotated[
        str | None,
        typer.Option("--name", help=("Name of the dispute; else D-<gaming day>-<number>.")),
    ] = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Raise a dispute about a round, and lock the footage around it.

    Locks every camera of the table, from ROUND_LEDGER_LOCK_BEFORE_S before the round to
    ROUND_LEDGER_LOCK_AFTER_S after it. Times are the camera's own, widened by its uncertainty.

    Example: round-ledger dispute raise CC-02/2026-11-20/61 --position 5 --claim "Short" --by F-3
    """
    with opened_disputes() as context:
        by = signer(context.database, by, password_file, *INVESTIGATORS)
        doubt = service.doubt(context.database, round_, position)
        done = service.raise_(context, round_, position, claim, by, name)
        zone = house_zones(context.database).of(done.case.property)
    if doubt:
        say(f"{doubt}.")
    if json:
        print_json({**_raised_json(done.case), "locks": [_lock_json(each) for each in done.locks]})
        return
    say(f"Dispute {done.case.dispute} is raised.")
    _tell_locks(done.locks, zone)


@dispute.command("list")
def list_(
    *,
    status: Annotated[
        Literal["not_raised", "raised", "resolved"] | None,
        typer.Option(help=("Only disputes of this status.")),
    ] = None,
    table: Annotated[str | None, typer.Option(help="Only rounds at this table.")] = None,
    property_: Property = None,
    unlocked: Annotated[
        bool, typer.Option(help=("Open disputes without any locked footage."))
    ] = False,
    json: Json = False,
) -> None:
    """List disputes, newest first.

    Claims are not shown, so that a reviewer can still be blind.

    Example: round-ledger dispute list --status raised
    """
    with opened_disputes() as context:
        found = disputes.read(
            context.database, property=property_, status=status, table=table, unlocked=unlocked
        )
        zones = house_zones(context.database)
    print_list(
        "Disputes",
        found,
        {
            "dispute": lambda each: each.dispute,
            "status": lambda each: each.status.replace("_", " "),
            "round": lambda each: each.round and each.round.subject,
            "position": lambda each: each.position,
            "raised": lambda each: (
                None
                if each.raised_us is None
                else stamp(each.raised_us, zones.of(each.property), ms=False)
            ),
            "observed": lambda each: each.observations,
            "adjusted": lambda each: None if each.adjusted is None else dollars(each.adjusted),
            "locks": lambda each: (
                f"{each.locks - each.releases} of {each.locks}" if each.releases else each.locks
            ),
        },
        json=json,
        as_json=_row_json,
        right="position observed adjusted locks",
        none=(
            "No dispute matches."
            if status or table or property_ or unlocked
            else "No dispute is on record. `round-ledger dispute raise ROUND` raises one."
        ),
    )


@dispute.command("show")
def show(
    name: Name,
    *,
    blind: Annotated[
        bool,
        typer.Option(help="Hide claim and record until --by has observed or seen the claim."),
    ] = False,
    by: Annotated[
        str | None, typer.Option(metavar="EMPLOYEE", help="The reviewer, with --blind.")
    ] = None,
    property_: Property = None,
    json: Json = False,
) -> None:
    """Show a dispute: claimed, seen, recorded, owed and paid, side by side.

    With `--blind` a reviewer who has neither observed nor seen the claim gets only the round and
    the position. Watch the footage, then use `dispute observe`.

    Example: round-ledger dispute show D-2026-11-20-1 --blind --by S-2001
    """
    reviewer = service.reviewer(by, blind=blind)
    with opened_disputes(rulings.VIEW) as context:
        case = service.find(context, name, property_)
        left = service.unlocked_spans(context.lock_context, case)
        seen = compare(case, service.story_of(context.database, case), reviewer)
        zone = house_zones(context.database).of(case.property)
    if json:
        print_json(_case_json(seen))
        return
    draw_case(seen, zone)
    if left:
        cameras = ", ".join(sorted({each.camera for each in left}))
        say(f"Not all footage is locked ({cameras}): `round-ledger dispute lock {name}`.")


@dispute.command("note")
def note(
    name: Name,
    *,
    note: Annotated[str, typer.Option(help="Text of the note.")],
    by: By,
    moments: Annotated[
        list[str] | None,
        typer.Option(
            "--moment",
            metavar="MOMENT",
            help="A fact, such as 12 or CC-07/2026-11-20/230#4; @TIME; CAMERA@TIME. "
            "May be repeated.",
        ),
    ] = None,
    property_: Property = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Add a note with moments of the round.

    A moment is a fact or an instant. A fact is the N-th of the disputed round, as `replay` counts,
    or of another: ROUND#N. An instant is @TIME by the reference clock, or CAMERA@TIME by that
    camera's own. A fact is stored by its id, so it stays the same when late facts arrive.

    Example: round-ledger dispute note D-2026-11-20-1 --note "The tray" --moment 12 --by S-2001
    """
    with opened_disputes() as context:
        by = signer(context.database, by, password_file, *INVESTIGATORS)
        case = service.find(context, name, property_)
        attached = moments_of(context.database, case, moments or [])
        _tell(context, case, case.note(note, by, attached), json=json)


@dispute.command("task")
def task(
    name: Name,
    *,
    what: Annotated[str, typer.Option(help="What is to be done.")],
    to: Annotated[str, typer.Option(metavar="EMPLOYEE", help="Who is to do it.")],
    due: Annotated[str, typer.Option(metavar="TIME", help="Until when: 2026-11-21 18:00.")],
    by: By,
    property_: Property = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Set a task of a dispute: what, who, and until when.

    Example: round-ledger dispute task D-2026-11-20-1 --what "Call the guest" --to S-2002
    --due "2026-11-21 18:00" --by S-2001
    """
    with opened_disputes() as context:
        by = signer(context.database, by, password_file, *INVESTIGATORS)
        case = service.find(context, name, property_)
        zone = house_zones(context.database).of(case.property)
        due_us = read(due, zone, "--due", after_us=now_us())
        _tell(context, case, case.set_task(what, to, due_us, by), json=json)


@dispute.command("task-done")
def task_done(
    name: Name,
    task: Annotated[str, typer.Argument(metavar="TASK", help="Name of the task, such as T-1.")],
    *,
    because: Annotated[str, typer.Option(help="What came of it.")] = "",
    by: By,
    property_: Property = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Record that a task of a dispute is done.

    Example: round-ledger dispute task-done D-2026-11-20-1 T-1 --because "She agrees" --by S-2002
    """
    signing = Signing(by, password_file)
    _act(name, property_, signing, lambda case, by: case.task_done(task, by, because), json=json)


@dispute.command("overdue")
def overdue(*, property_: Property = None, json: Json = False) -> None:
    """List tasks of disputes that nobody has done in time, the oldest first.

    What is to be done is not shown, so that a reviewer can still be blind.

    Example: round-ledger dispute overdue
    """
    with opened_disputes() as context:
        found = disputes.overdue(context.database, now_us(), property=property_)
        zones = house_zones(context.database)
    print_list(
        "Overdue tasks",
        found,
        {
            "dispute": lambda each: each.dispute,
            "task": lambda each: each.task,
            "to": lambda each: each.to,
            "due": lambda each: (
                None
                if each.due_us is None
                else stamp(each.due_us, zones.of(each.property), ms=False)
            ),
        },
        json=json,
        as_json=lambda each: {
            name: getattr(each, name) for name in ("property", "dispute", "task", "to", "due_us")
        },
        none="No task is overdue.",
    )


@dispute.command("observe")
def observe(
    name: Name,
    *,
    saw: Annotated[str, typer.Option(help="What the footage shows.")],
    by: By,
    watched: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CAMERA@FROM/TO",
            help="Footage that was watched, by the camera's clock; may be given again.",
        ),
    ] = None,
    property_: Property = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Record what the footage shows, before knowing the claim.

    An observation by a reviewer who knew the claim, or watched no footage, is kept too, and marked.

    Example: round-ledger dispute observe D-2026-11-20-1 --saw "Two pairs, paid 2 to 1" --by S-2001
    --watched CC-02-cam1@2026-11-20T21:14:00Z/2026-11-20T21:15:00Z
    """
    spans = typed_spans(watched or ())
    signing = Signing(by, password_file)
    _act(name, property_, signing, lambda case, by: case.observe(saw, by, spans), json=json)


@dispute.command("reveal")
def reveal(
    name: Name,
    *,
    by: By,
    property_: Property = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Show a reviewer the claim; without an observation the review is not blind.

    Example: round-ledger dispute reveal D-2026-11-20-1 --by S-2001
    """
    signing = Signing(by, password_file)
    _act(name, property_, signing, lambda case, by: case.reveal(by), json=json)


@dispute.command("resolve")
def resolve(
    name: Name,
    *,
    outcome: Annotated[str, typer.Option(help="The decision.")],
    category: Annotated[
        Literal["paid_short", "paid_over", "rule", "procedure", "no_error", "other"] | None,
        typer.Option(help="What it was."),
    ] = None,
    by: By,
    property_: Property = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Decide a dispute; its footage stays locked until it is released.

    Example: round-ledger dispute resolve D-2026-11-20-1 --outcome 'Upheld: $25 short' --by S-2001
    """
    signing = Signing(by, password_file)
    _act(name, property_, signing, lambda case, by: case.resolve(outcome, by, category), json=json)


@dispute.command("adjust")
def adjust(
    name: Name,
    amount: Annotated[str, typer.Argument(metavar="DOLLARS", help="Amount paid.")],
    *,
    by: By,
    paid_from: Annotated[
        Literal["table", "cage"], typer.Option("--from", help="Source of the money.")
    ] = "cage",
    position: Annotated[
        int | None, typer.Option(help="Position that was paid; else the one that raised it.")
    ] = None,
    property_: Property = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Record that money was paid to settle a dispute.

    Example: round-ledger dispute adjust D-2026-11-20-1 25.00 --from cage --by S-2001
    """
    paid = cents(amount, "DOLLARS") or 0
    signing = Signing(by, password_file)
    _act(
        name,
        property_,
        signing,
        lambda case, by: case.adjust(paid, paid_from, by, position),
        json=json,
    )


@dispute.command("preserve")
def preserve(  # noqa: PLR0913 - one option a field
    *,
    since: Annotated[
        str, typer.Option("--from", metavar="TIME", help="Beginning: 2026-11-20T19:00:00-05:00.")
    ],
    until: Annotated[str, typer.Option("--to", metavar="TIME", help="End.")],
    because: Annotated[
        str,
        typer.Option(help="Reason.", callback=lambda text: written(text, "--because")),
    ],
    by: By,
    table: Annotated[str | None, typer.Option(help="Every camera of this table.")] = None,
    camera: Annotated[str | None, typer.Option(help="Only this camera.")] = None,
    property_: Property = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Lock a time window without a dispute: all cameras of a table, or one camera.

    Times are the reference clock's; each lock is recorded by the camera's own clock. A time without
    an offset is by the house's clock (ROUND_LEDGER_TIME_ZONE), if that clock showed it only once.

    Example: round-ledger dispute preserve --table CC-02 --from 2026-11-20T16:40:00Z
    --to 2026-11-20T16:50:00Z --because "A fall" --by S-2001
    """
    with opened_disputes() as context:
        by = signer(context.database, by, password_file, *INVESTIGATORS)
        zone = house_zones(context.database).of(property_)
        from_us, to_us = between(since, until, zone)
        locks = preserved_windows.preserve(
            context.lock_context,
            CameraScope(table, camera, property_),
            (from_us, to_us),
            because,
            by,
        )
    if json:
        print_lines(_lock_json(each) for each in locks)
        return
    say(f"Preserved: {span(from_us, to_us, zone)}.")
    _tell_locks(locks, zone)
    window = named_by(locks[0].fact.id) if locks else None
    if window:
        say(f"It is window {window}; `round-ledger dossier {window}` hands it over.")


@dispute.command("lock")
def lock(
    name: Annotated[
        str | None, typer.Argument(metavar="DISPUTE", help="One dispute; else every open one.")
    ] = None,
    *,
    property_: Property = None,
    json: Json = False,
) -> None:
    """Lock footage of open disputes that has no lock yet.

    Needed for disputes raised elsewhere, or before a camera was known to be on the table. `serve`
    and `consume --follow` do this automatically for open disputes without any lock.

    Example: round-ledger dispute lock
    """
    with opened_disputes() as context:
        if name is None:
            done = service.lock_pending(context.lock_context)
        else:
            case = service.find(context, name, property_)
            done = [service.RaisedDispute(case, service.lock(context.lock_context, case))]
        zones = house_zones(context.database)
    for each in done:
        if json:
            locks = [_lock_json(lock) for lock in each.locks]
            print_json({"dispute": each.case.dispute, "locks": locks})
        else:
            say(f"Dispute {each.case.dispute}:")
            _tell_locks(each.locks, zones.of(each.case.property))
    if not done and not json:
        say("Every open dispute whose cameras and round are on record has a lock.")


def _act(
    name: str,
    property_: str | None,
    signing: Signing,
    decide: Callable[[Dispute, str], Body],
    *,
    json: bool,
) -> None:
    """Decide a step from the dispute's current state, and record it by who signs."""
    with opened_disputes() as context:
        by = signing.of(context.database, *INVESTIGATORS) or ""
        case = service.find(context, name, property_)
        _tell(context, case, decide(case, by), json=json)


def _tell(context: DisputeContext, case: Dispute, body: Body, *, json: bool) -> None:
    """Record a step, and print notes about it."""
    warning = case.warning(body)
    [position] = context.decisions.decide(case, body)
    fact = type_name(type(body)).removesuffix(".v1")
    if json:
        told = {"dispute": case.dispute, "property": case.property, "fact": fact}
        print_json({**told, "position": position, "warning": warning})
        return
    say(f"On record: {fact.replace('_', ' ')} of {case.dispute}, position {position:,}.")
    if warning:
        say(f"Note: {warning}")


def _tell_locks(locks: Sequence[Noted], zone: tzinfo) -> None:
    for each in locks:
        told = _lock_json(each)
        span = localized(f"{told['from']} to {told['to']}", zone)
        say(f"Locked: {told['camera']}, {span} by its own clock.")
    if not locks:
        say("Nothing was locked: no camera was on the table, or no fact of the round is on record.")


def _row_json(each: disputes.DisputeRow) -> dict[str, object]:
    return {
        "dispute": each.dispute,
        "property": each.property,
        "status": each.status,
        "round": each.round and each.round.subject,
        "position": each.position,
        "raised": _utc(each.raised_us),
        "raised_by": each.claimed_by,
        "resolved": _utc(each.resolved_us),
        "observations": each.observations,
        "notes": each.notes,
        "reveals": each.reveals,
        "adjusted": each.adjusted,
        "locks": each.locks,
        "releases": each.releases,
    }


def _until(window: PreservedWindow, zone: tzinfo) -> str | None:
    """The day until which a window is kept; None: its retention time is over."""
    if window.status == "locked":
        return "released"
    return None if window.expires_us is None else day(window.expires_us, zone)


def _window_json(window: PreservedWindow) -> dict[str, object]:
    """A window as JSON; footage times are by each camera's own clock."""
    times = {"from": format_time(window.from_us), "to": format_time(window.to_us)}
    return {
        **window._asdict(),
        **times,
        "cameras": sorted(each.camera for each in window.locks),
        "locks": [each._asdict() for each in window.locks],
        "released": [each._asdict() for each in window.released],
        "expires": _utc(window.expires_us),
    }


def _raised_json(case: Dispute) -> dict[str, object]:
    """A raised dispute as JSON."""
    claim = case.claim
    return {
        "dispute": case.dispute,
        "property": case.property,
        "round": claim.round.subject if claim and claim.round else None,
        "position": claim.position if claim else None,
        "raised": _utc(claim.time_us if claim else None),
    }


def _case_json(seen: CaseComparison) -> dict[str, object]:
    """A dispute as one person may see it, as JSON; times in UTC and in microseconds."""
    told: dict[str, object] = to_builtins(seen)
    told["raised"] = _utc(seen.raised_us)
    return told


def _lock_json(lock: Noted) -> dict[str, object]:
    """A recorded lock as JSON; its times are by the camera's own clock."""
    body = decode(lock.fact.data)
    window = named_by(lock.fact.id)
    return {
        **({"window": window} if window else {}),
        "camera": body["camera"],
        "from": body["from"],
        "to": body["to"],
        "by": body["by"],
        "because": body["because"],
        "position": lock.position,
    }


def draw_case(seen: CaseComparison, zone: tzinfo) -> None:
    """Print one dispute: its sides, then the money by wager, then its notes."""
    where = f"{seen.round or 'no round'}, position {seen.position}"
    status = seen.status.replace("_", " ")
    title = escape(printable(f"Dispute {seen.dispute} · {where} · {status}"))
    show_table(title, ("", ""), _rows(seen, zone))
    if seen.hidden:
        say("Hidden until you observe: watch the footage, then `round-ledger dispute observe`.")
        return
    if seen.lines:
        draw(owed_table(seen.lines))
    if seen.shown:
        show_table(
            "Facts of the position and of the whole table",
            ("fact", "time by the device", "what"),
            ((each.number, as_recorded(each.time, zone), each.says) for each in seen.shown),
            right="fact",
        )
    if seen.notes:
        show_table(
            "Notes",
            ("when", "by", "note", "moments"),
            (
                (local(each.time_us, zone), each.by, each.note, _moments(each.moments, zone))
                for each in seen.notes
            ),
        )
    if seen.tasks:
        show_table(
            "Tasks",
            ("task", "what", "to", "due", "done"),
            (
                (
                    *(each.task, each.what, each.to),
                    None if each.due_us is None else local(each.due_us, zone),
                    each.done_by,
                )
                for each in seen.tasks
            ),
        )
    for says in seen.missing:
        say(f"Missing: {says}")


def _rows(seen: CaseComparison, zone: tzinfo) -> list[tuple[str, str]]:
    """What was claimed, seen, owed, paid and decided, in this order."""
    rows = []
    if seen.raised_us is not None:
        rows.append(("raised", f"{local(seen.raised_us, zone)} by {seen.raised_by}"))
    if seen.hidden:
        return rows
    rows += [("claimed", f"{each.claim} ({each.by})") for each in seen.claims]
    for saw in seen.saw:
        rows.append(("seen", f"{saw.saw} ({saw.by}, {how_seen(saw)}, {local(saw.time_us, zone)})"))
    if seen.owed is not None and seen.moved is not None:
        rows.append(("owed by the ruling", signed(seen.owed)))
        rows.append(("paid by the dealer, net", signed(seen.moved)))
        rows.append(("difference", "n/a" if seen.difference is None else signed(seen.difference)))
    for paid in seen.adjustments:
        who = f" by {paid.by}" if paid.by else ""
        says = f"{dollars(paid.amount)} to position {paid.position} from the {paid.paid_from}{who}"
        rows.append(("adjusted", says))
    if seen.adjustments and seen.left is not None:
        rows.append(("left", signed(seen.left)))
    rows += [
        ("claim shown to", f"{each.by}, {local(each.time_us, zone)}") for each in seen.revealed
    ]
    if seen.outcome:
        when = local(seen.outcome.time_us, zone)
        rows.append(("decided", f"{seen.outcome.outcome} ({seen.outcome.by}, {when})"))
        if seen.outcome.category:
            rows.append(("category", CATEGORIES[seen.outcome.category]))
    return rows


def _moments(moments: tuple[Attached, ...], zone: tzinfo) -> str:
    """Moments on one line."""
    told = []
    for each in moments:
        fact = f"{each.round or 'a round'}: {each.fact.source} {each.fact.id}" if each.fact else ""
        when = f"at {each.reference_time}" if each.reference_time else ""
        at = f"{each.camera or 'a camera'} at {each.camera_time}" if each.camera_time else ""
        words = ", ".join(filter(None, (fact, when, at)))
        told.append(words or each.round or each.camera or "nothing")
    return localized("; ".join(told), zone)


def _utc(time_us: int | None) -> str | None:
    return None if time_us is None else format_time(time_us)
