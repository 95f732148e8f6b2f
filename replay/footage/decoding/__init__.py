"""Reads footage in sandboxed processes: index, frames, codes in pictures."""
