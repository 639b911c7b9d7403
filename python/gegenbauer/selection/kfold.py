"""K-fold predictions for every penalty, by sums from which each fold is left out."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._memory import require_memory
from gegenbauer._messages import Message, Ways
from gegenbauer._renamed import FormerNames, refuse_old_names
from gegenbauer._validation import (
    as_alphas,
    as_matrix,
    as_weights,
    check_flag,
    check_threads,
    require_plain,
)
from gegenbauer.basis.levels import as_samples
from gegenbauer.basis.scaling import check_scaling
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.ridge._eigen import PrimalSpectrum
from gegenbauer.ridge.cost import moments_serve
from gegenbauer.ridge.expansions import predict
from gegenbauer.selection._features import (
    RESOLVED,
    check_tolerance,
    gram_matrix,
    rounding_error,
    stack_triangles,
    triangle_of_features,
)
from gegenbauer.selection._leave_one_out import weighted_means

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling

__all__ = ["KFoldPredictions", "kfold_predictions", "sums_of_others"]


def sums_of_others(
    parts: Sequence[Any], add: Callable[[Any, Any], Any] = operator.add
) -> list[Any]:
    """Return for each of two parts or more the sum of the others, without any subtraction."""
    before = [*itertools.accumulate(parts[:-1], add)]
    after = [*itertools.accumulate(parts[:0:-1], add)][::-1]
    inner = [add(one, other) for one, other in zip(before[:-1], after[1:], strict=True)]
    return [after[0], *inner, before[-1]]


@dataclass(frozen=True, eq=False)
class KFoldPredictions(FormerNames):
    """What each fold would get from a fit to all others, for every alpha. Equal to itself alone.

    Attributes
    ----------
    alphas : ndarray, shape (n_alphas,)
        Penalties.
    predictions : ndarray, shape (n_alphas, n_samples, n_outputs)
        NaN for samples of no fold.
    error : ndarray, shape (n_alphas,)
        Estimated size of rounding errors in the predictions, relative to the targets.

    See Also
    --------
    kfold_predictions : Folds left out, exactly.

    Examples
    --------
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.selection import kfold_predictions
    >>> constant = TensorBasis(1, degree=0)
    >>> found = kfold_predictions(constant, [[0.0], [0.5], [1.0]], [1, 3, 8], [[0], [1, 2]], [1.0])
    >>> found.predictions[0, :, 0].round(6).tolist()  # 11 / (2 + 1), and 1 / (1 + 1)
    [3.666667, 0.5, 0.5]
    """

    alphas: Doubles
    predictions: Doubles
    error: Doubles


@refuse_old_names
def kfold_predictions(
    basis: TensorBasis,
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    folds: Sequence[npt.ArrayLike],
    alphas: npt.ArrayLike,
    *,
    sample_weight: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    tolerance: float = RESOLVED,
    n_threads: int | None = None,
) -> KFoldPredictions:
    """Predict each fold by the fit to all others, for every alpha, in one pass over the samples.

    Normal equations add: those without a fold are the sums of the others. So K-fold costs
    as many sums as one fit, and one eigendecomposition of size n_terms a fold. Where sums do not
    resolve the penalties, triangles of the features take their place.

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    X : array_like, shape (n_samples, n_features)
        Inputs.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    folds : sequence of array_like of int
        Indices of the samples of each fold, at least two, each sample at most once; samples of no
        fold take part in every fit.
    alphas : array_like, shape (n_alphas,)
        Penalties, > 0.
    sample_weight, scaling, penalize_constant, tolerance, n_threads
        As for `RidgePath`.

    Returns
    -------
    KFoldPredictions

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.
    TooLargeError
        When the matrices cannot fit into memory.

    See Also
    --------
    leave_one_out : Each sample left out, for a kernel.
    RidgePath : One factorisation for every penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.selection import kfold_predictions
    >>> x = np.linspace(0, 1, 30)[:, np.newaxis]
    >>> folds = np.arange(30).reshape(3, 10, order="F")
    >>> basis = TensorBasis(1, degree=5, lam=0.5)
    >>> found = kfold_predictions(basis, x, x**2, folds, [1e-9, 1.0])
    >>> np.abs(found.predictions - x**2).max(axis=(1, 2)) < [1e-6, 0.2]
    array([ True,  True])
    """
    if not isinstance(basis, TensorBasis):
        raise TypeError(Message("`basis` must be a TensorBasis, got {}", type(basis).__name__))
    free = not check_flag(penalize_constant, "penalize_constant")
    threads = check_threads(n_threads)
    data = as_samples(X, "X", basis)
    n, terms = data.shape[0], basis.n_terms
    targets = as_matrix(Y, "Y", n_rows=n, keep_float32=False, one_dimensional=True)
    weights = as_weights(sample_weight, n)
    values = as_alphas(alphas)
    if values.min() <= 0:
        raise ValueError(Message("`alphas` must be positive, got {}", values.min()))
    parts = _check_folds(folds, n)
    tolerance = check_tolerance(tolerance)
    n_outputs = targets.shape[1]
    require_memory(
        8.0 * (2.0 + 3.0 * len(parts)) * (terms + n_outputs) ** 2
        + 8.0 * values.size * targets.size
        + 24.0 * terms * terms,
        f"the normal equations of {terms} terms and {len(parts)} folds",
        Ways("use fewer", "terms", "`folds`", "`alphas`"),
    )
    box = check_scaling(scaling, basis.n_features, "basis")
    root = np.ones(n) if weights is None else np.sqrt(weights)
    for rows in parts:
        if not np.delete(root, rows).any():
            raise ValueError("every fold must leave samples of positive weight to fit")
    # sums of what the targets leave of their mean, which would take their digits along
    means = weighted_means(targets, root)
    scaled = root[:, np.newaxis] * (targets - means)
    others = np.setdiff1d(np.arange(n), np.concatenate(parts))
    groups = [*parts, others] if others.size else parts

    def by_sums(rows: npt.NDArray[np.intp]) -> Doubles:
        some = (data[rows], box, scaled[rows], root[rows])
        return gram_matrix(basis._plan, some, by_moments, threads)

    def by_triangles(rows: npt.NDArray[np.intp]) -> Doubles:
        return triangle_of_features(basis, data[rows], scaled[rows], root[rows], scaling, threads)

    def spectra(*, triangle: bool) -> tuple[list[PrimalSpectrum], Doubles]:
        """Return those without each fold, and the rounding errors of each alpha."""
        sums = [(by_triangles if triangle else by_sums)(rows) for rows in groups]
        add = (lambda one, other: stack_triangles([one, other])) if triangle else operator.add
        found = [
            PrimalSpectrum(own, terms, free=free, means=means, triangle=triangle)
            for own in sums_of_others(sums, add)[: len(parts)]
        ]
        errors = [rounding_error(one, values, n, triangle=triangle) for one in found]
        return found, np.asarray(np.max(errors, axis=0))

    by_moments = moments_serve(
        basis, n_outputs, n_samples=n // len(parts), weight=float(root @ root),
        penalty=float(values.min()),
    )  # fmt: skip
    found, error = spectra(triangle=False)
    if error.max() > tolerance:
        found, error = spectra(triangle=True)
    predictions = np.full((values.size, n, n_outputs), np.nan)
    for rows, spectrum in zip(parts, found, strict=True):
        outputs = predict(
            basis, data[rows], spectrum.weights(values), scaling=scaling, n_threads=threads
        )
        predictions[:, rows] = outputs.reshape(-1, values.size, n_outputs).transpose(1, 0, 2)
    return KFoldPredictions(values, predictions, error)


def _check_folds(folds: Any, n: int) -> list[npt.NDArray[np.intp]]:
    if not isinstance(folds, (Sequence, np.ndarray)) or isinstance(folds, (str, bytes)):
        raise TypeError(
            Message(
                "`folds` must be at least two sequences of sample indices, such as "
                "[[0, 2], [1, 3]]; got {!r}",
                folds,
            )
        )
    for rows in folds:
        require_plain(rows, "folds", wanted="sequences of sample indices")
    parts = [np.asarray(rows) for rows in folds]
    if len(parts) < 2:
        raise ValueError(
            Message("`folds` must be at least two sequences of sample indices, got {}", len(parts))
        )
    for rows in parts:
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.size == 0:
            raise ValueError(
                Message(
                    "each of `folds` must be sample indices, a sequence that is not empty; got an "
                    "array of shape {} and dtype {}",
                    rows.shape,
                    rows.dtype,
                )
            )
        if rows.min() < 0 or rows.max() >= n:
            raise ValueError(Message("sample indices in `folds` must lie between 0 and {}", n - 1))
    if np.unique(np.concatenate(parts)).size < sum(rows.size for rows in parts):
        raise ValueError(
            Message("`folds` must not share samples: each sample is left out once at most")
        )
    return [rows.astype(np.intp) for rows in parts]
