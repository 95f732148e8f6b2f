"""Footage read in a bounded process: index, frames, codes in pictures."""
