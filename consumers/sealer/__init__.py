"""The sealer: feeds the record to the witnessed log, and has its checkpoints cosigned."""
