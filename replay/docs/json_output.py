"""The tables of JSON output: which objects each command prints, with their fields.

Fields come from the types that are printed. Objects that a command puts together are declared here;
the test that runs every page holds them against what the commands print on the demo.
"""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from consumers.disputes.disputes import CaseTask
from consumers.finance.sealed.redrive import RedrivenDay
from consumers.money.drop import Drop, Win
from consumers.relay.check import Break, FeedCheck, TapeSeen
from consumers.relay.refill import Refilled
from consumers.runtime.unpark import Released
from infra.access.connections import Event
from infra.kafka.topics import Difference
from infra.postgres.parking import ParkedSummary
from infra.postgres.patrons.vault import NamedPlace
from infra.postgres.tape import PartLag
from ledger.finance.checks import BookLine, CheckException, CheckLine
from ledger.finance.coupons import BatchLine, CouponException, QuarterLine, UnknownLine
from ledger.finance.day_versions import Adjustment
from ledger.finance.journal import JournalEntry, Posting
from ledger.finance.meters.lines import MeterLine
from ledger.finance.statistics.charts import ChartPoint
from ledger.finance.statistics.hold import Explanation, LimitCheck, VarianceLine
from ledger.finance.win import (
    AuditException,
    BoxContent,
    Cause,
    CouponFigures,
    ExpectedWin,
    Item,
    TableWin,
    TournamentFigures,
)
from ledger.record.tape import Counters
from ledger.record.verify import Acknowledgement, RecordBreak
from ledger.rules.engine.ruling import (
    Awaiting,
    FactRef,
    Finding,
    Ruling,
    Settlement,
    TableFindings,
)
from replay.cameras.intake.report import FileReport
from replay.cameras.statement import CameraCover, Cover, Statement
from replay.cameras.timeline import FrameLookup
from replay.cli.finance.day import ClosedDay
from replay.cli.serving.services import ServiceState
from replay.cli.serving.settings import SettingShown
from replay.disputes.comparison import CaseComparison, RecordedFact
from replay.docs import markdown
from replay.docs.fields.json_output import MEANINGS
from replay.games.game_card import GameCard
from replay.recording.answers import Answer
from replay.reports.table import ReportHead
from replay.review.samples import SampleResult
from replay.rounds.moment import HeldCards, SeatMoment, Stake
from replay.rounds.owed import OwedLine
from replay.statistics.error_report import ErrorRow

if TYPE_CHECKING:
    from collections.abc import Iterable


class JsonForm(NamedTuple):
    """One kind of object that commands print."""

    commands: tuple[str, ...]
    each: str  # what there is one object for
    fields: tuple[str, ...]
    may_lack: tuple[str, ...] = ()  # fields that are printed only if there is something to say


def fields_of(kind: type) -> tuple[str, ...]:
    """The names of a type's fields, as JSON has them."""
    if issubclass(kind, Struct):
        return kind.__struct_encode_fields__
    if is_dataclass(kind):
        return tuple(each.name for each in dataclass_fields(kind))
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    return names


def _without(kind: type, *left_out: str) -> tuple[str, ...]:
    return tuple(name for name in fields_of(kind) if name not in left_out)


_MALFORMED = ("quarantine_id", "what", "where", "hint")
_ANSWER = fields_of(Answer)
_LOCK = ("window", "camera", "from", "to", "by", "because", "position")
_DECIDED = ("dispute", "property", "fact", "position", "warning")
_SEGMENT = (
    *("camera", "property", "sha256", "path", "size", "start", "start_from", "timecode_start"),
    *("duration_us", "frames", "key_frames", "fps_min", "fps_max", "container", "codec"),
    *("width", "height", "rotation", "audio", "ending", "playable", "unplayable"),
)
_CHECK = (
    *("camera", "camera_time", "reference_time", "reference", "offset_us", "uncertainty_ms"),
    *("readings", "verdict"),
)
_HANDLED = ("fact", "camera", "from", "to", "dispute", "window", "because", "position")
_SHIFT = (
    *("shift", "property", "state", "begun_by", "begun_us", "handed_by", "handed_us", "to"),
    *("report", "signed_by", "signed_us"),
)
_CHECKPOINT = ("log", "entries", "root", "signed")
_QUARANTINED = (
    *("quarantine_id", "received_at", "reason", "what", "where", "bytes", "hint", "verdict"),
    *("source", "id", "attributes", "octets", "times_received", "last_received_at"),
    *("released_at", "released_position", "senders"),
)
_KEY = ("key", "source", "role")
_LETTER = ("place", "from", "reason", "tries", "failed_at", "replayed_at", "replayed_by")

