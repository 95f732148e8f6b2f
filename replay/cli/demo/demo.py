"""`demo`: deals and records a gaming day, rules on it, finds its mistakes, replays the worst.

It has its own folder and its own record: no setting lets simulated facts into a real ledger (ADR
0065). It calls the same functions as the other commands.
"""

import shlex
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import typer

from consumers.cameras.cameras import CAMERA_FACTS
from consumers.finance import journal as entries
from consumers.finance import wins
from consumers.finance.sealed import sealed_wins
from consumers.registry import VIEWS
from consumers.rulings import rulings
from consumers.rulings.tables import RULINGS
from consumers.rulings.touched_rounds import round_of
from consumers.runtime.stopping import until_signalled
from consumers.sealer.check import signed_checkpoint
from consumers.sealer.metrics import SealerMetrics
from consumers.sealer.sealer import EVERY_S, begin_log, seal
from consumers.sealer.views import ViewRounds
from infra.files import replace_file
from infra.postgres.connection import Database, begin_anew, open_database
from infra.postgres.server.embedded import stop_unused
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import reading
from infra.settings import Settings
from infra.tile_folder import TileFolder
from ledger.errors import Refused
from ledger.finance.groups import grouped
from ledger.finance.win import TableWin
from ledger.record.group_commit import Committer
from ledger.simulate import (
    LATER,
    Plan,
    Planted,
    WrittenFloor,
    hour_of_worst,
    plan_of,
    worst_and,
    write,
)
from ledger.values import RoundId, dollars, quantity
from replay.cameras.intake.taking import take
from replay.cli.footage.group import property_of, told_errors
from replay.cli.record.append import keep
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.cli.shell.feeds import blocks, opened, size
from replay.cli.shell.terminal import draw
from replay.demo.audit import Audit, audit, money_at_stake
from replay.demo.report import DemoResult, found_text, pointers, wins_text, worst_text
from replay.dossier.gathering.found import of_round
from replay.dossier.service import wanted_for, write_found
from replay.dossier.signing.keys import SIGNING, public_text
from replay.dossier.signing.keys import make as make_key
from replay.footage.library.adding import FootageDetails as Known
from replay.footage.library.adding import footage_files
from replay.footage.library.index import FootageIndex
from replay.footage.simulated.filming import SegmentBehind, film, film_behind
from replay.recording.sealed_days import DayDecisions, Signers, versions_folder
from replay.roster.door import Door
from replay.rounds.reading import LoadedRound, load_round
from replay.rounds.views import catch_up_views
from replay.shell.connections import opened_database
from replay.shell.output import Advance, print_drawn, progress, say
from replay.shell.settings import in_force
from replay.text.journal import hledger
from replay.web.page import round_path
from replay.witness.at_hand import witness_at_hand

T = TypeVar("T")

app = family()

MARK = ".round-ledger-demo"
"""The marker file of a folder that the demonstration made and may remove."""

DATABASE = "round_ledger_demo"
"""The record's database on a server named by the settings."""

DATABASE_MARK = "Made by `round-ledger demo`, which drops it when it is run again."

MISTAKES = {
    "overpay": 2,
    "underpay": 1,
    "not_collected": 1,
    "paid_push": 1,
    "late_wager": 1,
    "skipped_player": 1,
    "lost_fact": 1,
    "retransmission": 1,
}


FILMED = 3
"""Rounds filmed besides the worst: chance chooses them, so that film betrays no mistake."""

SIGNED = Signers(by="F-3001", second="F-3002")
"""The two people who close the demonstration's gaming day."""


