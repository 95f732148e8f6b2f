"""The review desk: the queue of what to look at, control samples, and the log."""
