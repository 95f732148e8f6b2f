"""The review desk: the work on findings, control samples, and the queue of what to look at."""
