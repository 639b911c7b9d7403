"""Distributions of inputs as nodes and weights, against integrals, sums and samples."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.stats as st
from mpmath import mp
from numpy.polynomial.chebyshev import chebvander
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special

from gegenbauer import (
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GramStatistics,
    MomentStatistics,
    TensorBasis,
    sobol_indices,
)
from gegenbauer.basis.input_functions import functions_of
from gegenbauer.errors import parameters_of
from gegenbauer.inspection import derivative_sensitivity
from gegenbauer.inspection._quadrature import (
    chebyshev_rule,
    gauss_rule,
    legendre_rule,
    quantile_rule,
)
from gegenbauer.inspection._sums import marginals_of_sums
from gegenbauer.inspection.distributions import marginals_of
from gegenbauer.inspection.marginals import Marginal
from gegenbauer.inspection.sample_marginals import sample_marginals

LOW, HIGH = -1.0, 2.0  # the box of the first input of all models here
DEGREES = np.array([1, 2, 5, 8])


def samples():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.linspace(LOW, HIGH, 50), rng.uniform(size=50)])
    return X, np.sin(X[:, 0]) + X[:, 1]


@pytest.fixture(scope="module")
def terms():
    return GegenbauerRegressor(degree=8, n_terms=None).fit(*samples())


@pytest.fixture(scope="module")
def kernel():
    model = GegenbauerRegressorCV(intervals="one_spectrum", bounds=[(LOW, HIGH), (0.0, 1.0)])
    return model.fit(*samples())


def marginal(model, distribution, t=0):
    function = model.expansion_.with_scaling(model._current_scaling())
    return marginals_of(model, function, distribution)[t]


def chebyshev_means(model, found):
    """Means of Chebyshev polynomials of the first input, clipped or not."""
    assert_allclose(found.weights.sum(), 1.0, rtol=1e-14)
    assert (found.weights >= 0).all()
    z = found.nodes if model.scaling_.domain[0] == -1 else 2 * found.nodes - 1
    return found.weights @ chebvander(z, DEGREES.max())[:, DEGREES]


def unit(x):
    return 2 * (np.clip(x, LOW, HIGH) - LOW) / (HIGH - LOW) - 1


@pytest.fixture(scope="module", params=["kernel", "terms", "plain"])
def model(request):
    found = {
        "kernel": GegenbauerRegressorCV(intervals="one_spectrum", bounds=None),
        "terms": GegenbauerRegressorCV(n_terms=40, bounds=None),
        "plain": GegenbauerRegressor(
            degree=3, categorical_features=["colour"], missing="indicator"
        ),
    }[request.param]
    return found.fit(*TestOfModels.table())


class TestContinuous:
    """With the distribution function as a measure: by parts, all is an integral of T' F."""

    DISTRIBUTIONS: ClassVar = {
        "normal": st.norm(0.3, 0.7),
        "narrow": st.norm(0.3, 0.001),
        "beyond": st.norm(10.0, 1.0),
        "lognormal": st.lognorm(0.5),
        "beta": st.beta(2, 3, -1, 3),
        "singular beta": st.beta(0.3, 0.2, -1, 3),
        "almost two values": st.beta(0.05, 0.05, -1, 3),
        "triangular": st.triang(0.3, -1, 3),
        "triangular outside": st.triang(0.5, -3, 4),
        "exponential": st.expon(-1, 1),
        "uniform partly outside": st.uniform(0, 5),
        "uniform inside": st.uniform(0, 1),
        "cauchy": st.cauchy(),
        "student": st.t(3),
        "weibull": st.weibull_min(0.5, -1),
        "histogram": st.rv_histogram(([3, 1, 2], [-2.0, 0.0, 0.5, 4.0]), density=False),
    }

    def expected(self, given):
        """E T_n(clip) = T_n(1) - int T_n'(z) F dz over [-1, 1] of the unit."""
        points, weighted_slopes = self.rule()
        return 1.0 - weighted_slopes @ given.cdf(points)

    @staticmethod
    @functools.cache
    def rule():
        """Points, and T_n' there times their weights, for all distributions."""
        kinks = [-1.0, 1.0, *unit(np.array([-3, -2, -1, -0.1, 0.0, 0.5, 1.0, 4.0]))]
        kinks += [*unit(0.3 + np.array([-0.008, -0.002, 0.0, 0.002, 0.008]))]
        kinks = np.unique(np.clip(kinks, -1, 1))
        # graded towards all kinks: distribution functions may have roots there
        z, w = legendre_rule(30)
        steps = 0.5 ** np.arange(80.0)
        breaks = [kinks]
        for a, b in itertools.pairwise(kinks):
            breaks += [a + 0.5 * (b - a) * steps, b - 0.5 * (b - a) * steps]
        breaks = np.unique(np.concatenate(breaks))
        breaks = breaks[(breaks >= -1) & (breaks <= 1)]
        half = 0.5 * np.diff(breaks)
        u = (breaks[:-1] + half)[:, np.newaxis] + half[:, np.newaxis] * z
        weights = 2 * half[:, np.newaxis] * w
        slopes = [np.polynomial.Chebyshev.basis(n).deriv()(u) for n in DEGREES.tolist()]
        points = LOW + (HIGH - LOW) * 0.5 * (u + 1)
        return points.ravel(), np.array([(weights * slope).ravel() for slope in slopes])

    @pytest.mark.parametrize("name", DISTRIBUTIONS)
    def test_means(self, terms, kernel, name):
        given = self.DISTRIBUTIONS[name]
        expected = self.expected(given)
        # of singular ones the distribution function itself is known to less at the ends
        atol = 5e-13
        for model in (terms, kernel):
            found = chebyshev_means(model, marginal(model, [given, "uniform"]))
            assert_allclose(found, expected, atol=atol)

    def test_closed_form_by_mpmath(self, terms):
        """The normal distribution, clipped: half masses at the faces and truncated moments."""
        with mp.workdps(30):
            mu, sigma = mp.mpf("0.3"), mp.mpf("0.7")
            expected = []
            for n in DEGREES.tolist():

                def g(x, n=n):
                    return mp.chebyt(n, 2 * (x + 1) / 3 - 1) * mp.npdf(x, mu, sigma)

                below, above = mp.ncdf(-1, mu, sigma), 1 - mp.ncdf(2, mu, sigma)
                expected.append(
                    float(mp.quad(g, mp.linspace(-1, 2, 7)) + (-1) ** n * below + above)
                )
        found = marginal(terms, [st.norm(0.3, 0.7), "uniform"])
        assert_allclose(chebyshev_means(terms, found), expected, atol=1e-14)

    def test_moments_of_what_is_not_clipped(self, terms):
        model = terms.__class__(**terms.get_params()).set_params(out_of_range="extrapolate")
        model.fit(*samples())
        k = np.arange(1, 17)
        for given, moments in (
            (st.norm(1.0, 2.0), [st.norm(1.0, 2.0).moment(int(n)) for n in k]),
            (st.expon(), special.factorial(k)),
            (st.lognorm(0.2), np.exp(0.5 * (0.2 * k) ** 2)),
            (st.lognorm(1.0), np.exp(0.5 * k**2)),
        ):
            found = marginal(model, [given, "uniform"])
            x = LOW + (HIGH - LOW) * found.nodes
            assert_allclose(found.weights @ x[:, np.newaxis] ** k, moments, rtol=1e-12)

    def test_quantiles_alone(self, terms, kernel):
        class Plain:
            def ppf(self, p):
                return st.norm.ppf(p, 0.3, 0.7)

        expected = self.expected(st.norm(0.3, 0.7))
        for model in (terms, kernel):
            found = marginal(model, [Plain(), "uniform"])
            assert_allclose(chebyshev_means(model, found), expected, atol=1e-14)

    @pytest.mark.skipif(not hasattr(st, "Normal"), reason="distributions of SciPy 1.15")
    def test_new_distributions(self, terms):
        for given, same in (
            (st.Normal(mu=0.3, sigma=0.7), st.norm(0.3, 0.7)),
            (st.Uniform(a=0.0, b=5.0), st.uniform(0, 5)),
            (2.0 * st.Normal(mu=0.0, sigma=0.25) + 0.5, st.norm(0.5, 0.5)),
        ):
            found = marginal(terms, [given, "uniform"])
            assert_allclose(chebyshev_means(terms, found), self.expected(same), atol=1e-13)

    def test_named(self, terms, kernel):
        for model in (terms, kernel):
            # E T_n over the uniform distribution is 0 for odd n and 1 / (1 - n^2) for even n
            found = chebyshev_means(model, marginal(model, "uniform"))
            assert_allclose(found, [0, -1 / 3, 0, -1 / 63], atol=1e-14)
            found = chebyshev_means(model, marginal(model, "chebyshev"))
            assert_allclose(found, 0, atol=1e-14)

    def test_part_of_a_box_that_is_wider_than_its_samples(self):
        X, y = samples()
        model = GegenbauerRegressorCV(intervals="one_spectrum").fit(X, y)
        found = marginal(model, "uniform")
        u = 2 * (found.nodes - found.nodes.min()) / np.ptp(found.nodes) - 1
        ends = model.scaling_.transform(X[[0, -1]])[:, 0]
        middle = found.weights @ found.nodes
        spread = found.weights @ (found.nodes - middle) ** 2
        assert_allclose(middle, ends.mean(), atol=1e-12)
        assert_allclose(spread, np.ptp(ends) ** 2 / 12, rtol=1e-10)
        assert u.size == 400


