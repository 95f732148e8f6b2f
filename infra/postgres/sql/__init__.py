"""Numbered SQL migrations, forward only."""
