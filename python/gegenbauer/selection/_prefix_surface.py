"""Leave-one-out losses for every number of terms and every penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer._messages import Message
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
from gegenbauer.selection._features import (
    BLOCK_SIZE,
    EPS,
    gram_matrix,
    stack_triangles,
    triangle_of_features,
)
from gegenbauer.selection._leave_one_out import check_loss, check_share, weighted_means

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling

__all__ = ["PrefixSurface", "prefix_surface"]

# Squared terms times samples, or terms, up to which each alpha has a factor by reflections
_SMALL_SURFACE = 1e7

# Estimated rounding of predictions, relative to the targets, beyond which they mean nothing
_UNTRUSTED = 1e-3


@dataclass(frozen=True, eq=False)
class PrefixSurface(FormerNames):
    """Scores of the first 1, 2, ... terms of a basis, for every alpha.

    Attributes
    ----------
    alphas : ndarray, shape (n_alphas,)
        Penalties.
    n_terms : ndarray of int, shape (n_sizes,)
        Numbers of terms, ascending.
    losses : ndarray, shape (n_alphas, n_sizes)
        ``losses[g, l]`` is that of the fit of the first ``n_terms[l]`` terms; infinite where alpha
        is too small for float64.
    error : ndarray, shape (n_alphas,)
        Estimated size of rounding errors in the predictions behind the losses, relative to the
        targets; 1 where alpha is too small.

    See Also
    --------
    prefix_surface : Every number of terms with every penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.selection import prefix_surface
    >>> x = np.linspace(0, 1, 20)[:, np.newaxis]
    >>> surface = prefix_surface(TensorBasis(1, degree=4), x, x[:, 0] ** 2, [1e-9, 1.0])
    >>> surface.n_terms.tolist(), surface.losses.shape, surface.best
    ([1, 2, 3, 4, 5], (2, 5), (1e-09, 3))
    """

    alphas: Doubles
    n_terms: npt.NDArray[np.intp]
    losses: Doubles
    error: Doubles

    @property
    def best(self) -> tuple[float, int]:
        """The alpha and number of terms of the smallest loss: the fewest terms among equals."""
        trusted = np.where(self.error[:, np.newaxis] < _UNTRUSTED, self.losses, np.inf)
        size, g = np.unravel_index(int(trusted.T.argmin()), trusted.T.shape)
        return float(self.alphas[g]), int(self.n_terms[size])


@refuse_old_names
def prefix_surface(
    basis: TensorBasis,
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    alphas: npt.ArrayLike,
    *,
    n_terms: npt.ArrayLike | None = None,
    loss: Callable[[Doubles], Doubles] | None = None,
    X_test: npt.ArrayLike | None = None,
    Y_test: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    left_out_share: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    n_threads: int | None = None,
) -> PrefixSurface:
    r"""Judge every number of terms and every alpha, by leave-one-out or at test samples.

    The Cholesky factor of a leading block is the leading block of the factor: with
    ``alpha I + G'G = L L'``, ``Q = G L^-T`` and ``z = L^-1 G'Y``, the prediction of the first terms
    is the running sum of the columns of Q times z, and the leverage that of their squares. So one
    factorisation for each alpha answers for every number of terms. Where the basis is small, or
    products of features resolve none of the penalties, L is found from the features themselves
    (by Householder reflections).

    Parameters
    ----------
    basis : TensorBasis
        The terms, whose order decides what the first ones are.
    X : array_like, shape (n_samples, n_features)
        Inputs.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    alphas : array_like, shape (n_alphas,)
        Penalties, > 0.
    n_terms : array_like of int, optional
        The numbers of terms to judge; by default 1, 2, ... to all of the basis. What costs is the
        factorisation of the largest, and the losses.
    loss : callable, optional
        Takes predictions (n, n_rows, n_outputs) of n numbers of terms and returns n losses; by
        default the mean squared error (with weights for leave-one-out).
    X_test, Y_test : array_like, optional
        Samples to judge; by default those of X, each by the fit without it. With `loss`, Y_test is
        not needed.
    sample_weight, scaling, penalize_constant, n_threads
        As for `RidgePath`, with positive weights.
    left_out_share : array_like, shape (n_samples,), optional
        As for `RidgePath.leave_one_out`; without X_test.

    Returns
    -------
    PrefixSurface

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.
    TooLargeError
        When the matrices cannot fit into memory.

    See Also
    --------
    search_basis : The best of the paper's bases.
    SensitivityDisplay : The error for each penalty and number of terms.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.selection import prefix_surface
    >>> X = np.random.default_rng(0).uniform(size=(60, 2))
    >>> basis = TensorBasis(2, degree=6, lam=0.5)
    >>> surface = prefix_surface(basis, X, X[:, 0] * X[:, 1], 10.0 ** np.arange(-9, 1))
    >>> surface.losses.shape, surface.best
    ((10, 28), (1e-09, 5))
    """
    if not isinstance(basis, TensorBasis):
        raise TypeError(Message("`basis` must be a TensorBasis, got {}", type(basis).__name__))
    free = not check_flag(penalize_constant, "penalize_constant")
    threads = check_threads(n_threads)
    data = as_samples(X, "X", basis)
    n = data.shape[0]
    targets = as_matrix(Y, "Y", n_rows=n, keep_float32=False, one_dimensional=True)
    weights = as_weights(sample_weight, n)
    if weights is not None and not weights.all():
        raise ValueError("sample_weight must be positive: leave samples of weight zero out")
    share = check_share(left_out_share, n)
    values = as_alphas(alphas)
    if values.min() <= 0:
        raise ValueError(Message("`alphas` must be positive, got {}", values.min()))
    sizes = _check_sizes(n_terms, basis.n_terms)
    check_scaling(scaling, basis.n_features, "basis")
    root = np.ones(n) if weights is None else np.sqrt(weights)
    left_out = X_test is None
    rows, aims, shares = data, targets, weights
    if not left_out:
        rows = as_samples(X_test, "X_test", basis)
        shares = None
        if loss is None:
            aims = as_matrix(
                Y_test, "Y_test", n_rows=rows.shape[0], n_columns=targets.shape[1],
                keep_float32=False, one_dimensional=True,
            )  # fmt: skip
    terms, n_outputs = basis.n_terms, targets.shape[1]
    # sums, triangle and factor; features, before the solve and after, and packed by it
    require_memory(
        8.0 * (5 * (terms + n_outputs) ** 2 + 3 * terms * rows.shape[0]),
        f"the factor of {terms} terms and {rows.shape[0]} rows of features",
        "use fewer terms or samples",
    )
    if loss is None:

        def squared_error(predictions: Doubles) -> Doubles:
            squares = ((predictions - aims) ** 2).mean(axis=2)
            return np.asarray(np.average(squares, axis=1, weights=shares))

        loss = squared_error
    check_loss(loss)

    means = weighted_means(targets, root) if free else np.zeros(n_outputs)
    scaled = root[:, np.newaxis] * (targets - means)
    factors = _Factors(basis, data, scaled, root, values, box=scaling, free=free, n_threads=threads)
    features = basis.evaluate(rows, scaling=scaling, n_threads=threads).T
    if left_out:
        features = features * root
    Q = np.empty(features.shape, order="F")  # once, not for each alpha
    losses, error = np.full((values.size, sizes.size), np.inf), factors.error.copy()
    for g, alpha in enumerate(values):
        if error[g] == 1.0:
            continue
        try:
            L, z = factors.of(alpha)
        except np.linalg.LinAlgError:
            error[g] = 1.0
            continue
        Q[...] = features
        core.solve_lower(L, Q, threads)
        losses[g] = _running_losses(
            Q, z, sizes, scaled if left_out else None, share, root,
            lambda found: loss(found + means),
        )  # fmt: skip
    return PrefixSurface(values, sizes, losses, error)


class _Factors:
    """``alpha I + G'G = L L'`` and ``L^-1 G'Y``, for one alpha after another.

    From products of features, or from the features themselves where the basis is small or the
    products resolve none of the penalties: of these, singular values are resolved, not their
    squares.

    Parameters
    ----------
    basis, X, scaled, root, box, free, n_threads
        The terms; the samples, their targets and the square roots of their weights, by which the
        targets are multiplied; the scaling, whether the constant is free, and threads.
    alphas : ndarray, shape (n_alphas,)
        The penalties that will be requested.

    Attributes
    ----------
    error : ndarray, shape (n_alphas,)
        See `PrefixSurface`.
    """

    def __init__(
        self,
        basis: TensorBasis,
        X: npt.NDArray[Any],
        scaled: Doubles,
        root: Doubles,
        alphas: Doubles,
        *,
        box: InputScaling | None,
        free: bool,
        n_threads: int,
    ) -> None:
        n, terms = X.shape[0], basis.n_terms
        mapped = check_scaling(box, basis.n_features, "basis")
        gram = gram_matrix(basis._plan, (X, mapped, scaled, root), False, n_threads)
        self._cross = np.asfortranarray(gram[terms:, :terms].T)
        self._square = np.asfortranarray(gram[:terms, :terms])
        self._penalized = np.arange(int(free), terms)
        self._n_threads = n_threads
        self._triangle = None
        condition = 1.0 + float(np.trace(self._square)) / alphas
        unresolved = 4.0 * EPS * float(condition.min()) > _UNTRUSTED
        if unresolved or float(terms) ** 2 * max(n, terms) <= _SMALL_SURFACE:
            self._triangle = triangle_of_features(basis, X, scaled, root, box, n_threads)
            condition = np.sqrt(n * condition)
        self.error = np.minimum(4.0 * EPS * condition, 1.0)

    def of(self, alpha: float) -> tuple[Doubles, Doubles]:
        """Return L and ``L^-1 G'Y``; a LinAlgError where rounding leaves no L."""
        at = self._penalized
        if self._triangle is not None:
            terms, n_outputs = self._cross.shape
            penalty = np.zeros((terms, terms + n_outputs))
            penalty[at, at] = np.sqrt(alpha)
            whole = stack_triangles([self._triangle, penalty])
            L, z = whole[:terms, :terms].T, whole[:terms, terms:]
            return np.asfortranarray(L), np.asfortranarray(z)
        L, z = self._square.copy(order="F"), self._cross.copy(order="F")
        L[at, at] += alpha
        core.cholesky_in_place(L, self._n_threads)
        core.solve_lower(L, z, self._n_threads)
        return L, z