class TestDiscrete:
    def expected(self, values, shares):
        return np.asarray(shares) @ chebvander(unit(np.asarray(values, float)), 8)[:, DEGREES]

    def test_distributions_of_scipy(self, terms, kernel):
        counts = np.arange(200)
        listed, shares = [-1, 0, 2], [0.2, 0.3, 0.5]
        for given, values, pmf in (
            (st.rv_discrete(values=(listed, shares)), listed, shares),
            (st.rv_discrete(values=(listed, shares))(), listed, shares),
            (st.poisson(1.2), counts, st.poisson.pmf(counts, 1.2)),
            (st.poisson(1.2, loc=-0.5), counts - 0.5, st.poisson.pmf(counts, 1.2)),
            (st.poisson(80.0, loc=-80), counts - 80, st.poisson.pmf(counts, 80.0)),
            (st.binom(7, 0.3), counts, st.binom.pmf(counts, 7, 0.3)),
            (st.geom(0.4, loc=-1), counts - 1, st.geom.pmf(counts, 0.4)),
        ):
            for model in (terms, kernel):
                found = marginal(model, [given, "uniform"])
                assert_allclose(
                    chebyshev_means(model, found), self.expected(values, pmf), atol=1e-13
                )

    def test_values_that_are_no_integers(self, terms, kernel):
        values, shares = [-0.5, 0.25, 1.7], [0.2, 0.3, 0.5]
        given = st.rv_discrete(values=(values, shares))
        for model in (terms, kernel):
            found = marginal(model, [given, "uniform"])
            assert_allclose(
                chebyshev_means(model, found), self.expected(values, shares), atol=1e-12
            )

    @pytest.mark.skipif(not hasattr(st, "Binomial"), reason="distributions of SciPy 1.16")
    def test_new_distributions(self, terms):
        counts = np.arange(8)
        found = marginal(terms, [st.Binomial(n=7, p=0.3), "uniform"])
        expected = self.expected(counts, st.binom.pmf(counts, 7, 0.3))
        assert_allclose(chebyshev_means(terms, found), expected, atol=1e-13)

    def test_moments_of_counts_that_are_not_clipped(self):
        model = GegenbauerRegressor(degree=4, n_terms=None, out_of_range="extrapolate")
        model.fit(*samples())
        given = st.poisson(3.0)
        found = marginal(model, [given, "uniform"])
        x = LOW + (HIGH - LOW) * found.nodes
        assert found.nodes.size == 5
        for n in range(1, 9):
            assert_allclose(found.weights @ x**n, given.moment(n), rtol=1e-10)

    def test_mapping(self, terms, kernel):
        for model in (terms, kernel):
            found = marginal(model, [{-1: 2, 0.5: 3, 7.0: 5, 1.0: 0}, "uniform"])
            expected = self.expected([-1, 0.5, 7], [0.2, 0.3, 0.5])
            assert_allclose(chebyshev_means(model, found), expected, atol=1e-14)
            # of one value for all inputs
            one = marginal(model, {0.5: 1})
            assert_allclose(chebyshev_means(model, one), self.expected([0.5], [1.0]), atol=1e-14)