class DemoPaths(NamedTuple):
    """The paths of a demonstration."""

    folder: Path

    @property
    def home(self) -> Path:
        """The value of ROUND_LEDGER_HOME for this demonstration."""
        return self.folder / "home"

    @property
    def footage(self) -> Path:
        """The default footage folder of commands."""
        return self.home / "footage"

    @property
    def recorder(self) -> Path:
        """The feed of the recorder's facts."""
        return self.folder / "footage.jsonl"

    @property
    def journal(self) -> Path:
        """The day's double entries, for hledger."""
        return self.folder / "day.journal"

    @property
    def dossier(self) -> Path:
        """The dossier to open."""
        return self.folder / "dossier"

    @property
    def witness(self) -> Path:
        """The folder of the witness, which stands for another administrator's machine."""
        return self.folder / "witness"

    @property
    def log_key(self) -> Path:
        """The public key of the witnessed log."""
        return self.folder / "log.pub"

    @property
    def witness_key(self) -> Path:
        """The public key of its witness."""
        return self.folder / "witness.pub"

    @property
    def public_key(self) -> Path:
        """The public key to check the dossier with."""
        return self.folder / "house.pub"


@app.command("demo")
def demo(
    folder: Annotated[
        Path, typer.Argument(help=("The folder of the demonstration; created if needed."))
    ] = Path("demo"),
    *,
    hours: Annotated[float, typer.Option(min=0.5, max=20, help="Hours of play.")] = 8.0,
    seed: Annotated[int, typer.Option(help="The same seed deals the same facts.")] = 1,
    film_hour: Annotated[
        bool,
        typer.Option("--film-hour", help="At the end draw an hour of film, as `demo-film` does."),
    ] = False,
) -> None:
    """Deal a gaming day, find its mistakes, replay the worst.

    Deals four tables of two games, with a few planted dealers' mistakes. It leaves a dossier to
    open and a record on which other commands can be tried. A second run starts over. Your own
    ledger is never changed: on a server that ROUND_LEDGER_DATABASE_URL names, the record is in a
    database of its own, `round_ledger_demo`.

    Example: round-ledger demo
    """
    place = DemoPaths(folder.resolve())
    began = time.monotonic()
    _make_room(place)
    settings = _settings(place)
    plan = plan_of(tables=4, minutes=round(hours * 60), seed=seed, mistakes=MISTAKES)
    written = _stage("Deal", lambda advance: _deal(plan, place, advance))
    with ThreadPoolExecutor(1) as beside, open_database(settings) as database:
        filming = beside.submit(film, plan, written.shots, place.footage, place.recorder)
        _stage("Take in", lambda advance: _take_in(database, written.feed, advance))
        _stage("Rule", lambda advance: _rule(database, advance))
        _stage("Film", lambda advance: _film(database, filming, plan, written, place, advance))
        checked = _stage("Compare", lambda _: _compare(database, written.planted))
        won = _stage("Win", lambda _: _win(database))
        _stage("Close", lambda _: _close(database, plan, place))
        _stage("Seal", lambda _: _seal(database, settings, place))
        worst = _stage("Replay", lambda _: _worst(database, written.planted, place))
        _stage("Dossier", lambda _: _hand_over(database, worst, place))
        catch_up_views(database, VIEWS, lambda *_, **__: None)  # pages catch up no view
    draw(found_text(checked))
    draw(worst_text(worst.story))
    draw(wins_text(won))
    draw(pointers(_left(place, settings, worst.story.round)))
    print_drawn(f"Done in {time.monotonic() - began:.0f} s.\n")
    if film_hour:
        with open_database(settings) as database:
            _draw_hour(database, place)
    if not checked.agrees:
        raise typer.Exit(FINDINGS)


@app.command("demo-film")
def demo_film() -> None:
    """Draw an hour of the demonstration's film, behind.

    `demo` films the end of a few rounds. The hour is of its worst table, and is drawn in files of
    20 s while pages are served. Each is on record as soon as it is drawn. Other programs go first.
    SIGTERM and SIGINT stop it after the files under way. Run it again and it goes on: no file is
    drawn twice.

    ROUND_LEDGER_HOME must be the demonstration's, by the line that `demo` prints.

    Example: round-ledger demo-film
    """
    place = DemoPaths(in_force().home.parent)
    if not (place.folder / MARK).is_file() or place.home != in_force().home:
        raise Refused(
            "This ledger is not a demonstration",
            where=str(in_force().home),
            hint="Run `round-ledger demo`, then the line that it prints to set ROUND_LEDGER_HOME.",
        )
    with opened_database() as database:
        _draw_hour(database, place)


