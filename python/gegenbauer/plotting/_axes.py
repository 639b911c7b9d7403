"""What the displays share."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from gegenbauer._messages import Message
from gegenbauer._validation import check_integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gegenbauer._typing import Doubles

__all__ = [
    "WIDEST",
    "check_output",
    "error_name",
    "errors_of",
    "get_axes",
    "get_panels",
    "label_of",
    "labels_of",
    "name_of_output",
]

# Letters of a name that are drawn
WIDEST = 36

# Of these, the first that stay where names differ in the middle
_HEAD = 10

# Size of one of several panels, in inches
_PANEL = (3.6, 2.9)


def get_axes(ax: Any, *, height: float | None = None, width: float | None = None) -> Any:
    """Return axes to draw into; new ones at least so many inches high and wide."""
    if ax is not None:
        if not (hasattr(ax, "figure") and hasattr(ax, "plot")):
            some = f"{type(ax).__name__}"
            if np.ndim(ax):
                some = f"some of shape {np.shape(ax)}: pass one of them, such as axes.flat[0]"
            raise TypeError(Message("`ax` must be the matplotlib Axes to draw into, got {}", some))
        return ax
    figure, ax = _pyplot().subplots(layout="constrained")  # which leaves room for long names
    figure.set_figheight(max(figure.get_figheight(), height or 0.0))
    figure.set_figwidth(max(figure.get_figwidth(), width or 0.0))
    return ax


def get_panels(ax: Any, n_panels: int, n_columns: int) -> list[Any]:
    """Return so many axes to draw into: those that are given, or new ones, in rows."""
    if ax is not None:
        given = [get_axes(one) for one in np.ravel(np.asarray(ax, dtype=object))]
        if len(given) < n_panels:
            raise ValueError(
                Message(
                    "`ax` must have an Axes for each of {} panels, got {}", n_panels, len(given)
                )
            )
        return given[:n_panels]
    columns = min(n_columns, n_panels)
    rows = -(-n_panels // columns)
    if n_panels == 1:
        return [get_axes(None)]
    size = (_PANEL[0] * columns, _PANEL[1] * rows)
    _, found = _pyplot().subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for left in found.flat[n_panels:]:
        left.set_axis_off()
    return list(found.flat[:n_panels])


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib: run pip install 'gegenbauer[plot]'") from None
    return plt


def label_of(name: object, widest: int = WIDEST) -> str:
    """Return a name as it can be drawn: not too long, in one line, and dollars are no formulas.

    Of long names the middle is left out: what distinguishes them often stands at the end.
    """
    text = _one_line(name)
    return _drawn(text if len(text) <= widest else _ends(text, widest))


def labels_of(names: Sequence[object], widest: int = WIDEST) -> list[str]:
    """Return names as they can be drawn beside each other, so that they stay different."""
    texts = [_one_line(name) for name in names]
    labels = [text if len(text) <= widest else _ends(text, widest) for text in texts]
    for label, n in Counter(labels).items():
        if n == 1:
            continue
        same = [k for k, one in enumerate(labels) if one == label]
        first = _in_common([texts[k] for k in same])
        last = _in_common([texts[k][first:][::-1] for k in same])
        for k in same:
            differs = texts[k][first : len(texts[k]) - last][: widest - _HEAD - 6]
            start = texts[k][:first]
            if first > widest - 3 - len(differs):
                start = f"{start[:_HEAD]}..."
            labels[k] = f"{start}{differs}{'...' if last else ''}"
    twice = {label for label, n in Counter(labels).items() if n > 1}
    return [_drawn(f"{label} ({k})" if label in twice else label) for k, label in enumerate(labels)]


def _in_common(texts: Sequence[str]) -> int:
    """Return how many letters of all texts are the same, from the first on."""
    shortest = min(map(len, texts))
    return next((n for n in range(shortest) if len({text[n] for text in texts}) > 1), shortest)


def _one_line(name: object) -> str:
    text = " ".join(str(name).split())
    return "".join(one if one.isprintable() else "?" for one in text)


def _ends(text: str, widest: int) -> str:
    return f"{text[: widest - widest // 3 - 3]}...{text[-(widest // 3) :]}"


def _drawn(text: str) -> str:
    return text.replace("$", r"\$")


def check_output(output: Any, n_outputs: int) -> int:
    """Return which output is meant."""
    found = check_integer(output, "output", minimum=0)
    if found >= n_outputs:
        raise ValueError(Message("`output` must be below {}, got {}", n_outputs, found))
    return found


def name_of_output(estimator: Any, output: int) -> str:
    """Name an output of the fitted function: of a classifier by its class."""
    if is_classifier(estimator):
        labels = estimator._answers
        one = estimator.expansion_.n_outputs == 1 and len(labels) == 2
        return f"output for {label_of(labels[1 if one else output])}"
    return "output" if estimator.expansion_.n_outputs == 1 else f"output {output}"


def error_name(estimator: Any) -> str:
    """Name what is minus the score of samples left out."""
    if estimator.scoring is None:
        return "log-loss" if is_classifier(estimator) else "mean squared error / variance"
    return f"minus {estimator.scoring if isinstance(estimator.scoring, str) else 'the score'}"


def errors_of(estimator: Any) -> Doubles:
    """Return the errors in ``surface_``, NaN where there is none."""
    scores = estimator.surface_["score"]
    return np.where(np.isfinite(scores), -scores, np.nan)
