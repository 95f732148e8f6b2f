"""Apache Kafka's own jars, fetched once and checked every time, before any of them runs.

Which they are, how long and with which SHA-512 stands in `infra/kafka/jars.toml`; nothing else is
ever put on the class path. A file is fetched beside its place and moved there when it is whole.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from infra.settings import Settings
from ledger.errors import Refused, Unavailable, Usage

_AT_ONCE = 4
_ANSWER_S_MAX = 60
_BLOCK = 256 * 1024

Progress = Callable[[int, int], None]
"""Told how many octets more have arrived, and how many there are in all."""


class Jar(NamedTuple):
    """One file of the class path, as the repository holds it."""

    path: str  # below the repository's root
    octets: int
    sha512: str

    @property
    def name(self) -> str:
        """Its file name."""
        return self.path.rpartition("/")[2]


class Release(NamedTuple):
    """The Kafka this program runs."""

    version: str
    java_min: int  # major version
    jars: tuple[Jar, ...]

    @property
    def octets(self) -> int:
        """What there is to fetch in all."""
        return sum(jar.octets for jar in self.jars)


@cache
def release() -> Release:
    """The Kafka that is pinned in `infra/kafka/jars.toml`."""
    told = tomllib.loads((files("infra.kafka") / "jars.toml").read_text())
    return Release(told["version"], told["java_min"], tuple(Jar(**each) for each in told["jar"]))


def class_path(home: Path, repository: str, progress: Progress) -> Path:
    """The folder with every jar in it, each of them checked now; fetched where it lacks.

    Raises `Unavailable` where one cannot be fetched, `Refused` where one is not what is pinned.
    """
    if not repository.startswith(("https://", "http://", "file://")):
        raise Usage(
            "This is not the address of a Maven repository",
            where="ROUND_LEDGER_MAVEN_URL",
            hint=f"Write one like {Settings.maven_url}.",
        )
    folder = home / "cache" / f"kafka-{release().version}"
    folder.mkdir(parents=True, exist_ok=True)
    lacking = [jar for jar in release().jars if not _is_whole(folder / jar.name, jar)]
    todo = sum(jar.octets for jar in lacking)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for jar in pool.map(lambda each: _fetch(each, folder, repository), lacking):
            progress(jar.octets, todo)
    _refuse_strangers(folder)
    return folder


def _is_whole(path: Path, jar: Jar) -> bool:
    try:
        octets = path.read_bytes()
    except OSError:
        return False
    return len(octets) == jar.octets and hashlib.sha512(octets).hexdigest() == jar.sha512


def _fetch(jar: Jar, folder: Path, repository: str) -> Jar:
    url = f"{repository.rstrip('/')}/{jar.path}"
    handle, beside = tempfile.mkstemp(dir=folder, prefix=f"{jar.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            _copy(url, jar, out.write)
        if not _is_whole(Path(beside), jar):
            raise Refused(
                f"{jar.name} is not the file that is pinned: its length or SHA-512 differs",
                where=url,
                hint="Check ROUND_LEDGER_MAVEN_URL and what stands between; nothing was run.",
            )
        Path(beside).replace(folder / jar.name)
    finally:
        Path(beside).unlink(missing_ok=True)
    return jar


def _copy(url: str, jar: Jar, write: Callable[[bytes], object]) -> None:
    """At most one block more than is pinned, so that no server can fill the disk."""
    arrived = 0
    try:
        with urllib.request.urlopen(url, timeout=_ANSWER_S_MAX) as answer:  # noqa: S310 - scheme checked by the caller
            while arrived <= jar.octets and (block := answer.read(_BLOCK)):
                arrived += len(block)
                write(block)
    except (OSError, urllib.error.URLError) as error:
        raise Unavailable(
            f"{jar.name} cannot be fetched: {error}",
            where=url,
            hint="Connect to the network once, or name a repository within reach in"
            " ROUND_LEDGER_MAVEN_URL.",
        ) from error


def _refuse_strangers(folder: Path) -> None:
    """The whole folder is the class path: a jar that is not pinned would run, too."""
    known = {jar.name for jar in release().jars}
    strange = sorted(path.name for path in folder.glob("*.jar") if path.name not in known)
    if strange:
        raise Refused(
            f"There are jars that are not pinned: {', '.join(strange)}",
            where=str(folder),
            hint="Remove the folder; it is fetched again.",
        )
