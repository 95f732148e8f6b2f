"""The reference pages under `docs/`, generated from the program itself.

`python -m replay.docs` writes them, `--check` compares. A tool for those who change the program:
nothing at run time reads a page, and no page holds what the program does not.
"""
