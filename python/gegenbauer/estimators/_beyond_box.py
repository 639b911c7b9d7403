"""How much variance predictions have beyond the box of the inputs, where there are no samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.basis.spectrum import Spectrum
from gegenbauer.ridge.expansions import TermExpansion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.ridge.expansions import KernelExpansion
    from gegenbauer.ridge.mean_expansion import MeanExpansion

__all__ = ["variance_beyond"]

# Points on the way from the wall of the box inwards at which increments are evaluated
_N_INWARD = 32


def variance_beyond(
    function: TermExpansion | KernelExpansion | MeanExpansion,
    box: InputScaling,
    X: NDArray[Any],
    prior_variance: Doubles,
    noise_variance: Doubles,
) -> Doubles:
    r"""Return how much variance leaving the box adds at samples beyond it, (n_samples, n_outputs).

    A clipped prediction is that of the wall, w, and its further error the increment of the
    function from there, of which nothing was seen: it is taken to be as large as increments
    inside. It is 0 at the wall and grows with the distance.

    Parameters
    ----------
    function : TermExpansion, KernelExpansion or MeanExpansion
        The fitted function.
    box : InputScaling
        That it clips to.
    X : ndarray, shape (n_samples, n_features)
        Samples with at least one value beyond the box; missing ones stay so.
    prior_variance, noise_variance : ndarray, shape (n_outputs,)
        Of each output in units of the kernel, and of its noise.
    """
    added = np.zeros((len(X), prior_variance.size))
    free = box.replace(clip=False)
    low, high = box.domain
    with np.errstate(over="ignore"):  # infinitely far is far
        at = free.transform(X)
    wall = at.clip(low, high)
    inward = (wall - at).clip(low - high, high - low)
    inward[np.isnan(inward)] = 0.0  # what is missing stays so on the way
    for i, (start, way) in enumerate(zip(wall, inward, strict=True)):
        far = float(np.abs(way).max()) / (high - low)
        if isinstance(function, TermExpansion) and _is_raw(function):
            if far > 0:
                added[i] = _usual_increment(function, start, way / far, far, noise_variance)
        else:
            added[i] = _prior_increment(function, start, way, prior_variance)
    return added


def _prior_increment(
    function: TermExpansion | KernelExpansion | MeanExpansion,
    wall: Doubles,
    way: Doubles,
    prior_variance: Doubles,
) -> Doubles:
    """Return the variance of increments inside by the prior, (n_outputs,).

    From the wall to a point r as far inside as x is outside, K(r, r) + K(w, w) - 2 K(r, w) in
    units of the prior variance, of which the largest up to that distance is taken. It is that
    of the inputs that are outside alone, and ends above their part of the prior variance.
    """
    steps = np.sin(np.linspace(0.0, 0.5 * np.pi, _N_INWARD + 1)) ** 2  # dense at both ends
    largest = float(function.prior_increments(wall + np.outer(steps, way)).max())
    return largest * prior_variance if largest > 0 else np.zeros(prior_variance.size)


def _usual_increment(
    function: TermExpansion, wall: Doubles, across: Doubles, far: float, noise_variance: Doubles
) -> Doubles:
    """Return the mean square of increments inside as the data suggest them, (n_outputs,).

    The largest between any two points no further apart than x is from the wall, on the line
    from there across the box; `far` is that distance as a share of the line.
    """
    path = wall + np.outer(np.linspace(0.0, 1.0, _N_INWARD + 1), across)
    squares = function.expected_increments(path, noise_variance)
    at = [squares.diagonal(lag).max(axis=1) for lag in range(_N_INWARD + 1)]
    largest = np.maximum.accumulate(at)
    lags = np.linspace(0.0, 1.0, _N_INWARD + 1)
    found = np.array([np.interp(far, lags, column) for column in largest.T])
    return np.where(np.isnan(found), np.inf, found)  # between infinities, of unknown noise


def _is_raw(function: TermExpansion) -> bool:
    """Return whether terms are the paper's, of which no data have chosen the weights."""
    return function.basis.spectrum == Spectrum.paper(function.basis.lam)
