"""Rankings of hands, cards and dice, each from the chapter that prints it. Pure functions."""
