"""Commands of footage: add, frames, clips, clocks, coverage, custody."""
