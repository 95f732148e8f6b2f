"""The floor as it stands: the table board, and when tables opened."""
