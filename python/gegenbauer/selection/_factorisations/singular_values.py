"""The features themselves, by their singular values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._memory import require_memory
from gegenbauer._messages import Ways
from gegenbauer.selection._factorisations.base import LeftOut, Rounding, SpectralFactorisation
from gegenbauer.selection._features import EPS, blocks_of
from gegenbauer.selection._leave_one_out import without_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.selection._ridge_problem import RidgeProblem

__all__ = ["SingularValues"]


def _distinct(X: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the first sample of each distinct input, and for each sample which of them it is."""
    _, first, group = np.unique(X + 0.0, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # in the order of the samples
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return first[order], rank[group.ravel()]


def _sums_of_others(values: Doubles, group: npt.NDArray[np.intp]) -> Doubles:
    """Return for each sample the sum of the others of its group, without any subtraction."""
    found = np.zeros_like(values)
    sizes = np.bincount(group)
    order = np.argsort(group, kind="stable")
    of_size = sizes[group[order]]
    for size in np.unique(sizes[sizes > 1]).tolist():
        rows = order[of_size == size].reshape(-1, size)
        own = values[rows]
        found[rows[:, 1:]] += np.cumsum(own[:, :-1], axis=1)
        found[rows[:, :-1]] += np.cumsum(own[:, :0:-1], axis=1)[:, ::-1]
    return found


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


class SingularValues(SpectralFactorisation):
    """``G = U S V'`` of a basis at distinct inputs: most accurate, for small problems.

    Copies of an input are one sample of their mean target and their summed weight; what their
    targets differ by no function of the inputs can reach. Taken so here, that is exact, where
    rounding would leave a singular value of 1e-17 and its vector a trace in all other samples,
    which a tiny alpha makes the largest number of all.
    """

    method = "svd"
    knows_roots = True

    def __init__(self, problem: RidgeProblem) -> None:
        super().__init__(problem)
        inputs = problem.X
        if problem.scaling is not None:  # which may clip
            inputs = problem.scaling.transform(inputs)
        first, group = _distinct(inputs)
        squares = problem.scale**2
        mass = np.asarray(np.bincount(group, squares), dtype=np.float64)
        scale = np.sqrt(mass)
        rows, terms = first.size, problem.basis.n_terms
        require_memory(
            8.0 * (3 * rows * terms + 2 * min(rows, terms) ** 2),
            f"the decomposition of {rows} x {terms} features",
            Ways("choose", "`method='dual'` or 'primal'"),
        )
        share = squares / mass[group]
        targets = problem.Y - problem.means
        means = targets[first]  # the shift keeps equal targets equal
        shifted = targets - means[group]
        for column, of_group in zip(shifted.T, means.T, strict=True):
            of_group += np.bincount(group, share * column, minlength=rows)
        Y = scale[:, np.newaxis] * means
        U, rest = self._decompose(problem.features(problem.X[first], scale), Y, scale)
        beyond = self._unreached(U, rest, Y, mass) if self.missing else np.zeros(rows)
        self._beyond_Y = rest
        # from distinct inputs to samples
        root = np.sqrt(share)
        others = _sums_of_others(share, group)  # exactly zero where there are none
        # how far a target is from the mean of its group follows from the mean of the others
        weighted = _sums_of_others(share[:, np.newaxis] * shifted, group)
        apart = shifted - weighted / np.where(others > 0, others, 1.0)[:, np.newaxis]
        self._U = root[:, np.newaxis] * U[group]
        self._rest_Y = root[:, np.newaxis] * rest[group]
        self._rest_Y += (problem.scale * others)[:, np.newaxis] * apart
        self._beyond = share * beyond[group]
        self._rest = others + self._beyond

    def _decompose(self, G: Doubles, Y: Doubles, scale: Doubles) -> tuple[Doubles, Doubles]:
        """Return the left singular vectors, and what they leave of the targets."""
        reflection = _Reflection(scale) if self.problem.free else None
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
        self._eigenvalues = sigma**2
        self.size = float(self.eigenvalues[:1].sum()) + of_mean
        self._projected = U.T @ Y
        self.missing = U.shape[0] > U.shape[1]
        rest = Y - U @ self._projected if self.missing else np.zeros_like(Y)
        return (U, rest) if reflection is None else (reflection.lift(U), reflection.lift(rest))

    def _unreached(self, U: Doubles, rest: Doubles, Y: Doubles, mass: Doubles) -> Doubles:
        """Return what G cannot reach of the unit vector of each distinct input."""
        gone = np.einsum("ij,ij->i", U, U)
        if self.problem.free:
            gone += mass / mass.sum()
            Y = _Reflection(np.sqrt(mass)).apply(Y)[1:]
        beyond = (1.0 - gone).clip(min=0.0)
        # Known to some eps only, while its root counts. Where that is all, what is left of
        # targets there is a better estimate: it is at most the root's share of all that is left.
        root = np.sqrt(mass.size)
        with np.errstate(over="ignore"):  # of targets whose squares leave float64
            noise = 8.0 * root * EPS * np.linalg.norm(Y, axis=0)
            whole = np.linalg.norm(rest, axis=0) + noise
        least = (np.abs(rest) - noise).clip(min=0.0) / np.where(whole > 0, whole, 1.0)
        least = least.max(axis=1, initial=0.0) ** 2
        unknown = beyond < 8.0 * root * EPS
        return np.asarray(np.where(unknown, np.maximum(beyond, least), beyond))

    @property
    def leaves_residuals(self) -> bool:
        return self.missing or bool(self._rest.any())

    def left_out(self, alphas: Doubles, share: Doubles | None = None) -> Iterator[LeftOut]:
        problem = self.problem
        with np.errstate(divide="ignore"):
            inverse = 1.0 / (self.eigenvalues[:, np.newaxis] + alphas)
        shrunk = inverse[:, :, np.newaxis] * self._projected[:, np.newaxis, :]
        columns = shrunk.reshape(inverse.shape[0], alphas.size * problem.n_outputs)
        kept = self.eigenvalues[:, np.newaxis] * inverse
        # functions are held with their residuals and rounding
        width = max(inverse.shape[0], 3 * alphas.size * (1 + problem.n_outputs))
        for rows in blocks_of(problem.n_samples, width):
            U, rest = self._U[rows], self._rest[rows]
            e = problem.by_alpha(U @ columns)
            squares = U**2
            d = (squares @ inverse).T
            # Where G reaches all of a sample both are proportional to alpha, and divided by it
            # they have a limit at zero.
            partly = rest > 0
            factor = np.where(partly, alphas[:, np.newaxis], 1.0)
            e = factor[:, :, np.newaxis] * e + np.where(partly, self._rest_Y[rows].T, 0.0).T
            d = factor * d + rest
            leverage = (squares @ kept).T
            if problem.free:
                leverage = leverage + problem.scale[rows] ** 2 / (problem.scale @ problem.scale)
            with np.errstate(divide="ignore"):
                unit = np.where(partly, 1.0, 1.0 / alphas[:, np.newaxis])
            part = None if share is None else share[rows]
            d = without_share(d, unit, part)
            rounding = self._rounding(rows, alphas, squares, inverse, shrunk, part)
            yield LeftOut(rows, e, d, leverage, rounding)

    def _rounding(
        self,
        rows: slice,
        alphas: Doubles,
        squares: Doubles,
        inverse: Doubles,
        shrunk: Doubles,
        share: Doubles | None,
    ) -> Rounding:
        """Return it for singular vectors, which are orthogonal up to eps: another eps z_i, eps e'.

        Where G reaches all of a sample, as e and d are, else times alpha. There d is a difference
        from one.
        """
        alpha = alphas[:, np.newaxis]
        root, variance = np.sqrt(self.size), self.eigenvalues[:, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            partly = self._rest[rows] > 0
            factor = np.where(partly, alpha, 1.0)
            z = np.sqrt(factor**2 * (squares @ inverse**2).T + self._beyond[rows])
            by_features = np.sqrt((squares @ (variance * inverse**2)).T)  # |G'z_i|
            e = factor * np.linalg.norm(shrunk, axis=(0, 2))[:, np.newaxis]
            weights = np.sqrt((variance * (shrunk**2).sum(axis=2)).sum(axis=0))[:, np.newaxis]
            targets = np.linalg.norm(self._projected)
            of_d = 2.0 * z * (root * by_features + 1.0)
            unit = np.zeros(())
            if self.missing:
                missing = np.linalg.norm(self._beyond_Y)
                targets = np.hypot(targets, missing)
                unit = np.where(partly, 1.0, 1.0 / alpha)
                e = np.hypot(e, missing * unit)
                of_d = of_d + unit
            of_e = root * (z * weights + by_features * e) + e + z * targets + unit * targets
        of_e, of_d = 2.0 * of_e, 2.0 * of_d
        return Rounding(of_e, of_d if share is None else share * of_d, np.zeros_like(z))

    def quadratic_forms(self, alphas: Doubles) -> tuple[Doubles, Doubles]:
        shrink = alphas / (self.eigenvalues[:, np.newaxis] + alphas)
        squares = self._projected**2
        rest = (self._rest_Y**2).sum(axis=0)
        return (shrink**2).T @ squares + rest, shrink.T @ squares + rest

    def weights(self, alphas: Doubles) -> Doubles:
        factor = 1.0 / (self.eigenvalues[:, np.newaxis] + alphas)
        factor *= np.sqrt(self.eigenvalues)[:, np.newaxis]
        shrunk = factor[:, :, np.newaxis] * self._projected[:, np.newaxis, :]
        width = alphas.size * self.problem.n_outputs
        return self._with_constants(self._V @ shrunk.reshape(factor.shape[0], width))

    def posterior(self, alpha: float) -> tuple[Doubles, Doubles, float]:
        problem = self.problem
        # what the samples do not reach keeps the inverse of alpha
        size = self._V.shape[0]
        require_memory(
            16.0 * size * size,
            f"the matrix of {size} terms behind standard deviations",
            Ways("lower", "`n_terms`"),
        )
        beyond = alpha**-0.5
        root = (self._V * (1.0 / np.sqrt(self.eigenvalues + alpha) - beyond)) @ self._V.T
        root[np.diag_indices(size)] += beyond
        if not problem.free:
            return root, np.zeros(0), 0.0
        free = 1.0 / float(problem.scale @ problem.scale)
        own = problem.features(problem.X)
        return root, free * (problem.scale**2 @ own), free
