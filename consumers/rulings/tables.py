"""The tables of the view `rulings` that its readers ask: rulings, versions, settlements, findings.

Also what of the record it must find again: facts by round, Rules Submissions, corrections.
"""

from __future__ import annotations

from consumers.rounds.index import ROUND_KEY
from infra.postgres.view_tables import Column, ViewTable

_RULING = Column("ruling", "json", "The ruling as `adjudicate` prints it.", null=True)

RULINGS = ViewTable(
    "rulings",
    "One row a round: its newest ruling.",
    4,
    (
        *ROUND_KEY,
        Column("game", "text", "Game id; null while no ruling can be given.", null=True),
        Column("status", "text", "complete, awaiting or void; null without a ruling.", null=True),
        Column("closed", "boolean", "round_completed or round_voided is on record."),
        Column("first_us", "bigint", "Earliest device time of its facts, microseconds."),
        Column("last_us", "bigint", "Latest device time of its facts, microseconds."),
        Column("version", "integer", "0 while the round is open, then counts rulings that differ."),
        Column("position", "bigint", "Position of the fact that made this version; 0 while open."),
        Column("touches", "integer", "Facts that touched it since it was closed."),
        Column("kept", "integer", "Versions that stay; a newer one stands until the next step."),
        Column("findings", "integer", "How many findings it has."),
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
    "The rulings a closed round has had: a fact that comes late makes a new one.",
    5,
    (
        *ROUND_KEY,
        Column("version", "integer", "From 1."),
        Column("position", "bigint", "Position of the fact that made it."),
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
        Column("section", "text", "Section that says so."),
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
        Column("code", "text", "What it is, e.g. underpaid."),
        Column("position", "smallint", "Betting position, where it is of one.", null=True),
        Column("wager", "text", "Wager id, where it is of one.", null=True),
        Column("expected", "text", "What the rules say; cents where it is money.", null=True),
        Column("recorded", "text", "What the record says; cents where it is money.", null=True),
        Column("section", "text", "Section it stands on.", null=True),
        Column("says", "text", "The finding as one sentence."),
    ),
    ("(code)",),
)

CASE_TAPES = ViewTable(
    "ruling_tapes",
    "Positions of the facts of a round: one row a round and tape.",
    5,
    (
        *ROUND_KEY,
        Column("tape", "text", "Tape the facts stand on."),
        Column(
            "seqs", "int8multirange", "Their table_seq there.", merge="old.seqs + excluded.seqs"
        ),
    ),
)

SUBMISSIONS = ViewTable(
    "ruling_submissions",
    "Positions of the Rules Submissions, and of issued batches of coupons.",
    1,
    (
        Column("position", "bigint", "Position on the record."),
        Column("tape", "text", "Tape it stands on."),
        Column("table_seq", "bigint", "Its sequence there."),
    ),
)

CORRECTIONS = ViewTable(
    "ruling_corrections",
    "Positions of the corrections that rulings depend on.",
    1,
    (
        Column("position", "bigint", "Position on the record."),
        Column("tape", "text", "Tape it stands on."),
        Column("table_seq", "bigint", "Its sequence there."),
        Column(
            "round",
            "text",
            "Round of the fact it corrects; null: of none, or not on record by then.",
            null=True,
        ),
    ),
    ("(round)",),
)
