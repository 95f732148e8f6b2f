"""The garbage collector of commands: while they load, and while they hold or read many facts."""

import gc

_NEW_OBJECTS, _YOUNG, _OLD = 200_000, 50, 1_000


def collect_seldom() -> None:
    """Let the garbage collector look through a process's objects far less often.

    A whole feed is a million values that live until the end. Looking through them again and again
    finds nothing, and takes up to a fifth of the time.
    """
    gc.set_threshold(_NEW_OBJECTS, _YOUNG, _OLD)


def pause() -> None:
    """Let nothing be collected while the process loads its modules: all of that is kept."""
    gc.disable()


def resume() -> None:
    """End `pause`, if there was one. What was loaded meanwhile is never looked through again."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
