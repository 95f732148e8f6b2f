"""Finance: what a table won on a gaming day, as counted, as moved and as owed."""