class TestOfModels:
    """What inputs are like that have names, levels, gaps, no range, or half ranks."""

    @staticmethod
    def table():
        rng = np.random.default_rng(1)
        n = 80
        X = pd.DataFrame(
            {
                "a": rng.uniform(size=n),
                "colour": rng.choice(["blue", "green", "red"], n, p=[0.5, 0.3, 0.2]),
                "gaps": rng.normal(size=n),
                "still": np.full(n, 3.0),
            }
        )
        X.loc[rng.random(n) < 0.25, "gaps"] = np.nan
        y = X.a * (X.colour == "red") + X.gaps.fillna(2.0) + 0.1 * rng.normal(size=n)
        return X, y.to_numpy()

    def test_by_samples(self, model):
        """Means of powers, and shares of levels and of what is missing."""
        X, _ = self.table()
        function = model.expansion_.with_scaling(model._current_scaling())
        a, colour, gaps, still = marginals_of(model, function, "empirical")
        box = model.scaling_
        ready = model._encoder.encode(X, allow_missing=True)
        z = box.transform(ready)
        for power in (1, 2, 3):
            assert_allclose(a.weights @ a.nodes**power, (z[:, 0] ** power).mean(), rtol=1e-12)
        given = ~np.isnan(gaps.nodes)
        missing = np.isnan(z[:, 2])
        assert_allclose(gaps.weights[~given].sum(), missing.mean(), rtol=1e-13)
        for power in (1, 2, 3):
            expected = (z[~missing, 2] ** power).sum() / len(z)
            assert_allclose(gaps.weights[given] @ gaps.nodes[given] ** power, expected, rtol=1e-12)
        assert_allclose(colour.nodes, [-1, 0, 1], atol=1e-15)
        shares = X.colour.value_counts(normalize=True).sort_index()
        assert_allclose(colour.weights, shares, rtol=1e-13)
        assert_array_equal(still.nodes, 0.0)

    def test_by_names(self, model):
        given = {"colour": {"red": 1, "blue": 3}, "a": st.uniform(0.25, 0.5), "still": st.norm()}
        function = model.expansion_.with_scaling(model._current_scaling())
        a, colour, gaps, still = marginals_of(model, function, given)
        assert_array_equal(colour.nodes, [1.0, -1.0])
        assert_allclose(colour.weights, [0.25, 0.75])
        middle = model.scaling_.transform(np.array([[0.5, 0.0, 0.0, 3.0]]))[0, 0]
        assert_allclose(a.weights @ a.nodes, middle, rtol=1e-12)
        assert np.isnan(gaps.nodes).any()  # as in the samples
        assert_array_equal(still.nodes, 0.0)
        # numbers that may be missing are given under all distributions but the empirical one
        assert not np.isnan(marginal(model, "uniform", 2).nodes).any()

    def test_half_ranks(self):
        """The mean of what they make of quantiles, by a midpoint rule of a million of them."""
        X, y = samples()
        model = GegenbauerRegressorCV(intervals="one_spectrum", bounds=None).fit(X, y)
        steps = np.array([0.0, 0.1, 0.4, 1.0]), np.array([0.0, 0.5, 0.9, 1.0])
        box = model.scaling_.replace(warping=(steps, None))
        found = marginals_of(model, model.expansion_.with_scaling(box), [st.norm(), "uniform"])[0]
        x = st.norm.ppf((np.arange(1e6) + 0.5) / 1e6)
        share = ((x - box.lower[0]) / (box.upper[0] - box.lower[0])).clip(0, 1)
        z = 2 * np.interp(share, *steps) - 1
        for n in (1, 2, 5, 20):
            assert_allclose(found.weights @ found.nodes**n, (z**n).mean(), atol=1e-9)

    @pytest.mark.parametrize(
        ("given", "kind", "match"),
        [
            ("normal", ValueError, "must be one of 'empirical', 'uniform', 'chebyshev'"),
            (3.0, TypeError, "have a method ppf"),
            ({"a": None}, TypeError, "of column 0 .'a'. must be one of"),
            (st.multivariate_normal([0.0, 0.0]), TypeError, "no joint distribution"),
            (np.eye(4), TypeError, "(?s)no joint distribution .* `background`"),
            (["uniform"], ValueError, "one entry for each of 4 inputs, got 1"),
            ({"b": "uniform"}, ValueError, "'b', which is no input of the model"),
            ({"a": {"x": 1.0}}, TypeError, "a number, must have numbers as values"),
            ({"a": {np.nan: 1.0}}, ValueError, "must have finite values"),
            ({"a": {0.5: -1.0, 0.2: 2.0}}, ValueError, "probabilities that are not negative"),
            ({"a": {0.5: 0.0}}, ValueError, "with a positive sum"),
            ({"a": {0.5: "much"}}, ValueError, "must map values to probabilities"),
            ({"a": st.norm(0, -1)}, ValueError, "quantiles that are NaN"),
            ({"a": st.beta}, TypeError, "must have all of its parameters"),
            ({"a": st.zipf(1.3)}, ValueError, "more than a million values"),
            ({"colour": st.norm()}, TypeError, "a category, must be a mapping"),
            ({"colour": {"white": 1.0}}, ValueError, "'white', which is none of its values"),
        ],
    )
    def test_bad_distributions(self, given, kind, match):
        model = GegenbauerRegressor(
            degree=1, categorical_features=["colour"], missing="indicator"
        ).fit(*self.table())
        with pytest.raises(kind, match=match) as caught:
            marginal(model, given)
        assert parameters_of(caught.value) == ("distribution",)

    @pytest.mark.parametrize("given", [st.cauchy(), st.pareto(3), st.t(4)])
    def test_moments_that_do_not_exist(self, terms, given):
        model = GegenbauerRegressor(degree=8, n_terms=None, out_of_range="extrapolate")
        model.fit(*samples())
        with pytest.raises(ValueError, match=r"degree 16 .*do not converge.*'clip'") as caught:
            marginal(model, [given, "uniform"])
        assert parameters_of(caught.value) == ("distribution",)
        marginal(model.set_params(out_of_range="clip"), [given, "uniform"])


