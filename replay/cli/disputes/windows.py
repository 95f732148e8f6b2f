"""`dispute windows`: what was preserved without a dispute, with the name a dossier asks for.

The list that the pages of cases show is made here, too: the record has locks and releases alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from consumers.cameras.cameras import CAMERA_FACTS, CAMERAS
from consumers.cameras.rows import handled_rows, properties_with_cameras, tables_of
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import Store, reading
from ledger.facts import FootageLocked, FootageReleased
from ledger.record.tape import TapeRow
from ledger.record.wire import fact_of
from ledger.values import format_time, parse_time
from replay.cameras.coverage import Camera, coverage, ends
from replay.cameras.custody import held, without
from replay.cameras.retention import (
    Footage,
    Policy,
    area_of,
    expired,
    keeping,
    policy_from,
)
from replay.cli.disputes.group import Property, dispute
from replay.disputes.preserved_windows import (
    LOCKS,
    PREFIX,
    Locked,
    Released,
    Window,
    named_by,
    span_of,
    state_of,
)
from replay.recording.house_facts import screen
from replay.rounds.reading import opened_views
from replay.shell.output import Json, print_lines, say, show_table
from replay.shell.settings import in_force
from replay.text.local_time import span

Stretch = tuple[str, int, int]
"""A camera, from and to by its own clock; closed."""


def windows_of(
    base: Database,
    tape: PostgresTape,
    policy: Policy,
    property_: str | None = None,
    name: str = PREFIX,
) -> list[Window]:
    """What was preserved, of each property the window put last first; or the one of a name.

    The view `cameras` must be at the end of the record.
    """
    with reading(base, [CAMERA_FACTS.name]) as store:
        return [
            window
            for place in ([property_] if property_ else properties_with_cameras(store))
            for window in _of_place(
                store, policy, place, tape.told_by("/" + "/".join(screen(place, LOCKS)), name)
            )
        ]


def _of_place(
    store: Store, policy: Policy, place: str, rows: Iterable[TapeRow]
) -> Iterator[Window]:
    puts: dict[str, list[FootageLocked]] = {}
    for row in sorted(rows):
        body, name = fact_of(row).body, named_by(row.id)
        if name and isinstance(body, FootageLocked):
            puts.setdefault(name, []).append(body)
    spans = [_stretch(lock) for locks in puts.values() for lock in locks]
    known = coverage(map(fact_of, handled_rows(store, place, spans)))
    cameras = {each[0]: known.cameras.get((place, each[0]), Camera()) for each in spans}
    tables = tables_of(store, place, sorted(cameras))
    for name, locks in reversed(puts.items()):
        times = span_of(name)
        if times is None:
            continue
        kept = [_locked(policy, cameras, tables, lock) for lock in locks]
        yield Window(
            name=name,
            property=place,
            table=locks[0].table,
            from_us=times[0],
            to_us=times[1],
            by=locks[0].by,
            because=locks[0].because,
            locks=kept,
            released=list(_released(cameras, locks)),
            status=state_of(kept),
            expires_us=max((each.expires_us for each in kept if each.expires_us), default=None),
        )


def _locked(
    policy: Policy,
    cameras: Mapping[str, Camera],
    tables: Mapping[str, Sequence[str]],
    lock: FootageLocked,
) -> Locked:
    """A lock of a window: where it still holds, and when what it kept may expire without it."""
    name, from_us, to_us = _stretch(lock)
    camera = cameras[name]
    holds = [
        (max(each.from_us, from_us), min(each.to_us, to_us))
        for each in held(camera)
        if lock in each.locks
    ]
    kept = keeping(
        camera, area_of(policy, name, tables.get(name, ())), [Footage(from_us, to_us + 1)]
    )
    return Locked(
        camera=name,
        from_us=from_us,
        to_us=to_us,
        holds=bool(holds),
        whole=not without(from_us, to_us, holds),
        gone=not without(from_us, to_us, expired(camera)),
        expires_us=kept[0].expires_us if kept else None,
    )


def _released(cameras: Mapping[str, Camera], locks: Sequence[FootageLocked]) -> Iterator[Released]:
    """Who let go of footage of a window, in the order told; each release once."""
    seen: set[int] = set()
    for lock in locks:
        name, from_us, to_us = _stretch(lock)
        for each in cameras[name].handled:
            over = each.from_us <= to_us and each.to_us >= from_us
            body = each.body
            if isinstance(body, FootageReleased) and over and ends(body, lock):
                if id(body) not in seen:
                    yield Released(
                        name, each.from_us, each.to_us, body.by, body.because, each.told_us
                    )
                seen.add(id(body))


def _stretch(lock: FootageLocked) -> Stretch:
    return lock.camera, parse_time(lock.from_) or 0, parse_time(lock.to) or 0


@dispute.command("windows")
def windows(*, property_: Property = None, json: Json = False) -> None:
    """List what was preserved without a dispute, the window put last first.

    Each has the name by which `round-ledger dossier` hands it over and `footage release --window`
    lets go of it. Where nothing locks it any more, who released it and why is told.

    Example: round-ledger dispute windows
    """
    policy = policy_from(in_force().retention_file)
    with opened_views([CAMERAS]) as base, PostgresTape(base) as tape:
        found = windows_of(base, tape, policy, property_)
    if json:
        print_lines(map(_as_json, found))
        return
    zone = in_force().time_zone
    show_table(
        "Preserved windows",
        ("window", "table", "when", "cameras", "by", "because", "state", "kept until"),
        (
            (
                each.name,
                each.table,
                span(each.from_us, each.to_us, zone),
                len(each.locks),
                each.by,
                each.because,
                each.status.replace("_", " "),
                _until(each),
            )
            for each in found
        ),
        right="cameras",
        whole="window",
    )
    if not found:
        say("No window was preserved.")


def _until(window: Window) -> str | None:
    """Until when it is kept, by the day; None: it is past its keeping."""
    if window.status == "locked":
        return "released"
    return None if window.expires_us is None else format_time(window.expires_us)[:10]


def _as_json(window: Window) -> dict[str, object]:
    """A window as it is printed to pipe; of footage by each camera's own clock."""
    times = {"from": format_time(window.from_us), "to": format_time(window.to_us)}
    return {
        **window._asdict(),
        **times,
        "cameras": sorted(each.camera for each in window.locks),
        "locks": [each._asdict() for each in window.locks],
        "released": [each._asdict() for each in window.released],
        "expires": None if window.expires_us is None else format_time(window.expires_us),
    }
