"""Reads a Rules Submission from a file, checks it against its game, and computes its edges.

It needs no database and files nothing.
"""

import json
from pathlib import Path

import msgspec

from ledger.adjudication.submissions import FiledSubmission, checked_game, in_force
from ledger.edges import edges_under
from ledger.errors import Usage
from ledger.facts import RulesSubmissionFiled
from replay.games.game_card import EdgeCard, edge_card


def read_filing(path: Path) -> RulesSubmissionFiled:
    """The submission in a file: the `data` alone, or the whole fact. Raises `Usage`."""
    try:
        told = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise Usage(
            f"The submission cannot be read: {error}",
            where=str(path),
            hint="Give a file with one JSON object; see /docs/facts.html for its fields.",
        ) from error
    if isinstance(told, dict) and "specversion" in told:
        told = told.get("data")
    try:
        return msgspec.convert(told, RulesSubmissionFiled)
    except msgspec.ValidationError as error:
        raise Usage(
            f"The file is not a Rules Submission: {error}",
            where=str(path),
            hint="`round-ledger games GAME --json` lists a game's paytables, readings and options.",
        ) from error


def edges_of(filing: RulesSubmissionFiled, path: Path) -> list[EdgeCard]:
    """The house edge of each wager under a submission. Raises `Refused` if it is invalid."""
    game = checked_game(filing, str(path))
    filed = FiledSubmission("", None, 0, filing)
    rules = in_force(game, "", "", filing.effective_from, [filed])
    try:
        return [edge_card(each) for each in edges_under(rules)]
    except ModuleNotFoundError:
        return []
