"""Pictures of the pages for docs/screens, of a demonstration dealt and served for them.

    python -m tests.screens [NAME...]

Everything is real: the record, the footage, the server, the browser. `live` is of a floor that
is open now, `craps` of a round with two cameras, `charts` of a table over three weeks.
`tables.webp` is not taken here.
"""

from __future__ import annotations

import re
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np
from playwright.sync_api import sync_playwright

from infra.postgres.server.embedded import embedded
from ledger.simulate import deal, line, plan_of
from tests.fixtures.browser import CHROMIUM
from tests.fixtures.cli import ROOT, Cli, environ

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

FOLDER = ROOT / "docs" / "screens"
PASSWORD = "correct horse battery staple"  # noqa: S105 - of users that live as long as this run
PEOPLE = {
    "maria": ("S-2001", "surveillance"),
    "ben": ("S-2002", "surveillance"),
    "ada": ("A-3001", "auditor"),
    "pat": ("P-4001", "pit"),
    "nora": ("N-5001", "count"),
}
ZONE = "America/New_York"
QUIET = "/hollywood/CC-04/"
QUALITY = 82


class Floor(NamedTuple):
    """A served ledger, and the round of it that is shown."""

    url: str
    link: str  # that makes the first user
    cli: Cli
    round_path: str = ""

    @property
    def subject(self) -> str:
        return self.round_path.removeprefix("/rounds/hollywood/")


@contextmanager
def served(cli: Cli) -> Iterator[Floor]:
    """`serve` over the home of a command, with people who may sign in once the link was taken."""
    with cli.start("serve", "--port", "0") as process:
        assert process.stdout
        assert process.stderr
        threading.Thread(target=process.stderr.read, daemon=True).start()
        told = ""
        while "/setup?link=" not in told:
            told += process.stdout.readline().decode()
        link = re.search(r"http://\S+/setup\?link=\S+", told)
        assert link, told
        try:
            yield Floor(link[0].partition("/setup")[0], link[0], cli)
        finally:
            process.terminate()


def add_people(cli: Cli) -> None:
    for name, (employee, role) in PEOPLE.items():
        given = ("--employee", employee, "--role", role, "--password-file", "-")
        done = cli("users", "add", name, *given, stdin=f"{PASSWORD}\n".encode())
        assert done.code == 0, done.err


@contextmanager
def looking(
    browser: Browser, floor: Floor, name: str = "", *, dark: bool = False, width: int = 1280
) -> Iterator[Page]:
    """A page of somebody; of nobody where no name is given."""
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light"
    )
    page = context.new_page()
    if name:
        page.goto(f"{floor.url}/sign-in")
        page.fill("[name=name]", name)
        page.fill("[name=password]", PASSWORD)
        page.click("main button")
        page.get_by_role("button", name="Sign out").wait_for()
    yield page
    context.close()


def seen(page: Page, url: str) -> None:
    """Go there, once everything on record is on the pages, and let pictures come."""
    page.goto(url)
    while page.get_by_text("not on these pages yet").count():
        time.sleep(0.3)
        page.reload()
    page.wait_for_load_state("networkidle")


