"""The HTTP API: facts in, clips and frames out, figures."""
