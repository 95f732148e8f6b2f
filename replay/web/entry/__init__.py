"""Entry: papers of the floor that people enter: inventories, slips, counts of boxes."""
