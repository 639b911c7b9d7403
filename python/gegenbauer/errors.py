"""Warnings and errors of the library, and where a warning points to."""

from __future__ import annotations

import sys

__all__ = [
    "BeyondRangeError",
    "CorrelatedInputsWarning",
    "GridEdgeWarning",
    "IllConditionedWarning",
    "LightWeightsWarning",
    "ModelFileError",
    "ModelVersionWarning",
    "NotNumbersError",
    "OutOfRangeWarning",
    "OutlierWarning",
    "PenalizedConstantWarning",
    "StreamError",
    "TooLargeError",
    "UnderfittingWarning",
]


class TooLargeError(MemoryError, ValueError):
    """A request that cannot fit into the memory of this machine, refused before the work."""


class BeyondRangeError(ValueError):
    """Results that hold NaN or infinity: `found` names the place, the message also what to do."""

    def __init__(self, found: str, advice: str) -> None:
        super().__init__(found, advice)
        self.found = found

    def __str__(self) -> str:
        return ": ".join(self.args)


class NotNumbersError(TypeError, ValueError):
    """Masked entries, dates or times, which NumPy would take for numbers in silence."""


class CorrelatedInputsWarning(UserWarning):
    """Inputs depend on each other, which Sobol' indices take to be independent."""


class StreamError(ValueError):
    """Rows that cannot be used; the message begins with which they are, and of which file."""


class OutOfRangeWarning(UserWarning):
    """Samples lie outside of the range of the inputs seen in ``fit`` (``out_of_range="warn"``)."""


class OutlierWarning(UserWarning):
    """Nearly all samples of an input fill a tiny part of its range, which is scaled to the domain.

    The polynomials hardly distinguish such samples. Clip the outliers, or transform the input.
    Where ``bounds`` is given, and of samples that come in batches, whose sums do not
    show it, there is no such warning.
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

    Of samples that come in batches it is said from their sums at the solve, where they are at least
    twice as many as the terms; fewer are gone when what happens between them would be measured.
    """


class GridEdgeWarning(UserWarning):
    """The best of three or more values given to choose from is the first or the last of them."""


class UnderfittingWarning(UserWarning):
    """The model that was chosen is no better than a constant, by its held-out predictions."""


class ModelFileError(ValueError):
    """A file is not a model of this library, is damaged, or holds what no model can."""


class ModelVersionWarning(UserWarning):
    """A file was written by another version of this library."""
