"""What the games of 21 share: wagers, hands, the dealer, and the standard game."""
