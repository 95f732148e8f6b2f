"""What explains the tray of a table's gaming day."""
