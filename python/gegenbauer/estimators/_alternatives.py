"""Choice between models by the samples that each leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles

__all__ = ["FEWEST_TO_JUDGE", "MOST_TO_JUDGE", "Comparison", "compare", "count_effective"]

# With fewer samples a choice between models is noise; of more, these are enough for one
FEWEST_TO_JUDGE, MOST_TO_JUDGE = 1000, 5000

# Standard errors by which another model has to be better
_CLEARLY = 2.0

# Share of the samples, on either side, whose gains count as the largest of the others
_TAIL = 0.005


class Comparison(NamedTuple):
    """How much another model is better than the one so far, by samples left out.

    Attributes
    ----------
    gain : float
        Mean of how much smaller its loss is.
    usual_gain : float
        The same, where the largest and the smallest half per cent of the gains count as the
        quantiles there.
    standard_error : float
        Of the usual gain.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.estimators._alternatives import compare
    >>> found = compare(np.ones(100), np.linspace(0.4, 0.6, 100), None)
    >>> round(found.gain, 3), found.is_clear
    (0.5, True)
    """

    gain: float
    usual_gain: float
    standard_error: float

    @property
    def is_clear(self) -> bool:
        """Whether the other model is better, and usually so beyond two standard errors."""
        return self.gain > 0 and self.usual_gain > _CLEARLY * self.standard_error


def compare(losses: Doubles, others: Doubles, weight: Doubles | None) -> Comparison:
    """Compare another model with the one so far, sample by sample.

    Gains have long tails: of squared errors and of logarithms a handful of samples may be more than
    all others together, and their mean alone would be noise.

    Parameters
    ----------
    losses, others : ndarray, shape (n_samples,)
        Of both models for the same samples, each left out; NaN for those that never were, which at
        least two were.
    weight : ndarray, shape (n_samples,), optional
        How many samples each counts as; equal ones are one to the standard error.

    Returns
    -------
    Comparison
    """
    gains = losses - others
    known = np.isfinite(gains)
    share = np.ones(gains.size) if weight is None else weight
    gains, share = gains[known], share[known] / share[known].sum()
    order = np.argsort(gains)
    ends = np.searchsorted(np.cumsum(share[order]), [_TAIL, 1.0 - _TAIL])
    usual = gains.clip(*gains[order][ends.clip(max=gains.size - 1)])
    mean = float(share @ usual)
    squared = share**2
    error = float(np.sqrt(squared @ (usual - mean) ** 2 / (1.0 - squared.sum())))
    return Comparison(float(share @ gains), mean, error)


def count_effective(losses: Doubles, weight: Doubles | None) -> float:
    """Return how many samples of equal weight would show as much of a mean loss, NaN aside."""
    known = np.isfinite(losses)
    share = np.ones(losses.size) if weight is None else weight
    share = share[known] / share[known].sum()
    return float(1.0 / (share @ share))