class Moments:
    """A distribution of which nothing is known but its moments, and maybe its ends."""

    def __init__(self, moment, ends=None):
        self.moment = moment
        if ends is not None:
            self.support = lambda: ends


class TestMoments:
    """Objects that have moments, but no quantiles."""

    @pytest.fixture
    def short(self):
        model = GegenbauerRegressor(degree=4, n_terms=None, bounds=[(LOW, HIGH), (0.0, 1.0)])
        return model.fit(*samples())

    @pytest.mark.parametrize("given", [st.norm(0.2, 0.4), st.expon(0, 0.3), st.binom(3, 0.4)])
    def test_are_as_good_as_quantiles(self, short, given):
        short.set_params(out_of_range="extrapolate")
        expected = sobol_indices(short, distribution=given)
        found = sobol_indices(short, distribution=Moments(given.moment))
        for name in ("mean", "variance", "first_order", "total", "second_order"):
            assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("degree", [4, 16])
    def test_fractions_are_exact(self, degree):
        """The moments of the uniform distribution over [0, 1], for polynomials of any degree."""
        X = samples()[0]
        X[:, 0] = np.linspace(0, 1, 50)
        model = GegenbauerRegressor(degree=degree, n_terms=None, bounds=[(0.0, 1.0)] * 2)
        model.fit(X, np.exp(X[:, 0]) * X[:, 1])
        uniform = Moments(lambda k: Fraction(1, k + 1), (0, 1))
        nodes, weights = np.polynomial.legendre.leggauss(degree + 1)
        found = marginal(model, uniform)
        assert_allclose(found.nodes, 0.5 * (nodes + 1), atol=1e-12)
        assert_allclose(found.weights, 0.5 * weights, atol=1e-12)
        sensitivity = derivative_sensitivity(model, distribution=uniform)
        assert_allclose(
            sensitivity, derivative_sensitivity(model, distribution="uniform"), rtol=1e-10
        )

    def test_of_fewer_values_than_nodes(self, short):
        """Moments of a coin are those of two values, and nothing but rounding is left for more."""
        short.set_params(out_of_range="extrapolate")
        coin = Moments(lambda k: 0.25, (0, 1))
        found = marginal(short, coin)
        box = short.scaling_
        expected = box.transform(np.array([[0.0, 0.0], [1.0, 0.0]]))[:, 0]
        assert_allclose(found.nodes, expected, atol=1e-12)
        assert_allclose(found.weights, [0.75, 0.25], rtol=1e-12)

    @pytest.mark.parametrize(
        ("given", "kind", "match"),
        [
            (Moments(st.norm().moment), ValueError, "which are clipped.*a method support"),
            (Moments(st.expon().moment, (0, np.inf)), ValueError, "which are clipped"),
            (Moments(lambda k: 1.0 / k, (0, 1)), ValueError, "of no distribution"),
            (Moments(lambda k: np.nan, (0, 1)), ValueError, "of no distribution"),
        ],
    )
    def test_that_do_not_determine_means(self, short, given, kind, match):
        short.set_params(out_of_range="clip")
        with pytest.raises(kind, match=match) as caught:
            marginal(short, given)
        assert parameters_of(caught.value)[0] == "distribution"

    def test_of_too_few_digits(self):
        model = GegenbauerRegressor(degree=12, n_terms=None, out_of_range="extrapolate")
        model.fit(*samples())
        with pytest.raises(ValueError, match=r"too few digits.*fractions\.Fraction"):
            marginal(model, Moments(st.norm(0.3, 0.3).moment))

    def test_of_kernels_and_half_ranks(self, kernel, short):
        with pytest.raises(TypeError, match=r"kernels of all terms.*`n_terms`"):
            marginal(kernel, Moments(st.norm().moment))
        steps = np.array([0.0, 0.1, 0.4, 1.0]), np.array([0.0, 0.5, 0.9, 1.0])
        box = short.scaling_.replace(warping=(steps, None))
        with pytest.raises(TypeError, match="half ranks"):
            marginals_of(
                short, short.expansion_.with_scaling(box), [Moments(st.norm().moment), "uniform"]
            )


