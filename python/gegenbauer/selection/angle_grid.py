"""Many polynomials at many samples, from their values at the nodes of a grid.

A polynomial of degree k in x is a sum of cosines of ``0, theta, ..., k theta`` with
``theta = arccos x``, in each input. k + 1 regular angles determine it, and the core evaluates such
sums at any samples from the 16 nodes an input of a finer grid around them (the non-uniform Fourier
transform of type 2). That is good to rounding, 1e-15 of the sum of the absolute values of the
coefficients, whatever the degree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer.basis.scaling import InputScaling

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = ["TAPS", "AngleGrid", "count_nodes"]

TAPS: int = core.angle_taps


def _coefficients(values: Doubles) -> Doubles:
    """Return the Chebyshev coefficients of polynomials, from values at the regular angles.

    Along the last axis.
    """
    degree = values.shape[-1] - 1
    waves = np.fft.rfft(np.concatenate([values, values[..., -2:0:-1]], axis=-1)).real / degree
    waves[..., [0, -1]] *= 0.5
    return np.asarray(waves)


class AngleGrid:
    """A box and the degrees, in each input, of the polynomials to be evaluated in it.

    Parameters
    ----------
    lower, upper : ndarray, shape (n_features,)
        The box.
    degrees : sequence of int
        Highest degree in each input.

    Attributes
    ----------
    n_nodes : int
        Points at which the polynomials must be given.
    n_fine_nodes : int
        Points of the grid they are evaluated from.
    """

    def __init__(self, lower: Doubles, upper: Doubles, degrees: Sequence[int]) -> None:
        self._scaling = InputScaling(lower, upper, domain=(-1.0, 1.0))
        self._degrees = [
            1 if constant else max(1, degree)
            for degree, constant in zip(degrees, self._scaling.is_constant, strict=True)
        ]
        self.n_nodes, self.n_fine_nodes = count_nodes(self._degrees)

    def nodes(self) -> Doubles:
        """Return the points at which the polynomials must be given, (n_nodes, n_features)."""
        lower, upper = self._scaling.lower, self._scaling.upper
        middle, half = 0.5 * lower + 0.5 * upper, 0.5 * upper - 0.5 * lower
        axes = [
            middle[t] + half[t] * np.cos(np.pi / degree * np.arange(degree + 1))
            for t, degree in enumerate(self._degrees)
        ]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(self.n_nodes, -1)

    def interpolant(self, values: Doubles, n_threads: int) -> Interpolant:
        """Prepare functions with these values at the nodes, (n_functions, n_nodes)."""
        grid = values.reshape([-1, *(degree + 1 for degree in self._degrees)])
        for axis in range(1, grid.ndim):
            grid = np.moveaxis(_coefficients(np.moveaxis(grid, axis, -1)), -1, axis)
        flat = np.ascontiguousarray(grid).reshape(-1, self.n_nodes).T
        return Interpolant(core.AngleFunctions(self._degrees, flat, n_threads), self._scaling)


class Interpolant:
    """Functions that are ready to be evaluated."""

    def __init__(self, grid: core.AngleFunctions, scaling: InputScaling) -> None:
        self._grid, self._scaling = grid, scaling

    def evaluate(self, X: npt.NDArray[np.float64], out: Doubles, n_threads: int) -> None:
        """Write the functions at samples in the box to `out`, (n_functions, n_samples)."""
        self._grid.evaluate(X, self._scaling._map, out.T, n_threads)


def count_nodes(degrees: Sequence[int]) -> tuple[int, int]:
    """Count the nodes of an `AngleGrid` of those degrees, and those of its fine grid."""
    coarse, fine = 1, 1
    for degree in degrees:
        coarse *= max(1, degree) + 1
        fine *= core.count_angle_nodes(max(1, degree))
    return coarse, fine
