"""What keeps any view up: sources, transactions, lifecycle, outbox, metrics."""
