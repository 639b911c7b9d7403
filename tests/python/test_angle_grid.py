"""Polynomials from a grid in the angles, against sums of Chebyshev polynomials."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import chebyshev
from numpy.testing import assert_allclose, assert_array_equal

from gegenbauer.selection.angle_grid import AngleGrid, count_nodes

N_FUNCTIONS = 19  # more than one group of every instruction set, and no multiple of one


class Polynomials:
    """Random sums of Chebyshev polynomials of a box."""

    def __init__(self, degrees, low, high, seed=0):
        self.low, self.high, self.degrees = np.array(low), np.array(high), degrees
        shape = [N_FUNCTIONS, *(degree + 1 for degree in degrees)]
        self.coefficients = np.random.default_rng(seed).standard_normal(shape)

    def __call__(self, X):
        """Evaluate them at rows, (N_FUNCTIONS, n)."""
        tables = []
        for t, degree in enumerate(self.degrees):
            middle, half = (self.high[t] + self.low[t]) / 2, (self.high[t] - self.low[t]) / 2
            z = (X[:, t] - middle) / half if half else np.zeros(len(X))
            tables.append(chebyshev.chebvander(z.clip(-1, 1), degree))
        # the sum over one degree after the other, so that products of all are never held
        values = self.coefficients @ tables.pop().T
        while tables:
            values = np.einsum("...dn,nd->...n", values, tables.pop())
        return values

    def rows(self, n):
        rng = np.random.default_rng(1)
        X = rng.uniform(self.low, self.high, (n, len(self.low)))
        X[0], X[1], X[2] = self.low, self.high, (self.low + self.high) / 2
        return X

    @property
    def size(self):
        return np.abs(self.coefficients.reshape(N_FUNCTIONS, -1)).sum(axis=1)[:, np.newaxis]


def evaluate(grid, values, X, n_threads=1):
    out = np.full((len(values), len(X)), np.nan)
    grid.interpolant(values, n_threads).evaluate(X, out, n_threads)
    return out


@pytest.mark.parametrize(
    ("degrees", "low", "high"),
    [
        ((1,), [0.0], [1.0]),
        ((40,), [-1.0], [1.0]),
        ((700,), [-3.0], [5.0]),
        ((12, 5), [0.0, 100.0], [1.0, 101.0]),
        ((0, 30), [-1e-3, -1e9], [2e-3, 1e9]),
        ((106, 106), [-1.0, 0.2], [1.0, 0.3]),
        ((7, 3, 9), [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
        ((2, 3, 1, 2), [0.0, 0.0, 0.0, -1.0], [1.0, 1.0, 1.0, 1.0]),
    ],
)
def test_equals_sums_of_polynomials(degrees, low, high):
    polynomials = Polynomials(degrees, low, high)
    grid = AngleGrid(polynomials.low, polynomials.high, degrees)
    nodes = grid.nodes()
    assert nodes.shape == (grid.n_nodes, len(degrees))
    X = polynomials.rows(300)
    found = evaluate(grid, polynomials(nodes), X)
    # at the nodes of 1e9 and 101 the inputs themselves are known to eps of their size alone
    known = max(1.0, float((np.abs(high) / (np.array(high) - low)).max()) / 10)
    scale = known * max(1, *degrees) ** 2 * 1e-16 + 4e-14
    assert (np.abs(found - polynomials(X)) / polynomials.size).max() <= scale


def test_a_constant_input_takes_no_part():
    polynomials = Polynomials((4, 8), [0.5, 0.0], [0.5, 1.0])
    grid = AngleGrid(polynomials.low, polynomials.high, (4, 8))
    X = polynomials.rows(50)
    found = evaluate(grid, polynomials(grid.nodes()), X)
    assert_allclose(found, polynomials(X), rtol=0, atol=1e-12)


def test_threads_and_blocks_change_no_bit():
    polynomials = Polynomials((10, 14), [0.0, 0.0], [1.0, 1.0])
    grid = AngleGrid(polynomials.low, polynomials.high, (10, 14))
    X = polynomials.rows(40_000)
    interpolant = grid.interpolant(polynomials(grid.nodes()), 1)
    out = np.empty((2, N_FUNCTIONS, len(X)))
    interpolant.evaluate(X, out[0], 1)
    interpolant.evaluate(X, out[1], 3)
    assert_array_equal(out[0], out[1])
    part = np.empty((N_FUNCTIONS, 777))
    interpolant.evaluate(X[20_000:20_777], part, 1)
    assert_array_equal(part, out[0][:, 20_000:20_777])


def test_reads_any_layout_and_float32():
    polynomials = Polynomials((6, 6), [0.0, 0.0], [1.0, 1.0])
    grid = AngleGrid(polynomials.low, polynomials.high, (6, 6))
    values = polynomials(grid.nodes())
    X = polynomials.rows(101).astype(np.float32)
    true = evaluate(grid, values, X.astype(np.float64))
    for rows in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        assert_array_equal(evaluate(grid, values, rows), true)


def test_nodes_are_counted_without_a_grid():
    for degrees in [(3,), (0, 5), (20, 30), (1, 2, 3)]:
        m = len(degrees)
        grid = AngleGrid(np.zeros(m), np.ones(m), degrees)
        assert count_nodes(degrees) == (grid.n_nodes, grid.n_fine_nodes)
        assert len(grid.nodes()) == grid.n_nodes
