"""Finds a round by its name and loads its story, from views that are caught up.

`replay`, `dossier` and `demo` share it. It decides nothing: the ruling comes from the view, the
moments from the facts.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from consumers.cameras.cameras import CAMERA_FACTS, CAMERAS, rows_about
from consumers.rounds.index import ROUND_INDEX, facts_of
from consumers.rulings import rulings
from consumers.rulings.round_state import RoundState
from consumers.rulings.touched_rounds import RoundBatch
from infra.postgres.connection import Database
from infra.postgres.view_tables import ViewStore, reading
from ledger.errors import NotFound, Usage
from ledger.record.tape import TapeRow
from ledger.record.wire import Fact, fact_of
from ledger.rules.engine.ruling import Ruling
from ledger.values import RoundId, parse_round
from replay.cameras.custody import times_of
from replay.footage.library.files import FootageFiles, open_footage
from replay.footage.library.index import FootageIndex
from replay.rounds.story import Story, story
from replay.shell.settings import in_force

ROUND_VIEWS = (ROUND_INDEX, rulings.VIEW, CAMERAS)
"""The views that a round's story is read from."""

STORY_TABLES = (*(t.name for t in ROUND_INDEX.tables), *rulings.tables_to_read(), CAMERA_FACTS.name)
"""The tables of these views, read in one snapshot."""


class LoadedRound(NamedTuple):
    """A story, and the other facts it was made from."""

    story: Story
    camera_rows: Sequence[TapeRow]
    footage: FootageFiles | None


def footage_folder(named: Path | None) -> Path | FootageIndex | None:
    """The named folder, else the index of this home, else its folder `footage`.

    None if there is none. Raises `Usage` for a named folder that does not exist.
    """
    if named is None:
        index, usual = FootageIndex(in_force().home), in_force().home / "footage"
        return index if index.exists else usual if usual.is_dir() else None
    if not named.is_dir():
        raise Usage("There is no such folder", where=str(named), hint="Name the footage folder.")
    return named


def load_round(database: Database, name: str, footage: Path | FootageIndex | None) -> LoadedRound:
    """The story of one round. Raises `Usage` for an invalid name, `NotFound` for an unknown one."""
    with reading(database, STORY_TABLES) as store:
        return load_round_in(store, resolve_round(store, name), footage)


def load_round_in(
    store: ViewStore, round_: RoundId, footage: Path | FootageIndex | None
) -> LoadedRound:
    """The story of a round, as of the snapshot in which `STORY_TABLES` were opened."""
    parts = parts_of(store, round_)
    between = times_of(row.time_us for row in parts.rows) or (0, 0)
    camera_rows = rows_about(store, round_.property, round_.table, *between)
    return tell_round(parts, parts.ruling(), camera_rows, footage)


class RoundParts(NamedTuple):
    """What a story is made from, without cameras: the round's facts and state."""

    round: RoundId
    rows: Sequence[TapeRow]
    batch: RoundBatch
    case: RoundState

    def ruling(self) -> Ruling | None:
        """The ruling on the round's current facts."""
        return self.batch.ruling(self.case)


def parts_of(store: ViewStore, round_: RoundId) -> RoundParts:
    """The parts of a round from the views."""
    batch = RoundBatch(store)
    return RoundParts(round_, facts_of(store, round_), batch, batch.case(round_))


def tell_round(
    parts: RoundParts,
    ruling: Ruling | None,
    camera_rows: Sequence[TapeRow],
    footage: Path | FootageIndex | None,
) -> LoadedRound:
    """The story of a round, with its available footage."""
    camera_facts = [fact_of(row) for row in camera_rows]
    kept = at_hand(footage, camera_facts)
    whole = story(parts.round, parts.rows, ruling, camera_facts, kept, parts.case.made)
    return LoadedRound(whole, camera_rows, kept)


def at_hand(footage: Path | FootageIndex | None, facts: Sequence[Fact]) -> FootageFiles | None:
    """The available segments among those that facts record; None if none was searched."""
    if isinstance(footage, FootageIndex):
        return footage.at_hand(facts)
    return open_footage(footage, facts) if footage else None


def resolve_round(store: ViewStore, name: str) -> RoundId:
    """The round of a name; the property may be left out if only one has such a round."""
    meant = parse_round(name, "")
    if meant is None:
        raise Usage(
            f"`{name}` is not the name of a round",
            where="ROUND",
            hint="Give [property:]table/gaming day/number, such as CC-07/2026-11-20/231.",
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
            hint=f"Search with `round-ledger rounds --table {meant.table}`.",
        )
    if len(found) > 1:
        names = ", ".join(f"{row[0]}:{meant.subject}" for row in found)
        raise Usage(f"{len(found)} properties have it", where=name, hint=f"Name one: {names}.")
    return meant._replace(property=found[0][0])
