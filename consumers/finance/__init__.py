"""Finance: the papers of money by table and time, and the three wins of a gaming day."""
