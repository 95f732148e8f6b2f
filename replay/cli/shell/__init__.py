"""The tree of commands, and how each ends."""
