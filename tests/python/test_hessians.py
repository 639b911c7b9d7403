"""Second derivatives and mean squares of derivatives, against many digits and brute force."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import clausen, gegenbauer, orthonormal
from scipy import stats

from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GeometricDecay,
    InputScaling,
    PowerDecay,
    TensorBasis,
)
from gegenbauer.basis import SpectrumKernel, TotalDegreeKernel
from gegenbauer.inspection import derivative_sensitivity, gradient, hessian
from gegenbauer.ridge import KernelExpansion, TermExpansion

BOX = InputScaling([-1.0, 0.0], [2.0, 4.0], domain=(-1, 1))


def second_derivatives(f, point):
    """Differentiate a function of two numbers in thirty digits."""
    with mpmath.workdps(30):
        found = np.empty((2, 2))
        for i, j in itertools.product(range(2), repeat=2):
            order = tuple((t == i) + (t == j) for t in range(2))
            found[i, j] = float(mpmath.diff(f, tuple(map(mpmath.mpf, point)), order))
        return found


def polynomials(x, degree, lam, spectrum):
    make = gegenbauer if spectrum is None else orthonormal
    return make(x, degree, lam, digits=mpmath.mp.dps)  # differences are taken of more digits


class TestTerms:
    @pytest.mark.parametrize("spectrum", [None, "orthonormal", (0.5, 2.0)])
    @pytest.mark.parametrize("lam", [-0.3, 0.0, 0.5, 2.5])
    def test_all_polynomials(self, lam, spectrum):
        rng = np.random.default_rng(0)
        basis = TensorBasis(2, degree=6, lam=lam, spectrum=spectrum)
        coef = rng.normal(size=(basis.n_terms, 1))
        function = TermExpansion(basis, coef, BOX)
        X = rng.uniform(BOX.lower, BOX.upper, size=(3, 2))
        weights = np.ones(basis.n_terms)
        if spectrum == (0.5, 2.0):
            weights = basis.spectrum.term_weights(basis.indices)
        numbers = [mpmath.mpf(float(c * w)) for c, w in zip(coef[:, 0], weights, strict=True)]
        rows = basis.indices.tolist()

        def f(x, y):
            one = polynomials(2 * (x + 1) / 3 - 1, 6, lam, spectrum)
            two = polynomials(y / 2 - 1, 6, lam, spectrum)
            return sum(c * one[i] * two[j] for c, (i, j) in zip(numbers, rows, strict=True))

        found = function.hessian(X)[..., 0]
        for row, point in zip(found, X.tolist(), strict=True):
            expected = second_derivatives(f, point)
            assert_allclose(row, expected, atol=1e-11 * np.abs(expected).max())

    def test_nothing_depends_on_clipped_inputs(self):
        rng = np.random.default_rng(1)
        basis = TensorBasis(2, degree=4, lam=0.5)
        function = TermExpansion(basis, rng.normal(size=basis.n_terms), BOX)
        inside, outside = function.hessian([[2.0, 1.0], [2.5, 1.0]])
        assert (inside != 0).all()
        assert_array_equal(outside[0], 0.0)
        assert_array_equal(outside[:, 0], 0.0)
        assert_allclose(outside[1, 1], inside[1, 1], rtol=1e-12)


KERNELS = {
    "s = 2": (PowerDecay(0.5, 2.0), lambda u: clausen(4, u)),
    "s = 3": (PowerDecay(0.5, 3.0), lambda u: clausen(6, u)),
    "geometric": (
        GeometricDecay(0.5, 0.6),
        lambda u: mpmath.re(mpmath.expj(u) / (1 - 0.6 * mpmath.expj(u))),
    ),
    "geometric, slow": (
        GeometricDecay(0.5, 0.9),
        lambda u: mpmath.re(mpmath.expj(u) / (1 - 0.9 * mpmath.expj(u))),
    ),
}


class TestKernels:
    @pytest.mark.parametrize("name", KERNELS)
    def test_closed_forms(self, name):
        spectrum, series = KERNELS[name]
        rng = np.random.default_rng(2)
        centres, coef = rng.uniform(-0.9, 0.9, size=(3, 2)), rng.normal(size=(3, 1))
        box = InputScaling([-1.0, -1.0], [1.0, 1.0], domain=(-1, 1))
        function = KernelExpansion(SpectrumKernel(2, spectrum), centres, coef, box)
        X = np.vstack([rng.uniform(-0.95, 0.95, size=(3, 2)), [[0.999999, -0.9999]]])

        def factor(x, z):
            a, c = mpmath.acos(x), mpmath.acos(mpmath.mpf(z))
            return 1 + (series(a - c) + series(a + c)) / 2

        def f(x, y):
            pairs = zip(coef[:, 0].tolist(), centres.tolist(), strict=True)
            return sum(c * factor(x, z[0]) * factor(y, z[1]) for c, z in pairs)

        found = function.hessian(X)[..., 0]
        for row, point in zip(found, X.tolist(), strict=True):
            expected = second_derivatives(f, point)
            assert_allclose(row, expected, atol=1e-10 * np.abs(expected).max())

    @pytest.mark.parametrize("end", [-1.0, 1.0])
    @pytest.mark.parametrize("name", KERNELS)
    def test_ends_are_the_limits_of_what_is_near(self, name, end):
        kernel = SpectrumKernel(1, KERNELS[name][0])
        box = InputScaling([-1.0], [1.0], domain=(-1, 1))
        function = KernelExpansion(kernel, np.array([[0.3], [-0.8]]), np.array([1.0, 0.5]), box)
        at, near = function.hessian([[end], [end * (1 - 1e-9)]])
        assert_allclose(at, near, rtol=1e-6)

    def test_sums_of_degrees_and_total_degree(self):
        """Kernels that the core sums are sums of terms, whose second derivatives are known."""
        rng = np.random.default_rng(3)
        centres, coef = rng.uniform(-1, 1, size=(4, 2)), rng.normal(size=(4, 2))
        box = InputScaling([-1.0, -1.0], [1.0, 1.0], domain=(-1, 1))
        X = rng.uniform(-1, 1, size=(5, 2))
        for kernel, index_set in [
            (SpectrumKernel(2, PowerDecay(0.5, 1.0), max_degree=5, lam=0.5), "tensor"),
            (TotalDegreeKernel(2, 5, lam=0.5, spectrum=PowerDecay(0.5, 1.0)), "total_degree"),
        ]:
            basis = TensorBasis(
                2, degree=5, lam=0.5, spectrum=PowerDecay(0.5, 1.0), index_set=index_set
            )
            terms = TermExpansion(basis, basis.evaluate(centres).T @ coef, box)
            function = KernelExpansion(kernel, centres, coef, box)
            assert_allclose(function.hessian(X), terms.hessian(X), atol=1e-11)

    def test_kinks_are_refused(self):
        box = InputScaling([-1.0], [1.0], domain=(-1, 1))
        function = KernelExpansion(
            SpectrumKernel(1, PowerDecay(0.5, 1.0)), np.zeros((1, 1)), np.ones(1), box
        )
        with pytest.raises(ValueError, match="no gradient where x and a centre"):
            function.hessian([[0.5]])


def samples(n=60):
    rng = np.random.default_rng(4)
    X = rng.uniform(0, 3, size=(n, 3))
    return X, np.sin(X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.01 * rng.normal(size=n)


MODELS = {
    "terms": lambda: GegenbauerRegressor(n_terms=30, alpha=1e-4),
    "spectrum": lambda: GegenbauerRegressor(n_terms=30, alpha=1e-4, spectrum=(0.5, 2.0)),
    "kernel": lambda: GegenbauerRegressorCV(spectrum=(0.3, 2.0)),
    "several": lambda: GegenbauerRegressorCV(intervals="five_spectra"),
    "extrapolating": lambda: GegenbauerRegressor(n_terms=20, out_of_range="extrapolate"),
}


class TestEstimators:
    @pytest.mark.parametrize("name", ["terms", "spectrum", "kernel", "extrapolating"])
    def test_differentiates_the_gradient(self, name):
        X, y = samples()
        model = MODELS[name]().fit(X, np.column_stack([y, y**2]))
        at, step = X[:3] + 0.01, 1e-5  # the kernel has jumps of third derivatives at centres
        found = hessian(model, at)
        assert found.shape == (3, 3, 3, 2)
        for t in range(3):
            e = step * np.eye(3)[t]
            slopes = (gradient(model, at + e) - gradient(model, at - e)) / (2 * step)
            assert_allclose(found[:, t], slopes, atol=1e-6 * np.abs(found).max())

    def test_tables_with_categories_and_gaps(self):
        X, y = samples()
        table = pd.DataFrame(X, columns=["a", "b", "c"])
        table["kind"] = np.where(np.arange(len(X)) % 2, "odd", "even")
        table.loc[::7, "b"] = np.nan
        model = GegenbauerRegressor(
            n_terms=40, alpha=1e-4, spectrum=(0.5, 2.0), missing="indicator"
        ).fit(table, y)
        found = hessian(model, table[:8])
        unknown = np.zeros((8, 4), dtype=bool)
        unknown[:, 3], unknown[::7, 1] = True, True
        expected = unknown[:, :, np.newaxis] | unknown[:, np.newaxis]
        assert_array_equal(np.isnan(found), expected)
        given = [0, 2]
        e = 1e-5 * np.eye(3)[0]
        up, down = table.copy(), table.copy()
        up[["a", "b", "c"]] += e
        down[["a", "b", "c"]] -= e
        slopes = (gradient(model, up[1:3]) - gradient(model, down[1:3])) / 2e-5
        assert_allclose(found[1:3, 0][:, given], slopes[:, given], atol=1e-6)

    def test_of_classes(self):
        X, y = samples()
        model = GegenbauerClassifierCV(spectrum=(0.3, 2.0)).fit(X, np.digitize(y, [3, 6]))
        assert hessian(model, X[:2]).shape == (2, 3, 3, 3)

    def test_what_is_refused(self):
        with pytest.raises(TypeError, match="must be a regressor or classifier"):
            hessian(object(), [[1.0]])


class TestDerivativeSensitivity:
    @pytest.mark.parametrize("name", MODELS)
    def test_is_the_mean_over_a_product_of_samples(self, name):
        X, y = samples()
        model = MODELS[name]().fit(X, y)
        few = X[:5]
        grid = np.array([*itertools.product(*few.T)])
        expected = (gradient(model, grid) ** 2).mean(axis=0)
        assert_allclose(derivative_sensitivity(model, background=few), expected, rtol=1e-8)

    @pytest.mark.parametrize("policy", ["clip", "extrapolate"])
    def test_clipped_values_have_no_derivative(self, policy):
        """A normal distribution that leaves the box, by rules inside of it and masses beyond."""
        rng = np.random.default_rng(5)
        X = rng.uniform(size=(80, 2))
        model = GegenbauerRegressor(n_terms=15, alpha=1e-6, out_of_range=policy)
        model.fit(X, X[:, 0] ** 2 * X[:, 1] + X[:, 1])
        normal = stats.norm(0.4, 0.5)
        found = derivative_sensitivity(model, distribution=normal)
        low, high = model.scaling_.lower, model.scaling_.upper
        nodes, weights = np.polynomial.legendre.leggauss(60)
        axes, shares = [], []
        for t in range(2):
            ends = (low[t], high[t]) if policy == "clip" else (-6.0, 7.0)
            x = ends[0] + (ends[1] - ends[0]) * 0.5 * (nodes + 1)
            inner = 0.5 * (ends[1] - ends[0]) * weights * normal.pdf(x)
            axes.append(np.concatenate([[ends[0] - 1], x, [ends[1] + 1]]))
            masses = (normal.cdf(ends[0]), normal.sf(ends[1]))
            shares.append(np.concatenate([masses[:1], inner, masses[1:]]))
        grid = np.array([*itertools.product(*axes)])
        share = np.multiply.outer(*shares).ravel()
        expected = share @ gradient(model, grid) ** 2
        assert_allclose(found, expected, rtol=1e-9)

    @pytest.mark.parametrize("name", MODELS)
    def test_a_distribution_outside_has_no_derivative(self, name):
        """Nothing of it is within the box: values, or quantiles."""
        X, y = samples()
        model = MODELS[name]().set_params(out_of_range="clip").fit(X, y)
        far = float(model.scaling_.upper.max()) + 1.0
        for given in ({far: 0.5, far + 1.0: 0.5}, stats.uniform(far, 1.0)):
            assert_allclose(derivative_sensitivity(model, distribution=given), 0.0, atol=1e-13)

    def test_inputs_that_do_not_matter_and_categories(self):
        X, y = samples()
        table = pd.DataFrame({"a": X[:, 0], "still": 1.0, "kind": np.where(y > 4, "big", "small")})
        model = GegenbauerRegressor(n_terms=12, spectrum=(0.5, 2.0)).fit(table, y)
        a, still, kind = derivative_sensitivity(model)
        assert a > 0
        assert still == 0
        assert np.isnan(kind)
