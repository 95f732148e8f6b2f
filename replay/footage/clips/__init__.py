"""Clips: stretches of footage in one file, and which are kept."""
