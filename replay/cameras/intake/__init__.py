"""Files of footage on their way to the record: looked at, compared with it, put on it."""