def _check_sizes(n_terms: npt.ArrayLike | None, most: int) -> npt.NDArray[np.intp]:
    """Return numbers of terms, ascending."""
    if n_terms is None:
        return np.arange(1, most + 1)
    require_plain(n_terms, "n_terms", wanted="whole numbers")
    values = np.atleast_1d(np.asarray(n_terms))
    if values.ndim != 1 or values.size == 0 or values.dtype.kind not in "iu":
        raise TypeError(Message("`n_terms` must be a sequence of whole numbers, got {!r}", n_terms))
    if values.min() < 1 or values.max() > most:
        raise ValueError(
            Message(
                "`n_terms` must lie between 1 and {}, the number of terms of the basis; got "
                "{} to {}",
                most,
                values.min(),
                values.max(),
            )
        )
    return np.unique(values).astype(np.intp)


def _running_losses(
    Q: Doubles,
    z: Doubles,
    sizes: npt.NDArray[np.intp],
    scaled: Doubles | None,
    share: Doubles | None,
    root: Doubles,
    loss: Callable[[Doubles], Doubles],
) -> Doubles:
    """Judge the running sums of Q[l] z[l] by blocks of terms; left out if `scaled` is given."""
    terms, n = int(sizes[-1]), Q.shape[1]
    n_outputs = z.shape[1]
    fitted, leverage = np.zeros((n, n_outputs)), np.zeros(n)
    found = np.empty(sizes.size)
    # running sums, with what they are made of and what is made of them
    block = max(1, int(BLOCK_SIZE / 8 / (n * n_outputs)))
    for first in range(0, terms, block):
        some = slice(first, min(first + block, terms))
        wanted = (sizes > some.start) & (sizes <= some.stop)
        at = sizes[wanted] - 1 - first
        part = Q[some, :, np.newaxis] * z[some, np.newaxis, :]
        part[0] += fitted
        predictions = np.cumsum(part, axis=0)
        fitted = predictions[-1]
        predictions = predictions[at]
        if scaled is not None:
            h = Q[some] ** 2
            h[0] += leverage
            h = np.cumsum(h, axis=0)
            leverage = h[-1]
            h = h[at] if share is None else share * h[at]
            left = np.maximum(1.0 - h, EPS)[:, :, np.newaxis]
            predictions = (scaled - (scaled - predictions) / left) / root[:, np.newaxis]
        if at.size:
            found[wanted] = loss(predictions)
    return found