class TestRules:
    @pytest.mark.parametrize("n", [1, 2, 7, 40])
    def test_named_rules(self, n):
        k = np.arange(2 * n)
        for rule, expected in (
            (legendre_rule, np.where(k % 2, 0.0, 1.0 / (1.0 - np.where(k % 2, 0, k) ** 2.0))),
            (chebyshev_rule, np.where(k, 0.0, 1.0)),
        ):
            nodes, weights = rule(n)
            assert_allclose(weights @ chebvander(nodes, 2 * n - 1), expected, atol=1e-14)

    @pytest.mark.parametrize("n", [1, 2, 5, 20, 64])
    @pytest.mark.parametrize("kind", ["even", "narrow", "two clusters", "one outlier", "few"])
    def test_gauss_rules(self, n, kind):
        """Means of all polynomials below degree 2 n, in their values' size on [-1, 1]."""
        rng = np.random.default_rng(n)
        x = {
            "even": rng.uniform(-1, 1, 3000),
            "narrow": rng.normal(0, 0.1, 3000).clip(-1, 1),
            "two clusters": np.r_[rng.uniform(-1, -0.99, 900), rng.uniform(0.99, 1, 900)],
            "one outlier": np.r_[rng.normal(0, 1e-4, 2000), 1.0],
            "few": rng.choice([-0.3, 0.1, 0.7], 100),
        }[kind]
        weights = rng.uniform(0.5, 1.5, x.size)
        weights /= weights.sum()
        nodes, found = gauss_rule(x, weights, n)
        assert nodes.size <= n
        assert (found >= 0).all()
        assert nodes.min() >= x.min()
        assert nodes.max() <= x.max()
        expected = weights @ chebvander(x, 2 * n - 1)
        # of points of size 1 in clusters of 0.01 only so much is left
        atol = 5e-13 if kind == "two clusters" else 1e-13
        assert_allclose(found @ chebvander(nodes, 2 * n - 1), expected, atol=atol)

    def test_few_samples_stay(self):
        nodes, weights = gauss_rule(np.array([0.5, -0.5]), np.array([0.75, 0.25]), 5)
        assert_array_equal(nodes, [-0.5, 0.5])
        assert_array_equal(weights, [0.25, 0.75])

    def test_a_point(self):
        found = gauss_rule(np.full(9, 0.3), np.full(9, 1 / 9), 4)
        assert_allclose(found[1] @ found[0], 0.3, rtol=1e-15)

    def test_what_is_missing_keeps_its_share(self):
        x = np.append(np.linspace(-1, 1, 99), np.nan)
        found = Marginal(x, np.full(100, 0.01)).condensed(3)
        assert found.nodes.size == 4
        assert_allclose(found.weights[np.isnan(found.nodes)], 0.01)
        given = ~np.isnan(found.nodes)
        for n in range(6):
            expected = 0.01 * (x[:-1] ** n).sum()
            assert_allclose(found.weights[given] @ found.nodes[given] ** n, expected, atol=1e-14)

    def test_quantiles_of_a_power(self):
        """x = p^100 on [0, 1], the mean of (2 x - 1)^n in closed form by the binomial theorem."""
        rule = quantile_rule(
            lambda p: p**100, lambda p: np.exp(100 * np.log1p(-p)), lambda x: 2 * x - 1, 3
        )
        nodes, weights = rule
        moments = [1 / (1 + 100 * k) for k in range(4)]
        assert_allclose(weights @ nodes, 2 * moments[1] - 1, rtol=1e-13)
        assert_allclose(weights @ nodes**2, 4 * moments[2] - 4 * moments[1] + 1, rtol=1e-13)
        cube = 8 * moments[3] - 12 * moments[2] + 6 * moments[1] - 1
        assert_allclose(weights @ nodes**3, cube, rtol=1e-13)

    def test_what_does_not_converge(self):
        rule = quantile_rule(lambda p: -1 / p, lambda p: 1 / p, lambda x: x, 2)
        assert rule is None


