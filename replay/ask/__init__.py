"""Ask: a sentence of a guest or an investigator, read as filters of the search for rounds."""
