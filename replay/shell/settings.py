"""The settings of commands, read from the environment here and nowhere else."""

import os
from collections.abc import Mapping
from functools import cache

from consumers.alerts.kinds import THRESHOLDS
from infra.settings import Settings, load, table

TABLE = table(THRESHOLDS)
"""Every setting, as `round-ledger settings` and the reference print them."""


@cache
def in_force() -> Settings:
    """The settings of this process, read from the environment once. Raises `Usage`."""
    return read(environment())


def read(environ: Mapping[str, str]) -> Settings:
    """The settings that `environ` names. Raises `Usage`."""
    return load(environ, THRESHOLDS)


def environment() -> Mapping[str, str]:
    """The environment of this process."""
    return os.environ
