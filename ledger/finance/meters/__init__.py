"""Progressive meters: what wins took of them, a line for each, and their entries."""
