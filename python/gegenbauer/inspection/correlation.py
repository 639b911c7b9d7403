"""The largest correlation between inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FEWEST_LOOKED_AT", "MOST_LOOKED_AT", "largest_correlation"]

# Samples that are looked at first, evenly spread, and how many it takes
MOST_LOOKED_AT, FEWEST_LOOKED_AT = 2000, 20

# Inputs of which all pairs are looked at for correlation
_MOST_CORRELATED = 2000


def largest_correlation(X: NDArray[Any]) -> tuple[float, int, int]:
    """Return the correlation of largest absolute value between two inputs, and which these are.

    Of many samples, some are looked at; beyond some thousand inputs nothing is, and the answer 0.
    """
    m = X.shape[1]
    if m < 2 or m > _MOST_CORRELATED or len(X) < 3:
        return 0.0, 0, 0
    values = X[:: -(-len(X) // MOST_LOOKED_AT)].astype(np.float64)
    values /= np.maximum(np.abs(values).max(axis=0), np.finfo(np.float64).tiny)
    values -= values.mean(axis=0)
    lengths = np.sqrt((values**2).sum(axis=0))
    moving = lengths > np.finfo(X.dtype).eps * np.sqrt(len(values))
    values[:, moving] /= lengths[moving]
    values[:, ~moving] = 0.0
    found = values.T @ values
    np.fill_diagonal(found, 0.0)
    i, j = sorted(divmod(int(np.abs(found).argmax()), m))
    return float(found[i, j].clip(-1.0, 1.0)), i, j
