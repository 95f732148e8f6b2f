"""The record: what a received fact is, how its bytes are read, chained and verified."""
