"""Parts of views by the command: the status of each, and the end of one of an old number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from consumers.money import drop
from consumers.runtime.source import Share
from tests.fixtures.cli import Cli, environ
from tests.integration.shares.test_followed_parts import step, tracking
from tests.integration.shares.test_shared_views import crossed
from tests.until import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.postgres import Scenes


def test_status_names_each_part_of_a_view(scenes: Scenes, tmp_path: Path) -> None:
    database, rows = scenes.copy(crossed, 2, 4)
    cli = Cli(environ(tmp_path, ROUND_LEDGER_DATABASE_URL=database.url))
    step(database, [drop.DROP], rows, Share(1, 2))
    status = ("consume", "drop", "disputes", "--status")
    whole, divided = cli(*status, "--json").json
    assert (whole["view"], whole["parts"]) == ("disputes", [])
    assert divided["behind_facts"] == len(rows)
    first, second = divided["parts"]
    named = ("view", "part", "parts", "position", "behind_facts")
    assert [first[name] for name in named] == ["drop", 1, 2, 0, len(rows)]
    assert [second[name] for name in named] == ["drop", 2, 2, 300, len(rows) - 300]
    assert min(first["behind_us"], second["behind_us"]) > 0
    shown = cli(*status).out
    assert [part in shown for part in ("1/2", "2/2")] == [True, True]

    alone = cli("consume", "drop", "--status", "--part", "2/2", "--json").json
    assert [(each["behind_facts"], len(each["parts"])) for each in alone] == [(len(rows) - 300, 1)]
    shown = cli("consume", "drop", "--status", "--part", "2/2").out
    assert [part in shown for part in ("1/2", "2/2")] == [False, True]
    for asked, says in (("drop", "View drop is divided into 2 parts"), ("disputes", "not divided")):
        refused = cli("consume", asked, "--status", "--part", "1/3")
        assert refused.code == 2
        assert says in refused.err


@pytest.mark.long
@pytest.mark.parametrize("number", ["1/3", "1/1"])
def test_a_command_that_follows_a_part_of_an_old_number_ends_by_itself(
    scenes: Scenes, tmp_path: Path, number: str
) -> None:
    """No fact comes meanwhile. The part of the new number is there from then on."""
    database, rows = scenes.copy(crossed, 2, 4)
    cli = Cli(environ(tmp_path, ROUND_LEDGER_DATABASE_URL=database.url))
    with cli.start("consume", "drop", "--follow", "--part", "1/2") as old:
        until(lambda: tracking(database, drop.DROP).parts == (len(rows), 0))
        assert cli("consume", "drop", "--part", number).code == 0
        until(lambda: old.poll() is not None)
        assert old.returncode == 2
        _, err = old.communicate()
        assert b"this one has part 1 of 2" in err
    assert tracking(database, drop.DROP).asked == int(number[-1])
