"""The pages Review and Log: the queue of findings, the work on them, and what is written down."""
