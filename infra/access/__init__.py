"""Access control: users, sessions, device keys."""
