"""The story of one round: its moments, ruling, money and footage.

It is made from the record's rows, so the same rows give the same story, byte for byte. It opens no
file and reads no clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.adjudication.corrections import corrected, corrections, misfit
from ledger.facts import RoundStarted
from ledger.record.tape import unframe_attributes
from ledger.record.wire import fact_of
from ledger.rules.engine.order import in_order
from replay.cameras.coverage import coverage
from replay.cameras.timeline import timeline
from replay.rounds.owed import paid_beside_owed
from replay.rounds.reconstruct import reconstruct
from replay.rounds.sentences import in_words, wager_namer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ledger.adjudication.corrections import Corrections
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact
    from ledger.rules.engine.ruling import Awaiting, Ruling
    from ledger.values import RoundId
    from replay.cameras.timeline import FactSights
    from replay.footage.library.files import FootageFiles
    from replay.rounds.moment import Moment
    from replay.rounds.owed import OwedLine


class Story(NamedTuple):
    """One round. rows, facts, moments and seen have the same order, that of the round."""

    round: RoundId
    game: str | None
    rows: Sequence[TapeRow]
    facts: Sequence[Fact]
    moments: Sequence[Moment]
    times: Sequence[str]  # each fact's `time` as it was received
    seen: Sequence[FactSights]
    ruling: Ruling | None  # None: the game is not on record, or not known
    lines: Sequence[OwedLine]
    missing: Sequence[str]  # sentences: what the record lacks
    corrected: Mapping[tuple[str, str], str]  # by source and id: later corrections


def facts_in_findings(told: Story) -> set[tuple[str, str]]:
    """Source and id of every fact that a finding names."""
    findings = told.ruling.findings if told.ruling else []
    return {(fact.source, fact.id) for finding in findings for fact in finding.facts}


def story(
    round_: RoundId,
    rows: Iterable[TapeRow],
    ruling: Ruling | None,
    camera_facts: Iterable[Fact] = (),
    footage: FootageFiles | None = None,
    made: Iterable[Fact] = (),
) -> Story:
    """The story of a round from its rows, in any order.

    camera_facts: those of the table's cameras. footage: the available segments. made: the
    corrections of its facts. Moments show what was recorded; the money is as corrected.
    """
    row_of = {(row.source, row.id): row for row in sorted(rows)}
    facts = in_order(fact_of(row) for row in row_of.values())
    ordered = [row_of[fact.source, fact.id] for fact in facts]
    started = next((fact.body for fact in facts if isinstance(fact.body, RoundStarted)), None)
    known = corrections(made)
    return Story(
        round=round_,
        game=started.game if started else None,
        rows=ordered,
        facts=facts,
        moments=reconstruct(facts),
        times=[unframe_attributes(row.attributes)["time"] for row in ordered],
        seen=timeline(facts, coverage(camera_facts), footage),
        ruling=ruling,
        lines=paid_beside_owed(ruling, corrected(facts, known)) if ruling else (),
        missing=tuple(_missing(ruling, started)),
        corrected=_corrected(facts, known, started),
    )


def _corrected(
    facts: Sequence[Fact], made: Corrections, started: RoundStarted | None
) -> dict[tuple[str, str], str]:
    """The sentences for corrected facts."""
    name = wager_namer(started.game if started else None)
    told = {}
    for fact in facts:
        key = (fact.source, fact.id)
        if key in made:
            meant = corrected([fact], made)
            what = "it should not have been recorded."
            if why := misfit(made[key], {key: fact}):
                what = f"this has no effect, as its content does not fit: {why}."
            elif meant:
                what = f"it should say: {in_words(meant[0].body, name)}"
            by = f"{made[key].by} and {made[key].second}"
            told[key] = f"Corrected later by {by} ({made[key].because}): {what}"
    return told


def _missing(ruling: Ruling | None, started: RoundStarted | None) -> Iterable[str]:
    """What the record lacks, in sentences."""
    if started is None:
        yield "The game of this round is not known: `round_started` is not on record."
    elif ruling is None:
        yield f"The game `{started.game}` is not known here, so there is no ruling."
    if ruling is None:
        return
    if ruling.awaiting:
        yield f"The ruling awaits {_step(ruling.awaiting)}."
    if ruling.next:
        yield f"The record ends here; next comes {_step(ruling.next)}."
    for finding in ruling.findings:
        if finding.code == "fact_missing":
            yield finding.says


def _step(step: Awaiting) -> str:
    """A step that has not happened yet, in words."""
    what = step.step.replace("_", " ")
    wager = f" of {step.wager.replace('_', ' ')}" if step.wager else ""
    instead = f", or {step.or_.replace('_', ' ')}" if step.or_ else ""
    anybody = step.step == "wager_placed" and step.position is None
    who = "a player" if anybody else step.who
    section = f" ({step.section})" if step.section else ""
    return f"“{what}{wager}” by or for {who}{instead}{section}"


def ruled_by(ruling: Ruling) -> str:
    """The chapter that a round is ruled by, and the ruling's status."""
    if ruling.edition is None:
        return f"No chapter rules on this round, because its game is not known: {ruling.status}."
    note = f" {ruling.edition_note}." if ruling.edition_note else ""
    return f"Ruled by chapter {ruling.edition}: {ruling.status}.{note}"
