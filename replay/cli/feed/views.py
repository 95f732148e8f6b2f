"""`consume`, `rebuild` and `unpark`: keep views up to date, rebuild them, resume parked tables.

The work is in `consumers`. Commands that read views catch them up by themselves. On a floor one
`consume --follow` keeps them up to date for all.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from enum import StrEnum
from typing import Annotated

import typer

from consumers.alerts.metrics import AlertMetrics
from consumers.alerts.process import run
from consumers.disputes import disputes
from consumers.parallel_rebuild import WORKERS_MAX, Work, fill
from consumers.registry import VIEWS, install, view
from consumers.runtime import unpark as release
from consumers.runtime.following import follow_on
from consumers.runtime.lifecycle import Projection, RunnerOptions, catch_up
from consumers.runtime.lifecycle import rebuild as rebuild_one
from consumers.runtime.metrics import ConsumerMetrics
from consumers.runtime.runner import divide
from consumers.runtime.source import RecordSource, Share
from consumers.runtime.stopping import until_signalled
from infra.kafka.feed_source import feed_source
from infra.kafka.merging import Figures
from infra.kafka.topics import FACTS
from infra.metrics import metrics_server
from infra.postgres import parking
from infra.postgres.connection import AnyConnection, Database
from infra.postgres.parking import ParkedSummary
from infra.postgres.relay_progress import tracked
from infra.postgres.tape import Lag, PartLag, PostgresTape
from infra.postgres.view_tables import LIVE, opened, tape_source
from ledger.errors import NotFound, Unavailable, Usage
from ledger.values import format_time, quantity
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS, STOPPED
from replay.disputes.service import lock_margins, locks_kept
from replay.shell.connections import opened_database
from replay.shell.kafka import kafka
from replay.shell.logs import LOG, log_to_stderr
from replay.shell.output import Json, print_json, progress, say, show_table
from replay.shell.settings import in_force
from replay.shell.zones import house_zones

ALL, ALERTS = "all", "alerts"

app = family()


class ReadFrom(StrEnum):
    """The source of facts."""

    KAFKA = "kafka"
    TAPE = "tape"


Names = Annotated[list[str], typer.Argument(metavar="NAME", help="Views, `all`, or `alerts`.")]
Views = Annotated[list[str], typer.Argument(metavar="NAME", help="Views, or `all`.")]
From = Annotated[
    ReadFrom | None,
    typer.Option("--from", help="Default: kafka if ROUND_LEDGER_KAFKA_BOOTSTRAP is set."),
]


@app.command("consume")
def consume(
    names: Names,
    *,
    from_: From = None,
    stay: Annotated[
        bool, typer.Option("--follow", help="Keep them up to date until stopped by a signal.")
    ] = False,
    part: Annotated[
        str | None,
        typer.Option(metavar="K/N", help="Only part K of N; other processes take the others."),
    ] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Only print consumer lag and parked tables.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65_535,
            help=("With --follow: serve /metrics, /healthz, /readyz; 0 picks a free port."),
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Bring views to the end of the record.

    With Kafka that is as far as the relay has published. Missing views are created. It can be
    stopped at any time: a view's rows and its checkpoint are written together. With `--follow` it
    runs until stopped, and reconnects to a lost server. The log on stderr (JSON Lines) reports it.

    A table whose facts cannot be applied is parked, and the others go on. `--status` names it (exit
    code 1), `unpark` resumes it. `alerts` is not a view: it reads Kafka and sends alerts to a
    topic, the log and a webhook; `dlq` has what it could not read. With `--follow` the view
    `disputes` also locks the footage of disputes that were raised elsewhere.

    With `--part 1/2` it takes half of the tables, and a second process with `--part 2/2` the other
    half. Each part has a checkpoint, which `--status` shows. A process that starts with another
    number of parts divides the view again, and those of the old number end. `--part 1/1` makes it
    whole.

    Example: round-ledger consume all --follow --from kafka
    """
    if set(names) == {ALERTS}:
        _refuse_for_alerts(status=status, from_=from_, part=part)
        _raise_alerts(follow=stay, port=port, json=json)
        return
    chosen = _chosen(names, ALERTS)
    share = None if part is None else _share(part, chosen)
    if status:
        _tell_status(chosen, share, json=json)
        return
    with (
        opened_database(serves=stay) as database,
        until_signalled() as stop,
        _bar(database) as passed,
    ):
        install(database)
        watch = ConsumerMetrics(
            database,
            feed=_source(from_) is ReadFrom.KAFKA,
            ready_s=in_force().ready_s,
            views=[each.name for each in chosen],
        )
        options = RunnerOptions(passed, parks=stay or watch.feed, listener=watch, share=share)
        if share:
            with opened(database, LIVE) as store:
                divide(store, chosen, share.of, options)
        source_of = _opened(database, chosen, watch.figures if watch.feed else None)
        if stay:
            position = _follow(database, chosen, source_of, options, watch, stop, port)
        else:
            with source_of() as source:
                position = catch_up(database, source, chosen, stop=stop, options=options)
        stopped = stop() and not stay
    if position is None:
        say("Stopped while PostgreSQL did not answer. Views will continue from their checkpoints.")
        return
    for each in chosen:
        if json:
            print_json({"view": each.name, "version": each.version, "position": position})
        else:
            say(f"View {each.name} has reached position {position:,}.")
    if stopped:
        raise typer.Exit(STOPPED)


