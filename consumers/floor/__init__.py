"""The current floor: the table board, and the opening times of tables."""
