"""Coupons, progressive meters and House Money, which go with wagers of many games."""
