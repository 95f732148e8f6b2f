"""The round index and the search for rounds."""
