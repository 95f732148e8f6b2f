"""Live pictures: cameras' streams read in sandboxed processes, kept for some minutes in memory."""
