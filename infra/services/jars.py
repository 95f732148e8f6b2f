"""Apache Kafka's jars: fetched once, and checked each time before they run.

`infra/kafka/jars.toml` lists them with size and SHA-512; the class path holds no other files. A jar
is fetched to a temporary file and moved into place once it is complete.
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
"""Called with the bytes of a new jar, and the total to fetch."""


class Jar(NamedTuple):
    """One jar of the class path, as pinned."""

    path: str  # below the repository's root
    octets: int
    sha512: str

    @property
    def name(self) -> str:
        """The file name."""
        return self.path.rpartition("/")[2]


class Release(NamedTuple):
    """The Kafka release that this program runs."""

    version: str
    java_min: int  # major version
    jars: tuple[Jar, ...]

    @property
    def octets(self) -> int:
        """The size of all jars, bytes."""
        return sum(jar.octets for jar in self.jars)


@cache
def release() -> Release:
    """The Kafka release pinned in `infra/kafka/jars.toml`."""
    told = tomllib.loads((files("infra.kafka") / "jars.toml").read_text())
    return Release(told["version"], told["java_min"], tuple(Jar(**each) for each in told["jar"]))


def class_path(home: Path, repository: str, progress: Progress) -> Path:
    """The folder with all jars, each checked now; missing ones are fetched.

    Raises `Unavailable` if a jar cannot be fetched, `Refused` if one differs from the pinned one.
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
                f"{jar.name} differs from the pinned file in length or SHA-512",
                where=url,
                hint="Nothing was run. Check ROUND_LEDGER_MAVEN_URL and any proxy in between.",
            )
        Path(beside).replace(folder / jar.name)
    finally:
        Path(beside).unlink(missing_ok=True)
    return jar


def _copy(url: str, jar: Jar, write: Callable[[bytes], object]) -> None:
    """Copy at most one block more than the pinned size, so that no server can fill the disk."""
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
            hint="Connect to the network once, or set ROUND_LEDGER_MAVEN_URL to a repository"
            " that this machine can reach.",
        ) from error


def _refuse_strangers(folder: Path) -> None:
    """Raise `Refused` for jars that are not pinned: the whole folder is the class path."""
    known = {jar.name for jar in release().jars}
    strange = sorted(path.name for path in folder.glob("*.jar") if path.name not in known)
    if strange:
        raise Refused(
            f"The folder holds jars that are not pinned: {', '.join(strange)}",
            where=str(folder),
            hint="Remove the folder: the next start fetches it again.",
        )
