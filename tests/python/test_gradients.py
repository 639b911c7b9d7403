"""Gradients of fitted functions, against formulas that the library does not use, in many digits."""

from __future__ import annotations

import dataclasses

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import clausen, derivatives, gegenbauer, orthonormal

from gegenbauer import (
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GeometricDecay,
    InputScaling,
    PowerDecay,
    Spectrum,
    TensorBasis,
    to_sympy,
)
from gegenbauer.basis import (
    GegenbauerDecay,
    SpectrumKernel,
    TotalDegreeKernel,
    kernel_derivatives,
)
from gegenbauer.errors import BeyondRangeError
from gegenbauer.ridge import KernelExpansion, TermExpansion, expansions

LOWER, UPPER = np.array([-1.0, 0.0, 2.0]), np.array([2.0, 4.0, 3.0])
BOXES = {
    "identity": InputScaling([-1.0] * 3, [1.0] * 3, domain=(-1, 1)),
    "(-1, 1)": InputScaling(LOWER, UPPER, domain=(-1, 1)),
    "(0, 1)": InputScaling(LOWER, UPPER),
}
LAMS = [-0.3, 0.0, 0.05, 0.5, 1.0, 2.5]


def scaled(box, X):
    """Return the scaled inputs and the slopes of the scaling, in many digits."""
    low, high = box.domain
    widths = [mpmath.mpf(b) - mpmath.mpf(a) for a, b in zip(box.lower, box.upper, strict=True)]
    slopes = [(high - low) / width for width in widths]
    points = [
        [
            low + (mpmath.mpf(x) - mpmath.mpf(a)) * slope
            for x, a, slope in zip(row, box.lower, slopes, strict=True)
        ]
        for row in X.tolist()
    ]
    return points, slopes


def gradient_of_terms(points, slopes, indices, coef, lam, normalization, weights):
    """Differentiate term by term; `weights` (n_features, degree + 1) are those of the factors."""
    m, degree = indices.shape[1], int(indices.max())
    found = np.empty((len(points), m, coef.shape[1]), dtype=object)
    evaluate = gegenbauer if normalization == "raw" else orthonormal
    for i, row in enumerate(points):
        values = [evaluate(x, degree, lam) for x in row]
        primes = [derivatives(x, degree, lam, normalization) for x in row]
        for t in range(m):
            total = [mpmath.mpf(0)] * coef.shape[1]
            for k, c in zip(indices.tolist(), coef.tolist(), strict=True):
                term = slopes[t]
                for s, n in enumerate(k):
                    term *= (primes if s == t else values)[s][n] * weights[s][n]
                total = [
                    old + mpmath.mpf(number) * term for old, number in zip(total, c, strict=True)
                ]
            found[i, t] = total
    return found.astype(np.float64)


def factors_of(basis):
    """Return the normalisation and the weights of the factors of a basis, by their definitions."""
    m, degree = basis.n_features, int(basis.indices.max())
    if basis.spectrum == Spectrum.paper(basis.lam):
        return "raw", np.ones((m, degree + 1))
    return "orthonormal", np.sqrt(basis.spectrum.squared_weights(m, degree))


def assert_close(found, expected, tolerance=1e-13):
    assert found.shape == expected.shape
    assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def check_terms(basis, coef, box, X, tolerance=1e-13):
    with mpmath.workdps(60):
        points, slopes = scaled(box, X)
        expected = gradient_of_terms(
            points, slopes, basis.indices, coef, basis.lam, *factors_of(basis)
        )
    assert_close(TermExpansion(basis, coef, box).gradient(X), expected, tolerance)


@pytest.fixture
def X(rng):  # noqa: N802  # the name of the samples everywhere
    """Samples inside of all boxes, with one corner of the largest."""
    return np.vstack([rng.uniform([-1, 0, 2], [1, 1, 3], size=(3, 3)), [[-1.0, 0.0, 2.0]]])


def samples_of(box, X):
    return np.clip(X, box.lower, box.upper)


