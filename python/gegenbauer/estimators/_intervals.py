"""Prediction intervals by what models without a sample miss it by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.ridge.expansions import KernelExpansion, KernelPosterior
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.ridge.expansions import TermExpansion

__all__ = ["left_out_intervals"]

# Leave-one-out predictions (doubles) that are held at once
_MAX_CACHED_PREDICTIONS = 2e7


def left_out_intervals(
    function: TermExpansion | KernelExpansion | MeanExpansion,
    X: NDArray[Any],
    outputs: Doubles,
    residuals: Doubles,
    weights: Doubles | None,
    share: Doubles | None,
    coverage: float,
    *,
    n_threads: int | None,
) -> tuple[Doubles, Doubles]:
    """Return the ends of intervals that hold new targets as often as requested.

    By jackknife+, of what each model without one sample predicts plus and minus its error there; of
    a function that keeps no samples, by these errors alone, so that all are of the same width.

    Parameters
    ----------
    function : TermExpansion, KernelExpansion or MeanExpansion
        The fitted function.
    X : ndarray, shape (n_new, n_features)
        New samples.
    outputs : ndarray, shape (n_new, n_outputs)
        Its outputs there.
    residuals : ndarray, shape (n_samples, n_outputs)
        Of the samples of the fit, each left out; NaN for those that no split tests.
    weights, share : ndarray, shape (n_samples,), or None
        How much each counts, and the share of it that goes out with it.
    coverage : float
        Between 0 and 1.
    n_threads : int or None
        As for `TermExpansion.evaluate`.

    Returns
    -------
    lower, upper : ndarray, shape (n_new, n_outputs)
        Infinite where samples are too few for so large a coverage.
    """
    sizes = np.ones(len(residuals)) if weights is None else weights
    tested = np.isfinite(residuals).all(axis=1)
    size, sizes = np.abs(residuals[tested]), sizes[tested]
    if not (
        isinstance(function, MeanExpansion)
        or (
            isinstance(function, KernelExpansion)
            and isinstance(function.posterior, KernelPosterior)
        )
    ):  # the same width everywhere
        reach = _upper_quantile(size, sizes, coverage)
        return outputs - reach, outputs + reach
    lower, upper = np.empty_like(outputs), np.empty_like(outputs)
    block = max(1, int(_MAX_CACHED_PREDICTIONS / residuals.size))
    for first in range(0, len(outputs), block):
        rows = slice(first, first + block)
        # (samples of the fit, samples here, outputs)
        without = function.without_each(X[rows], residuals, share=share, n_threads=n_threads)[
            tested
        ]
        for k in range(outputs.shape[1]):
            e, at = size[:, k : k + 1], without[:, :, k]
            lower[rows, k] = -_upper_quantile(e - at, sizes, coverage)
            upper[rows, k] = _upper_quantile(e + at, sizes, coverage)
    return lower, upper


def _upper_quantile(values: Doubles, sizes: Doubles, coverage: float) -> Doubles:
    """Return the value that ``coverage`` of n + 1 samples are not above, for each column.

    Samples count by their sizes, and a further one, of size one, is infinite.
    """
    order = np.argsort(values, axis=0)
    counted = np.cumsum(sizes[order], axis=0)
    need = coverage * (sizes.sum() + 1.0)
    place = (counted < need * (1 - 1e-12)).sum(axis=0)
    columns = np.arange(values.shape[1])
    inside = np.minimum(place, len(values) - 1)
    found = values[order[inside, columns], columns]
    return np.asarray(np.where(place < len(values), found, np.inf))
