"""Disputes and preserved windows, and the service behind command and page."""
