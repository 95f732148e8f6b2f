"""Commands of rounds and money: rounds, replay, drop."""
