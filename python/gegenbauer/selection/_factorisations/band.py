"""The products of samples, G G', taken to a band."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.ridge.cost import fit_cost
from gegenbauer.ridge.kernel_ridge import predict_kernel
from gegenbauer.ridge.landmarks import Landmarks
from gegenbauer.selection._factorisations.base import Factorisation, LeftOut, Rounding
from gegenbauer.selection._features import blocks_of
from gegenbauer.selection._leave_one_out import require_finite_kernel, without_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.selection._ridge_problem import RidgeProblem

__all__ = ["Band"]


@dataclass(frozen=True, eq=False)
class _Shifted:
    """Answers of `core.BandForm.solve` for K + alpha I."""

    alphas: Doubles
    solutions: Doubles  # (n, n_alphas * n_outputs)
    inverse_diagonal: Doubles  # (n, n_alphas)
    quadratic: Doubles  # (n_outputs, n_alphas): y'(K + alpha I)^-1 y
    log_determinant: Doubles
    shift: Doubles  # not 0 where alpha was too small and had to be raised


class Band(Factorisation):
    """``G G' = Q B Q'`` with a band B, of a kernel or a basis.

    With ``B + alpha I = L L'`` and ``z = L^-1 Q'u`` for the unit vector u of a sample,
    ``d = alpha |z|^2`` and ``e = alpha z'(L^-1 Q'y)``. A band is found in a fraction of the time
    that eigenvectors take.
    """

    method = "dual"

    def __init__(self, problem: RidgeProblem) -> None:
        super().__init__(problem)
        rows = problem.n_samples
        require_memory(
            24.0 * rows * rows,
            f"the kernel matrix of {rows} samples and its band form",
            "use fewer samples, or a TensorBasis of a finite set",
        )
        K = self._products()
        require_finite_kernel(K)
        of_mean = 0.0
        if problem.free:
            v = problem.scale / np.linalg.norm(problem.scale)
            of_mean = float(2.0 * (v @ (np.tril(K) @ v)) - v**2 @ K.diagonal())
        along = problem.scale if problem.free else None
        self._band = core.BandForm(K, along, problem.n_threads)
        self.size = float(self._band.largest) + max(of_mean, 0.0)
        self._shifted: _Shifted | None = None

    def _products(self) -> Doubles:
        """Return the lower triangle of G G', with the mean of the features."""
        problem = self.problem
        model, scale, threads = problem.model, problem.scale, problem.n_threads
        K = np.zeros((problem.n_samples, problem.n_samples), order="F")
        if isinstance(model, TensorBasis):
            cost = fit_cost(model, problem.n_samples, problem.n_outputs)
            accumulate = (
                core.accumulate_total_degree_kernel
                if cost["kernel"] < cost["dual"]
                else core.accumulate_kernel
            )
            accumulate(model._plan, problem.X, problem.box, scale, K, threads)
        else:
            assert not isinstance(model, Landmarks)
            constant = not problem.free  # which would take digits along
            model._plan.accumulate(problem.X, problem.box, scale, constant, K, threads)
        return K

    @cached_property
    def eigenvalues(self) -> Doubles:
        """Found when they are first needed."""
        from scipy.linalg import eigvals_banded

        band = self._band.band()
        if band.shape[1] <= band.shape[0]:  # all of it is a band
            band = band[: band.shape[1]]
        return np.asarray(eigvals_banded(band, lower=True)[::-1].clip(min=0.0))

    def _solve(self, alphas: Doubles) -> _Shifted:
        """Solve with the band for all alphas; the last results are kept for the next query."""
        if self._shifted is None or not np.array_equal(self._shifted.alphas, alphas):
            targets = np.asfortranarray(self.problem.scaled_Y)
            found = self._band.solve(np.ascontiguousarray(alphas), targets, self.problem.n_threads)
            self._shifted = _Shifted(alphas, *found)
        return self._shifted

    def smallest(self, alphas: Doubles) -> Doubles:
        known = self._solve(alphas).shift == 0
        return np.where(known, self._band.smallest + alphas, 0.0)

    def left_out(self, alphas: Doubles, share: Doubles | None = None) -> Iterator[LeftOut]:
        found = self._solve(alphas)
        # a copy, which is divided in place, while the answers are kept
        e = self.problem.by_alpha(found.solutions).copy()
        d = found.inverse_diagonal.T
        leverage = 1.0 - (alphas + found.shift)[:, np.newaxis] * d
        with np.errstate(divide="ignore"):
            unit = 1.0 / (alphas + found.shift)
        rounding = self._rounding(alphas, e, d, share)
        d = without_share(d, unit[:, np.newaxis], share)
        yield LeftOut(slice(0, self.problem.n_samples), e, d, leverage.clip(min=0.0), rounding)

    def _rounding(self, alphas: Doubles, e: Doubles, d: Doubles, share: Doubles | None) -> Rounding:
        """Bound |z_i|^2 by d'_i over the smallest eigenvalue of M."""
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = d / self.smallest(alphas)[:, np.newaxis]
            whole = np.linalg.norm(e, axis=(1, 2))[:, np.newaxis]
            n = np.sqrt(self.problem.n_contrasts)
            of_d = n * (self.size * squares + d)
            return Rounding(
                self.size * np.sqrt(squares) * whole,
                of_d if share is None else share * of_d,
                np.zeros_like(d),
            )

    def residual_dof(self, alphas: Doubles) -> Doubles:
        return np.asarray(alphas * self._solve(alphas).inverse_diagonal.sum(axis=0))

    def quadratic_forms(self, alphas: Doubles) -> tuple[Doubles, Doubles]:
        found = self._solve(alphas)
        e = found.solutions.reshape(-1, alphas.size, self.problem.n_outputs)
        squares = np.einsum("igk,igk->gk", e, e)
        column = alphas[:, np.newaxis]
        return column**2 * squares, column * found.quadratic.T

    def log_determinant(self, alphas: Doubles) -> Doubles:
        logarithms = self.problem.n_contrasts * np.log(alphas)
        return np.asarray(self._solve(alphas).log_determinant - logarithms)

    def _dual(self, alphas: Doubles) -> Doubles:
        """Return the coefficients of the samples, (n_samples, n_alphas * n_outputs)."""
        return self.problem.scale[:, np.newaxis] * self._solve(alphas).solutions

    def weights(self, alphas: Doubles) -> Doubles:
        problem, dual = self.problem, self._dual(alphas)
        terms = problem.basis.n_terms
        total = np.zeros((terms - int(problem.free), dual.shape[1]))
        for rows in blocks_of(dual.shape[0], terms):
            total += problem.features(problem.X[rows]).T @ dual[rows]
        return self._with_constants(total)

    def predict(self, X: npt.NDArray[np.float64], alphas: Doubles) -> Doubles:
        problem = self.problem
        model = problem.model
        if isinstance(model, TensorBasis):
            return super().predict(X, alphas)
        assert not isinstance(model, Landmarks)
        dual = self._dual(alphas)
        constants = np.zeros(dual.shape[1])
        if problem.free:
            fitted = predict_kernel(
                model, problem.X, problem.X, dual,
                scaling=problem.scaling, n_threads=problem.n_threads,
            )  # fmt: skip
            squares = problem.scale**2
            constants = np.tile(problem.means, alphas.size) - squares @ fitted / squares.sum()
        outputs = predict_kernel(
            model, X, problem.X, dual, intercept=constants,
            scaling=problem.scaling, n_threads=problem.n_threads,
        )  # fmt: skip
        return problem.by_alpha(outputs)
