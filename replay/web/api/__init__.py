"""The HTTP API: receives facts, serves finance and metrics."""
