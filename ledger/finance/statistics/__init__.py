"""Luck and error as figures: expected wins, limits of hold, and charts over days."""
