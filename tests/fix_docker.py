"""Servers in containers, where a Docker engine answers and holds the images the compose file pins.

Nothing is pulled: on a user's machine a test run must not fetch half a gigabyte.
"""

from __future__ import annotations

import gc
import re
import socket
import warnings
from contextlib import closing
from functools import cache
from pathlib import Path

import docker
from docker.errors import DockerException, ImageNotFound
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

testcontainers_config.ryuk_disabled = True  # it is an image of its own; we stop what we start

COMPOSE = Path(__file__).parents[1] / "docker-compose.yml"
PLAINTEXT = "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT"
CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"


def pinned(image: str) -> str:
    """An image with its tag, as the compose file names it."""
    found = re.search(rf"image: ({re.escape(image)}:\S+)", COMPOSE.read_text())
    assert found, image
    return found[1]


@cache
def engine(*images: str) -> str | None:
    """The version of the Docker engine that answers and holds these images; None: there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # where none answers, a socket stays open
        try:
            with closing(docker.from_env(timeout=5)) as client:
                for image in images:
                    client.images.get(image)
                return str(client.version()["Version"])
        except (DockerException, ImageNotFound, OSError):
            pass
        gc.collect()
    return None


class KafkaContainer(DockerContainer):
    """Apache Kafka's own image, one KRaft node, reachable from the host.

    Its address must be known before it starts, because it tells it to clients: so the port is
    chosen here and bound as it is.
    """

    def __init__(self, image: str) -> None:
        super().__init__(image)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.with_bind_ports(9092, self.port)
        for name, value in {
            "NODE_ID": "1",
            "PROCESS_ROLES": "broker,controller",
            "CONTROLLER_QUORUM_VOTERS": "1@localhost:9093",
            "CONTROLLER_LISTENER_NAMES": "CONTROLLER",
            "LISTENERS": "INSIDE://:19092,OUTSIDE://:9092,CONTROLLER://:9093",
            "ADVERTISED_LISTENERS": f"INSIDE://localhost:19092,OUTSIDE://127.0.0.1:{self.port}",
            "LISTENER_SECURITY_PROTOCOL_MAP": PLAINTEXT,
            "INTER_BROKER_LISTENER_NAME": "INSIDE",
            "AUTO_CREATE_TOPICS_ENABLE": "false",
            "OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
            "TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
            "TRANSACTION_STATE_LOG_MIN_ISR": "1",
            "GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
        }.items():
            self.with_env(f"KAFKA_{name}", value)
        self.with_env("CLUSTER_ID", CLUSTER_ID)

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"
