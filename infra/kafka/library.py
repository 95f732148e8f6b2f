"""The only import of the client library. Without the filter Python 3.11 prints warnings."""

from __future__ import annotations

import logging
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.admin import ConfigResource, ConfigResourceType
    from kafka.errors import CorruptRecordError, KafkaError, TopicAlreadyExistsError
    from kafka.protocol.metadata import MetadataRequest
    from kafka.structs import OffsetAndMetadata

__all__ = [
    "ConfigResource",
    "ConfigResourceType",
    "CorruptRecordError",
    "KafkaAdminClient",
    "KafkaConsumer",
    "KafkaError",
    "KafkaProducer",
    "MetadataRequest",
    "OffsetAndMetadata",
    "TopicAlreadyExistsError",
    "TopicPartition",
]

logging.getLogger("kafka").setLevel(logging.ERROR)  # it warns of every broker that is not up yet
