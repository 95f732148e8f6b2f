"""What lies beside a wager: Match Play Coupons, progressive meters, House Money."""
