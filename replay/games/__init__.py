"""A game for people: its card, its order of play, its Rules Submissions."""
