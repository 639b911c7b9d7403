"""The oracle itself: the paper in NumPy against values worked out by hand, mpmath and scipy.

Among them are the values that the project was required to reproduce. The splits of Iris and Wine:
``default_rng(seed).permutation(n)``, of which the first 105 (126) rows train and the others test;
the inputs are scaled by the extremes of the training rows, and test rows are clipped to them.
"""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import (
    KNOWN_AT_DEGREE_30,
    KNOWN_VALUES,
    ORDERS,
    gegenbauer,
    members,
    optimality,
    ridge_exact,
    ridge_svd,
    table,
    words,
)
from scipy.special import roots_chebyt, roots_gegenbauer

from gegenbauer import reference

# --- Polynomials -------------------------------------------------------------------------------


@pytest.mark.parametrize(("lam", "x", "expected"), KNOWN_VALUES)
def test_low_degrees(lam, x, expected):
    assert_allclose(reference.gegenbauer_recurrence(x, 5, lam), expected, rtol=1e-14)
    explicit = [reference.gegenbauer_explicit(x, n, lam) for n in range(6)]
    assert_allclose(explicit, expected, rtol=1e-12)


@pytest.mark.parametrize(("lam", "expected"), KNOWN_AT_DEGREE_30)
def test_degree_30(lam, expected):
    assert_allclose(reference.gegenbauer_recurrence(0.3, 30, lam)[30], expected, rtol=1e-13)


def test_the_oracle_of_the_oracle():
    """Our recurrence in extended precision is mpmath's hypergeometric function."""
    for lam, x, n in itertools.product([0.05, 0.5, 3.0], [-0.9, 0.3, 1.0], [1, 7, 40]):
        with mpmath.workdps(60):
            expected = mpmath.gegenbauer(n, mpmath.mpf(lam), mpmath.mpf(x))
            assert abs(gegenbauer(x, n, lam)[n] - expected) <= 1e-40 * (1 + abs(expected))


@pytest.mark.parametrize("lam", [-0.4999999, -0.25, 0.0, 1e-6, 0.05, 0.5, 1.0, 5.0, 50.0])
@pytest.mark.parametrize("normalization", ["raw", "orthonormal"])
def test_high_degrees_against_extended_precision(lam, normalization):
    x = np.r_[-1.0, np.cos(np.linspace(0.1, 3.1, 9)), 0.0, 0.3, 0.999, 1.0]
    evaluate = {
        "raw": reference.gegenbauer_recurrence,
        "orthonormal": reference.orthonormal_gegenbauer,
    }[normalization]
    expected = table(x, 500, lam, normalization)
    error = np.abs(evaluate(x, 500, lam) - expected).max(axis=0) / np.abs(expected).max(axis=0)
    assert error[:101].max() <= 1e-12
    assert error.max() <= 1e-10


def test_limit_at_zero_is_chebyshev():
    x = np.linspace(-1, 1, 21)
    values = reference.gegenbauer_recurrence(x, 12, 0.0)
    n = np.arange(1, 13)
    chebyshev = np.cos(n * np.arccos(x)[:, None])
    assert_allclose(values[:, 1:], 2 / n * chebyshev, atol=1e-14)
    assert_array_equal(values[:, 0], 1.0)
    # and it is the limit of g_n / lam from both sides
    for lam in (1e-9, -1e-9):
        near = reference.gegenbauer_recurrence(x, 12, lam)[:, 1:] / lam
        assert_allclose(near, values[:, 1:], atol=1e-7)


@pytest.mark.parametrize("lam", [-0.4, 0.0, 0.05, 0.5, 1.0, 4.0])
def test_orthonormal_for_the_probability_measure(lam):
    """Gauss quadrature is exact for the products of degree up to 2 * 30 - 1."""
    nodes, weights = roots_chebyt(30) if lam == 0.0 else roots_gegenbauer(30, lam)
    values = reference.orthonormal_gegenbauer(nodes, 29, lam)
    gram = values.T @ (weights[:, None] / weights.sum() * values)
    assert_allclose(gram, np.eye(30), atol=1e-11)


