"""Control samples: drawn by a seed, reviewed blind, and counted with an exact interval."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from consumers.registry import VIEWS
from consumers.review import queue
from consumers.review import samples as sampled
from consumers.rulings import rulings
from consumers.runtime.lifecycle import catch_up
from infra.postgres.view_tables import tape_source
from ledger.errors import Usage
from replay.review import desk, samples
from tests.scenes.view_feeds import day, viewed

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.values import RoundId
    from tests.fixtures.cli import Cli
    from tests.fixtures.web import Browser, Site

ITEM = re.compile(r'<li[^>]*>\s*<a class="item.*?</li>', re.DOTALL)
BLIND = "Blind review</span>"


def followed(database: Database) -> None:
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)


def asked(database: Database, seed: str, many: int = 5) -> samples.Draw:
    [first, *_] = rulings.findings(database)
    property_, _, rest = first.round.partition(":")
    return samples.Draw(property_, rest.split("/")[1], None, many, seed)


def test_a_seed_draws_the_same_rounds_again_and_each_round_once(
    database: Database, tape: PostgresTape
) -> None:
    viewed(database, 10, tables=2, planted=2)
    found = {each.round for each in rulings.findings(database, limit=1000)}
    one = asked(database, "7")
    clean, among = samples.drawn(database, one)
    assert not {str(each) for each in clean} & found
    assert {str(each) for each in among} <= found
    assert 0 < len(among) <= len(clean) == 5
    drawn = samples.draw(database, tape, one, "S-9")
    assert drawn.rounds == sorted([*clean, *among])
    followed(database)
    assert samples.drawn(database, one) == (clean, among), "the same again"
    other = samples.drawn(database, one._replace(seed="8"))
    assert not {*other[0], *other[1]} & {*clean, *among}, "a round is in one sample"
    with pytest.raises(Usage):
        samples.draw(database, tape, one._replace(gaming_day="1999-01-01"), "S-9")
    with pytest.raises(Usage):
        samples.draw(database, tape, one._replace(many=0), "S-9")


def plain(text: str) -> str:
    """A text without names, numbers and times, which differ between any two rounds."""
    text = unquote(text).replace(' aria-current="true"', "")  # the first is chosen
    return re.sub(r"[A-Z]{2,3}-\d+|F-[0-9a-f]+|\d+", "#", text)


def blind_items(who: Browser, address: str = "/review") -> dict[str, str]:
    """The items under blind review, by name."""
    items = [each for each in ITEM.findall(who.get(address).text) if BLIND in each]
    return {re.findall(r'id="(F-[0-9a-f]{10})"', each)[0]: each for each in items}


@pytest.mark.long
def test_nothing_tells_a_round_with_a_finding_from_one_without_until_it_is_closed(
    staffed: Site,
) -> None:
    staffed.take_in(day(10, planted=2))
    database, who = staffed.database, staffed.browser("surveillance")
    before = queue.counts(database, "x").open
    one = asked(database, "7")
    clean, among = samples.drawn(database, one)
    secrets = {each.says for round_ in among for each in queue.of_round(database, round_)}
    assert secrets
    assert any(each in who.get("/review").text for each in secrets), "the control"
    samples.draw(database, staffed.ports.tape, one, "S-9")
    items = blind_items(who)
    assert len(items) == len(clean) + len(among)
    assert list(items) == sorted(items), "their order says nothing"
    assert len({plain(each) for each in items.values()}) == 1
    hidden = sum(len(queue.of_round(database, each)) for each in among)
    assert f"{before - hidden + len(items)} open" in who.get("/review").text
    pages = ["/", "/find?limit=200", "/find?finding=any&limit=200", "/live", "/statistics"]
    pages += ["/rounds.csv?finding=any", "/review/samples", "/review?state=mine"]
    pages += [f"/review?at={name}" for name in items]
    pages += [path_of(round_) for round_ in (*clean, *among)]
    for page in pages:
        text = who.get(page).text
        assert not [each for each in secrets if each in text], page
    chosen = [who.get(f"/review?at={name}").text.split('id="chosen"')[1] for name in items]
    assert len({plain(each) for each in chosen}) == 1
    watched = {plain(who.get(path_of(each)).text).count("#") > 0 for each in (*clean, *among)}
    assert watched == {True}
    footage = [who.get(f"/review/footage/{name}") for name in items]
    assert {each.status_code for each in footage} == {200}
    assert len({tuple(each.json()) for each in footage}) == 1


def path_of(round_: RoundId) -> str:
    return f"/rounds/{round_.property}/{round_.subject}"


@pytest.mark.long
def test_the_result_says_what_the_ledger_misses(staffed: Site) -> None:
    staffed.take_in(day(10, planted=2))
    database, who = staffed.database, staffed.browser("surveillance")
    form = {"csrf": who.csrf, "property": "hollywood", "gaming_day": "1999-01-01", "rounds": "4"}
    refused = who.post("/review/samples", data=form)
    assert (refused.status_code, "without a finding is left" in refused.text) == (422, True)
    form["gaming_day"] = asked(database, "7").gaming_day
    assert who.post("/review/samples", data=form).status_code == 303
    items = blind_items(who)
    wrong, *others = sorted(items)
    sampled = {each.queued.name: each for each in samples.samples.open_rounds(database)}
    assert "0 of" in who.get("/review/samples").text
    for name in items:
        outcome = "wrong" if name == wrong or not sampled[name].control else "right"
        answer = who.post(
            "/review",
            data={
                "csrf": who.csrf, "step": "close", "name": name, "outcome": outcome,
                "because": "A stack was not paid.",
            },
        )  # fmt: skip
        assert answer.status_code == 303, answer.text
    assert not blind_items(who)
    [result] = samples.results(database)
    missed = int(sampled[wrong].control)
    assert (result.watched, result.missed) == (4, missed)
    assert result.among == result.seen == len(items) - 4
    ends = ("6.3", "805.9") if missed else ("0.0", "602.4")  # by a table of the intervals
    assert (result.low, result.high) == ends
    assert result.says in who.get("/review/samples").text
    closed = who.get("/review?state=closed").text
    assert "The ledger found: nothing" in closed
    found = [each for each in sampled.values() if not each.control]
    its = queue.of_round(database, found[0].round)
    assert its[0].name in {*re.findall(r'id="(F-[0-9a-f]{10})"', who.get("/review").text)}
    assert others


def test_a_round_of_a_sample_is_closed_with_a_reason_only_if_something_is_wrong() -> None:
    assert samples.OUTCOMES.keys() < desk.OUTCOMES.keys()
    assert samples.OUTCOMES.keys() == {"right", "wrong", "not_visible"}


@pytest.mark.long
def test_a_round_of_a_sample_is_closed_by_command_and_a_list_can_be_blind(
    cli: Cli, database: Database, tape: PostgresTape
) -> None:
    viewed(database, 10, tables=2, planted=2)
    drawn = {
        each.subject for each in samples.draw(database, tape, asked(database, "7"), "S-9").rounds
    }
    listed = cli("review", "list", "--json").json
    assert {each["round"] for each in listed} & drawn, "the control"
    assert cli("review", "list", "--blind").code == 2, "nobody is named"
    blind = cli("review", "list", "--blind", "--by", "S-1", "--json").json
    waiting = [each for each in blind if each["code"] == "control_sample"]
    assert {each["round"] for each in waiting} == drawn
    assert not {each["round"] for each in blind if each not in waiting} & drawn
    assert {each["says"] for each in waiting} == {sampled.SAYS}
    done = cli("review", "close", waiting[0]["name"], "--outcome", "right", "--by", "S-1", "--json")
    assert (done.code, done.json[0]["name"]) == (0, waiting[0]["name"])
    followed(database)
    assert len(sampled.open_rounds(database)) == len(drawn) - 1