_REQUEST = (
    "request", "property", "act", "about", "terms", "digest", "state", "by", "user", "asked",
    "asked_at", "until", "answered_by", "answered_at", "because",
)  # fmt: skip

FORMS = (
    JsonForm(("adjudicate",), "round, by its begin", fields_of(Ruling)),
    JsonForm(("adjudicate",), "table with findings outside any round", fields_of(TableFindings)),
    JsonForm(
        (*(f"approve {each}" for each in ("list", "give", "refuse", "withdraw")),),
        "request",
        _REQUEST,
    ),
    JsonForm(("approve show",), "request", (*_REQUEST, "says", "why_not")),
    JsonForm(("backup",), "backup", ("archive", "heads", "stills")),
    JsonForm(("consume",), "view", ("view", "version", "position")),
    JsonForm(
        ("consume --status",), "view", ("view", "behind_facts", "behind_us", "parts", "parked")
    ),
    JsonForm(
        ("consume alerts",),
        "run: counts",
        ("read", "raised", "dead", "too_old", "delivered", "failed"),
    ),
    JsonForm(("day show", "day reopen", "day close"), "gaming day", fields_of(ClosedDay)),
    JsonForm(("day close",), "gaming day that lacks something", ("missing", "tables")),
    JsonForm(
        (
            "acknowledge",
            "day close",
            "day reopen",
            "erase patron",
            "log epoch",
            "quarantine release",
            "variance explain",
        ),
        "request, once the ledger has users",
        _REQUEST,
    ),
    JsonForm(
        ("dispute raise",),
        "dispute",
        ("dispute", "property", "round", "position", "raised", "locks"),
    ),
    JsonForm(("dispute preserve",), "lock", _LOCK),
    JsonForm(("dispute lock",), "dispute", ("dispute", "locks")),
    JsonForm(
        tuple(
            f"dispute {each}"
            for each in ("note", "observe", "reveal", "resolve", "adjust", "task", "task-done")
        ),
        "decision",
        _DECIDED,
    ),
    JsonForm(
        ("dispute list",),
        "dispute",
        (
            *("dispute", "property", "status", "round", "position", "raised", "raised_by"),
            *("resolved", "observations", "notes", "reveals", "adjusted", "locks", "releases"),
        ),
    ),
    JsonForm(
        ("review list",),
        "finding",
        (
            *("name", "property", "table", "gaming_day", "round", "code", "position", "hand"),
            *("wager", "throw", "off", "time_us", "says", "gravity", "status", "holder"),
            *("given_by", "outcome", "because", "decided_by", "decided_us", "dealers"),
        ),
    ),
    JsonForm(
        ("logbook list",),
        "entry",
        (
            *("entry", "property", "from_us", "to_us", "place", "what", "who", "recorded_where"),
            *("disposition", "by", "corrections"),
        ),
    ),
    JsonForm(("logbook add", "logbook correct"), "entry", ("entry",)),
    JsonForm(("shift list",), "shift", _SHIFT),
    JsonForm(("shift report",), "shift", (*_SHIFT, "text")),
    JsonForm(("shift begin",), "shift", ("shift", "property")),
    JsonForm(("shift hand-over", "shift countersign"), "shift", ("shift", "property", "report")),
    JsonForm(("review sample",), "sample", ("sample", "seed", "drawn", "position")),
    JsonForm(("review samples",), "sample", (*fields_of(SampleResult), "says")),
    JsonForm(
        tuple(f"review {each}" for each in ("take", "give", "close", "reopen")),
        "finding",
        ("name", "property", "position"),
    ),
    JsonForm(("dispute show",), "dispute", (*fields_of(CaseComparison), "raised")),
    JsonForm(("dispute overdue",), "task", ("property", "dispute", "task", "to", "due_us")),
    JsonForm(
        ("dispute windows",),
        "window",
        (
            *("name", "property", "table", "from_us", "to_us", "by", "because", "locks"),
            *("released", "status", "expires_us", "from", "to", "cameras", "expires"),
        ),
    ),
    JsonForm(("dlq list",), "dead letter", _LETTER),
    JsonForm(("dlq show",), "dead letter", (*_LETTER, "headers", "bytes")),
    JsonForm(("dlq replay",), "dead letter", ("place", "replayed", "reason")),
    JsonForm(("dossier",), "file", ("path", "bytes", "sha256")),
    JsonForm(("drop",), "table and gaming day", fields_of(Drop)),
    JsonForm(("erase plan",), "patron", ("property", "pseudonyms", "places", "holds")),
    JsonForm(("erase patron",), "erased patron", ("erased", "property", "position")),
    JsonForm(("errors",), "group", fields_of(ErrorRow)),
    JsonForm(
        ("win", "win --by shift"),
        "table or group, and gaming day",
        fields_of(TableWin),
        ("pit", "shift", "tournaments", "expected_lacks", "games"),
    ),
    JsonForm(
        ("footage add", "footage watch"),
        "file; a refused one has `problem`",
        ("file", "verdict", *_SEGMENT, "warnings", "problem"),
        (*_SEGMENT, "warnings", "problem"),
    ),
    JsonForm(("footage look",), "file before it is on record", fields_of(FileReport)),
    JsonForm(
        ("footage add", "footage watch"),
        "run: counts",
        ("appended", "duplicate", "on_record", "refused", "files"),
        ("appended", "duplicate", "on_record", "refused"),
    ),
    JsonForm(
        ("footage add", "footage watch", "footage calibrate", "footage clock"),
        "clock check",
        _CHECK,
    ),
    JsonForm(("footage list",), "segment", _SEGMENT),
    JsonForm(
        ("footage clock",),
        "known instant of an epoch",
        ("epoch", "drift_ppm", "reference_time", "camera_time", "offset_us", "plus_minus_us"),
    ),
    JsonForm(("footage coverage",), "statement", fields_of(Statement)),
    JsonForm(
        ("footage frame",),
        "frame",
        (*fields_of(FrameLookup), "file", "sha256", "timecode"),
        ("file", "sha256", "timecode"),
    ),
    JsonForm(
        ("footage clip",),
        "camera",
        (
            *("camera", "from", "to", "plus_minus_ms", "unchecked_us", "piece", "clip"),
            *("first_frame_camera", "first_frame_reference", "later_us", "missing"),
            "segments_not_at_hand",
        ),
    ),
    JsonForm(("footage health",), "finding", ("camera", "from", "to", "code", "pictures", "says")),
    JsonForm(("migrate",), "migration", ("migration", "state", "applied_at", "now")),
    JsonForm(
        ("footage status",),
        "machine",
        (
            *(
                "network",
                "opens_files",
                "landlock",
                "limits_refused",
                "memory_bytes",
                "cpu_s",
                "job_s",
                "bytes_a_s",
            ),
            *("video", "index", "segments"),
        ),
    ),
    JsonForm(
        ("footage retention",),
        "stretch that expires",
        (
            *("what", "camera", "from", "to", "segments", "area", "reason", "days", "expires"),
            "expires_last",
        ),
    ),
    JsonForm(
        ("footage retention",),
        "lock or release",
        ("what", "camera", "from", "to", "by", "because", "dispute", "window"),
    ),
    JsonForm(("footage lock", "footage release", "footage expire"), "fact", _HANDLED),
    JsonForm(("footage expire --delete",), "deleted file", ("deleted", "sha256", "camera")),
    JsonForm(("games",), "game", fields_of(GameCard), ("edges",)),
    JsonForm(("ingest",), "line", ("feed", "line", *_ANSWER), ("feed", *_MALFORMED)),
    JsonForm(("ingest",), "run: counts", fields_of(Counters)),
    JsonForm(("coupons",), "batch", ("property", *fields_of(BatchLine))),
    JsonForm(("coupons",), "last line: serials of no batch", ("property", *fields_of(UnknownLine))),
    *(
        JsonForm((name,), "facts recorded twice, after all lines", ("property", "exceptions"))
        for name in ("coupons", "checks")
    ),
    JsonForm(("coupons --quarter",), "face", ("property", *fields_of(QuarterLine))),
    JsonForm(("checks",), "counter check", ("property", *fields_of(CheckLine))),
    JsonForm(("checks",), "book of counter checks", ("property", *fields_of(BookLine))),
    JsonForm(("variance show",), "group and period", fields_of(VarianceLine)),
    JsonForm(("variance chart",), "group and gaming day", fields_of(ChartPoint)),
    JsonForm(("variance explain",), "explanation", ("position", "table", "gaming_day")),
    JsonForm(("meters",), "progressive meter", ("property", *fields_of(MeterLine))),
    JsonForm(("journal",), "entry", fields_of(JournalEntry)),
    JsonForm(("journal --redrive",), "closed day", fields_of(RedrivenDay)),
    JsonForm(("report",), "report that is printed", ("report", *ReportHead._fields, "file")),
    JsonForm(
        ("report",),
        "report of `report schedule`",
        ("report", "title", "every", "last_day", "last_printed"),
    ),
    JsonForm(("keys add",), "key", _KEY),
    JsonForm(("keys list",), "key", (*_KEY, "kind", "made", "revoked", "replaced_by", "by")),
    JsonForm(("keys enrol",), "key", (*_KEY, "public")),
    JsonForm(("keys load",), "file", ("keys", "loaded")),
    JsonForm(("keys rotate",), "key", (*_KEY, "public", "replaces")),
    JsonForm(("grants list",), "grant", ("role", "facts", "tables", "cameras")),
    JsonForm(("grants set",), "role", ("role", "grants")),
    JsonForm(
        ("keys signing make", "keys signing show", "keys signing rotate"),
        "key",
        ("key", "public", "retired"),
    ),
    JsonForm(("log begin", "log key", "witness begin", "witness key"), "key", ("name", "key")),
    JsonForm(("log check",), "break", ("broken",)),
    JsonForm(("log check",), "run", (*_CHECKPOINT, "breaks")),
    JsonForm(("log check",), "proof", ("kind", "number", "digest", "leaf", *_CHECKPOINT)),
    JsonForm(
        ("log epoch",),
        "ended log",
        ("log", "entries", "root", "kept", "lost", "property", "position"),
    ),
    JsonForm(("log checkpoint",), "checkpoint", _CHECKPOINT),
    JsonForm(("quarantine list", "quarantine show"), "input", _QUARANTINED),
    JsonForm(("quarantine release",), "release", ("released", *_ANSWER), _MALFORMED),
    JsonForm(("rebuild",), "view", ("view", "version", "rebuilt", "workers")),
    JsonForm(("relay republish",), "run", ("from", "to", "republished")),
    JsonForm(("relay refill",), "run: counts", fields_of(Refilled)),
    JsonForm(("relay restate",), "topic", ("topic", "messages")),
    JsonForm(("relay silence",), "topic", ("topic", "removed")),
    JsonForm(("relay verify",), "break", fields_of(Break)),
    JsonForm(("relay verify",), "tape", fields_of(TapeSeen)),
    JsonForm(("relay verify",), "run: counts", _without(FeedCheck, "breaks", "tapes")),
    JsonForm(
        ("replay",),
        "moment",
        (
            *("round", "property", "moment", "of", "position", "source", "id", "time"),
            *("plus_minus_ms", "fact", "says", "phase", "corrected", "table", "cameras"),
        ),
    ),
    JsonForm(
        ("replay",),
        "round, at the end",
        ("round", "property", "game", "ruling", "paid_beside_owed", "missing"),
    ),
    JsonForm(
        ("rounds", "rounds --ask"),
        "round",
        (
            *("round", "property", "game", "status", "began", "ended", "positions", "wagers"),
            *("wagered", "paid", "facts"),
        ),
    ),
    JsonForm(("rounds --ask",), "sentence, at the beginning", ("ask", "filters", "not_used")),
    JsonForm(
        ("rounds --errors",),
        "finding and wager",
        ("finding", "wager", "times", "patrons_lost", "house_lost"),
    ),
    JsonForm(
        ("rounds --errors",),
        "dealer, at the end",
        ("dealer", "rounds", "patrons_lost", "house_lost"),
    ),
    JsonForm(("services up", "services status"), "server", fields_of(ServiceState)),
    JsonForm(("services down",), "run", ("stopped", "postgres")),
    JsonForm(("settings",), "setting", fields_of(SettingShown)),
    JsonForm(("simulate",), "run: counts", ("facts", "rounds", "planted", "segments", "keys")),
    JsonForm(("submissions check",), "file", ("game", "edges")),
    JsonForm(("submissions file",), "file", ("edges", *_ANSWER), _MALFORMED),
    JsonForm(("topics apply", "topics check"), "difference", fields_of(Difference)),
    JsonForm(("unpark",), "view", fields_of(Released)),
    JsonForm(
        ("users list",),
        "user",
        ("name", "employee", "roles", "password", "subject", "made", "disabled"),
    ),
    JsonForm(("users sessions",), "session", ("name", "session", "signed_in", "last_used")),
    JsonForm(("users passkeys",), "passkey", ("passkey", "made", "last_used")),
    JsonForm(("users log",), "event", fields_of(Event)),
    JsonForm(("verify", "restore"), "tape: its head", ("place", "sequence", "position", "hash")),
    JsonForm(("verify", "restore", "acknowledge"), "break", ("broken",)),
    JsonForm(("verify",), "view", ("view", "position", "rows", "breaks")),
    JsonForm(("verify",), "break of a view", ("view", "broken")),
)
"""Every kind of object, by command."""

