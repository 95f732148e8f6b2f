"""The view of rulings: every round adjudicated again from its facts."""
