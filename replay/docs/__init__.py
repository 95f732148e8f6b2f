"""The pages of the site that are generated from the program itself.

`make site` builds them with the others. A tool for those who change the program:
nothing at run time reads a page, and no page holds what the program does not.
"""
