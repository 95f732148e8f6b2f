"""What the value of a record is, topic by topic: the one place that sees the views and the feed.

For the description that other teams read (`replay.docs.asyncapi`). Facts are not here: there are
many, and `ledger.facts.FACTS` names them.
"""

from typing import NamedTuple

from msgspec import Struct

from consumers.alerts.alert import Alert
from consumers.alerts.process import DEAD
from consumers.alerts.process import TOPIC as ALERTS
from consumers.cameras.clock_marks import TOPIC as CAMERAS
from consumers.cameras.clock_marks import CameraMark
from consumers.finance.sealed.sealed_journal import ENTRIES, SealedEntry
from consumers.finance.sealed.seals import SEALED_DAYS, SealedDayState
from consumers.floor.table_board import Board
from consumers.money.drop import TableDay
from consumers.rulings.rulings import ADJUDICATIONS, CutRuling, OfRound, OfTable
from consumers.sealer.checkpoint_topic import CHECKPOINTS, LogCheckpoint
from infra.kafka import topics
from infra.kafka.records import MESSAGE_TYPES, QUARANTINED_TYPE, Envelope
from ledger.record.kinds import WIRE_PREFIX
from ledger.rules.engine.ruling import Ruling, TableFindings


class Carried(NamedTuple):
    """One kind of record: its topic, its `ce_type`, and its value."""

    topic: str
    name: str
    value: type[Struct]
    first: type[Struct] | None = None  # what stands first in it


def _type(topic: str) -> str:
    name = topic.removeprefix("ledger.").rpartition(".")[0]
    return f"{WIRE_PREFIX}{MESSAGE_TYPES[name]}.v1"


DROP, BOARD = "ledger.drop-totals.v1", "ledger.table-state.v1"

CARRIED = (
    Carried(topics.QUARANTINE, QUARANTINED_TYPE, Envelope),
    Carried(ADJUDICATIONS, _type(ADJUDICATIONS), Ruling, OfRound),
    Carried(ADJUDICATIONS, _type(ADJUDICATIONS), TableFindings, OfTable),
    Carried(ADJUDICATIONS, _type(ADJUDICATIONS), CutRuling, OfRound),
    Carried(DROP, _type(DROP), TableDay),
    Carried(SEALED_DAYS, _type(SEALED_DAYS), SealedDayState),
    Carried(ENTRIES, _type(ENTRIES), SealedEntry),
    Carried(BOARD, _type(BOARD), Board),
    Carried(CAMERAS, _type(CAMERAS), CameraMark),
    Carried(CHECKPOINTS, _type(CHECKPOINTS), LogCheckpoint),
    Carried(ALERTS, _type(ALERTS), Alert),
)
"""Every kind of record beside facts."""

AS_IT_CAME = (DEAD,)
"""Topics of dead letters: records of other topics as they came, with why in headers."""
