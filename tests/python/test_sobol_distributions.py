"""Sobol' indices under distributions of the inputs: known values, and brute force on full grids."""

from __future__ import annotations

import itertools
import math
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats as st
from independent_inputs import VarianceParts, marginals_of_samples
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    load,
    save,
    sobol_indices,
)
from gegenbauer.dask import GegenbauerRegressor as DaskRegressor
from gegenbauer.errors import parameters_of
from gegenbauer.inspection import (
    anova_components,
    derivative_sensitivity,
    partial_dependence,
    shapley_values,
)
from gegenbauer.inspection._variances import _lobatto_rule

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

OLD_MODELS = Path(__file__).parent / "models" / "0.1.0"


@pytest.mark.parametrize("n_nodes", [0, 1, 2, 5, 12, 40])
def test_lobatto_rules(n_nodes):
    """Both ends and n nodes between them integrate powers up to 2 n + 1 over [0, 1]."""
    nodes, weights, end = _lobatto_rule(n_nodes)
    assert all(isinstance(number, float) for number in nodes + weights)
    assert len(nodes) == len(weights) == n_nodes
    for power in range(2 * n_nodes + 2):
        found = end * ((power == 0) + 1) + sum(
            w * y**power for y, w in zip(nodes, weights, strict=True)
        )
        assert_allclose(found, 1 / (power + 1), rtol=1e-13)


def chebyshev_points(n, low, high, m):
    """A grid of n nodes in each of m inputs, with the ends of the box."""
    z = np.cos(np.pi * np.arange(n) / (n - 1))
    return np.array(list(itertools.product(low + (high - low) * 0.5 * (z + 1), repeat=m)))


def interpolant(f, X, degree, **options):
    """A finite set that takes the values of f at X to rounding."""
    model = GegenbauerRegressor(
        degree=degree, n_terms=None, spectrum="orthonormal", lam=0.5, alpha=1e-13, **options
    )
    return model.fit(X, f(X))


