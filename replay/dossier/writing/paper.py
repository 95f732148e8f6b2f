"""A dossier as PDF: the ruling on one page with lines to sign, and the whole report.

Both have the content of the HTML report, from the same story. Nothing is decided here.
"""

from __future__ import annotations

import io
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from replay.dossier.writing.footage import clip_says, still_name
from replay.dossier.writing.pages import INK, MARGIN_MM, SOFT, Paper
from replay.dossier.writing.previews import preview
from replay.dossier.writing.proof import proofs
from replay.dossier.writing.report import (
    at_stake,
    case_told,
    heading,
    line_told,
    marks_told,
    others_told,
    ruled,
    title_of,
    told_first,
)
from replay.dossier.writing.tables import clock_table, clock_words, custody_table
from replay.footage.library.files import FrameFile
from replay.rounds.story import facts_in_findings
from replay.text import times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from replay.dossier.writing.evidence import Evidence
    from replay.rounds.owed import OwedLine
    from replay.rounds.story import Story

SAYS_MAX = 230
SIGNATURES_MM = 58.0
"""The height of the signature lines and the footer, in millimetres."""

_WHO = ("For the casino: name, credential", "Surveillance: name, credential", "Patron, or witness")
_MONEY = ("Pos", "Wager", "Stake", "Owed", "By", "Moved", "Difference")
_WIDTHS = (6, 17, 10, 11, 29, 19, 12)
_PICTURE_MM = 84.0


class Room(NamedTuple):
    """How many of each fit on the page of the ruling."""

    wagers: int
    findings: int
    steps: int


ROOM = (Room(14, 4, 5), Room(10, 3, 4), Room(6, 2, 3), Room(3, 1, 1), Room(1, 1, 0))


class Seal(NamedTuple):
    """What the pages print about their dossier."""

    contents: str  # SHA-256 over its contents
    key_id: str | None  # the signing key; None: unsigned


def ruling_pdf(evidence: Evidence, seal: Seal) -> bytes:
    """One page: the round, what was paid, what was owed, by which sections, and lines to sign.

    Wagers that differ come first. Those without room are counted, and are in the report.
    """
    for most in ROOM:
        paper = _ruling(evidence, seal, most)
        if paper.page_no() == 1 and paper.get_y() < paper.h - SIGNATURES_MM:
            break
    _signatures(paper)
    return paper.octets()


def _ruling(evidence: Evidence, seal: Seal, most: Room) -> Paper:
    """The page without its lines to sign, limited to `most`."""
    paper = _paper(evidence, seal, "Ruling")
    _head(paper, evidence, seal, "Ruling")
    case = case_told(evidence)
    if case:
        paper.part("Preserved" if evidence.window else "Dispute")
        for when, says in case[: most.steps]:
            paper.say(f"{when}  {says if len(says) <= SAYS_MAX else says[:SAYS_MAX] + '…'}")
        if len(case) > most.steps:
            paper.say(f"{len(case) - most.steps} more steps are in the report.", soft=True)
    if evidence.window:
        _rounds(paper, evidence, most)
        return paper
    (story,) = evidence.stories
    paper.part("Owed and paid")
    paper.say(at_stake(story), style="B")
    lines = list(enumerate(story.lines))
    lines.sort(key=lambda each: not each[1].difference)
    shown = [line for _, line in sorted(lines[: most.wagers], key=lambda each: each[0])]
    paper.ln(1)
    _money(paper, shown)
    left = [line for _, line in lines[most.wagers :]]
    if left:
        wrong = sum(bool(line.difference) for line in left)
        none = f"{wrong} of them differ" if wrong else "none of them differs"
        paper.say(f"{len(left)} more wagers are in the report; {none}.", soft=True)
    _findings(paper, story, most.findings)
    _sections(paper, story)
    return paper