class TestTerms:
    @pytest.mark.parametrize("lam", LAMS)
    @pytest.mark.parametrize(
        "spectrum",
        [None, "orthonormal", (0.5, 1.5), Spectrum.paper(0.7),
         Spectrum([PowerDecay((0.5, 0.0, 2.0), 1.0), GeometricDecay((0.1, 0.0, 0.0), 0.3)])],
        ids=["raw", "orthonormal", "power", "of another lam", "of each input"],
    )  # fmt: skip
    def test_normalisations(self, rng, X, lam, spectrum):
        basis = TensorBasis(3, degree=5, lam=lam, spectrum=spectrum)
        coef = rng.normal(size=(basis.n_terms, 2))
        box = BOXES["(-1, 1)"]
        check_terms(basis, coef, box, X)

    @pytest.mark.parametrize("lam", LAMS)
    @pytest.mark.parametrize("box", BOXES)
    def test_boxes(self, rng, X, lam, box):
        basis = TensorBasis(3, degree=4, lam=lam)
        check_terms(
            basis, rng.normal(size=(basis.n_terms, 1)), BOXES[box], samples_of(BOXES[box], X)
        )

    @pytest.mark.parametrize(
        "options",
        [
            {"degree": (4, 0, 2), "index_set": "tensor"},
            {"degree": 6, "index_set": "hyperbolic_cross", "term_order": "grlex_ascending"},
            {"n_terms": 23, "term_order": "grevlex"},
            {"n_terms": 31, "max_interaction": 2},
            {"n_terms": 17, "index_set": "largest_weight", "spectrum": (0.3, 1.0)},
            {"n_terms": 17, "index_set": "largest_weight", "spectrum": GegenbauerDecay(2.0, 1.5)},
            {
                "n_terms": 12,
                "index_set": "largest_weight",
                "spectrum": PowerDecay((0.5, 0.0, 2.0), 0.2),
            },
            {"degree": 0},
            {"degree": 1},
            {"degree": 2, "spectrum": "orthonormal"},
        ],
        ids=str,
    )
    def test_index_sets(self, rng, X, options):
        basis = TensorBasis(3, **{"lam": 0.5} | options)
        check_terms(basis, rng.normal(size=(basis.n_terms, 2)), BOXES["(-1, 1)"], X)

    @pytest.mark.parametrize("lam", LAMS)
    @pytest.mark.parametrize("spectrum", [None, "orthonormal"])
    def test_high_degree(self, rng, lam, spectrum):
        basis = TensorBasis(1, degree=150, lam=lam, spectrum=spectrum)
        box = InputScaling([-1.0], [1.0], domain=(-1, 1))
        x = np.array([[-1.0], [-0.3], [0.0], [0.99], [1.0]])
        coef = rng.normal(size=(151, 1)) / np.arange(1.0, 152)[:, np.newaxis] ** 2
        check_terms(basis, coef, box, x, 1e-12)

    def test_large_parameter(self, rng, X):
        """Squared norms of the raw polynomials are beyond float64, their ratios are not."""
        basis = TensorBasis(3, degree=100, lam=400.0, max_interaction=1, spectrum="orthonormal")
        check_terms(basis, rng.normal(size=(basis.n_terms, 1)), BOXES["(-1, 1)"], X[:2], 1e-12)

    def test_is_that_of_the_expression(self, rng):
        sympy = pytest.importorskip("sympy")
        X = rng.uniform(LOWER, UPPER, size=(60, 3))
        model = GegenbauerRegressor(n_terms=20, lam=0.5, alpha=1e-6)
        model.fit(X, np.sin(X[:, 0]) * X[:, 1])
        expression = to_sympy(model)
        symbols = [sympy.Symbol(f"x{t}") for t in range(3)]
        by_sympy = sympy.lambdify(symbols, [expression.diff(symbol) for symbol in symbols], "numpy")
        expected = np.array([by_sympy(*row) for row in X[:7]])
        assert_close(model.expansion_.gradient(X[:7]), expected, 1e-11)

    def test_blocks_of_inputs(self, rng, X, monkeypatch):
        basis = TensorBasis(3, degree=4, lam=0.5)
        f = TermExpansion(basis, rng.normal(size=(basis.n_terms, 2)), BOXES["(-1, 1)"])
        whole = f.gradient(X)
        for most in (1, 2 * f.coef.size):
            monkeypatch.setattr(expansions, "_MOST_COEFFICIENTS", most)
            assert_allclose(f.gradient(X), whole, rtol=1e-14, atol=1e-14)

    def test_beyond_float64(self):
        far = InputScaling([0.0], [1.0], clip=False)
        f = TermExpansion(TensorBasis(1, degree=9), np.ones(10), far)
        with pytest.raises(BeyondRangeError, match="some derivatives are beyond the range"):
            f.gradient([[0.5], [1e60]])


