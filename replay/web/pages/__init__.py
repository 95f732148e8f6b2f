"""The pages: a file for each route, and the drawings they use."""
