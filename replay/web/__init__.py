"""The HTTP edge: pages, the API that facts come in by, and who may see what."""
