"""The penalty chosen from sums over samples that are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message, Setting
from gegenbauer._validation import as_alphas, require_plain
from gegenbauer.errors import BeyondRangeError
from gegenbauer.selection.basis_search import PAPER_ALPHAS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gegenbauer._typing import Doubles
    from gegenbauer.ridge.statistics._base import Coding
    from gegenbauer.ridge.statistics.choice import Statistics

__all__ = ["penalty_from_sums"]


def penalty_from_sums(
    statistics: Statistics,
    coding: Coding | None,
    alphas: Any,
    *,
    held_out: Callable[[], Statistics] | None,
    penalize_constant: bool,
    n_threads: int | None,
) -> tuple[float, dict[str, Doubles]]:
    """Choose by generalised cross-validation, or by samples that are held out.

    Parameters
    ----------
    statistics : GramStatistics or MomentStatistics
        Sums over the samples.
    coding : Coding or None
        How the targets follow from what was summed.
    alphas : array-like of positive numbers or None
        Penalties to choose from; None for the paper's.
    held_out : callable or None
        Sums over other samples, which are made when the rest is known to be as it has to be.
    penalize_constant : bool
        Whether the penalty counts for the constant, too.
    n_threads : int or None
        By default `gegenbauer.default_threads()`.

    Returns
    -------
    alpha : float
        The best; of equals the largest, as everywhere.
    results : dict of ndarray
        What was tried, "alpha" and "score", (n_alphas,): the larger the better, and minus infinity
        where alpha is too small for the accuracy of sums.

    Raises
    ------
    ValueError
        Alphas are not positive, or all of them too small.
    BeyondRangeError
        All scores leave float64.
    """
    require_plain(alphas, Setting("alphas"))
    values = as_alphas(PAPER_ALPHAS if alphas is None else np.atleast_1d(alphas))
    coding, unit = statistics._in_units(coding)
    scores, weights, accurate = statistics._gcv(values, coding, penalize_constant, n_threads)
    if held_out is not None:
        judge = held_out()
        scores = judge._squared_errors(weights, coding, rounded=True) / judge.weight_sum
    if not accurate.any():
        raise ValueError(
            Message(
                "all of `alphas` are too small for the accuracy of sums, the largest being {:g}: "
                "give larger ones",
                values.max(),
            )
        )
    losses = np.where(accurate, scores.sum(axis=1), np.inf)
    losses = np.where(np.isnan(losses), np.inf, losses)
    if losses.min() == np.inf:
        raise BeyondRangeError(
            "the squared errors are beyond the range of float64",
            "the targets (or their weights) are too large or too small, scale them",
        )
    with np.errstate(over="ignore"):
        results = {"alpha": values, "score": -losses * unit * unit}
    return float(values[losses == losses.min()].max()), results