class TestSums:
    """The marginals of samples by nothing but sums of products of features."""

    @staticmethod
    def check(basis, Z, weight, found):
        """Means of products of the functions of each input are those over the samples."""
        for t, one in enumerate(found):
            values = functions_of(basis.spectrum, basis.lam, basis.indices, t, Z[:, t])
            root = one.weighted(lambda _: None)
            size = np.sqrt((values**2).mean(axis=0))
            assert_allclose(
                root.T @ root,
                (values.T * weight) @ values / weight.sum(),
                rtol=0,
                atol=1e-13 * np.outer(size, size).max(),
            )

    @pytest.mark.parametrize("lam", [-0.2, 0.0, 0.05, 0.5, 1.0, 2.0])
    @pytest.mark.parametrize("spectrum", [None, "orthonormal", (0.5, 1.0)])
    @pytest.mark.parametrize("domain", [(-1, 1), (0, 1)])
    def test_means_of_products(self, lam, spectrum, domain):
        rng = np.random.default_rng(0)
        Z = np.column_stack([rng.uniform(*domain, 200), rng.beta(2, 5, 200)])
        weight = rng.uniform(0.5, 2, 200)
        basis = TensorBasis(2, degree=6, lam=lam, spectrum=spectrum)
        G = basis.evaluate(Z)
        gram = np.tril((G.T * weight) @ G) + np.triu(np.full((28, 28), 7.0), 1)
        self.check(basis, Z, weight, marginals_of_sums(basis, gram))

    def test_high_degree_and_few_values(self):
        """Sums that have no full rank."""
        rng = np.random.default_rng(0)
        Z = np.column_stack([rng.uniform(size=30), rng.integers(0, 2, 30), np.full(30, 0.3)])
        basis = TensorBasis(3, degree=40, max_interaction=1)
        G = basis.evaluate(Z)
        self.check(basis, Z, np.ones(30), marginals_of_sums(basis, G.T @ G))

    def test_levels_and_gaps(self):
        X, y = TestOfModels.table()
        options = {"degree": 4, "categorical_features": ["colour"], "missing": "indicator"}
        model = GegenbauerRegressor(**options).fit(X, y)
        Z = model.scaling_.transform(model._encoder.encode(X, allow_missing=True))
        assert np.isnan(Z[:, 2]).any()
        G = model.basis_.evaluate(Z)
        self.check(model.basis_, Z, np.ones(len(Z)), marginals_of_sums(model.basis_, G.T @ G))

    @pytest.mark.parametrize("kind", [GramStatistics, MomentStatistics])
    def test_statistics(self, kind):
        rng = np.random.default_rng(0)
        Z = rng.uniform(size=(300, 2))
        basis = TensorBasis(2, degree=5)
        sums = kind(basis, 1)
        for part in np.array_split(Z, 3):
            sums.update(part, part.sum(axis=1))
        self.check(basis, Z, np.ones(300), marginals_of_sums(basis, sums.gram))


