"""The review desk: work on findings, control samples and the log, as facts of the house."""
