"""What Poker's games share: dealing, betting, pots, and the elections of Lunar Poker."""
