"""Which basis of given polynomials: lam, number of terms and alpha, by held-out samples, on arrays.

For the basis of the paper, whose terms come in a graded order, so that the sets of the first terms
are nested. Every alpha for one set costs one decomposition (`RidgePath`), every set for one alpha
one Cholesky factorisation (`prefix_surface`); the search takes the cheaper way.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._renamed import FormerNames, refuse_old_names
from gegenbauer._validation import (
    as_matrix,
    as_weights,
    check_integer,
    check_number,
    check_sequence,
)
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.selection._leave_one_out import check_loss, check_share
from gegenbauer.selection._prefix_surface import prefix_surface
from gegenbauer.selection.candidates import (
    TRUSTED,
    Candidate,
    cut_off,
    no_finite_loss,
    widened,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["PAPER_ALPHAS", "BasisSearch", "search_basis"]

# The grid of the paper
PAPER_ALPHAS = tuple(2.0 ** np.arange(-30, 31))

# Steps by which the best alpha may run beyond the end of the grid
_MOST_WIDENING = 4


@dataclass(frozen=True, eq=False)
class BasisSearch(FormerNames):
    """The best of a grid of lam, numbers of terms and alphas, and all losses.

    Attributes
    ----------
    basis : TensorBasis
        The best.
    alpha : float
        The best.
    loss : float
        That of the best: the smaller the better.
    lams : ndarray, shape (n_lams,)
        Ascending.
    n_terms : ndarray of int, shape (n_sizes,)
        Ascending.
    alphas : ndarray, shape (n_alphas,)
        Ascending; wider than requested where the best was at an end.
    losses : ndarray, shape (n_lams, n_sizes, n_alphas)
        Infinite where rounding errors would count, NaN where nothing was tried.
    on_edge : tuple of str
        Which of "lams", "n_terms" and "alphas" have their best value at an end even so.

    See Also
    --------
    search_basis : The best of the paper's bases.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.selection import search_basis
    >>> x = np.linspace(0, 1, 20)[:, np.newaxis]
    >>> def squared_error(predictions, rows):
    ...     return ((predictions - x[rows] ** 2) ** 2).mean(axis=(1, 2))
    >>> found = search_basis(x, x**2, squared_error, n_terms=[1, 2, 3], alphas=[1e-6, 1.0])
    >>> found.basis.n_terms, bool(found.loss == found.losses.min())
    (3, True)
    >>> bool(found.alphas.min() < 1e-6), found.losses.shape == (1, 3, found.alphas.size)  # wider
    (True, True)
    """

    basis: TensorBasis
    alpha: float
    loss: float
    lams: Doubles
    n_terms: npt.NDArray[np.intp]
    alphas: Doubles
    losses: Doubles
    on_edge: tuple[str, ...]


@refuse_old_names
def search_basis(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    loss: Loss,
    *,
    lams: Sequence[float] = (0.05,),
    n_terms: Sequence[int] = (1000,),
    alphas: Sequence[float] = PAPER_ALPHAS,
    widen: bool = True,
    sample_weight: npt.ArrayLike | None = None,
    left_out_share: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    cv: Splits = None,
    pooled: bool = False,
    callback: Callable[[int], None] | None = None,
    n_threads: int | None = None,
) -> BasisSearch:
    """Find lam, the number of terms and alpha by a loss of predictions of samples left out.

    The bases are those of the paper: the first terms, in graded lexicographic order, of the raw
    polynomials. Samples are left out by exact leave-one-out, or by given splits.

    Parameters
    ----------
    X : array_like, shape (n_samples, n_features)
        Inputs.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    loss : callable
        Takes predictions (n, n_rows, n_outputs) of n models and the indices of their rows, and
        returns n losses; the smaller the better.
    lams : sequence of float
        The parameters to try, > -1/2.
    n_terms : sequence of int
        The numbers of terms to try.
    alphas : sequence of float
        The penalties to try, > 0; by default those of the paper, 2^-30 to 2^30.
    widen : bool
        Go on beyond the ends of the grid of alpha, by its last step and at most 4 times, for the
        best lam, while the best value is at an end.
    sample_weight : array_like, shape (n_samples,), optional
        Positive.
    left_out_share : array_like, shape (n_samples,), optional
        As for `RidgePath.leave_one_out`; without `cv`.
    scaling, penalize_constant, n_threads
        As for `RidgePath`.
    cv : sequence of (training samples, test samples), optional
        Leave these test samples out of these training samples, instead of leave-one-out.
    pooled : bool
        Judge the test samples of all splits together, instead of the mean over the splits.
    callback : callable, optional
        Called with the number of each step that is done.

    Returns
    -------
    BasisSearch
        Of equal losses, that of the fewest terms, then of the largest alpha.

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content, and when no loss is finite.
    TooLargeError
        When the matrices cannot fit into memory.

    See Also
    --------
    prefix_surface : Every number of terms with every penalty.
    SensitivityDisplay : The error for each penalty and number of terms.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.selection import search_basis
    >>> X = np.random.default_rng(0).uniform(size=(60, 2))
    >>> Y = (X[:, :1] + X[:, 1:]) ** 3
    >>> def squared_error(predictions, rows):
    ...     return ((predictions - Y[rows]) ** 2).mean(axis=(1, 2))
    >>> found = search_basis(X, Y, squared_error, lams=[0.5, 2], n_terms=range(1, 16))
    >>> found.basis.n_terms, found.losses.shape
    (10, (2, 15, 65))
    """
    check_loss(loss)
    data = as_matrix(X, "X")
    targets = as_matrix(Y, "Y", n_rows=data.shape[0], keep_float32=False, one_dimensional=True)
    weights = as_weights(sample_weight, data.shape[0])
    share = check_share(left_out_share, data.shape[0])
    lam_grid = np.unique(
        [
            check_number(v, "lams", minimum=-0.5, open_below=True)
            for v in check_sequence(lams, "lams", "numbers")
        ]
    )
    sizes = np.unique(
        [
            check_integer(v, "n_terms", minimum=1)
            for v in check_sequence(n_terms, "n_terms", "numbers of terms")
        ]
    )
    grid = np.unique(
        [
            check_number(v, "alphas", minimum=0, open_below=True)
            for v in check_sequence(alphas, "alphas", "numbers")
        ]
    )
    for name, values in (("lams", lam_grid), ("n_terms", sizes), ("alphas", grid)):
        if values.size == 0:
            raise ValueError(Message("`{}` must not be empty", name))
    problem = _BasisProblem(
        data, targets, weights, share, loss, sizes, cv, pooled, itertools.count(1), callback,
        {"scaling": scaling, "penalize_constant": penalize_constant, "n_threads": n_threads},
    )  # fmt: skip
    losses = np.stack([problem.losses(lam, grid) for lam in lam_grid.tolist()])
    for _ in range(_MOST_WIDENING if widen else 0):
        best, _, g = _best(losses)
        wider = widened(grid, g)
        if wider.size == grid.size:
            break
        more = np.full((*losses.shape[:2], wider.size), np.nan)
        old = np.isin(wider, grid)
        more[:, :, old] = losses
        more[best][:, ~old] = problem.losses(float(lam_grid[best]), wider[~old])
        grid, losses = wider, more
    i, size, g = _best(losses)
    ends = {"lams": (i, lam_grid.size), "n_terms": (size, sizes.size), "alphas": (g, grid.size)}
    return BasisSearch(
        TensorBasis(data.shape[1], n_terms=int(sizes[size]), lam=float(lam_grid[i])),
        float(grid[g]), float(losses[i, size, g]), lam_grid, sizes, grid, losses,
        tuple(name for name, (at, n) in ends.items() if n > 1 and at in (0, n - 1)),
    )  # fmt: skip


def _best(losses: Doubles) -> tuple[int, int, int]:
    """Return the place of the smallest loss: with equal ones, of fewest terms, largest alpha."""
    best = np.nanmin(losses)
    if not np.isfinite(best):
        raise no_finite_loss("candidate")
    places = [tuple(place) for place in np.argwhere(losses == best).tolist()]
    i, size, g = min(places, key=lambda place: (place[1], -place[2], place[0]))
    return i, size, g


@dataclass(frozen=True)
class _BasisProblem:
    """Samples, targets and what is searched for."""

    X: npt.NDArray[Any]
    Y: Doubles
    weights: Doubles | None
    share: Doubles | None
    loss: Loss
    sizes: npt.NDArray[np.intp]
    cv: Splits
    pooled: bool
    steps: itertools.count[int]
    callback: Callable[[int], None] | None
    options: dict[str, Any]

    def losses(self, lam: float, alphas: Doubles) -> Doubles:
        """Judge all numbers of terms, (n_sizes, n_alphas)."""
        # prefixes are scored as they are made, one split after the other
        together = self.pooled and self.cv is not None
        if not (together or self._path_is_cheaper(alphas.size)):
            found = self._by_prefixes(lam, alphas)
            if not cut_off(found[np.unravel_index(np.argmin(found), found.shape)[0]], alphas):
                return found
        return self._by_path(lam, alphas)

    def _path_is_cheaper(self, n_alphas: int) -> bool:
        """Compare rough counts of multiply-adds of the two ways."""
        n, sizes = float(self.X.shape[0]), self.sizes.astype(np.float64)
        small, large, most = np.minimum(sizes, n), np.maximum(sizes, n), sizes[-1]
        path = 2 * large * small**2 + 10 * small**3 + n_alphas * n * small * self.Y.shape[1]
        return bool(path.sum() <= n_alphas * (most**3 / 6 + n * most**2 / 2))

    def _by_path(self, lam: float, alphas: Doubles) -> Doubles:
        found = np.empty((self.sizes.size, alphas.size))
        for place, size in enumerate(self.sizes.tolist()):
            candidate = Candidate(
                self._basis(size, lam), self.X, self.Y, self.weights, self.cv,
                left_out_share=self.share, pooled=self.pooled, **self.options,
            )  # fmt: skip
            found[place] = candidate.losses(alphas, self.loss)
            self._report()
        return found

    def _by_prefixes(self, lam: float, alphas: Doubles) -> Doubles:
        everything = np.arange(self.X.shape[0])
        basis = self._basis(int(self.sizes[-1]), lam)
        total = np.zeros((self.sizes.size, alphas.size))
        parts = [(everything, None)] if self.cv is None else [*self.cv]
        for train, test in parts:
            rows = everything if test is None else test
            surface = prefix_surface(
                basis, self.X[train], self.Y[train], alphas,
                n_terms=self.sizes,
                loss=partial(self._loss_of, rows),
                X_test=None if test is None else self.X[test],
                sample_weight=None if self.weights is None else self.weights[train],
                left_out_share=self.share if test is None else None,
                **self.options,
            )  # fmt: skip
            untrusted = (surface.error > TRUSTED)[:, np.newaxis] | np.isnan(surface.losses)
            total += np.where(untrusted, np.inf, surface.losses).T / len(parts)
            self._report()
        return total

    def _loss_of(self, rows: npt.NDArray[np.intp], predictions: Doubles) -> Doubles:
        return self.loss(predictions, rows)

    def _basis(self, size: int, lam: float) -> TensorBasis:
        return TensorBasis(self.X.shape[1], n_terms=size, lam=lam)

    def _report(self) -> None:
        if self.callback is not None:
            self.callback(next(self.steps))
