"""`approve` at a terminal: each person by a password of their own; without users as before."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from consumers.registry import install
from infra.access.connections import AccessDatabase
from infra.access.users import User, Users
from infra.postgres.tape import PostgresTape
from ledger.errors import Refused
from replay.approvals.desk import ApprovalDecisions
from replay.approvals.releases import CORRECTED_OCTETS_MAX
from replay.recording.house_facts import now_us
from tests.fixtures.web import PASSWORD, add_user
from tests.scenes.table_days import DAY, count, day_lines, fact

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from infra.postgres.connection import Database
    from tests.fixtures.cli import Cli, Ran
    from tests.property.finance.floors import Line

CLOSE = ("day", "close", DAY, "--password-file", "-", "--json")
TWO = ("--by", "S-fina", "--second", "S-finb")


@pytest.fixture
def ledger(cli: Cli, database: Database, tmp_path: Path) -> Cli:
    """A counted day, and three people of finance and one of the pit."""
    feed = tmp_path / "feed.jsonl"
    feed.write_text("".join(json.dumps(each) + "\n" for each in day_lines(count(59))))
    assert cli("ingest", feed).code == 0
    install(database)
    with closing(AccessDatabase(database)) as access:
        for name in ("fina", "finb", "finc"):
            add_user(access, name, "finance")
        add_user(access, "pit", "pit")
    return cli


def as_(cli: Cli, *command: str | Path, password: str = PASSWORD) -> Ran:
    return cli(*command, stdin=password.encode() + b"\n")


def give(cli: Cli, name: str, by: str, password: str = PASSWORD) -> Ran:
    ran = ("approve", "give", name, "--by", by, "--password-file", "-", "--json")
    return as_(cli, *ran, password=password)


@pytest.mark.long
def test_two_people_close_a_day_each_by_a_password(ledger: Cli) -> None:
    asked = as_(ledger, *CLOSE, *TWO)
    assert asked.code == 0, asked.err
    [request] = asked.json
    assert (request["state"], request["by"], request["asked"]) == ("waiting", "S-fina", "S-finb")
    name = request["request"]
    [listed] = ledger("approve", "list", "--json").json
    assert listed == request
    [shown] = ledger("approve", "show", name, "--json").json
    assert shown["says"]["gaming day"] == DAY
    assert shown["says"]["CC-07"].startswith("drop $")
    assert shown["why_not"] is None
    for by, password in (
        ("S-finb", "another horse"),  # a wrong password
        ("S-fina", PASSWORD),  # nobody approves their own
        ("S-finc", PASSWORD),  # not who is asked
        ("S-pit", PASSWORD),  # not of the role
        ("S-nobody", PASSWORD),
    ):
        refused = give(ledger, name, by, password)
        assert refused.code == 2, (by, refused.out)
    assert ledger("day", "show", DAY, "--json").json[0]["sealed"] is False
    given = give(ledger, name, "S-finb")
    assert (given.code, given.json[0]["state"]) == (0, "approved"), given.err
    [day] = ledger("day", "show", DAY, "--json").json
    assert (day["sealed"], day["by"], day["second"]) == (True, "S-fina", "S-finb")
    assert give(ledger, name, "S-finb").code == 2, "it is answered"
    assert ledger("approve", "list", "--json").json == []
    [kept] = ledger("approve", "list", "--all", "--json").json
    assert (kept["state"], kept["answered_by"]) == ("approved", "S-finb")


@pytest.mark.long
def test_a_request_is_refused_with_a_reason_or_withdrawn(ledger: Cli) -> None:
    first, second = (as_(ledger, *CLOSE, *TWO).json[0]["request"] for _ in range(2))
    by = ("--password-file", "-", "--json", "--by")
    refused = as_(ledger, "approve", "refuse", first, "--because", "Box B2.", *by, "S-finb")
    assert (refused.json[0]["state"], refused.json[0]["because"]) == ("refused", "Box B2.")
    assert as_(ledger, "approve", "withdraw", second, *by, "S-finb").code == 2, "not theirs"
    withdrawn = as_(ledger, "approve", "withdraw", second, *by, "S-fina")
    assert withdrawn.json[0]["state"] == "withdrawn"
    for name in (first, second):
        assert give(ledger, name, "S-finb").code == 2


def test_a_variance_is_explained_by_two_people(ledger: Cli) -> None:
    why = ("--amount", "-2550", "--because", "One patron won.", "--property", "p", "--json")
    asked = as_(ledger, "variance", "explain", "CC-07", DAY, *why, *TWO, "--password-file", "-")
    assert asked.json[0]["act"] == "variance_explain", asked.err
    name = asked.json[0]["request"]
    [shown] = ledger("approve", "show", name, "--json").json
    assert (shown["says"]["table"], shown["says"]["amount explained"]) == ("CC-07", "-$25.50")
    assert give(ledger, name, "S-fina").code == 2
    assert give(ledger, name, "S-finb").code == 0
    told = ledger("approve", "show", name).out
    assert "-$25.50" in told, "an answered request has its amount in dollars, too"
    assert "-2550" not in told


def test_a_break_is_acknowledged_by_two_people(ledger: Cli, database: Database) -> None:
    with closing(AccessDatabase(database)) as access:
        add_user(access, "keeper", "ops")
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("UPDATE ledger.tape SET state = '{}' WHERE notification_id = 2")
    why = ("--position", "2", "--because", "Incident 12", "--password-file", "-", "--json")
    asked = as_(ledger, "acknowledge", *why, "--by", "S-fina", "--second", "S-keeper")
    assert asked.code == 0, asked.err
    [request] = asked.json
    assert (request["act"], request["about"]) == ("break_acknowledge", "edited payload at 2")
    assert ledger("verify").code == 1, "one person is not enough"
    assert give(ledger, request["request"], "S-fina").code == 2
    given = give(ledger, request["request"], "S-keeper")
    assert given.code == 0, given.err
    seen = ledger("verify")
    assert (seen.code, "Acknowledged by S-fina and S-keeper: Incident 12" in seen.err) == (0, True)


def test_an_input_is_released_from_quarantine_by_two_people(
    ledger: Cli, database: Database, tmp_path: Path
) -> None:
    with closing(AccessDatabase(database)) as access:
        add_user(access, "keeper", "ops")
    wrong = day_lines(count(60))[0] | {"id": "late-1", "time": "yesterday"}
    (tmp_path / "wrong.jsonl").write_text(json.dumps(wrong) + "\n")
    ledger("ingest", tmp_path / "wrong.jsonl")
    fixed = tmp_path / "fixed.json"
    fixed.write_text(json.dumps(day_lines(count(60))[0] | {"id": "late-1"}))
    [waiting] = ledger("quarantine", "list", "--json").json
    number = str(waiting["quarantine_id"])
    release = ("quarantine", "release", number, "--as", fixed, "--json")
    assert ledger(*release).code == 2, "nobody is named"
    alone = as_(ledger, *release, "--by", "S-fina", "--password-file", "-", "--because", "x")
    assert (alone.code, "--second" in alone.err) == (2, True)
    two = ("--by", "S-fina", "--second", "S-keeper", "--password-file", "-")
    assert as_(ledger, *release, *two).code == 2, "no reason is given"
    asked = as_(ledger, *release, *two, "--because", "The clock's text was wrong.")
    assert asked.code == 0, asked.err
    [request] = asked.json
    assert request["act"] == "quarantine_release"
    listed = ledger("approve", "list").out
    assert "Release an input from quarantine" in " ".join(listed.split())
    [shown] = ledger("approve", "show", request["request"], "--json").json
    assert (shown["says"]["id"], shown["says"]["reason"]) == (
        "late-1",
        "The clock's text was wrong.",
    )
    assert ledger("quarantine", "list", "--json").json == [waiting], "one person is not enough"
    assert give(ledger, request["request"], "S-fina").code == 2
    assert give(ledger, request["request"], "S-pit").code == 2
    assert released(database) == []
    given = give(ledger, request["request"], "S-keeper")
    assert given.code == 0, given.err
    assert ledger("quarantine", "list", "--json").json == []
    [(fact, position, by)] = released(database)
    assert (fact["quarantine"], fact["by"], fact["second"]) == (int(number), "S-fina", "S-keeper")
    [row] = ledger("quarantine", "list", "--released", "--json").json
    assert (row["released_position"], by) == (position + 1, "user:keeper")
    again = as_(ledger, *release, *two, "--because", "Once more.")
    assert (again.code, "was released before" in again.err) == (2, True)
    assert ledger("verify").code == 0


def test_the_second_person_sees_the_round_of_a_released_fact(ledger: Cli, tmp_path: Path) -> None:
    placed = fact("wager_placed", 59, position=1, wager="ante", amount=500)
    placed |= {"subject": f"CC-07/{DAY}/12"}
    ask_for_release(ledger, tmp_path, placed)
    [request] = ledger("approve", "list", "--json").json
    [shown] = ledger("approve", "show", request["request"], "--json").json
    assert shown["says"]["subject"] == f"CC-07/{DAY}/12"


def ask_for_release(cli: Cli, folder: Path, right: Line, by: Sequence[str] = TWO) -> Ran:
    """Two people are asked to release a fact whose first time was no time."""
    (folder / "wrong.jsonl").write_text(json.dumps(right | {"time": "yesterday"}) + "\n")
    cli("ingest", folder / "wrong.jsonl")
    (folder / "right.json").write_text(json.dumps(right))
    number = str(cli("quarantine", "list", "--json").json[-1]["quarantine_id"])
    why = ("--because", "Its clock.", "--password-file", "-", "--json")
    return as_(cli, "quarantine", "release", number, "--as", folder / "right.json", *by, *why)


def test_a_file_closes_no_day_in_two_names(ledger: Cli, tmp_path: Path) -> None:
    """It is in quarantine as sent, until two people who sign in release it."""
    told = {"gaming_day": DAY, "version": 1, "heads": {"CC-07": 1}, "rules": "x", "report": 1}
    people = {"digest": "0" * 64, "by": "S-finb", "second": "S-finc"}
    forged = fact("day_sealed", 59, "office", **told, **people)
    (tmp_path / "forged.jsonl").write_text(json.dumps(forged) + "\n")
    ledger("ingest", tmp_path / "forged.jsonl")
    [waiting] = ledger("quarantine", "list", "--json").json
    assert (waiting["reason"], waiting["id"]) == ("not_approved", forged["id"])
    assert ledger("day", "show", DAY, "--json").json[0]["sealed"] is False
    why = ("--because", "Of the old system.", "--password-file", "-", "--json")
    number = str(waiting["quarantine_id"])
    [request] = as_(ledger, "quarantine", "release", number, *TWO, *why).json
    assert give(ledger, request["request"], "S-finb").code == 0
    [day] = ledger("day", "show", DAY, "--json").json
    assert (day["sealed"], day["by"]) == (True, "S-finb")


def test_a_feed_sent_again_once_there_are_users_is_on_record(
    cli: Cli, database: Database, tmp_path: Path
) -> None:
    """What was recorded before needs no approval; another content of it is an equivocation."""
    explained = explanation("CC-07")
    feed = tmp_path / "feed.jsonl"
    feed.write_text(json.dumps(explained) + "\n")
    assert verdicts(cli, feed) == ["appended"]
    with closing(AccessDatabase(database)) as access:
        add_user(access, "fina", "finance")
    other = explained | {"data": explained["data"] | {"amount": -1}}
    again = (explained, other, explanation("CC-08"))
    feed.write_text("".join(json.dumps(each) + "\n" for each in again))
    assert verdicts(cli, feed) == ["duplicate", "equivocation", "quarantined"]
    assert cli("quarantine", "list", "--json").json[-1]["reason"] == "not_approved"


def test_one_persons_ingest_is_no_way_around_the_release_by_two(
    ledger: Cli, tmp_path: Path
) -> None:
    """A correction in two invented names, and a fact that says two people released it."""
    right = day_lines(count(60))[0] | {"id": "late-1"}
    of = {"source": right["source"], "id": right["id"]}
    people = {"because": "x", "by": "S-finb", "second": "S-finc"}
    corrected = fact("fact_corrected", 59, "office", of=of, data=right["data"], **people)
    feed = tmp_path / "corrected.json"
    for each in (corrected, right | {"quarantineid": "1"}):
        feed.write_text(json.dumps(each) + "\n")
        assert verdicts(ledger, feed) == ["quarantined"]
        assert ledger("quarantine", "list", "--json").json[-1]["reason"] == "not_approved"
    feed.write_text(json.dumps(right | {"id": "late-2"}) + "\n")
    assert verdicts(ledger, feed) == ["appended"], "the control: it says nothing of the kind"
    number = str(ledger("quarantine", "list", "--json").json[0]["quarantine_id"])
    why = ("--because", "It is right.", "--password-file", "-", "--json")
    [request] = as_(ledger, "quarantine", "release", number, *TWO, *why).json
    assert give(ledger, request["request"], "S-finb").code == 0


def test_nobody_brings_alone_what_waits_in_quarantine(ledger: Cli, tmp_path: Path) -> None:
    """The right fact has the source and id of the wrong one. The control has another id."""
    right = day_lines(count(60))[0] | {"id": "late-1"}
    feed = tmp_path / "feed.jsonl"
    feed.write_text(json.dumps(right | {"time": "yesterday"}) + "\n")
    assert verdicts(ledger, feed) == ["quarantined"]
    feed.write_text("".join(json.dumps(right | {"id": of}) + "\n" for of in ("late-1", "late-2")))
    assert verdicts(ledger, feed) == ["quarantined", "appended"]
    waiting = ledger("quarantine", "list", "--json").json[-1]
    assert (waiting["reason"], waiting["where"]) == ("not_approved", "$.id")
    why = ("--because", "Its clock.", "--password-file", "-", "--json")
    number = str(waiting["quarantine_id"])
    [request] = as_(ledger, "quarantine", "release", number, *TWO, *why).json
    assert give(ledger, request["request"], "S-finb").code == 0
    assert verdicts(ledger, feed) == ["duplicate", "duplicate"]


def test_without_users_a_file_may_correct(cli: Cli, tmp_path: Path) -> None:
    """The control of the test before."""
    of = {"source": "/p/CC-07/shoe", "id": "1"}
    feed = tmp_path / "corrected.json"
    told = fact("fact_corrected", 59, "office", of=of, because="x", by="F-1", second="F-2")
    feed.write_text(json.dumps(told) + "\n")
    assert verdicts(cli, feed) == ["appended"]
    right = day_lines(count(60))[0] | {"id": "late-1"}
    for each, verdict in ((right | {"time": "yesterday"}, "quarantined"), (right, "appended")):
        feed.write_text(json.dumps(each) + "\n")
        assert verdicts(cli, feed) == [verdict]


def verdicts(cli: Cli, feed: Path) -> list[str]:
    told = cli("ingest", feed, "--json").json
    return [each["verdict"] for each in told if "verdict" in each]


def explanation(table: str) -> Line:
    """A variance's explanation in the names of two people."""
    what = {"gaming_day": DAY, "amount": -2550, "because": "x", "by": "S-fina", "second": "S-finb"}
    told = fact("variance_explained", 59, "office", table=table, **what)
    return told | {"id": f"{told['id']}-{table}"}


