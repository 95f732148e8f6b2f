"""What the round page says, without a server: coverage between facts, where to go, what is missing.

The camera is one second ahead of the reference. Its segment begins at 11 s by its own clock and has
frames at 0, 100, 200, 900 and 1,000 ms. It ends at 1.1 s. By the reference that is from 10 s to
11.1 s.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from ledger.adjudication.adjudicate import RoundRecord, rule
from ledger.errors import Usage
from ledger.facts import (
    Attached,
    CameraLost,
    CameraMapped,
    CameraUnmapped,
    ClockChecked,
    FactRef,
    FootageExpired,
    FootageLocked,
    SegmentRecorded,
)
from ledger.record.wire import Fact
from ledger.rules.engine.order import in_order
from ledger.simulate import Plan, TablePlan, deal
from ledger.values import RoundId, format_time
from replay.cameras.coverage import Coverage, coverage
from replay.cameras.timeline import timeline
from replay.cli.footage.cut import Asked, _span_of
from replay.disputes.dispute import Dispute, Note
from replay.dossier.gathering.found import cuts_of, of_round
from replay.footage.decoding.decoder import FrameIndex
from replay.footage.library.files import FootageFiles, VerifiedFile
from replay.footage.library.index import FootageIndex
from replay.rounds.owed import paid_beside_owed
from replay.rounds.reading import LoadedRound as ToldByCommand
from replay.rounds.reconstruct import reconstruct
from replay.rounds.story import Story
from replay.web.pages.clips import _within
from replay.web.pages.lanes import TableSpan, cameras_on, lane_of
from replay.web.pages.notes import noted
from replay.web.pages.round_page import (
    AROUND_US,
    data,
    facts,
    json_text,
    jumps,
    span_of,
    values,
)
from replay.web.pages.timeline_svg import GUTTER, WIDTH, Axis, draw_timeline, phases
from replay.web.round_reader import KeptRound

MS, S = 1_000, 1_000_000
DAY_US = 86_400 * S
DIGEST = "ab" * 32
TIMES = FrameIndex((0, 100 * MS, 200 * MS, 900 * MS, 1_000 * MS), (0,))
AT_HAND = FootageFiles({DIGEST: VerifiedFile(Path("/kept.webm"), TIMES, None)}, frozenset())
NOTHING = FootageFiles({}, frozenset())
SPAN = TableSpan("hollywood", "CC-07", 5 * S, 15 * S)


def fact(time_us: int, body: object) -> Fact:
    return Fact(
        body, "/hollywood/surveillance/nvr", f"{time_us}", time_us, None, "CC-07", None, None
    )


def mapped(time_us: int = 0) -> Fact:
    body = CameraMapped(camera="A", table="CC-07", kind="stationary", covers=["table"])
    return fact(time_us, body)


def checked(time_us: int) -> Fact:
    body = ClockChecked(
        camera="A", camera_time=format_time(time_us + S), reference_time=format_time(time_us),
        reference="ntp", uncertainty_ms=1,
    )  # fmt: skip
    return fact(time_us, body)


def segment() -> Fact:
    body = SegmentRecorded(
        camera="A", path="A/one.webm", sha256=DIGEST, start=format_time(11 * S), frames=5,
        duration_us=1_100 * MS,
    )  # fmt: skip
    return fact(12 * S, body)


def handled(kind: type, from_us: int = 0, to_us: int = 100 * S) -> Fact:
    body = kind(camera="A", from_=format_time(from_us), to=format_time(to_us), by="S-9",
                because="dispute 7")  # fmt: skip
    return fact(20 * S, body)


BASE = (mapped(), checked(0), checked(100 * S), segment())


def lane(*more: Fact, footage: FootageFiles = AT_HAND, base: tuple[Fact, ...] = BASE) -> list[str]:
    covered = coverage([*base, *more])
    return [
        f"{each.state} {(each.to_us - each.from_us) / S:.1f}"
        for each in lane_of(covered, footage, SPAN, "A")
    ]


def test_a_lane_covers_the_whole_span_without_a_break() -> None:
    its = lane_of(coverage(BASE), AT_HAND, SPAN, "A")
    assert (its[0].from_us, its[-1].to_us) == (SPAN.from_us, SPAN.to_us)
    assert all(a.to_us == b.from_us for a, b in pairwise(its))


def test_a_lane_tells_footage_from_gaps_also_where_frames_are_missing_in_a_segment() -> None:
    assert lane() == ["gap 5.0", "recorded 0.2", "gap 0.7", "recorded 0.2", "gap 3.9"]


@pytest.mark.parametrize(
    ("more", "footage", "base", "wanted"),
    [
        ((handled(FootageLocked),), AT_HAND, BASE, "locked 0.2"),
        ((handled(FootageExpired),), NOTHING, BASE, "expired 10.0"),
        ((), NOTHING, BASE, "altered 1.1"),
        ((fact(6 * S, CameraLost(camera="A", reason="dark")),), NOTHING, BASE[:3], "off_line 9.0"),
        (
            (fact(9 * S, CameraUnmapped(camera="A", table="CC-07", kind="stationary", covers=[])),),
            AT_HAND, BASE, "no_camera_mapped 6.0",
        ),
    ],
)  # fmt: skip
def test_every_other_state_has_its_stretch(
    more: tuple[Fact, ...], footage: FootageFiles, base: tuple[Fact, ...], wanted: str
) -> None:
    assert wanted in lane(*more, footage=footage, base=base)


def test_what_is_locked_or_expired_includes_its_last_instant() -> None:
    covered = coverage([*BASE[:3], handled(FootageExpired, 8 * S, 10 * S)])  # camera's clock: +1 s
    states = lane_of(covered, NOTHING, SPAN, "A")
    assert [(each.from_us, each.to_us, each.state) for each in states] == [
        (5 * S, 7 * S, "gap"), (7 * S, 9 * S + 1, "expired"), (9 * S + 1, 15 * S, "gap"),
    ]  # fmt: skip


def test_a_camera_mapped_in_the_middle_of_a_round_has_a_lane() -> None:
    covered = coverage([mapped(9 * S), *BASE[1:]])
    assert cameras_on(covered, SPAN) == ["A"]
    assert lane_of(covered, AT_HAND, SPAN, "A")[0].state == "no_camera_mapped"


def told(game: str, *, cut: int | None = None, coverage: Coverage | None = None) -> KeptRound:
    """A simulated round, whole or cut short after some facts."""
    table = TablePlan(table="CC-07", game=game, seats=4)
    found: dict[RoundId, list[Fact]] = defaultdict(list)
    dealt, _ = deal(Plan(tables=(table,), minutes=10))
    for each in dealt:
        if each.round:
            found[each.round].append(each)
    round_, its = max(found.items(), key=lambda item: len(item[1]))
    ordered = in_order(its)[:cut]
    ruling = rule(RoundRecord(round_, ordered), [])
    awaited = [f"The record ends here; next comes {ruling.next.step}."] if ruling.next else []
    seen = timeline(ordered, coverage or Coverage({}, {}), NOTHING)
    story = Story(
        round=round_, game=game, rows=(), facts=ordered, moments=reconstruct(ordered),
        times=[format_time(each.time_us) for each in ordered], seen=seen, ruling=ruling,
        lines=paid_beside_owed(ruling, ordered), missing=awaited, corrected={},
    )  # fmt: skip
    return KeptRound(story, coverage or Coverage({}, {}), NOTHING, "v1")


def test_one_jumps_to_the_decision_of_a_position_and_to_the_settlement() -> None:
    story = told("criss_cross_poker").story
    labels = {jump.label: jump.number for jump in jumps(story)}
    assert "Settlement" in labels
    assert story.moments[labels["Settlement"] - 1].phase == "wagers are settled"
    decided = [label for label in labels if label.startswith("Decision of position")]
    for label in decided:
        moment = story.moments[labels[label] - 1]
        assert (moment.fact, moment.position) == ("decision_made", int(label.split()[-1]))


def test_one_jumps_to_each_throw_of_dice() -> None:
    story = told("three_dice_football").story
    throws = [jump for jump in jumps(story) if jump.label.startswith("Throw")]
    assert len(throws) == len(story.moments[-1].throws)


def test_the_keyboard_is_told_every_decision_and_every_settlement(tmp_path: Path) -> None:
    it = told("blackjack")
    its = data(it, FootageIndex(tmp_path), UTC, footage=False, address="/x")["facts"]
    kinds = [each["kind"] for each in its]  # type: ignore[attr-defined] # a list of dicts
    settles = ("wager_paid", "wager_collected", "wager_returned")
    words = {"decision_made": "decision"} | dict.fromkeys(settles, "settlement")
    assert kinds == [words.get(moment.fact) for moment in it.story.moments]
    firsts = [jump for jump in jumps(it.story) if jump.label.startswith("Decision")]
    assert kinds.count("decision") > len(firsts) > 0


@pytest.mark.parametrize("wrong_by_us", [-10 * DAY_US, 10 * DAY_US])
def test_a_fact_whose_clock_is_wrong_by_days_widens_nothing_that_is_shown_or_handed_over(
    wrong_by_us: int,
) -> None:
    """The third fact comes from a device that is days off; the camera is a second ahead."""
    it = told("craps")
    story = it.story
    first, last = story.moments[0].time_us, story.moments[-1].time_us
    covered = coverage([mapped(), checked(first), checked(last)])
    wrong = replace(story.facts[2], time_us=story.facts[2].time_us + wrong_by_us)
    told_so = [*story.facts[:2], wrong, *story.facts[3:]]
    it = it._replace(
        story=story._replace(
            facts=told_so,
            moments=[
                *story.moments[:2],
                replace(story.moments[2], time_us=wrong.time_us),
                *story.moments[3:],
            ],
            seen=timeline(told_so, covered, NOTHING),
        )
    )
    span = span_of(it.story)
    assert (span.from_us, span.to_us) == (first - AROUND_US, last + AROUND_US)
    assert _within(it, (first, first + S), UTC).from_us == first
    with pytest.raises(Usage, match="is not within"):
        _within(it, (wrong.time_us, wrong.time_us + S), UTC)
    (cut,) = cuts_of(of_round(ToldByCommand(it.story, (), None)), 0, 0)
    assert first - S < cut.window.from_us < cut.window.to_us < last + S
    asked = Asked("hollywood", ("A",), covered, NOTHING, tuple(sorted(e.time_us for e in told_so)))
    assert _span_of(asked, (None, None), (None, None)) == (first, last)


def pinned(*moments: Attached, written_us: int = 0) -> list[tuple[float | None, int]]:
    """When, in seconds after the first fact, and after which fact a note stands."""
    it = told("criss_cross_poker")
    first = it.story.moments[0]
    span = TableSpan("hollywood", "CC-07", first.time_us - 20 * S, first.time_us + 60 * S)
    set_back = [
        ClockChecked(
            camera="A", camera_time=format_time(first.time_us + off), reference="ntp",
            reference_time=format_time(first.time_us + at), uncertainty_ms=1,
        )
        for at, off in ((9 * S, 9 * S), (11 * S, 6 * S))
    ]  # fmt: skip
    covered = coverage([fact(n, body) for n, body in enumerate(set_back)])
    case = Dispute(
        property="hollywood",
        dispute="D-1",
        notes=(Note("Look.", moments, "S-1", written_us),),
    )
    found = noted(it.story, covered, span, [case])
    return [
        (None if n.time_us is None else (n.time_us - first.time_us) / S, n.after) for n in found
    ]


def instant(seconds: float) -> str:
    first = told("criss_cross_poker").story.moments[0]
    return format_time(first.time_us + round(seconds * S))


def test_a_note_stands_at_the_fact_or_the_instant_it_points_at() -> None:
    third = told("criss_cross_poker").story.moments[2]
    at_fact = (third.time_us - told("criss_cross_poker").story.moments[0].time_us) / S
    ref = FactRef(third.source, third.id)
    assert pinned(Attached(fact=ref)) == [(at_fact, 3)]
    later = pytest.approx(at_fact + 0.001)
    moment = Attached(fact=ref, reference_time=instant(at_fact + 0.001))
    assert pinned(moment) == [(later, 3)]
    assert pinned(Attached(reference_time=instant(-5))) == [(-5.0, 0)]


def test_a_note_at_a_cameras_time_stands_wherever_that_clock_showed_it() -> None:
    """The clock is set back by five seconds about ten seconds in: it shows 5 to 10 twice."""
    assert [at for at, _ in pinned(Attached(camera="A", camera_time=instant(7)))] == [7.0, 12.0]
    assert [at for at, _ in pinned(Attached(camera="A", camera_time=instant(2)))] == [2.0]
    assert [at for at, _ in pinned(Attached(camera="B", camera_time=instant(7)))] == [7.0]


def test_a_note_that_points_nowhere_in_the_round_stands_where_it_was_written_or_is_listed() -> None:
    first = told("criss_cross_poker").story.moments[0]
    assert pinned(written_us=first.time_us + S)[0][0] == 1.0
    assert pinned(Attached(reference_time=instant(3600))) == [(None, 0)]


def test_a_round_that_is_open_says_what_comes_next() -> None:
    it = told("criss_cross_poker", cut=9)
    shown = values(it, 9, UTC, hindsight=False, footage=True)
    assert shown["story"].missing[0].startswith("The record ends here; next comes")  # type: ignore[attr-defined]
    assert not any(line.differs for line in shown["money"])  # type: ignore[attr-defined]


def test_each_phase_begins_once_where_it_begins() -> None:
    story = told("criss_cross_poker").story
    begins = [fact for fact in facts(story, UTC) if fact.begins]
    assert [(fact.phase, fact.number) for fact in begins] == phases(story.moments)


def test_a_table_without_a_camera_says_so() -> None:
    shown = values(told("craps"), 1, UTC, hindsight=False, footage=True)
    assert [sight.state for sight in shown["nowhere"]] == ["no_camera_mapped"]  # type: ignore[attr-defined]
    assert shown["views"] == []


def test_scripts_are_told_no_footage_where_the_reader_may_see_none(tmp_path: Path) -> None:
    covered = coverage(BASE)
    it = told("craps", coverage=covered)
    assert data(it, FootageIndex(tmp_path), UTC, footage=False, address="/x")["cameras"] == []


def test_scripts_are_told_no_card_before_it_was_turned(tmp_path: Path) -> None:
    it = told("three_card_poker")
    text = json_text(data(it, FootageIndex(tmp_path), UTC, footage=True, address="/x"))
    first = next(m for m in it.story.moments if m.fact == "cards_turned")
    before = text.split(f'"n":{first.number},')[0]
    hidden = {c.card for h in first.held for c in h.cards if not c.up} - {"??"}
    assert hidden
    assert not any(f" {card}" in before for card in hidden)


def test_json_in_a_page_cannot_end_its_element() -> None:
    text = json_text({"says": "</script><script>alert(1)//&"})
    assert "<" not in text
    assert "&" not in text


def test_the_timeline_keeps_every_fact_inside_and_flags_what_was_found() -> None:
    it = told("three_dice_football")
    moments = it.story.moments
    axis = Axis(moments[0].time_us, moments[-1].time_us)
    svg = draw_timeline(axis, moments, {3: "overpaid"}, {}, UTC)
    root = ET.fromstring(svg)  # noqa: S314 - ours
    ticks = [each for each in root.iter() if each.get("data-fact")]
    assert len(ticks) == len(moments)
    assert [each.get("data-fact") for each in ticks if "found" in each.get("class", "")] == ["3"]
    assert all(GUTTER <= axis.x(each.time_us) <= WIDTH for each in moments)
    assert "no camera mapped" in svg


def test_the_timeline_tells_each_state_by_pattern_and_word() -> None:
    covered = coverage(BASE)
    axis = Axis(SPAN.from_us, SPAN.to_us)
    lanes = {"A": lane_of(covered, NOTHING, SPAN, "A")}
    svg = draw_timeline(axis, told("craps").story.moments, {}, lanes, UTC)
    assert 'fill="url(#lane-gap)"' in svg
    assert ">altered<" in svg
