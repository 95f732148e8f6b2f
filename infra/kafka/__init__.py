"""The feed: what goes onto Kafka and comes off it, and the only users of its client library."""
