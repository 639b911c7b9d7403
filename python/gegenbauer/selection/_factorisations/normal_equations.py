"""The products of terms, G'G, or the triangle of G, by their eigenvectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._memory import require_memory
from gegenbauer._messages import Ways
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.ridge._eigen import PrimalSpectrum
from gegenbauer.ridge.cost import moments_serve
from gegenbauer.ridge.landmarks import Landmarks
from gegenbauer.selection._factorisations.base import LeftOut, Rounding, SpectralFactorisation
from gegenbauer.selection._features import (
    BLOCK_SIZE,
    EPS,
    finite_sums,
    gram_matrix,
    triangle_of_features,
)
from gegenbauer.selection._leave_one_out import without_share
from gegenbauer.selection._leverage_passes import Fits, TrianglePass, cheapest_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gegenbauer._typing import Doubles
    from gegenbauer.selection._ridge_problem import RidgeProblem

__all__ = ["NormalEquations"]


class NormalEquations(SpectralFactorisation):
    """``G'G = V S V'`` of a basis, from features or from moments.

    Holds blocks of samples only, and passes over all of them for what is needed at each.

    Parameters
    ----------
    problem : RidgeProblem
        Of a TensorBasis or Landmarks.
    by_triangle : bool
        Reduce the features themselves to a triangle, and take its singular values: for penalties
        that sums do not resolve.

    Attributes
    ----------
    triangle : ndarray or None
        That of [G, Y] without a free constant, (at least n_terms + n_outputs, n_terms + n_outputs).
    """

    method = "primal"

    def __init__(self, problem: RidgeProblem, *, by_triangle: bool = False) -> None:
        super().__init__(problem)
        basis, scale = problem.basis, problem.scale
        require_memory(
            (64.0 if by_triangle else 32.0) * basis.n_terms**2 + 24 * BLOCK_SIZE,
            f"the eigenvectors of {basis.n_terms} terms",
            Ways("lower", "`n_terms`", "`degree`"),
        )
        self.knows_roots = by_triangle
        # by a triangle, polynomials of moments would round like the sums
        self._has_moments = (
            isinstance(basis, TensorBasis)
            and not by_triangle
            and moments_serve(
                basis, problem.n_outputs, n_samples=problem.n_samples, weight=float(scale @ scale)
            )
        )
        if by_triangle:
            sums = triangle_of_features(
                basis, problem.X, problem.scaled_Y, scale, problem.scaling, problem.n_threads
            )
        elif isinstance(basis, Landmarks):
            sums = finite_sums(
                basis.products(
                    problem.X, problem.scaled_Y, scale, problem.scaling, problem.n_threads
                )
            )
        else:
            samples = (problem.X, problem.box, problem.scaled_Y, scale)
            sums = gram_matrix(problem.plan, samples, self._has_moments, problem.n_threads)
        self._spectrum = PrimalSpectrum(
            sums, basis.n_terms, free=problem.free, means=problem.means, triangle=by_triangle
        )
        first = int(problem.free)
        self.triangle = sums[first:, first:] if by_triangle else None
        self._eigenvalues, self.size = self._spectrum.eigenvalues, self._spectrum.size
        self.missing = problem.n_contrasts > self.eigenvalues.size

    def resolving(self, alphas: Doubles, tolerance: float) -> NormalEquations:
        if self.knows_roots or self.rounding(alphas).max() <= tolerance:
            return self
        return NormalEquations(self.problem, by_triangle=True)

    def fits(self, alphas: Doubles) -> Fits:
        """Return those for some penalties."""
        return Fits(self.problem, self._spectrum, alphas, has_moments=self._has_moments)

    def left_out(self, alphas: Doubles, share: Doubles | None = None) -> Iterator[LeftOut]:
        problem, fits = self.problem, self.fits(alphas)
        size = np.linalg.norm(fits.coefficients, axis=(0, 2))[:, np.newaxis]
        way = cheapest_pass(fits)
        if self.triangle is not None:
            way = TrianglePass(fits, self.triangle, alphas)
        for rows, residuals, h, a in way.run():
            # fitted values, turned into residuals in place
            np.subtract(problem.Y[rows], residuals, out=residuals)
            if problem.weighted:
                scale = problem.scale[rows]
                residuals *= scale[:, np.newaxis]
                h *= scale**2
                a *= scale**2
            complements = 1.0 - h
            part = None if share is None else share[rows]
            rounding = self._rounding(size, rows, h, a, part)
            complements = without_share(complements, np.ones((1, 1)), part)
            # rounding may take a leverage of one beyond it
            np.maximum(complements, EPS, out=complements)
            yield LeftOut(rows, residuals, complements, h, rounding)

    def _rounding(
        self, weights: Doubles, rows: slice, h: Doubles, squares: Doubles, share: Doubles | None
    ) -> Rounding:
        """Return it for residuals and leverages h of weights of this norm, (n_alphas, 1).

        With a = (G'G + alpha I)^-1 g_i, of this |a|^2 at most.
        """
        problem = self.problem
        root, n = np.sqrt(self.size), np.sqrt(problem.n_contrasts)
        with np.errstate(divide="ignore", invalid="ignore"):
            a = np.sqrt(squares)
            own = np.linalg.norm(problem.Y[rows], axis=1) * problem.scale[rows]
            own = own + root / n * weights
            targets = np.linalg.norm(problem.scaled_Y)
            if self.knows_roots:
                reached = np.sqrt(h.clip(min=0.0))
                of_e = reached * (root * weights + targets) + own
                of_h, shared = 2.0 * root * a * reached, root * a
            else:
                of_e = a * root * (root * weights + targets) + own
                of_h, shared = n * self.size * a**2, np.zeros_like(h)
            of_h = of_h + 1.0
        return Rounding(of_e, of_h if share is None else share * of_h, shared)

    def quadratic_forms(self, alphas: Doubles) -> tuple[Doubles, Doubles]:
        inverse = 1.0 / (self.eigenvalues[:, np.newaxis] + alphas)
        total = np.zeros((alphas.size, self.problem.n_outputs))
        for part in self.left_out(alphas):
            total += np.einsum("gik,gik->gk", part.residuals, part.residuals)
        # e'y = |e|^2 + alpha |W|^2, a sum of what is positive
        squares = self._spectrum.projected**2
        return total, total + alphas[:, np.newaxis] * ((inverse**2).T @ squares)

    def weights(self, alphas: Doubles) -> Doubles:
        return self.fits(alphas).weights()

    def posterior(self, alpha: float) -> tuple[Doubles, Doubles, float]:
        scale = self.problem.scale
        free = 1.0 / float(scale @ scale) if self.problem.free else 0.0
        root = self._spectrum.vectors / np.sqrt(self.eigenvalues + alpha)
        return root, self._spectrum.mean_features, free
