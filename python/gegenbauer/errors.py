"""Warnings and errors of the library, and where a warning points to."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gegenbauer._messages import Message, Setting, Ways
from gegenbauer._rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BeyondRangeError",
    "CorrelatedInputsWarning",
    "GridEdgeWarning",
    "IllConditionedWarning",
    "LightWeightsWarning",
    "ModelFileError",
    "ModelVersionWarning",
    "NoFiniteLossError",
    "NotNumbersError",
    "OutOfRangeWarning",
    "OutlierWarning",
    "PenalizedConstantWarning",
    "RepeatedSamplesWarning",
    "RoundingWarning",
    "Rows",
    "StreamError",
    "StreamOrderWarning",
    "TimeBudgetWarning",
    "TooLargeError",
    "UnderfittingWarning",
    "parameters_of",
]


class TooLargeError(MemoryError, ValueError):
    """A request that cannot fit into the memory of this machine, refused before the work."""


class NoFiniteLossError(ValueError):
    """No model of those that were to be compared has a loss, or score, that is a finite number."""


class BeyondRangeError(ValueError):
    """Results that hold NaN or infinity.

    Attributes
    ----------
    found : str
        What they are.
    advice : str
        Why that may be, and what to do.
    row : int or None
        The first of the caller's samples for which they are, counted from 0; None if it is none.
    """

    def __init__(self, found: str, advice: str | Ways, row: int | None = None) -> None:
        parts = Message("", ways=advice, joint="") if isinstance(advice, Ways) else advice
        super().__init__(found, parts, row)
        self.found, self.advice, self.row = found, str(parts), row

    def __str__(self) -> str:
        """Return all of it."""
        return str(self.message())

    def message(self, place: str = "row {}", start: int = 0) -> Message:
        """Return all of it with its parts, where the rows of a place count from `start`."""
        where = "" if self.row is None else ", first in " + place.format(self.row + start)
        advice = self.args[1]
        ways = advice if isinstance(advice, Message) else Message("{}", advice)
        return Message("{}{}", self.found, where, ways=ways)


class NotNumbersError(TypeError, ValueError):
    """Masked entries, dates or times, which NumPy would take for numbers in silence."""


class CorrelatedInputsWarning(UserWarning):
    """Inputs depend on each other, which Sobol' indices take to be independent."""


class RepeatedSamplesWarning(UserWarning):
    """Many samples left out are equal, or nearly, to some that are not: they judge nothing."""


class StreamError(ValueError):
    """Rows that cannot be used; the message begins with which they are, and of which file.

    Attributes
    ----------
    reason : str
        What is wrong with them, and what to do.
    where : str
        Which rows they are, counted from 0 without a header; of files these are :class:`Rows`.

    Examples
    --------
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.errors import StreamError
    >>> try:
    ...     GegenbauerRegressor().fit_stream([([[1.0], [2.0]], [1.0, 2.0]), ([[3.0]], [4.0, 5.0])])
    ... except StreamError as error:
    ...     print(error.where)
    batch 1 (row 2)
    """

    def __init__(self, reason: str, where: str = "") -> None:
        super().__init__(reason, where)
        self.reason, self.where = reason, where

    def __str__(self) -> str:
        """Return the place and what is wrong there."""
        return str(self.message())

    def message(self, name: Callable[[Rows], str] | None = None) -> Message:
        """Return it with its parts, with rows of files as `name` writes them."""
        if name is not None and isinstance(self.where, Rows):
            reason = self.reason
            if isinstance(reason, Message):
                reason = reason.with_rows(name)
            return Message("{}: {}", name(self.where), reason)
        counted = isinstance(self.where, Rows) and self.where.first is not None
        place = f"{self.where}{' (counted from 0)' if counted else ''}: " if self.where else ""
        return Message("{}{}", place, self.reason)


