"""The command `dossier`."""
