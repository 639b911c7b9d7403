"""Ways to the fitted values and leverages of all samples, from normal equations.

A leverage is a quadratic form in the features of a sample. It is had from the features themselves,
from the polynomial that it is in the inputs, or by interpolation from a grid; what is cheapest
depends on the numbers of samples, inputs, terms and penalties. Where only a triangle of the
features resolves the penalties, it is solved with that. The factorisations that hold a
vector for each sample, singular values and the band, have no such choice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.ridge._eigen import graded_svd
from gegenbauer.selection._features import blocks_of, stack_triangles
from gegenbauer.selection.angle_grid import TAPS, AngleGrid, count_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.ridge._eigen import PrimalSpectrum
    from gegenbauer.selection._ridge_problem import RidgeProblem

__all__ = ["Fits", "LeveragePass", "TrianglePass", "cheapest_pass"]

# Doubles of the finer grid from which samples are interpolated: half a gigabyte, twice for a moment
_MOST_FINE = 6e7

# Samples, their fitted values (n_alphas, n, n_outputs), leverages h (n_alphas, n), and
# |M^-1 g|^2 of their features g, M = G'G + alpha I, or a bound of it (n_alphas, n): weight one each
Block: TypeAlias = "tuple[slice, Doubles, Doubles, Doubles]"


class Fits:
    """The fits for some penalties, by eigenvectors of the normal equations.

    Parameters
    ----------
    problem : RidgeProblem
        Of a TensorBasis.
    spectrum : PrimalSpectrum
        Of its normal equations.
    alphas : ndarray, shape (n_alphas,)
        Penalties.
    has_moments : bool
        Whether the sums come from moments, of which forms may then be polynomials as well.

    Attributes
    ----------
    inverse : ndarray, shape (r, n_alphas)
        One over the eigenvalues with the penalties.
    coefficients : ndarray, shape (r, n_alphas, n_outputs)
        Weights in the eigenvectors.
    """

    def __init__(
        self, problem: RidgeProblem, spectrum: PrimalSpectrum, alphas: Doubles, *, has_moments: bool
    ) -> None:
        self.problem, self.spectrum, self.has_moments = problem, spectrum, has_moments
        with np.errstate(divide="ignore"):
            self.inverse = 1.0 / (spectrum.eigenvalues[:, np.newaxis] + alphas)
        self.coefficients = self.inverse[:, :, np.newaxis] * spectrum.projected[:, np.newaxis, :]
        self._columns = self.coefficients.reshape(
            self.inverse.shape[0], alphas.size * problem.n_outputs
        )

    @property
    def n_alphas(self) -> int:
        return int(self.inverse.shape[1])

    @property
    def n_functions(self) -> int:
        """Fitted values of each output and a leverage, for each penalty."""
        return self.n_alphas * (1 + self.problem.n_outputs)

    def weights(self) -> Doubles:
        """Return those of the terms, (n_terms, n_alphas * n_outputs)."""
        weights = self.spectrum.vectors @ self._columns
        if not self.problem.free:
            return np.asarray(weights)
        fitted = self.spectrum.mean_features @ weights
        constants = np.tile(self.problem.means, self.n_alphas) - fitted
        return np.vstack([constants, weights])

    def most(self, h: Doubles) -> Doubles:
        """Bound |M^-1 g|^2 by leverages (n_alphas, n) over the smallest eigenvalue of M."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(h.clip(min=0.0) * self.inverse[-1:].sum(axis=0)[:, np.newaxis])

    def at(self, G: Doubles) -> tuple[Doubles, Doubles]:
        """Return fitted values (n, n_alphas * n_outputs) and leverages (n, n_alphas) at features.

        These are overwritten.
        """
        if self.problem.free:
            G -= self.spectrum.mean_features
        Z = G @ self.spectrum.vectors
        fitted = Z @ self._columns
        Z *= Z
        h = Z @ self.inverse
        if self.problem.free:
            h += 1.0 / (self.problem.scale @ self.problem.scale)
            fitted += np.tile(self.spectrum.mean_targets, self.n_alphas)
        return fitted, h


class LeveragePass(ABC):
    """A way over the samples of `fits`."""

    def __init__(self, fits: Fits) -> None:
        self.fits = fits

    @abstractmethod
    def cost(self) -> float:
        """Count its multiply-adds; infinity where the way is closed."""

    @abstractmethod
    def run(self) -> Iterator[Block]:
        """Yield all samples with what is known of them."""


