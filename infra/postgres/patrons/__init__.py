"""The table of pseudonyms: tokens of patrons apart from the record."""
