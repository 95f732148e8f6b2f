"""A floor with a mispaid round, its footage taken in, people who may sign in, and a server.

What tests of the round page stand on: everything is real, the process, the record, the video.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

import httpx
import psycopg
import pytest
from psycopg import conninfo

from infra.embedded import embedded
from infra.postgres import NAME
from replay.footage.adding import Told, add, footage_files
from replay.footage.library import Library
from tests.fix_cli import Cli, environ

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

PASSWORD = "correct horse battery staple"  # noqa: S105 - of users of this test's own ledger
PEOPLE = {
    "maria": ("S-2001", "surveillance"),
    "fred": ("F-3001", "finance"),
    "ada": ("A-1", "auditor"),
}


class Screened(NamedTuple):
    """A served floor. round_path: the address of the round with the overpayment."""

    cli: Cli
    folder: Path
    url: str
    planted: dict[str, Any]
    database_url: str

    @property
    def subject(self) -> str:
        return str(self.planted["round"])

    @property
    def round_path(self) -> str:
        return f"/rounds/hollywood/{self.subject}"

    @property
    def library(self) -> Library:
        return Library(self.folder / "home")

    @contextmanager
    def client(self, name: str) -> Iterator[httpx.Client]:
        """An HTTP client that is signed in."""
        headers = {"Accept": "text/html"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=60) as client:
            form = client.get("/sign-in").text
            token = form.split('name="csrf" value="')[1].split('"')[0]
            given = {"name": name, "password": PASSWORD, "csrf": token}
            assert client.post("/sign-in", data=given).status_code in (302, 303)
            yield client

    def add_person(self, name: str, employee: str, role: str) -> None:
        """Let somebody else sign in, beside the people every test shares."""
        given = ("--employee", employee, "--role", role, "--password-file", "-")
        made = self.cli("users", "add", name, *given, stdin=PASSWORD.encode() + b"\n")
        assert made.code == 0, made.err

    def told(self, kind: str) -> list[dict[str, Any]]:
        """The data of every fact of a type, in the order of the record."""
        with psycopg.connect(self.database_url) as connection:
            rows = connection.execute(
                "SELECT state FROM ledger.tape WHERE topic = %s ORDER BY notification_id", (kind,)
            )
            return [json.loads(bytes(row[0])) for row in rows]

    @contextmanager
    def page(
        self,
        browser: Browser,
        name: str = "maria",
        scheme: Literal["light", "dark"] = "light",
        *,
        scripts: bool = True,
    ) -> Iterator[Page]:
        """A page of a browser in which somebody has signed in; what it complains of is an error."""
        opened = browser.new_context(
            viewport={"width": 1280, "height": 900},
            color_scheme=scheme,
            java_script_enabled=scripts,
        )
        try:
            page = opened.new_page()
            complaints: list[str] = []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
            page.goto(f"{self.url}/sign-in")
            page.fill("[name=name]", name)
            page.fill("[name=password]", PASSWORD)
            page.click("main button")
            page.wait_for_load_state()
            yield page
            assert not complaints
        finally:
            opened.close()


@pytest.fixture(scope="session")
def screened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screened]:
    folder = tmp_path_factory.mktemp("screened")
    home, out = folder / "home", folder / "dealt"
    cli = Cli(environ(home))
    with embedded(home) as url:  # held, so that each command need not start it
        dealt = (
            "--tables", "2", "--hours", "0.4", "--seed", "11", "--mistake", "overpay",
            "--footage", "mistakes", "--cameras", "2", "--out", out,
        )  # fmt: skip
        for args in (
            ("simulate", *dealt),
            ("ingest", out / "feed.jsonl", out / "footage.jsonl"),
        ):
            done = cli(*args)
            assert done.code == 0, done.err
        take_in(Library(home), out / "footage")
        record = conninfo.make_conninfo(url, dbname=NAME)
        planted = json.loads((out / "truth.jsonl").read_text().splitlines()[0])
        with serving(cli, folder, planted, record) as floor:
            yield floor


@contextmanager
def serving(cli: Cli, folder: Path, planted: dict[str, Any], record: str) -> Iterator[Screened]:
    """The floor of a ledger in `folder`'s home, served, with people who may sign in."""
    floor = Screened(cli, folder, "", planted, record)
    for name, (employee, role) in PEOPLE.items():
        floor.add_person(name, employee, role)
    with cli.start("serve", "--port", "0") as process:
        assert process.stderr
        try:
            began = json.loads(process.stderr.readline())
            log = (folder / "serve.log").open("wb")
            threading.Thread(target=_drain, args=(process.stderr, log), daemon=True).start()
            served = f"http://127.0.0.1:{began['port']}"
            floor = floor._replace(url=served)
            _wait_for_views(floor)
            yield floor
        finally:
            process.kill()


def _wait_for_views(floor: Screened) -> None:
    """Until the views have all that was taken in: the round that tests look at, and its cameras."""
    until = time.monotonic() + 60
    with floor.client("maria") as client:
        while "Every fact on record is on these pages" not in client.get("/").text:
            assert time.monotonic() < until, "the views did not come along"
            time.sleep(0.2)


def _drain(log: IO[bytes], kept: IO[bytes]) -> None:
    """A server whose log nobody reads would stop at a full pipe."""
    with kept:
        for line in log:
            kept.write(line)
            kept.flush()


def take_in(library: Library, footage: Path) -> None:
    """Take every camera's folder into the index."""
    for camera in sorted(footage.iterdir()):
        for added in add(library, footage_files(camera), Told("hollywood", camera.name)):
            assert added.verdict == "added", added