def _rounds(paper: Paper, evidence: Evidence, most: Room) -> None:
    """The rounds of a window, each with its difference; those that differ come first."""
    paper.part("Rounds of the window")
    numbered = list(enumerate(evidence.stories))
    numbered.sort(key=lambda each: not any(line.difference for line in each[1].lines))
    shown = [story for _, story in sorted(numbered[: most.wagers], key=lambda each: each[0])]
    if not shown:
        paper.say("No round falls in the window.")
        return
    rows = [
        [
            story.round.subject,
            title_of(story),
            story.ruling.status if story.ruling else "not ruled",
            str(len(story.ruling.findings)) if story.ruling else "n/a",
            at_stake(story),
        ]
        for story in shown
    ]
    marked = [at for at, each in enumerate(shown) if any(line.difference for line in each.lines)]
    columns = ("Round", "Game", "Ruling", "Findings", "Owed and paid")
    paper.rows(columns, rows, (22, 20, 11, 9, 38), right=(3,), marked=marked, size=8)
    if len(numbered) > len(shown):
        paper.say(f"{len(numbered) - len(shown)} more rounds are in the report.", soft=True)


def report_pdf(evidence: Evidence, seal: Seal) -> bytes:
    """The whole report, with the pictures of facts that a finding names."""
    paper = _paper(evidence, seal, "Report")
    _head(paper, evidence, seal, "Report")
    if evidence.window:
        _case(paper, evidence)
    for story in evidence.stories:
        if evidence.window:
            paper.part(f"Round {story.round.subject}, {title_of(story)}")
            for says in ruled(story):
                paper.say(says)
        _findings(paper, story, None)
        _paid(paper, story)
        if not evidence.window:
            _case(paper, evidence)
        _facts(paper, evidence, story)
    _others(paper, evidence)
    _marks(paper, evidence)
    _footage(paper, evidence)
    _custody(paper, evidence)
    _proof(paper, evidence, seal)
    return paper.octets()


def _paid(paper: Paper, story: Story) -> None:
    paper.part("Owed and paid")
    paper.say(at_stake(story), style="B")
    paper.say(
        "Owed is what the patron gains or loses under the section named, not counting the stake. "
        "A positive difference is money the patron received beyond it.",
        soft=True,
    )
    paper.ln(1)
    _money(paper, story.lines)


def _paper(evidence: Evidence, seal: Seal, what: str) -> Paper:
    made = evidence.making.at if evidence.making else ""
    return Paper(f"{what}: {evidence.about}", f"Dossier SHA-256 {seal.contents}", made)


def _head(paper: Paper, evidence: Evidence, seal: Seal, what: str) -> None:
    """The round, its rules, and who signed the dossier."""
    making = evidence.making
    about = f" of dispute {evidence.dispute}" if evidence.dispute else ""
    paper.say(f"{what}{about}".upper(), size=9, soft=True, style="B")
    paper.big(heading(evidence))
    told = told_first(evidence)
    if making:
        told.append(f"Made {evidence.local(making.at)} by {making.by}.")
    told.append(evidence.clock)
    if seal.key_id:
        told.append(f"Signed with key {seal.key_id}: see manifest.sig and verify.py.")
    for says in told:
        paper.say(says)
    if not seal.key_id:
        paper.flag(
            "UNSIGNED. The checksums of this dossier show that it is unchanged; nothing shows who "
            "wrote it."
        )


def _money(paper: Paper, lines: Sequence[OwedLine]) -> None:
    if not lines:
        paper.say("No wager is on record.")
        return
    told = [line_told(line) for line in lines]
    rows = [
        [
            str(each["position"]),
            str(each["wager"]),
            str(each["stake"]),
            str(each["owed"]),
            f"{each['ground']}{'; reading ' + str(each['reading']) if each['reading'] else ''}",
            str(each["moved"]),
            f"{each['difference']}{' <' if each['differs'] else ''}",
        ]
        for each in told
    ]
    marked = [at for at, each in enumerate(told) if each["differs"]]
    paper.rows(_MONEY, rows, _WIDTHS, right=(0, 2, 3, 6), marked=marked, size=8)


