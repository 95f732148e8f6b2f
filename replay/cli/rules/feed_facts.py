"""The facts of a feed of any length, by their places in it.

The first facts are kept in memory, enough for eight tables' gaming day. Further ones lie in a
temporary file without a name. It leaves the disk with the process, however the process ends.
"""

import os
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from typing import IO, Self, overload

import msgspec

from ledger.record.tape import Received
from ledger.record.wire import Fact, fact_of

IN_MEMORY_MAX = 200_000
"""Facts kept in memory, about 150 MB."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Received).decode


class FeedFacts(Sequence[Fact]):
    """The facts of a feed in order of arrival. Raises OSError if the disk does not hold them."""

    def __init__(self, in_memory_max: int = IN_MEMORY_MAX) -> None:
        self._in_memory_max = in_memory_max
        self._facts: list[Fact] = []
        self._file: IO[bytes] | None = None
        self._ends = array("q", [0])  # in the file, in bytes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, received: Received) -> None:
        """Add the next fact."""
        if len(self._facts) < self._in_memory_max:
            self._facts.append(fact_of(received))
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="round-ledger-")  # noqa: SIM115 - as long as the facts
        octets = _encode(received)
        self._file.write(octets)
        self._ends.append(self._ends[-1] + len(octets))

    def __len__(self) -> int:
        return len(self._facts) + len(self._ends) - 1

    def __iter__(self) -> Iterator[Fact]:
        yield from self._facts
        for nth in range(len(self._ends) - 1):
            yield self._stored(nth)

    @overload
    def __getitem__(self, place: int) -> Fact: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Fact]: ...

    def __getitem__(self, place: int | slice) -> Fact | Sequence[Fact]:
        if self._file is None:
            return self._facts[place]
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        held = len(self._facts)
        return self._facts[at] if at < held else self._stored(at - held)

    def _stored(self, nth: int) -> Fact:
        """The nth fact of the file, from 0."""
        if self._file is None:
            raise IndexError(nth)
        self._file.flush()
        low, high = self._ends[nth], self._ends[nth + 1]
        return fact_of(_decode(os.pread(self._file.fileno(), high - low, low)))