def test_orthonormal_at_zero_is_sqrt_two_chebyshev():
    values = reference.orthonormal_gegenbauer([1.0, -1.0], 3, 0.0)
    root = math.sqrt(2)
    assert_allclose(values, [[1, root, root, root], [1, -root, root, -root]], rtol=1e-15)


@given(
    lam=st.floats(-0.49, 20.0),
    x=st.floats(-1.0, 1.0),
    degree=st.integers(0, 40),
)
def test_parity(lam, x, degree):
    signs = (-1.0) ** np.arange(degree + 1)
    there = reference.gegenbauer_recurrence(x, degree, lam)
    assert_array_equal(reference.gegenbauer_recurrence(-x, degree, lam), signs * there)


@pytest.mark.parametrize("lam", [-0.5, -1.0, math.nan, math.inf])
def test_lam_outside_of_its_range(lam):
    for evaluate in (reference.gegenbauer_recurrence, reference.orthonormal_gegenbauer):
        with pytest.raises(ValueError, match=r"lam must be greater than -1/2 and finite, got"):
            evaluate(0.5, 3, lam)
    with pytest.raises(ValueError, match=r"lam must be positive and finite, got"):
        reference.gegenbauer_explicit(0.5, 3, lam)


def test_the_explicit_expression_needs_positive_lam():
    with pytest.raises(ValueError, match=r"lam must be positive and finite, got 0.0"):
        reference.gegenbauer_explicit(0.5, 3, 0.0)


# --- Terms -------------------------------------------------------------------------------------


def test_golden_order():
    assert words(reference.graded_lexicographic(2, 10)) == "00 10 01 20 11 02 30 21 12 03"
    assert words(reference.graded_lexicographic(3, 10)) == "000 100 010 001 200 110 101 020 011 002"


@pytest.mark.parametrize(("n_inputs", "degree"), [(1, 6), (2, 5), (3, 4), (4, 4), (6, 2)])
def test_order_against_sorting(n_inputs, degree):
    expected = sorted(members(n_inputs, degree, "total_degree"), key=ORDERS["grlex"])
    got = reference.graded_lexicographic(n_inputs, len(expected))
    assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("n_inputs", "degree", "beyond"),
    [(2, 43, 10), (4, 9, 285), (9, 4, 285), (13, 3, 440), (18, 2, 810), (33, 2, 405)],
)
def test_last_complete_degree_of_1000_terms(n_inputs, degree, beyond):
    totals = reference.graded_lexicographic(n_inputs, 1000).sum(axis=1)
    assert totals[999 - beyond] == degree
    assert_array_equal(totals[1000 - beyond :], degree + 1)
    assert math.comb(n_inputs + degree, degree) == 1000 - beyond
    assert math.comb(n_inputs + degree + 1, degree + 1) > 1000


@pytest.mark.parametrize("lam", [-0.3, 0.0, 0.05, 1.0])
def test_activation_matrix_is_made_of_elementary_functions(lam, rng):
    X = rng.uniform(-1, 1, (7, 3))
    indices = reference.graded_lexicographic(3, 35)
    G = reference.activation_matrix(X, indices, lam)
    assert G.shape == (7, 35)
    for column, index in zip(G.T, indices, strict=True):
        assert_allclose(column, reference.elementary_function(X, index, lam), rtol=1e-13)
    # any set of terms in any order, also without parents
    some = indices[::-3]
    assert_allclose(reference.activation_matrix(X, some, lam), G[:, ::-3], rtol=1e-13)


# --- Data --------------------------------------------------------------------------------------


def test_minmax_scale():
    training = [[2.0, -1.0, 5.0], [6.0, 0.0, 5.0]]
    X = [[3.0, -1.0, 5.0], [1.0, 9.0, 6.0]]
    assert_array_equal(reference.minmax_scale(X, training), [[0.25, 0, 0], [0, 1, 0]])
    expected = [[-0.5, -1, 0], [-1, 1, 0]]
    assert_array_equal(reference.minmax_scale(X, training, (-1.0, 1.0)), expected)


