"""Behind a trusted proxy each browser is known by its own address, and by none that it made up."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from starlette.requests import Request
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from infra.access.connections import NOW
from infra.access.tries import NAMES_MAX, client_of
from infra.postgres.connection import Database
from infra.settings import load
from ledger.errors import Usage
from replay.web.access import authentication
from tests.fixtures.cli import Cli
from tests.fixtures.postgres import copy_database, new_name, url_of
from tests.fixtures.web import Browser, opened_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx
    from starlette.types import Receive, Scope, Send

    from tests.fixtures.web import Site

ONE, OTHER = "198.51.100.7", "2001:db8::8"
PROXY = "127.0.0.1"


@pytest.fixture
def proxied(postgres_url: str, web_template: str, tmp_path: Path) -> Iterator[Site]:
    """The pages of `staffed` as they are served behind a proxy on this machine."""
    name = new_name()
    copy_database(postgres_url, name, template=web_template)
    url = url_of(postgres_url, name)
    with opened_site(Database(url, url), tmp_path, proxies=["127.0.0.0/8"]) as opened:
        yield opened


def worn_out(site: Site, address: str) -> None:
    """As after thirty wrong tries of as many names from an address."""
    with site.database.connect("ledger_owner") as connection:
        connection.execute(
            f"INSERT INTO access.tries SELECT {NOW}, 'nobody-' || n, %s"  # noqa: S608 - as it counts
            " FROM generate_series(1, %s) n".encode(),
            (address, NAMES_MAX),
        )


def signs_in(site: Site, says: str) -> httpx.Response:
    """The user `ops` signs in; the proxy reports this `X-Forwarded-For`."""
    browser = site.browser()
    browser.headers["X-Forwarded-For"] = says
    return browser.sign_in("ops")


def test_one_browsers_wrong_tries_keep_no_other_out(proxied: Site) -> None:
    worn_out(proxied, ONE)
    assert signs_in(proxied, ONE).status_code == 429
    assert signs_in(proxied, f"{OTHER}, {ONE}").status_code == 429, "made up, but for the last"
    assert signs_in(proxied, OTHER).status_code == 303
    signed_in = proxied.ports.access.events(1)[0]
    assert (signed_in.what, signed_in.address) == ("signed_in", OTHER)


def test_a_browser_with_a_network_of_ipv6_is_one_client(proxied: Site) -> None:
    worn_out(proxied, "2001:db8::/64")
    assert signs_in(proxied, OTHER).status_code == 429
    assert signs_in(proxied, "2001:db8:0:1::8").status_code == 303
    tried = "SELECT DISTINCT address FROM access.tries WHERE name = 'ops'"
    with proxied.database.connect("ledger_owner") as connection:
        assert connection.execute(tried).fetchall() == [("2001:db8::/64",)]


@pytest.mark.parametrize(
    ("address", "client"),
    [
        (ONE, ONE),
        ("2001:db8::8", "2001:db8::/64"),
        ("2001:db8:0:0:ffff:ffff:ffff:ffff", "2001:db8::/64"),
        ("2001:db8:0:1::8", "2001:db8:0:1::/64"),
        (f"::ffff:{ONE}", ONE),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
    ],
)
def test_a_client_is_an_address_of_ipv4_or_a_network_of_ipv6(address: str, client: str) -> None:
    assert client_of(address) == client


def test_where_no_proxy_is_set_none_is_believed(staffed: Site) -> None:
    worn_out(staffed, ONE)
    assert signs_in(staffed, ONE).status_code == 303
    assert staffed.ports.access.events(1)[0].address == PROXY


@pytest.mark.long
def test_a_public_address_says_that_a_proxy_stands_before_it(cli: Cli) -> None:
    for public, seen in (("http://localhost", ONE), ("", PROXY)):
        served = Cli(cli.environ | {"ROUND_LEDGER_PUBLIC_URL": public})
        with served.start("serve", "--port", "0") as process:
            assert process.stderr
            told = next(line for line in process.stderr if b'"serving"' in line)
            try:
                with Browser(f"http://127.0.0.1:{json.loads(told)['port']}") as browser:
                    browser.headers["X-Forwarded-For"] = ONE
                    assert browser.sign_in("nobody").status_code == 401
            finally:
                process.terminate()
                process.communicate(timeout=120)
        assert cli("users", "log", "--json").json[0]["address"] == seen


async def asked(peer: str, *says: str, proxies: str | None) -> str:
    """The address that a request gets: from this peer, with these `X-Forwarded-For` lines."""
    seen = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        del receive, send
        seen.append(authentication.address(Request(scope)))

    given = {"ROUND_LEDGER_PUBLIC_URL": "https://ledger.example"}
    if proxies is not None:
        given["ROUND_LEDGER_TRUSTED_PROXIES"] = proxies
    trusted = load(given).trusted_proxies
    scope = {
        "type": "http",
        "client": (peer, 50_000),
        "headers": [(b"x-forwarded-for", each.encode()) for each in says],
    }
    await ProxyHeadersMiddleware(app, trusted_hosts=[*trusted])(scope, None, None)  # type: ignore[arg-type] # nothing is read or sent
    return seen[0]


def address(peer: str, *says: str, proxies: str | None = None) -> str:
    return asyncio.run(asked(peer, *says, proxies=proxies))


@pytest.mark.parametrize("stranger", ["192.0.2.9", "2001:db8::9", "10.0.0.1"])
def test_a_stranger_cannot_choose_an_address(stranger: str) -> None:
    assert address(stranger, ONE) == stranger
    assert address(stranger, "127.0.0.1") == stranger
    assert address(PROXY, ONE, proxies="192.0.2.1") == PROXY, "this machine is not among them"


@pytest.mark.parametrize("proxy", [PROXY, "::1"])
def test_the_last_address_of_a_proxys_list_counts(proxy: str) -> None:
    assert address(proxy, ONE) == ONE
    assert address(proxy, f"{ONE}, {OTHER}") == OTHER
    assert address(proxy, ONE, OTHER) == OTHER, "in two lines of the head"
    for nothing in ((), ("",), (f"{ONE},",)):
        assert address(proxy, *nothing) == proxy, nothing
    for no_address in ("unknown", "x" * 9_000, f"{ONE}\0"):
        assert address(proxy, no_address) == "unknown"


def test_proxies_on_other_machines_are_believed_one_after_another() -> None:
    outer, inner = "192.0.2.10", "10.0.7.1"
    trusted = f"{outer}, 10.0.7.0/24"
    assert address(inner, ONE, proxies=trusted) == ONE
    assert address(inner, f"{OTHER}, {ONE}, {outer}", proxies=trusted) == ONE
    assert address(inner, f"{ONE}:4711", proxies=trusted) == ONE
    assert address("10.0.8.1", ONE, proxies=trusted) == "10.0.8.1"


@pytest.mark.parametrize("text", ["*", "proxy.example", "10.0.0.0/40", "10.0.0.1,,10.0.0.2"])
def test_a_proxy_that_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(Usage, match="not an address or network"):
        load({"ROUND_LEDGER_TRUSTED_PROXIES": text})


def test_wrong_tries_from_elsewhere_lock_no_colleague_out(proxied: Site) -> None:
    with proxied.database.connect("ledger_owner") as connection:
        connection.execute(
            f"INSERT INTO access.tries SELECT {NOW}, 'ops', '203.0.113.' || n % 200"  # noqa: S608 - as it counts
            " FROM generate_series(1, 800) n".encode(),
        )
    assert signs_in(proxied, ONE).status_code == 303
    assert signs_in(proxied, "203.0.113.1").status_code == 303, (
        "four earlier tries at that address are few enough"
    )
    with proxied.database.connect("ledger_owner") as connection:
        connection.execute(
            f"INSERT INTO access.tries SELECT {NOW}, 'ops', %s FROM generate_series(1, 5)".encode(),  # noqa: S608 - as it counts
            (client_of(OTHER),),
        )
    assert signs_in(proxied, OTHER).status_code == 429
    assert signs_in(proxied, ONE).status_code == 303


def test_one_name_tried_again_and_again_locks_no_other_out_at_its_address(proxied: Site) -> None:
    with proxied.database.connect("ledger_owner") as connection:
        connection.execute(
            f"INSERT INTO access.tries SELECT {NOW}, 'finance', %s FROM generate_series(1, 500)".encode(),  # noqa: E501, S608 - as it counts
            (ONE,),
        )
    assert signs_in(proxied, ONE).status_code == 303
