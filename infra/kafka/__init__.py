"""Kafka: topics, publishing, reading. Only this package imports the client library."""
