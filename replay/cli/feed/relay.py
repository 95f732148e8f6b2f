"""`relay`: publish the record on Kafka, publish parts again, compare topics with the record."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from consumers.registry import VIEWS, install
from consumers.relay import check
from consumers.relay import refill as relay_refill
from consumers.relay.check import FeedCheck
from consumers.relay.metrics import RelayMetrics
from consumers.relay.relay import relay as run
from consumers.runtime import outbox
from consumers.runtime.stopping import until_signalled
from infra.kafka.publisher import ACKNOWLEDGED_S_MAX
from infra.metrics import metrics_server
from ledger.values import quantity
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.shell.connections import opened_database
from replay.shell.kafka import kafka
from replay.shell.logs import LOG, log_to_stderr
from replay.shell.output import Json, print_json, progress, progress_up_to, say, show_table
from replay.shell.settings import in_force

app = family()
group = family()
app.add_typer(group, name="relay", invoke_without_command=True)


@group.callback(no_args_is_help=False)
def relay(
    context: typer.Context,
    *,
    once: Annotated[
        bool, typer.Option("--once", help="Stop at the end of the record instead of following it.")
    ] = False,
    deadline: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=1, help="Seconds that Kafka may take to confirm a batch."
        ),
    ] = ACKNOWLEDGED_S_MAX,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65_535, help="Answer /metrics, /healthz and /readyz on it; 0: a free one."
        ),
    ] = None,
) -> None:
    """Publish the record on Kafka.

    One relay leads, others wait for it to end. Every fact is published at least once, in the order
    of its tape. The checkpoint moves when the brokers have it. If Kafka or the database fails, the
    relay ends with exit code 3. Start it again (the compose file does), and it continues from its
    checkpoint. It also publishes the messages of views if their topics exist.

    Example: round-ledger relay --once
    """
    if context.invoked_subcommand:
        return
    log_to_stderr()
    watch = RelayMetrics(in_force().ready_s)
    where = kafka()
    with (
        opened_database(serves=not once) as database,
        until_signalled() as stop,
        _told_of(watch, port),
    ):
        published: dict[str, int] = {}

        def passed(topic: str, count: int, position: int) -> None:
            del position
            published[topic] = published.get(topic, 0) + count
            watch.passed(topic, count)

        run(
            database,
            where,
            stop=watch.heartbeat(stop),
            progress=passed,
            follow=not once,
            deadline_s=deadline,
            spoken=VIEWS,
            listener=watch,
        )
    for topic, count in published.items():
        say(f"Published {quantity(count, 'record')} on {where.named(topic)}.")


@contextmanager
def _told_of(watch: RelayMetrics, port: int | None) -> Iterator[None]:
    if port is None:
        yield
        return
    with metrics_server(watch, in_force().http_host, port) as bound:
        LOG.info("serving metrics", extra={"figures": {"port": bound}})
        yield


@group.command("republish")
def republish(
    *,
    first: Annotated[
        int, typer.Option("--from", metavar="POSITION", help=("First position to send."))
    ],
    last: Annotated[int, typer.Option("--to", metavar="POSITION", help="Last position to send.")],
    json: Json = False,
) -> None:
    """Publish a range of the record again, marked as such.

    For a topic that lost records in its middle; readers skip what they have. The relay may run
    meanwhile. Records that it has not published yet are left to it. `relay verify` names what is
    missing.

    Example: round-ledger relay republish --from 1200 --to 1350
    """
    with opened_database() as database, progress("facts", last - first + 1) as advance:
        sent = check.republish(database, kafka(), first, last, progress=advance)
    if json:
        print_json({"from": first, "to": last, "republished": sent})
    else:
        say(f"Published {quantity(sent, 'fact')} again.")


@group.command("refill")
def refill(
    *,
    rest_anew: Annotated[
        bool,
        typer.Option("--rest-anew", help="Append facts above a gap of the feed as newly received."),
    ] = False,
    json: Json = False,
) -> None:
    """Restore the record's lost end from the feed.

    Needed after a failover to a standby or a backup that lacks the last facts, if the feed still
    has them. It restores them with the same position, time and hash. First stop every relay and
    every writer. It writes nothing if a fact does not follow from the record, or if the feed has a
    gap. Then run `verify --head`, `relay`, and `relay verify`.

    Example: round-ledger relay refill
    """
    with opened_database() as database, progress("facts") as advance:
        done = relay_refill.refill(database, kafka(), anew=rest_anew, progress=advance)
    if json:
        print_json(done._asdict())
        return
    if done.facts:
        say(f"Put back {quantity(done.facts, 'fact')}, positions {done.first:,} to {done.last:,}.")
    if done.quarantined:
        say(f"Put back {quantity(done.quarantined, 'quarantined input')}.")
    if done.cut:
        say(
            f"Over 256 KiB: {done.cut:,} of them. Only the beginning is restored, which is all "
            "that the feed holds."
        )
    if done.strays:
        say(
            f"Passed over: {quantity(done.strays, 'record')} of other programs. See `relay verify`."
        )
    if done.anew:
        say(
            f"At new positions, above a gap: {quantity(done.anew, 'fact')}. "
            "Delete the facts' topic, run `topics apply`, then start the relay."
        )
    if not any(done._replace(strays=0)):
        say(
            "The feed has nothing that is missing in the record. If the relay refuses a topic all"
            " the same: delete it, run `topics apply`, start the relay."
        )


@group.command("restate")
def restate(*, json: Json = False) -> None:
    """Publish the messages of views again.

    For a consumer that lost its state; a rebuild publishes its changes by itself. The relay sends
    them next. Consumers keep the message with the highest position for each key. Views may change
    meanwhile. If it is interrupted, run it again.

    Example: round-ledger relay restate
    """
    with opened_database() as database:
        install(database)
        left = outbox.restate(database, outbox.topics_of(VIEWS), VIEWS)
    for topic, count in left.items():
        if json:
            print_json({"topic": topic, "messages": count})
        else:
            say(f"{quantity(count, 'message')} for {topic}: the relay sends them next.")


@group.command("silence")
def silence(*, json: Json = False) -> None:
    """Stop publishing view topics, and delete what waits for them.

    Use it if Kafka is not coming back: view messages would wait for a relay for ever. Stop every
    relay first. The record and the views stay complete. A relay started later publishes all facts,
    and makes views publish again from their state at that time. First delete the topics of views if
    they still exist: old keys in them would stay.

    Example: round-ledger relay silence
    """
    with opened_database() as database:
        removed = outbox.clear_outbox(database, VIEWS)
    for topic, count in removed.items():
        if json:
            print_json({"topic": topic, "removed": count})
        else:
            say(f"Removed: {quantity(count, 'message')} for {topic}.")


@group.command("verify")
def verify(*, json: Json = False) -> None:
    """Compare the topics with the record, fact by fact.

    Recomputes every hash from the bytes in Kafka. Follows each tape, and the quarantine, from its
    first fact to the last acknowledged one. Exit code 1 names missing, changed and foreign records
    and the tapes that differ. `--json` prints every tape before the totals. Topics of views are not
    compared; `relay restate` publishes them again. `verify` does the same for the record.

    Example: round-ledger relay verify --json
    """
    with opened_database() as database, progress_up_to("records") as passed:
        seen = check.verify(database, kafka(), passed)
    _tell(seen, json=json)
    if seen.broken:
        raise typer.Exit(FINDINGS)


def _tell(seen: FeedCheck, *, json: bool) -> None:
    if json:
        for broken in seen.breaks:
            print_json(broken._asdict())
        for tape in seen.tapes:
            print_json(tape._asdict())
        parts = ("breaks", "tapes")
        print_json({name: told for name, told in seen._asdict().items() if name not in parts})
        return
    if seen.breaks:
        show_table("Breaks", ("kind", "topic", "where", "says"), seen.breaks)
    if differ := [each for each in seen.tapes if each.broken]:
        columns = ("tape", "on record", "on topic", "expired", "last", "its hash", "breaks")
        show_table("Tapes that differ", columns, differ)
    say(
        f"{quantity(seen.records, 'record')}: {quantity(seen.facts, 'fact')},"
        f" {seen.duplicates:,} of them sent again,"
        f" {quantity(seen.quarantined, 'quarantined input')}; {seen.expired:,} expired,"
        f" {seen.not_yet:,} not published yet."
    )
    says = f"{quantity(seen.broken, 'break')}." if seen.broken else "The feed equals the record."
    if seen.broken > len(seen.breaks):
        says = f"{says[:-1]}; the first {len(seen.breaks):,} are printed."
    if seen.missing:
        says += f" Missing facts and inputs: {seen.missing:,}."
    say(f"{says} Topics of views were not compared.")
