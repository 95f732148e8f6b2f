"""What pages read and do, as functions, which `replay.cli.serving.view_thread` makes.

A page family has a field here; its types are its own module's. Nothing here reads a setting.
"""

from collections.abc import Callable
from typing import NamedTuple
from zoneinfo import ZoneInfo

from starlette.requests import Request

from infra.access.connections import Door
from infra.access.sessions import Sessions
from infra.access.users import Users
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from replay.disputes.service import Office
from replay.disputes.windows import Windows
from replay.web.alert_watch import Watch
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


class Ports(NamedTuple):
    """Everything that pages need."""

    address: Address
    zone: ZoneInfo  # of the floor: times are shown in it, with their offset
    database: Database
    tape: PostgresTape
    door: Door
    users: Users
    sessions: Sessions
    behind: Callable[[], Behind]
    rounds: RoundPorts
    alerts: Watch
    office: Office  # of disputes
    windows: Windows  # of footage kept without one


def ports(request: Request) -> Ports:
    """What this server's pages read from."""
    made: Ports = request.app.state.ports
    return made
