"""A camera's clock, coverage, timeline, custody, retention and health."""