@app.command("rebuild")
def rebuild(
    names: Views,
    *,
    from_: Annotated[ReadFrom, typer.Option("--from", help="Source of the facts.")] = ReadFrom.TAPE,
    workers: Annotated[
        int, typer.Option(min=1, max=WORKERS_MAX, help="Parallel processes, divided by partition.")
    ] = 1,
    json: Json = False,
) -> None:
    """Rebuild views from the record, then swap them.

    The live view answers until the new one has caught up; readers see one or the other. It reads
    the tape; `--from kafka` reads the feed from its first offset. Several `--workers` divide a view
    by tables, and give the same rows; one process rebuilds `finance`.

    Example: round-ledger rebuild rounds table_board --workers 4
    """
    chosen = _chosen(names)
    feed = from_ is ReadFrom.KAFKA
    with opened_database() as database, until_signalled() as stop, _bar(database) as passed:
        for each in chosen:
            began = time.monotonic()
            at_once = workers if each.is_shared else 1
            with _opened(database, [], Figures() if feed else None)() as source:
                first = _side_by_side(database, each, at_once, passed, stop, feed=feed)
                done = rebuild_one(database, source, each, progress=passed, stop=stop, first=first)
            if not done:
                say(f"Stopped: view {each.name} is as it was.")
                raise typer.Exit(STOPPED)
            took = time.monotonic() - began
            if json:
                told = {"view": each.name, "version": each.version, "rebuilt": True}
                print_json(told | {"workers": at_once})
            else:
                by = f" by {at_once} processes" if at_once > 1 else ""
                say(f"View {each.name} is rebuilt{by}, in {took:.1f} s.")


def _side_by_side(
    database: Database,
    projection: Projection,
    workers: int,
    progress: Callable[[str, int], None],
    stop: Callable[[], bool],
    *,
    feed: bool,
) -> Callable[[AnyConnection], bool]:
    """The parallel processes that fill a new view first, or None."""
    if workers == 1:
        return lambda _: True

    def filled(connection: AnyConnection) -> bool:
        if feed:
            until = next((r.position for r in tracked(database) if r.topic == FACTS), 0)
        else:
            with PostgresTape(database) as tape:
                until = tape.counters().appended
        where = kafka() if feed else None
        work = Work(database, where, projection.name, Share(of=workers), until)
        return fill(connection, work, progress=progress, stop=stop)

    return filled


@app.command("unpark")
def unpark(
    tape: Annotated[str, typer.Argument(metavar="TAPE", help="Its property and place.")],
    *,
    json: Json = False,
) -> None:
    """Resume a parked table once its fault is fixed.

    First the table's tape is verified. A view that needs the order of several tables is then
    rebuilt; the others apply what they lack. Exit code 1 if a view parks the table again.

    Example: round-ledger unpark hollywood/CC-02
    """
    with opened_database() as database, _bar(database) as passed:
        told = release.release(database, VIEWS, tape, progress=passed)
    for each in told:
        if json:
            print_json(each._asdict())
        else:
            say(
                f"View {each.view}: {each.how};"
                f" missing in it: {quantity(each.facts, 'fact')} of {tape}."
            )
    if any(each.how == "parked again" for each in told):
        raise typer.Exit(FINDINGS)


