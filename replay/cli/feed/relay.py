"""`relay`: the record published on Kafka; a part of it again; the topic held against the record."""

from collections.abc import Callable, Iterator
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
from consumers.runtime.lifecycle import until_signalled
from infra.kafka.publisher import ACKNOWLEDGED_S_MAX
from infra.metrics import metrics_server
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.shell.connections import opened_database
from replay.shell.kafka import kafka
from replay.shell.logs import LOG, log_to_stderr
from replay.shell.output import Json, print_json, progress, say, show_table
from replay.shell.settings import in_force

app = family()
group = family()
app.add_typer(group, name="relay", help="Publish the record on Kafka.", invoke_without_command=True)


@group.callback(no_args_is_help=False)
def relay(
    context: typer.Context,
    *,
    once: Annotated[
        bool, typer.Option("--once", help="Stop at the end of the record instead of following it.")
    ] = False,
    deadline: Annotated[
        float, typer.Option(min=1, help="Seconds a window may take to be acknowledged.")
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
    of its tape; tracking moves when the brokers have it. When Kafka or the database fails it ends
    with exit code 3: start it again (the compose file does), and it goes on where it was. What
    views say on topics of their own goes out too, where those topics are there.

    Example: round-ledger relay --once
    """
    if context.invoked_subcommand:
        return
    log_to_stderr()
    watch = RelayMetrics(in_force().ready_s)
    where = kafka()
    with opened_database() as database, until_signalled() as stop, _told_of(watch, port):
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
        say(f"Published {count:,} records on {where.named(topic)}.")


@contextmanager
def _told_of(watch: RelayMetrics, port: int | None) -> Iterator[None]:
    if port is None:
        yield
        return
    with metrics_server(watch, in_force().http_host, port) as bound:
        LOG.info("serving figures", extra={"figures": {"port": bound}})
        yield


@group.command("republish")
def republish(
    *,
    first: Annotated[int, typer.Option("--from", metavar="POSITION", help="The first to send.")],
    last: Annotated[int, typer.Option("--to", metavar="POSITION", help="The last to send.")],
    json: Json = False,
) -> None:
    """Publish a part of the record again, marked as such.

    For a topic that lost records in its middle; readers pass over what they have. The relay may run
    meanwhile, and what it has not published yet is left to it. `relay verify` names what is
    missing.

    Example: round-ledger relay republish --from 1200 --to 1350
    """
    with opened_database() as database, progress("facts", last - first + 1) as advance:
        sent = check.republish(database, kafka(), first, last, progress=advance)
    if json:
        print_json({"from": first, "to": last, "republished": sent})
    else:
        say(f"Published {sent:,} facts again.")


@group.command("refill")
def refill(
    *,
    rest_anew: Annotated[
        bool,
        typer.Option(
            "--rest-anew", help="Append facts above a gap of the feed as if they came now."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Fill a record that lost its end again from the feed.

    After a standby or a backup took over that lacks the last facts, which the feed still holds.
    They are put back as they were: position, time and hash. Stop every relay first, and let nothing
    be appended before. Nothing is written where a fact does not follow from the record, or the feed
    lacks one in between. Verify afterwards: `verify --head`, then `relay`, then `relay verify`.

    Example: round-ledger relay refill
    """
    with opened_database() as database, progress("facts") as advance:
        done = relay_refill.refill(database, kafka(), anew=rest_anew, progress=advance)
    if json:
        print_json(done._asdict())
        return
    if done.facts:
        say(f"Put back {done.facts:,} facts, positions {done.first:,} to {done.last:,}.")
    if done.quarantined:
        say(f"Put back {done.quarantined:,} quarantined inputs.")
    if done.cut:
        say(f"Of {done.cut:,} of them over 256 KiB the beginning alone: the feed holds no more.")
    if done.anew:
        says = "facts above a gap have new positions: delete the facts' topic, `topics apply`, then"
        say(f"{done.anew:,} {says} start the relay.")
    if not any(done):
        say("The feed holds nothing that the record lacks.")


@group.command("restate")
def restate(*, json: Json = False) -> None:
    """Publish again what views say on topics of their own.

    For a reader that lost what it had; a rebuild tells what it changes by itself. The relay sends
    it when it next looks; readers keep, of each key, what has the highest position. The views may
    move meanwhile. Stopped before its end, run it again.

    Example: round-ledger relay restate
    """
    with opened_database() as database:
        install(database)
        left = outbox.restate(database, outbox.topics_of(VIEWS), VIEWS)
    for topic, count in left.items():
        if json:
            print_json({"topic": topic, "messages": count})
        else:
            say(f"{count:,} messages wait for the relay, for {topic}.")


@group.command("silence")
def silence(*, json: Json = False) -> None:
    """Give the topics of views up: what waits for them is removed, and views say nothing more.

    For a Kafka that is not coming back: what views say waits for a relay however long it takes.
    Stop every relay first. The record and the views stay whole, and facts need not wait anywhere:
    a relay that is started later publishes all of them. It has views speak again, too, from what
    they hold then. Delete the topics of views before that, if they are still there: what a view
    has no more by then is not taken back.

    Example: round-ledger relay silence
    """
    with opened_database() as database:
        removed = outbox.clear_outbox(database, VIEWS)
    for topic, count in removed.items():
        if json:
            print_json({"topic": topic, "removed": count})
        else:
            say(f"{count:,} messages removed that waited for {topic}.")


@group.command("verify")
def verify(*, json: Json = False) -> None:
    """Hold the topics against the record, fact by fact.

    Recomputes every hash from the octets Kafka gives back and follows each tape from its first fact
    to the last one acknowledged; and the quarantine. Exit code 1 names what is missing, changed or
    strange, and the tapes that differ; with `--json` every tape is told, before the sum. Topics
    that views speak on are not compared: `relay restate` says all of them again.
    `verify` does the same for the record itself.

    Example: round-ledger relay verify --json
    """
    with opened_database() as database, _bar() as passed:
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
        f"{seen.records:,} records: {seen.facts:,} facts, {seen.duplicates:,} of them sent again,"
        f" {seen.quarantined:,} quarantined inputs; {seen.expired:,} expired,"
        f" {seen.not_yet:,} not published yet."
    )
    says = f"{seen.broken:,} breaks." if seen.broken else "The feed is the record."
    if seen.broken > len(seen.breaks):
        says = f"{says[:-1]}, of which the first {len(seen.breaks):,} are told."
    if seen.missing:
        says += f" Facts and inputs that lack: {seen.missing:,}."
    say(f"{says} What views say on topics of their own was not compared.")


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    with progress("records") as advance:
        done = 0

        def passed(read: int, total: int) -> None:
            nonlocal done
            advance(read - done, total=total)
            done = read

        yield passed
