"""Signing in and out: passwords and OpenID Connect."""
