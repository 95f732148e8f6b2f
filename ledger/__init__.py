"""The record of a table and the rules for it. Imports no other part of the project."""
