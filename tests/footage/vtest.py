"""Real footage: the street camera of Debian's package `opencv-doc`, fetched when asked for.

Apache-2.0 and BSD-3-Clause cover the package, and nothing is said of the film itself: it is fetched
from Debian's archive, checked against its SHA-256, kept in the platform's cache, never in here.
"""

from __future__ import annotations

import io
import lzma
import os
import tarfile
import urllib.error
import urllib.request
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import platformdirs
import pytest

if TYPE_CHECKING:
    from pathlib import Path

VTEST = "45cddc9490be69345cbdab64ca583be65987e864ca408038e648db99e10516cf"
PACKAGE = "pool/main/o/opencv/opencv-doc_4.6.0+dfsg-12_all.deb"
ARCHIVES = (
    "http://deb.debian.org/debian",
    "http://snapshot.debian.org/archive/debian/20230601T000000Z",  # keeps what the other drops
)
MEMBER = "./usr/share/doc/opencv-doc/examples/data/vtest.avi"
PACKAGE_OCTETS_MAX = 200 << 20
TIMEOUT_S = 60
AR, AR_HEAD = b"!<arch>\n", 60  # how the archive begins, and octets before each member


class Vtest(NamedTuple):
    """79.5 seconds of a street, 768 x 576, MS-MPEG4 in AVI, 10 frames a second."""

    path: Path
    sha256: str = VTEST
    frames: int = 795
    width: int = 768
    height: int = 576


class NotThereError(Exception):
    """The film is not to be had; says why."""


@pytest.fixture(scope="session")
def vtest() -> Vtest:
    """The film, in the cache; its bytes are those pinned."""
    try:
        return Vtest(fetched(cache() / "vtest.avi"))
    except NotThereError as error:
        if os.environ.get("TESTS_REQUIRE") == "all":
            raise
        pytest.skip(f"real footage is not to be had: {error}")


def cache() -> Path:
    """Where it stays between runs."""
    return platformdirs.user_cache_path("round-ledger-tests", appauthor=False)


def fetched(path: Path) -> Path:
    """The film at this path, fetched if it is not there. Raises NotThereError."""
    if path.is_file() and sha256(path.read_bytes()).hexdigest() == VTEST:
        return path
    octets = member_of(data_of(package()))
    if sha256(octets).hexdigest() != VTEST:
        raise NotThereError("what the archive holds under this name has other bytes")
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(f".new-{os.getpid()}")
    new.write_bytes(octets)
    return new.replace(path)


def package() -> bytes:
    """The Debian package as it is served."""
    problems = []
    for archive in ARCHIVES:
        url = f"{archive}/{PACKAGE}"
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310 - pinned by hash
                octets = answer.read(PACKAGE_OCTETS_MAX + 1)
        except (OSError, urllib.error.URLError) as error:
            problems.append(f"{url}: {error}")
            continue
        if len(octets) <= PACKAGE_OCTETS_MAX:
            return bytes(octets)
        problems.append(f"{url}: larger than expected")
    raise NotThereError("; ".join(problems))


def data_of(package_: bytes) -> bytes:
    """The packed files of a Debian package, an `ar` archive: its member `data.tar.xz`."""
    at = len(AR)
    while package_.startswith(AR) and at + AR_HEAD <= len(package_):
        head = package_[at : at + AR_HEAD]
        name, size = head[:16].strip().rstrip(b"/"), int(head[48:58])
        if name == b"data.tar.xz":
            return package_[at + AR_HEAD : at + AR_HEAD + size]
        at += AR_HEAD + size + size % 2
    raise NotThereError("it is no Debian package with data.tar.xz in it")


def member_of(data: bytes) -> bytes:
    """The film out of the packed files."""
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(data))) as files:
        found = files.extractfile(MEMBER)
        if found is None:
            raise NotThereError(f"{MEMBER} is not in the package")
        return found.read()
