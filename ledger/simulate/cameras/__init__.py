"""Simulated cameras: their clocks, and what each would see."""
