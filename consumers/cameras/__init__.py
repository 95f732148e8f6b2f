"""The view of cameras: their facts, clock marks and segments."""
