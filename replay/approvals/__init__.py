"""What one person asks for and another approves: requests, and what an approved one records."""
