"""The review desk: work on findings, and control samples, as facts of the house."""
