"""Clips: parts of footage in one file, and their cache."""
