"""The verbs a game is written in, and how hands, dice and odds are read. No clock, no chance, no I/O."""
