"""Commands of the record: ingest, quarantine, verify, backup, import."""
