"""Access control: users, sessions, keys of devices and readers."""
