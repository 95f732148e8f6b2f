"""Finance: facts of money, coupons and checks; closed days; and the three wins worked out."""