def keep(page: Page, name: str, height: int | None = None) -> None:
    """Keep what the page shows, so many pixels of it; else all of it."""
    width = (page.viewport_size or {"width": 1280})["width"]
    if height:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(400)
    taken = page.screenshot(full_page=height is None)
    picture = cv2.imdecode(np.frombuffer(taken, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    path = FOLDER / f"{name}.webp"
    cv2.imwrite(str(path), picture, [cv2.IMWRITE_WEBP_QUALITY, QUALITY])
    sys.stdout.write(f"{path.relative_to(ROOT)}: {picture.shape[1]} x {picture.shape[0]}\n")


def access(browser: Browser, floor: Floor) -> None:
    """The page of the first user, and signing in."""
    with looking(browser, floor) as page:
        page.goto(floor.link)
        keep(page, "setup", 560)
        add_people(floor.cli)
        page.goto(f"{floor.url}/sign-in")
        keep(page, "sign-in", 420)


def round_(browser: Browser, floor: Floor) -> None:
    """The round of the demonstration, by day and by night."""
    for name, dark in (("demo-round", False), ("demo-round-dark", True)):
        with looking(browser, floor, "maria", dark=dark) as page:
            seen(page, floor.url + floor.round_path)
            keep(page, name, 900)


def review(browser: Browser, floor: Floor) -> None:
    """The queue of findings, with the first one chosen."""
    with looking(browser, floor, "maria", width=1600) as page:
        seen(page, f"{floor.url}/review")
        keep(page, "review", 800)


def find(browser: Browser, floor: Floor) -> None:
    """Rounds found by one sentence: its chips, the sums, and each hit with its money."""
    table, day, _ = floor.subject.split("/")
    with looking(browser, floor, "maria", width=1600) as page:
        seen(page, f"{floor.url}/?ask=any finding at {table} on {day}, overpiad&sort=difference")
        keep(page, "find", 800)


def cases(browser: Browser, floor: Floor) -> None:
    """A dispute before and after its reviewer has observed, and a window kept without one."""
    with looking(browser, floor, "maria") as page:
        seen(page, floor.url + floor.round_path)
        position = page.inner_text("main").partition("Position ")[2][0]  # of its first finding
        seen(page, f"{floor.url}/cases/new?round=hollywood:{floor.subject}")
        page.get_by_label("Betting position").fill(position)
        page.get_by_label("Claim").fill("I was paid, and then the dealer wanted it back.")
        keep(page, "case-new", 560)
        page.get_by_role("button", name="Raise").click()
        page.wait_for_url("**/cases/hollywood/**")
        case = page.url
    with looking(browser, floor, "ben") as page:
        seen(page, case)
        keep(page, "case-blind", 800)
        page.get_by_label("What you saw, before you know the claim").fill("Chips were pushed once.")
        page.get_by_role("button", name="Record").click()
        page.get_by_role("textbox", name="Note").fill("The payout is fact 2's.")
        page.get_by_label("Fact of the round").fill("2")
        page.get_by_role("button", name="Add").click()
        seen(page, case)
        keep(page, "case")
        window(page, floor)


def window(page: Page, floor: Floor) -> None:
    """Preserve the time of the round, and keep its page and the list."""
    day = floor.subject.split("/")[1]
    seen(page, f"{floor.url}/cases")
    page.get_by_label("Table", exact=True).fill(floor.subject.partition("/")[0])
    page.get_by_label("From (").fill(f"{day} 10:00")
    page.get_by_label("To", exact=True).fill(f"{day} 10:20")
    page.get_by_role("textbox", name="Why").fill("A patron slipped beside the table.")
    page.get_by_role("button", name="Preserve").click()
    page.get_by_role("heading", name="Preserved window").wait_for()
    seen(page, page.url)
    keep(page, "window", 560)
    seen(page, f"{floor.url}/cases")
    keep(page, "cases", 500)


def dossier(browser: Browser, floor: Floor) -> None:
    """What a dossier holds."""
    with looking(browser, floor, "ben") as page:
        seen(page, f"{floor.url}/dossiers/new?of=hollywood:{floor.subject}")
        keep(page, "dossier", 600)


def win(browser: Browser, floor: Floor) -> None:
    """A gaming day's three wins, with the tray of the table."""
    with looking(browser, floor, "ada") as page:
        seen(page, f"{floor.url}/win?gaming_day={floor.subject.split('/')[1]}")
        keep(page, "win", 800)


def drop(browser: Browser, floor: Floor) -> None:
    """A gaming day's drop, for those who count it."""
    with looking(browser, floor, "ada") as page:
        seen(page, f"{floor.url}/drop?gaming_day={floor.subject.split('/')[1]}")
        keep(page, "drop", 800)


def entry(browser: Browser, floor: Floor) -> None:
    """The papers that a pit enters, and the first count of a box."""
    day = floor.subject.split("/")[1]
    with looking(browser, floor, "pat") as page:
        seen(page, f"{floor.url}/entry?gaming_day={day}")
        page.get_by_text("Other papers").click()
        keep(page, "entry", 700)
        page.get_by_role("link", name="Drop box attached").click()
        page.get_by_label("Number of the box").fill("TDF-01-b")
        page.get_by_label("Table", exact=True).fill("TDF-01")
        page.get_by_label("Gaming day").fill(day)
        page.get_by_role("button", name="Put on record").click()
        page.get_by_text("It is on record.").wait_for()
    with looking(browser, floor, "nora") as page:
        seen(page, f"{floor.url}/entry?gaming_day={day}")
        page.get_by_role("link", name="TDF-01-b").click()
        page.get_by_label("$100.00", exact=True).first.fill("12")
        page.get_by_label("$20.00", exact=True).first.fill("41")
        page.get_by_label("Second person").fill("N-5002")
        page.evaluate("scrollTo(0, 0)")
        keep(page, "entry-count", 1_100)


def charts(browser: Browser, floor: Floor) -> None:
    """Three weeks of a table, with dealers who overpay in the second half."""
    add_people(floor.cli)
    with looking(browser, floor, "ada") as page:
        seen(page, f"{floor.url}/win/charts?table=TDF-01")
        keep(page, "charts", 960)


def statistics(browser: Browser, floor: Floor) -> None:
    """Dealers beside the house, with the funnel."""
    with looking(browser, floor, "ada") as page:
        seen(page, f"{floor.url}/statistics")
        keep(page, "statistics", 800)


def live(browser: Browser, floor: Floor) -> None:
    """The floor on a wall screen."""
    add_people(floor.cli)
    with looking(browser, floor, "ada", dark=True, width=1440) as page:
        seen(page, f"{floor.url}/live")
        keep(page, "live", 810)


def craps(browser: Browser, floor: Floor) -> None:
    """A round beside its two cameras, whole, and the cameras alone."""
    add_people(floor.cli)
    with looking(browser, floor, "maria") as page:
        seen(page, floor.url + floor.round_path)
        keep(page, "round")
    with looking(browser, floor, "maria", width=1000) as page:
        seen(page, floor.url + floor.round_path.replace("/rounds/", "/watch/"))
        for _ in range(30):
            page.click("#go-second-after")
        page.wait_for_timeout(1_000)
        keep(page, "watch", 625)


OF_THE_DEMONSTRATION: dict[str, Callable[[Browser, Floor], None]] = {
    "round": round_,
    "find": find,
    "review": review,
    "drop": drop,
    "win": win,
    "entry": entry,
    "statistics": statistics,
    "cases": cases,
    "dossier": dossier,
}


@contextmanager
def demonstration(folder: Path) -> Iterator[Floor]:
    """What `demo` leaves, served."""
    out, wrong = Cli(environ(folder / "unused")).start("demo", folder).communicate()
    left = out.decode()
    path = re.search(r"/rounds/[^\s?#]+", left)
    home = re.search(r"export ROUND_LEDGER_HOME=(\S+)", left)
    assert path, wrong
    assert home
    cli = Cli(environ(Path(home[1]), ROUND_LEDGER_TIME_ZONE=ZONE))
    with embedded(Path(home[1])), served(cli) as floor:
        yield floor._replace(round_path=path[0])


@contextmanager
def open_floor(folder: Path) -> Iterator[Floor]:
    """Sixteen tables that opened half an hour ago; one has sent nothing for some minutes."""
    now = datetime.now(UTC)
    opened = (now - timedelta(minutes=30)).astimezone(timezone(timedelta(minutes=-300)))
    plan = plan_of(
        tables=16,
        minutes=90,
        seed=5,
        gaming_day=opened.date().isoformat(),
        opens_minute=opened.hour * 60 + opened.minute,
        mistakes={"overpay": 3, "underpay": 3},
    )
    told = [
        line(plan, fact)
        for fact in deal(plan)[0]
        if fact.time_us < (now.timestamp() - 400 * (fact.source.startswith(QUIET))) * 1_000_000
    ]
    (folder / "feed.jsonl").write_bytes(b"\n".join(told))
    cli = Cli(environ(folder / "home", ROUND_LEDGER_TIME_ZONE=ZONE))
    with embedded(folder / "home"):
        done = cli("ingest", folder / "feed.jsonl")
        assert done.code == 0, done.err
        with served(cli) as floor:
            yield floor


@contextmanager
def craps_table(folder: Path) -> Iterator[Floor]:
    """Half an hour of Craps with one payout too high, filmed by two cameras."""
    cli = Cli(environ(folder / "home", ROUND_LEDGER_TIME_ZONE=ZONE))
    dealt = folder / "floor"
    plan = ("--game", "craps", "--tables", "1", "--hours", "0.5", "--seed", "5")
    filmed = ("--mistake", "overpay=1", "--footage", "mistakes", "--cameras", "2")
    with embedded(folder / "home"):
        for args in (
            ("simulate", "--out", dealt, *plan, *filmed),
            ("ingest", dealt / "feed.jsonl", dealt / "footage.jsonl"),
            *(
                ("footage", "add", of, "--camera", of.name)
                for of in (dealt / "footage" / f"CR-01-cam{number}" for number in (1, 2))
            ),
        ):
            done = cli(*args)
            assert done.code == 0, done.err
        found = cli("rounds", "--finding", "overpaid", "--json").json
        with served(cli) as floor:
            yield floor._replace(round_path=f"/rounds/hollywood/{found[0]['round']}")


@contextmanager
def three_weeks(folder: Path) -> Iterator[Floor]:
    """One table of dice for half an hour a day; from the eleventh day on it pays too much.

    Six errors a day are $30 and more. One of $5 would be the allowance of a day, and no alarm.
    """
    told = []
    for nth in range(21):
        day = (datetime(2026, 10, 31, tzinfo=UTC) + timedelta(days=nth)).date().isoformat()
        mistakes = {"overpay": 6} if nth >= 10 else {}
        plan = plan_of(
            tables=1,
            minutes=30,
            seed=nth,
            gaming_day=day,
            of=["three_dice_football"],
            mistakes=mistakes,
        )
        told += [line(plan, fact) for fact in deal(plan)[0]]
    (folder / "feed.jsonl").write_bytes(b"\n".join(told))
    cli = Cli(environ(folder / "home", ROUND_LEDGER_TIME_ZONE=ZONE))
    with embedded(folder / "home"):
        done = cli("ingest", folder / "feed.jsonl")
        assert done.code == 0, done.err
        with served(cli) as floor:
            yield floor


def main(names: list[str]) -> None:
    """Take them all, or those named."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        if not names or set(names) - {"live", "craps", "charts"}:
            with demonstration(Path(folder) / "demo") as floor:
                access(browser, floor)
                for name, take in OF_THE_DEMONSTRATION.items():
                    if not names or name in names:
                        take(browser, floor)
        if not names or "live" in names:
            (Path(folder) / "live").mkdir()
            with open_floor(Path(folder) / "live") as floor:
                live(browser, floor)
        if not names or "charts" in names:
            (Path(folder) / "charts").mkdir()
            with three_weeks(Path(folder) / "charts") as floor:
                charts(browser, floor)
        if not names or "craps" in names:
            (Path(folder) / "craps").mkdir()
            with craps_table(Path(folder) / "craps") as floor:
                craps(browser, floor)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
