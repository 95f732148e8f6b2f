"""Procedures over a table's tape: care of cards and dice, staffing, supervision, rotation."""
