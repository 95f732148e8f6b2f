"""A device key that sends more than its quota gets 429 and waits; nobody else does."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.fixtures.cli import Cli, lines
from tests.fixtures.http import BATCH, TRUST, Server, batch

if TYPE_CHECKING:
    from collections.abc import Sequence

QUOTA = 10


def sent(server: Server, key: str, feed: Sequence[bytes]) -> httpx.Response:
    headers = {**BATCH, "Authorization": f"Bearer {key}"}
    return httpx.post(
        f"{server.url}/v1/facts", content=batch(feed), headers=headers, timeout=120, verify=TRUST
    )


@pytest.mark.long
def test_a_key_over_its_quota_waits_and_loses_nothing(cli: Cli) -> None:
    greedy, quiet = (
        cli("keys", "add", f"/hollywood/{place}/shoe").out.strip() for place in ("T-1", "T-2")
    )
    limited = Cli({**cli.environ, "ROUND_LEDGER_KEY_FACTS_A_MINUTE": str(QUOTA)})
    with limited.start("serve", "--no-views", "--port", "0") as process:
        assert process.stderr
        began = json.loads(process.stderr.readline())
        server = Server(f"http://127.0.0.1:{began['port']}", process)
        try:
            feed = lines(4 * QUOTA, place="T-1", device="shoe")
            assert sent(server, greedy, feed[: 2 * QUOTA]).status_code == 200
            refused = sent(server, greedy, feed[2 * QUOTA :])
            assert refused.status_code == 429
            assert 55 <= int(refused.headers["Retry-After"]) <= 60
            assert refused.json()["kept"] is False
            other = lines(1, place="T-2", device="shoe")
            assert sent(server, quiet, other).status_code == 200, "another key does not wait"
            page = httpx.get(f"{server.url}/metrics", timeout=120, verify=TRUST).text
            counted = re.findall(r'http_over_quota_total\{place="([^"]+)"\} (\S+)', page)
            assert counted == [("/hollywood/T-1/shoe", "1.0")]
        finally:
            process.kill()
    kept = {
        each["place"]: each["sequence"] for each in cli("verify", "--json").json if "place" in each
    }
    assert kept == {"hollywood/T-1": 2 * QUOTA, "hollywood/T-2": 1}