class OutOfRangeWarning(UserWarning):
    """Samples lie outside of the range of the inputs seen in ``fit`` (``out_of_range="warn"``)."""


class OutlierWarning(UserWarning):
    """Nearly all samples of an input fill a tiny part of its range, which is scaled to the domain.

    The polynomials hardly distinguish such samples. Clip the outliers, or transform the input.
    The automatic estimators put fences before them, and warn that samples are clipped there, which
    costs accuracy where these are wrong. Where ``bounds`` is given, and of samples that come in
    batches, whose sums do not show it, there is no such warning.
    """


def stacklevel() -> int:
    """Return the stack level, for the function that warns, of the caller's own code.

    scikit-learn stands between it and us: it wraps ``transform``, and calls us in pipelines.
    """
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_library(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
        level += 1
    return level


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in ("gegenbauer", "sklearn")


class LightWeightsWarning(UserWarning):
    """Weights of samples, which count them, are so small that hardly any sample is left."""


class IllConditionedWarning(UserWarning):
    """The linear system of a fit is so ill-conditioned that its weights may be inaccurate."""


class PenalizedConstantWarning(UserWarning):
    """The penalty on the constant term spoils the predictions of targets far from zero.

    Targets that are the same everywhere have no spread to compare; there it comes where they are
    missed by more than a millionth. Of samples that come in batches it is found from their sums at
    the solve. Where they are less than twice as many as the terms, these show no more than what is
    lost in the samples, which is less than between them.
    """


class GridEdgeWarning(UserWarning):
    """The best of three or more values given to choose from is the first or the last of them."""


class UnderfittingWarning(UserWarning):
    """The model that was chosen is no better than a constant, by its held-out predictions."""


class TimeBudgetWarning(UserWarning):
    """A fit with ``max_seconds`` took cheaper ways than it would have without."""


class RoundingWarning(UserWarning):
    """An exported model differs from ``predict`` by more than rounding commonly does."""


class StreamOrderWarning(UserWarning):
    """The beginning of a stream, by which its sums were chosen, is unlike the rest."""


class ModelFileError(ValueError):
    """A file is not a model of this library, is damaged, or holds what no model can."""


class ModelVersionWarning(UserWarning):
    """A file was written by another version of this library."""


def parameters_of(error: BaseException) -> tuple[str, ...]:
    """Return the names of the parameters that an error or a warning is about.

    Parameters
    ----------
    error : BaseException
        Of this library, or of scikit-learn's check of the parameters of an estimator; also one that
        was raised from another one, if its text holds that of the former.

    Returns
    -------
    tuple of str
        Of those that the text marks, the ones that it reports on. If there are none, those that its
        advice has. Empty where the error is about something else, such as the data.

    See Also
    --------
    Rows : Which rows an error is about.

    Examples
    --------
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.errors import parameters_of
    >>> try:
    ...     GegenbauerRegressor(n_terms=3, alpha=-1.0).fit([[0.0], [1.0]], [0.0, 1.0])
    ... except ValueError as error:
    ...     parameters_of(error)
    ('alpha',)
    """
    return message_of(error).parameters


def message_of(error: BaseException) -> Message:
    """Return the message of an error or a warning with its parts; of others' it is one text."""
    if isinstance(error, (BeyondRangeError, StreamError)):
        return error.message()
    if len(error.args) == 1 and isinstance(error.args[0], Message):
        return error.args[0]
    if type(error).__name__ == "InvalidParameterError":
        return _of_parameter_check(str(error))
    return Message("{}", str(error))


def _of_parameter_check(text: str) -> Message:
    """Return the message of scikit-learn that a parameter of an estimator has a wrong value.

    It begins "The 'alpha' parameter of Ridge must be", and the error has no other record of the
    name: this is the only text that is read.
    """
    name = text.partition("'")[2].partition("'")[0]
    whole, must, rest = text.partition(" must be ")
    return Message("{}{}", Setting(name, words=whole), must + rest)