@pytest.mark.parametrize("weighted", [False, True])
def test_many_samples_all_count(weighted):
    """Of more than ten thousand, neighbours are taken together: the mean is that over all."""
    rng = np.random.default_rng(1)
    X = np.sort(np.column_stack([rng.uniform(-1, 1, 30_011), rng.beta(0.3, 2, 30_011)]), axis=0)
    X[::3, 1] = 0.25  # of many samples, and there are gaps
    X[::7, 1] = np.nan
    weight = rng.uniform(0.1, 2.0, len(X)) if weighted else None
    found = sample_marginals(X, weight, None, [12, 400])
    for one, column in zip(found, X.T, strict=True):
        given = ~np.isnan(column)
        at = ~np.isnan(one.nodes)
        assert_allclose(one.weights.sum(), 1.0, rtol=1e-12)
        shares = np.average(given, weights=weight)
        assert_allclose(one.weights[at].sum(), shares, rtol=1e-12)
        for f in (lambda x: x, lambda x: x**2, lambda x: x**9, np.exp, lambda x: np.sin(9 * x)):
            expected = np.average(np.where(given, f(np.nan_to_num(column)), 0.0), weights=weight)
            assert_allclose(one.weights[at] @ f(one.nodes[at]), expected, rtol=1e-9, atol=1e-9)


