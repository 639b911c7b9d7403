"""Progress of long fits: scikit-learn's callbacks where it has them, and a line by tqdm if verbose.

`Progress` reports the stages of a fit, `RowProgress` the samples of a stream.

A fit is a task of some stages, and a stage may have steps. scikit-learn from 1.9 on calls its
callbacks (``set_callbacks``, as with ``sklearn.callback.ProgressBar``) when each begins and ends;
``verbose`` shows the same as a line. Without either a fit is silent.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CallbackSupportMixin", "Progress", "RowProgress", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9: there is nothing to support

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method as it is."""
        return method


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
        self._line = _Line() if verbose else None
        self._root: Any = None
        self._stage: Any = None
        self._open: Any = None  # the task of the step that is being done
        if hasattr(estimator, "_init_callback_context"):
            self._root = estimator._init_callback_context(max_subtasks=n_stages)
            self._begin(self._root)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._line is not None:
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
        if self._line is not None and n_steps == 0:
            self._line.show(name)
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
        if self._line is not None:
            self._line.show(what)
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
    """A line that names what is done, by tqdm, or else one line for each."""

    def __init__(self) -> None:
        self._bar: Any = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(unit="step")

    def show(self, what: str) -> None:
        if self._bar is None:
            print(f"gegenbauer: {what}", flush=True)
        else:
            self._bar.set_description(what)
            self._bar.update()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


# Seconds between lines where there is no bar
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
        self._total, self._done, self._start = total, done, done
        self._callback = callback
        self._verbose, self._bar = bool(verbose), None
        self._began = self._reported = time.monotonic()
        if not verbose:
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=total, initial=done, unit=" samples", unit_scale=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._verbose:
            self._report()

    def advance(self, n_rows: int) -> None:
        """Note that so many more samples are learned."""
        self._done += n_rows
        if self._callback is not None:
            self._callback(self._done, self._total)
        if self._bar is not None:
            self._bar.update(n_rows)
        elif self._verbose and time.monotonic() > self._reported + _PAUSE:
            self._report()

    def _report(self) -> None:
        self._reported = time.monotonic()
        rate = (self._done - self._start) / max(self._reported - self._began, 1e-9)
        of = "" if self._total is None else f" of {self._total}"
        print(f"gegenbauer: {self._done}{of} samples, {rate:.3g} samples/s", flush=True)
