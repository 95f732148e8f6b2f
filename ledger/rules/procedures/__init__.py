"""Procedures over a table's tape: handling of cards and dice, staff, supervision, rotation."""
