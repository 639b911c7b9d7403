"""Kernels that enumerate no terms, against the terms themselves or series in extended precision."""

from __future__ import annotations

import itertools
import pickle
import sys
from dataclasses import replace

import mpmath
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interrupts import interrupt
from numpy.testing import assert_allclose, assert_array_equal
from problems import relative

import gegenbauer
from gegenbauer import (
    GeometricDecay,
    InputScaling,
    PowerDecay,
    TensorBasis,
    solve_kernel,
    solve_ridge,
)
from gegenbauer._dispatch import core
from gegenbauer.basis import SpectrumKernel, TotalDegreeKernel, count_terms, gegenbauer_vander
from gegenbauer.errors import TooLargeError
from gegenbauer.ridge import predict, predict_kernel

SPECTRA = [None, "orthonormal", (0.3, 1.5)]


def inside(rng, n_samples, n_features, low=-1.0):
    """Points of the box, both of its corners among them."""
    X = rng.uniform(low, 1, (n_samples, n_features))
    X[0] = low
    X[-1] = 1
    return X


def close(a, b, tolerance=1e-13):
    assert np.abs(a - b).max() <= tolerance * np.abs(b).max()


# --- Total degree ---------------------------------------------------------------------------------


@pytest.mark.parametrize("lam", [-0.4, 0.0, 0.05, 0.5, 1.0, 7.0])
@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("low", [0.0, -1.0])
def test_total_degree_is_the_product_of_the_features(rng, lam, spectrum, low):
    for m, degree in [(1, 0), (1, 12), (2, 9), (3, 1), (4, 2), (5, 3), (4, 4), (3, 5), (2, 6)]:
        X, Z = inside(rng, 53, m, low), inside(rng, 30, m, low)
        basis = TensorBasis(m, degree=degree, lam=lam, spectrum=spectrum)
        kernel = TotalDegreeKernel(m, degree, lam=lam, spectrum=spectrum)
        G, H = basis.evaluate(X), basis.evaluate(Z)
        close(kernel(X), G @ G.T)
        close(kernel(X, Z), G @ H.T)
        close(kernel.diagonal(X), (G * G).sum(axis=1))


@pytest.mark.parametrize("degree", range(12))
@pytest.mark.parametrize("max_interaction", [1, 2, 3, 4])
def test_limited_interaction(rng, degree, max_interaction):
    X = inside(rng, 40, 4)
    options = {"lam": 0.5, "max_interaction": max_interaction}
    G = TensorBasis(4, degree=degree, **options).evaluate(X)
    close(TotalDegreeKernel(4, degree, **options)(X), G @ G.T)


@pytest.mark.thread_unsafe(reason="mpmath's precision is that of the process")
def test_more_terms_than_can_be_made(rng):
    """Degree 40 in 50 inputs has 10^25 terms; at a corner their sum is known."""
    kernel = TotalDegreeKernel(50, 40, lam=0.5)
    X = np.ones((2, 50))  # Legendre polynomials are 1 there
    X[1, 1:] = 0
    terms = float(mpmath.binomial(90, 40))
    assert_allclose(kernel(X)[0, 0], terms, rtol=1e-13)
    zeros = gegenbauer_vander(0.0, 40, 0.5)
    # the terms of z that are not zero have even degrees in the inputs 1..49
    even = mpmath.taylor(lambda u: sum(zeros[n] * u**n for n in range(41)) ** 49, 0, 40)
    assert_allclose(kernel(X)[0, 1], float(sum(np.cumsum(even))), rtol=1e-11)


# --- All terms ------------------------------------------------------------------------------------


def brute_force(x, z, parts):
    """The kernel of one pair for lam = 0, by mpmath's own polylogarithms and powers.

    sum over n of n^-2s cos(n u) is the real part of Li_2s(e^iu); that of r^(n-1) cos(n u) is the
    real part of e^iu / (1 - r e^iu).
    """
    with mpmath.workdps(30):
        product = mpmath.mpf(1)
        for t, (a, c) in enumerate(zip(x, z, strict=True)):
            one, other = mpmath.acos(mpmath.mpf(float(a))), mpmath.acos(mpmath.mpf(float(c)))
            k = mpmath.mpf(0)
            for kind, exponent, weights in parts:
                for u in (abs(one - other), one + other):
                    e = mpmath.expjpi(u / mpmath.pi)
                    if kind == "geometric":
                        k += weights[t] * mpmath.re(e / (1 - mpmath.mpf(exponent) * e))
                    else:
                        k += weights[t] * mpmath.re(mpmath.polylog(2 * exponent, e))
            product *= 1 + k
        return float(product)


CLOSED = [
    [PowerDecay(0.7, 1)],
    [PowerDecay((0.7, 0.0, 3.0), 2)],
    [PowerDecay(0.7, 3)],
    [GeometricDecay((0.2, 1.0, 0.0), 0.1)],
    [GeometricDecay(0.2, 0.95)],
    [PowerDecay(0.3, 1), PowerDecay(2.0, 3), GeometricDecay(0.5, 0.3), GeometricDecay(0.1, 0.9)],
]


