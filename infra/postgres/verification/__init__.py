"""Verification of the record by several processes."""