def _findings(paper: Paper, story: Story, most: int | None) -> None:
    """The findings, and what the record lacks. most: how many there is room for."""
    ruling = story.ruling
    says = [f"{each.code}: {each.says}" for each in ruling.findings] if ruling else []
    says += [f"Not on record: {each}" for each in story.missing]
    paper.part("Findings")
    if not says:
        paper.say("Nothing found." if ruling else "There is no ruling.")
    for each in islice(says, most):
        told = each if most is None or len(each) <= SAYS_MAX else each[:SAYS_MAX] + "…"
        paper.say(f"•  {told}")
    if most is not None and len(says) > most:
        paper.say(f"{len(says) - most} more are in the report.", soft=True)
    if most is None and ruling and ruling.before:
        paper.part("Findings before the corrections")
        for finding in ruling.before.findings:
            paper.say(f"•  {finding.code}: {finding.says}")


def _sections(paper: Paper, story: Story) -> None:
    ruling = story.ruling
    lines = [line.section for line in story.lines if line.section]
    findings = [each.section for each in ruling.findings if each.section] if ruling else []
    named = sorted({*lines, *findings})
    if named:
        paper.part("Sections applied")
        shown = ", ".join(named)
        paper.say(shown if len(shown) <= 2 * SAYS_MAX else shown[: 2 * SAYS_MAX] + "…")


def _signatures(paper: Paper) -> None:
    """Lines to sign, at the end of the page."""
    top = paper.h - SIGNATURES_MM + 6
    width = (paper.w - 2 * MARGIN_MM - 10) / len(_WHO)
    paper.set_draw_color(*INK)
    paper.set_font("Helvetica", size=7.5)
    paper.set_text_color(*SOFT)
    for at, who in enumerate(_WHO):
        left = MARGIN_MM + at * (width + 5)
        for line, label in enumerate((who, "Signature", "Date and time")):
            y = top + line * 10.5
            paper.line(left, y, left + width, y)
            paper.text(left, y + 3.2, label)


def _others(paper: Paper, evidence: Evidence) -> None:
    told = others_told(evidence)
    if told:
        paper.part("Other facts of the table")
        columns = ("When", "Device", "What")
        paper.rows(columns, [list(each) for each in told], (26, 24, 50), size=8)


def _case(paper: Paper, evidence: Evidence) -> None:
    told = case_told(evidence)
    if told:
        paper.part("How it was preserved" if evidence.window else "The dispute, step by step")
        paper.rows(("When", "What"), [list(each) for each in told], (28, 72))


def _marks(paper: Paper, evidence: Evidence) -> None:
    told = marks_told(evidence)
    if told:
        paper.part("Bookmarks, stills and shapes")
        paper.rows(("When", "What"), [list(each) for each in told], (28, 72))
    for still in evidence.stills:
        paper.say(f"{still_name(still)}: SHA-256 {still.body.sha256}", size=7, soft=True)


def _facts(paper: Paper, evidence: Evidence, story: Story) -> None:
    named = facts_in_findings(story)
    paper.part("Fact by fact")
    paper.say(
        "Each fact has the time of its device's clock. Facts named by a finding are in bold and "
        "followed by their pictures. All pictures are in report.html and in frames/.",
        soft=True,
    )
    paper.ln(1)
    rows = []
    for moment, time, seen in zip(story.moments, story.times, story.seen, strict=True):
        since = story.corrected.get((moment.source, moment.id))
        says = f"{moment.says} {since}" if since else moment.says
        plus_minus = times.whole_ms(seen.plus_minus_us)
        device = moment.source.rpartition("/")[2]
        when = times.as_recorded(time, evidence.zone)
        rows.append([str(moment.number), f"{when} ±{plus_minus} ms", device, says])
    marked = [at for at, each in enumerate(story.moments) if (each.source, each.id) in named]
    paper.rows(
        ("No.", "When", "Device", "What"), rows, (6, 37, 10, 47), right=(0,), marked=marked, size=8
    )
    for at in marked:
        _pictures(paper, evidence, story, at)


