"""The evidence of a dossier read from the record."""