def _raise_alerts(*, follow: bool, port: int | None, json: bool) -> None:
    """Raise alerts by the settings; without `follow`, stop at the end of the feed."""
    settings = in_force()
    log_to_stderr()
    with (
        opened_database(serves=follow) as database,
        until_signalled() as stop,
        ExitStack() as open_,
    ):
        install(database)
        watch = AlertMetrics(database, ready_s=settings.ready_s)
        if port is not None:
            bound = open_.enter_context(metrics_server(watch, settings.http_host, port))
            LOG.info("serving metrics", extra={"figures": {"port": bound}})
        tally = run(
            database, kafka(), settings, stop=watch.heartbeat(stop), follow=follow, tally=watch.take
        )
    if json:
        names = ("read", "raised", "dead", "too_old", "delivered", "failed")
        print_json({name: getattr(tally, name) for name in names})
    else:
        say(
            f"{quantity(tally.read, 'record')} read: {quantity(tally.raised, 'alert')} raised,"
            f" {quantity(tally.delivered, 'delivery', 'deliveries')},"
            f" {quantity(tally.failed, 'failed try', 'failed tries')},"
            f" {quantity(tally.dead, 'dead letter')},"
            f" {quantity(tally.too_old, 'alert')} too old to be raised."
        )


def _follow(
    database: Database,
    chosen: Sequence[Projection],
    source_of: Callable[[], AbstractContextManager[RecordSource]],
    options: RunnerOptions,
    watch: ConsumerMetrics,
    stop: Callable[[], bool],
    port: int | None,
) -> int | None:
    log_to_stderr()
    with ExitStack() as open_:
        if disputes.VIEW in chosen:
            open_.enter_context(locks_kept(database, lock_margins(in_force())))
        if port is not None:
            bound = open_.enter_context(metrics_server(watch, in_force().http_host, port))
            LOG.info("serving metrics", extra={"figures": {"port": bound}})
        return follow_on(
            database,
            chosen,
            progress=options.progress or (lambda *_: None),
            stop=watch.heartbeat(stop),
            lost=lambda error, pause_s: _lost(watch, error, pause_s),
            opened=source_of,
            options=options,
        )


def _tell_status(chosen: Sequence[Projection], share: Share | None, *, json: bool) -> None:
    """Print consumer lag and parked tables; exit code 1 if a table is parked.

    share: only the lag of this part. Raises `NotFound` if a view is not divided so.
    """
    names = {each.name for each in chosen}
    with opened_database() as database:
        with PostgresTape(database) as tape:
            lags = [lag for lag in tape.view_lags() if lag.view in names]
            parts = [part for part in tape.part_lags() if part.view in names]
        if share:
            parts = [_of_share(share, lag.view, parts) for lag in lags]
            lags = [Lag(part.view, part.behind_facts, part.behind_us) for part in parts]
        parked = [each for each in parking.shown(database) if each.view in names]
        zone = house_zones(database).of(None)
    if json:
        for lag in lags:
            withheld = [_told(each) for each in parked if each.view == lag.view]
            behind = {"behind_facts": lag.facts, "behind_us": lag.behind_us}
            divided = [part._asdict() for part in parts if part.view == lag.view]
            print_json({"view": lag.view, **behind, "parts": divided, "parked": withheld})
    else:
        if not share:
            rows = [(lag.view, lag.facts, _seconds(lag.behind_us)) for lag in lags]
            show_table("Views", ("view", "facts behind", "seconds behind"), rows, right="all")
        if parts:
            _show_parts(parts)
        columns = ("view", "tape", "position", "withheld", "reason", "says", "place", "since")
        if parked:
            withheld_rows = ([*_told(each).values()] for each in parked)
            show_table("Parked", columns, withheld_rows, zone=zone)
    if parked:
        raise typer.Exit(FINDINGS)


def _show_parts(parts: Sequence[PartLag]) -> None:
    columns = ("view", "part", "position", "facts behind", "seconds behind")
    rows = (
        (each.view, f"{each.part}/{each.parts}", each.position, each.behind_facts, seconds)
        for each in parts
        for seconds in [_seconds(each.behind_us)]
    )
    show_table("Parts", columns, rows, right="all")


