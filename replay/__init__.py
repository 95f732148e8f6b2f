"""What people use: the command, the replay, footage, the dossier and the web edge."""
