"""Devices show keys where keys are set up: which facts each may send, and who is kept out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest

from infra.access.keys import Keys
from ledger.errors import NotFound, Usage
from replay.web.access.device_keys import speaks_for
from tests.fixtures.cli import Cli, lines
from tests.fixtures.http import BATCH, STRUCTURED, TRUST, batch, binary
from tests.fixtures.web import ACTOR
from tests.until import until

if TYPE_CHECKING:
    from tests.fixtures.web import Site


def post(site: Site, content: bytes, key: str | None, headers: dict[str, str]) -> httpx.Response:
    shown = {} if key is None else {"Authorization": f"Bearer {key}"}
    return httpx.post(
        f"{site.url}/v1/facts", content=content, headers=headers | shown, timeout=120, verify=TRUST
    )


def kept(site: Site) -> int:
    with site.database.connect("ledger_reader") as connection:
        row = connection.execute("SELECT received FROM ledger.record").fetchone()
    assert row
    return int(row[0])


def test_without_any_key_none_is_asked_for(site: Site) -> None:
    assert post(site, lines(1)[0], None, STRUCTURED).json()["verdict"] == "appended"


def test_with_a_key_set_up_only_who_shows_it_is_kept(site: Site) -> None:
    keys = Keys(site.ports.access)
    key = keys.add("/hollywood/CC-07/shoe", ACTOR)
    other = keys.add("/hollywood/CC-08", ACTOR)
    fact = lines(1)[0]
    for wrong in (None, "x", "rlk_000000000000_" + "A" * 43, key[:-1], f"{key}x", key.upper()):
        refused = post(site, fact, wrong, STRUCTURED)
        assert refused.status_code == 401, wrong
        assert refused.json()["kept"] is False
        assert refused.headers["WWW-Authenticate"].startswith("Bearer")
    assert post(site, fact, other, STRUCTURED).status_code == 403
    assert kept(site) == 0
    assert post(site, fact, key, STRUCTURED).json()["verdict"] == "appended"
    assert post(site, *binary_with(fact, key)).json()["verdict"] == "duplicate"


def binary_with(fact: bytes, key: str) -> tuple[bytes, str, dict[str, str]]:
    body, headers = binary(fact)
    return body, key, headers


def test_of_a_batch_with_one_strangers_fact_nothing_is_kept(site: Site) -> None:
    key = Keys(site.ports.access).add("/hollywood/CC-07", ACTOR)
    mine, others = lines(3), lines(1, place="CC-08")
    assert post(site, batch([*mine, *others]), key, BATCH).status_code == 403
    assert kept(site) == 0
    assert post(site, batch(mine), key, BATCH).status_code == 200


def test_what_is_malformed_is_kept_aside_for_who_shows_a_key_only(site: Site) -> None:
    key = Keys(site.ports.access).add("/hollywood/CC-07", ACTOR)
    assert post(site, b"no fact", None, STRUCTURED).status_code == 401
    assert kept(site) == 0
    assert post(site, b"no fact", key, STRUCTURED).json()["verdict"] == "quarantined"
    malformed = lines(1, place="CC-08")[0].replace(b'"specversion":"1.0"', b'"specversion":"9"')
    assert post(site, malformed, key, STRUCTURED).status_code in (200, 403)


@pytest.mark.long
def test_a_revoked_key_opens_nothing_and_the_door_stays_closed(site: Site) -> None:
    keys = Keys(site.ports.access)
    key = keys.add("/hollywood", ACTOR)
    assert post(site, lines(1)[0], key, STRUCTURED).status_code == 200
    keys.revoke(keys.list()[0].key_id, ACTOR)
    until(lambda: post(site, lines(1)[0], key, STRUCTURED).status_code == 401)
    assert post(site, lines(1)[0], key, STRUCTURED).status_code == 401
    assert post(site, lines(1)[0], None, STRUCTURED).status_code == 401
    with pytest.raises(NotFound):
        keys.revoke(keys.list()[0].key_id, ACTOR)


def test_a_key_is_kept_as_a_hash_and_what_is_done_with_it_written_down(site: Site) -> None:
    keys = Keys(site.ports.access)
    key = keys.add("/hollywood/CC-07/shoe", ACTOR)
    secret = key.split("_", 2)[2]  # which may hold one, too
    with site.database.connect("ledger_owner") as connection:
        rows = connection.execute("SELECT t::text FROM access.device_keys t").fetchall()
        events = connection.execute("SELECT t::text FROM access.events t").fetchall()
    assert secret not in str(rows + events)
    assert [each.what for each in site.ports.access.events()] == ["key_added"]


@pytest.mark.parametrize("source", ["hollywood", "/", "/a/b/c/d", "/a//b", "/a/%", "/a/b\n", ""])
def test_what_is_no_source_gets_no_key(site: Site, source: str) -> None:
    with pytest.raises(Usage):
        Keys(site.ports.access).add(source, ACTOR)


def test_a_key_speaks_for_whole_parts_of_a_source() -> None:
    assert speaks_for("/h/CC-07", "/h/CC-07/shoe")
    assert speaks_for("/h", "/h/CC-07/shoe")
    assert speaks_for("/h/CC-07/shoe", "/h/CC-07/shoe")
    assert not speaks_for("/h/CC-0", "/h/CC-07/shoe")
    assert not speaks_for("/h/CC-07/sho", "/h/CC-07/shoe")
    assert not speaks_for("/h/CC-07/shoe", "/h/CC-07")


@pytest.mark.long
def test_commands_make_list_and_revoke_keys_and_let_other_addresses_be_served(cli: Cli) -> None:
    refused = cli("serve", "--host", "192.0.2.1")
    assert refused.code == 2
    assert "Without device keys" in refused.err
    key = cli("keys", "add", "/hollywood/CC-07/shoe", "--json").json[0]["key"]
    listed = cli("keys", "list", "--json").json
    assert [each["source"] for each in listed] == ["/hollywood/CC-07/shoe"]
    assert key.split("_", 2)[2] not in cli("keys", "list").out
    allowed = cli("serve", "--host", "192.0.2.1")
    assert allowed.code == 3, "no machine here has that address, but that is all that is wrong"
    assert "cannot listen on the port" in allowed.err
    assert cli("keys", "revoke", listed[0]["key"]).code == 0
    assert cli("keys", "list", "--json").json[0]["revoked"]


@pytest.mark.long
def test_without_a_key_no_proxy_lets_others_send_facts(cli: Cli) -> None:
    """It listens on this machine alone, and a proxy before it is reached by everybody."""
    proxied = Cli(cli.environ | {"ROUND_LEDGER_PUBLIC_URL": "https://ledger.example"})
    assert sent_to(proxied) is None, "nobody is served"
    assert "Without device keys" in proxied("serve").err
    assert sent_to(Cli(cli.environ | {"ROUND_LEDGER_PUBLIC_URL": "http://localhost"})) == 400
    assert cli("keys", "add", "/hollywood/CC-07/shoe").code == 0
    assert sent_to(proxied) == 401, "as a proxy passes it on"


def sent_to(served: Cli) -> int | None:
    """What a fact is answered that shows no key, under a public name; None: none is served."""
    with served.start("serve", "--port", "0") as process:
        assert process.stderr
        try:
            told = next((line for line in process.stderr if b'"serving"' in line), None)
            if told is None:
                return None
            url = f"http://127.0.0.1:{json.loads(told)['port']}/v1/facts"
            named = STRUCTURED | {"Host": "ledger.example"}
            return httpx.post(url, content=lines(1)[0], headers=named, timeout=120).status_code
        finally:
            process.terminate()
            process.communicate(timeout=120)


@pytest.mark.long
def test_commands_make_and_change_users_without_a_password_in_sight(cli: Cli) -> None:
    word = b"correct horse battery"
    add = ("users", "add", "maria", "--employee", "S-2001", "--role", "surveillance")
    assert cli(*add).code == 2, "nobody is there to type a password"
    assert cli(*add, "--password-file", "-", stdin=b"short\n").code == 2
    made = cli(*add, "--password-file", "-", stdin=word + b"\n")
    assert made.code == 0
    assert cli(*add, "--password-file", "-", stdin=word).code == 2
    assert cli("users", "roles", "maria", "--role", "ops", "--role", "auditor").code == 0
    assert cli("users", "roles", "maria", "--role", "admin").code == 2
    assert cli("users", "password", "maria", "--password-file", "-", stdin=word * 2).code == 0
    assert cli("users", "disable", "maria").code == 0
    listed = cli("users", "list", "--json").json[0]
    assert (listed["name"], listed["employee"]) == ("maria", "S-2001")
    assert listed["roles"] == ["auditor", "ops"]
    assert listed["disabled"]
    told = [each["what"] for each in reversed(cli("users", "log", "--json").json)]
    assert told == ["user_added", "roles_changed", "password_changed", "user_disabled"]
    everything = cli("users", "list").out + cli("users", "log").out + made.err
    assert word.decode() not in everything
    assert cli("users", "disable", "nobody").code == 2


@pytest.mark.long
def test_served_for_the_first_time_it_tells_how_to_make_a_user(cli: Cli) -> None:
    with cli.start("serve", "--port", "0") as process:
        assert process.stdout
        assert process.stderr
        said = [process.stdout.readline().decode() for _ in range(3)]
        url = said[2].strip()
        assert "/setup?link=" in url
        assert httpx.get(url, headers={"Accept": "text/html"}).status_code == 200
        assert httpx.get(url[:-1], headers={"Accept": "text/html"}).status_code == 403
        process.terminate()
        assert url.rpartition("=")[2] not in process.stderr.read().decode()
        process.wait(120)