class TestKnownFunctions:
    @pytest.fixture(scope="class")
    @classmethod
    def ishigami(cls):
        X = chebyshev_points(22, -np.pi, np.pi, 3)[::3]
        X = np.vstack([X, np.full((1, 3), -np.pi), np.full((1, 3), np.pi)])

        def f(X):
            a, b, c = X.T
            return np.sin(a) + 7 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)

        model = interpolant(f, X, [15, 20, 4], index_set="tensor", max_interaction=2)
        at = np.random.default_rng(0).uniform(-np.pi, np.pi, (500, 3))
        assert_allclose(model.predict(at), f(at), atol=1e-5)
        return model

    def test_ishigami(self, ishigami):
        """Of a = 7, b = 0.1: the one interaction is that of the first and the third input."""
        b, pi = 0.1, math.pi
        parts = {
            (0,): 0.5 * (1 + b * pi**4 / 5) ** 2,
            (1,): 49 / 8,
            (0, 2): b**2 * pi**8 * (1 / 18 - 1 / 50),
        }
        variance = sum(parts.values())
        found = sobol_indices(
            ishigami, distribution="uniform", groups=[[0, 1], [2]], order=2
        )  # fmt: skip
        assert_allclose(found.mean, 3.5, rtol=1e-6)
        assert_allclose(found.variance, variance, rtol=1e-6)
        first = np.array([parts[0,], parts[1,], 0]) / variance
        both = parts[0, 2] / variance
        assert_allclose(found.first_order[0], first, atol=1e-6)
        assert_allclose(found.total[0], first + np.array([both, 0, both]), atol=1e-6)
        second = np.zeros((3, 3))
        second[0, 2] = second[2, 0] = both
        assert_allclose(found.second_order[0], second, atol=1e-6)
        assert_allclose(found.shapley_effects[0], first + np.array([both, 0, both]) / 2, atol=1e-6)
        assert_allclose(found.closed[0], [first[0] + first[1], 0], atol=1e-6)
        assert_allclose(found.group_total[0], [1, both], atol=1e-6)
        assert found.groups == [[0, 1], [2]]
        assert (found.error < 1e-8).all()

    def test_g_function(self):
        """By a tensor set on each side of its kinks, where it is linear in each input."""
        a = np.array([0.0, 1.0, 4.5, 9.0])
        # the distribution that 2 |x - 1/2| has is that of x: the same indices without the kinks
        X = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
        model = interpolant(
            lambda X: np.prod((2 * X + a) / (1 + a), axis=1), X, [1] * 4, index_set="tensor"
        )  # fmt: skip
        found = sobol_indices(model, groups=[[0, 1], [2, 3]])
        V = 1 / (3 * (1 + a) ** 2)
        variance = np.prod(1 + V) - 1
        assert_allclose(found.mean, 1.0, rtol=1e-9)
        assert_allclose(found.variance, variance, rtol=1e-9)
        assert_allclose(found.first_order[0], V / variance, atol=1e-9)
        assert_allclose(found.total[0], V / (1 + V) * np.prod(1 + V) / variance, atol=1e-9)
        second = np.multiply.outer(V, V) / variance
        np.fill_diagonal(second, 0.0)
        assert_allclose(found.second_order[0], second, atol=1e-9)
        assert_allclose(
            found.closed[0],
            [(np.prod(1 + V[:2]) - 1) / variance, (np.prod(1 + V[2:]) - 1) / variance],
            atol=1e-9,
        )
        # each set of inputs shares its product of variances equally
        effects = np.zeros(4)
        for size in range(1, 5):
            for u in map(list, itertools.combinations(range(4), size)):
                effects[u] += np.prod(V[u]) / size / variance
        assert_allclose(found.shapley_effects[0], effects, atol=1e-9)

    @pytest.mark.parametrize(
        "degrees",
        [
            {"rw": 12, "Hu": 1, "L": 6, "Kw": 5},
            {"rw": 12, "r": 13, "Kw": 5},
            {"Tu": 4, "Tl": 4, "Hu": 1, "rw": 12},
        ],
        ids=str,
    )
    def test_borehole(self, degrees):
        """Flow through a borehole, with normal, log-normal and uniform inputs, clipped to a box.

        The others are at their middles.
        """
        box = {
            "rw": (0.05, 0.15), "r": (1000.0, 20000.0), "Tu": (63070.0, 115600.0),
            "Hu": (990.0, 1110.0), "Tl": (63.1, 116.0), "Hl": (700.0, 820.0),
            "L": (1120.0, 1680.0), "Kw": (9855.0, 12045.0),
        }  # fmt: skip
        normal, log_normal = st.norm(0.10, 0.0161812), st.lognorm(1.0056, scale=math.exp(7.71))

        def borehole(columns):
            x = {name: 0.5 * (low + high) for name, (low, high) in box.items()}
            x |= dict(zip(degrees, columns, strict=True))
            g = np.log(x["r"] / x["rw"])
            resistance = g + 2 * x["L"] * x["Tu"] / (x["rw"] ** 2 * x["Kw"])
            resistance += g * x["Tu"] / x["Tl"]
            return 2 * np.pi * x["Tu"] * (x["Hu"] - x["Hl"]) / resistance

        points, given, marginals = [], [], []
        for name, degree in degrees.items():
            low, high = box[name]
            z = np.cos(np.pi * np.arange(degree + 1) / degree)
            points.append(low + (high - low) * 0.5 * (z + 1))
            z, w = np.polynomial.legendre.leggauss(60 if name in ("rw", "r") else 12)
            if name in ("rw", "r"):  # what is inside, and what lies at both faces
                one = normal if name == "rw" else log_normal
                x = low * (high / low) ** (0.5 * (z + 1))
                w = w * 0.5 * np.log(high / low) * x * one.pdf(x)
                x, w = np.r_[x, low, high], np.r_[w, one.cdf(low), one.sf(high)]
            else:
                one = st.uniform(low, high - low)
                x, w = low + (high - low) * 0.5 * (z + 1), w / 2
            assert_allclose(w.sum(), 1.0, rtol=1e-12)
            given.append(one)
            marginals.append((x, w))
        X = np.array(list(itertools.product(*points)))
        model = interpolant(
            lambda X: borehole(X.T), X, [*degrees.values()], index_set="tensor", out_of_range="clip"
        )
        groups = [[0, 1], [2]]
        found = sobol_indices(model, distribution=given, groups=groups)
        parts = VarianceParts(lambda columns: borehole(np.array(columns)), marginals)
        assert_allclose(found.mean, parts.mean, rtol=1e-6)
        assert_allclose(found.variance, parts.variance, rtol=1e-6)
        for t in range(len(degrees)):
            assert_allclose(found.first_order[0, t], parts.closed_share([t])[0], atol=1e-6)
            assert_allclose(found.total[0, t], parts.total_share([t])[0], atol=1e-6)
        assert_allclose(found.second_order, parts.second(), atol=1e-6)
        assert_allclose(found.shapley_effects, parts.shapley_effects(), atol=1e-6)
        for k, group in enumerate(groups):
            assert_allclose(found.closed[0, k], parts.closed_share(group)[0], atol=1e-6)
            assert_allclose(found.group_total[0, k], parts.total_share(group)[0], atol=1e-6)


