"""Commands of the feed and the views: relay, topics, consume, rebuild, dlq."""
