"""Progressive meters: a line for each, and their double entries."""
