"""Who may see what: sessions behind requests, blind review, device keys."""
