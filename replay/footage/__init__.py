"""Footage: available files, frames and clips, and drawing a simulated camera's footage.

Only `decoding` and `simulated` use cv2: the first reads in separate processes, the second draws.
They share nothing but the timecode in the picture.
"""
