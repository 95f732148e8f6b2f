"""The Kafka that commands use: that of the settings, or the one that `services up` runs."""

from infra.kafka.clients import Connection, connection
from infra.services import local_kafka
from replay.shell.settings import in_force


def kafka() -> Connection:
    """How to connect. Raises `Usage` for settings that cannot be used together."""
    settings = in_force()
    return connection(settings, local_kafka(settings.home))
