"""What draws simulated footage; for simulation only."""
