"""The engine under every game's `play`: the table's verbs, a round's record, rulings, odds."""
