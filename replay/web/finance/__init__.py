"""The pages of finance: drop, wins and closing of a day, control charts, coupons and checks."""
