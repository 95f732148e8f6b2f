"""The page Statistics: dealers' errors beside the house, and the charts it draws."""
