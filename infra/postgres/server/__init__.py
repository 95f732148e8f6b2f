"""The embedded server as a process, and the keeper that stops one which stays."""
