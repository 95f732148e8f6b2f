"""The parts of `verify.py`, the file in every dossier that checks it with Python alone.

They are joined into that one file by `replay.dossier.writing.verify_py`. Standard library only, and
only what Python 3.8 has; they must import nothing of ours but one another.
"""