def test_nobody_asks_for_a_release_that_the_record_cannot_hold(ledger: Cli, tmp_path: Path) -> None:
    """The same data with other attributes is another content of one source and id."""
    right = day_lines()[0] | {"id": "late-1"}
    (tmp_path / "kept.jsonl").write_text(json.dumps(right) + "\n")
    ledger("ingest", tmp_path / "kept.jsonl")
    taken = ask_for_release(ledger, tmp_path, right)
    assert (taken.code, "on record with other bytes" in taken.err) == (2, True), taken.out
    free = ask_for_release(ledger, tmp_path, right | {"id": "late-2"})
    assert free.code == 0, "the control"


def test_a_large_corrected_fact_is_released_by_two_people(
    ledger: Cli, database: Database, tmp_path: Path
) -> None:
    """A text of a fact has 4,000 characters; a request holds more, up to what one fact holds."""
    right = day_lines()[0] | {"id": "late-1"}
    right["data"] = right["data"] | {"note": 'a "quoted" \N{EURO SIGN} ' * 1_000}
    asked = ask_for_release(ledger, tmp_path, right)
    assert asked.code == 0, asked.err
    assert give(ledger, asked.json[0]["request"], "S-finb").code == 0
    [row] = ledger("quarantine", "list", "--released", "--json").json
    with PostgresTape(database) as tape:
        [kept] = tape.read(row["released_position"] - 1, 1)
    assert json.loads(kept.data) == right["data"]
    larger = right | {"id": "late-2", "data": right["data"] | {"note": "x" * CORRECTED_OCTETS_MAX}}
    refused = ask_for_release(ledger, tmp_path, larger)
    assert (refused.code, "of at most 45,056" in refused.err) == (2, True), refused.err


