"""The pages of cases over the record and its views, as the command has them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from consumers.disputes import disputes
from consumers.rounds.index import ROUND_INDEX, facts_of
from consumers.runtime.lifecycle import catch_up
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import reading, tape_source
from infra.settings import Settings
from ledger.errors import NotFound
from ledger.facts import Body, FootageLocked, FootageReleased
from ledger.record.wire import Fact, fact_of
from ledger.values import RoundId, parse_time
from replay.cameras.coverage import coverage
from replay.cameras.custody import locked, times_of
from replay.cameras.custody_service import LetGo, opened_house, to_release
from replay.cameras.custody_service import tell as tell_of
from replay.cameras.retention import Policy, policy_from
from replay.cli.disputes.windows import windows_of
from replay.disputes import service
from replay.disputes.dispute import Desk, Dispute, dispute_of
from replay.disputes.preserved_windows import Window, named_by, span_of
from replay.disputes.service import Office, Vault, What
from replay.web.case_ports import (
    About,
    CaseFile,
    CasePorts,
    CaseRow,
    Claimed,
    Held,
    Preserve,
    Release,
    WindowPorts,
)


@contextmanager
def opened_cases(base: Database, tape: PostgresTape, settings: Settings) -> Iterator[CasePorts]:
    """What the pages of cases ask; its connections are closed with the block."""
    with Desk(base) as desk:
        office = Office(Vault(base, tape, service.roll_of(settings)), desk)
        yield _ports(office, tape, policy_from(settings.retention_file))


def _ports(office: Office, tape: PostgresTape, policy: Policy) -> CasePorts:
    base, vault = office.base, office.vault

    def rows(status: str | None) -> list[CaseRow]:
        service.up_to_date(base)
        known = {None: None, "raised": "raised", "resolved": "resolved"}
        found = disputes.read(base, status=known.get(status))  # type: ignore[arg-type] # one of its words
        return [_row(each) for each in found]

    def file(property_: str, dispute: str) -> CaseFile:
        service.up_to_date(base)
        case = service.find(base, dispute, property_)
        left = sorted({span.camera for span in service.unlocked_spans(vault, case)})
        told = _told(base, case)
        cameras = coverage(told).cameras.values()
        holds = any(locked(camera, dispute=dispute) for camera in cameras)
        held = [held for fact in told if (held := _of(fact.body))]
        return CaseFile(case, service.story_of(base, case), held, left, holds)

    def about(round_: RoundId) -> list[About]:
        found = service.about(base, round_)
        return [About(each.property, each.dispute, each.notes) for each in found]

    def went(round_: RoundId) -> tuple[int, int] | None:
        with reading(base, [table.name for table in ROUND_INDEX.tables]) as store:
            return times_of(row.time_us for row in facts_of(store, round_))

    def raise_(claimed: Claimed) -> Dispute:
        return service.raise_(
            office, claimed.round, claimed.position, claimed.claim, claimed.by
        ).case

    def doubt(claimed: Claimed) -> str:
        hidden = _withheld(base, claimed.by)
        return service.doubt(base, claimed.round, claimed.position, hidden)

    def tell(case: Dispute, body: Body) -> None:
        office.desk.tell(case, body)
        service.up_to_date(base)  # what its teller may see from now on is read from the views

    return CasePorts(
        rows=rows,
        file=file,
        about=about,
        withheld=lambda employee: _withheld(base, employee),
        went=went,
        doubt=doubt,
        raise_=raise_,
        tell=tell,
        lock=lambda case, by: len(service.lock(vault, case, by)),
        windows=_window_ports(vault, tape, policy),
        release=lambda asked: _release(base, tape, policy, asked),
    )


def _window_ports(vault: Vault, tape: PostgresTape, policy: Policy) -> WindowPorts:
    base = vault.base

    def preserve(asked: Preserve) -> Window:
        if found := _preserved(all_(), asked):
            return found
        what = What(asked.table, asked.camera, asked.property)
        stretch = (asked.from_us, asked.to_us)
        locks = service.preserve(vault, what, stretch, asked.because, asked.by)
        if not locks:
            raise NotFound(
                "No camera was on the table then: nothing was locked",
                where=asked.table or "",
                hint="See which cameras were mapped to it, or name one camera.",
            )
        return one(locks[0].fact.tape.partition("/")[0], named_by(locks[0].fact.id) or "")

    def all_() -> list[Window]:
        service.up_to_date(base)
        return windows_of(base, tape, policy)

    def one(property_: str, name: str) -> Window:
        service.up_to_date(base)
        known = span_of(name) and windows_of(base, tape, policy, property_, f"{name}.")
        if not known:
            raise NotFound("No such window was preserved", where=name, hint="See the cases.")
        return known[0]

    return WindowPorts(preserve, all_, one)


def _preserved(windows: Iterable[Window], asked: Preserve) -> Window | None:
    """The window that a form has preserved which was sent a second time; None: it is a new one."""
    for each in windows:
        stretch = (each.from_us, each.to_us) == (asked.from_us, asked.to_us)
        of = each.table == asked.table and (
            asked.camera is None or [lock.camera for lock in each.locks] == [asked.camera]
        )
        same = (each.by, each.because) == (asked.by, asked.because)
        if stretch and of and same and each.status == "locked":
            return each
    return None


def _release(base: Database, tape: PostgresTape, policy: Policy, asked: Release) -> None:
    service.up_to_date(base)
    with opened_house(base, tape, policy, asked.property) as house:
        what = LetGo(asked.dispute, asked.window)
        tell_of(house, to_release(house, what, asked.because, asked.by))
    service.up_to_date(base)


def _withheld(base: Database, employee: str) -> dict[RoundId, About]:
    """The rounds of open disputes that this employee is not told of yet."""
    with tape_source(base) as source:  # who raised one by command has not brought it along
        catch_up(base, source, [disputes.VIEW])
    return {
        case.claim.round: About(case.property, case.dispute)
        for case in reversed(_open_cases(base))
        if case.claim and case.claim.round and not case.knows(employee)
    }


def _open_cases(base: Database) -> list[Dispute]:
    """Every dispute that is not resolved, as all its facts tell it."""
    with reading(base, [each.name for each in disputes.VIEW.tables]) as store:
        rows = disputes.facts_of_open(store)
    told: dict[tuple[str, str], list[Fact]] = {}
    for row in rows:
        fact = fact_of(row)
        key = (row.tape.partition("/")[0], getattr(fact.body, "dispute", ""))
        told.setdefault(key, []).append(fact)
    return [dispute_of(*key, facts) for key, facts in told.items()]


def _row(each: disputes.Dispute) -> CaseRow:
    return CaseRow(
        each.property,
        each.dispute,
        each.status,
        each.round,
        each.position,
        each.raised_us,
        each.claimed_by,
        each.observations,
        each.adjusted,
        each.locks,
        each.releases,
    )


def _told(base: Database, case: Dispute) -> list[Fact]:
    """Every fact that names a dispute, what was locked for it and released again among them."""
    with reading(base, [disputes.FACTS.name]) as store:
        rows = disputes.facts_about(store, case.property, case.dispute)
    return [fact_of(row) for row in rows]


def _of(body: object) -> Held | None:
    if not isinstance(body, FootageLocked | FootageReleased):
        return None
    from_us, to_us = parse_time(body.from_) or 0, parse_time(body.to) or 0
    released = isinstance(body, FootageReleased)
    return Held(body.camera, from_us, to_us, body.by, body.because, released)
