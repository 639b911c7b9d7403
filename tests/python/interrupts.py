"""Ctrl-C during long work in the core, judged without a clock."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType

TICK = 1e-3  # seconds between two signals; long work takes some hundred of them
WANTED = 5


@contextlib.contextmanager
def handling(signum: int, handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Handle a signal, also where the process was started to ignore it (``command &``)."""
    before = signal.signal(signum, handler)
    try:
        yield
    finally:
        signal.signal(signum, before)


def interrupt(work: Callable[[], object]) -> None:
    """Interrupt one call of compiled code, which must have looked for signals several times.

    A timer sends signals all the time. Python runs the handler between two of its own
    instructions, or where compiled code polls for it. The latter finds it at the same instruction
    of the same frame again and again (so does a loop of one line, which is not what is tested
    here): at the fifth time it raises, and `work` must not come to its end. A call that never polls
    is not found by it, however long it takes: all signals that came meanwhile are one when it
    returns.
    """
    place: tuple[FrameType | None, int] | None = None
    n_polls = 0
    raised = False

    def handler(_: int, frame: FrameType | None) -> None:
        nonlocal place, n_polls, raised
        here = (frame, frame.f_lasti if frame else -1)
        n_polls = n_polls + 1 if here == place else 1
        place = here
        if n_polls == WANTED and not raised:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raised = True
            raise KeyboardInterrupt

    with handling(signal.SIGALRM, handler):
        signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
        try:
            work()
        except KeyboardInterrupt:
            assert raised
            return
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    raise AssertionError(f"it came to its end; the last place polled for signals {n_polls} times")
