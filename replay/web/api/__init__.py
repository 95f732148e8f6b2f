"""The HTTP API: facts in, figures out."""
