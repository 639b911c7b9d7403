"""Progress of long fits: scikit-learn's callbacks where it has them, a log, and a line if verbose.

`Progress` reports the stages of a fit, `RowProgress` the samples of a stream.

A fit is a task of some stages, and a stage may have steps. scikit-learn from 1.9 on calls its
callbacks (``set_callbacks``, as with ``sklearn.callback.ProgressBar``) when each begins and ends.
The logger "gegenbauer" gets the stages and the samples of streams at the level INFO, and the steps
at DEBUG; ``verbose`` shows all of them, whatever is logged. Without any of these a fit is silent.
"""

from __future__ import annotations

import logging
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from gegenbauer._messages import Message
from gegenbauer._validation import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CallbackSupportMixin", "Log", "Progress", "RowProgress", "with_callbacks"]

LOGGER = logging.getLogger("gegenbauer")

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9: there is nothing to support

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method as it is."""
        return method


class Log:
    """What one fit, or one stream, logs; with ``verbose`` by a handler of its own, too.

    That handler gets the records of this fit alone, at all levels, and what the logger is set to
    stays as it is: other fits, in other threads, are shown or not by their own ``verbose``.

    Parameters
    ----------
    verbose : bool or int
        Whether to write lines to the standard output, unless handlers of the logger, or of those
        above it, get them anyhow.

    Examples
    --------
    >>> from gegenbauer.estimators._progress import Log
    >>> Log(verbose=True)("a stage")
    gegenbauer: a stage
    """

    def __init__(self, *, verbose: bool | int) -> None:
        self._handler: logging.Handler | None = None
        if verbose and not (LOGGER.hasHandlers() and LOGGER.isEnabledFor(logging.DEBUG)):
            self._handler = logging.StreamHandler(sys.stdout)
            self._handler.setFormatter(logging.Formatter("gegenbauer: %(message)s"))

    def __call__(self, text: str, level: int = logging.INFO) -> None:
        """Log a line."""
        if LOGGER.isEnabledFor(level):
            LOGGER.log(level, "%s", text)
        if self._handler is not None:
            place = ("gegenbauer", level, __file__, 0, "%s", (text,), None)
            self._handler.handle(LOGGER.makeRecord(*place))


class Progress:
    """What is reported of a fit while it runs; leaving it without an error ends the fit's task.

    Parameters
    ----------
    estimator : estimator
        Its callbacks are called, within a method that `with_callbacks` decorates.
    n_stages : int or None
        Number of stages; None if it is not known.
    verbose : bool or int
        Whether to show a line: by tqdm where it is installed, else one line a step.
    **data
        ``X``, ``y`` and ``metadata`` for the callbacks.
    """

    def __init__(
        self, estimator: Any, n_stages: int | None, *, verbose: bool | int = False, **data: Any
    ) -> None:
        self._estimator = estimator
        self._data = data
        self._line = _Line(verbose=verbose)
        self._root: Any = None
        self._stage: Any = None
        self._open: Any = None  # the task of the step that is being done
        if hasattr(estimator, "_init_callback_context"):
            self._root = estimator._init_callback_context(max_subtasks=n_stages)
            self._begin(self._root)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._line.close()
        if kind is None and self._root is not None:
            # by now the estimator is fitted: nothing is to be added to it
            self._end(self._root, reconstruction_attributes={})

    @contextmanager
    def stage(self, name: str, *, n_steps: int | None = 0) -> Iterator[None]:
        """Do a stage.

        Parameters
        ----------
        name : str
            What is done.
        n_steps : int or None, default=0
            Number of steps; None if it is not known.
        """
        self._line.begin(name, has_steps=n_steps != 0)
        if self._root is not None:
            self._stage = self._root.subcontext(task_name=name, max_subtasks=n_steps)
            self._begin(self._stage)
            self._open = None if n_steps == 0 else self._next_step()
        yield
        if self._root is not None:
            if self._open is not None:
                self._end(self._open)
            self._end(self._stage)

    def step(self, what: str) -> None:
        """Note that a step is done.

        Parameters
        ----------
        what : str
            Which one, for the line.
        """
        self._line.step(what)
        if self._open is not None:
            self._end(self._open)
            self._open = self._next_step()

    def _next_step(self) -> Any:
        """Begin a step, unless there were as many as announced."""
        most = self._stage.max_subtasks
        if most is not None and self._open is not None and self._open.task_id + 1 >= most:
            return None
        step = self._stage.subcontext(task_name="step")
        self._begin(step)
        return step

    def _begin(self, task: Any) -> None:
        task.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def _end(self, task: Any, **more: Any) -> None:
        task.call_on_fit_task_end(estimator=self._estimator, **self._data, **more)


class _Line:
    """What names the stages and steps of a fit: the log, and if verbose tqdm's bar or lines."""

    def __init__(self, *, verbose: bool | int) -> None:
        self._bar = _bar(unit="step") if verbose else None
        self._log = Log(verbose=verbose and self._bar is None)

    def begin(self, stage: str, *, has_steps: bool) -> None:
        self._log(stage)
        if not has_steps:  # else the steps move the bar
            self._move(stage)

    def step(self, what: str) -> None:
        self._log(what, logging.DEBUG)
        self._move(what)

    def _move(self, what: str) -> None:
        if self._bar is not None:
            self._bar.set_description(what)
            self._bar.update()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _bar(**options: Any) -> Any:
    """Return a bar of tqdm, None where that is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(**options)


# Seconds between lines of the log
_PAUSE = 5.0


class RowProgress:
    """Samples learned from a stream, and how many a second.

    Parameters
    ----------
    total : int or None
        Number of all samples, if it is known.
    done : int, default=0
        Samples that an earlier run has learned.
    verbose : bool or int, default=False
        Whether to show a bar: by tqdm where it is installed, else a line now and then.
    callback : callable or None
        Called with the number of samples so far and ``total`` after each batch.
    """

    def __init__(
        self,
        total: int | None,
        *,
        done: int = 0,
        verbose: bool | int = False,
        callback: Callable[[int, int | None], None] | None = None,
    ) -> None:
        if not (callback is None or callable(callback)):
            raise TypeError(
                Message(
                    "`callback` must be a function of the numbers of samples that are done and "
                    "that there are, or None; got {}",
                    shown(callback),
                )
            )
        self._total, self._done, self._start = total, done, done
        self._callback = callback
        self._began = self._reported = time.monotonic()
        options = {"total": total, "initial": done, "unit": " samples", "unit_scale": True}
        self._bar = _bar(**options) if verbose else None
        self._log = Log(verbose=verbose and self._bar is None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        self._report()

    def advance(self, n_rows: int) -> None:
        """Note that so many more samples are learned."""
        self._done += n_rows
        if self._callback is not None:
            self._callback(self._done, self._total)
        if self._bar is not None:
            self._bar.update(n_rows)
        if time.monotonic() > self._reported + _PAUSE:
            self._report()

    def _report(self) -> None:
        self._reported = time.monotonic()
        rate = (self._done - self._start) / max(self._reported - self._began, 1e-9)
        of = "" if self._total is None else f" of {self._total}"
        self._log(f"{self._done}{of} samples, {rate:.3g} samples/s")
