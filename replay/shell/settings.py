"""The settings that every command runs with, read from the environment here and nowhere else."""

import os
from collections.abc import Mapping
from functools import cache

from infra.settings import Settings, load


@cache
def in_force() -> Settings:
    """The settings of this process, read from the environment once. Raises `Usage`."""
    return load(environment())


def environment() -> Mapping[str, str]:
    """The environment of this process."""
    return os.environ