@pytest.mark.parametrize("components", CLOSED)
@pytest.mark.thread_unsafe(reason="mpmath's precision is that of the process")
def test_closed_forms(rng, components):
    X = inside(rng, 6, 3)
    X[2] = X[1]  # equal points: the angles differ by zero
    X[3, 0] = np.nextafter(X[1, 0], 1)
    X[4] = [1.0, -1.0, 0.0]
    kernel = SpectrumKernel(3, components)
    assert kernel.n_degrees == 0
    parts = [
        ("power", component.smoothness, np.broadcast_to(component.interaction, 3))
        if isinstance(component, PowerDecay)
        else ("geometric", component.ratio, np.broadcast_to(component.interaction, 3))
        for component in components
    ]
    expected = np.array([[brute_force(x, z, parts) for z in X] for x in X])
    close(kernel(X), expected, 1e-14)
    close(kernel.diagonal(X), expected.diagonal(), 1e-14)


@pytest.mark.parametrize("lam", [-0.3, 0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize(
    "components",
    [[PowerDecay(0.4, 4.5)], [GeometricDecay((0.2, 2.0), 0.6), PowerDecay(0.1, 6.0)]],
)
def test_sums_of_degrees(rng, lam, components):
    X, Z = inside(rng, 30, 2), inside(rng, 50, 2)
    expected = np.ones((30, 50))
    n = np.arange(1, 801)
    for t in range(2):
        v = sum(
            np.broadcast_to(component.interaction, 2)[t]
            * (
                n ** (-2.0 * component.smoothness)
                if isinstance(component, PowerDecay)
                else component.ratio ** (n - 1.0)
            )
            for component in components
        )
        f = gegenbauer_vander(X[:, t], 800, lam, normalization="orthonormal")[:, 1:]
        g = gegenbauer_vander(Z[:, t], 800, lam, normalization="orthonormal")[:, 1:]
        expected *= 1 + (f * v) @ g.T
    kernel = SpectrumKernel(2, components, lam=lam)
    close(kernel(X, Z), expected, 1e-12)
    if lam != 0:
        assert 5 < kernel.n_degrees < 800


@pytest.mark.parametrize("s", [0.75, 1.0, 1.5])
@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_spectrum_that_ends_is_a_tensor_set(rng, s, lam):
    X = inside(rng, 30, 3)
    G = TensorBasis(
        3, degree=[6, 6, 6], index_set="tensor", lam=lam, spectrum=(0.4, s)
    ).evaluate(X)  # fmt: skip
    kernel = SpectrumKernel(3, (0.4, s), lam=lam, max_degree=6)
    assert kernel.n_degrees == 6
    close(kernel(X), G @ G.T)


def test_limit_of_finite_sets(rng):
    """Closed forms are what the tensor sets tend to, at the rate of the tail, 2 q / (3 N^3)."""
    X = inside(rng, 20, 2)
    limit = SpectrumKernel(2, (1.0, 2.0))(X)
    errors = [
        np.abs(SpectrumKernel(2, (1.0, 2.0), max_degree=n)(X) - limit).max() for n in (10, 100)
    ]
    assert errors[0] < 1e-2
    assert 500 < errors[0] / errors[1] < 2000


def test_mixture_of_closed_forms_and_sums(rng):
    X, Z = inside(rng, 41, 2), inside(rng, 26, 2)
    mixed = SpectrumKernel(2, [PowerDecay(0.3, 2), GeometricDecay(0.2, 0.4), PowerDecay(0.5, 5)])
    assert mixed.n_degrees > 0
    k = [SpectrumKernel(1, c) for c in [(0.3, 2), GeometricDecay(0.2, 0.4), (0.5, 5)]]
    expected = np.ones((41, 26))
    for t in range(2):
        column, other = X[:, t : t + 1], Z[:, t : t + 1]
        expected *= 1 + sum(part(column, other) - 1 for part in k)
    close(mixed(X, Z), expected)


@pytest.mark.parametrize(
    ("components", "lam", "message"),
    [
        ((1.0, 0.5), 0.5, "s must be greater than 1"),
        ((1.0, 0.5), 0.0, r"s must be greater than 0\.5"),
        ((1.0, 1.5), 0.0, "needs more than 1000 degrees.*smoothness of 1, 2 or 3"),
        (GeometricDecay(1.0, 0.999), 0.5, "needs more than 1000 degrees.*smaller ratio"),
        (
            PowerDecay((1.0, 2.0, 3.0), 1.0),
            0.0,
            r"`interaction` \(q\) must be one number or 2, one an input; got 3",
        ),
        ((-1.0, 1.0), 0.0, "interaction"),
        ((float("nan"), 1.0), 0.0, "interaction"),
        ((1.0, 0.0), 0.0, "smoothness"),
    ],
)
def test_spectra_without_a_kernel(components, lam, message):
    with pytest.raises(ValueError, match=message):
        SpectrumKernel(2, components, lam=lam)


@pytest.mark.parametrize("kind", [PowerDecay, GeometricDecay])
def test_interactions_of_any_sequence(kind):
    given = (0.5, 0.25)
    for interaction in (list(given), np.array(given), given):
        component = kind(interaction)
        assert component.interaction == given
        assert type(component.interaction) is tuple
        assert component == kind(given)
        assert hash(SpectrumKernel(2, component)) == hash(SpectrumKernel(2, kind(given)))
    assert kind(np.float64(2.0)).interaction == 2.0
    with pytest.raises(TypeError, match=r"`interaction` \(q\) must be a number, got 'one'"):
        SpectrumKernel(2, kind(["one", 1.0]))


@pytest.mark.parametrize("components", ["power", None, (), (1.0, 2.0, 3.0), [PowerDecay(), 3]])
def test_components_of_wrong_type(components):
    with pytest.raises(TypeError, match="components of `spectrum` must be"):
        SpectrumKernel(2, components)


@pytest.mark.parametrize(
    "kernel",
    [
        SpectrumKernel(2, [PowerDecay(1.0, 1), GeometricDecay(1.0, 0.5)]),
        SpectrumKernel(2, (1.0, 2.0), max_degree=20),
    ],
)
def test_edges_of_the_domain(kernel):
    edge = np.array([[1.0, -1.0], [0.3, 1.0]])
    rounded = edge * (1 + 2e-7)  # as float32 may
    assert_array_equal(kernel(rounded.clip(-1, 1)), kernel(rounded))
    assert np.isfinite(kernel(np.nextafter(edge, 2 * edge))).all()
    for bad in (1.01, -1.5, 1e300):
        with pytest.raises(ValueError, match=r"lives on \[-1, 1\]: give a scaling that clips"):
            kernel(edge, np.array([[0.0, bad]]))
    message = r"column 1 holds -1\.000002 in row 30, but"
    X = np.zeros((60, 2))
    X[30, 1] = -1 - 2e-6
    for call in (kernel, kernel.diagonal, lambda X: kernel(edge, X)):
        with pytest.raises(ValueError, match=message):
            call(X)
    with pytest.raises(ValueError, match=message):
        kernel.log_gradient(X, np.eye(60))
    scaling = InputScaling([0, 0], [1, 1], domain=(-1, 1))
    assert_array_equal(kernel([[7.0, -7.0]], scaling=scaling), kernel([[1.0, -1.0]]))


# --- Any kernel -----------------------------------------------------------------------------------

KERNELS = [
    TotalDegreeKernel(3, 3, lam=0.05),
    TotalDegreeKernel(3, 11, lam=0.5, spectrum="orthonormal"),
    TotalDegreeKernel(3, 5, lam=0.5, max_interaction=2),
    SpectrumKernel(3, (0.3, 1.0)),
    SpectrumKernel(3, [PowerDecay((0.1, 0.5, 0.0), 2), GeometricDecay(0.1, 0.5)]),
    SpectrumKernel(3, (0.5, 2.0), lam=0.5, max_degree=25),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
class TestAnyKernel:
    @pytest.mark.parametrize("n_samples", [1, 2, 23, 24, 25, 193, 400])
    def test_symmetric_and_of_one_piece(self, rng, kernel, n_samples):
        X = inside(rng, n_samples, 3)
        K = kernel(X)
        assert_array_equal(K, K.T)
        assert np.linalg.eigvalsh(K).min() >= -1e-13 * np.linalg.norm(K, 2)
        close(kernel(X, X), K, 1e-15)
        close(kernel.diagonal(X), K.diagonal(), 1e-15)

    def test_layouts_and_types(self, rng, kernel):
        X, Z = inside(rng, 60, 3).astype(np.float32), inside(rng, 35, 3)
        expected = kernel(X.astype(np.float64), Z)
        wide = np.zeros((35, 9))
        wide[:, ::3] = Z
        assert_array_equal(kernel(np.asfortranarray(X), wide[:, ::3]), expected)
        assert_array_equal(kernel(Z, X).T, kernel(Z, X.astype(np.float64)).T)
        for out in (np.empty((60, 35), order="F"), np.empty((120, 70))[::2, ::2]):
            assert kernel(X, Z, out=out) is out
            assert_array_equal(out, expected)
        for out in (np.empty((60, 60), order="F"), np.empty((120, 120))[::2, ::-2]):
            assert_array_equal(kernel(X, out=out), kernel(X))

    def test_scaling_is_applied_on_the_fly(self, rng, kernel):
        X, Z = rng.normal(3, 2, (50, 3)), rng.normal(3, 5, (20, 3))
        X[:, 1] = 4.0  # constant: mapped to 0
        scaling = InputScaling.fit(X, domain=(-1, 1))
        expected = kernel(scaling.transform(X), scaling.transform(Z))
        close(kernel(X, Z, scaling=scaling), expected, 1e-14)
        expected = kernel.diagonal(scaling.transform(Z))
        close(kernel.diagonal(Z, scaling=scaling), expected, 1e-14)

    def test_threads_change_no_bit(self, rng, kernel):
        X, Z = inside(rng, 700, 3), inside(rng, 500, 3)
        c = rng.standard_normal((700, 2))
        for n_threads in (2, 3):
            assert_array_equal(kernel(X, n_threads=n_threads), kernel(X, n_threads=1))
            assert_array_equal(kernel(X, Z, n_threads=n_threads), kernel(X, Z, n_threads=1))
            one, other = (solve_kernel(kernel, X, c, 0.1, n_threads=n) for n in (1, n_threads))
            assert_array_equal(one.dual_coef, other.dual_coef)
            one, other = (predict_kernel(kernel, Z, X, c, n_threads=n) for n in (1, n_threads))
            assert_array_equal(one, other)

    @pytest.mark.parametrize("n_outputs", [1, 3, 11])
    def test_prediction_is_a_product(self, rng, kernel, n_outputs):
        X, Z = inside(rng, 61, 3), inside(rng, 130, 3)
        c, b = rng.standard_normal((130, n_outputs)), rng.standard_normal(n_outputs)
        expected = kernel(X, Z) @ c + b
        close(predict_kernel(kernel, X, Z, c, intercept=b), expected)
        out = np.empty((61, n_outputs), order="F")
        assert predict_kernel(kernel, X, Z, c, intercept=b, out=out) is out
        close(out, expected)

    def test_lower_triangle_with_weights(self, rng, kernel):
        """What the solve makes of a kernel: D (K - 1) D, added to what is there."""
        X, d = inside(rng, 70, 3), rng.random(70)
        for constant in (0, 1):
            out = np.asfortranarray(np.arange(4900.0).reshape(70, 70))
            expected = out + d[:, None] * (kernel(X) - 1 + constant) * d
            kernel._plan.accumulate(X, None, d, bool(constant), out, 2)
            close(np.tril(out), np.tril(expected))

    def test_is_a_value(self, kernel):
        copy = pickle.loads(pickle.dumps(kernel))
        assert copy == kernel
        assert hash(copy) == hash(kernel)
        assert eval(repr(kernel), vars(gegenbauer.basis)) == kernel
        assert_array_equal(copy([[0.1, 0.2, 0.3]]), kernel([[0.1, 0.2, 0.3]]))
        assert kernel != TotalDegreeKernel(2, 1)
        assert sum(kernel == other for other in KERNELS) == 1
        with pytest.raises(AttributeError, match="does not change"):
            kernel.lam = 3

    def test_refusals(self, rng, kernel):
        X = inside(rng, 5, 3)
        y = np.ones(5)
        with pytest.raises(ValueError, match="X must have 3 columns, got 2"):
            kernel(X[:, :2])
        with pytest.raises(ValueError, match="Z must have 3 columns, got 4"):
            kernel(X, np.zeros((2, 4)))
        with pytest.raises(ValueError, match="column 1 holds NaN"):
            kernel([[0.0, np.nan, 0.0]])
        with pytest.raises(ValueError, match=r"out must have shape \(5, 5\)"):
            kernel(X, out=np.empty((5, 4)))
        with pytest.raises(ValueError, match="share memory"):
            kernel(X, X[:3], out=X)
        with pytest.raises(TypeError, match="scaling"):
            kernel(X, scaling=3)
        with pytest.raises(ValueError, match="`scaling` is for 2 inputs, but the kernel has 3"):
            kernel.diagonal(X, scaling=InputScaling([0, 0], [1, 1]))
        with pytest.raises(ValueError, match="Y must have 5 rows, got 4"):
            solve_kernel(kernel, X, y[:4], 1.0)
        with pytest.raises(ValueError, match="alpha"):
            solve_kernel(kernel, X, y, -1.0)
        with pytest.raises(ValueError, match="sample_weight"):
            solve_kernel(kernel, X, y, 1.0, sample_weight=-y)
        with pytest.raises(ValueError, match="dual_coef must have 5 rows, got 4"):
            predict_kernel(kernel, X, X, y[:4])
        with pytest.raises(ValueError, match="intercept must have 1 rows, got 2"):
            predict_kernel(kernel, X, X, y, intercept=[1, 2])
        huge = np.broadcast_to(np.float32(0.5), (3_000_000, 3))
        with pytest.raises(TooLargeError, match="kernel matrix"):
            kernel(huge)
        with pytest.raises(TooLargeError, match="by a kernel"):
            solve_kernel(kernel, huge, np.broadcast_to(1.0, 3_000_000), 1.0)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: TotalDegreeKernel(0, 1), ValueError),
        (lambda: TotalDegreeKernel(2, -1), ValueError),
        (lambda: TotalDegreeKernel(2, 1.5), TypeError),
        (lambda: TotalDegreeKernel(2, 10**7), ValueError),
        (lambda: TotalDegreeKernel(2, 1, lam=-0.5), ValueError),
        (lambda: TotalDegreeKernel(2, 1, max_interaction=0), ValueError),
        (lambda: TotalDegreeKernel(2, 1, spectrum=(1, 2, 3)), TypeError),
        (lambda: TotalDegreeKernel(2, 900, lam=300.0), ValueError),
        (lambda: SpectrumKernel(2, (1, 1), max_degree=0), ValueError),
        (lambda: SpectrumKernel(2, (1, 1), max_degree=10**9), ValueError),
        (lambda: solve_kernel(TensorBasis(1, degree=1), [[1.0]], [1.0], 1.0), TypeError),
    ],
)
def test_parameters_that_describe_nothing(build, error):
    with pytest.raises(error):
        build()