# ---- kernels ---------------------------------------------------------------------------


@pytest.mark.parametrize("u", [-6.28, -3.0, -1e-9, 0.0, 0.3, 3.141592653589793, 6.2])
def test_sums_of_powers_are_bernoulli_polynomials(u):
    with mpmath.workdps(40):
        for order in range(2, 7):
            sums = mpmath.clsin if order % 2 else mpmath.clcos
            assert abs(clausen(order, u) - sums(order, u)) < 1e-37


def power_pair(s):
    """Return the sum of n^-2s phi_n(x) phi_n(z) and its derivative by x, for angles a and c."""

    def values(a, c):
        return clausen(2 * s, a - c) + clausen(2 * s, a + c)

    def slopes(a, c):
        if a == 0 or a == mpmath.pi:  # the limit
            sign = 1 if a == 0 else -1
            return 2 * sign * clausen(2 * s - 2, c if a == 0 else mpmath.pi - c)
        both = clausen(2 * s - 1, a - c) + clausen(2 * s - 1, a + c)
        return both / mpmath.sin(a)

    return values, slopes


def geometric_pair(r):
    def sums(u, derivative):
        e = mpmath.expj(u)
        return mpmath.im(e / (1 - r * e) ** 2) if derivative else mpmath.re(e / (1 - r * e))

    def values(a, c):
        return sums(a - c, False) + sums(a + c, False)

    def slopes(a, c):
        if a == 0 or a == mpmath.pi:  # the limit: sum of n^2 r^(n-1) 2 cos(n c), up to the sign
            e = mpmath.expj(c if a == 0 else mpmath.pi - c)
            sign = 1 if a == 0 else -1
            return 2 * sign * mpmath.re(e * (1 + r * e) / (1 - r * e) ** 3)
        return (sums(a - c, True) + sums(a + c, True)) / mpmath.sin(a)

    return values, slopes


def summed_pair(v, lam):
    """Return the same for finitely many squared weights of the degrees from 0 on."""

    def values(a, c):
        x, z = mpmath.cos(a), mpmath.cos(c)
        pairs = zip(
            v, orthonormal(x, len(v) - 1, lam), orthonormal(z, len(v) - 1, lam), strict=True
        )
        return sum(w * p * q for w, p, q in [*pairs][1:])

    def slopes(a, c):
        x, z = mpmath.cos(a), mpmath.cos(c)
        primes = derivatives(x, len(v) - 1, lam, "orthonormal")
        return sum(
            w * p * q for w, p, q in zip(v, primes, orthonormal(z, len(v) - 1, lam), strict=True)
        )

    return values, slopes


def power(s, n_degrees):
    """Return n^-2s up to the last degree, of those that the kernel counts in."""
    return [0.0, *(n ** (-2.0 * s) for n in range(1, n_degrees + 1))]


Q = np.array([0.5, 0.2, 0.8])
# A kernel, and for each of its components the q of the inputs and a pair of functions
KERNELS = {
    "s = 2": (SpectrumKernel(3, (0.5, 2.0)), [([0.5] * 3, power_pair(2))]),
    "s = 3": (SpectrumKernel(3, PowerDecay(Q, 3)), [(Q, power_pair(3))]),
    "geometric": (SpectrumKernel(3, GeometricDecay(Q, 0.6)), [(Q, geometric_pair(0.6))]),
    "s = 5, summed": (
        SpectrumKernel(3, PowerDecay(Q, 5.0)),
        [(Q, summed_pair(power(5.0, SpectrumKernel(3, PowerDecay(Q, 5.0)).n_degrees), 0.0))],
    ),
    "all of them": (
        SpectrumKernel(
            3, [PowerDecay(Q, 2.0), PowerDecay(0.3, 3.0), GeometricDecay((0.0, 0.4, 0.1), 0.1)]
        ),
        [
            (Q, power_pair(2)),
            ([0.3] * 3, power_pair(3)),
            ([0.0, 0.4, 0.1], geometric_pair(0.1)),
        ],
    ),
    "lam = 0.5": (
        SpectrumKernel(3, PowerDecay(Q, 6.0), lam=0.5),
        [(Q, summed_pair(power(6.0, SpectrumKernel(3, (1.0, 6.0), lam=0.5).n_degrees), 0.5))],
    ),
    "ended": (
        SpectrumKernel(3, PowerDecay(Q, 1.0), max_degree=6, lam=2.5),
        [(Q, summed_pair(power(1.0, 6), 2.5))],
    ),
    "ended, s = 1": (
        SpectrumKernel(3, PowerDecay(Q, 1.0), max_degree=6),
        [(Q, summed_pair(power(1.0, 6), 0.0))],
    ),
}


