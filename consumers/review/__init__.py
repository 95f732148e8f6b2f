"""The review desk: the queue of what to look at, and control samples."""