def test_results_beyond_float64():
    kernel = TotalDegreeKernel(2, 20, lam=0.5)
    clip = r"beyond the range.*X lies too far out.*InputScaling\(\.\.\., clip=True\)"
    with pytest.raises(ValueError, match=clip):
        kernel([[1e200, 0.0]])
    with pytest.raises(ValueError, match=clip):
        kernel.diagonal([[1e200, 0.0]])


@pytest.mark.parametrize(
    "kernel",
    [
        SpectrumKernel(2, (1e300, 1.0)),
        SpectrumKernel(2, GeometricDecay(1e300)),
        SpectrumKernel(2, (1e300, 1.0), lam=0.5, max_degree=10),
        TotalDegreeKernel(2, 3, spectrum=(1e200, 1.0)),
    ],
)
def test_spectra_too_large_for_float64(rng, kernel):
    """They are named, and above all no solution of zeros comes back."""
    X = inside(rng, 20, 2)
    advice = r"the `spectrum` is too large, lower the interaction \(q\)"
    if isinstance(kernel, TotalDegreeKernel):
        advice = "lower `degree`, `lam` or the q of the `spectrum`"
    for evaluate in (kernel, kernel.diagonal):
        with pytest.raises(ValueError, match=f"values of the kernel are beyond .*{advice}"):
            evaluate(X)
    for alpha in (1.0, 0.0):
        with pytest.raises(ValueError, match=f"dual coefficients are beyond .*{advice}"):
            solve_kernel(kernel, X, X[:, 0], alpha)
    with pytest.raises(ValueError, match=f"predictions are beyond .*{advice}"):
        predict_kernel(kernel, X, X, np.ones(20))


