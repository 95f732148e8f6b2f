"""What happened at a table, and what the rules say of it. Imports no other part of the project."""
