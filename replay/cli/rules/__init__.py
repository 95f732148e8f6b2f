"""Commands of the rules: adjudicate, games, submissions."""