def _pictures(paper: Paper, evidence: Evidence, story: Story, at: int) -> None:
    """The pictures of one fact."""
    for sight in story.seen[at].sights:
        frame = None
        if sight.segment is not None and sight.frame is not None:
            frame = evidence.frames.get((sight.segment, sight.frame))
        if not isinstance(frame, FrameFile):
            continue
        if paper.will_page_break(_PICTURE_MM * 0.75):
            paper.add_page()
        paper.say(f"Fact {story.moments[at].number}, camera {sight.camera}: "
            f"{evidence.local(sight.says)}", size=8.5)  # fmt: skip
        paper.image(io.BytesIO(preview(frame.path).octets), w=_PICTURE_MM)
        paper.say(f"SHA-256 {frame.sha256}", size=7, soft=True)
        paper.ln(2)


def _footage(paper: Paper, evidence: Evidence) -> None:
    paper.part("Footage")
    for says in evidence.coverage.words:
        paper.say(evidence.local(says))
    rows = [
        [each.camera, f"Original, untouched: {each.label}", each.sha256]
        for each in evidence.originals
    ]
    rows += [
        [each.camera, f"Derived: {evidence.local(clip_says(each))}", " ".join(each.of)]
        for each in evidence.clips
    ]
    if rows:
        paper.ln(1)
        paper.rows(("Camera", "What", "SHA-256 of what was recorded"), rows, (14, 40, 46), size=7.5)
    paper.part("Clocks of the cameras")
    for says in clock_words(evidence) or ["No camera was mapped."]:
        paper.say(evidence.local(says))
    readings = [
        [
            str(each["camera"]),
            evidence.local(str(each["camera_time"])),
            evidence.local(str(each["reference_time"])),
            str(each["reference"]),
            f"{each['offset_ms']:+d} ±{each['plus_minus_ms']} ms",
        ]
        for each in clock_table(evidence)
    ]
    if readings:
        paper.ln(1)
        columns = ("Camera", "Its clock", "Reference", "Which", "Offset")
        paper.rows(columns, readings, (16, 27, 27, 14, 16), right=(4,), size=7.5)


def _custody(paper: Paper, evidence: Evidence) -> None:
    paper.part("Custody of the footage")
    rows = [
        [
            evidence.local(str(each["told_at"])),
            str(each["what"]),
            str(each["camera"]),
            evidence.local(f"{each['from_camera_clock']} to {each['to_camera_clock']}"),
            str(each["by"]),
            str(each["because"]),
        ]
        for each in custody_table(evidence)
    ]
    if not rows:
        paper.say("No such fact is on record.")
        return
    columns = ("Recorded at", "What", "Camera", "From, to (camera's clock)", "By", "Because")
    paper.rows(columns, rows, (18, 9, 13, 28, 10, 22), size=7.5)


def _proof(paper: Paper, evidence: Evidence, seal: Seal) -> None:
    paper.part("Proof")
    paper.say(
        "Each fact is part of the hash chain of its tape. To check it yourself, with Python 3.8 "
        "or newer and no network, run: python verify.py --key KEY. Get the key from the house, "
        f"but not with the dossier. verify.py must print this SHA-256 of the contents: "
        f"{seal.contents}."
    )
    paper.ln(1)
    tapes = {each.tape for each in proofs(evidence)}
    rows = [
        [head.tape, f"{head.table_seq:,}", f"{head.position:,}", head.hash.hex()]
        for head in evidence.heads
        if head.tape in tapes
    ]
    columns = ("Tape", "Facts on it", "Newest position", "Newest hash")
    paper.rows(columns, rows, (22, 11, 13, 54), right=(1, 2), size=7)
    paper.say(
        "What this cannot show: that devices sent the truth, or that the record was honest "
        "before its heads were first kept elsewhere. A camera's time is only known within its "
        "uncertainty.",
        soft=True,
    )
