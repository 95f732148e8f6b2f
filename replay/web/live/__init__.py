"""The page Live: the floor now, a table's live pictures and its round's money, and 30 s back."""