class TestExactDistributions:
    def test_normal_and_lognormal(self):
        """Of x^2 z + z: moments of both are known, and nothing is clipped."""
        X = chebyshev_points(5, -2, 2, 2)
        model = interpolant(
            lambda X: X[:, 0] ** 2 * X[:, 1] + X[:, 1], X, 3, out_of_range="extrapolate"
        )  # fmt: skip
        mu, sigma, s = 0.3, 0.8, 0.4
        found = sobol_indices(model, distribution=[st.norm(mu, sigma), st.lognorm(s)])
        a = mu**2 + sigma**2
        var_square = 2 * sigma**4 + 4 * mu**2 * sigma**2
        z, var_z = math.exp(s**2 / 2), math.exp(2 * s**2) - math.exp(s**2)
        parts = np.array([var_square * z**2, (a + 1) ** 2 * var_z, var_square * var_z])
        variance = parts.sum()
        assert_allclose(found.mean, (a + 1) * z, rtol=1e-9)
        assert_allclose(found.variance, variance, rtol=1e-9)
        assert_allclose(found.first_order[0], parts[:2] / variance, atol=1e-9)
        assert_allclose(found.second_order[0, 0, 1], parts[2] / variance, atol=1e-9)

    def test_clipped_normal(self):
        """A clipped normal input has point masses at the faces of the box."""
        X = chebyshev_points(9, -1, 1, 1)
        model = interpolant(lambda X: X[:, 0] ** 3, X, 3, out_of_range="clip")
        found = sobol_indices(model, distribution=st.norm(0.5, 1.0))
        z, w = np.polynomial.legendre.leggauss(60)
        pdf = st.norm.pdf(z, 0.5, 1.0)
        below, above = st.norm.cdf(-1, 0.5), st.norm.sf(1, 0.5)
        mean = w @ (z**3 * pdf) + above - below
        square = w @ (z**6 * pdf) + above + below
        assert_allclose(found.mean, mean, rtol=1e-9)
        assert_allclose(found.variance, square - mean**2, rtol=1e-9)


def samples(n=40, m=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 3, (n, m))
    one = np.sin(X[:, 0]) * X[:, 1 % m] + X[:, 2 % m] ** 2 + 0.2 * np.prod(X, axis=1)
    Y = np.column_stack([one, X[:, -1] + X[:, 0] * X[:, 1 % m]])
    return X, Y + 0.3 * rng.normal(size=Y.shape)


MODELS = {
    "plain": GegenbauerRegressor(degree=4, n_terms=None),
    "kernel": GegenbauerRegressorCV(intervals="one_spectrum"),
    "mean": GegenbauerRegressorCV(intervals="five_spectra"),
    "terms": GegenbauerRegressorCV(n_terms=60),
}


