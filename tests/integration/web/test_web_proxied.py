"""Behind a proxy each browser is known by its own address, and nobody by one they made up."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from starlette.requests import Request

from infra.access.connections import NOW
from infra.access.sessions import TRIES_OF_ADDRESS_MAX
from infra.postgres.connection import Database
from replay.web.access import authentication
from replay.web.ports import Address
from tests.fixtures.cli import Cli
from tests.fixtures.postgres import copy_database, new_name, url_of
from tests.fixtures.web import Browser, opened_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx

    from tests.fixtures.web import Site

ONE, OTHER = "198.51.100.7", "2001:db8::8"
PROXY = "127.0.0.1"


@pytest.fixture
def proxied(postgres_url: str, web_template: str, tmp_path: Path) -> Iterator[Site]:
    """The pages of `staffed` as they are served behind a proxy on this machine."""
    name = new_name()
    copy_database(postgres_url, name, template=web_template)
    url = url_of(postgres_url, name)
    with opened_site(Database(url, url), tmp_path, proxied=True) as opened:
        yield opened


def worn_out(site: Site, address: str) -> None:
    """As after thirty wrong tries of as many names from an address."""
    with site.database.connect("ledger_owner") as connection:
        connection.execute(
            f"INSERT INTO access.tries SELECT {NOW}, 'nobody-' || n, %s"  # noqa: S608 - as it counts
            " FROM generate_series(1, %s) n".encode(),
            (address, TRIES_OF_ADDRESS_MAX),
        )


def signs_in(site: Site, says: str) -> httpx.Response:
    """Somebody whom the proxy tells of in `X-Forwarded-For`."""
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
                process.communicate(timeout=60)
        assert cli("users", "log", "--json").json[0]["address"] == seen


def asked(peer: str, *says: str, proxied: bool = True) -> str:
    """Where a request is taken to come from: by its peer, and what it says in its head."""
    served = SimpleNamespace(
        address=Address("https://ledger.example", secure=True, proxied=proxied)
    )
    scope = {
        "type": "http",
        "client": (peer, 50_000),
        "headers": [(b"x-forwarded-for", each.encode()) for each in says],
        "app": SimpleNamespace(state=SimpleNamespace(ports=served)),
    }
    return authentication.address(Request(scope))


@pytest.mark.parametrize("stranger", ["192.0.2.9", "2001:db8::9", "10.0.0.1"])
def test_what_a_stranger_says_of_their_address_is_not_believed(stranger: str) -> None:
    assert asked(stranger, ONE) == stranger
    assert asked(stranger, "127.0.0.1") == stranger
    assert asked(PROXY, ONE, proxied=False) == PROXY


@pytest.mark.parametrize("proxy", [PROXY, "::1"])
def test_of_a_proxys_list_the_last_address_is_the_one_it_saw(proxy: str) -> None:
    assert asked(proxy, ONE) == ONE
    assert asked(proxy, f"{ONE}, {OTHER}") == OTHER
    assert asked(proxy, ONE, OTHER) == OTHER, "in two lines of the head"
    for nothing in ((), ("",), ("unknown",), (f"{ONE},",), ("x" * 9_000,), (f"{ONE}\0",)):
        assert asked(proxy, *nothing) == proxy, nothing
