"""A round found by its name and told, from views brought to the end of the record.

What `replay`, `dossier` and `demo` share. It decides nothing: the ruling is the view's, the moments
are the facts'.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from consumers.cameras.cameras import CAMERA_FACTS, CAMERAS, rows_about
from consumers.registry import install
from consumers.rounds.index import ROUND_INDEX, facts_of
from consumers.rulings import rulings
from consumers.rulings.round_state import RoundState
from consumers.rulings.touched_rounds import RoundBatch
from consumers.runtime.lifecycle import Projection, catch_up
from infra.postgres.connection import Database
from infra.postgres.view_tables import ViewStore, reading, tape_source
from ledger.errors import NotFound, Usage
from ledger.record.tape import TapeRow
from ledger.record.wire import Fact, fact_of
from ledger.rules.engine.ruling import Ruling
from ledger.values import RoundId, parse_round
from replay.cameras.custody import times_of
from replay.footage.library.files import FootageFiles, open_footage
from replay.footage.library.index import FootageIndex
from replay.rounds.story import Story, story
from replay.shell.connections import opened_database
from replay.shell.output import Advance, progress
from replay.shell.settings import in_force

ROUND_VIEWS = (ROUND_INDEX, rulings.VIEW, CAMERAS)
"""What a round's story is read from."""

STORY_TABLES = (*(t.name for t in ROUND_INDEX.tables), *rulings.tables_to_read(), CAMERA_FACTS.name)
"""Their tables, to be read at one moment."""


class LoadedRound(NamedTuple):
    """A story, and what it was made from beside the round's own facts."""

    story: Story
    camera_rows: Sequence[TapeRow]
    footage: FootageFiles | None


@contextmanager
def opened_views(projections: Sequence[Projection] = ROUND_VIEWS) -> Iterator[Database]:
    """The record's database with these views at the end of the record (ADR 0061)."""
    with opened_database() as database:
        with progress("views") as advance:
            catch_up_views(database, projections, advance)
        yield database


def catch_up_views(database: Database, projections: Sequence[Projection], advance: Advance) -> None:
    """Create views that are not there, and bring these to the end of the record.

    Where a runner is at work too, each batch is applied by whichever comes first.
    """

    def reached(view: str, position: int) -> None:
        advance(0, doing=f"view {view}: {position:,} facts")

    install(database)
    with tape_source(database) as source:
        catch_up(database, source, projections, progress=reached)


def footage_folder(named: Path | None) -> Path | FootageIndex | None:
    """The folder named, else the index of this home, else the folder `footage` in it.

    None where there is none of them. Raises `Usage` for a folder that is not there.
    """
    if named is None:
        index, usual = FootageIndex(in_force().home), in_force().home / "footage"
        return index if index.exists else usual if usual.is_dir() else None
    if not named.is_dir():
        raise Usage("There is no such folder", where=str(named), hint="Name the footage folder.")
    return named


def load_round(database: Database, name: str, footage: Path | FootageIndex | None) -> LoadedRound:
    """One round, told. Raises `Usage` for a name that is none, `NotFound` where none has it."""
    with reading(database, STORY_TABLES) as store:
        return load_round_in(store, resolve_round(store, name), footage)


def load_round_in(
    store: ViewStore, round_: RoundId, footage: Path | FootageIndex | None
) -> LoadedRound:
    """A round of the index, told as it stood when `STORY_TABLES` were opened."""
    parts = parts_of(store, round_)
    between = times_of(row.time_us for row in parts.rows) or (0, 0)
    camera_rows = rows_about(store, round_.property, round_.table, *between)
    return tell_round(parts, parts.ruling(), camera_rows, footage)


class RoundParts(NamedTuple):
    """What a round is told from, but for its cameras: its facts, and its case as ruled on."""

    round: RoundId
    rows: Sequence[TapeRow]
    batch: RoundBatch
    case: RoundState

    def ruling(self) -> Ruling | None:
        """The round ruled on as its facts stand."""
        return self.batch.ruling(self.case)


def parts_of(store: ViewStore, round_: RoundId) -> RoundParts:
    """What the views have of a round."""
    batch = RoundBatch(store)
    return RoundParts(round_, facts_of(store, round_), batch, batch.case(round_))


def tell_round(
    parts: RoundParts,
    ruling: Ruling | None,
    camera_rows: Sequence[TapeRow],
    footage: Path | FootageIndex | None,
) -> LoadedRound:
    """The story of a round, with the footage that is at hand of it."""
    camera_facts = [fact_of(row) for row in camera_rows]
    kept = at_hand(footage, camera_facts)
    whole = story(parts.round, parts.rows, ruling, camera_facts, kept, parts.case.made)
    return LoadedRound(whole, camera_rows, kept)


def at_hand(footage: Path | FootageIndex | None, facts: Sequence[Fact]) -> FootageFiles | None:
    """The segments at hand of those that facts tell of; None where none was looked for."""
    if isinstance(footage, FootageIndex):
        return footage.at_hand(facts)
    return open_footage(footage, facts) if footage else None


def resolve_round(store: ViewStore, name: str) -> RoundId:
    """The round a name means; the property may be left out where only one has such a round."""
    meant = parse_round(name, "")
    if meant is None:
        raise Usage(
            f"`{name}` is not the name of a round",
            where="ROUND",
            hint="Give [property:]table/gaming day/number, as CC-07/2026-11-20/231.",
        )
    found = store.query(
        "SELECT property FROM {schema}.rounds WHERE table_name = %(table)s"
        " AND gaming_day = %(gaming_day)s AND number = %(number)s"
        " AND (%(property)s = '' OR property = %(property)s) ORDER BY 1",
        meant._asdict(),
    )
    if not found:
        raise NotFound(
            f"No fact of round {name} is on record",
            where="view rounds",
            hint=f"Look for it with `round-ledger rounds --table {meant.table}`.",
        )
    if len(found) > 1:
        names = ", ".join(f"{row[0]}:{meant.subject}" for row in found)
        raise Usage(f"{len(found)} properties have it", where=name, hint=f"Name one: {names}.")
    return meant._replace(property=found[0][0])