@pytest.mark.parametrize("penalize_constant", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_squares_of_a_kernel_beyond_float64(penalize_constant, alpha):
    """Entries of K up to 1e200 do not overflow, though their squares would."""
    X = np.linspace(-1, 1, 6)[:, np.newaxis] * 1e100
    kernel = TotalDegreeKernel(1, 1, lam=0.5)
    s = solve_kernel(kernel, X, X, alpha, penalize_constant=penalize_constant)
    found = predict_kernel(kernel, X, X, s.dual_coef, intercept=s.intercept)
    assert relative(found, X) <= 1e-14
    rng = np.random.default_rng(0)
    X = inside(rng, 20, 3) * 1e30
    y = (X[:, 0] * 1e-30) ** 3  # one of the terms of degree 3, and what is left of the others
    s = solve_kernel(TotalDegreeKernel(3, 3), X, y, alpha, penalize_constant=penalize_constant)
    assert s.rank in (10, 11)  # those of degree 3 alone are seen beside their size
    found = predict_kernel(TotalDegreeKernel(3, 3), X, X, s.dual_coef, intercept=s.intercept)
    assert relative(found[:, 0], y) <= 1e-9


@pytest.mark.parametrize("penalize_constant", [True, False])
def test_weights_of_any_size(penalize_constant):
    """The same problem with all weights and alpha times 1e160, or with one row as good as fixed."""
    kernel, basis = TotalDegreeKernel(1, 1, lam=0.5), TensorBasis(1, degree=1, lam=0.5)
    X = np.linspace(-1, 1, 5)[:, np.newaxis]
    Y = np.cos(3 * X) + X
    for size in (1e160, 1e-160):
        for alpha in (0.0, 1e-3):
            expected = solve_kernel(kernel, X, Y, alpha, penalize_constant=penalize_constant)
            s = solve_kernel(
                kernel, X, Y, alpha * size, sample_weight=np.full(5, size),
                penalize_constant=penalize_constant,
            )  # fmt: skip
            assert relative(s.dual_coef, expected.dual_coef) <= 1e-11
            assert np.abs(s.intercept - expected.intercept).max() <= 1e-11
            assert s.error < 1e-10
    for heavy in range(5):
        weight = np.ones(5)
        weight[heavy] = 1e160
        s = solve_kernel(
            kernel, X, Y, 0.5, sample_weight=weight, penalize_constant=penalize_constant
        )
        weight[heavy] = 1e8  # as good as fixed, too
        W = solve_ridge(
            basis, X, Y, 0.5, sample_weight=weight, penalize_constant=penalize_constant
        ).weights
        found = predict_kernel(kernel, X, X, s.dual_coef, intercept=s.intercept)
        assert_allclose(found, predict(basis, X, W), rtol=0, atol=1e-7)


# --- Solve ----------------------------------------------------------------------------------------


def problem(rng, n_samples=80, m=3, n_outputs=2):
    X = inside(rng, n_samples, m, 0.0)
    Y = np.cos(X @ rng.normal(0, 3, (m, n_outputs)))
    return X, Y + 0.1 * rng.standard_normal(Y.shape)


@pytest.mark.parametrize("penalize_constant", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("degree", [1, 4, 9])
def test_the_same_function_as_with_terms(rng, penalize_constant, weighted, degree):
    X, Y = problem(rng)
    new = rng.random((40, 3))
    weights = rng.integers(0, 3, len(X)).astype(float) if weighted else None
    parameters = {"lam": 0.5, "spectrum": (0.5, 1.0)}
    basis = TensorBasis(3, degree=degree, **parameters)
    kernel = TotalDegreeKernel(3, degree, **parameters)
    for alpha in (2.0**-6, 1.0, 2.0**10):
        options = {"sample_weight": weights, "penalize_constant": penalize_constant}
        expected = basis.evaluate(new) @ solve_ridge(basis, X, Y, alpha, **options).weights
        solution = solve_kernel(kernel, X, Y, alpha, **options)
        assert solution.solver == "cholesky"
        assert (solution.intercept == 0).all() == penalize_constant
        found = predict_kernel(kernel, new, X, solution.dual_coef, intercept=solution.intercept)
        assert relative(found, expected) <= 1e-10
        # the weights that the dual coefficients stand for
        W = basis.evaluate(X).T @ solution.dual_coef
        W[0] += solution.intercept
        assert relative(basis.evaluate(new) @ W, expected) <= 1e-10


@pytest.mark.thread_unsafe(reason="mpmath's precision is that of the process")
def test_against_extended_precision(rng):
    X, Y = problem(rng, 14, 2)
    G = TensorBasis(2, degree=4, lam=0.05).evaluate(X)
    kernel = TotalDegreeKernel(2, 4, lam=0.05)
    for alpha, free in itertools.product((2.0**-3, 2.0**20), (False, True)):
        expected = G @ oracles.ridge_exact(G, Y, alpha, penalize_constant=not free)
        solution = solve_kernel(kernel, X, Y, alpha, penalize_constant=not free)
        found = predict_kernel(kernel, X, X, solution.dual_coef, intercept=solution.intercept)
        assert relative(found, expected) <= 1e-11


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("penalize_constant", [True, False])
def test_equations_hold(rng, kernel, penalize_constant):
    """(alpha I + K) c + b = Y and, with a free constant, sum c = 0."""
    X, Y = problem(rng, 250)
    for alpha in (2.0**-10, 1.0):
        s = solve_kernel(kernel, X, Y, alpha, penalize_constant=penalize_constant)
        K = kernel(X)
        residual = Y - K @ s.dual_coef - alpha * s.dual_coef - s.intercept
        scale = np.linalg.norm(K, 2) * np.linalg.norm(s.dual_coef) + np.linalg.norm(Y)
        assert np.linalg.norm(residual) <= 1e-14 * scale
        if not penalize_constant:
            assert np.abs(s.dual_coef.sum(axis=0)).max() <= 1e-12 * np.abs(s.dual_coef).sum()
        A = K + alpha * np.eye(len(K)) - (0 if penalize_constant else 1)
        assert 0.9 <= s.rcond * np.linalg.cond(A) <= 100
        assert s.n_refinements == 1
        assert s.correction < 1e-6
        assert 0 < s.error < 1e-6
        assert s.rank == 250


@pytest.mark.parametrize("penalize_constant", [True, False])
def test_no_penalty_is_the_pseudo_inverse(rng, penalize_constant):
    """More rows than terms: least squares; fewer: interpolation of least norm."""
    basis, kernel = TensorBasis(2, degree=3, lam=0.5), TotalDegreeKernel(2, 3, lam=0.5)
    for n_samples in (40, 6):
        X, Y = problem(rng, n_samples, 2)
        G = basis.evaluate(X)
        s = solve_kernel(kernel, X, Y, 0.0, penalize_constant=penalize_constant)
        assert s.solver == "pivoted_cholesky"
        found = predict_kernel(kernel, X, X, s.dual_coef, intercept=s.intercept)
        assert relative(found, G @ np.linalg.lstsq(G, Y, rcond=None)[0]) <= 1e-9
        assert s.rank == min(n_samples, 10)
        if penalize_constant:
            W, _ = oracles.pseudo_inverse_solution(G, Y)
            assert relative(G.T @ s.dual_coef, W) <= 1e-7


def test_tiny_penalty_falls_back(rng):
    """Cholesky would lose everything: rows are repeated and alpha is below rounding."""
    X, Y = problem(rng, 30)
    X, Y = np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0)
    kernel = SpectrumKernel(3, (1.0, 1.0))
    s = solve_kernel(kernel, X, Y, 1e-18)
    assert s.solver == "pivoted_cholesky"
    assert s.rank == 30
    assert relative(predict_kernel(kernel, X, X, s.dual_coef), Y) <= 1e-8


@pytest.mark.parametrize("penalize_constant", [True, False])
def test_the_error_that_is_reported_is_none_too_small(penalize_constant):
    """Against the terms, which are accurate for any alpha; 20 terms in 30 rows."""
    X, Y = problem(np.random.default_rng(20190815), 30)
    basis, kernel = TensorBasis(3, degree=3, lam=0.5), TotalDegreeKernel(3, 3, lam=0.5)
    for alpha in (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-11, 1e-12, 1e-14, 0.0):
        s = solve_kernel(kernel, X, Y, alpha, penalize_constant=penalize_constant)
        W = solve_ridge(basis, X, Y, alpha, penalize_constant=penalize_constant).weights
        found = predict_kernel(kernel, X, X, s.dual_coef, intercept=s.intercept)
        wrong = relative(found, predict(basis, X, W))
        assert wrong <= s.error
        assert s.correction <= s.error
        if s.solver == "cholesky":
            assert s.error <= 1e-13 / alpha
            assert s.n_refinements == 1
        else:  # directions of alpha alone are dropped
            assert alpha <= 1e-11
            assert s.rank == 20
            assert s.rcond == s.correction == s.n_refinements == 0
            assert s.error <= 1e-10
            assert wrong <= 1e-12
    none, tiny = (solve_kernel(kernel, X, Y, alpha).dual_coef for alpha in (0.0, 1e-15))
    assert relative(tiny, none) <= 1e-10


def test_few_directions_are_cheap(rng):
    """The work grows like the squared rank: it would take hours for all directions."""
    X = inside(rng, 6000, 3)
    kernel = TotalDegreeKernel(3, 3, lam=0.5)
    s = solve_kernel(kernel, X, X[:, 0], 0.0)
    assert s.rank == 20
    assert relative(predict_kernel(kernel, X, X, s.dual_coef)[:, 0], X[:, 0]) <= 1e-12


@pytest.mark.parametrize("n_samples", [1, 2, 3])
@pytest.mark.parametrize("alpha", [0.0, 1e-18])
def test_few_rows_without_penalty(rng, n_samples, alpha):
    X, Y = problem(rng, n_samples)
    kernel = SpectrumKernel(3, (1.0, 1.0))
    for free in (False, True):
        s = solve_kernel(kernel, X, Y, alpha, penalize_constant=not free)
        assert s.solver == "pivoted_cholesky"
        assert s.rank == n_samples
        found = predict_kernel(kernel, X, X, s.dual_coef, intercept=s.intercept)
        assert relative(found, Y) <= 1e-13


def test_solutions_equal_themselves():
    X = np.eye(2)
    a, b = (solve_kernel(SpectrumKernel(2, (1, 1)), X, X, 1.0) for _ in range(2))
    assert a == a
    assert a != b
    assert len({a, b, a}) == 2


def test_a_fallback_beyond_the_memory_is_refused_with_numbers(rng, monkeypatch):
    X, Y = problem(rng, 30)
    X, Y = np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0)
    monkeypatch.setattr("gegenbauer.ridge.kernel_ridge.memory_limit", lambda _: 1e4)
    kernel = SpectrumKernel(3, (1.0, 1.0))
    assert solve_kernel(kernel, X, Y, 1.0).solver == "cholesky"
    with pytest.raises(TooLargeError, match=r"alpha.*Cholesky.*GB.*1e-05 GB.*larger `alpha`"):
        solve_kernel(kernel, X, Y, 1e-18)


