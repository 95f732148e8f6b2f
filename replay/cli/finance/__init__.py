"""Commands of finance."""
