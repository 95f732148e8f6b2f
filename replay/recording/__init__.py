"""Facts of the house put on record, and hands from elsewhere as facts."""