def test_a_release_never_forges_an_act_of_people(
    ledger: Cli, database: Database, tmp_path: Path
) -> None:
    """Keepers of the record release no closing, and nobody an approval without its act."""
    with closing(AccessDatabase(database)) as access:
        for name in ("opsa", "opsb"):
            add_user(access, name, "ops")
    ops = ("--by", "S-opsa", "--second", "S-opsb")
    explained = explanation("CC-07")
    approved = fact("approval_given", 59, "office", request="1", digest="0" * 64, by="S", user="s")
    enrolled = fact("key_revoked", 59, "office", key="0" * 16, because="x", by="S-fina")
    refused = ask_for_release(ledger, tmp_path, explained, ops)
    assert (refused.code, "may approve it" in refused.err) == (2, True), refused.err
    mixed = ask_for_release(ledger, tmp_path, explained, ("--by", "S-opsa", "--second", "S-fina"))
    assert (mixed.code, "has no role" in mixed.err) == (2, True), mixed.err
    for only_a_command in (approved, enrolled):
        refused = ask_for_release(ledger, tmp_path, only_a_command)
        assert (refused.code, "Only a command" in refused.err) == (2, True), refused.err
    terms = {"quarantine": "1", "because": "x", "corrected": json.dumps(explained)}
    with PostgresTape(database) as tape, ApprovalDecisions(database, tape, tmp_path) as desk:
        opsa = User("opsa", "S-opsa", frozenset(("ops",)))
        with pytest.raises(Refused, match="is not released so"):
            desk.ask("quarantine_release", "p", terms, opsa)
    assert ledger("approve", "list", "--json").json == []
    asked = ask_for_release(ledger, tmp_path, explained)
    assert (asked.code, asked.json[0]["act"]) == (0, "closing_release"), asked.err
    assert give(ledger, asked.json[0]["request"], "S-opsb").code == 2
    assert give(ledger, asked.json[0]["request"], "S-finb").code == 0


