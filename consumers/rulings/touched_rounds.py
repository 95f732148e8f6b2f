"""The rounds that a batch touches: their facts, their context, and their rulings.

Facts are added one by one in the record's order. A closed round is ruled on at each fact that
touches it, and at ever fewer of them if there are many (`is_ruling_due`). So its versions do not
depend on the limits of batches. At the end of a batch all rounds touched since are ruled on.
Part of the view `rulings`; `ledger.adjudication.feed` rules on a whole feed in the same way.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Any

import msgspec

from consumers.rulings.coupons import CouponFacts
from consumers.rulings.device_sequences import DeviceRuns, property_of
from consumers.rulings.round_state import (
    RoundState,
    cells,
    findings,
    is_ruling_due,
    lines,
    money,
    settlements,
)
from consumers.rulings.table_context import LATEST_US, RoundContext, tables_since
from consumers.rulings.tables import (
    CASE_TAPES,
    CORRECTIONS,
    FINDINGS,
    MONEY,
    RULINGS,
    SETTLEMENTS,
    SUBMISSIONS,
    VERSIONS,
)
from consumers.runtime.source import WHOLE, Share
from infra.postgres.arrays import ranges_of, ranges_text
from ledger.adjudication.corrections import (
    correction_of,
    corrections,
    is_of_another_property,
    rule_corrected,
)
from ledger.adjudication.feed import CONTEXT_FACTS, Coupons, record_of
from ledger.adjudication.submissions import FiledSubmission, filed, kept_rules
from ledger.facts import CouponsIssued, FactCorrected, RoundStarted, RulesSubmissionFiled
from ledger.finance.statistics.expected import OddsInForce
from ledger.record.wire import Fact, fact_of
from ledger.rules.engine.coupons import MOVED, issued, serial_of, serials_of
from ledger.rules.engine.order import Gap
from ledger.values import RoundId, parse_round

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from consumers.rulings.coupons import Place
    from consumers.rulings.device_sequences import Hole
    from consumers.rulings.error_counts import CountedRound
    from consumers.rulings.finding_work import FindingStates
    from consumers.rulings.table_findings import Heard
    from infra.postgres.view_tables import ViewStore
    from ledger.adjudication.adjudicate import RoundRecord
    from ledger.adjudication.corrections import Corrections
    from ledger.adjudication.feed import TableId
    from ledger.record.tape import TapeRow
    from ledger.rules.engine.ruling import Ruling


NUMBER_MAX = 2**63 - 1
"""Above every position of a record."""

FILED = (RulesSubmissionFiled, CouponsIssued)
"""Facts of the office that rulings depend on."""


class RoundBatch:
    """All that the rulings of a batch's rounds depend on."""

    def __init__(
        self,
        store: ViewStore,
        heard: Sequence[Heard] = (),
        standing: tuple[list[Fact], list[Fact]] | None = None,
        until_us: int = LATEST_US,
        share: Share = WHOLE,
    ) -> None:
        """`standing`: Rules Submissions and corrections, if they are known already.

        `until_us`: for a single round, its end, so that no later facts are read.
        `share`: the tables whose rounds are ruled on.
        """
        self._store = store
        self._share = share
        self._heard = {(row.tape, row.table_seq): fact for row, fact in heard}
        self._until = heard[0].row.position - 1 if heard else NUMBER_MAX
        self.devices = DeviceRuns(store, share)
        self.devices.begin(heard)
        self._around = RoundContext(store, until_us)
        self._coupons = CouponFacts(store, self._until)
        self._cases: dict[RoundId, RoundState] = {}
        self._latest: dict[TableId, int | None] = {}  # before this batch
        self._filings, self._loose = standing or self._standing()
        self._submissions_filed()
        self._batches = issued(self._filings)
        self.tables_anew: set[TableId] = set()
        self._seqs: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        self._submitted: list[tuple[Any, ...]] = []
        self._corrected: list[tuple[Any, ...]] = []
        self._versions: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self.counted: list[CountedRound] = []
        facts = [fact for _, fact in heard if fact.round and self._owns(fact.round)]
        self._load({fact.round for fact in facts if fact.round})
        self._around.load(
            tables_since([*facts, *(f for c in self._cases.values() for f in c.facts)])
        )

    def _submissions_filed(self) -> None:
        """Take the Rules Submissions filed so far; rules in force are found again."""
        self.submissions: list[FiledSubmission] = filed(self._filings)
        self._rules = kept_rules(self.submissions)

    def add_fact(self, row: TapeRow, fact: Fact) -> None:
        """Add one fact; rule on the closed rounds it touches."""
        touched = {round_of(name) for name in self.devices.add(fact, row.table_seq)}
        if fact.round:
            if self._owns(fact.round):
                self._seqs[*fact.round, row.tape].append(row.table_seq)
                self.case(fact.round).add(fact)
                touched.add(fact.round)
        elif isinstance(fact.body, CONTEXT_FACTS) and fact.table:
            table = (row.tape.partition("/")[0], fact.table)
            if self._share.owns_table(*table):
                self._around.add(table, row, fact)
                touched |= self._rounds_since(table, fact.time_us)
        if serial_of(fact):
            touched |= self._coupons.add_fact(row, fact, corrections(self._loose))
        if isinstance(fact.body, RulesSubmissionFiled):
            touched |= self._file(row, fact)
        elif isinstance(fact.body, CouponsIssued):
            touched |= self._issue(row, fact)
        elif isinstance(fact.body, FactCorrected):
            touched |= self._correct(row, fact)
        for round_ in sorted(filter(self._owns, touched)):
            self._touch(self.case(round_), row.position)

    def finish_batch(self, states: FindingStates) -> None:
        """Rule on the rounds touched since their last ruling; write their rows to the view."""
        for case in self._cases.values():
            if case.touched and not case.ruled:
                self._rule(case)
        self._save(states)
        self._around.save()
        self.devices.save()

    def save_logs(self) -> None:
        """Write what all processes write alike, last: another may wait for this transaction."""
        self._store.save(SUBMISSIONS, self._submitted)
        self._store.save(CORRECTIONS, self._corrected)
        self._coupons.save()

    def _owns(self, round_: RoundId) -> bool:
        return self._share.owns_table(round_.property, round_.table)

    def case(self, round_: RoundId) -> RoundState:
        """A round with the facts added so far."""
        if round_ not in self._cases:
            self._load([round_])
        return self._cases[round_]

    def record(self, case: RoundState) -> RoundRecord:
        """A round's facts with their context, as `adjudicate.rule` takes them."""
        gaps = [self.gap(hole) for hole in self.devices.holes_of(case.round, case.facts)]
        table = (case.round.property, case.round.table)
        around = self._around.of(table, case.first_us, case.last_us)
        made = self._made(case)
        serials = serials_of(case.facts, made)
        told = self._facts_at(self._coupons.told(case.round.property, serials))
        return record_of(case.round, case.facts, around, gaps, Coupons(self._batches, told))

    def ruling(self, case: RoundState) -> Ruling | None:
        """The ruling of a round by its present facts."""
        record = self.record(case)
        case.gaps = record.gaps
        return rule_corrected(record, self._rules, self._made(case))

    def _made(self, case: RoundState) -> Corrections:
        """The corrections that may change a round."""
        return corrections([*case.made, *self._loose])

    def gap(self, hole: Hole) -> Gap:
        """The gap between two facts of a device."""
        device, before, after = hole
        tape = "/".join(device[0].split("/", 3)[1:3])
        ends = self._facts_at([(tape, before.high_seq), (tape, after.low_seq)])
        return Gap(ends[0], ends[1], after.low - before.high - 1)

    def table_gaps(self) -> dict[tuple[str, TableId], list[Gap]]:
        """The gaps before facts without a round, by device whose gaps changed and by table."""
        found: dict[tuple[str, TableId], list[Gap]] = {}
        for device, table, holes in self.devices.changed_holes():
            gaps = [self.gap(hole) for hole in holes if not hole[2].low_round]
            its = [gap for gap in gaps if gap.after.table == table]
            found[" ".join(device), (property_of(device[0]), table)] = its
        return found

    def _touch(self, case: RoundState, position: int) -> None:
        """Mark a round as touched by the fact at `position`; rule on it if it is due."""
        case.touched, case.ruled = position, False
        if case.closed:
            case.touches += 1
            if is_ruling_due(case.touches):
                self._rule(case)
                case.kept, case.kept_position = case.version, case.position
                case.kept_text = case.text

    def _rule(self, case: RoundState) -> None:
        """Make the newest ruling; for a closed round a new version if it differs."""
        case.ruling, case.ruled = self.ruling(case), True
        case.text = msgspec.json.encode(case.ruling) if case.ruling else None
        if not case.closed or case.text is None:
            return
        if case.kept and case.text == case.kept_text:
            case.version, case.position = case.kept, case.kept_position
        else:
            case.version, case.position = case.kept + 1, case.touched
            key = (*case.round, case.version)
            times = case.first_us, case.last_us
            self._versions[key] = (*key, case.touched, *times, case.text.decode())

    def _standing(self) -> tuple[list[Fact], list[Fact]]:
        """The recorded filings of the office, and the corrections without a round."""
        places = self._store.query(
            "SELECT tape, table_seq, position FROM {schema}.ruling_submissions"
            " WHERE position <= %(until)s UNION ALL"
            " SELECT tape, table_seq, position FROM {schema}.ruling_corrections"
            " WHERE round IS NULL AND position <= %(until)s ORDER BY position",
            {"until": self._until},
        )
        facts = self._facts_at((tape, seq) for tape, seq, _ in places)
        filings = [fact for fact in facts if isinstance(fact.body, FILED)]
        return filings, [fact for fact in facts if isinstance(fact.body, FactCorrected)]

    def _load(self, rounds: Iterable[RoundId]) -> None:
        """Load rounds from the view, and their facts from the tapes."""
        wanted = dict.fromkeys(rounds)
        self._cases |= {round_: RoundState(round_) for round_ in wanted}
        known = self._store.load(RULINGS, wanted)
        if not known:
            return
        for key, row in known.items():
            case = self._cases[RoundId(*key)]
            case.stored, case.version, case.position = True, row.version, row.position
            case.touches, case.kept, case.found = row.touches, row.kept, row.findings
            case.text = case.kept_text = None if row.ruling is None else row.ruling.encode()
            case.kept_position = case.position
        self._load_kept(
            self._cases[RoundId(*key)] for key, row in known.items() if row.version > row.kept
        )
        places = self._store.rows(CASE_TAPES, known)
        rows = self._store.rows_at(
            (place.tape, low, high) for place in places for low, high in ranges_of(place.seqs)
        )
        for row in rows:
            fact = fact_of(row)
            if fact.round and row.position <= self._until:
                self._cases[fact.round].add(fact)
        made = self._store.query(
            "SELECT round, tape, table_seq FROM {schema}.ruling_corrections"
            " WHERE round = ANY (%(rounds)s::text[]) AND position <= %(until)s ORDER BY position",
            {"rounds": [str(RoundId(*key)) for key in known], "until": self._until},
        )
        facts = self._facts_at((tape, seq) for _, tape, seq in made)
        for (name, _, _), correction in zip(made, facts, strict=True):
            self._cases[round_of(name)].made.append(correction)

    def _load_kept(self, cases: Iterable[RoundState]) -> None:
        """Load the newest permanent version of rounds that have a temporary one."""
        closed = {(*case.round, case.kept): case for case in cases}
        for key, row in self._store.load(VERSIONS, closed).items():
            case = closed[key]
            case.passing, case.kept_position = case.version, row.position
            case.kept_text = row.ruling.encode()

    def _rounds_since(self, table: TableId, time_us: int) -> set[RoundId]:
        """Rounds of a table whose last fact has this time or a later one."""
        where = {"property": table[0], "table": table[1], "time_us": time_us}
        if table not in self._latest:
            self._latest[table] = self._store.query(
                "SELECT max(last_us) FROM {schema}.rulings"
                " WHERE property = %(property)s AND table_name = %(table)s",
                where,
            )[0][0]
        rounds: set[RoundId] = set()
        if time_us <= (self._latest[table] or time_us - 1):
            stored = self._store.query(
                "SELECT gaming_day, number FROM {schema}.rulings WHERE property = %(property)s"
                " AND table_name = %(table)s AND last_us >= %(time_us)s",
                where,
            )
            rounds = {RoundId(*table, day, number) for day, number in stored}
        rounds |= {round_ for round_ in self._cases if round_[:2] == table}
        return {r for r in rounds if self.case(r).facts and self.case(r).last_us >= time_us}

    def _file(self, row: TapeRow, fact: Fact) -> set[RoundId]:
        """Add a Rules Submission; the rounds and tables it applies to are judged again."""
        self._submitted.append((row.position, row.tape, row.table_seq))
        self._filings.append(fact)
        self._submissions_filed()
        new = filed([fact])[0]
        stored = self._store.query(
            "SELECT property, table_name, gaming_day, number FROM {schema}.rulings"
            " WHERE property = %(property)s AND gaming_day >= %(day)s"
            " AND (%(table)s::text IS NULL OR table_name = %(table)s)"
            " AND (game IS NULL OR game = %(game)s)",
            {
                "property": new.property,
                "table": new.table,
                "day": new.submission.effective_from,
                "game": new.submission.game,
            },
        )
        rounds = set(filter(self._owns, (RoundId(*key) for key in stored)))
        self._load(rounds - self._cases.keys())
        tables = self._store.query(
            "SELECT property, table_name FROM {schema}.ruling_care WHERE property = %(property)s",
            {"property": new.property},
        )
        self.tables_anew |= {table for table in tables if self._share.owns_table(*table)}
        return {r for r, case in self._cases.items() if case.facts and _is_for(new, case)}

    def _issue(self, row: TapeRow, fact: Fact) -> set[RoundId]:
        """Add a batch of coupons; rounds that played one of them are judged again.

        A property without any recorded batch has no unknown serials.
        """
        self._submitted.append((row.position, row.tape, row.table_seq))
        self._filings.append(fact)
        self._batches = issued(self._filings)
        [batch] = issued([fact])
        first = sum(each.property == batch.property for each in self._batches) == 1
        return self._coupons.issued(batch, first=first)

    def _correct(self, row: TapeRow, fact: Fact) -> set[RoundId]:
        """Add a correction of a fact of a round, or of a fact not recorded yet."""
        place, target, named = self._corrected_fact(row, fact)
        sources = [fact.source, *(body.of.source for body in named)]
        if any(starmap(is_of_another_property, pairwise(sources))):
            return set()
        round_ = target.round if target else None
        around = target is not None and isinstance(target.body, (*CONTEXT_FACTS, *MOVED))
        if target and not round_ and not around:
            return set()
        touched: set[RoundId] = set()
        if target and place:
            said = filter(None, (correction_of(target, body) for body in named))
            touched = touched.union(
                *(self._coupons.correct(row, body, target, place) for body in said)
            )
        where = (row.position, row.tape, row.table_seq, str(round_) if round_ else None)
        self._corrected.append(where)
        if round_:
            if self._owns(round_):
                self.case(round_).made.append(fact)
            return {round_, *touched}
        self._loose.append(fact)
        if target and target.table and isinstance(target.body, CONTEXT_FACTS):
            table = (target.source.split("/")[1], target.table)
            return (
                self._rounds_since(table, target.time_us)
                if self._share.owns_table(*table)
                else set()
            )
        return touched

    def _corrected_fact(
        self, row: TapeRow, fact: Fact
    ) -> tuple[Place | None, Fact | None, list[FactCorrected]]:
        """The fact that a correction is of, and its place; with the corrections in between.

        A correction of a correction is of the fact that the first one corrects.
        """
        named: list[FactCorrected] = []
        target: Fact | None = fact
        place = None
        while target and isinstance(target.body, FactCorrected) and target.body not in named:
            named.append(target.body)
            place = self._find(target.body.of.source, target.body.of.id, row.position)
            target = self._facts_at([place])[0] if place else None
        is_fact = target is not None and not isinstance(target.body, FactCorrected)
        return (place, target, named) if is_fact else (None, None, named)

    def _find(self, source: str, fact_id: str, until: int) -> Place | None:
        """Tape and sequence of a fact, by source and id, if recorded up to a position."""
        found = self._store.query(
            "SELECT t.originator_id, t.originator_version FROM ledger.identity i"
            " JOIN ledger.tape t ON t.notification_id = i.position"
            " WHERE i.source = %(source)s AND i.fact_id = %(id)s AND i.position <= %(until)s",
            {"source": source, "id": fact_id, "until": until},
        )
        return found[0] if found else None

    def _facts_at(self, places: Iterable[Sequence[Any]]) -> list[Fact]:
        """Facts by tape and table_seq, in the given order."""
        wanted = [(tape, seq) for tape, seq in places]
        lacking = [place for place in wanted if place not in self._heard]
        for row in self._store.rows_at((tape, seq, seq) for tape, seq in lacking):
            self._heard[row.tape, row.table_seq] = fact_of(row)
        return [self._heard[place] for place in wanted]

    def _save(self, states: FindingStates) -> None:
        """Write rulings, their parts, and the places of their facts to the view."""
        judged = [case for case in self._cases.values() if case.touched]
        again = [case.round for case in judged if case.stored]
        store = self._store
        store.delete(SETTLEMENTS, again)
        states.gone(store.rows(FINDINGS, [case.round for case in judged if case.found]))
        store.delete(FINDINGS, again)
        store.save(RULINGS, (cells(case) for case in judged))
        store.delete(VERSIONS, ((*case.round, case.passing) for case in judged if case.passing))
        store.save(VERSIONS, self._versions.values())
        store.save(SETTLEMENTS, (row for case in judged for row in settlements(case)))
        found = (each for case in judged for each in findings(case))
        store.save(FINDINGS, states.rows(FINDINGS, found))
        odds = OddsInForce(self._rules, self._batches)
        of_money = (row for case in judged for row in money(case, self._made(case), odds))
        store.save(MONEY, of_money)
        counted = (lines(case, self._made(case)) for case in judged)
        self.counted = [each for each in counted if each is not None]
        store.save(CASE_TAPES, ((*key, ranges_text(seqs)) for key, seqs in self._seqs.items()))


