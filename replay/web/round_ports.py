"""What the round page and its footage read and do, as functions; `replay.cli` makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.facts import SegmentRecorded
    from ledger.record.tape import Received
    from ledger.values import RoundId
    from replay.cameras.coverage import Coverage
    from replay.footage.library.files import FootageIndex
    from replay.footage.library.index import Library
    from replay.recording.house_facts import Noted
    from replay.rounds.story import Story


class Told(NamedTuple):
    """A round as the views have it now. version: changes when anything in it does."""

    story: Story
    coverage: Coverage
    footage: FootageIndex
    version: str


class Beside(NamedTuple):
    """The rounds before and after one at its table."""

    before: RoundId | None
    after: RoundId | None


class RoundPorts(NamedTuple):
    """What the round screen needs."""

    told: Callable[[RoundId], Told]  # raises NotFound
    beside: Callable[[RoundId], Beside]
    patrons: Callable[[Told], Mapping[int, str]]  # tokens by position, as the round began
    library: Library
    recorded: Callable[[str], tuple[str, SegmentRecorded] | None]  # by SHA-256: property and fact
    put: Callable[[Sequence[Received]], list[Noted]]  # facts of the house, on record
