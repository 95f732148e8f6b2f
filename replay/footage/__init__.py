"""Footage: the files at hand, the frame asked for, and the drawing of a simulated camera's.

The only rooms of cv2: `decoding` reads in a process of its own, `simulated` draws. They share the
timecode in the picture and nothing else.
"""
