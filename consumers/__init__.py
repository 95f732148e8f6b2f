"""Views: all data derived from the record, each rebuilt from the record alone."""
