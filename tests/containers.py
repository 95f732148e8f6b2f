"""Servers as containers, imported where a Docker engine answers: the library is slow to load."""

from __future__ import annotations

import socket

from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

testcontainers_config.ryuk_disabled = True  # it is an image of its own; we stop what we start

PLAINTEXT = "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT"
SHOWN = 4_000
"""Characters of a log that tell why a server did not start."""
CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"


class KafkaContainer(DockerContainer):
    """Apache Kafka's own image, one KRaft node, reachable from the host.

    Its address must be known before it starts, because clients get it from the broker. So the port
    is chosen here and bound unchanged.
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

    @property
    def said(self) -> str:
        """The end of its log, which goes with the container."""
        return b"\n".join(self.get_logs()).decode(errors="replace")[-SHOWN:]
