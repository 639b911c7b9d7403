"""The noise that residuals show."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.errors import LightWeightsWarning, stacklevel

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles

__all__ = ["FEWEST_TO_JUDGE", "estimate_noise_variance"]

# Samples from which on a model that leaves less than one degree of freedom may be right: fewer are
# met by some spectrum with next to no noise, whatever they are
FEWEST_TO_JUDGE = 10


def estimate_noise_variance(
    squares: Doubles, left: float, total: float, n: int, dof: float
) -> Doubles:
    """Divide squared residuals by the degrees of freedom that are left, or know nothing.

    Parameters
    ----------
    squares : ndarray, shape (n_outputs,)
        Sums of squared residuals.
    left : float
        Degrees of freedom of the residuals.
    total : float
        The number of samples as weights count them.
    n : int
        The number of samples.
    dof : float
        Degrees of freedom of the model.

    Returns
    -------
    ndarray, shape (n_outputs,)
        Infinite where there is none left, or less than one of few samples.
    """
    if left >= 1 or (left > 0 and total >= FEWEST_TO_JUDGE):
        return np.asarray(squares / left)
    # Below a tenth it was reported before; and where weights are not light, scaling is no way out
    if left <= 0 and 0.1 * n <= total < n:
        warnings.warn(
            f"sample_weight counts samples, and {n} count as {total:.3g}, of which the "
            f"model takes {dof:.3g} degrees of freedom: none is left to judge the noise by, so "
            "noise_variance_ is infinite. Scale the weights so that they average one, unless so "
            "little is known",
            LightWeightsWarning,
            stacklevel=stacklevel(),
        )
    return np.full(squares.shape, np.inf)
