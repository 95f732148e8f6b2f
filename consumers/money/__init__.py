"""Money of each table and gaming day: the drop, payouts, corrections."""
