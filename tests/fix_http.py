"""A real server process over an empty ledger, and CloudEvents in each of HTTP's three modes."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Sequence

    from tests.fix_cli import Cli

STRUCTURED = {"Content-Type": "application/cloudevents+json"}
BATCH = {"Content-Type": "application/cloudevents-batch+json"}


class Server(NamedTuple):
    url: str
    process: subprocess.Popen[bytes]

    def post(self, content: bytes, headers: dict[str, str]) -> httpx.Response:
        return httpx.post(f"{self.url}/v1/facts", content=content, headers=headers, timeout=30)

    def stop(self) -> tuple[int, list[Any]]:
        """End it with SIGTERM; its exit code and the rest of its log."""
        assert self.process.stderr
        self.process.send_signal(signal.SIGTERM)
        log = [json.loads(line) for line in self.process.stderr]
        return self.process.wait(40), log


@pytest.fixture
def server(cli: Cli) -> Iterator[Server]:
    with cli.start("serve", "--port", "0") as process:
        assert process.stderr
        try:
            began = json.loads(process.stderr.readline())
            assert began["event"] == "serving", began
            yield Server(f"http://127.0.0.1:{began['port']}", process)
        finally:
            process.kill()


def batch(lines: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(lines) + b"]"


def binary(line: bytes) -> tuple[bytes, dict[str, str]]:
    """The same fact in binary mode: the octets of `data`, the attributes as headers."""
    attributes = json.loads(line)
    data = line[line.index(b'"data":') + 7 : -1]
    del attributes["data"]
    headers = {f"ce-{name}": text for name, text in attributes.items()}
    return data, headers | {"Content-Type": "application/json"}