def compare(found, parts, groups=(), atol=1e-9):
    m = parts.m
    assert_allclose(found.mean, parts.mean, rtol=1e-9, atol=1e-9)
    assert_allclose(found.variance, parts.variance, rtol=1e-8)
    for t in range(m):
        assert_allclose(found.first_order[:, t], parts.closed_share([t]), atol=atol)
        assert_allclose(found.total[:, t], parts.total_share([t]), atol=atol)
    if found.second_order is not None:
        assert_allclose(found.second_order, parts.second(), atol=atol)
        assert_allclose(found.shapley_effects, parts.shapley_effects(), atol=atol)
        assert_allclose(found.shapley_effects.sum(axis=1), 1.0, atol=atol)
    for k, group in enumerate(groups):
        assert_allclose(found.closed[:, k], parts.closed_share(group), atol=atol)
        assert_allclose(found.group_total[:, k], parts.total_share(group), atol=atol)


class TestBruteForce:
    @pytest.mark.parametrize("n_outputs", [1, 2])
    @pytest.mark.parametrize("name", MODELS)
    def test_discrete_marginals(self, name, n_outputs):
        X, Y = samples()
        model = pickle.loads(pickle.dumps(MODELS[name])).set_params(out_of_range="clip")
        model.fit(X, Y if n_outputs == 2 else Y[:, 0])
        rng = np.random.default_rng(3)
        marginals = [
            (rng.uniform(-3, 4, k), rng.dirichlet(np.ones(k))) for k in (3, 9, 12)
        ]  # fmt: skip
        given = [dict(zip(values.tolist(), w, strict=True)) for values, w in marginals]
        parts = VarianceParts(lambda columns: model.predict(np.column_stack(columns)), marginals)
        groups = [[0, 2], [1]]
        found = sobol_indices(model, distribution=given, groups=groups)
        compare(found, parts, groups, atol=1e-8 if name in ("kernel", "mean") else 1e-9)
        assert (found.error < 1e-6).all()
        once = sobol_indices(model, distribution=given, groups=groups, order=1)
        assert once.second_order is None
        assert once.shapley_effects is None
        assert_array_equal(once.total, found.total)

    @pytest.mark.parametrize("kernel", [False, True])
    def test_six_inputs(self, kernel):
        X, Y = samples(50, 6)
        model = pickle.loads(pickle.dumps(MODELS["kernel" if kernel else "terms"]))
        model.fit(X, Y[:, 0])
        parts = VarianceParts(
            lambda columns: model.predict(np.column_stack(columns)), marginals_of_samples(X[:3])
        )
        groups = [[5, 0], [1, 2, 4]]
        compare(sobol_indices(model, background=X[:3], groups=groups), parts, groups, atol=1e-8)

    @pytest.mark.parametrize("smoothness", [1.0, 2.0])
    def test_parts_of_many_inputs(self, smoothness):
        """Equal shares of parts of up to nine inputs, for which some rule is not exact."""
        rng = np.random.default_rng(4)
        X = rng.uniform(-1, 1, (40, 9))
        y = np.column_stack([np.prod(1.0 + X, axis=1), X.sum(axis=1) ** 3])
        model = GegenbauerRegressorCV(
            spectrum=(2.0, smoothness), alphas=[1.0], intervals="one_spectrum"
        ).fit(X, y)  # fmt: skip
        few = X[:3]
        parts = VarianceParts(
            lambda columns: model.predict(np.column_stack(columns)), marginals_of_samples(few)
        )
        beyond_pairs = (
            1.0
            - sum(parts.closed_share([t]) for t in range(9))
            - parts.second().sum(axis=(1, 2)) / 2
        )
        assert (beyond_pairs > 0.05).all()
        found = sobol_indices(model, background=few)
        compare(found, parts, atol=1e-10)
        assert (found.error < 1e-10).all()

    @pytest.mark.parametrize("name", MODELS)
    def test_samples_of_the_fit(self, name):
        X, Y = samples(25, 2)
        model = pickle.loads(pickle.dumps(MODELS[name])).fit(X, Y[:, 0])
        parts = VarianceParts(
            lambda columns: model.predict(np.column_stack(columns)), marginals_of_samples(X)
        )
        compare(sobol_indices(model, distribution="empirical"), parts, atol=1e-8)
        importances = parts.total_share([0])[0], parts.total_share([1])[0]
        assert_allclose(
            model.feature_importances_, np.array(importances) / sum(importances), atol=1e-8
        )

    @pytest.mark.parametrize("name", ["kernel", "plain"])
    def test_one_input(self, name):
        X, Y = samples(30, 1)
        model = pickle.loads(pickle.dumps(MODELS[name])).fit(X, Y[:, 0])
        found = sobol_indices(model, groups=[[0]])
        for shares in (found.first_order, found.total, found.shapley_effects, found.closed):
            assert_allclose(shares, 1.0, rtol=1e-9)
        assert_array_equal(found.second_order, 0.0)

    def test_names_of_groups(self):
        X, Y = samples()
        table = pd.DataFrame(X, columns=["a", "b", "c"])
        model = GegenbauerRegressor().fit(table, Y[:, 0])
        named = sobol_indices(model, groups=[["a", "c"], "b"])
        plain = sobol_indices(model, groups=[{0, 2}, [1]])
        assert_array_equal(named.closed, plain.closed)
        assert_array_equal(named.names, ["a", "b", "c"])


