"""Views: every number that is not the record itself, each rebuilt from the record alone."""
