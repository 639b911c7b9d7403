"""What a search warns of when it is done: ends of grids, and models that explain nothing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.errors import GridEdgeWarning, UnderfittingWarning, stacklevel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gegenbauer.estimators._samples import Samples
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["RUNAWAY", "loss_of_constants", "warn_at_edges", "warn_of_underfitting"]

# A penalty so many times the trace of the kernel matrix leaves nothing of the model
RUNAWAY = 100.0


def warn_at_edges(grids: Iterable[tuple[str, float, Sequence[float]]]) -> None:
    """Warn where the best value is an end of a grid of three values or more, by its name."""
    for name, best, values in grids:
        if len(set(values)) < 3 or best not in (min(values), max(values)):
            continue
        end, more = ("smallest", "smaller") if best == min(values) else ("largest", "larger")
        free = ", or leave `alphas='auto'`" if name == "alphas" else ""
        warnings.warn(
            f"{best:.6g} was the best of `{name}` and is the {end}: give {more} ones as well, "
            f"of which one may be better{free}",
            GridEdgeWarning,
            stacklevel=stacklevel(),
        )


def warn_of_underfitting(
    best: float, constant: float, n_samples: float, runaway: float | None
) -> None:
    """Warn of a model that is no better than a constant, by their losses.

    ``runaway`` is the penalty, if it is so large that nothing is left of the model.
    """
    ran_away = (
        ""
        if runaway is None
        else f"The penalty ran away, to alpha = {runaway:.3g}, which leaves less than "
        f"{1 / RUNAWAY:g} degrees of freedom. "
    )
    warnings.warn(
        "the model is no better than a constant beyond what chance may give: of "
        f"{n_samples:.6g} samples left out (equal ones may count as one) "
        f"the score is {-best:.4g}, and {-constant:.4g} that of always predicting the "
        f"same. {ran_away}Check that each x belongs to its y, that inputs are coded sensibly "
        "and hold what y depends on, or give more samples",
        UnderfittingWarning,
        stacklevel=stacklevel(),
    )


def loss_of_constants(data: Samples, loss: Loss, splits: Splits, *, pooled: bool) -> float:
    """Judge the mean target, of the training part of each split; NaN if a scorer refuses it."""
    everything = np.arange(data.n)
    constants, tests = [], []
    for train, test in splits or [(everything, everything)]:
        weight = None if data.weight is None else data.weight[train]
        mean = np.average(data.Y[train], axis=0, weights=weight)
        constants.append(np.tile(mean, (1, test.size, 1)))
        tests.append(test)
    if pooled:
        constants, tests = [np.concatenate(constants, axis=1)], [np.concatenate(tests)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a correlation, for example, warns of constants
            found = [loss(c, rows)[0] for c, rows in zip(constants, tests, strict=True)]
    except Exception:  # a scorer of the user's own may need predictions that differ
        return np.nan
    return float(np.mean(found))
