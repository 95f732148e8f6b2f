"""The verbs a game is written in; how hands, dice and odds are read. No clock, chance or file."""
