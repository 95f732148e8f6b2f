"""The HTTP API: receives facts, serves metrics."""
