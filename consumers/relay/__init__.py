"""The relay: the record published on Kafka, checked against it, and refilled from it."""