INSIDE: tuple[tuple[str, type], ...] = (
    ("`settlements` of a ruling", Settlement),
    ("`findings` of a ruling", Finding),
    ("`facts` of a settlement or finding", FactRef),
    ("`awaiting` of a ruling", Awaiting),
    ("`paid_beside_owed` of a replay, `lines` of a dispute", OwedLine),
    ("`shown` of a dispute", RecordedFact),
    ("`tasks` of a dispute", CaseTask),
    ("`cameras` of a moment, with times as `camera_time` and `plus_minus_ms`", FrameLookup),
    ("`table.seats` of a moment", SeatMoment),
    ("`stakes` of a seat", Stake),
    ("`table.held` of a moment", HeldCards),
    ("`wagers` of a drop", Win),
    ("`drop` of a win", BoxContent),
    ("`coupons` of a win", CouponFigures),
    ("`tournaments` of a win", TournamentFigures),
    ("`items` of a win", Item),
    ("`causes` of a win", Cause),
    ("`exceptions` of a win", AuditException),
    ("`expected` of a win or of a variance", ExpectedWin),
    ("`limits` of a variance", LimitCheck),
    ("`explained` of a variance", Explanation),
    ("`postings` and `balances` of an entry", Posting),
    ("`exceptions` of a batch of coupons", CouponException),
    ("`exceptions` of a counter check or a book of them", CheckException),
    ("`adjustments` of a gaming day", Adjustment),
    ("`stretches` of a statement", Cover),
    ("`cameras` of a stretch", CameraCover),
    ("`parts` of a view", PartLag),
    ("`parked` of a view", ParkedSummary),
    ("`broken` of a record", RecordBreak),
    ("`acknowledged` of a break", Acknowledgement),
    ("`places` of a patron", NamedPlace),
)
"""Objects within others, by where they stand."""