class FeaturesPass(LeveragePass):
    """Take the features of every sample: L^2 multiply-adds each."""

    def cost(self) -> float:
        n, terms = float(self.fits.problem.n_samples), float(self.fits.problem.basis.n_terms)
        return n * terms * (terms + self.fits.n_functions)

    def run(self) -> Iterator[Block]:
        problem = self.fits.problem
        # features are held twice, functions with their residuals and rounding
        width = max(2 * problem.basis.n_terms, 3 * self.fits.n_functions)
        for rows in blocks_of(problem.n_samples, width):
            fitted, h = self.fits.at(problem.features(problem.X[rows]))
            yield rows, problem.by_alpha(fitted), h.T, self.fits.most(h.T)


class FormsPass(LeveragePass):
    """Take polynomials of as many terms as there are moments, after an inverse for each alpha."""

    def cost(self) -> float:
        if not self.fits.has_moments:
            return np.inf
        problem, n_alphas = self.fits.problem, self.fits.n_alphas
        n, terms = float(problem.n_samples), float(problem.basis.n_terms)
        moments = float(core.count_moments(problem.plan, 0))
        inverses = n_alphas * terms**2 * (terms + 300)
        return n * n_alphas * moments + inverses + n * terms * n_alphas * problem.n_outputs

    def _polynomials(self) -> Doubles:
        """Return the coefficients of the leverages, (n_alphas, n_moments)."""
        problem, spectrum = self.fits.problem, self.fits.spectrum
        plan, terms, free = problem.plan, problem.basis.n_terms, int(problem.free)
        polynomials = np.empty((self.fits.n_alphas, core.count_moments(plan, 0)))
        for g, polynomial in enumerate(polynomials):
            root = spectrum.vectors * np.sqrt(self.fits.inverse[:, g])
            form = np.empty((terms, terms), order="F")
            form[free:, free:] = root @ root.T
            if free:
                # (g - mean)' P (g - mean) with the constant term as one of the features
                side = root @ (spectrum.mean_features @ root)
                form[0, 1:] = form[1:, 0] = -side
                weight = problem.scale @ problem.scale
                form[0, 0] = spectrum.mean_features @ side + 1.0 / weight
            core.form_coefficients(plan, form, polynomial, problem.n_threads)
        return polynomials

    def run(self) -> Iterator[Block]:
        problem, n_alphas = self.fits.problem, self.fits.n_alphas
        polynomials, weights = self._polynomials().ravel(), self.fits.weights()
        for rows in blocks_of(problem.n_samples, 3 * self.fits.n_functions):
            data = problem.X[rows]
            h = np.empty((n_alphas, data.shape[0]))
            core.evaluate_forms(
                problem.plan, data, problem.box, polynomials, h.T, problem.n_threads
            )
            fitted = problem.predict(data, weights)
            yield rows, problem.by_alpha(fitted), h, self.fits.most(h)


class GridPass(LeveragePass):
    """Interpolate from a grid in the angles, exact but for rounding.

    Only its nodes take L^2 multiply-adds, each sample the few nodes around it.
    """

    def cost(self) -> float:
        problem, functions = self.fits.problem, self.fits.n_functions
        # which is of polynomials
        if not isinstance(problem.basis, TensorBasis) or problem.basis.spectrum.levels is not None:
            return np.inf
        n_nodes, n_fine = count_nodes(self._degrees())
        if n_fine * functions > _MOST_FINE:
            return np.inf
        n, terms = float(problem.n_samples), float(problem.basis.n_terms)
        taps = float(TAPS) ** problem.basis.n_features
        at_nodes = n_nodes * terms * (terms + functions)
        return at_nodes + functions * (2.0 * n * taps + 200.0 * n_fine) + 1000.0 * n

    def _degrees(self) -> list[int]:
        """Return the highest degree of a quadratic form in the features, in each input."""
        basis = self.fits.problem.basis
        assert isinstance(basis, TensorBasis)
        return [2 * int(degree) for degree in basis.indices.max(axis=0)]

    def _mapped(self, rows: slice) -> npt.NDArray[np.float64]:
        problem = self.fits.problem
        data = problem.X[rows]
        return data if problem.scaling is None else problem.scaling.transform(data)

    def _grid(self) -> AngleGrid:
        """Span the box of the samples.

        It may lie beyond that of the scaling, or be much smaller.
        """
        problem = self.fits.problem
        ends = []
        for rows in blocks_of(problem.n_samples, problem.basis.n_features):
            data = self._mapped(rows)
            ends.append((data.min(axis=0), data.max(axis=0)))
        low, high = np.min(ends, axis=0)[0], np.max(ends, axis=0)[1]
        return AngleGrid(low, high, self._degrees())

    def _values(self, nodes: Doubles) -> Doubles:
        """Return leverages and fitted values at nodes, (n_functions, n_nodes)."""
        problem, n_alphas = self.fits.problem, self.fits.n_alphas
        values = np.empty((self.fits.n_functions, nodes.shape[0]))
        for some in blocks_of(nodes.shape[0], max(problem.basis.n_terms, values.shape[0])):
            fitted, h = self.fits.at(problem.features(nodes[some], mapped=True))
            values[:n_alphas, some] = h.T
            values[n_alphas:, some] = fitted.T
        return values

    def run(self) -> Iterator[Block]:
        problem, n_alphas = self.fits.problem, self.fits.n_alphas
        functions = self.fits.n_functions
        grid = self._grid()
        interpolant = grid.interpolant(self._values(grid.nodes()), problem.n_threads)
        held = np.empty(0)
        for rows in blocks_of(problem.n_samples, 2 * functions):
            data = self._mapped(rows)
            n = data.shape[0]
            if held.size < functions * n:  # once: memory that is new each time is slow
                held = np.empty(functions * n)
            out = held[: functions * n].reshape(-1, n)
            interpolant.evaluate(data, out, problem.n_threads)
            fitted = out[n_alphas:].reshape(n_alphas, problem.n_outputs, n)
            h = out[:n_alphas]
            yield rows, fitted.transpose(0, 2, 1), h, self.fits.most(h)


