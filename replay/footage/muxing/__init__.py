"""Footage written: packets copied or encoded into files a browser plays."""
