"""The page Import: files of footage are sent in pieces, reported, and put on record."""
