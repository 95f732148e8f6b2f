"""Commands of the review desk."""
