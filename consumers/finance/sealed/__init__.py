"""Gaming days that were closed: their seals, wins, journals, and what they pin."""
