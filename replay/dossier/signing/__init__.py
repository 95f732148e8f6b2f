"""The house's signing keys, and signatures over dossiers and clips."""
