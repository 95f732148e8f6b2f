"""What every page uses, each opened once: the record, users, sessions, footage."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import NamedTuple
from zoneinfo import ZoneInfo

from starlette.requests import Request

from infra.access.connections import AccessDatabase
from infra.access.passkeys import Passkeys
from infra.access.readings import ReadingLog
from infra.access.relying_party import relying_party
from infra.access.second_factor import SecondFactors
from infra.access.sessions import Sessions
from infra.access.users import Users
from infra.postgres.connection import Database, keeping
from infra.postgres.tape import PostgresTape
from infra.settings import Settings
from ledger.errors import Unavailable
from replay.approvals.desk import ApprovalDecisions
from replay.ask.house import HouseHours
from replay.cameras.retention import policy_from
from replay.disputes.dispute import DisputeDecisions
from replay.disputes.preserved_windows import PreservedWindows
from replay.disputes.service import DisputeContext, LockContext, lock_margins
from replay.footage.library.index import FootageIndex
from replay.footage.live.addresses import addresses_from
from replay.footage.live.cameras import LiveCameras
from replay.recording.papers import PaperDecisions
from replay.shell.zones import Zones, zones
from replay.web.alert_watch import AlertWatch
from replay.web.round_reader import RoundReader


class Address(NamedTuple):
    """How browsers reach the server."""

    url: str  # without a path: https://ledger.example, http://127.0.0.1:8080
    secure: bool  # browsers send cookies over TLS only
    proxies: Sequence[str] = ()  # networks of proxies that report where browsers ask from


class Ports(NamedTuple):
    """Everything that pages need."""

    address: Address
    time_zone: Mapping[str, ZoneInfo]  # the setting: zones by property
    house_hours: HouseHours
    database: Database
    tape: PostgresTape
    access: AccessDatabase
    users: Users
    sessions: Sessions
    readings: ReadingLog
    library: FootageIndex  # the footage index
    live: LiveCameras  # cameras whose pictures come now
    rounds: RoundReader
    alerts: AlertWatch
    dispute_context: DisputeContext  # raises, decides and locks disputes
    windows: PreservedWindows  # footage preserved without a dispute
    papers: PaperDecisions  # slips, inventories and counts that people enter
    approvals: ApprovalDecisions  # what one person asks for and another approves

    def zones(self) -> Zones:
        """The zones that times are shown and typed in; the setting's if the database is down."""
        try:
            return zones(self.time_zone, self.tape.newest)
        except Unavailable:
            return Zones(self.time_zone, {})


@contextmanager
def opened_ports(
    database: Database, tape: PostgresTape, address: Address, settings: Settings
) -> Iterator[Ports]:
    """Everything that pages need, over an open record. It is closed when the block ends."""
    access, library = AccessDatabase(database), FootageIndex(settings.home)
    addresses = addresses_from(settings.live_cameras_file, settings.mediamtx_url)
    with (
        keeping(database) as kept,
        closing(access),
        closing(LiveCameras(addresses)) as live,
        DisputeDecisions(kept) as decisions,
        PaperDecisions(kept) as papers,
        ApprovalDecisions(kept, tape, settings.home) as approvals,
    ):
        context = DisputeContext(LockContext(kept, tape, lock_margins(settings)), decisions)
        yield Ports(
            address=address,
            time_zone=settings.time_zone,
            house_hours=HouseHours(settings.gaming_day_begins, settings.shifts),
            database=kept,
            tape=tape,
            access=access,
            users=Users(access),
            sessions=Sessions(
                access,
                SecondFactors(access, settings.home, required=settings.second_factor == "required"),
                Passkeys(access, relying_party(settings.public_url)),
            ),
            readings=ReadingLog(access),
            library=library,
            live=live,
            rounds=RoundReader(kept, library),
            alerts=AlertWatch(kept, tape, settings),
            dispute_context=context,
            windows=PreservedWindows(
                context.lock_context, tape, policy_from(settings.retention_file)
            ),
            papers=papers,
            approvals=approvals,
        )


def ports(request: Request) -> Ports:
    """What this server's pages use."""
    made: Ports = request.app.state.ports
    return made
