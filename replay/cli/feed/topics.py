"""`topics`: creates the feed's declared topics, and checks existing ones."""

import typer

from infra.kafka import topics
from infra.kafka.clients import Connection
from ledger.values import quantity
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.shell.kafka import kafka
from replay.shell.output import Json, print_list, say

app = family()
group = family()
app.add_typer(group, name="topics", help="Create the feed's topics, and check them.")


@group.command("apply")
def apply(*, json: Json = False) -> None:
    """Create missing topics, then check all.

    Existing topics are never changed. Exit code 1 if one differs from its declaration.

    Example: round-ledger topics apply
    """
    where = kafka()
    made = topics.apply(where)
    for name in made:
        say(f"Made {where.named(name)}.")
    copies = topics.replication(where)
    say(f"Every record is kept by {quantity(copies, 'broker')}.")
    _check(where, json=json)


@group.command("check")
def check(*, json: Json = False) -> None:
    """Compare the topics with their declaration; exit code 1 if they differ.

    Example: round-ledger topics check --json
    """
    _check(kafka(), json=json)


def _check(kafka: Connection, *, json: bool) -> None:
    differ = topics.differences(kafka)
    found = [each._replace(topic=kafka.named(each.topic)) for each in differ]
    if json or found:
        print_list("Differences", found, topics.Difference._fields, json=json, none="")
    if not found:
        say(f"All {len(topics.declared())} topics are as declared.")
        return
    lacking = sum(each.what == "topic" for each in found)
    if lacking:
        say(f"Missing: {quantity(lacking, 'topic')}. Run `round-ledger topics apply`.")
    if others := len(found) - lacking:
        say(f"Different: {others:,}. Nothing was changed. Correct the topics on the cluster.")
    raise typer.Exit(FINDINGS)