class TrianglePass(LeveragePass):
    r"""Solve with a triangle of the features: where eigenvectors have no digit for the leverages.

    With :math:`T'T = G'G + \alpha_0 I` for the smallest of the penalties, :math:`q = T'^{-1} g` is
    no longer than one, and turned to the left singular vectors of T it answers for every penalty:
    :math:`h = \sum_j q_j^2 w_j`, :math:`w_j = \tau_j^2 / (\tau_j^2 - \alpha_0 + \alpha)`.
    Products of features with right singular vectors, :math:`V'g`, would be the same in exact
    arithmetic. But columns of G of high degree may be 10^5 times as long as others, and a solve
    errs by as much as each column is long, a product by the longest.

    Parameters
    ----------
    fits : Fits
        Of a spectrum of the triangle.
    R : ndarray, shape (at least n_terms + n_outputs, n_terms + n_outputs)
        The triangle of [G, Y], scaled, without what belongs to a free constant.
    alphas : ndarray, shape (n_alphas,)
        Penalties.
    """

    def __init__(self, fits: Fits, R: Doubles, alphas: Doubles) -> None:
        super().__init__(fits)
        n_terms, least = R.shape[1] - fits.problem.n_outputs, float(alphas.min())
        penalty = np.zeros((n_terms, R.shape[1]))
        np.fill_diagonal(penalty, np.sqrt(least))
        T = stack_triangles([R, penalty])
        self._T = T[:n_terms, :n_terms]
        self._left, sigma, _ = graded_svd(self._T)
        whole = (sigma**2)[:, np.newaxis] + (alphas - least)
        with np.errstate(divide="ignore", invalid="ignore"):
            self._shares = (sigma**2)[:, np.newaxis] / whole
            self._inverse = self._shares / whole
        targets = self._left.T @ T[:n_terms, n_terms:]
        columns = self._shares[:, :, np.newaxis] * targets[:, np.newaxis, :]
        self._columns = columns.reshape(n_terms, -1)

    def cost(self) -> float:
        n, terms = float(self.fits.problem.n_samples), float(self.fits.problem.basis.n_terms)
        return n * terms * (1.5 * terms + self.fits.n_functions + self.fits.n_alphas)

    def run(self) -> Iterator[Block]:
        from scipy.linalg import solve_triangular

        problem, spectrum = self.fits.problem, self.fits.spectrum
        width = max(2 * problem.basis.n_terms, 3 * self.fits.n_functions)
        for rows in blocks_of(problem.n_samples, width):
            G = problem.features(problem.X[rows])
            if problem.free:
                G -= spectrum.mean_features
            q = solve_triangular(self._T, G.T, trans="T", check_finite=False).T @ self._left
            fitted = q @ self._columns
            q *= q
            h = q @ self._shares
            if problem.free:
                h += 1.0 / (problem.scale @ problem.scale)
                fitted += np.tile(spectrum.mean_targets, self.fits.n_alphas)
            yield rows, problem.by_alpha(fitted), h.T, (q @ self._inverse).T


PASSES: tuple[type[LeveragePass], ...] = (FeaturesPass, FormsPass, GridPass)


def cheapest_pass(fits: Fits) -> LeveragePass:
    """Choose the way of the fewest multiply-adds."""
    return min((way(fits) for way in PASSES), key=lambda way: way.cost())
