"""Money by table and gaming day: the drop, payouts, corrections."""
