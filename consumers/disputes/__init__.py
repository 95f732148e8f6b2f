"""The view of disputes."""
