"""The parts of `verify.py`, the file in every dossier that checks it with Python alone.

`replay.dossier.writing.verify_py` joins them into that one file. They use only the standard library
of Python 3.8, and import only each other.
"""