def test_a_release_is_approved_by_nobody_once_the_input_was_released(
    ledger: Cli, database: Database, tmp_path: Path
) -> None:
    """Approval and release are one transaction: neither is left without the other."""
    wrong = day_lines(count(60))[0] | {"id": "late-1", "time": "yesterday"}
    (tmp_path / "wrong.jsonl").write_text(json.dumps(wrong) + "\n")
    ledger("ingest", tmp_path / "wrong.jsonl")
    right = json.dumps(day_lines(count(60))[0] | {"id": "late-1"})
    (tmp_path / "fixed.json").write_text(right)
    why = ("--because", "Its clock.", "--password-file", "-", "--json")
    release = ("quarantine", "release", "1", "--as", tmp_path / "fixed.json", *TWO, *why)
    first, second = (as_(ledger, *release).json[0]["request"] for _ in range(2))
    with PostgresTape(database) as tape, ApprovalDecisions(database, tape, tmp_path) as desk:
        shown = desk.shown("p", first)
        assert shown.made
        fact = shown.made.release
        assert fact
        with closing(AccessDatabase(database)) as access:
            accounts = Users(access).list()
        finb = User("finb", "S-finb", frozenset(("finance",)))
        tape.release(1, fact.fact)
        with pytest.raises(Refused, match="released before"):
            desk.give(shown.case, finb, shown.case.request.digest, accounts)
        answer, made = shown.case.give(finb, now_us()), shown.made
        with pytest.raises(Refused, match="has just changed"):
            desk.decide_together((shown.case, answer), (made.case, made.body), release=fact)
    assert released(database) == []
    states = {each["request"]: each["state"] for each in ledger("approve", "list", "--json").json}
    assert states == {first: "waiting", second: "waiting"}
    [shown_again] = ledger("approve", "show", second, "--json").json
    assert "was released before" in shown_again["why_not"]


