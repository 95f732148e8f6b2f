"""What pages read and do, as functions, which `replay.cli.serving.view_thread` makes.

A page family has a field here; its types are its own module's. Nothing here reads a setting.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from starlette.requests import Request

from infra.access.connections import Door
from infra.access.sessions import Sessions
from infra.access.users import Users
from infra.postgres.connection import Database
from ledger.values import RoundId
from replay.dossier import Kind
from replay.web.case_ports import CasePorts
from replay.web.round_ports import RoundPorts


class Behind(NamedTuple):
    """How far what pages show is behind the record."""

    facts: int  # on record and not in every view yet
    seconds: int  # since the oldest of them was received


class Address(NamedTuple):
    """How browsers reach the server."""

    url: str  # without a path: https://ledger.example, http://127.0.0.1:8080
    secure: bool  # browsers send cookies over TLS only
    proxied: bool = False  # a proxy on this machine says where they ask from


class TableNow(NamedTuple):
    """A table as it stands by its latest facts."""

    property: str
    table: str
    open: bool | None  # None: not told
    game: str | None
    gaming_day: str | None
    limits: tuple[int | None, int | None]  # lowest and highest wager, cents
    dealers: Sequence[tuple[str, str]]  # credential and role
    floorperson: str | None
    seats: int  # positions that are taken
    round: RoundId | None
    stage: str | None  # name of the round's latest fact
    last_us: int  # device time of the latest fact


class AlertNow(NamedTuple):
    """An alert that holds, or that came lately. since_us: when it began, or was raised."""

    since_us: int
    kind: str
    about: str
    says: str


class AlertsNow(NamedTuple):
    """The alerts there are. fed_us: when the last one came through the feed; None: none has."""

    all: Sequence[AlertNow]
    fed_us: int | None


class FindingNow(NamedTuple):
    """A finding of a round that was told of lately."""

    round: RoundId
    last_us: int
    code: str
    says: str


class Floor(NamedTuple):
    """The floor at one moment."""

    now_us: int  # this machine's clock
    quiet_s: int  # an open table that tells nothing for so long is quiet
    tables: Sequence[TableNow]
    alerts: AlertsNow
    findings: Sequence[FindingNow]
    lags: Sequence[tuple[str, int, int]]  # view, facts and seconds behind


class DropDay(NamedTuple):
    """A table's gaming day, as `consumers.money.drop.Drop` tells it. Cents; None: not on record."""

    property: str
    table: str
    gaming_day: str
    amounts: Mapping[str, int | None]
    corrected: Mapping[str, int]  # amounts that corrections change, as they should have been
    boxes: Sequence[Mapping[str, object]]
    wagers: Sequence[Mapping[str, object]]
    corrections: Sequence[Mapping[str, object]]
    withheld: bool = False  # what its rounds add up to, from who looks


class DropPorts(NamedTuple):
    """What the page Drop asks."""

    days: Callable[[], Sequence[str]]  # the latest first
    read: Callable[[str | None, str | None], Sequence[DropDay]]  # of a gaming day, of a table


class Handover(NamedTuple):
    """A dossier that is asked for. pre_s, post_s: seconds of footage around the round."""

    of: str  # a name of a round, a dispute or a window
    by: str  # credential
    because: str
    pre_s: int
    post_s: int
    kind: Kind | None = None  # which of these; None: as its name reads


class DossierPorts(NamedTuple):
    """What the page of dossiers asks."""

    signed: Callable[[], str | None]  # the name of the key that signs now, if there is one
    make: Callable[[Handover, Path], None]  # one zip at this path
    rounds: Callable[[Handover], Sequence[RoundId]]  # it would tell anything of; none of nothing


class Ports(NamedTuple):
    """Everything that pages need."""

    address: Address
    zone: ZoneInfo  # of the floor: times are shown in it, with their offset
    database: Database
    door: Door
    users: Users
    sessions: Sessions
    behind: Callable[[], Behind]
    rounds: RoundPorts
    floor: Callable[[Sequence[RoundId]], Floor]  # without what is told of some rounds
    drop: DropPorts
    dossiers: DossierPorts
    cases: CasePorts


def ports(request: Request) -> Ports:
    """What this server's pages read from."""
    made: Ports = request.app.state.ports
    return made
