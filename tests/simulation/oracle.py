"""What must always hold, looked at after every commit and every append, and once more at the end.

Each judgement is made from the record and the logs themselves, never from what the programs say;
what they say (gaps, parked tapes, `relay verify`) is held against it.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from consumers.relay.check import compared
from infra.kafka import topics
from infra.kafka.ports import Consumed
from infra.kafka.records import REPUBLISHED, UnreadableError, fed
from ledger.record.tape import Received
from tests.simulation.broker import number_of
from tests.simulation.plain_views import BAD, NAMES, TOLD, body, chained
from tests.simulation.readers import SimReader
from tests.simulation.stores import SimRelayStore
from tests.simulation.world import Broken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.kafka.records import ProducerRecord
    from infra.postgres.parking import Parked
    from ledger.record.tape import TapeRow
    from tests.simulation.broker import Log
    from tests.simulation.database import Session
    from tests.simulation.floor import Floor, Watched

Rows = dict[str, tuple[Any, ...]]
HARMFUL = ("dropped", "edited", "cut", "stranger", "stray")
"""What is done to records that a reader cannot simply pass over."""


def must(holds: object, law: str, what: str) -> None:
    """What breaks a law ends the run."""
    if not holds:
        raise Broken(law, what)


class Oracle:
    """One run's judge."""

    def __init__(self, floor: Floor) -> None:
        self.floor = floor
        self.database = floor.database
        self.broker = floor.broker
        self.given: dict[str, set[int]] = {}  # by tape, numbers ever brought to its log
        self.said: dict[tuple[str, int], bytes] = {}
        self.published: set[int] = set()
        self._folds: dict[tuple[Any, ...], Rows] = {}
        self._whole: dict[int, tuple[Consumed, int]] = {}
        self._live = dict.fromkeys(NAMES, 0)
        self.database.committed = self.committed
        self.broker.appended = self.appended
        floor.watch = self.watched

    # -- during

    def committed(self, session: Session, written: dict[tuple[str, Any], Any]) -> None:
        """A view is the fold of the record at its tracking, and speaks of what it holds."""
        for (name, _), value in written.items():
            if name == "outbox":
                self.message_is_true(value[1])
        if any(name in ("tracking", "cells", "parked") for name, _ in written):
            for view, rebuilding in self.database.kept["tracking"]:
                self.view_is_fold(view, rebuilding)

    def view_is_fold(self, view: str, rebuilding: bool) -> None:  # noqa: FBT001 - a table's key
        tracking = self.database.kept["tracking"].get((view, rebuilding))
        if tracking is None:
            return
        if not rebuilding:
            must(
                tracking.position >= self._live[view], "no view goes back", f"view {view} went back"
            )
            self._live[view] = tracking.position
        side = "rebuilding" if rebuilding else "views"
        kept = {
            key[2][0]: row
            for key, row in self.database.kept["cells"].items()
            if key[:2] == (side, view)
        }
        parked = self.parked(view, rebuilding=rebuilding)
        should = self.fold(view, tracking.position, parked)
        must(
            kept == should,
            "a view is the fold of the record",
            f"view {side}.{view} at {tracking.position}: {kept} is not {should}",
        )

    def fold(self, view: str, until: int, parked: dict[str, Parked]) -> Rows:
        key = (view, until, *sorted((tape, each.position) for tape, each in parked.items()))
        if key not in self._folds:
            self._folds[key] = fold(view, self.database.rows, until, parked)
        return self._folds[key]

    def parked(self, view: str, *, rebuilding: bool = False) -> dict[str, Parked]:
        every = self.database.kept["parked"]
        return {key[2]: each for key, each in every.items() if key[:2] == (view, rebuilding)}

    def message_is_true(self, kept: Any) -> None:
        rows = self.fold("sums", kept.position, self.parked("sums"))
        row = rows.get(kept.key)
        reached = self.database.kept["tracking"]["sums", False].position
        must(kept.position <= reached, "messages are true", f"at {kept.position}, view {reached}")
        must(
            (body(row) if row else None) == kept.body,
            "messages are true",
            f"a message at {kept.position} of {kept.key} is untrue",
        )

    def appended(self, log: Log, record: ProducerRecord) -> None:
        """No record of a tape comes to the log before those before it did; none in two versions."""
        told = dict(record.headers)
        if log.topic == topics.FACTS:
            found = fed(record.key, record.value, record.headers)
            row = found.row
            must(
                [row] == self.database.rows[row.position - 1 : row.position],
                "records are rows",
                "no",
            )
            if found.republished:
                return
            given = self.given.setdefault(row.tape, set())
            for seq in range(1, row.table_seq):
                must(
                    seq in given,
                    "order on each tape",
                    f"{row.tape}: fact {row.table_seq} came before {seq}",
                )
            given.add(row.table_seq)
            self.published.add(row.position)
        number = number_of_record(record)
        octets = repr((record.key, record.value, sorted(told.items()))).encode()
        before = self.said.setdefault((log.topic, number), octets)
        must(
            before == octets,
            "one version of a record",
            f"{log.topic} number {number} was told in two versions",
        )

    def watched(self, source: Watched, rows: Sequence[TapeRow]) -> None:
        """Every incomplete read of the broker is reported as a gap, and nothing else is."""
        seen = source.partitions.seen
        for each in seen[source.known :]:
            source.whole.add(self.position_if_whole(each))
        source.known = len(seen)
        if not rows:
            return
        if source.high < 0:
            source.high = rows[0].position - 1
        fresh = [row for row in rows if row.position > source.high]
        source.high = max(source.high, rows[-1].position)
        unseen = [row for row in fresh if row.position not in source.whole]
        source.unseen += len(unseen)
        healed = source._figures.healed
        must(
            healed == source.unseen,
            "gaps are told",
            f"{source.unseen} facts were not on the feed, {healed} told",
        )
        for row in unseen:
            self.floor.world.met["gap healed"] += 1
            self.is_real_gap(row)
            self.is_parked_if_bent(source, row, seen)
        if source._figures.offsets_lost:
            self.floor.world.met["offsets lost"] += 1
        if source._figures.duplicates:
            self.floor.world.met["duplicates skipped"] += 1

    def is_real_gap(self, row: TapeRow) -> None:
        if self.broker.rewound or row.position in self.lied("dropped", "edited", "cut"):
            return  # it was one, and may have been filled since it was proved
        log = self.floor.log_of(row.tape)
        there = [each.record for each in log.stored[: log.durable] if each.record]
        first = [each for each in there if REPUBLISHED not in dict(each.headers)]
        whole = [each for each in first if self.position_if_whole(each) == row.position]
        must(
            not whole,
            "no gap is told that is none",
            f"position {row.position} is on the feed, and was told as a gap",
        )

    def is_parked_if_bent(self, source: Watched, row: TapeRow, seen: Sequence[Consumed]) -> None:
        """A record that differs is reported as such, and its tape withheld."""
        bent = [each for each in seen if number_of(each) == row.position]
        if bent:
            merge = source._merge
            assert merge
            parked = merge.poisoned(1, row.position)
            kept = [each for (_, side, _), each in self.database.kept["parked"].items() if not side]
            told = any(p.tape == row.tape and p.position <= row.position for p in [*parked, *kept])
            must(
                told,
                "what is bent is withheld",
                f"position {row.position} was bent on the feed, and is not withheld",
            )
            self.floor.world.met["poison withheld"] += 1

    def position_if_whole(self, each: Consumed | None) -> int:
        """The position of a record that is what the record holds there, byte by byte; else 0."""
        if each is None:
            return 0
        if id(each) not in self._whole:
            try:
                row = fed(each.key, each.value, each.headers).row
            except UnreadableError:
                self._whole[id(each)] = each, 0
            else:
                known = self.database.rows[row.position - 1 : row.position]
                self._whole[id(each)] = each, row.position if [row] == known else 0
        return self._whole[id(each)][1]

    # -- at the end

    def finish(self) -> None:
        self.every_answer_is_kept()
        self.feed_is_record()
        self.parked_alone()
        self.derived_is_view()
        self.verify_tells()

    def every_answer_is_kept(self) -> None:
        """What was answered stands once, under the position that was answered."""
        counts = Counter((row.source, row.id) for row in self.database.rows)
        must(
            max(counts.values(), default=1) == 1,
            "answered is kept once",
            "a fact stands on the record twice",
        )
        positions = [row.position for row in self.database.rows]
        must(
            positions == list(range(1, len(positions) + 1)),
            "positions have no hole",
            "positions have holes",
        )
        for given, receipt in self.floor.answers:
            if isinstance(given, Received) and receipt.position:
                row = self.database.rows[receipt.position - 1]
                must(
                    row[4:6] == given[2:4] and row.data == given.data,
                    "answered is kept once",
                    "other",
                )

    def lied(self, *kinds: str) -> set[int]:
        return {position for kind, position in self.broker.lies if kind in kinds}

    def feed_is_record(self) -> None:
        """All of it is published; what is missing was dropped, or lost behind the relay's back."""
        head = len(self.database.rows)
        tracked = self.database.kept["relayed"].get((topics.FACTS,), 0)
        must(tracked == head, "all is published", f"tracked {tracked} of {head}")
        must(self.published == set(range(1, head + 1)), "all is published", "never published")
        missing = set(range(1, head + 1)) - self.whole_on_feed()
        excused = self.broker.lost[topics.FACTS] | self.lied("dropped", "edited", "cut", "swapped")
        must(
            missing <= excused,
            "no fact is lost on the feed",
            f"positions {sorted(missing - excused)} are lost on the feed",
        )
        aside = {number_of(each) for each in self.on(topics.QUARANTINE)}
        lacking = set(range(1, len(self.database.aside) + 1)) - aside
        must(
            lacking <= self.broker.lost[topics.QUARANTINE],
            "no input is lost",
            f"quarantine lacks {lacking}",
        )

    def on(self, topic: str) -> list[Consumed]:
        logs = self.broker.logs[topic]
        return [each.record for log in logs for each in log.stored[: log.durable] if each.record]

    def whole_on_feed(self) -> set[int]:
        return {self.position_if_whole(each) for each in self.on(topics.FACTS)} - {0}

    def parked_alone(self) -> None:
        """A tape is withheld for its own bent records, or for what a program fails on."""
        bent = {
            self.database.rows[p - 1].tape for p in self.lied("edited", "cut", "stranger", "stray")
        }
        for view in NAMES:
            for tape, each in self.parked(view).items():
                own = each.reason == "unappliable" and view == "counts" and tape == "p/C"
                must(
                    own or tape in bent,
                    "a tape is withheld alone",
                    f"{tape} is withheld from {view}: {each.says}",
                )

    def derived_is_view(self) -> None:
        """The newest word of every key is the view's row."""
        if self.broker.lost[TOLD]:
            return
        newest: dict[str, tuple[int, bytes | None]] = {}
        for each in self.on(TOLD):
            key, number = (each.key or b"").decode(), number_of(each)
            if number >= newest.get(key, (0, None))[0]:
                newest[key] = (number, each.value)
        rows = {
            key[2][0]: body(row).encode()
            for key, row in self.database.kept["cells"].items()
            if key[:2] == ("views", "sums")
        }
        must(
            {k: v for k, (_, v) in newest.items() if v is not None} == rows,
            "derived is the view",
            "derived is not the view",
        )

    def verify_tells(self) -> None:
        """`relay verify` names what the feed lacks or holds otherwise, and nothing else."""
        actor = self.floor.judge
        relay_store = SimRelayStore(self.database.session(actor))

        @contextmanager
        def opened(topic: str) -> Iterator[SimReader]:
            yield SimReader(self.broker, topic)

        before = self.on(topics.FACTS)
        told = compared(relay_store, opened)
        if self.on(topics.FACTS) != before:
            return  # somebody wrote meanwhile
        kinds = Counter(each.kind for each in told.breaks)
        whole = self.whole_on_feed()
        rows = self.database.rows
        edited = {n for n in map(self.position_if_edited, self.on(topics.FACTS)) if n}
        there = whole | edited
        missing = set(range(1, len(rows) + 1)) - there
        ranges = 0
        for tape in sorted(self.database.heads):
            seqs = [row.table_seq for row in rows if row.tape == tape and row.position in missing]
            ranges += sum(seq - 1 not in seqs for seq in seqs)
        aside = {number_of(each) for each in self.on(topics.QUARANTINE)}
        inputs = set(range(1, len(self.database.aside) + 1)) - aside
        ranges += sum(number - 1 not in inputs for number in inputs)
        if self.lied("stranger", "stray"):  # one in a fact's place is reported as itself
            must(kinds or not ranges, "verify tells what lacks", f"{ranges} holes, nothing told")
            return
        must(
            kinds["missing"] == ranges,
            "verify tells what lacks",
            f"{ranges} holes, `verify` tells {told.breaks}",
        )
        must(
            bool(kinds["edited"]) == self.has_edited(),
            "verify tells what is edited",
            f"edited: {told.breaks}",
        )
        if not self.lied(*HARMFUL):
            clean = kinds.total() == kinds["missing"] + kinds["unchained"]
            must(clean, "verify tells no more", f"nothing was bent, `verify` tells {told.breaks}")
            if not self.lied("swapped"):
                facts = len({number_of(each) for each in self.on(topics.FACTS)})
                must(
                    told.facts == facts,
                    "verify counts facts",
                    f"{facts} facts, `verify` counts {told.facts}",
                )

    def position_if_edited(self, each: Consumed) -> int:
        try:
            found = fed(each.key, each.value, each.headers)
        except UnreadableError:
            return 0
        return 0 if found.is_whole else found.row.position

    def has_edited(self) -> bool:
        return any(map(self.position_if_edited, self.on(topics.FACTS)))


def number_of_record(record: ProducerRecord) -> int:
    return number_of(Consumed(0, 0, record.key, record.value, tuple(record.headers)))


def fold(view: str, rows: Sequence[TapeRow], until: int, parked: dict[str, Parked]) -> Rows:
    """What a view is at a position, straight from the record."""
    taken = [
        row
        for row in rows
        if row.position <= until
        and not (row.tape in parked and row.position >= parked[row.tape].position)
    ]
    made: Rows = {}
    for row in taken:
        if view == "chain":
            made["all"] = ("all", chained(made.get("all", ("all", ""))[1], row))
        elif view == "sums":
            before = made.get(row.tape, (row.tape, 0, ""))
            made[row.tape] = (row.tape, before[1] + 1, chained(before[2], row))
        else:
            must(
                row.data != BAD,
                "a view is the fold of the record",
                "a fact that no program can take was taken",
            )
            made[row.tape] = (row.tape, made.get(row.tape, (row.tape, 0))[1] + 1)
    return made