def gradient_of_kernels(points, slopes, centres, coef, components):
    m = len(slopes)
    found = np.zeros((len(points), m, coef.shape[1]), dtype=object)
    angles, others = ([[mpmath.acos(x) for x in row] for row in part] for part in (points, centres))
    for i, row in enumerate(angles):
        for centre, c in zip(others, coef.tolist(), strict=True):
            pairs = list(zip(row, centre, strict=True))
            values = [
                1 + sum(q[t] * value(*pair) for q, (value, _) in components)
                for t, pair in enumerate(pairs)
            ]
            for t, pair in enumerate(pairs):
                slope = sum(q[t] * slope(*pair) for q, (_, slope) in components) * slopes[t]
                product = slope * mpmath.fprod(values[:t] + values[t + 1 :])
                found[i, t] += [product * mpmath.mpf(number) for number in c]
    return found.astype(np.float64)


class TestKernels:
    @pytest.mark.parametrize("name", KERNELS)
    def test_all_terms(self, rng, X, name):
        """Between the centres, at one of them, and in corners of the box."""
        kernel, components = KERNELS[name]
        box = BOXES["(-1, 1)"]
        centres = np.vstack([rng.uniform(LOWER, UPPER, size=(3, 3)), [LOWER], [UPPER]])
        beside = centres[0] + [0.0, 1e-9, 0.1]
        X = np.vstack([X, centres[:1], [beside], [UPPER]])
        coef = rng.normal(size=(len(centres), 2))
        with mpmath.workdps(40):
            points, slopes = scaled(box, X)
            others, _ = scaled(box, centres)
            expected = gradient_of_kernels(points, slopes, others, coef, components)
        found = KernelExpansion(kernel, centres, coef, box, np.ones(2)).gradient(X)
        assert_close(found, expected, 1e-11)

    @pytest.mark.parametrize("options", [{}, {"spectrum": (0.5, 1.0), "max_interaction": 2}])
    @pytest.mark.parametrize("lam", LAMS)
    def test_total_degree(self, rng, X, lam, options):
        basis = TensorBasis(3, degree=4, lam=lam, **options)
        centres = rng.uniform(LOWER, UPPER, size=(5, 3))
        coef = rng.normal(size=(5, 2))
        box = BOXES["(-1, 1)"]
        kernel = TotalDegreeKernel(3, 4, lam=lam, **options)
        f = KernelExpansion(kernel, centres, coef, box, np.ones(2))
        with mpmath.workdps(60):
            weights = basis.evaluate(centres, scaling=box).T @ coef
            expected = gradient_of_terms(
                *scaled(box, X), basis.indices, weights, lam, *factors_of(basis)
            )
        assert_close(f.gradient(X), expected, 1e-12)

    def test_blocks_of_samples(self, rng, X, monkeypatch):
        kernel, _ = KERNELS["all of them"]
        centres = rng.uniform(LOWER, UPPER, size=(5, 3))
        f = KernelExpansion(kernel, centres, rng.normal(size=5), BOXES["(-1, 1)"])
        whole = f.gradient(X)
        monkeypatch.setattr(kernel_derivatives, "_MOST_VALUES", 1)
        assert_allclose(f.gradient(X), whole, rtol=1e-13, atol=1e-13)

    def test_inputs_of_no_weight(self, X):
        """Nor has their component any kink."""
        kernel = SpectrumKernel(
            3, [PowerDecay((0.0, 0.0, 0.0), 1.0), PowerDecay((0.5, 0.0, 0.2), 2)]
        )
        found = KernelExpansion(kernel, X, np.ones(len(X)), BOXES["(-1, 1)"]).gradient(X)
        assert_array_equal(found[:, 1], 0.0)
        assert np.abs(found[:, [0, 2]]).min() > 0

    @pytest.mark.parametrize("spectrum", [(0.5, 1.0), Spectrum.paper(0.0)])
    def test_kinks_are_refused(self, X, spectrum):
        f = KernelExpansion(SpectrumKernel(3, spectrum), X, np.ones(len(X)), BOXES["(-1, 1)"])
        with pytest.raises(ValueError, match="no gradient where x and a centre have an input"):
            f.gradient(X)

    def test_outside_of_the_domain(self, X):
        kernel, _ = KERNELS["s = 2"]
        open_box = InputScaling(LOWER, UPPER, domain=(-1, 1), clip=False)
        f = KernelExpansion(kernel, X, np.ones(len(X)), open_box)
        with pytest.raises(ValueError, match="column 1"):
            f.gradient([[0.0, 5.0, 2.5]])