class TestFewDigits:
    """Coefficients so large that a quadratic form of them has no digits."""

    def test_honest_errors(self, monkeypatch):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(60, 2))
        f = np.exp(X[:, 0]) * np.cos(2 * X[:, 1])
        model = GegenbauerRegressorCV(
            spectrum=(1.0, 3.0), alphas=[1e-14], intervals="one_spectrum"
        ).fit(X, f)  # fmt: skip
        background = rng.uniform(size=(12, 2))
        parts = VarianceParts(
            lambda columns: model.predict(np.column_stack(columns)),
            marginals_of_samples(background),
        )
        exact = sobol_indices(model, background=background)
        monkeypatch.setattr("gegenbauer.inspection.sobol._MOST_ROUNDING", 0.0)
        rough = {}
        for n_terms in (20, 60, 2000):
            monkeypatch.setattr("gegenbauer.inspection.sobol._N_TERMS", n_terms)
            found = rough[n_terms] = sobol_indices(model, background=background)
            for one in (found, exact):
                off = max(
                    np.abs(one.total[0, t] - parts.total_share([t])[0]) for t in range(2)
                )  # fmt: skip
                assert off <= 2 * one.error[0] + 1e-12
        assert rough[20].error > 10 * rough[2000].error
        assert_allclose(rough[2000].mean, parts.mean, rtol=1e-6)
        assert_allclose(rough[2000].variance, parts.variance, rtol=1e-4)

    @pytest.mark.parametrize("name", ["kernel", "mean"])
    def test_more_products_than_pairs_are_taken_of(self, name, monkeypatch):
        X, Y = samples(40, 2)
        model = pickle.loads(pickle.dumps(MODELS[name])).fit(X, Y)
        exact = sobol_indices(model, background=X)
        monkeypatch.setattr("gegenbauer.inspection.sobol._MOST_PRODUCTS", 10)
        found = sobol_indices(model, background=X, groups=[[0]])
        assert_allclose(found.mean, exact.mean, atol=1e-3)
        for part in ("first_order", "total", "second_order", "shapley_effects"):
            gap = np.abs(getattr(found, part) - getattr(exact, part))
            assert gap.max() <= 2 * found.error.max() + 1e-9
        assert (found.error < 0.05).all()


