"""Who may sign in and which device may send facts: users, sessions, keys."""
