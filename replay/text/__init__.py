"""What people type and read: money, times, cards, names."""
