"""Noise and quantiles of residuals."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.errors import LightWeightsWarning, stacklevel

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles

__all__ = ["estimate_noise_variance", "upper_quantile"]


def estimate_noise_variance(squares: Doubles, left: float, weight: Doubles, dof: float) -> Doubles:
    """Divide squared residuals by the samples that are left, or know nothing."""
    if left > 0:
        return np.asarray(squares / left)
    total = float(weight.sum())
    if total >= 0.1 * weight.size:  # else it was reported before
        warnings.warn(
            f"sample_weight counts samples, and {weight.size} count as {total:.3g}, of which the "
            f"model takes {dof:.3g} degrees of freedom: none is left to judge the noise by, so "
            "noise_variance_ is infinite. Scale the weights so that they average one, unless so "
            "little is known",
            LightWeightsWarning,
            stacklevel=stacklevel(),
        )
    return np.full(squares.shape, np.inf)


def upper_quantile(values: Doubles, sizes: Doubles, coverage: float) -> Doubles:
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
