"""A table's devices and the facts they send, each with its own clock, counter and run.

Facts of different devices are so far apart that the jitter of clocks leaves their order certain.
Nothing here knows a rule of any game.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.record.wire import Fact

if TYPE_CHECKING:
    import random

    from ledger.facts import Body
    from ledger.values import RoundId

MS = 1000  # microseconds
SECOND = 1_000_000  # microseconds
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

APART_US = 500 * MS
"""Time between facts of different devices; two clocks are at most 160 ms apart."""

NEXT_US = 80 * MS
"""Time between facts of one device: more than its jitter, so its clock never steps back."""

OFFSET_US, JITTER_US = 60 * MS, 20 * MS


class Happening(NamedTuple):
    """An event as a device reported it, and when the fact arrived (None: lost)."""

    fact: Fact
    true_us: int
    arrives_us: int | None


class Witnessed(NamedTuple):
    """What truly happened at a table, whatever its devices reported. Only cameras may read it."""

    body: Body
    true_us: int
    round: RoundId | None


class SimulatedDevice:
    """One device: its source, and its clock's error."""

    __slots__ = ("boot", "name", "offset_us", "runs", "sequence", "source")

    def __init__(self, name: str, source: str, offset_us: int, boot: str) -> None:
        self.name = name
        self.source = source
        self.offset_us = offset_us
        self.boot = boot
        self.runs = 1
        self.sequence = 0

    def restart(self) -> None:
        """Start a new run: the counter begins again."""
        self.runs += 1
        self.boot = f"{self.boot.partition('.')[0]}.{self.runs}"
        self.sequence = 0


class DeviceEmitter:
    """The facts of one table, in true order, and the time of day."""

    def __init__(self, property_: str, table: str, day: str, chance: random.Random) -> None:
        self.property = property_
        self.table = table
        self.day = day
        self.chance = chance
        self.now_us = 0
        self.round: RoundId | None = None
        self.told: list[Happening] = []
        self.witnessed: list[Witnessed] | None = None  # None: no camera looks
        self._devices: dict[str, SimulatedDevice] = {}
        self._last: SimulatedDevice | None = None
        self._elsewhere = 0

    def device(self, name: str) -> SimulatedDevice:
        """A device of the table, switched on at its first fact."""
        found = self._devices.get(name)
        if found is None:
            offset_us = self.chance.randint(-OFFSET_US, OFFSET_US)
            source = f"/{self.property}/{self.table}/{name}"
            found = SimulatedDevice(
                name, source, offset_us, f"{self.day}-{self.chance.randrange(4096):03x}"
            )
            self._devices[name] = found
        return found

    def tell(self, name: str, body: Body, after_us: int = 0, *, truth: Body | None = None) -> Fact:
        """Send a fact from a device of the table, at least `after_us` after the last one.

        truth: what happened, if the device reports it otherwise or in part.
        """
        device = self._devices.get(name) or self.device(name)
        least = NEXT_US if device is self._last else APART_US
        self._last = device
        self.now_us += max(after_us, least)
        device.sequence += 1
        jitter_us = int(self.chance.random() * 2 * JITTER_US) - JITTER_US
        fact = Fact(
            body,
            device.source,
            f"{device.boot}-{device.sequence}",
            self.now_us + device.offset_us + jitter_us,
            self.round,
            self.table,
            device.boot,
            device.sequence,
        )
        self.told.append(Happening(fact, self.now_us, self.now_us))
        self.happen(truth or body)
        return fact

    def happen(self, body: Body) -> None:
        """Something happens on the table now; by itself no device reports it."""
        if self.witnessed is not None:
            self.witnessed.append(Witnessed(body, self.now_us, self.round))

    def tell_from(self, place: str, body: Body, after_us: int = 0) -> Fact:
        """Send a fact about this table from a desk elsewhere. Desks have no counter."""
        self.now_us += max(after_us, APART_US)
        self._last = None
        self._elsewhere += 1
        fact = Fact(
            body,
            f"/{self.property}/{place}/desk",
            f"{self.table}-{self.day}-{self._elsewhere}",
            self.now_us,
            None,
            self.table,
            None,
            None,
        )
        self.told.append(Happening(fact, self.now_us, self.now_us))
        return fact

    def wait(self, least_s: int, most_s: int) -> None:
        """Let time pass."""
        self.now_us += self.between(least_s * 1000, most_s * 1000)

    def between(self, least_ms: int, most_ms: int) -> int:
        """A random duration, microseconds."""
        return int((least_ms + (most_ms - least_ms) * self.chance.random()) * MS)

    def drain(self) -> list[Happening]:
        """The facts since the last call."""
        told, self.told = self.told, []
        return told
