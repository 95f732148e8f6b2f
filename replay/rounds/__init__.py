"""One round for people: read from the views, reconstructed, described and drawn."""
