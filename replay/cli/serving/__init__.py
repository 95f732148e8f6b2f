"""Commands that run the program: serve, services, users, keys."""
