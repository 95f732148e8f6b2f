"""Rulings from facts: of one round, of a feed, under corrections and Rules Submissions."""
