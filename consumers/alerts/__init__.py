"""The alert process: conditions worth an alert, raised once and delivered."""
