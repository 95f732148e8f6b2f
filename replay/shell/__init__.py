"""Shared by all processes: settings, connections, output, logs."""
