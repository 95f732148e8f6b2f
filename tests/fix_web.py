"""The pages over a ledger of the test's own, and a browser without scripts to look at them with."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import httpx
import pytest
import uvicorn

from consumers.catalogue import VIEWS, install
from consumers.projection import catch_up
from infra.door import Actor, Door
from infra.keys import Keys
from infra.postgres import Database, create_database
from infra.settings import load
from infra.tape import PostgresTape
from infra.users import ROLES, Role, User, Users
from infra.views import tape_source
from ledger.committer import Committer
from replay.cli.screen import opened_ports
from replay.web.app import LOOPBACK, build
from replay.web.devices import Keyring
from replay.web.ports import Address
from replay.web.routes import add_oidc, add_pages
from tests.fix_postgres import new_name, url_of
from tests.view_feeds import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ledger.tape import Received
    from replay.web.oidc import Client
    from replay.web.ports import Ports

PASSWORD = "a horse, a battery"  # noqa: S105 - of users that live as long as a test
ACTOR = Actor("os:test")
_CSRF = re.compile(r'name="csrf" value="([^"]+)"')


class Site(NamedTuple):
    """A running server with its pages."""

    url: str
    base: Database
    ports: Ports
    link: Callable[[], str]  # a new link to the first user
    browsers: list[Browser]

    def add(self, name: str, *roles: Role) -> None:
        user = User(name, f"S-{name}", frozenset(roles))
        self.ports.users.add(user, password=PASSWORD, actor=ACTOR)

    def browser(self, name: str = "", password: str = PASSWORD) -> Browser:
        """A browser; signed in where a name is given. Closed with the site."""
        browser = Browser(self.url)
        self.browsers.append(browser)
        if name:
            answer = browser.sign_in(name, password)
            assert answer.status_code == 303, answer.text
        return browser

    def take_in(self, facts: Sequence[Received]) -> None:
        """Put facts on record and into every view."""
        record(self.base, facts)
        with tape_source(self.base) as source:
            catch_up(self.base, source, VIEWS)


class Browser(httpx.Client):
    """Keeps cookies, asks for pages, follows no redirect by itself."""

    def __init__(self, url: str) -> None:
        super().__init__(base_url=url, headers={"Accept": "text/html"}, timeout=30)

    def token(self, path: str) -> str:
        """The token in a page's form."""
        found = _CSRF.search(self.get(path).text)
        assert found
        return found[1]

    def sign_in(self, name: str, password: str = PASSWORD, then: str = "/") -> httpx.Response:
        form = {"csrf": self.token("/sign-in"), "name": name, "password": password, "next": then}
        return self.post("/sign-in", data=form)


@contextmanager
def opened_site(
    base: Database,
    home: Path,
    *,
    client: Client | None = None,
    proxied: bool = False,
    tls: tuple[Path, Path] | None = None,
    **more: str,
) -> Iterator[Site]:
    """The pages served until the block ends; `more`: settings, without their prefix.

    proxied: as where a proxy before it is set; what it says of browsers' addresses is believed.
    tls: a key and its certificate, with which browsers reach it as over a proxy that ends TLS.
    """
    install(base)
    given = {"HOME": str(home), "TIME_ZONE": "America/New_York"} | more
    settings = load({f"ROUND_LEDGER_{name}": value for name, value in given.items()})
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http{'s' if tls else ''}://127.0.0.1:{listener.getsockname()[1]}"
        reached = Address(url, secure=bool(tls), proxied=proxied)
        with (
            PostgresTape(base) as tape,
            Committer(tape) as committer,
            opened_ports(base, tape, reached, settings) as ports,
        ):
            web = build(tape, committer, hosts=LOOPBACK, keys=Keyring(Keys(ports.door)))
            set_up = add_pages(web, ports)
            if client:
                add_oidc(web, client)
            key, certificate = tls or (None, None)
            config = uvicorn.Config(
                web,
                log_level="error",
                proxy_headers=False,  # as `serve` has it
                ssl_keyfile=key,
                ssl_certfile=certificate,
            )
            server = uvicorn.Server(config)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            try:
                made = Site(url, base, ports, lambda: f"/setup?link={set_up.link()}", [])
                yield made
            finally:
                for browser in made.browsers:
                    browser.close()
                server.should_exit = True
                thread.join()


@pytest.fixture(scope="session")
def web_template(postgres_url: str, template: str) -> str:
    """An empty ledger with its views and a user of each role, to be copied: hashes take time."""
    name = f"{template}_staffed"
    create_database(postgres_url, name, template=template)
    url = url_of(postgres_url, name)
    base = Database(url, url)
    install(base)
    door = Door(base)
    for role in ROLES:
        user = User(role, f"S-{role}", frozenset((role,)))
        Users(door).add(user, password=PASSWORD, actor=ACTOR)
    door.close()
    return name


@pytest.fixture
def site(database: Database, tmp_path: Path) -> Iterator[Site]:
    """The pages of an empty ledger that nobody may look at yet."""
    with opened_site(database, tmp_path) as opened:
        yield opened


@pytest.fixture
def staffed(postgres_url: str, web_template: str, tmp_path: Path) -> Iterator[Site]:
    """The pages of an empty ledger with a user of each role, named as the role is."""
    name = new_name()
    create_database(postgres_url, name, template=web_template)
    url = url_of(postgres_url, name)
    with opened_site(Database(url, url), tmp_path) as opened:
        yield opened