def one_round(store: ViewStore, round_: RoundId) -> tuple[RoundBatch, RoundState]:
    """A round to be ruled on again; one statement reads all that its ruling rests on but gaps."""
    rows = store.rows_named(
        "SELECT tape, lower(s), upper(s) - 1 FROM {schema}.ruling_tapes, unnest(seqs) AS s"
        " WHERE property = %(property)s AND table_name = %(table)s"
        " AND gaming_day = %(gaming_day)s AND number = %(number)s"
        " UNION ALL SELECT tape, table_seq, table_seq FROM {schema}.ruling_submissions"
        " UNION ALL SELECT tape, table_seq, table_seq FROM {schema}.ruling_corrections"
        " WHERE round IS NULL OR round = %(name)s",
        round_._asdict() | {"name": str(round_)},
    )
    facts = [fact_of(row) for row in rows]
    filings = [fact for fact in facts if isinstance(fact.body, FILED)]
    made = [fact for fact in facts if isinstance(fact.body, FactCorrected)]
    case = RoundState(round_)
    for fact in facts:
        if fact.round == round_:
            case.add(fact)
    return RoundBatch(store, standing=(filings, made), until_us=case.last_us), case


def _is_for(new: FiledSubmission, case: RoundState) -> bool:
    """Whether a Rules Submission may apply to a round, by the facts it has at that moment.

    It may to one whose game is not on record yet. A stored row would say so as of the batch's
    beginning.
    """
    told = new.submission
    games = {fact.body.game for fact in case.facts if isinstance(fact.body, RoundStarted)}
    return (
        case.round.property == new.property
        and new.table in (None, case.round.table)
        and case.round.gaming_day >= told.effective_from
        and (not games or told.game in games)
    )


def round_of(name: str) -> RoundId:
    """The round that `str(RoundId)` names. Raises ValueError."""
    round_ = parse_round(name)
    if round_ is None:
        raise ValueError(f"{name!r} is not a round: write <property>:<table>/<gaming day>/<number>")
    return round_
