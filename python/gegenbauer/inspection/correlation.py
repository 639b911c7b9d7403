"""The largest correlation between inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["FEWEST_LOOKED_AT", "MOST_LOOKED_AT", "largest_correlation"]

# Samples that are looked at first, evenly spread, and how many it takes
MOST_LOOKED_AT, FEWEST_LOOKED_AT = 2000, 20

# Inputs of which all pairs are looked at for correlation
_MOST_CORRELATED = 2000

# Samples for each level that counts by itself: with fewer, chance alone makes codes correlated
_SAMPLES_A_LEVEL = 20


def largest_correlation(X: NDArray[Any], categories: Sequence[int] = ()) -> tuple[float, int, int]:
    """Return the correlation of largest absolute value between two inputs, and which these are.

    That of a category is the largest of any numbers in the place of its levels, the canonical
    correlation of their indicators. Of many samples, some are looked at; beyond some thousand
    inputs nothing is, and the answer 0. A missing value is no reason for a correlation.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
        Numbers, and codes of levels.
    categories : sequence of int
        The columns of codes.

    Returns
    -------
    correlation : float
    i, j : int
        The inputs, i < j.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.inspection.correlation import largest_correlation
    >>> level = np.arange(60) % 3
    >>> X = np.column_stack([np.array([5.0, -1.0, 2.0])[level], level])
    >>> r, i, j = largest_correlation(X, [1])
    >>> round(r, 6), i, j
    (1.0, 0, 1)
    """
    m = X.shape[1]
    if m < 2 or m > _MOST_CORRELATED or len(X) < 3:
        return 0.0, 0, 0
    some = X[:: -(-len(X) // MOST_LOOKED_AT)]
    values = some.astype(np.float64)
    missing = np.isnan(values)
    gaps = bool(missing.any())
    if gaps:
        values[missing] = 0.0
    values /= np.maximum(np.abs(values).max(axis=0), np.finfo(np.float64).tiny)
    given = np.maximum((~missing).sum(axis=0), 1) if gaps else len(values)
    values -= values.sum(axis=0) / given
    if gaps:
        values[missing] = 0.0
    lengths = np.sqrt((values**2).sum(axis=0))
    moving = lengths > np.finfo(X.dtype).eps * np.sqrt(len(values))
    values /= np.where(moving, lengths, 1.0)
    values[:, ~moving] = 0.0
    codes = {t: _indicators(some[:, t]) for t in categories}
    if codes:
        values[:, [*codes]] = 0.0
    found = values.T @ values
    for t, own in codes.items():
        found[t] = found[:, t] = np.sqrt(((own.T @ values) ** 2).sum(axis=0))
    for t, own in codes.items():
        for s, other in codes.items():
            if s < t:  # without the constant, which both have
                joint = own.T @ other - np.outer(own.sum(axis=0), other.sum(axis=0)) / len(own)
                found[s, t] = found[t, s] = np.linalg.norm(joint, 2)
    found.flat[:: m + 1] = 0.0
    i, j = sorted(divmod(int(np.abs(found).argmax()), m))
    return min(max(float(found[i, j]), -1.0), 1.0), i, j


def _indicators(codes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the indicators of frequent levels and of all others, each of length one."""
    levels, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
    most = len(codes) // _SAMPLES_A_LEVEL
    frequent = levels[np.argsort(-counts, kind="stable")[:most]]
    table = (codes[:, np.newaxis] == frequent).astype(np.float64)
    table = np.column_stack([table, 1.0 - table.sum(axis=1)])
    return np.asarray(table / np.sqrt(table.sum(axis=0).clip(min=1.0)))
