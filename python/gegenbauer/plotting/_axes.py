"""What the displays share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from gegenbauer._messages import Message

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles

__all__ = ["error_name", "errors_of", "get_axes"]


def get_axes(ax: Any, *, height: float | None = None) -> Any:
    """Return axes to draw into; new ones at least so many inches high."""
    if ax is not None:
        if not (hasattr(ax, "figure") and hasattr(ax, "plot")):
            some = f"{type(ax).__name__}"
            if np.ndim(ax):
                some = f"some of shape {np.shape(ax)}: pass one of them, such as axes.flat[0]"
            raise TypeError(Message("`ax` must be the matplotlib Axes to draw into, got {}", some))
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib: run pip install 'gegenbauer[plot]'") from None
    figure, ax = plt.subplots(layout="constrained")  # which leaves room for long names
    figure.set_figheight(max(figure.get_figheight(), height or 0.0))
    return ax


def error_name(estimator: Any) -> str:
    """Name what is minus the score of samples left out."""
    if estimator.scoring is None:
        return "log-loss" if is_classifier(estimator) else "mean squared error / variance"
    return f"minus {estimator.scoring if isinstance(estimator.scoring, str) else 'the score'}"


def errors_of(estimator: Any) -> Doubles:
    """Return the errors in ``surface_``, NaN where there is none."""
    scores = estimator.surface_["score"]
    return np.where(np.isfinite(scores), -scores, np.nan)
