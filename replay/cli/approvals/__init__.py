"""Commands of approvals: what one person asks for, and another approves or refuses."""
