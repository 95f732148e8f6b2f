"""The demonstration: what was planted beside what was found."""
