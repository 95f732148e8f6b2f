"""The meaning of every field that people read: of facts, and of JSON output."""
