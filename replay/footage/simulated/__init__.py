"""Draws simulated footage; for simulation only."""