def test_the_order_of_many_samples_does_not_matter():
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(12_000, 2))
    y = X[:, 0] + X[:, 1] ** 2
    model, other = (
        GegenbauerRegressor(degree=3, n_terms=None).fit(X[order], y[order])
        for order in (slice(None), np.argsort(X[:, 0]))
    )
    assert_allclose(
        sobol_indices(model, distribution="empirical").total,
        sobol_indices(other, distribution="empirical").total,
        rtol=1e-9,
    )
    mean = sobol_indices(model, distribution="empirical").mean
    grid = model.predict(np.column_stack([np.repeat(X[:300, 0], 300), np.tile(X[:300, 1], 300)]))
    assert_allclose(mean, grid.mean(), atol=0.05)
    assert_allclose(mean, y.mean(), rtol=1e-4)  # additive: the mean of all targets


def test_weights_of_samples():
    rng = np.random.default_rng(0)
    Z, weight = rng.uniform(-1, 1, (500, 2)), rng.uniform(0.1, 3, 500)
    Z[:50, 1] = np.nan
    first, second = sample_marginals(Z, weight, None, [6, 4])
    for n in range(12):
        expected = np.average(Z[:, 0] ** n, weights=weight)
        assert_allclose(first.weights @ first.nodes**n, expected, atol=1e-13)
    share = weight[:50].sum() / weight.sum()
    assert_allclose(second.weights[np.isnan(second.nodes)], share, rtol=1e-13)
