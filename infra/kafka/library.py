"""The only import of the client library. Without the filter Python 3.11 prints warnings."""

from __future__ import annotations

import logging
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.admin import ConfigResource, ConfigResourceType
    from kafka.errors import (
        CorruptRecordError,
        KafkaError,
        KafkaTimeoutError,
        TopicAlreadyExistsError,
    )
    from kafka.net.compat import KafkaNetClient
    from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
    from kafka.protocol.parser import KafkaProtocol
    from kafka.structs import OffsetAndMetadata

__all__ = [
    "ApiVersionsRequest",
    "ConfigResource",
    "ConfigResourceType",
    "CorruptRecordError",
    "KafkaAdminClient",
    "KafkaConsumer",
    "KafkaError",
    "KafkaNetClient",
    "KafkaProducer",
    "KafkaProtocol",
    "KafkaTimeoutError",
    "MetadataRequest",
    "OffsetAndMetadata",
    "TopicAlreadyExistsError",
    "TopicPartition",
]

logging.getLogger("kafka").setLevel(logging.ERROR)  # it warns of every broker that is not up yet
