"""The record of facts: reading their bytes, chaining, verification, quarantine."""