def _of_share(share: Share, view: str, parts: Sequence[PartLag]) -> PartLag:
    """One part of a view. Raises `NotFound` if the view is not divided into as many."""
    of = [each for each in parts if each.view == view]
    if len(of) != share.of:
        how = f"is divided into {len(of)} parts" if of else "is not divided"
        raise NotFound(
            f"View {view} {how}",
            where="--part",
            hint="Without `--part`, `--status` names the parts that there are.",
        )
    return of[share.number]


def _seconds(us: int) -> str:
    return f"{us / 1e6:.1f}"


def _told(each: ParkedSummary) -> dict[str, object]:
    return {
        "view": each.view,
        "tape": each.tape,
        "position": each.position,
        "withheld": each.withheld,
        "reason": each.reason,
        "says": each.says,
        "place": each.place or None,
        "since": format_time(each.parked_at_us),
    }


def _source(told: ReadFrom | None) -> ReadFrom:
    return told or (ReadFrom.KAFKA if in_force().kafka_bootstrap else ReadFrom.TAPE)


def _opened(
    database: Database, chosen: Sequence[Projection], figures: Figures | None
) -> Callable[[], AbstractContextManager[RecordSource]]:
    """Opens the feed, with its metrics, or the tape."""
    if figures is None:
        return lambda: tape_source(database)
    log_to_stderr()  # for gaps and differences of the feed
    where = kafka()
    names = [each.name for each in chosen]
    return lambda: feed_source(database, where, names, figures)


def _lost(watch: ConsumerMetrics, error: Unavailable, pause_s: float) -> None:
    watch.lost(error.what)
    figures = {"what": error.what, "where": error.where, "again_in_s": pause_s}
    LOG.warning("PostgreSQL or Kafka does not answer", extra={"figures": figures})


def _chosen(names: Sequence[str], *others: str) -> Sequence[Projection]:
    """The named views, each once. others: names that the command takes alone, for the hint.

    Raises `NotFound` for names of none, `Usage` for `alerts` beside others.
    """
    if ALERTS in names:
        raise Usage(
            "`alerts` is not a view",
            where=" ".join(names),
            hint="Run it as its own process: `round-ledger consume alerts --follow`.",
        )
    named = [view(name, ALL, *others) for name in dict.fromkeys(names) if name != ALL]
    return VIEWS if ALL in names else named


def _share(part: str, chosen: Sequence[Projection]) -> Share:
    """The part to follow, as typed: from 1. Raises `Usage`, also for a view that has no parts."""
    number, slash, of = part.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal()):
        number, of = "0", "0"
    share = Share(int(number) - 1, int(of))
    if not 0 <= share.number < share.of <= WORKERS_MAX:
        raise Usage(
            f"`{part}` is not a part",
            where="--part",
            hint=f"Give its number and how many there are, such as 1/2; at most {WORKERS_MAX}.",
        )
    whole = [each.name for each in chosen if not each.is_followed_in_parts]
    if whole:
        parts = ", ".join(each.name for each in VIEWS if each.is_followed_in_parts)
        raise Usage(
            f"One process follows {', '.join(whole)}",
            where="--part",
            hint=f"Views that are followed in parts: {parts}.",
        )
    return share


def _refuse_for_alerts(*, status: bool, from_: ReadFrom | None, part: str | None) -> None:
    """Raise `Usage` for options of views: `consume alerts --status` would raise alerts."""
    given = {"--status": status, "--from tape": from_ is ReadFrom.TAPE, "--part": part is not None}
    for where, is_given in given.items():
        if is_given:
            raise Usage(
                "`alerts` is not a view and always reads Kafka",
                where=where,
                hint="Leave this option out. /metrics of its --port reports its state.",
            )


@contextmanager
def _bar(database: Database) -> Iterator[Callable[[str, int], None]]:
    """Progress by position, up to the current end of the record."""
    with PostgresTape(database) as tape:
        end = tape.counters().appended
    with progress("views", end) as advance:
        at = 0

        def passed(name: str, position: int) -> None:
            nonlocal at
            advance(position - at, doing=f"view {name}")
            at = position

        yield passed
