"""One round for people: read from the views, reconstructed, told and drawn."""
