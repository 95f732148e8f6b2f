"""The page To approve: what one person asks for, in words, and another person's answer."""
