"""Formats and parses what people read and type: money, times, cards, names."""
