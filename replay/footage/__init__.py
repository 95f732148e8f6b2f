"""Footage: the files at hand, the frame asked for, and the drawing of a simulated camera's.

The only rooms of cv2. Reading (`reader`, run by `decoder` in a process of its own, `segments`) and
drawing (`filming`, `camera`, `picture`, `webm`) share the timecode in the picture and nothing else.
"""