class TestImportances:
    @pytest.fixture(scope="class")
    @classmethod
    def friedman(cls):
        return make_friedman1(200, n_features=7, noise=0.3, random_state=0)

    @pytest.mark.parametrize(
        "model",
        [
            GegenbauerRegressor(degree=4, n_terms=200, alpha=1e-1),
            GegenbauerRegressorCV(intervals="one_spectrum"),
            GegenbauerRegressorCV(n_terms=150),
        ],
        ids=["plain", "kernel", "terms"],
    )
    def test_friedman(self, friedman, model):
        """The order of the five inputs that matter is that of permutation importance."""
        X, y = friedman
        model = pickle.loads(pickle.dumps(model)).set_params(out_of_range="clip").fit(X, y)
        found = model.feature_importances_
        assert found.shape == (7,)
        assert_allclose(found.sum(), 1.0, rtol=1e-12)
        permuted = permutation_importance(
            model, X, y, n_repeats=5, random_state=0, scoring="neg_mean_squared_error"
        ).importances_mean
        apart = np.argwhere(permuted[:, np.newaxis] > 1.3 * np.abs(permuted))
        assert len(apart) >= 15  # of 21 pairs: inputs 0 and 1 are alike, and 5 and 6 are noise
        for more, less in apart:
            assert found[more] > found[less]
        chosen = SelectFromModel(model, prefit=True, max_features=5, threshold=-np.inf)
        assert set(chosen.get_support(indices=True)) == {0, 1, 2, 3, 4}
        assert set(np.argsort(permuted)[2:]) == {0, 1, 2, 3, 4}

    def test_streams(self, friedman):
        X, y = friedman
        options = {"degree": 3, "n_terms": None, "bounds": [(0, 1)] * 7}
        whole = GegenbauerRegressor(**options).fit(X, y).feature_importances_
        stream = GegenbauerRegressor(**options)
        for rows in np.array_split(np.arange(200), 5):
            stream.partial_fit(X[rows], y[rows])
        assert_allclose(stream.feature_importances_, whole, rtol=1e-6)
        da = pytest.importorskip("dask.array")
        model = DaskRegressor(**options)
        model.fit(da.from_array(X, chunks=(100, 7)), da.from_array(y, chunks=100))
        assert_allclose(model.feature_importances_, whole, rtol=1e-6)

    def test_sums_of_high_degree(self):
        """Sums of some terms determine no Gauss rule, but they hold all means that count."""
        X, Y = samples(60, 2)
        options = {"bounds": [(-2, 3)] * 2, "out_of_range": "clip"}
        stream = GegenbauerRegressor(**options).partial_fit(X, Y[:, 0])
        assert stream.basis_.indices.max() > 40
        parts = VarianceParts(
            lambda columns: stream.predict(np.column_stack(columns)), marginals_of_samples(X)
        )
        compare(sobol_indices(stream, distribution="empirical"), parts, atol=1e-8)

    def test_forgetting(self):
        X, Y = samples(60, 2)
        model = GegenbauerRegressor(degree=4, bounds=[(-2, 3)] * 2)
        model.partial_fit(X[:30], Y[:30, 0]).partial_fit(X[30:], Y[30:, 0])
        model.forget(X[:30], Y[:30, 0])
        parts = VarianceParts(
            lambda columns: model.predict(np.column_stack(columns)), marginals_of_samples(X[30:])
        )
        compare(sobol_indices(model, distribution="empirical"), parts, atol=1e-7)

    @pytest.mark.parametrize("kind", [GegenbauerClassifier, GegenbauerClassifierCV])
    def test_classifiers(self, kind):
        X, _ = samples(90)
        model = kind().fit(X, np.digitize(X[:, 1], [-0.5, 1.5]))
        assert model.feature_importances_.argmax() == 1
        assert_allclose(model.feature_importances_.sum(), 1.0, rtol=1e-12)

    def test_none(self):
        """Constant targets have no variance, and models that are not fitted no importances."""
        X, _ = samples(20)
        for one in (GegenbauerRegressorCV(), GegenbauerRegressor(penalize_constant=False)):
            with pytest.raises(NotFittedError):
                _ = one.feature_importances_
            found = one.fit(X, np.full(20, 2.0))
            shares = found.feature_importances_
            assert np.isfinite(shares).all()

    def test_files(self, tmp_path):
        X, Y = samples(60)
        for name, one in MODELS.items():
            model = pickle.loads(pickle.dumps(one)).fit(X, Y)
            save(model, tmp_path / f"{name}.safetensors")
            again = load(tmp_path / f"{name}.safetensors")
            assert_array_equal(again.feature_importances_, model.feature_importances_)
        old = load(OLD_MODELS / "regressor.safetensors")
        assert_allclose(old.feature_importances_.sum(), 1.0, rtol=1e-12)
        with pytest.raises(ValueError, match="does not hold the marginals"):
            sobol_indices(old, distribution="empirical")


