"""Running views: sources, transactions, lifecycle, outbox, metrics."""
