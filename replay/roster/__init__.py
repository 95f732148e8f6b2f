"""Signing keys in files, signatures over lines of a feed, and the check at the door."""
