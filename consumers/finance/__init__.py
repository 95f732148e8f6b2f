"""Finance: facts of money, coupons and checks; and the three wins worked out."""
