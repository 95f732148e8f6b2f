"""The relay: publishes the record on Kafka, compares both, and refills the record from Kafka."""
