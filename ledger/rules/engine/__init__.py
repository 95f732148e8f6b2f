"""What every game's `play` stands on: the table's verbs, a round's record, rulings, odds."""
