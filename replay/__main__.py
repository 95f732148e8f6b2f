"""`python -m replay`: the command `round-ledger`."""

from replay.cli import main

main()
