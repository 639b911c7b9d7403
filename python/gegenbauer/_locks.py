"""One writer at a time for what learns in place.

What is learned becomes a new state, which replaces the old one in one assignment. Two threads that
begin with the same state would each replace it, and what one of them has learned would be lost.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

__all__ = ["exclusive"]

# By identity, and not in the objects: locks are neither copied nor pickled, and mean nothing in a
# copy, a clone or another process.
_LOCKS: dict[int, threading.RLock] = {}

if hasattr(os, "register_at_fork"):
    # in the child nobody is left who would release them
    os.register_at_fork(after_in_child=_LOCKS.clear)


def exclusive(learner: Any) -> threading.RLock:
    """Return the lock of an object, for ``with``; it may be taken again by the thread that has it.

    Parameters
    ----------
    learner : object
        What changes; it must allow weak references.

    Returns
    -------
    threading.RLock
        The same one as long as the object lives.

    Examples
    --------
    >>> from gegenbauer._locks import exclusive
    >>> class Learner: ...
    >>> one, other = Learner(), Learner()
    >>> exclusive(one) is exclusive(one), exclusive(one) is exclusive(other)
    (True, False)
    """
    key = id(learner)
    lock = _LOCKS.get(key)
    if lock is None:
        lock = _LOCKS.setdefault(key, threading.RLock())
        weakref.finalize(learner, _LOCKS.pop, key, None).atexit = False
    return lock
