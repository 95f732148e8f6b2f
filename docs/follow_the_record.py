"""Counts the facts of each type, with a projection of the eventsourcing library."""

from collections import Counter

from eventsourcing.persistence import Tracking
from eventsourcing.popo import POPOTrackingRecorder
from eventsourcing.projection import Projection, ProjectionRunner

from infra.postgres.recorder import Decided, Record, application_env
from replay.shell.connections import opened_database


class Counts(POPOTrackingRecorder):
    """The number of facts by type, in memory. A view in PostgreSQL has another base."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: Counter[str] = Counter()


class Counting(Projection[Counts]):
    """Counts each fact once."""

    name = "counting"

    def process_event(self, domain_event: Decided, tracking: Tracking) -> None:
        """Count a fact, and keep its position."""
        self.view.facts[domain_event.fact.type] += 1
        self.view.insert_tracking(tracking)


with opened_database() as database:
    env = application_env(database, "ledger_reader")
    env["COUNTING_PERSISTENCE_MODULE"] = "eventsourcing.popo"
    with ProjectionRunner(
        application_class=Record, projection_class=Counting, view_class=Counts, env=env
    ) as runner:
        runner.wait(runner.app.recorder.max_notification_id(), timeout=60)
        for fact_type, count in sorted(runner.view.facts.items()):
            print(f"{count:8,} {fact_type}")
