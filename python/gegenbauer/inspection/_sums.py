"""Marginals of the samples of a stream, of which nothing is left but sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.basis.univariate import gegenbauer_vander
from gegenbauer.inspection._term_sum import functions_of
from gegenbauer.inspection.marginals import Marginal, of_levels

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles
    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = ["marginals_of_sums"]

# Share of a polynomial that others leave, below which samples have too few values for it
_RESOLUTION = 1e-10


def marginals_of_sums(basis: TensorBasis, gram: Doubles) -> tuple[Marginal, ...]:
    """Return the marginals of samples by the Gram matrix of their features.

    The terms of one input alone have sums of products of its polynomials, which are the moments of
    the samples. Their Cholesky factor turns the three-term recurrence of the polynomials into that
    of the polynomials that are orthonormal over the samples, and so into a Gauss rule (as
    `gauss_rule` does of samples).

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    gram : ndarray, shape (n_terms, n_terms)
        G'DG of the samples; its lower triangle counts.

    Returns
    -------
    tuple of Marginal
        Means of products of two functions of an input are those over the samples.
    """
    indices, found = basis.indices, []
    alone = np.flatnonzero((indices > 0).sum(axis=1) <= 1)
    levels = basis.spectrum.levels or (None,) * basis.n_features
    for t, level in enumerate(levels):
        if level is not None and level.category:
            found.append(of_levels(level.shares))
            continue
        others = np.delete(indices[alone], t, axis=1).any(axis=1)
        rows = alone[~others]
        rows = rows[np.argsort(indices[rows, t])]
        block = gram[np.ix_(rows, rows)] / gram[rows[0], rows[0]]
        block = np.tril(block) + np.tril(block, -1).T if rows[0] == 0 else block
        found.append(_of_input(basis, t, block, 0 if level is None else level.n_contrasts))
    return tuple(found)


def _of_input(basis: TensorBasis, t: int, block: Doubles, n_contrasts: int) -> Marginal:
    """Return the marginal of an input by the means of products of its functions."""
    ends = functions_of(
        basis.spectrum,
        basis.lam,
        basis.indices,
        t,
        np.array([1.0, np.nan] if n_contrasts else [1.0]),
    )
    given = 1.0
    if n_contrasts and len(block) > 1:
        at_given, at_missing = ends[:, 1]
        given = float((block[0, 1] - at_missing) / (at_given - at_missing))
    kept = np.r_[0, np.arange(1 + n_contrasts, len(block))]
    block = block[np.ix_(kept, kept)].copy()
    block[0, 0] = given
    degree = len(block) - 1
    if degree == 0 or given <= 0:
        return Marginal(np.zeros(1), np.ones(1))
    orthonormal = gegenbauer_vander(np.ones(1), degree, basis.lam, normalization="orthonormal")[0]
    unit = orthonormal / ends[0, kept]
    moments = block * np.multiply.outer(unit, unit) / given
    nodes, weights = _gauss_rule(moments, basis.lam)
    if given >= 1:
        return Marginal(nodes, weights)
    return Marginal(np.append(nodes, np.nan), np.append(given * weights, 1.0 - given))


def _gauss_rule(moments: Doubles, lam: float) -> tuple[Doubles, Doubles]:
    """Return the Gauss rule of a distribution with given means of products of polynomials.

    These are orthonormal for the weight of lam. The rule has one node more than the moments
    determine, unless samples have no more values; what they leave open is the last diagonal entry
    of the Jacobi matrix.
    """
    n = len(moments)
    factor = np.zeros((n, n))
    rank = 0
    for j in range(n):  # Cholesky without pivots, which ends where samples have no more values
        rest = moments[j, j] - factor[j, :j] @ factor[j, :j]
        if rest <= _RESOLUTION * moments[j, j]:
            break
        factor[j, j] = np.sqrt(rest)
        factor[j + 1 :, j] = (moments[j + 1 :, j] - factor[j + 1 :, :j] @ factor[j, :j]) / factor[
            j, j
        ]
        rank = j + 1
    k = np.arange(1.0, n)
    with np.errstate(invalid="ignore"):
        beside = np.sqrt(k * (k + 2.0 * lam - 1.0) / (4.0 * (k + lam) * (k + lam - 1.0)))
    beside[0] = np.sqrt(0.5 / (1.0 + lam))
    # x p_j, in the polynomials of lam, for all p_j whose product with x these can be
    n_known = min(rank, n - 1)
    inverse: Doubles = np.asarray(np.linalg.inv(factor[:rank, :rank]), dtype=np.float64)
    diagonal, off = np.zeros(rank), np.zeros(rank)
    for j in range(n_known):
        in_own = _times_x(inverse[j, : j + 1], beside) @ factor[: j + 2, :rank]
        diagonal[j], off[j] = in_own[j], in_own[j + 1] if j + 1 < rank else 0.0
    if n_known < rank:
        diagonal[n_known] = diagonal[:n_known].mean()
    off = off[: rank - 1]
    values, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1))
    weights = vectors[0] ** 2
    return values, weights / weights.sum()


def _times_x(coefficients: Doubles, beside: Doubles) -> Doubles:
    """Multiply a sum of orthonormal polynomials by x."""
    n = len(coefficients)
    found = np.zeros(n + 1)
    found[1:] += beside[:n] * coefficients
    found[: n - 1] += beside[: n - 1] * coefficients[1:]
    return found
