"""Commands that simulate: demo, simulate."""