def part() -> str:
    """The three tables."""
    forms = markdown.table(
        ("command", "one object for each", "fields", "fields that it may lack"),
        ((_codes(each.commands), each.each, *_fields(each)) for each in FORMS),
    )
    inside = markdown.table(
        ("objects", "fields"), ((where, _codes(fields_of(kind))) for where, kind in INSIDE)
    )
    meanings = markdown.table(
        ("field", "meaning"), ((markdown.code(name), MEANINGS[name]) for name in sorted(names()))
    )
    return (
        f"### Objects by command\n\n{forms}\n\n### Objects within\n\n{inside}\n\n"
        f"### What the fields mean\n\n{meanings}"
    )


def names() -> set[str]:
    """The names of all fields of all objects."""
    printed = (each.fields + each.may_lack for each in FORMS)
    return set().union(*printed, *(fields_of(kind) for _, kind in INSIDE))


def _fields(form: JsonForm) -> tuple[str, str]:
    always = (name for name in form.fields if name not in form.may_lack)
    return _codes(always), _codes(form.may_lack)


def _codes(names: Iterable[str]) -> str:
    return ", ".join(map(markdown.code, names))


def form_of(command: str, printed: Iterable[str]) -> JsonForm | None:
    """The declared form of an object that a command printed; None if there is none."""
    names = set(printed)
    fitting = (
        form
        for form in FORMS
        if command in form.commands
        if set(form.fields) - {*form.may_lack} <= names <= {*form.fields}
    )
    return next(fitting, None)
