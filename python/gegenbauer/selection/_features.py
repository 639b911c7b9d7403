"""Sums and triangles of features, a block of samples at a time."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._messages import Message, Ways
from gegenbauer._validation import CLIP, require_finite
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.ridge.expansions import predict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.ridge._eigen import PrimalSpectrum
    from gegenbauer.ridge.landmarks import Landmarks

__all__ = [
    "BLOCK_SIZE",
    "EPS",
    "RESOLVED",
    "blocks_of",
    "check_tolerance",
    "finite_sums",
    "gram_matrix",
    "rounding_error",
    "stack_triangles",
    "sum_of_features",
    "triangle_of_features",
]

# Estimated rounding of sums, relative to the targets, up to which they are good enough: estimates
# are a thousand times too large and more
RESOLVED = 1e-6

# Doubles of features that the primal method holds at once
BLOCK_SIZE = 4e6

EPS = float(np.finfo(np.float64).eps)


def check_tolerance(tolerance: object) -> float:
    if not isinstance(tolerance, Real) or not float(tolerance) >= 0:
        raise ValueError(
            Message("`tolerance` must be a number >= 0, or infinity, got {!r}", tolerance)
        )
    return float(tolerance)


def blocks_of(n: int, width: int) -> Iterator[slice]:
    """Cut n samples into blocks of at most `BLOCK_SIZE` doubles, of so many a sample."""
    block = max(1, int(BLOCK_SIZE / width))
    for first in range(0, n, block):
        yield slice(first, min(first + block, n))


def gram_matrix(
    plan: Any, rows: tuple[Any, Any, Doubles, Doubles], by_moments: bool, n_threads: int
) -> Doubles:
    """Sum the normal equations of (X, box, scaled targets, scale): lower triangle, no Y'Y."""
    n_outputs = rows[2].shape[1]
    gram = np.zeros((plan.n_terms + n_outputs, plan.n_terms), order="F")
    if by_moments:
        statistic = np.zeros(core.count_moments(plan, n_outputs, False))
        core.accumulate_moments(plan, *rows, statistic, n_threads, False)
        core.assemble_moments(plan, statistic, gram, n_threads)
    else:
        core.accumulate_gram(plan, *rows, gram, n_threads)
    return finite_sums(gram)


def finite_sums(sums: Doubles) -> Doubles:
    """Return sums that are finite; refuse others."""
    require_finite(
        sums,
        "the sums are",
        Ways("", CLIP, "Y or sample_weight is too large", last="; or "),
        name_row=False,
    )
    return sums


def sum_of_features(
    basis: TensorBasis | Landmarks,
    X: npt.NDArray[Any],
    weights: Doubles,
    scaling: InputScaling | None,
    n_threads: int,
) -> Doubles:
    """Evaluate sums of all features with weights (n_terms, n_functions)."""
    if isinstance(basis, TensorBasis):
        return predict(basis, X, weights, scaling=scaling, n_threads=n_threads)
    found = np.empty((X.shape[0], weights.shape[1]))
    for rows in blocks_of(X.shape[0], basis.n_terms):
        found[rows] = basis.evaluate(X[rows], scaling=scaling, n_threads=n_threads) @ weights
    return found


def triangle_of_features(
    basis: TensorBasis | Landmarks,
    X: npt.NDArray[Any],
    scaled_Y: Doubles,
    scale: Doubles,
    scaling: InputScaling | None,
    n_threads: int,
) -> Doubles:
    """Return R, upper triangular, with R'R = [G, Y]'[G, Y] of samples scaled, block by block.

    By Householder reflections of the features themselves: it has the digits that their products
    lose, at twice the cost: 2 n (L + K)^2 multiply-adds.
    """
    size = basis.n_terms + scaled_Y.shape[1]
    block = max(size, int(BLOCK_SIZE / size))
    R = np.zeros((0, size))
    for first in range(0, X.shape[0], block):
        rows = slice(first, first + block)
        G = basis.evaluate(X[rows], scaling=scaling, n_threads=n_threads)
        G *= scale[rows, np.newaxis]
        R = stack_triangles([R, np.hstack([G, scaled_Y[rows]])])
    return R


def stack_triangles(parts: Sequence[Doubles]) -> Doubles:
    """Return the triangle of matrices that stand one above the other."""
    return np.asarray(np.linalg.qr(np.vstack(parts), mode="r"))


def rounding_error(
    spectrum: PrimalSpectrum, alphas: Doubles, n: int, *, triangle: bool = False
) -> Doubles:
    """Estimate rounding by products of features, or by their triangle, relative to the targets."""
    eigenvalues = spectrum.eigenvalues
    if eigenvalues.size == 0:
        return np.full(alphas.size, EPS)
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = np.nan_to_num(spectrum.size / (eigenvalues[-1] + alphas), nan=np.inf)
    if triangle:
        condition = np.sqrt(condition)
    return np.asarray(np.minimum(4.0 * EPS * np.sqrt(n) * (1.0 + condition), 1.0))