def test_constant_is_relative_to_the_magnitude():
    wobble = [[1e9, 1e-9], [1e9 * (1 + 4e-16), 2e-9]]
    assert_array_equal(reference.minmax_scale(wobble, wobble), [[0, 0], [0, 1]])


def test_class_targets():
    assert_array_equal(reference.class_targets([1, 0, 1], [0, 1]), [[1], [-1], [1]])
    assert_array_equal(
        reference.class_targets(["c", "a"], ["a", "b", "c"]), [[-1, -1, 1], [1, -1, -1]]
    )
    with pytest.raises(ValueError, match=r"labels must be among the classes \[0, 1\], got .*7"):
        reference.class_targets([0, 7], [0, 1])


# --- Weights -----------------------------------------------------------------------------------


def test_three_points_by_hand():
    """x = 0, 1/2, 1, Legendre, two terms, y = -1, -1, 1, gamma = 1."""
    G = reference.activation_matrix([[0.0], [0.5], [1.0]], [[0], [1]], 0.5)
    Phi = np.array([-1.0, -1.0, 1.0])
    for solve in (reference.rwdd, reference.rwdd_primal, reference.rwdd_dual):
        assert_allclose(solve(G, Phi, 1.0), [-4 / 9, 14 / 27], rtol=1e-14)


@pytest.mark.parametrize("shape", [(40, 12), (12, 40), (20, 20)])
@pytest.mark.parametrize("gamma", [2.0**-12, 1.0, 2.0**10])
def test_primal_is_dual_is_singular_values(shape, gamma, rng):
    G, Phi = rng.standard_normal(shape), rng.standard_normal((shape[0], 3))
    expected = ridge_svd(G, Phi, gamma)
    size = np.linalg.norm(expected)
    for solve in (reference.rwdd_primal, reference.rwdd_dual, reference.rwdd):
        assert np.linalg.norm(solve(G, Phi, gamma) - expected) <= 1e-9 * size


def test_rwdd_against_extended_precision(rng):
    G, Phi = rng.standard_normal((12, 7)), rng.standard_normal((12, 2))
    assert_allclose(reference.rwdd(G, Phi, 0.3), ridge_exact(G, Phi, 0.3), rtol=1e-12)


def test_rwdd_is_the_minimum_and_meets_the_conditions(rng):
    G, Phi = rng.standard_normal((9, 5)), rng.standard_normal((9, 2))
    W = reference.rwdd(G, Phi, 0.7)
    assert np.abs(reference.kkt_residual(G, Phi, W, 0.7)).max() <= 1e-13
    assert optimality(G, Phi)(W, 0.7) <= 1e-15
    least = reference.rwdd_objective(G, Phi, W, 0.7)
    for _ in range(5):
        step = 1e-3 * rng.standard_normal(W.shape)
        assert reference.rwdd_objective(G, Phi, W + step, 0.7) > least
        # the residual is the gradient: a central difference of a quadratic is exact
        slope = (
            reference.rwdd_objective(G, Phi, W + step, 1.4)
            - reference.rwdd_objective(G, Phi, W - step, 1.4)
        ) / 2
        gradient = reference.kkt_residual(G, Phi, W, 1.4)
        assert_allclose(slope, np.sum(gradient * step), rtol=1e-9)


def test_multipliers(rng):
    G, Phi = rng.standard_normal((4, 6)), rng.standard_normal((4, 1))
    alpha = reference.multipliers(G, Phi, 0.5)
    W = reference.rwdd_dual(G, Phi, 0.5)
    assert_allclose(G.T @ alpha, W, rtol=1e-13)
    assert_allclose(0.5 * alpha, Phi - G @ W, rtol=1e-12)  # gamma alpha is xi of the paper


