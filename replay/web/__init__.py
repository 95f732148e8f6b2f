"""The HTTP edge: facts in."""
