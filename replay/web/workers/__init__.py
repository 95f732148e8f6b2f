"""Processes that receive facts beside the one that serves the pages."""
