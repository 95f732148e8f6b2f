"""Each test begins with the logs as a new process has them.

A command that a test runs in its own process sends the program's log and the HTTP server's to
stderr for good. Then `caplog` of a later test gets no line.
"""

from __future__ import annotations

import logging

import pytest

OURS = ("round_ledger", "uvicorn")
"""The loggers that `log_to_stderr` sets. A library that sets its own may disable others."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    logging.disable(logging.NOTSET)
    for name in [*OURS, *logging.root.manager.loggerDict]:
        if name.split(".")[0] in OURS:
            logger = logging.getLogger(name)
            logger.handlers = []
            logger.setLevel(logging.NOTSET)
            logger.propagate = True
            logger.disabled = False
