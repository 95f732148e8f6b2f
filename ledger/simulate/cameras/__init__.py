"""Simulated cameras: their clocks, and what each sees."""
