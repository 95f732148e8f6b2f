"""Structured logs: JSON Lines on stderr, without the content of facts and without secrets."""

from __future__ import annotations

import logging
import sys

import msgspec

from ledger.values import format_time

LOG = logging.getLogger("round_ledger")
"""Events of the server; figures go into `extra={"figures": {...}}`."""


class JsonLines(logging.Formatter):
    """Time, level and event, then the figures."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line = {
            "time": format_time(int(record.created * 1_000_000)),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "figures", {}),
        }
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            line["trace"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def log_to_stderr() -> None:
    """Log this program's events and the HTTP server's to stderr, each once."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in (("round_ledger", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