class TestBadArguments:
    @pytest.fixture(scope="class")
    @classmethod
    def model(cls):
        X, Y = samples()
        return GegenbauerRegressor().fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y[:, 0])

    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"groups": 3}, "`groups` must be a sequence of groups"),
            ({"groups": "ab"}, "`groups` must be a sequence of groups"),
            ({"groups": [["a"], ["b", "a"]]}, "must not overlap, but 'a'"),
            ({"groups": [["a", 0]]}, "must hold each input once"),
            ({"groups": [[]]}, "must name an input"),
            ({"groups": [[7]]}, "has 7, but inputs are numbered from 0 to 2"),
            ({"groups": [[-1]]}, "has -1, but inputs are numbered from 0 to 2"),
            ({"groups": [[0.5]]}, "must be numbers or names of inputs"),
            ({"groups": [["d"]]}, "'d', which is no input of the model"),
            ({"order": 0}, "must be at least 1"),
            ({"order": 3}, "must be 1 or 2"),
            ({"order": "two"}, "must be an integer"),
        ],
        ids=str,
    )
    def test_groups_and_order(self, model, options, match):
        with pytest.raises((ValueError, TypeError), match=match) as caught:
            sobol_indices(model, **options)
        assert parameters_of(caught.value) == tuple(options)

    @pytest.mark.parametrize(
        "distribution", ["uniform", "chebyshev", "empirical", {"a": "uniform"}]
    )
    def test_two_descriptions(self, model, distribution):
        table = pd.DataFrame(np.zeros((2, 3)), columns=["a", "b", "c"])
        for explain in (
            sobol_indices,
            derivative_sensitivity,
            lambda *args, **given: shapley_values(args[0], table, **given),
            lambda *args, **given: anova_components(args[0], table, **given),
            lambda *args, **given: partial_dependence(args[0], "a", **given),
        ):
            with pytest.raises(ValueError, match="give one of them") as caught:
                explain(model, background=table, distribution=distribution)
            assert parameters_of(caught.value) == ("background", "distribution")

    @pytest.mark.parametrize("n", [1, 2])
    def test_a_background_of_one_sample(self, model, n):
        """Nothing varies; but Shapley values may begin at a single point."""
        table = pd.DataFrame(np.tile([[0.1, 0.2, 0.3]], (n, 1)), columns=["a", "b", "c"])
        with pytest.raises(ValueError, match="one sample, or equal ones") as caught:
            sobol_indices(model, background=table)
        assert parameters_of(caught.value) == ("background",)
        found = shapley_values(model, table, background=table)
        assert_allclose(found.values, 0.0, atol=1e-13)
        assert_allclose(found.base_values, model.predict(table))

    def test_what_holds_a_model(self):
        X, Y = samples()
        pipeline = make_pipeline(StandardScaler(), GegenbauerRegressor()).fit(X, Y[:, 0])
        search = GridSearchCV(GegenbauerRegressor(), {"alpha": [1e-3]}, cv=2).fit(X, Y[:, 0])
        for one, match in (
            (pipeline, r"got Pipeline: give its last step, pipeline\[-1\]"),
            (search, "got GridSearchCV: give its best_estimator_"),
            (GegenbauerRegressor, "got the class GegenbauerRegressor: give an object"),
            (3, "got int$"),
        ):
            with pytest.raises(TypeError, match=match) as caught:
                sobol_indices(one)
            assert parameters_of(caught.value) == ("estimator",)
        assert sobol_indices(search.best_estimator_).total.shape == (1, 3)
        assert sobol_indices(pipeline[-1]).total.shape == (1, 3)