def test_rows_of_zero_weight_do_not_count(rng):
    X, Y = problem(rng)
    weights = rng.random(len(X))
    weights[::3] = 0
    kernel = SpectrumKernel(3, (0.3, 2.0))
    all_rows = solve_kernel(kernel, X, Y, 0.1, sample_weight=weights, penalize_constant=False)
    kept = weights > 0
    some = solve_kernel(
        kernel, X[kept], Y[kept], 0.1, sample_weight=weights[kept], penalize_constant=False
    )
    assert_array_equal(all_rows.dual_coef[~kept], 0)
    assert_allclose(all_rows.dual_coef[kept], some.dual_coef, rtol=1e-9, atol=1e-12)
    assert_allclose(all_rows.intercept, some.intercept, rtol=1e-10)


@given(
    n_samples=st.integers(1, 40),
    m=st.integers(1, 4),
    degree=st.integers(0, 10),
    n_outputs=st.integers(1, 10),
    free=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_shape(n_samples, m, degree, n_outputs, free, seed):
    rng = np.random.default_rng(seed)
    X, Y = problem(rng, n_samples, m, n_outputs)
    basis, kernel = TensorBasis(m, degree=degree, lam=0.5), TotalDegreeKernel(m, degree, lam=0.5)
    s = solve_kernel(kernel, X, Y, 0.5, penalize_constant=not free)
    found = predict_kernel(kernel, X, X, s.dual_coef, intercept=s.intercept)
    W = solve_ridge(basis, X, Y, 0.5, penalize_constant=not free).weights
    assert np.linalg.norm(found - basis.evaluate(X) @ W) <= 1e-10 * np.linalg.norm(Y)


@pytest.mark.parametrize(
    ("kernel", "n"),
    [
        pytest.param(SpectrumKernel(2, (0.3, 2.0)), 2048, id="small tables"),
        pytest.param(
            SpectrumKernel(2, (0.3, 2.0), max_degree=5000),
            400,
            id="large tables",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_blocks_of_samples(rng, kernel, n):
    """More rows than tables are held for at once."""
    X, Z = inside(rng, n + 300, 2), inside(rng, n + 50, 2)
    c = rng.standard_normal((n + 300, 2))
    rows = slice(n - 40, n + 40)
    K = kernel(X)
    close(K[rows], kernel(X[rows], X), 1e-14)
    close(kernel(Z, X)[rows], kernel(Z[rows], X), 1e-15)
    close(predict_kernel(kernel, X, X, c)[rows], K[rows] @ c, 1e-12)
    s = solve_kernel(kernel, X, c, 1.0)
    assert np.linalg.norm(c - K @ s.dual_coef - s.dual_coef) <= 1e-12 * np.linalg.norm(c)


# --- The ordinary dual ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"degree": 3}, (3, 20)),
        ({"n_terms": 20}, (3, 20)),
        ({"degree": 3, "term_order": "grevlex"}, (3, 20)),
        ({"n_terms": 1}, (0, 1)),
        ({"n_terms": 19}, (2, 10)),
        ({"degree": 3, "max_interaction": 2}, (2, 10)),
        ({"degree": 3, "max_interaction": 3}, (3, 20)),
        ({"degree": [3, 3, 3], "index_set": "tensor"}, (3, 20)),
        ({"degree": [1, 0, 0], "index_set": "tensor"}, (0, 1)),
        ({"degree": 2, "index_set": "hyperbolic_cross"}, (1, 4)),
        ({"degree": 1, "index_set": "hyperbolic_cross"}, (1, 4)),
        # ordered by weight: x0^2 comes before the last input
        ({"n_terms": 9, "index_set": "largest_weight", "spectrum": (0.01, 0.5)}, (1, 4)),
    ],
)
def test_the_complete_part_of_a_set(options, part):
    basis = TensorBasis(3, **options)
    totals = basis.indices.sum(axis=1)
    degree, n_terms = core.complete_part(basis._plan)
    assert (degree, n_terms) == part
    assert totals[:n_terms].max() == degree
    assert n_terms == count_terms(3, degree=degree)


def test_a_free_constant_survives_dropped_directions():
    """Huge kernel values: all but a few directions drop, and the targets' mean must not."""
    X = np.random.default_rng(0).uniform(-1, 1, (9, 3))
    X[0], X[1] = 1.0, -1.0
    Y = np.random.default_rng(1).normal(size=(9, 1))
    kernel = SpectrumKernel(3, GeometricDecay(0.2, 0.95), lam=10, max_degree=40)
    solution = solve_kernel(kernel, X, Y + 5.0, 0.1, penalize_constant=False)
    assert solution.solver == "pivoted_cholesky"
    assert solution.rank < len(X)
    assert solution.rcond == 0.0
    assert abs(solution.intercept[0] - 5.0) < 3.0
    found = predict_kernel(kernel, X, X, solution.dual_coef, intercept=solution.intercept)
    assert abs((found - Y - 5.0).mean()) < 1.0


# --- Interrupts -----------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="no timer signals")
@pytest.mark.parametrize("task", ["symmetric", "rectangle", "solve", "matrix", "predict"])
@pytest.mark.thread_unsafe(reason="signals go to the main thread")
def test_a_long_computation_can_be_interrupted(task):
    X = np.random.default_rng(0).uniform(-1, 1, (6000, 12))
    kernel = TotalDegreeKernel(12, 60, lam=0.5, spectrum="orthonormal")
    quick, many = TotalDegreeKernel(1, 1), np.random.default_rng(0).uniform(-1, 1, (10000, 1))
    interrupt(
        {
            "symmetric": lambda: kernel(X),
            "rectangle": lambda: kernel(X, X),
            "solve": lambda: solve_kernel(kernel, X, X[:, 0], 1.0),
            "matrix": lambda: [solve_kernel(quick, many, many[:, 0], 0.0) for _ in range(8)],
            "predict": lambda: predict_kernel(kernel, X, X, X[:, 0]),
        }[task]
    )
    assert TotalDegreeKernel(1, 1, lam=0.5)([[2.0]], [[3.0]]).tolist() == [[7.0]]


# --- Gradients ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lam", "components", "max_degree"),
    [
        (0.0, [PowerDecay(1.0, 2.0), PowerDecay(1.0, 3.0), GeometricDecay(1.0, 0.1)], None),
        (0.0, [PowerDecay(1.0, 1.0)], None),
        (0.5, [PowerDecay(1.0, 4.0), GeometricDecay(1.0, 0.3)], None),
        (0.0, [PowerDecay(1.0, 1.5)], 20),
    ],
)
@pytest.mark.parametrize("n_samples", [1, 7, 70])
def test_log_gradient_equals_finite_differences(lam, components, max_degree, n_samples):
    """To 1e-6, for a mixture with another weight in every input."""
    m, n_parts = 3, len(components)
    rng = np.random.default_rng(n_samples)
    X = rng.uniform(-1, 1, (n_samples, m))
    M = rng.normal(size=(n_samples, n_samples))
    M += M.T
    logs = rng.normal(-1, 1, (m, n_parts))

    def kernel(logs):
        parts = [
            replace(part, interaction=tuple(np.exp(logs[:, j])))
            for j, part in enumerate(components)
        ]
        return SpectrumKernel(m, parts, lam=lam, max_degree=max_degree)

    found = kernel(logs).log_gradient(X, M, n_threads=1)
    step = 1e-5
    for t in range(m):
        for j in range(n_parts):
            shift = np.zeros_like(logs)
            shift[t, j] = step
            change = kernel(logs + shift)(X) - kernel(logs - shift)(X)
            assert_allclose(found[t, j], (M * change).sum() / (2 * step), rtol=1e-6, atol=1e-8)
    assert_array_equal(found, kernel(logs).log_gradient(X, np.tril(M), n_threads=2))

    # the same of what is kept of each pair, whatever the q with which it was made
    parts = core.SpectrumParts(kernel(logs + 1.0)._plan, X, None, 2)
    pairs, q = np.tril_indices(n_samples), np.exp(logs).ravel()
    assert_allclose(parts.evaluate(q, 1), (kernel(logs)(X) - 1.0)[pairs], rtol=1e-12, atol=1e-13)
    weights = M[pairs] * np.where(pairs[0] == pairs[1], 1.0, 2.0)
    kept = parts.log_gradient(q, weights, 1)
    assert_allclose(kept, found, rtol=1e-11, atol=1e-12 * np.abs(found).max())
    assert_array_equal(kept, parts.log_gradient(q, weights, 2))


def test_log_gradient_where_factors_vanish():
    """A factor of exactly zero: the derivative of that input is the product of the others."""
    # one input, cut at degree 1: f = 1 + 2 q x z, zero for q = 1/2 at x z = -1
    kernel = SpectrumKernel(2, PowerDecay((0.5, 0.25), 1.0), max_degree=1)
    X = np.array([[1.0, 0.5], [-1.0, 0.5]])
    assert kernel(X)[0, 1] == 0
    M = np.array([[0.0, 1.0], [1.0, 0.0]])
    other = 1 + 2 * 0.25 * 0.25
    assert_allclose(kernel.log_gradient(X, M), [[2 * -1 * other], [0]], atol=1e-15)
    parts = core.SpectrumParts(kernel._plan, X, None, 1)
    found = parts.log_gradient(np.array([0.5, 0.25]), np.array([0.0, 2.0, 0.0]), 1)
    assert_allclose(found, [[2 * -1 * other], [0]], atol=1e-15)


def test_log_gradient_checks_its_arguments():
    kernel = SpectrumKernel(2, (1.0, 1.0))
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match="weights must have 3 rows, got 2"):
        kernel.log_gradient(X, np.eye(2))
    with pytest.raises(ValueError, match="weights must be finite"):
        kernel.log_gradient(X, np.full((3, 3), np.nan))
