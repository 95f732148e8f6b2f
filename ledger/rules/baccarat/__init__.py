"""The one coup that the three games of baccarat share."""
