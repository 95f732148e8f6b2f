"""The tables of what processes export and log: metrics, log events."""