# ---- what both have in common ----------------------------------------------------------


@pytest.fixture(params=["terms", "kernels"])
def expansion(request, rng):
    box = InputScaling(LOWER, UPPER, domain=(-1, 1))
    intercept = np.array([3.0, -1.0])
    if request.param == "terms":
        basis = TensorBasis(3, degree=4, lam=0.5)
        return TermExpansion(basis, rng.normal(size=(basis.n_terms, 2)), box, intercept)
    centres = rng.uniform(LOWER, UPPER, size=(6, 3))
    kernel, _ = KERNELS["all of them"]
    return KernelExpansion(kernel, centres, rng.normal(size=(6, 2)), box, intercept)


class TestAll:
    def test_coefficients_of_one_dimension(self, expansion, X):
        flat = dataclasses.replace(
            expansion, coef=expansion.coef[:, 1].copy(), intercept=expansion.intercept[1:]
        )
        assert flat.gradient(X).shape == X.shape
        assert_close(flat.gradient(X), expansion.gradient(X)[:, :, 1])

    def test_nothing_depends_on_clipped_inputs(self, expansion, X):
        beyond = X.copy()
        beyond[0, 1], beyond[1, 2], beyond[1, 0] = 9.0, 1.0, -7.0
        found = expansion.gradient(beyond)
        at_wall = expansion.gradient(np.clip(beyond, LOWER, UPPER))
        outside = beyond != np.clip(beyond, LOWER, UPPER)
        assert outside.sum() == 3
        assert_array_equal(found[outside], 0.0)
        assert_array_equal(found[~outside], at_wall[~outside])
        assert np.abs(at_wall[outside]).min() > 0

    def test_extrapolation_goes_on(self, rng):
        """Beyond the box the polynomial is the same."""
        basis = TensorBasis(3, degree=4, lam=0.5)
        coef = rng.normal(size=(basis.n_terms, 2))
        outer = rng.uniform(LOWER - 1, UPPER + 1, size=(5, 3))
        check_terms(basis, coef, InputScaling(LOWER, UPPER, clip=False), outer)

    def test_constant_inputs_are_ignored(self, expansion, X):
        box = InputScaling(LOWER, UPPER, domain=(-1, 1), constant=[False, True, False])
        found = expansion.with_scaling(box).gradient(X)
        assert_array_equal(found[:, 1], 0.0)
        assert np.abs(found[:, [0, 2]]).min() > 0

    def test_float32(self, expansion, X):
        single = X.astype(np.float32)
        assert_array_equal(
            expansion.gradient(single), expansion.gradient(single.astype(np.float64))
        )

    def test_units(self, expansion, X):
        unit = np.array([2.0, 0.5])
        other = expansion.with_units(unit, np.array([1.0, 7.0]))
        assert_close(other.gradient(X), expansion.gradient(X) * unit)

    @pytest.mark.parametrize("n_threads", [1, 2])
    def test_threads(self, expansion, X, n_threads):
        assert_array_equal(expansion.gradient(X, n_threads=n_threads), expansion.gradient(X))

    def test_wrong_arguments(self, expansion):
        with pytest.raises(ValueError, match="X must have 3 columns"):
            expansion.gradient(np.zeros((2, 2)))


@pytest.mark.parametrize("options", [{}, {"n_terms": 60}])
def test_gradient_of_a_model_is_that_of_its_function(rng, options):
    """A search finds a function whose derivatives are near those of the truth."""
    X = rng.uniform(size=(120, 2))
    model = GegenbauerRegressorCV(**options).fit(X, np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2)
    inner = X[:20] * 0.6 + 0.2
    truth = np.column_stack([3.0 * np.cos(3.0 * inner[:, 0]), 2.0 * inner[:, 1]])
    assert_allclose(model.expansion_.gradient(inner)[..., 0], truth, atol=0.02)
