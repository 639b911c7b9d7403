"""Every alpha from one factorisation: exact leave-one-out, GCV and marginal likelihood, on arrays.

A ridge fit with rows scaled by the square roots of their weights shrinks the targets along the
eigenvectors u_j of G G' by ``lambda_j / (lambda_j + alpha)``. With them at hand, any alpha costs a
product of matrices instead of a factorisation: residuals are ``e = sum_j u_j s_j (u_j'y)`` with
``s_j = alpha / (lambda_j + alpha)``, and one minus the leverage of row i is
``d_i = sum_j u_ij^2 s_j``; both are sums of what is left, without a difference that could cancel.
The residual of row i in the fit without that row is ``e_i / d_i``.

Neither needs eigenvectors. With ``G G' = Q B Q'``, B a band and ``B + alpha I = L L'``, both are
sums of products of ``z = L^-1 Q'u`` for the unit vector u of row i: ``d_i = alpha |z|^2`` and
``e_i = alpha z'(L^-1 Q'y)``. A band is found in a fraction of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer._renamed import refuse_old_names
from gegenbauer._validation import (
    as_alphas,
    as_matrix,
    as_weights,
    check_choice,
    check_flag,
    check_number,
    check_threads,
)
from gegenbauer.basis.kernels import SpectrumKernel, TotalDegreeKernel
from gegenbauer.basis.scaling import check_scaling
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.ridge._eigen import PrimalSpectrum
from gegenbauer.ridge.cost import fit_cost, moments_serve
from gegenbauer.ridge.expansions import predict
from gegenbauer.ridge.kernel_ridge import predict_kernel
from gegenbauer.selection._features import (
    BLOCK_SIZE,
    EPS,
    RESOLVED,
    check_tolerance,
    gram_matrix,
    triangle_of_features,
)
from gegenbauer.selection._leave_one_out import (
    LeaveOneOutPredictions,
    check_share,
    require_finite_kernel,
    weighted_means,
    without_share,
)
from gegenbauer.selection.angle_grid import TAPS, AngleGrid, count_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling

__all__ = ["RidgePath", "cheapest_method"]

METHODS = ("auto", "svd", "dual", "primal")

# Multiply-adds up to which features are decomposed themselves, not their products
_SMALL = 4e8

# Doubles of the finer grid from which rows are interpolated: half a gigabyte, twice for a moment
_MOST_FINE = 6e7


def cheapest_method(n_rows: int, n_terms: int) -> str:
    """Return what ``method="auto"`` of `RidgePath` means for a basis of so many terms."""
    small, large = sorted((n_rows, n_terms))
    if float(small) ** 2 * large <= _SMALL:
        return "svd"
    return "dual" if n_rows <= n_terms else "primal"


def _distinct(X: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the first sample of each distinct input, and for each sample which of them it is."""
    _, first, group = np.unique(X + 0.0, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # in the order of the samples
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return first[order], rank[group.ravel()]


class _Reflection:
    """The Householder reflection that takes the scales of samples to the first axis.

    What is orthogonal to a free constant are then the rows from the second on.
    """

    def __init__(self, scale: Doubles) -> None:
        self._v = scale / np.linalg.norm(scale)
        self._v[0] += np.copysign(1.0, self._v[0])

    def apply(self, matrix: Doubles) -> Doubles:
        v = self._v
        return matrix - np.outer(v, (2.0 / (v @ v)) * (v @ matrix))

    def lift(self, U: Doubles) -> Doubles:
        """Undo it for vectors without their first entry."""
        return self.apply(np.vstack([np.zeros((1, U.shape[1])), U]))


@dataclass(frozen=True, eq=False)
class _Shifted:
    """Answers of `core.BandForm.solve` for K + alpha I."""

    alphas: Doubles
    solutions: Doubles  # (n, n_alphas * n_outputs)
    inverse_diagonal: Doubles  # (n, n_alphas)
    quadratic: Doubles  # (n_outputs, n_alphas): y'(K + alpha I)^-1 y
    log_determinant: Doubles
    shift: Doubles  # not 0 where alpha was too small and had to be raised


@dataclass(frozen=True, eq=False)
class _Rounding:
    """Of what `RidgePath._residuals` yields, in units of a few eps; (n_alphas, n)."""

    residuals: Doubles
    complements: Doubles
    by_residuals: Doubles  # of residuals, for each unit of the norm of all of them


class RidgePath:
    r"""One factorisation of a ridge problem, for every alpha.

    The problem is that of `solve_ridge` and `solve_kernel`: minimise
    :math:`|D (f(X) - Y)|^2 + \alpha |f|^2`.

    Parameters
    ----------
    model : TensorBasis, TotalDegreeKernel or SpectrumKernel
        The terms.
    X : array_like, shape (n_samples, n_features)
        float64 or float32 in any layout is read in place.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    sample_weight : array_like, shape (n_samples,), optional
        Non-negative; D is the diagonal matrix of their square roots. An integer weight equals
        repeated rows but for leave-one-out, which leaves all of them out; a weight of zero is a
        row that takes no part and whose leave-one-out prediction is that of the fit.
    scaling : InputScaling, optional
        Maps X to the domain of the polynomials.
    penalize_constant : bool
        Whether the constant term is penalised as well, as in the paper.
    method : {"auto", "svd", "dual", "primal"}
        What is factorised. ``"svd"``: the matrix of features itself, most accurate, for small
        problems (of a basis, not of a kernel). ``"dual"``: G G' of size n_samples, taken to a band;
        its eigenvalues are found when they are asked for. ``"primal"``:
        G'G of size n_terms, with a pass over the rows for each question; holds blocks of rows only.
        For many rows of few inputs G'G comes from Chebyshev moments, and what is asked at the rows
        from polynomials that cost less than the features.
        ``"auto"`` takes the first while it costs less than 4e8 multiply-adds, then the smaller one.
    tolerance : float
        Estimated rounding, relative to the targets, of answers by ``"primal"``. The first question
        for a alpha beyond it factorises the features themselves, block by block, which costs more
        and knows the square roots of the eigenvalues; all answers come from these then. Infinity
        keeps to the sums.
    n_threads : int, optional
        By default what `gegenbauer.default_threads` says; the linear algebra of NumPy has threads
        of its own.

    Attributes
    ----------
    model : TensorBasis, TotalDegreeKernel or SpectrumKernel
        As given.
    method : str
        Of the above.
    eigenvalues : ndarray
        Of G G' (rows scaled, and without the mean where the constant is free) that are not zero by
        the shape of G, from the largest on; by ``"svd"`` nor by inputs that occur more than once.
    n_samples, n_outputs : int
        Rows (also those of weight zero) and targets.
    targets : ndarray, shape (n_samples, n_outputs)
        Y.
    sample_weight : ndarray, shape (n_samples,), or None
        As given.

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.
    TooLargeError
        When the matrices cannot fit into memory.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import RidgePath, TensorBasis
    >>> X = np.linspace(0, 1, 20)[:, np.newaxis]
    >>> path = RidgePath(TensorBasis(1, degree=8, lam=0.5), X, np.exp(X))
    >>> alphas = 10.0 ** np.arange(-12, 1)
    >>> errors = path.leave_one_out(alphas).predictions - np.exp(X)
    >>> float(alphas[(errors**2).mean(axis=(1, 2)).argmin()])
    1e-12
    """

    _shifted: _Shifted | None = None
    _by_triangle = False  # the primal way, when sums did not resolve a penalty

    def __init__(
        self,
        model: TensorBasis | TotalDegreeKernel | SpectrumKernel,
        X: npt.ArrayLike,
        Y: npt.ArrayLike,
        *,
        sample_weight: npt.ArrayLike | None = None,
        scaling: InputScaling | None = None,
        penalize_constant: bool = True,
        method: str = "auto",
        tolerance: float = RESOLVED,
        n_threads: int | None = None,
    ) -> None:
        if not isinstance(model, (TensorBasis, TotalDegreeKernel, SpectrumKernel)):
            raise TypeError(
                "model must be a TensorBasis, TotalDegreeKernel or SpectrumKernel, got "
                f"{type(model).__name__}"
            )
        self.model = model
        self._scaling = scaling
        check_scaling(scaling, model.n_features, "model")
        self._free = not check_flag(penalize_constant, "penalize_constant")
        self._threads = check_threads(n_threads)
        self.tolerance = check_tolerance(tolerance)
        data = as_matrix(X, "X", n_columns=model.n_features)
        targets = as_matrix(
            Y, "Y", n_rows=data.shape[0], keep_float32=False, one_dimensional=True
        )  # fmt: skip
        weights = as_weights(sample_weight, data.shape[0])
        self.n_samples, self.n_outputs = targets.shape
        self._X = data
        self.targets = targets
        self.sample_weight = weights
        used = slice(None) if weights is None or weights.all() else weights > 0
        self._used = used
        self._X_used = data[used]
        self._scale = np.ones(self._X_used.shape[0]) if weights is None else np.sqrt(weights[used])
        self._Y_used = targets[used]
        # a free constant takes their means, which would take their digits along
        self._means = np.zeros(self.n_outputs)
        if self._free and self._scale.size:
            self._means = weighted_means(self._Y_used, self._scale)
        self._scaled_Y = (self._Y_used - self._means) * self._scale[:, np.newaxis]
        if self._free and self._scale.size < 2:
            raise ValueError("a free constant needs at least two rows of positive weight, got one")
        self.method = self._choose(check_choice(method, "method", METHODS))
        {"svd": self._decompose, "dual": self._factor_dual, "primal": self._factor_primal}[
            self.method
        ]()

    # --- Factorisations ---------------------------------------------------------------------------

    def _choose(self, method: str) -> str:
        rows = self._scale.size
        if not isinstance(self.model, TensorBasis):
            if method in ("svd", "primal"):
                raise ValueError(
                    f"method={method!r} needs a TensorBasis, whose terms can be enumerated; use "
                    "'dual' for a kernel"
                )
            return "dual"
        return cheapest_method(rows, self.model.n_terms) if method == "auto" else method

    def _features(
        self, X: npt.NDArray[np.float64], scale: Doubles, *, mapped: bool = False
    ) -> Doubles:
        """Terms at rows, scaled, without the constant where that is free."""
        assert isinstance(self.model, TensorBasis)
        scaling = None if mapped else self._scaling
        G = self.model.evaluate(X, scaling=scaling, n_threads=self._threads)
        if self._free:
            G = G[:, 1:]
        G *= scale[:, np.newaxis]
        return G

    def _decompose(self) -> None:
        """Take the singular values of features at distinct inputs.

        Copies of an input are one sample of their mean target and their summed weight; what their
        targets differ by no function of the inputs can reach. Said here, that is exact, where
        rounding would leave a singular value of 1e-17 and its vector a trace in all other samples,
        which a tiny alpha makes the largest number of all.
        """
        inputs = self._X_used
        if self._scaling is not None:  # which may clip
            inputs = self._scaling.transform(inputs)
        first, group = _distinct(inputs)
        squares = self._scale**2
        mass = np.bincount(group, squares)
        scale = np.sqrt(mass)
        rows, terms = first.size, self.model.n_terms  # type: ignore[union-attr]
        require_memory(
            8.0 * (3 * rows * terms + 2 * min(rows, terms) ** 2),
            f"the decomposition of {rows} x {terms} features",
            "choose method='dual' or 'primal'",
        )
        share = squares / mass[group]
        targets = self._Y_used - self._means
        means = targets[first]  # the shift keeps equal targets equal
        shifted = targets - means[group]
        for column, of_group in zip(shifted.T, means.T, strict=True):
            of_group += np.bincount(group, share * column, minlength=rows)
        G, Y = self._features(self._X_used[first], scale), scale[:, np.newaxis] * means
        reflection = _Reflection(scale) if self._free else None
        of_mean = 0.0
        if reflection is not None:
            G, Y = reflection.apply(G), reflection.apply(Y)[1:]
            of_mean, G = float(G[0] @ G[0]), G[1:]
        if G.shape[1] == 0 or G.shape[0] == 0:
            U, sigma = np.zeros((G.shape[0], 0)), np.zeros(0)
            self._V = np.zeros((G.shape[1], 0))
        else:
            U, sigma, Vt = np.linalg.svd(G, full_matrices=False)
            self._V = Vt.T
        self.eigenvalues = sigma**2
        self._size = float(self.eigenvalues[:1].sum()) + of_mean
        self._projected = U.T @ Y
        self._missing = U.shape[0] > U.shape[1]
        rest = Y - U @ self._projected if self._missing else np.zeros_like(Y)
        if reflection is not None:
            U, rest = reflection.lift(U), reflection.lift(rest)
        beyond = np.zeros(rows)  # of each unit vector, what G cannot reach
        if self._missing:
            gone = np.einsum("ij,ij->i", U, U)
            if self._free:
                gone += mass / mass.sum()
            beyond = (1.0 - gone).clip(min=0.0)
            # Known to some eps only, while its root counts. Where that is all, what is left of
            # targets there says more: it is at most the root's share of all that is left.
            noise = 8.0 * np.sqrt(rows) * EPS * np.linalg.norm(Y, axis=0)
            whole = np.linalg.norm(rest, axis=0) + noise
            least = (np.abs(rest) - noise).clip(min=0.0) / np.where(whole > 0, whole, 1.0)
            least = least.max(axis=1, initial=0.0) ** 2
            unknown = beyond < 8.0 * np.sqrt(rows) * EPS
            beyond = np.where(unknown, np.maximum(beyond, least), beyond)
        self._beyond_Y = rest
        # from distinct inputs to samples
        root = np.sqrt(share)
        others = mass[group] - squares  # exactly zero where there are none
        self._U = root[:, np.newaxis] * U[group]
        self._rest_Y = root[:, np.newaxis] * rest[group]
        self._rest_Y += self._scale[:, np.newaxis] * (targets - means[group])
        self._beyond = share * beyond[group]
        self._rest = others / mass[group] + self._beyond

    def _factor_dual(self) -> None:
        rows = self._scale.size
        require_memory(
            24.0 * rows * rows,
            f"the kernel matrix of {rows} rows and its band form",
            "use fewer rows, or a TensorBasis of a finite set",
        )
        K = np.zeros((rows, rows), order="F")
        box = self._box()
        if isinstance(self.model, TensorBasis):
            cost = fit_cost(self.model, rows, self.n_outputs)
            accumulate = (
                core.accumulate_total_degree_kernel
                if cost["kernel"] < cost["dual"]
                else core.accumulate_kernel
            )
            accumulate(self.model._plan, self._X_used, box, self._scale, K, self._threads)
        else:
            constant = not self._free  # which would take digits along
            self.model._plan.accumulate(self._X_used, box, self._scale, constant, K, self._threads)
        require_finite_kernel(K)
        of_mean = 0.0
        if self._free:
            v = self._scale / np.linalg.norm(self._scale)
            of_mean = float(2.0 * (v @ (np.tril(K) @ v)) - v**2 @ K.diagonal())
        self._band = core.BandForm(K, self._scale if self._free else None, self._threads)
        self._size = float(self._band.largest) + max(of_mean, 0.0)
        self._missing = False

    @cached_property
    def eigenvalues(self) -> Doubles:
        """Of the band; the other methods set them as they factorise."""
        from scipy.linalg import eigvals_banded

        band = self._band.band()
        if band.shape[1] <= band.shape[0]:  # all of it is a band
            band = band[: band.shape[1]]
        return np.asarray(eigvals_banded(band, lower=True)[::-1].clip(min=0.0))

    def _solve_shifted(self, alphas: Doubles) -> _Shifted:
        """Solve with the band for all alphas; the last answers are kept for the next question."""
        if self._shifted is None or not np.array_equal(self._shifted.alphas, alphas):
            targets = np.asfortranarray(self._scaled_Y)
            found = self._band.solve(np.ascontiguousarray(alphas), targets, self._threads)
            self._shifted = _Shifted(alphas, *found)
        return self._shifted

    def _factor_primal(self) -> None:
        assert isinstance(self.model, TensorBasis)
        terms = self.model.n_terms
        require_memory(
            32.0 * terms * terms + 24 * BLOCK_SIZE,
            f"the eigenvectors of {terms} terms",
            "lower n_terms or degree",
        )
        weight = float(self._scale @ self._scale)
        self._has_moments = moments_serve(
            self.model, self.n_outputs, n_samples=self._scale.size, weight=weight
        )
        rows = (self._X_used, self._box(), self._scaled_Y, self._scale)
        gram = gram_matrix(self.model._plan, rows, self._has_moments, self._threads)
        self._set_primal(gram)

    def _set_primal(self, sums: Doubles) -> None:
        spectrum = PrimalSpectrum(
            sums, self.model.n_terms, free=self._free, means=self._means,  # type: ignore[union-attr]
            triangle=self._by_triangle,
        )  # fmt: skip
        self._mean_features, self._mean_Y = spectrum.mean_features, spectrum.mean_targets
        self._V, self.eigenvalues = spectrum.vectors, spectrum.eigenvalues
        self._projected, self._size = spectrum.projected, spectrum.size
        self._missing = self._scale.size - int(self._free) > self.eigenvalues.size

    def _resolve(self, alphas: Doubles) -> None:
        """Factorise the features themselves where their sums do not resolve the penalties."""
        if self.method != "primal" or self._by_triangle:
            return
        if self._estimated_error(alphas).max() <= self.tolerance:
            return
        assert isinstance(self.model, TensorBasis)
        triangle = triangle_of_features(
            self.model, self._X_used, self._scaled_Y, self._scale, self._scaling,
            self._threads,
        )  # fmt: skip
        self._by_triangle = True
        self._has_moments = False  # whose polynomials would round like the sums
        self._set_primal(triangle)

    def _box(self) -> Any:
        return None if self._scaling is None else self._scaling._map

    # --- Questions --------------------------------------------------------------------------------

    @property
    def _n_free_rows(self) -> int:
        """Rows that are left when a free constant is taken out."""
        return self._scale.size - int(self._free)

    @property
    def _leaves_residuals(self) -> bool:
        """Whether terms without a penalty cannot reach all targets."""
        return self._missing or (self.method == "svd" and bool(self._rest.any()))

    def _check_alphas(self, alphas: npt.ArrayLike) -> Doubles:
        values = as_alphas(alphas)
        if values.min() < 0:
            raise ValueError(f"alphas must not be negative, got {values.min()}")
        self._resolve(values)
        if values.min() == 0 and not self._has_full_rank():
            raise ValueError(
                "alpha = 0 has a leave-one-out solution only where the terms have full rank at "
                f"these rows, and here {self._rank()} of {self.eigenvalues.size} are left: use "
                "positive alphas"
            )
        return values

    def _rank(self) -> int:
        if self.eigenvalues.size == 0:
            return 0
        size = max(self._n_free_rows, self.eigenvalues.size)
        # singular values, not their squares, are resolved by the decomposition of G itself
        resolution = (size * EPS) ** 2 if self._knows_roots else size * EPS
        return int((self.eigenvalues > resolution * self.eigenvalues[0]).sum())

    @property
    def _knows_roots(self) -> bool:
        return self.method == "svd" or self._by_triangle

    def _has_full_rank(self) -> bool:
        return self._rank() == self.eigenvalues.size

    def _floor(self, alphas: Doubles) -> Doubles:
        """Return the smallest eigenvalue of what is solved, 0 where rounding alone says it."""
        if self.method == "dual":
            known = self._solve_shifted(alphas).shift == 0
            return np.where(known, self._band.smallest + alphas, 0.0)
        return np.asarray(self.eigenvalues[-1:].sum() + alphas)

    def _estimated_error(self, alphas: Doubles) -> Doubles:
        """Estimate rounding of residuals, relative to the targets."""
        if self.method != "dual" and self.eigenvalues.size == 0:
            return np.full(alphas.size, EPS)
        with np.errstate(divide="ignore", invalid="ignore"):
            condition = np.nan_to_num(self._size / self._floor(alphas), nan=np.inf)
        if self._knows_roots:
            condition = np.sqrt(condition)
        grown = 4.0 * EPS * np.sqrt(self._n_free_rows) * (1.0 + condition)
        return np.asarray(np.minimum(grown, 1.0))

    @refuse_old_names
    def rounding(self, alphas: npt.ArrayLike) -> Doubles:
        """Estimate rounding errors of predictions, relative to the targets.

        Parameters
        ----------
        alphas : array_like, shape (n_alphas,)
            Penalties, as for `leave_one_out`.

        Returns
        -------
        ndarray, shape (n_alphas,)
            At most 1.
        """
        values = self._check_alphas(alphas)
        return self._estimated_error(values)

    @refuse_old_names
    def leave_one_out(
        self, alphas: npt.ArrayLike, *, left_out_share: npt.ArrayLike | None = None
    ) -> LeaveOneOutPredictions:
        r"""Predict each row by the fit without it.

        A row is left out with all of its weight, or with a given share of it, and alone: rows
        that equal it stay. With the residual :math:`e_i` and leverage :math:`h_i` of the fit to
        all rows, the residual at row i of the fit without its share :math:`s_i` is
        :math:`e_i / (1 - s_i h_i)`.

        Parameters
        ----------
        alphas : array_like, shape (n_alphas,)
            Penalties, >= 0; 0 where the terms have full rank at the rows (by ``"svd"`` at distinct
            inputs).
        left_out_share : array_like, shape (n_samples,), optional
            Share of the weight of each row that is left out with it, above 0 up to 1: all of it
            by default. A row of weight 5 that stands for five samples, of which one is to be left
            out, has 1/5.

        Returns
        -------
        LeaveOneOutPredictions
            Arrays of n_alphas times n_samples times n_outputs are made: ask for few alphas at once
            if that is too much.

        Raises
        ------
        ValueError
            For negative alphas, or 0 where the rank is deficient.

        Examples
        --------
        >>> import numpy as np
        >>> from gegenbauer import RidgePath, TensorBasis
        >>> basis = TensorBasis(1, degree=0)  # the mean, when it is free
        >>> path = RidgePath(basis, [[0.0], [1.0], [2.0]], [1.0, 2.0, 6.0], penalize_constant=False)
        >>> path.leave_one_out([1.0]).predictions[0, :, 0]
        array([4. , 3.5, 1.5])
        """
        values = self._check_alphas(alphas)
        share = check_share(left_out_share, self.n_samples)
        share = None if share is None else share[self._used]
        shape = (values.size, self.n_samples, self.n_outputs)
        require_memory(
            8.0 * values.size * self.n_samples * (2 * self.n_outputs + 1),
            f"leave-one-out predictions of shape {shape}",
            "ask for fewer alphas at once",
        )
        predictions = np.empty(shape)
        leverages = np.zeros(shape[:2])
        # squared norms over the samples: of what is left, and of its two kinds of rounding
        left, own, shared, size = np.zeros((4, values.size))
        used = np.arange(self.n_samples)[self._used]
        for rows, residuals, complements, leverage, rounding in self._residuals(values, share):
            at = rows if used.size == self.n_samples else used[rows]
            size += (residuals**2).sum(axis=(1, 2))
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                residuals /= complements[:, :, np.newaxis]
                each = np.linalg.norm(residuals, axis=2)
                unit = complements * self._scale[rows]
                off = (rounding.residuals + each * rounding.complements) / unit
                own += (off**2).sum(axis=1)
                shared += ((rounding.by_residuals / unit) ** 2).sum(axis=1)
                if self.sample_weight is not None:
                    residuals /= self._scale[rows, np.newaxis]
                left += (residuals**2).sum(axis=(1, 2))
            np.subtract(self._Y_used[rows], residuals, out=residuals)
            predictions[:, at] = residuals
            leverages[:, at] = leverage
        if used.size < self.n_samples:
            unused = np.setdiff1d(np.arange(self.n_samples), used)
            predictions[:, unused] = self.predict(self._X[unused], values)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            off = np.sqrt(own) + np.sqrt(size * shared) + np.linalg.norm(self._Y_used)
            error = np.nan_to_num(4.0 * EPS * (off / np.sqrt(left)), nan=EPS)
        if not self._scaled_Y.any():  # nor is there anything to round
            error[left == 0] = EPS
        return LeaveOneOutPredictions(values, predictions, leverages, np.minimum(error, 1.0))

    def _residuals(
        self, alphas: Doubles, share: Doubles | None = None
    ) -> Iterator[tuple[slice, Doubles, Doubles, Doubles, _Rounding]]:
        """Yield rows, scaled residuals (n_alphas, n, K), d and leverages (n_alphas, n).

        Residuals divided by d are those of samples left out, each with a share (n,) of its weight.
        Both may be divided by alpha, and so is the last, their rounding.
        """
        n_alphas, n_outputs = alphas.size, self.n_outputs
        rows = self._scale.size
        if self.method == "dual":
            found = self._solve_shifted(alphas)
            # a copy, which is divided in place, while the answers are kept
            e = found.solutions.reshape(rows, n_alphas, n_outputs).transpose(1, 0, 2).copy()
            d = found.inverse_diagonal.T
            leverage = 1.0 - (alphas + found.shift)[:, np.newaxis] * d
            with np.errstate(divide="ignore"):
                unit = 1.0 / (alphas + found.shift)
            rounding = self._rounding_of_products(alphas, e, d, share)
            d = without_share(d, unit[:, np.newaxis], share)
            yield slice(0, rows), e, d, leverage.clip(min=0.0), rounding
            return
        if self.method == "svd":
            with np.errstate(divide="ignore"):
                inverse = 1.0 / (self.eigenvalues[:, np.newaxis] + alphas)
            shrunk = inverse[:, :, np.newaxis] * self._projected[:, np.newaxis, :]
            e = self._U @ shrunk.reshape(inverse.shape[0], n_alphas * n_outputs)
            e = e.reshape(rows, n_alphas, n_outputs).transpose(1, 0, 2)
            squares = self._U**2
            d = (squares @ inverse).T
            # Where G reaches all of a sample both are proportional to alpha, and divided by it
            # they have a limit at zero.
            partly = self._rest > 0
            factor = np.where(partly, alphas[:, np.newaxis], 1.0)
            e = factor[:, :, np.newaxis] * e + np.where(partly, self._rest_Y.T, 0.0).T
            d = factor * d + self._rest
            kept = self.eigenvalues[:, np.newaxis] * inverse
            leverage = (squares @ kept).T
            if self._free:
                leverage = leverage + self._scale**2 / (self._scale @ self._scale)
            with np.errstate(divide="ignore"):
                unit = np.where(partly, 1.0, 1.0 / alphas[:, np.newaxis])
            d = without_share(d, unit, share)
            rounding = self._rounding_of_features(alphas, squares, inverse, shrunk, share)
            yield slice(0, rows), e, d, leverage, rounding
            return
        with np.errstate(divide="ignore"):
            inverse = 1.0 / (self.eigenvalues[:, np.newaxis] + alphas)
        coefficients = inverse[:, :, np.newaxis] * self._projected[:, np.newaxis, :]
        size = np.linalg.norm(coefficients, axis=(0, 2))[:, np.newaxis]
        coefficients = coefficients.reshape(inverse.shape[0], n_alphas * n_outputs)
        costs = self._pass_costs(n_alphas)
        passes = {
            "features": self._pass_by_features,
            "forms": self._pass_by_forms,
            "grid": self._pass_by_grid,
        }
        for rows_, residuals, h in passes[min(costs, key=costs.__getitem__)](inverse, coefficients):
            # fitted values, turned into residuals in place
            np.subtract(self._Y_used[rows_], residuals, out=residuals)
            if self.sample_weight is not None:
                scale = self._scale[rows_]
                residuals *= scale[:, np.newaxis]
                h *= scale**2
            complements = 1.0 - h
            part = None if share is None else share[rows_]
            rounding = self._rounding_of_weights(alphas, size, rows_, h, part)
            complements = without_share(complements, np.ones((1, 1)), part)
            # rounding may take a leverage of one beyond it
            np.maximum(complements, EPS, out=complements)
            yield rows_, residuals, complements, h, rounding

    # To first order. M = K + alpha I is known up to E, |E| = c eps |K|, with |K| before the mean is
    # taken from the features: what rounds is that, not what is left. With z_i = M^-1 e_i for the
    # unit vector of sample i, e' = M^-1 y and d' = diag(M^-1), e'_i is off by z_i'E e' and d'_i by
    # z_i'E z_i. Of features that are known up to D, E = D G' + G D'.

    def _rounding_of_products(
        self, alphas: Doubles, e: Doubles, d: Doubles, share: Doubles | None
    ) -> _Rounding:
        """Return it for the band: |z_i|^2 is at most d'_i by the smallest eigenvalue of M."""
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = d / self._floor(alphas)[:, np.newaxis]
            whole = np.linalg.norm(e, axis=(1, 2))[:, np.newaxis]
            n = np.sqrt(self._n_free_rows)
            of_d = n * (self._size * squares + d)
            return _Rounding(
                self._size * np.sqrt(squares) * whole,
                of_d if share is None else share * of_d,
                np.zeros_like(d),
            )

    def _rounding_of_features(
        self,
        alphas: Doubles,
        squares: Doubles,
        inverse: Doubles,
        shrunk: Doubles,
        share: Doubles | None,
    ) -> _Rounding:
        """Return it for singular vectors, which are orthogonal up to eps: another eps z_i, eps e'.

        Where G reaches all of a sample, as e and d are, else times alpha. There d is a difference
        from one.
        """
        alpha = alphas[:, np.newaxis]
        root, variance = np.sqrt(self._size), self.eigenvalues[:, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            partly = self._rest > 0
            factor = np.where(partly, alpha, 1.0)
            z = np.sqrt(factor**2 * (squares @ inverse**2).T + self._beyond)
            by_features = np.sqrt((squares @ (variance * inverse**2)).T)  # |G'z_i|
            e = factor * np.linalg.norm(shrunk, axis=(0, 2))[:, np.newaxis]
            weights = np.sqrt((variance * (shrunk**2).sum(axis=2)).sum(axis=0))[:, np.newaxis]
            targets = np.linalg.norm(self._projected)
            of_d = 2.0 * z * (root * by_features + 1.0)
            unit = np.zeros(())
            if self._missing:
                missing = np.linalg.norm(self._beyond_Y)
                targets = np.hypot(targets, missing)
                unit = np.where(partly, 1.0, 1.0 / alpha)
                e = np.hypot(e, missing * unit)
                of_d = of_d + unit
            of_e = root * (z * weights + by_features * e) + e + z * targets + unit * targets
        of_e, of_d = 2.0 * of_e, 2.0 * of_d
        return _Rounding(of_e, of_d if share is None else share * of_d, np.zeros_like(z))

    def _rounding_of_weights(
        self, alphas: Doubles, weights: Doubles, rows: slice, h: Doubles, share: Doubles | None
    ) -> _Rounding:
        """Return it for residuals and leverages h of weights of this norm, (n_alphas, 1).

        With a = (G'G + alpha I)^-1 g_i, |a|^2 is at most h_i by the smallest eigenvalue.
        """
        root, n = np.sqrt(self._size), np.sqrt(self._n_free_rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            a = np.sqrt(h.clip(min=0.0) / self._floor(alphas)[:, np.newaxis])
            own = np.linalg.norm(self._Y_used[rows], axis=1) * self._scale[rows]
            own = own + root / n * weights
            targets = np.linalg.norm(self._scaled_Y)
            if self._by_triangle:
                reached = np.sqrt(h.clip(min=0.0))
                of_e = reached * (root * weights + targets) + own
                of_h, shared = 2.0 * root * a * reached, root * a
            else:
                of_e = a * root * (root * weights + targets) + own
                of_h, shared = n * self._size * a**2, np.zeros_like(h)
            of_h = of_h + 1.0
        return _Rounding(of_e, of_h if share is None else share * of_h, shared)

    def _blocks(self, n: int, width: int) -> Iterator[slice]:
        """Cut n rows into blocks, for so many numbers a row."""
        block = max(1, int(BLOCK_SIZE / width))
        for first in range(0, n, block):
            yield slice(first, min(first + block, n))

    def _pass_costs(self, n_alphas: int) -> dict[str, float]:
        """Count the multiply-adds of the ways to fitted values and leverages of all rows.

        By features, L^2 a row; as polynomials, so many as there are moments a row and alpha, after
        an inverse for each alpha; from a grid, of whose nodes each takes L^2, a few nodes a row.
        """
        assert isinstance(self.model, TensorBasis)
        n, terms = float(self._scale.size), float(self.model.n_terms)
        functions = n_alphas * (1 + self.n_outputs)
        costs = {"features": n * terms * (terms + functions)}
        if self._has_moments:
            moments = float(core.count_moments(self.model._plan, 0))
            inverses = n_alphas * terms**2 * (terms + 300)
            fits = n * terms * n_alphas * self.n_outputs
            costs["forms"] = n * n_alphas * moments + inverses + fits
        n_nodes, n_fine = count_nodes(self._degrees_of_forms())
        if n_fine * functions <= _MOST_FINE:
            taps = float(TAPS) ** self.model.n_features
            at_nodes = n_nodes * terms * (terms + functions)
            costs["grid"] = at_nodes + functions * (2.0 * n * taps + 200.0 * n_fine) + 1000.0 * n
        return costs

    def _degrees_of_forms(self) -> list[int]:
        """Return the highest degree of a quadratic form in the features, in each input."""
        assert isinstance(self.model, TensorBasis)
        return [2 * int(degree) for degree in self.model.indices.max(axis=0)]

    def _at_rows(
        self, G: Doubles, inverse: Doubles, coefficients: Doubles
    ) -> tuple[Doubles, Doubles]:
        """Fitted values (n, n_alphas * K) and leverages (n, n_alphas) of rows of weight one."""
        if self._free:
            G -= self._mean_features
        Z = G @ self._V
        fitted = Z @ coefficients
        Z *= Z
        h = Z @ inverse
        if self._free:
            h += 1.0 / (self._scale @ self._scale)
            fitted += np.tile(self._mean_Y, inverse.shape[1])
        return fitted, h

    def _pass_by_features(
        self, inverse: Doubles, coefficients: Doubles
    ) -> Iterator[tuple[slice, Doubles, Doubles]]:
        """Yield rows, fitted values (n_alphas, n, K) and leverages (n_alphas, n).

        The leverages are those of rows of weight one.
        """
        width = max(self.model.n_terms, inverse.shape[1] + coefficients.shape[1])  # type: ignore[union-attr]
        for rows in self._blocks(self._scale.size, width):
            data = self._X_used[rows]
            G = self._features(data, np.ones(data.shape[0]))
            fitted, h = self._at_rows(G, inverse, coefficients)
            yield rows, self._by_alpha(fitted), h.T

    def _by_alpha(self, fitted: Doubles) -> Doubles:
        return fitted.reshape(fitted.shape[0], -1, self.n_outputs).transpose(1, 0, 2)

    def _pass_by_grid(
        self, inverse: Doubles, coefficients: Doubles
    ) -> Iterator[tuple[slice, Doubles, Doubles]]:
        """Do the same by interpolation from a grid in the angles, exact but for rounding."""
        n_alphas = inverse.shape[1]

        def mapped(rows: slice) -> npt.NDArray[np.float64]:
            data = self._X_used[rows]
            return data if self._scaling is None else self._scaling.transform(data)

        # the box of the rows, which may lie beyond that of the scaling, or be much smaller
        ends = []
        for rows in self._blocks(self._scale.size, self.model.n_features):
            data = mapped(rows)
            ends.append((data.min(axis=0), data.max(axis=0)))
        low, high = np.min(ends, axis=0)[0], np.max(ends, axis=0)[1]
        grid = AngleGrid(low, high, self._degrees_of_forms())
        nodes = grid.nodes()
        values = np.empty((n_alphas + coefficients.shape[1], nodes.shape[0]))
        for some in self._blocks(nodes.shape[0], max(self.model.n_terms, values.shape[0])):  # type: ignore[union-attr]
            G = self._features(nodes[some], np.ones(nodes[some].shape[0]), mapped=True)
            fitted, h = self._at_rows(G, inverse, coefficients)
            values[:n_alphas, some] = h.T
            values[n_alphas:, some] = fitted.T
        interpolant = grid.interpolant(values)
        held = np.empty(0)
        for rows in self._blocks(self._scale.size, 2 * values.shape[0]):
            data = mapped(rows)
            n = data.shape[0]
            if held.size < values.shape[0] * n:  # once: memory that is new each time is slow
                held = np.empty(values.shape[0] * n)
            out = held[: values.shape[0] * n].reshape(-1, n)
            interpolant.evaluate(data, out, self._threads)
            fitted = out[n_alphas:].reshape(n_alphas, self.n_outputs, n)
            yield rows, fitted.transpose(0, 2, 1), out[:n_alphas]

    def _pass_by_forms(
        self, inverse: Doubles, coefficients: Doubles
    ) -> Iterator[tuple[slice, Doubles, Doubles]]:
        """Do the same by quadratic forms, of which the moments of the basis know the polynomial."""
        assert isinstance(self.model, TensorBasis)
        terms, n_alphas = self.model.n_terms, inverse.shape[1]
        free = int(self._free)
        polynomials = np.empty((n_alphas, core.count_moments(self.model._plan, 0)))
        for g, polynomial in enumerate(polynomials):
            root = self._V * np.sqrt(inverse[:, g])
            form = np.empty((terms, terms), order="F")
            form[free:, free:] = root @ root.T
            if self._free:
                # (g - mean)' P (g - mean) with the constant term as one of the features
                side = root @ (self._mean_features @ root)
                form[0, 1:] = form[1:, 0] = -side
                form[0, 0] = self._mean_features @ side + 1.0 / (self._scale @ self._scale)
            core.form_coefficients(self.model._plan, form, polynomial, self._threads)
        weights = self._V @ coefficients
        if self._free:
            weights = np.vstack([self._constants(weights), weights])
        stacked, box = polynomials.ravel(), self._box()
        for rows in self._blocks(self._scale.size, n_alphas + coefficients.shape[1]):
            data = self._X_used[rows]
            h = np.empty((n_alphas, data.shape[0]))
            core.evaluate_forms(self.model._plan, data, box, stacked, h.T, self._threads)
            fitted = predict(
                self.model, data, weights, scaling=self._scaling, n_threads=self._threads
            )
            yield rows, self._by_alpha(fitted), h

    @refuse_old_names
    def posterior(self, alpha: float) -> tuple[Doubles, Doubles, float]:
        """Return what leverages of new rows are made of, for ``method="primal"`` or ``"svd"``.

        Parameters
        ----------
        alpha : float
            Penalty, > 0.

        Returns
        -------
        root : ndarray, shape (n_terms, n_terms)
            P with ``P P' = (alpha I + G'G)^-1``; without the constant where that is free.
        mean_features : ndarray, shape (n_terms - 1,)
            To be taken from the features of a new row where the constant is free, else empty.
        free : float
            Leverage of a free constant by itself, else 0.

        The leverage of a row of weight one is the squared length of its features times P, and
        `free`.
        """
        alpha = check_number(alpha, "alpha", minimum=0, open_below=True)
        free = 1.0 / float(self._scale @ self._scale) if self._free else 0.0
        self._resolve(np.array([alpha]))
        if self.method == "primal":
            return self._V / np.sqrt(self.eigenvalues + alpha), self._mean_features, free
        if self.method != "svd":
            raise ValueError(f"posterior needs method='primal' or 'svd', got {self.method!r}")
        # what the rows do not reach keeps the inverse of alpha
        size = self._V.shape[0]
        require_memory(
            16.0 * size * size,
            f"the matrix of {size} terms behind standard deviations",
            "lower n_terms",
        )
        beyond = alpha**-0.5
        root = (self._V * (1.0 / np.sqrt(self.eigenvalues + alpha) - beyond)) @ self._V.T
        root[np.diag_indices(size)] += beyond
        mean_features = np.zeros(0)
        if self._free:
            own = self._features(self._X_used, np.ones(self._scale.size))
            mean_features = free * (self._scale**2 @ own)
        return root, mean_features, free

    @refuse_old_names
    def effective_dof(self, alphas: npt.ArrayLike) -> Doubles:
        """Count the effective degrees of freedom: the sum of the leverages.

        Parameters
        ----------
        alphas : array_like, shape (n_alphas,)
            Penalties, as for `leave_one_out`.

        Returns
        -------
        ndarray, shape (n_alphas,)
        """
        values = self._check_alphas(alphas)
        kept = self.eigenvalues[:, np.newaxis] / (self.eigenvalues[:, np.newaxis] + values)
        return np.asarray(kept.sum(axis=0) + int(self._free))

    def _quadratic_forms(self, alphas: Doubles) -> tuple[Doubles, Doubles]:
        """Return |e|^2 and e'y, each (n_alphas, n_outputs), of the scaled residuals e."""
        if self.method == "dual":
            found = self._solve_shifted(alphas)
            e = found.solutions.reshape(-1, alphas.size, self.n_outputs)
            squares = np.einsum("igk,igk->gk", e, e)
            column = alphas[:, np.newaxis]
            return column**2 * squares, column * found.quadratic.T
        if self.method == "svd":
            shrink = alphas / (self.eigenvalues[:, np.newaxis] + alphas)
            squares = self._projected**2
            rest = (self._rest_Y**2).sum(axis=0)
            return (shrink**2).T @ squares + rest, shrink.T @ squares + rest
        inverse = 1.0 / (self.eigenvalues[:, np.newaxis] + alphas)
        total = np.zeros((alphas.size, self.n_outputs))
        for _, e, *_ in self._residuals(alphas):
            total += np.einsum("gik,gik->gk", e, e)
        # e'y = |e|^2 + alpha |W|^2, a sum of what is positive
        return total, total + alphas[:, np.newaxis] * ((inverse**2).T @ self._projected**2)

    @refuse_old_names
    def gcv(self, alphas: npt.ArrayLike) -> Doubles:
        r"""Evaluate the generalised cross-validation score :math:`n |e|^2 / (n - \sum h_i)^2`.

        It is leave-one-out with every leverage replaced by their mean.

        Parameters
        ----------
        alphas : array_like, shape (n_alphas,)
            Penalties, as for `leave_one_out`.

        Returns
        -------
        ndarray, shape (n_alphas, n_outputs)
            The smaller the better. n is the number of rows of positive weight, e their residuals
            times the square roots of their weights.
        """
        values = self._check_alphas(alphas)
        n = self._scale.size
        if values.min() == 0 and not self._leaves_residuals:
            raise ValueError(
                "alpha = 0 leaves no residual where there are as many terms as rows: use positive "
                "alphas"
            )
        squared, _ = self._quadratic_forms(values)
        if self.method == "dual":
            left = values * self._solve_shifted(values).inverse_diagonal.sum(axis=0)
        else:
            shrink = values / (self.eigenvalues[:, np.newaxis] + values)
            left = shrink.sum(axis=0) + (self._n_free_rows - self.eigenvalues.size)
        return np.asarray(n * squared / left[:, np.newaxis] ** 2)

    @refuse_old_names
    def log_marginal_likelihood(self, alphas: npt.ArrayLike) -> Doubles:
        r"""Evaluate the likelihood of each target under the prior that the penalty stands for.

        Weights are independent normal with variance :math:`\sigma^2 / \alpha`, the noise of row i
        has variance :math:`\sigma^2 / w_i`, and :math:`\sigma^2` takes its likeliest value. With a
        free constant it is the likelihood of the contrasts without it.

        Parameters
        ----------
        alphas : array_like, shape (n_alphas,)
            Penalties, > 0.

        Returns
        -------
        ndarray, shape (n_alphas, n_outputs)
            Natural logarithms; the larger the better.

        Raises
        ------
        ValueError
            For alphas that are not positive.
        """
        values = self._check_alphas(alphas)
        if values.min() <= 0:
            raise ValueError("alphas must be positive for a likelihood, got 0")
        n = self._n_free_rows
        _, quadratic = self._quadratic_forms(values)
        if self.method == "dual":
            log_det = self._solve_shifted(values).log_determinant - n * np.log(values)
        else:
            log_det = np.log1p(self.eigenvalues[:, np.newaxis] / values).sum(axis=0)
        with np.errstate(divide="ignore"):
            fit = n * (np.log(2 * np.pi * quadratic / n) + 1)
        jacobian = 2 * np.log(self._scale).sum()
        return np.asarray(-0.5 * (fit + log_det[:, np.newaxis] - jacobian))

    @refuse_old_names
    def predict(self, X: npt.ArrayLike, alphas: npt.ArrayLike) -> Doubles:
        """Predict at other rows by the fits to all rows, for every alpha.

        Parameters
        ----------
        X : array_like, shape (n, n_features)
            Inputs.
        alphas : array_like, shape (n_alphas,)
            Penalties, as for `leave_one_out`.

        Returns
        -------
        ndarray, shape (n_alphas, n, n_outputs)
            For one alpha, `solve_ridge` and `solve_kernel` are more accurate: they refine.
        """
        values = self._check_alphas(alphas)
        data = as_matrix(X, "X", n_columns=self.model.n_features)
        n_alphas, n_outputs = values.size, self.n_outputs
        if self.method == "dual":
            dual = self._scale[:, np.newaxis] * self._solve_shifted(values).solutions
            if isinstance(self.model, TensorBasis):
                weights = self._transposed_product(dual)
            else:
                return self._predict_by_kernel(data, dual, n_alphas)
        else:
            factor = 1.0 / (self.eigenvalues[:, np.newaxis] + values)
            if self.method == "svd":
                factor *= np.sqrt(self.eigenvalues)[:, np.newaxis]
            shrunk = factor[:, :, np.newaxis] * self._projected[:, np.newaxis, :]
            weights = self._V @ shrunk.reshape(factor.shape[0], n_alphas * n_outputs)
        if self._free:
            weights = np.vstack([self._constants(weights), weights])
        assert isinstance(self.model, TensorBasis)
        outputs = predict(self.model, data, weights, scaling=self._scaling, n_threads=self._threads)
        return outputs.reshape(-1, n_alphas, n_outputs).transpose(1, 0, 2)

    def _transposed_product(self, dual: Doubles) -> Doubles:
        """G' a for unscaled rows of G."""
        total = np.zeros((self.model.n_terms - int(self._free), dual.shape[1]))  # type: ignore[union-attr]
        block = max(1, int(BLOCK_SIZE / self.model.n_terms))  # type: ignore[union-attr]
        for first in range(0, dual.shape[0], block):
            rows = slice(first, first + block)
            part = self._X_used[rows]
            total += self._features(part, np.ones(part.shape[0])).T @ dual[rows]
        return total

    def _constants(self, weights: Doubles) -> Doubles:
        """Weight of a free constant: the mean of what the other terms leave, (1, columns)."""
        squares = self._scale**2
        assert isinstance(self.model, TensorBasis)
        if self.method == "primal":
            fitted = self._mean_features @ weights
        else:
            padded = np.vstack([np.zeros((1, weights.shape[1])), weights])
            values = predict(
                self.model, self._X_used, padded, scaling=self._scaling, n_threads=self._threads
            )
            fitted = squares @ values / squares.sum()
        means = squares @ self._Y_used / squares.sum()
        return (np.tile(means, weights.shape[1] // self.n_outputs) - fitted)[np.newaxis]

    def _predict_by_kernel(self, data: Doubles, dual: Doubles, n_alphas: int) -> Doubles:
        assert not isinstance(self.model, TensorBasis)
        constants = np.zeros(dual.shape[1])
        if self._free:
            fitted = predict_kernel(
                self.model, self._X_used, self._X_used, dual,
                scaling=self._scaling, n_threads=self._threads,
            )  # fmt: skip
            squares = self._scale**2
            means = squares @ self._Y_used / squares.sum()
            constants = np.tile(means, n_alphas) - squares @ fitted / squares.sum()
        outputs = predict_kernel(
            self.model, data, self._X_used, dual, intercept=constants,
            scaling=self._scaling, n_threads=self._threads,
        )  # fmt: skip
        return outputs.reshape(-1, n_alphas, self.n_outputs).transpose(1, 0, 2)