def released(database: Database) -> list[tuple[dict[str, Any], int, str | None]]:
    """The facts that release inputs, with position and sender."""
    with PostgresTape(database) as tape:
        rows = [row for row in tape.read(0, 10_000) if row.type == "quarantine_released.v1"]
        return [(json.loads(row.data), row.position, tape.sender_of(row.position)) for row in rows]


def test_a_command_asks_for_nothing_in_somebody_elses_name(ledger: Cli) -> None:
    wrong = as_(ledger, *CLOSE, *TWO, password="somebody else's")  # noqa: S106 - wrong on purpose
    assert (wrong.code, "password or code of fina" in wrong.err) == (2, True)
    nobody = as_(ledger, *CLOSE, "--by", "S-fina", "--second", "S-pit")
    assert (nobody.code, "may approve it" in nobody.err) == (2, True)
    untyped = ledger("day", "close", DAY, *TWO)
    assert (untyped.code, "no terminal" in untyped.err) == (2, True)
    assert ledger("approve", "list", "--json").json == []
    assert as_(ledger, *CLOSE, *TWO).code == 0, "the control"


def test_without_users_nothing_changes(cli: Cli, tmp_path: Path) -> None:
    """The control of the others: the same command closes the day at once."""
    feed = tmp_path / "feed.jsonl"
    feed.write_text("".join(json.dumps(each) + "\n" for each in day_lines(count(59))))
    cli("ingest", feed)
    closed = cli("day", "close", DAY, *TWO, "--json")
    assert (closed.code, closed.json[0]["sealed"]) == (0, True), closed.err


def test_without_users_a_release_keeps_who_is_named_for_it(
    cli: Cli, database: Database, tmp_path: Path
) -> None:
    right = [each | {"id": f"late-{number}"} for number, each in enumerate(day_lines()[:2])]
    named = ask_for_release(cli, tmp_path, right[0])
    assert (named.code, named.json[0]["verdict"]) == (0, "appended"), named.err
    [(told, position, _)] = released(database)
    assert (told["by"], told["second"], told["because"]) == ("S-fina", "S-finb", "Its clock.")
    assert named.json[0]["position"] == position + 1
    half = ask_for_release(cli, tmp_path, right[1], ("--by", "S-fina"))
    assert (half.code, "Two people are needed" in half.err) == (2, True)
    assert cli("quarantine", "release", "2", "--as", tmp_path / "right.json").code == 0
    assert len(released(database)) == 1, "nobody was named for the second"


def test_approving_needs_users(cli: Cli) -> None:
    none = give(cli, "06522a1b4c3d80-9f01ab", "S-finb")
    assert (none.code, "no request" in none.err) == (2, True)
