"""What the pages of cases read and do, as functions; see `replay.web.ports`."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ledger.facts import Body
from ledger.values import RoundId
from replay.disputes.dispute import Dispute, Note
from replay.disputes.preserved_windows import Window
from replay.rounds.story import Story


class CaseRow(NamedTuple):
    """A dispute in the list, without its claim: a reviewer may not know it yet."""

    property: str
    dispute: str
    status: str
    round: RoundId | None
    position: int | None
    raised_us: int | None
    raised_by: str | None
    observations: int
    adjusted: int | None  # cents
    locks: int
    releases: int
    withheld: bool = False  # from who looks: what was paid is not told


class Held(NamedTuple):
    """A stretch of a camera, by its own clock, that was locked for a dispute or released again."""

    camera: str
    from_us: int
    to_us: int
    by: str
    because: str
    released: bool


class CaseFile(NamedTuple):
    """A dispute with all that stands beside it."""

    case: Dispute
    story: Story | None  # None: no fact of its round is on record
    held: Sequence[Held]  # in the order told
    unlocked: Sequence[str]  # cameras with footage that was never locked for it
    locked: bool  # whether a lock of its own still holds
    withheld: bool = False  # its round, from who looks


class About(NamedTuple):
    """A dispute about a round."""

    property: str
    dispute: str
    notes: Sequence[Note] = ()


class Claimed(NamedTuple):
    """A claim to be raised. round: [property:]table/gaming day/number."""

    round: str
    position: int
    claim: str
    by: str


class Preserve(NamedTuple):
    """A stretch to be kept without a dispute; times of the reference, microseconds."""

    property: str | None
    table: str | None
    camera: str | None
    from_us: int
    to_us: int
    because: str
    by: str


class Release(NamedTuple):
    """A dispute or a window of a property, whichever is named, whose locks are to end."""

    property: str
    dispute: str | None
    window: str | None
    because: str
    by: str


class WindowPorts(NamedTuple):
    """What pages ask of footage that is kept without a dispute, up to the end of the record."""

    preserve: Callable[[Preserve], Window]  # `NotFound` where no camera was on the table
    all: Callable[[], Sequence[Window]]  # of each property the one put last first
    one: Callable[[str, str], Window]  # of a property, by its name


class CasePorts(NamedTuple):
    """What the pages of cases ask, and what they have done."""

    rows: Callable[[str | None], Sequence[CaseRow]]  # of a status, the one raised last first
    file: Callable[[str, str], CaseFile]  # of a property's dispute; up to the end of the record
    about: Callable[[RoundId], Sequence[About]]  # a round's
    withheld: Callable[[str], Mapping[RoundId, About]]  # from an employee, who knows no claim of it
    went: Callable[[RoundId], tuple[int, int] | None]  # from when to when; None: no fact of it
    doubt: Callable[[Claimed], str]  # what to ask before it is raised; empty: nothing
    raise_: Callable[[Claimed], Dispute]
    tell: Callable[[Dispute, Body], None]
    lock: Callable[[Dispute, str], int]  # by whom; how many spans
    windows: WindowPorts
    release: Callable[[Release], None]
