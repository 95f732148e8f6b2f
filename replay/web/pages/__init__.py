"""The pages: a route a file, and what it draws."""
