"""Rules Submissions are filed with a check, once, and those of other systems count with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from consumers.registry import install
from consumers.rulings import rulings
from consumers.runtime.lifecycle import up_to_date
from ledger.errors import Refused
from ledger.facts import RulesSubmissionFiled
from ledger.values import Source
from replay.recording.house_facts import append_fact
from replay.recording.submissions import RulesSubmissions, SubmissionDecisions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape

GAME = "criss_cross_poker"
HOUSE = RulesSubmissions(property="hollywood", game=GAME)
OFFICE = Source("hollywood", "office", "legacy")


def submission(day: str, tens: str, game: str = GAME) -> RulesSubmissionFiled:
    return RulesSubmissionFiled(game=game, effective_from=day, readings={"pair_of_tens": tens})


PUSH = submission("2026-11-21", "push")


@pytest.fixture
def decisions(database: Database) -> Iterator[SubmissionDecisions]:
    install(database)
    with SubmissionDecisions(database) as opened:
        yield opened


def filed(decisions: SubmissionDecisions, each: RulesSubmissionFiled, table: str = "") -> int:
    """The position at which a submission is filed, after all that is on record."""
    up_to_date(decisions.database, [rulings.VIEW])
    new = RulesSubmissions(property="hollywood", game=GAME, table=table or None)
    case = decisions.read(new)
    [position] = decisions.decide(case, case.file(each), subject=table or "hollywood")
    return position


def test_a_submission_is_filed_once_and_a_changed_choice_again(
    decisions: SubmissionDecisions, tape: PostgresTape
) -> None:
    assert filed(decisions, PUSH) == 1
    with pytest.raises(Refused, match="same submission is in force"):
        filed(decisions, PUSH)
    assert filed(decisions, submission("2026-11-21", "one_to_one")) == 2
    assert filed(decisions, PUSH) == 3, "it is not the one in force"
    assert filed(decisions, PUSH, "CC-02") == 4, "another table's is another aggregate"
    assert [(row.tape, row.id, row.subject) for row in tape.read(0, 9)] == [
        ("hollywood/office", f"{GAME}/1", "hollywood"),
        ("hollywood/office", f"{GAME}/2", "hollywood"),
        ("hollywood/office", f"{GAME}/3", "hollywood"),
        ("hollywood/office", f"{GAME}.CC-02/1", "CC-02"),
    ]


def test_what_was_filed_elsewhere_counts_and_moves_no_version(
    decisions: SubmissionDecisions, tape: PostgresTape
) -> None:
    append_fact(tape, PUSH, OFFICE, subject="hollywood")
    with pytest.raises(Refused, match="same submission is in force"):
        filed(decisions, PUSH)
    assert filed(decisions, submission("2026-11-22", "one_to_one")) == 2
    other = submission("2026-11-22", "push")
    append_fact(tape, other, OFFICE, subject="CC-02")
    append_fact(tape, other, Source("other", "office", "legacy"), subject="other")
    up_to_date(decisions.database, [rulings.VIEW])
    case = decisions.read(HOUSE)
    days = [each.submission.effective_from for each in case.filed]
    assert (case.version, days) == (1, ["2026-11-21", "2026-11-22"])


def test_a_view_that_lags_hides_no_submission_filed_here(decisions: SubmissionDecisions) -> None:
    case = decisions.read(HOUSE)
    decisions.decide(case, case.file(PUSH), subject="hollywood")
    case = decisions.read(HOUSE)
    assert (case.version, len(case.filed)) == (1, 1)


def test_of_two_who_file_at_once_one_is_refused(
    decisions: SubmissionDecisions, tape: PostgresTape
) -> None:
    case = decisions.read(HOUSE)
    decisions.decide(case, case.file(PUSH), subject="hollywood")
    with pytest.raises(Refused, match="Someone else"):
        decisions.decide(case, case.file(submission("2026-11-22", "push")), subject="hollywood")
    assert len(tape.read(0, 9)) == 1


def test_what_the_game_does_not_have_is_refused() -> None:
    with pytest.raises(Refused, match="pair_of_tens"):
        HOUSE.file(submission("2026-11-21", "won"))
    with pytest.raises(Refused, match="no game"):
        HOUSE.file(submission("2026-11-21", "push", "faro"))
