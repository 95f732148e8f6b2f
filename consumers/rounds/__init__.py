"""The round index, and the search over it."""
