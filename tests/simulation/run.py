"""One seed from its first fact to its last: the storm, then the healing, then the judgement."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from consumers.relay import streams, view_topics
from infra.kafka import feed_source, topics
from tests.simulation.floor import Floor
from tests.simulation.oracle import Oracle, must
from tests.simulation.plain_views import NAMES
from tests.simulation.world import STARTS_AT, Broken, World, draw

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection

    from tests.simulation.world import Actor

FAULTS = (
    ("killed", 0.004),
    ("paused", 0.003),
    ("clock stepped", 0.002),
    ("connection lost", 0.003),
    ("commit's answer lost", 0.02),
    ("append's answer lost", 0.1),
    ("device forgot the answer", 0.1),
    ("lead lost", 0.02),
    ("connection to broker cut", 0.05),
    ("request came twice", 0.05),
    ("acknowledgement lost", 0.1),
    ("not enough replicas", 0.05),
    ("broker restarted", 0.004),
    ("power cut", 0.004),
    ("topic deleted", 0.0015),
    ("record dropped", 0.02),
    ("record doubled", 0.03),
    ("record edited", 0.01),
    ("record cut", 0.01),
    ("records swapped", 0.05),
    ("stranger wrote", 0.02),
    ("rebuild", 0.3),
    ("republish", 0.1),
    ("unpark", 0.4),
    ("killed before restating", 0.3),
    ("paused after restating", 0.3),
    ("topic deleted at the end", 0.3),
    ("readers in the way", 0.2),
)
"""What may happen, and how often at each chance it has, about."""

STEPS_MAX = 15_000
REPUBLISHED_S = 4.0


class Run(NamedTuple):
    """What became of one seed."""

    seed: int
    law: str  # that was broken; empty: everything held
    broken: str  # how
    steps: int
    fired: Counter[str]
    met: Counter[str]
    trace: list[str]


def run(seed: int, *, without: Collection[str] = (), until: int | None = None) -> Run:
    """One seed; `without` some kinds of fault, or with none after step `until`."""
    plan = draw(seed, FAULTS)
    rates = {kind: rate for kind, rate in plan.rates.items() if kind not in without}
    world = World(seed, plan._replace(rates=rates), until=until)
    law = broken = ""
    window, level, poll_s = (
        streams.WINDOW_RECORDS,
        logging.root.manager.disable,
        feed_source.POLL_S,
    )
    streams.WINDOW_RECORDS = view_topics.WINDOW_RECORDS = plan.window
    feed_source.POLL_S = 2.0
    logging.disable(logging.CRITICAL)
    try:
        _run(world)
    except Broken as error:
        law, broken = error.law, str(error)
    except Exception as error:  # noqa: BLE001 - whatever a program raises is a finding
        law, broken = "programs end only as they may", f"{type(error).__name__}: {error}"
    finally:
        world.close()
        streams.WINDOW_RECORDS = view_topics.WINDOW_RECORDS = window
        feed_source.POLL_S = poll_s
        logging.disable(level)
    return Run(seed, law, broken, world.steps, world.fired, world.met, world.told())


def _run(world: World) -> None:
    floor = Floor(world)
    oracle = Oracle(floor)

    def is_over() -> bool:
        return floor.devices_left == 0 and world.now > STARTS_AT + world.plan.storm_s

    world.run(is_over, STEPS_MAX)
    if world.fault("topic deleted at the end"):
        floor.broker.delete(topics.FACTS)
        until = world.now + REPUBLISHED_S
        world.run(lambda: world.now > until, STEPS_MAX)
    world.healing = True
    for actor in world.actors:
        if actor.name.startswith("relay"):
            world.kill(actor)  # a starting process looks at the topics' real ends
    began = world.now
    must(
        world.run(lambda: _is_healed(floor, began), STEPS_MAX),
        "all heals",
        f"does not heal: {_state(floor)}",
    )
    judged: list[bool] = []

    def judge(actor: Actor) -> None:
        oracle.floor.judge = actor
        oracle.finish()
        judged.append(True)

    world.add("judge", judge, mortal=False)
    world.run(lambda: bool(judged), STEPS_MAX)
    must(judged, "all heals", "was never judged")


def _is_healed(floor: Floor, began: float) -> bool:
    if floor.database.idle_at < began:
        return False
    head = len(floor.database.rows)
    kept = floor.database.kept
    if floor.devices_left or floor.submitted:
        return False
    if kept["relayed"].get((topics.FACTS,)) != head:
        return False
    if kept["relayed"].get((topics.QUARANTINE,), 0) != len(floor.database.aside):
        return False
    if any(kept["tracking"][name, False].position != head for name in NAMES):
        return False
    return floor.is_told() and not floor.world.net


def _state(floor: Floor) -> str:
    kept = floor.database.kept
    return f"{len(floor.database.rows)} rows, {kept['relayed']}, {kept['tracking']}"


def shrunk(seed: int) -> tuple[Run, list[str], int]:
    """The same failure with fewer kinds of fault, and none after as early a step as may be."""
    failed = run(seed)
    without: list[str] = []
    for kind in sorted(failed.fired):
        again = run(seed, without=[*without, kind])
        if again.law == failed.law:
            failed = again
            without.append(kind)
    low, high = 0, failed.steps
    while high - low > 1:
        middle = (low + high) // 2
        again = run(seed, without=without, until=middle)
        if again.law == failed.law:
            failed, high = again, middle
        else:
            low = middle
    return failed, without, high


def told(seed: int) -> str:
    """What a person needs to see of a seed that fails, and how to see it again."""
    failed, without, until = shrunk(seed)
    options = "".join(f" --without '{kind}'" for kind in without)
    return "\n".join(
        [
            f"seed {seed}: {failed.broken}",
            f"faults: {dict(failed.fired)}",
            f"again: python -m tests.simulation {seed} --until {until}{options}",
            *failed.trace,
        ]
    )
