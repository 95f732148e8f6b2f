"""Writes footage: packets copied or re-encoded into files that browsers play."""
