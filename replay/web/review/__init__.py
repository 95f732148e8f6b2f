"""The page Review: the queue of findings and the work on them."""
