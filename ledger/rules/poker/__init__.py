"""The parts shared by Poker's games: dealing, betting, pots, and Lunar Poker's elections."""