def _stage(title: str, work: Callable[[Advance], tuple[T, str]]) -> T:
    """Run one stage with a progress bar, then print a line with its time."""
    began = time.monotonic()
    with progress(title) as advance:
        result, says = work(advance)
    print_drawn(f"{title:<8} {time.monotonic() - began:5.1f} s   {says}\n")
    return result


def _make_room(place: DemoPaths) -> None:
    """Make an empty folder with the marker. Raises `Refused` for a folder without it."""
    folder = place.folder
    there = folder.exists()
    if there and not folder.is_dir():
        raise _not_ours(folder)
    if there and any(folder.iterdir()):
        if not (folder / MARK).is_file():
            raise _not_ours(folder)
        _stop_what_runs_there(place)
        _clear(folder)
        say(f"Started over: the last demonstration in {folder} was removed.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).write_text("Made by `round-ledger demo`, which may remove all of it.\n")
    except OSError as error:
        raise Refused(
            f"The folder cannot be made: {error.strerror}",
            where=str(folder),
            hint="Name another: round-ledger demo FOLDER.",
        ) from error


def _clear(folder: Path) -> None:
    """Remove all but the marker, so that a kill leaves a folder that can be cleared again."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != MARK:
            path.unlink()


def _not_ours(folder: Path) -> Refused:
    return Refused(
        "The folder has files that the demonstration did not make",
        where=str(folder),
        hint="Name another folder: round-ledger demo FOLDER.",
    )


def _stop_what_runs_there(place: DemoPaths) -> None:
    """Stop the server of the last run, if it stays. Raises `Refused` if a program uses it."""
    if stop_unused(place.home) == "used":
        raise Refused(
            "Another program is using the record of the last demonstration",
            where=str(place.home),
            hint="Stop that program, or name another folder: round-ledger demo FOLDER.",
        )


def _deal(plan: Plan, place: DemoPaths, advance: Advance) -> tuple[WrittenFloor, str]:
    written = write(
        plan,
        place.folder,
        lambda facts: advance(0, doing=f"Deal: {quantity(facts, 'fact')}"),
        film=worst_and(FILMED),
        later=hour_of_worst,
        cameras_max=2,
    )
    tables = ", ".join(table.table for table in plan.tables)
    return written, (
        f"{quantity(written.facts, 'fact')} of {quantity(written.rounds, 'round')} at {tables}; "
        f"{len(written.planted)} mistakes planted"
    )


def _take_in(database: Database, feed: Path, advance: Advance) -> tuple[Counter[str], str]:
    """Ingest the feed as `ingest` does."""
    verdicts: Counter[str] = Counter()
    with (
        opened([str(feed)]) as sources,
        PostgresTape(database) as tape,
        Committer(tape) as committer,
    ):
        for line, _, receipt in keep(committer, blocks(sources), Door(tape)):
            verdicts[receipt.verdict] += 1
            advance(len(line.octets) + 1, total=size(sources))
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(verdicts.items()))
    return verdicts, f"{verdicts.total():,} received: {told}"


def _film(
    database: Database,
    filming: Future[int],
    plan: Plan,
    written: WrittenFloor,
    place: DemoPaths,
    advance: Advance,
) -> tuple[None, str]:
    """Wait for the drawn footage, and ingest the recorder's facts."""
    segments = filming.result()
    _take_in(database, place.recorder, advance)
    catch_up_views(database, VIEWS, advance)
    _index(database, plan, place)
    return None, (
        f"drawn meanwhile: {quantity(len(written.shots), 'film')} in"
        f" {quantity(segments, 'segment')}, of rounds by chance and of the worst"
    )


def _index(database: Database, plan: Plan, place: DemoPaths) -> None:
    """Add each camera's folder as `footage add` does. Raises `Refused` if a segment is refused."""
    for folder in sorted(place.footage.iterdir()):
        _take(database, place, footage_files(folder), Known(plan.property, folder.name))


def _take(database: Database, place: DemoPaths, files: Sequence[Path], told: Known) -> None:
    for taken in take(database, FootageIndex(place.home), files, told):
        if taken.added.problem:
            raise Refused(
                f"A drawn segment was refused: {taken.added.problem}",
                where=str(taken.added.path),
                hint="Try again. If it is refused again, this program has a defect.",
            )


def _draw_hour(database: Database, place: DemoPaths) -> None:
    """Draw the hour that the dealt floor has in store, and put each segment on record."""
    began, behind = time.monotonic(), SegmentBehind(place.footage, 0, 0)
    shots = sorted((place.folder / LATER).glob("*.json"))
    with until_signalled(insist=False) as stop, told_errors(), progress("Film an hour") as advance:
        catch_up_views(database, VIEWS, lambda *_, **__: None)
        for behind in film_behind(shots, place.footage, stop):
            _index_one(database, place, behind.path)
            advance(1, total=behind.of)
        catch_up_views(database, VIEWS, lambda *_, **__: None)
    took = f"{time.monotonic() - began:.0f} s"
    print_drawn(f"Film: {behind.done} of {quantity(behind.of, 'segment')} on record, {took}.\n")
    if behind.done < behind.of:
        print_drawn("Stopped. `round-ledger demo-film` goes on there.\n")


def _index_one(database: Database, place: DemoPaths, file: Path) -> None:
    """Add a segment as `footage add` does. Raises `Refused` if it is refused."""
    camera = file.parent.name
    with reading(database, [CAMERA_FACTS.name]) as store:
        told = Known(property_of(store, camera, None), camera)
    _take(database, place, [file], told)


def _rule(database: Database, advance: Advance) -> tuple[None, str]:
    catch_up_views(database, VIEWS, advance)
    with reading(database, [RULINGS.name]) as store:
        count = store.query("SELECT count(*) FROM {schema}.rulings WHERE ruling IS NOT NULL")
    return (
        None,
        f"{quantity(count[0][0], 'round')} ruled on again from their facts; views are built",
    )


def _compare(database: Database, planted: Sequence[Planted]) -> tuple[Audit, str]:
    """Compare the findings with the planted mistakes."""
    found = rulings.findings(database, limit=rulings.ROWS_MAX)
    with reading(database, rulings.tables_to_read()) as store:
        ruled = {
            round_.subject: rulings.newest(store, round_).ruling
            for round_ in {round_of(each.round) for each in found}
        }
    of_tables = [
        (each.table, finding)
        for each in rulings.table_findings(database)
        for finding in each.findings
    ]
    checked = audit(planted, ruled, of_tables)
    expected = [each for each in checked.checked if each.planted.expect]
    seen = sum(not each.missed for each in expected)
    return checked, (
        f"{seen} of {quantity(len(expected), 'mistake')} found,"
        f" {quantity(len(checked.unexplained), 'other finding')}"
    )


def _win(database: Database) -> tuple[list[TableWin], str]:
    """The three wins of each table, and those of the house."""
    found = wins.read(database)
    house = grouped(found, "house")
    names = ("counted", "moved", "owed")
    amounts = [(name, getattr(each, name)) for each in house for name in names]
    told = ", ".join(f"{name} {dollars(a) if a is not None else 'n/a'}" for name, a in amounts)
    return found, told


def _close(database: Database, plan: Plan, place: DemoPaths) -> tuple[None, str]:
    """Close the gaming day as `day close` does, and write its journal."""
    found = entries.read(database, gaming_day=plan.gaming_day)
    place.journal.write_text("".join(f"{line}\n" for line in hledger(found)), encoding="utf-8")
    pinned = sealed_wins.pinned_now(database, plan.property, plan.gaming_day)
    with DayDecisions(database) as decisions:
        version, kept = metadata.version("round-ledger"), versions_folder(place.home)
        closed = decisions.close_day(pinned, SIGNED, version, kept)
    if closed is None:
        names = "; ".join(f"{table}: {', '.join(its)}" for table, its in pinned.missing.items())
        return None, f"the day stays open, it lacks {names}"
    told = f"version {closed.version} of {closed.gaming_day}, digest {closed.digest[:12]}"
    return None, f"{told}; {quantity(len(found), 'entry', 'entries')} in {place.journal.name}"


def _seal(database: Database, settings: Settings, place: DemoPaths) -> tuple[None, str]:
    """Begin a witnessed log, seal the record, and have a witness cosign it."""
    log = begin_log(TileFolder(settings.log_folder), "demo.example/record")
    witness = witness_at_hand(place.witness, "witness.example", log.key.verifier)
    place.log_key.write_text(f"{log.key.verifier}\n")
    place.witness_key.write_text(f"{witness.key}\n")
    watch = SealerMetrics()
    views = ViewRounds(VIEWS, EVERY_S, watch.view_edited)
    log = log._replace(witnesses=[witness], views=views)
    seal(database, log, stop=lambda: True, listener=watch, follow=False)
    (checkpoint, signed) = signed_checkpoint(log.folder, [log.key.verifier, witness.key])
    cosigned = ", ".join(each.key.name for each in signed if each.time_s is not None)
    count = quantity(checkpoint.size, "entry", "entries")
    return None, f"{count}, root {checkpoint.root.hex()[:12]}; cosigned by {cosigned}"


def _worst(
    database: Database, planted: Sequence[Planted], place: DemoPaths
) -> tuple[LoadedRound, str]:
    """The round with the largest wrong amount, with its footage."""
    names = sorted({each.round for each in planted if each.round})
    stakes = {name: money_at_stake(load_round(database, name, None).story.lines) for name in names}
    name = max(names, key=lambda each: stakes[each])
    found = load_round(database, name, FootageIndex(place.home))
    seen = sum(any(s.frame is not None for s in each.sights) for each in found.story.seen)
    facts = quantity(len(found.story.moments), "fact")
    return found, f"{name}: {dollars(stakes[name])} went wrong; cameras saw {seen} of {facts}"


def _hand_over(database: Database, worst: LoadedRound, place: DemoPaths) -> tuple[None, str]:
    wanted = wanted_for(worst, "demonstration")
    keys = place.home / SIGNING
    signer = make_key(keys, "demonstration", datetime.now(UTC))
    replace_file(place.public_key, public_text(signer).encode())
    library = FootageIndex(place.home)
    log = TileFolder(place.home / "log")
    filed = write_found(
        database, of_round(worst), place.dossier, wanted, keys, library=library, log=log
    )
    files, pictures = len(filed), sum(each.path.startswith("frames/") for each in filed)
    says = f"{quantity(files, 'file')}, {quantity(pictures, 'frame')} among them"
    return None, f"{says}, in {place.dossier}"


def _settings(place: DemoPaths) -> Settings:
    """The demonstration's settings: its home, and a new database on a named server."""
    settings = replace(in_force(), home=place.home)
    if settings.database_url:
        settings = begin_anew(settings, DATABASE, DATABASE_MARK)
        say(f"The record is in database {DATABASE} on the server that you named.")
    return settings


def _left(place: DemoPaths, settings: Settings, round_: RoundId) -> DemoResult:
    """The next steps: commands and pages."""
    url = settings.public_url or f"http://{settings.http_host}:{settings.http_port}"
    return DemoResult(
        setting=_to_set(place, settings),
        dossier=place.dossier,
        public_key=place.public_key,
        round=round_.subject,
        program=_called(),
        page=url + round_path(round_),
    )


def _to_set(place: DemoPaths, settings: Settings) -> str:
    """The shell line that selects this record; a URL is not printed."""
    if not settings.database_url:
        return f"export ROUND_LEDGER_HOME={shlex.quote(str(place.home))}"
    file = place.folder / "settings.sh"
    lines = "".join(
        f"export {name}={shlex.quote(str(value))}\n"
        for name, value in (
            ("ROUND_LEDGER_HOME", settings.home),
            ("ROUND_LEDGER_DATABASE_URL", settings.database_url),
            ("ROUND_LEDGER_MIGRATION_URL", settings.migration_url),
        )
    )
    replace_file(file, lines.encode())
    return f". {shlex.quote(str(file))}"


def _called() -> str:
    """The command that called this program."""
    name, here = shutil.which("round-ledger"), Path(sys.argv[0]).resolve()
    if name and Path(name).resolve() == here:
        return "round-ledger"
    return str(here.relative_to(Path.cwd()) if here.is_relative_to(Path.cwd()) else here)