def test_wdd_is_the_least_of_the_least_squares_solutions(rng):
    thin = rng.standard_normal((9, 4))
    G = np.hstack([thin, thin[:, :2]])  # rank 4 of 6 columns
    Phi = rng.standard_normal(9)
    w = reference.wdd(G, Phi)
    assert_allclose(G.T @ (Phi - G @ w), 0.0, atol=1e-12)
    assert_allclose(w[:2], w[4:], rtol=1e-10)  # equal columns share their weight
    assert_allclose(w[:2] + w[4:], np.linalg.lstsq(thin, Phi, rcond=None)[0][:2], rtol=1e-10)
    # R-WDD tends to it
    assert_allclose(reference.rwdd(G, Phi, 1e-6), w, rtol=1e-4)


@pytest.mark.parametrize("gamma", [0.0, -1.0, math.nan, math.inf])
def test_gamma_must_be_positive(gamma):
    for solve in (reference.rwdd, reference.rwdd_primal, reference.rwdd_dual):
        with pytest.raises(ValueError, match="gamma must be positive and finite"):
            solve([[1.0]], [1.0], gamma)


def test_bad_arrays():
    with pytest.raises(ValueError, match="G must be finite, got NaN or infinity"):
        reference.rwdd([[math.nan]], [1.0], 1.0)
    with pytest.raises(
        ValueError, match="G and Phi must have the same number of rows, got 1 and 2"
    ):
        reference.rwdd([[1.0]], [1.0, 2.0], 1.0)
    with pytest.raises(ValueError, match=r"X must have 2 dimension\(s\), got shape \(3,\)"):
        reference.activation_matrix([1.0, 2.0, 3.0], [[0]], 0.5)
    with pytest.raises(ValueError, match=r"indices must be integers of shape \(L, 1\)"):
        reference.activation_matrix([[1.0]], [[0, 1]], 0.5)


# --- The network on real data ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "norm", "decisions", "right"),
    [
        ((0.0, 1.0), 43.9783388964, [0.867506036932, -0.731799745106, -1.135491215003], 143),
        ((-1.0, 1.0), 29.6643646596, None, 144),
    ],
)
def test_iris_all_rows(iris, domain, norm, decisions, right):
    network = reference.fit(iris.X, iris.y, n_terms=15, lam=0.05, gamma=2.0**-6, domain=domain)
    assert network.weights.shape == (15, 3)
    assert_allclose(np.linalg.norm(network.weights), norm, rtol=0, atol=1e-10)
    if decisions is not None:
        first = reference.minmax_scale(iris.X[:1], network.box, domain)
        output = reference.network_output(first, network.indices, 0.05, network.weights)
        assert_allclose(output[0], decisions, rtol=0, atol=1e-10)
    assert np.sum(reference.predict_labels(network, iris.X) == iris.y) == right


@pytest.mark.parametrize(
    ("name", "n_training", "gamma", "expected"),
    [
        ("iris", 105, 2.0**-12, [44, 42, 41, 44, 44, 43, 45, 44, 43, 41]),
        ("wine", 126, 2.0**-6, [51, 50, 49, 52, 50, 51, 52, 52, 52, 50]),
    ],
)
def test_splits(request, name, n_training, gamma, expected):
    data = request.getfixturevalue(name)
    right = []
    for seed in range(10):
        training, test = data.split(seed, n_training)
        network = reference.fit(training.X, training.y, n_terms=1000, lam=0.05, gamma=gamma)
        right.append(int(np.sum(reference.predict_labels(network, test.X) == test.y)))
    assert_allclose(right, expected, rtol=0, atol=1)


def test_two_classes_take_one_output(iris):
    rows = iris.y > 0
    names = np.array(["versicolor", "virginica"])[iris.y[rows] - 1]
    network = reference.fit(iris.X[rows], names, n_terms=15, gamma=2.0**-6)
    assert network.weights.shape == (15, 1)
    predicted = reference.predict_labels(network, iris.X[rows])
    assert set(predicted) == set(names)
    assert np.mean(predicted == names) > 0.95
