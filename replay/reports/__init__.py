"""Reports of finance: tables worked out for one gaming day, and the files they are printed to."""
