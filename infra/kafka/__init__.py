"""Topics and their settings."""
