"""One seed decides everything: who steps next, what is lost, how the clocks go.

Every actor is a greenlet that runs the real, synchronous programs; each of its ports steps through
`World.step`, and there another may run, or it may be killed. Nothing here knows of facts.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from greenlet import getcurrent, greenlet

from infra.kafka.ports import Clock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TRACE_KEPT = 60
STARTS_AT = 1_000.0
PAUSED_S = (1.0, 40.0)
TICK_S = 0.15


class Broken(BaseException):
    """Something that must always hold does not. No program may catch it."""

    def __init__(self, law: str, what: str) -> None:
        super().__init__(f"{law}: {what}")
        self.law = law


class Killed(BaseException):
    """The process of an actor has ended; nothing of it runs on."""


class Plan(NamedTuple):
    """What may happen in one run, and how often: swarms differ, so that no fault hides another."""

    rates: dict[str, float]
    facts: int
    partitions: int
    edges: int
    relays: int
    relays_after_s: float
    from_tape: bool  # the last of several consumers reads the record itself
    consumers: int
    batch_rows: int
    window: int
    storm_s: float


class Actor:
    """A process, or something like one."""

    def __init__(self, world: World, name: str, body: Callable[[Actor], None]) -> None:
        self.world = world
        self.name = name
        self.wake_at = 0.0
        self.ready: Callable[[], bool] | None = None
        self.dying = False
        self.closing = False
        self.mortal = True  # may be killed and paused
        self.held: list[Callable[[], None]] = []  # what the machine releases when it is killed
        self._body = body
        self.let = greenlet(self._run, parent=world.hub)

    def _run(self) -> None:
        with suppress(Killed):
            self._body(self)


class World:
    """The machine under all actors."""

    def __init__(self, seed: int, plan: Plan, *, until: int | None = None) -> None:
        self.seed = seed
        self.plan = plan
        self.chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
        self.until = until  # faults happen before this step only
        self.now = STARTS_AT
        self.skew = 0.0
        self.steps = 0
        self.healing = False
        self.hub = getcurrent()
        self.actors: list[Actor] = []
        self.net: deque[Callable[[], None]] = deque()  # what is under way between machines
        self.current: Actor | None = None
        self.tick: Callable[[], None] = lambda: None  # what machines do by themselves
        self._ticks_at = 0.0
        self.fired: Counter[str] = Counter()
        self.met: Counter[str] = Counter()
        self.trace: deque[tuple[int, float, str, str]] = deque(maxlen=TRACE_KEPT)
        self.clock = Clock(lambda: self.now)

    def add(self, name: str, body: Callable[[Actor], None], *, mortal: bool = True) -> Actor:
        actor = Actor(self, name, body)
        actor.mortal = mortal
        self.actors.append(actor)
        return actor

    def wall(self) -> float:
        """The clock on the wall, which is set back and forth."""
        return 1_700_000_000.0 + self.now + self.skew

    def fault(self, kind: str) -> bool:
        """Whether this fault happens here and now."""
        drawn = self.chance.random()  # drawn always: without one fault the others stay the same
        if self.healing or drawn >= self.plan.rates.get(kind, 0.0):
            return False
        if self.until is not None and self.steps >= self.until:
            return False
        self.fired[kind] += 1
        self.say(f"FAULT {kind}")
        return True

    def say(self, what: str) -> None:
        self.trace.append((self.steps, self.now, self.current.name if self.current else "-", what))

    def told(self) -> list[str]:
        """The last steps, readable."""
        return [f"{n:5} {at:9.2f} {name:10} {what}" for n, at, name, what in self.trace]

    def step(self, what: str) -> None:
        """Others may run now; this one may not come back."""
        actor = self._actor()
        if actor.dying:
            raise Killed
        self.say(what)
        if actor.mortal:
            if self.fault("killed"):
                self.kill(actor)
            if self.fault("paused"):
                actor.wake_at = self.now + self.chance.uniform(*PAUSED_S)
        if self.fault("clock stepped"):
            self.skew += self.chance.choice((-3_600.0, 86_400.0, -10.0, 0.5))
        self.hub.switch()
        if actor.dying:
            raise Killed

    def kill(self, actor: Actor) -> None:
        """End a process here: what it held is released, what it sent is still under way."""
        actor.dying = True
        for let_go in actor.held:
            let_go()
        actor.held.clear()
        if actor is self.current:
            raise Killed

    def sleep(self, seconds: float) -> None:
        self.wait(lambda: False, seconds)

    def wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Whether it came true in time."""
        actor = self._actor()
        if actor.dying:
            raise Killed
        actor.wake_at = self.now + seconds
        actor.ready = condition
        self.hub.switch()
        actor.ready, actor.wake_at = None, self.now
        if actor.dying:
            raise Killed
        return condition()

    def run(self, done: Callable[[], bool], steps: int) -> bool:
        """Let everybody go on until `done`; False where it took more steps."""
        for _ in range(steps):
            if done():
                return True
            self.steps += 1
            now = self.now
            if now >= self._ticks_at:
                self._ticks_at = now + TICK_S
                self.tick()
            ready = [
                each
                for each in self.actors
                if each.wake_at <= now or (each.ready is not None and each.ready())
            ]
            draw = self.chance.random()
            if self.net and (not ready or draw < 0.5):
                self.net.popleft()()
            elif ready:
                actor = ready[int(draw * len(ready)) % len(ready)]
                self.current = actor
                actor.let.switch()
                self.current = None
                if actor.let.dead:
                    self.actors.remove(actor)
            else:
                self.now = min([each.wake_at for each in self.actors] + [self._ticks_at])
            self.now += draw * 0.02
        return done()

    def close(self) -> None:
        """End what still runs."""
        for actor in self.actors:
            self.current = actor
            actor.dying = actor.closing = True
            while not actor.let.dead:
                actor.let.throw(Killed)

    def _actor(self) -> Actor:
        assert self.current
        return self.current


def draw(seed: int, kinds: Sequence[tuple[str, float]]) -> Plan:
    """What may happen under a seed: some kinds of fault, some often."""
    chance = random.Random(f"plan {seed}")  # noqa: S311 - as above
    rates = {}
    for kind, often in kinds:
        rate = often * chance.choice((0.3, 1.0, 3.0))
        if chance.random() < 0.5:
            rates[kind] = rate
    return Plan(
        rates,
        facts=chance.randint(12, 48),
        partitions=chance.randint(1, 4),
        edges=chance.randint(1, 2),
        relays=chance.randint(1, 2),
        relays_after_s=chance.choice((0.0, 4.0)),
        from_tape=chance.random() < 0.4,
        consumers=chance.randint(1, 3),
        batch_rows=chance.randint(1, 12),
        window=chance.randint(1, 9),
        storm_s=chance.uniform(5.0, 25.0),
    )
