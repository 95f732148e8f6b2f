"""Tables of the view `rulings`: rulings, versions, settlements, findings.

Others index the record: facts by round, Rules Submissions, coupon batches, corrections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.rounds.index import ROUND_KEY
from consumers.rulings.finding_work import STATE, STATE_INDEXES
from infra.postgres.view_tables import Column, ViewTable

if TYPE_CHECKING:
    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow

_RULING = Column("ruling", "json", "The ruling as `adjudicate` prints it.", null=True)

RULINGS = ViewTable(
    "rulings",
    "One row a round: its newest ruling.",
    4,
    (
        *ROUND_KEY,
        Column("game", "text", "Game id; null while no ruling can be given.", null=True),
        Column("status", "text", "complete, awaiting or void; null without a ruling.", null=True),
        Column("closed", "boolean", "The record has round_completed or round_voided."),
        Column("first_us", "bigint", "Earliest device time of its facts, microseconds."),
        Column("last_us", "bigint", "Latest device time of its facts, microseconds."),
        Column(
            "version", "integer", "0 while the round is open, then the number of different rulings."
        ),
        Column(
            "position", "bigint", "Position of the fact that led to this version; 0 while open."
        ),
        Column("touches", "integer", "Facts that touched it since it was closed."),
        Column("kept", "integer", "Permanent versions; a newer one exists until the next step."),
        Column("findings", "integer", "Number of its findings."),
        _RULING,
    ),
    (
        "(property, table_name, last_us)",
        "(property, game, gaming_day)",
        "(findings) WHERE findings > 0",
    ),
)

VERSIONS = ViewTable(
    "ruling_versions",
    "The rulings a closed round has had. A late fact can lead to a new one.",
    5,
    (
        *ROUND_KEY,
        Column("version", "integer", "From 1."),
        Column("position", "bigint", "Position of the fact that led to it."),
        Column("first_us", "bigint", "Earliest device time of the facts it rests on."),
        Column("last_us", "bigint", "Latest device time of the facts it rests on, microseconds."),
        _RULING,
    ),
)

SETTLEMENTS = ViewTable(
    "ruling_settlements",
    "The settlements of newest rulings, one row each.",
    5,
    (
        *ROUND_KEY,
        Column("nth", "smallint", "Its place in the ruling, from 0."),
        Column("position", "smallint", "Betting position."),
        Column("hand", "smallint", "Hand of the position, from 1."),
        Column("wager", "text", "Wager id."),
        Column("throw", "smallint", "Throw it was settled by, from 1.", null=True),
        Column("stake", "bigint", "Cents at risk."),
        Column("outcome", "text", "win, lose, push or void."),
        Column("net", "bigint", "Cents the patron gains (+) or loses (-) beside the stake."),
        Column("section", "text", "Section of the regulation that decides it."),
        Column("paid_from", "text", "Who owes it: table or cage."),
        Column("printed_row", "text", "Row that paid or pushed, as printed.", null=True),
    ),
    ("(outcome, wager)", "(lower(printed_row)) WHERE printed_row IS NOT NULL"),
)

FINDINGS = ViewTable(
    "ruling_findings",
    "The findings of newest rulings, one row each.",
    5,
    (
        *ROUND_KEY,
        Column("nth", "smallint", "Its place in the ruling, from 0."),
        Column("code", "text", "Code of the finding, e.g. underpaid."),
        Column("position", "smallint", "Betting position, if it has one.", null=True),
        Column("wager", "text", "Wager id, if it has one.", null=True),
        Column("expected", "text", "Value by the rules; cents if it is money.", null=True),
        Column("recorded", "text", "Value in the record; cents if it is money.", null=True),
        Column("section", "text", "Section of the regulation.", null=True),
        Column("says", "text", "The finding as one sentence."),
        Column("hand", "smallint", "Hand of the position, if it has one.", null=True),
        Column("throw", "smallint", "Throw that settled the wager, if it has one.", null=True),
        Column("off", "bigint", "Cents between record and rules; null: not money.", null=True),
        Column("time_us", "bigint", "Latest device time of the round's facts, microseconds."),
        *STATE,
    ),
    ("(code)", *STATE_INDEXES),
)

MONEY = ViewTable(
    "ruling_money",
    "One row a ruled round: its money from the table's side, with corrections.",
    4,
    (
        *ROUND_KEY,
        Column("game", "text", "Game id; null while no ruling can be given.", null=True),
        Column("poker", "boolean", "Whether its players play for pots."),
        Column("moved", "bigint", "Cents the table won by the chips on record; poker: the rake."),
        Column("tray", "bigint", "Cents the tray gained by them."),
        Column("owed", "bigint", "Cents the table wins by the ruling; null: poker.", null=True),
        Column("cage_paid", "bigint", "Winnings that the cage paid, cents."),
        Column("handle", "bigint", "Cents placed less withdrawn; poker: with calls, bets, raises."),
        Column("rake", "bigint", "Rake taken, cents."),
        Column("funded", "bigint", "Winnings paid for the faces of coupons, cents."),
        Column("mean", "text", "Mean of what is owed, a fraction of cents.", null=True),
        Column("variance", "text", "Its variance, a fraction; null: it lacks a wager.", null=True),
        Column("lacks", "text", "Wagers without a mean or variance; null: none.", null=True),
        Column("details", "json", "All of it with its differences; null: none.", null=True),
        Column("recorded", "json", "The same without corrections; null: none made.", null=True),
        Column("took_rake", "text", "The facts that took rake, as JSON; null: none.", null=True),
    ),
    (
        "(gaming_day, property)",
        "(gaming_day, property) WHERE details IS NOT NULL",
        "(gaming_day, property) WHERE took_rake IS NOT NULL",
    ),
)

CASE_TAPES = ViewTable(
    "ruling_tapes",
    "Positions of the facts of a round: one row a round and tape.",
    5,
    (
        *ROUND_KEY,
        Column("tape", "text", "Tape of the facts."),
        Column(
            "seqs", "int8multirange", "Their table_seq on it.", merge="old.seqs + excluded.seqs"
        ),
    ),
)

SUBMISSIONS = ViewTable(
    "ruling_submissions",
    "Positions of Rules Submissions and of issued coupon batches.",
    1,
    (
        Column("position", "bigint", "Position on the record."),
        Column("tape", "text", "Tape of the fact."),
        Column("table_seq", "bigint", "Its sequence on that tape."),
    ),
    is_log=True,
)

CORRECTIONS = ViewTable(
    "ruling_corrections",
    "Positions of the corrections that rulings depend on.",
    1,
    (
        Column("position", "bigint", "Position on the record."),
        Column("tape", "text", "Tape of the fact."),
        Column("table_seq", "bigint", "Its sequence on that tape."),
        Column(
            "round",
            "text",
            "Round of the corrected fact; null: none, or the fact was not recorded by then.",
            null=True,
        ),
    ),
    ("(round)",),
    is_log=True,
)


def submission_rows(store: ViewStore, property_: str) -> list[TapeRow]:
    """A property's Rules Submissions and issued coupon batches, in order of position."""
    return store.rows_named(
        f"SELECT tape, table_seq, table_seq FROM {{schema}}.{SUBMISSIONS.name}"  # noqa: S608 - our own name
        " WHERE starts_with(tape, %(property)s || '/')",
        {"property": property_},
    )
