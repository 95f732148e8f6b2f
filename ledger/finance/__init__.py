"""Finance: wins of a gaming day, closed days, coupons and counter checks."""
