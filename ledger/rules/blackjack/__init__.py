"""The parts shared by the games of 21: wagers, hands, the dealer, and the standard game."""
