"""Errors of dealers for people: groups beside the house, their trend and luck, as rows and CSV."""
