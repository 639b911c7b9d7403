"""Warnings of tables that mislead, and uncertainties where predictions are clipped."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import datasets
from sklearn.base import clone
from sklearn.cross_decomposition import CCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import Ridge

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    Spectrum,
    load,
    save,
    sobol_indices,
)
from gegenbauer.errors import (
    CorrelatedInputsWarning,
    OutlierWarning,
    OutOfRangeWarning,
    PenalizedConstantWarning,
)
from gegenbauer.estimators import _constant, _ridge
from gegenbauer.inspection.correlation import largest_correlation

# ---- outliers ------------------------------------------------------------------------


def outliers_of(x, **parameters):
    """Return the messages of `OutlierWarning`, of inputs that a transformer is fitted to."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        X = x if np.ndim(x) == 2 else np.reshape(x, (-1, 1))
        GegenbauerFeatures(degree=1, **parameters).fit(X)
    return [str(w.message) for w in caught if w.category is OutlierWarning]


class TestOutliers:
    @pytest.fixture(autouse=True)
    def random_numbers(self):
        self.rng = np.random.default_rng(0)  # of each test, which are in no order

    @pytest.mark.parametrize("n", [20, 100, 600, 5000])
    @pytest.mark.parametrize("wild", [10.0, -10.0, 1e3, -1e6, 1e300, 1.7e308])
    def test_one_wild_value(self, n, wild):
        x = self.rng.uniform(size=n)
        x[7] = wild
        (message,) = outliers_of(x)
        assert "of column 0 fill" in message
        assert "clip" in message
        assert "bounds" in message
        assert "transform the column" in message

    @pytest.mark.parametrize("values", [[-999.0] * 5, [50.0, -50.0], [30.0, 31.0, 4000.0]])
    def test_some_wild_values_on_either_side(self, values):
        x = self.rng.normal(size=600)
        x[: len(values)] = values
        assert len(outliers_of(x)) == 1

    def test_codes_for_missing_values(self):
        x = self.rng.normal(size=400)
        x[::20] = -99999.0
        (message,) = outliers_of(x)
        assert not message.startswith("95")  # the share that is reported is one that was looked at
        assert "fill 0.00" in message

    @pytest.mark.parametrize("share", [0.02, 0.05, 0.3, 0.45])
    @pytest.mark.parametrize("codes", [[-999.0], [9999.0], [-999.0, 9999.0]])
    def test_codes_for_many_missing_values(self, codes, share):
        """They are one value, however often it occurs, and the others are reported."""
        x = self.rng.normal(size=600)
        coded = self.rng.permutation(600)[: int(600 * share)]
        x[coded] = np.resize(codes, coded.size)
        (message,) = outliers_of(x)
        reported = float(message.partition(" per cent")[0])
        assert reported <= 100 * (1 - share) + 0.2
        assert reported >= min(90.0, 100 * (1 - share) - 0.1)  # some others may be counted out, too
        low, high = map(float, message.partition("lie in [")[2].partition("]")[0].split(", "))
        assert -5 < low < high < 5
        assert "a code such as -999" in message

    def test_levels_and_zeros_are_no_codes(self):
        rng = np.random.default_rng(3)
        for x in (
            np.where(rng.uniform(size=500) < 0.3, 0.0, rng.uniform(50, 100, 500)),
            rng.integers(0, 10, 500).astype(float),
            np.where(rng.uniform(size=500) < 0.4, -1.0, rng.uniform(0, 80, 500)),
            rng.choice([0.0, 1.0, 99.0], 500),
        ):
            assert outliers_of(x) == []

    def test_the_share_and_the_part_are_right(self):
        x = np.append(np.linspace(0, 1, 199), 20.0)
        (message,) = outliers_of(pd.DataFrame({"age": x, "even": np.arange(200.0)}))
        assert message.startswith(
            "99.5 per cent of the samples of column 0 ('age') fill 5 per cent of its range (they "
            "lie in [0, 1] of [0, 20])."
        )

    @pytest.mark.parametrize("n", [20, 200, 3000])
    @pytest.mark.parametrize(
        "draw",
        [
            lambda rng, n: rng.normal(size=n),
            lambda rng, n: rng.uniform(size=n),
            lambda rng, n: rng.exponential(size=n),
            lambda rng, n: rng.lognormal(0, 0.5, n),
            lambda rng, n: rng.poisson(0.3, n).astype(float),
            lambda rng, n: (rng.uniform(size=n) < 0.02).astype(float),
            lambda rng, n: np.append(np.ones(n - 1), 7.0),
            lambda rng, n: np.full(n, 3.0),
            lambda rng, n: np.logspace(-3, 3, n),
            lambda rng, n: np.repeat([0.0, 1.0, 1000.0], -(-n // 3)),
        ],
    )  # fmt: skip
    def test_ordinary_inputs(self, draw, n):
        rng = np.random.default_rng(1)
        for _ in range(20):
            assert outliers_of(draw(rng, n)) == []

    def test_a_long_tail_of_many_samples(self):
        """It is wide, but there is no gap before its end."""
        assert outliers_of(np.random.default_rng(2).lognormal(0, 1, 100_000)) == []

    @pytest.mark.parametrize(
        "read",
        [
            datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer,
            datasets.load_diabetes, datasets.load_digits, datasets.load_linnerud,
        ],
    )  # fmt: skip
    def test_real_tables(self, read):
        assert outliers_of(read(return_X_y=True)[0]) == []

    def test_few_samples_are_not_judged(self):
        assert outliers_of([[0.0], [0.001], [1.0]]) == []

    def test_a_range_that_is_given_is_meant(self):
        x = self.rng.uniform(size=100)
        x[3] = 1000.0
        assert outliers_of(x, bounds=[[0, 1000]]) == []

    @pytest.mark.parametrize(
        "model",
        [
            GegenbauerClassifier(n_terms=5),
            GegenbauerRegressor(n_terms=5),
            GegenbauerClassifierCV(spectrum=(0.5, 2.0), bounds=None),
            GegenbauerRegressorCV(spectrum=(0.5, 2.0), bounds=None),
        ],
        ids=lambda model: type(model).__name__,
    )
    def test_all_estimators(self, model):
        X = self.rng.uniform(size=(60, 2))
        X[3, 1] = 500.0
        y = (X[:, 0] > 0.5).astype(int)
        with pytest.warns(OutlierWarning, match="column 1 fill") as caught:
            model.fit(X, y)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert ("bounds" in str(caught[0].message)) == hasattr(model, "bounds")


# ---- outside of the range ------------------------------------------------------------


def line_model():
    """A model of 1 and T1(u) alone, of one input."""
    x = np.linspace(0, 1, 40)[:, np.newaxis]
    y = 3 * x[:, 0] + np.cos(20 * x[:, 0])
    return GegenbauerRegressorCV(spectrum=(0.5, 2.0), n_terms=2).fit(x, y), x, y


def variance_at(model, x):
    return model.predict(np.atleast_2d(x), return_std=True)[1] ** 2


@pytest.mark.parametrize(
    "kind",
    [GegenbauerFeatures, GegenbauerRegressor, GegenbauerClassifier, GegenbauerRegressorCV,
     GegenbauerClassifierCV],
)  # fmt: skip
def test_the_default_is_to_warn(kind):
    assert kind().out_of_range == "warn"


class TestOutside:
    def test_one_warning_a_call(self):
        model, *_ = line_model()
        for call in (model.predict, lambda X: model.predict(X, return_std=True),
                     model.predict_interval):  # fmt: skip
            with pytest.warns(OutOfRangeWarning, match="2 of 3 samples .* column 0 in 2") as caught:
                call([[0.5], [7.0], [-4.0]])
            assert len(caught) == 1

    def test_of_a_line_by_the_formula(self):
        """K(u, v) = 1 + 2 q u v, whose increments from the wall have the variance 2 q d^2."""
        model, x, y = line_model()
        lower, upper = model.scaling_.lower[0], model.scaling_.upper[0]
        u = model.scaling_.transform(x)[:, 0]
        signal = y.var() - model.noise_variance_[0]
        prior = max(model.noise_variance_[0] / model.alpha_, signal / (2 * 0.5 * u.var()))
        wall = variance_at(model, [upper])[0]
        for d in (0.0, 1e-6, 0.1, 0.7, 1.3, 2.0, 5.0, 1e300):
            at = upper + d * 0.5 * (upper - lower)
            expected = wall + prior * 2 * 0.5 * min(d, 2.0) ** 2
            assert_allclose(variance_at(model, [at]), expected, rtol=1e-6)

    def test_the_kernel_of_all_terms_as_many_terms(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(60, 2))
        y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=60)
        options = {"spectrum": (0.3, 3.0), "alphas": [0.1, 0.5]}
        whole = GegenbauerRegressorCV(**options).fit(X, y)
        finite = GegenbauerRegressorCV(n_terms=1500, **options).fit(X, y)
        assert whole.alpha_ == finite.alpha_
        Z = np.array([[0.5, 0.5], [1.1, 0.5], [0.5, -0.3], [1.6, 2.0], [9.0, -9.0]])
        assert_allclose(variance_at(whole, Z), variance_at(finite, Z), rtol=1e-3)
        widths = [np.subtract(*m.predict_interval(Z)[::-1]) for m in (whole, finite)]
        assert_allclose(widths[0], widths[1], rtol=0.05)  # jackknife+ and its short form

    @pytest.mark.parametrize("options", [{}, {"n_terms": 60}, {"spectrum": None, "n_terms": 40}])
    def test_grows_from_the_wall_to_more_than_the_prior(self, options):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(120, 2))
        y = np.sin(3 * X[:, 0]) * (1 + X[:, 1]) + 0.1 * rng.normal(size=120)
        model = GegenbauerRegressorCV(**options).fit(X, y)
        edge = model.scaling_.upper[0]
        way = edge + np.array([0.0, 1e-9, 1e-3, 0.01, 0.1, 0.3, 0.6, 1.0, 4.0])
        Z = np.column_stack([way, np.full(way.size, 0.4)])
        variance = variance_at(model, Z)
        lower, upper = model.predict_interval(Z)
        for values in (variance, upper - lower):
            assert (np.diff(values) >= -1e-9 * values[0]).all()
            assert values[1] == pytest.approx(values[0], rel=1e-3)
        far = variance_at(model, [[90.0, 90.0]])
        if model.spectrum is None:  # the data never chose that prior: it is no bound
            assert far < 2 * np.ptp(y) ** 2
        else:  # far outside in all inputs it is more than all that the prior knows
            corner = model.scaling_.transform([[edge, model.scaling_.upper[1]]])
            if "n_terms" in options:
                own = (model.basis_.evaluate(corner)[0, 1:] ** 2).sum()
                own /= model.alpha_
            else:  # of five models, each with its own kernel, noise and penalty
                mean = model.expansion_
                own = np.mean([
                    noise * (part.kernel.diagonal(corner)[0] - 1.0) / part.posterior.alpha
                    for noise, part in zip(mean.noise, mean.parts, strict=True)
                ])  # fmt: skip
            assert far > model.noise_variance_ * (1 + own)
        # and of the order of the targets' own, which a baseline has
        assert far > 0.5 * y.var()

    @pytest.mark.parametrize("penalize_constant", [False, True])
    def test_of_raw_polynomials_by_the_formula(self, penalize_constant):
        """A line a + b u: its increments have the mean square (b^2 + var b) d^2 given the data."""
        x = np.linspace(0, 1, 40)[:, np.newaxis]
        Y = np.column_stack([3 * x[:, 0] + np.cos(20 * x[:, 0]), 1 - x[:, 0] ** 2])
        model = GegenbauerRegressorCV(
            spectrum=None, lam=0.5, n_terms=2, alphas=[0.3], penalize_constant=penalize_constant
        ).fit(x, Y)
        lower, upper = model.scaling_.lower[0], model.scaling_.upper[0]
        u = model.scaling_.transform(x)[:, 0]
        G = np.column_stack([np.ones(40), u])
        covariance = np.linalg.inv(np.diag([0.3 * penalize_constant, 0.3]) + G.T @ G)
        slope = model.predict([[upper], [lower]])
        slope = (slope[0] - slope[1]) / np.subtract(*model.scaling_.transform([[upper], [lower]]))
        square = slope**2 + model.noise_variance_ * covariance[1, 1]
        wall = variance_at(model, [upper])[0]
        reach = np.ptp(model.scaling_.transform([[lower], [upper]]))
        for share in (0.0, 0.125, 0.25, 0.75, 1.0, 5.0):  # of the width of the box, which is grid
            at = upper + share * (upper - lower)
            expected = wall + square * (min(share, 1.0) * reach) ** 2
            assert_allclose(variance_at(model, [at])[0], expected, rtol=1e-9)

    @pytest.mark.parametrize("chosen", [(0, 3), pytest.param((1, 2), marks=pytest.mark.slow)])
    def test_of_raw_polynomials_it_is_honest_and_useful(self, chosen):
        """Of 0.9 and more of errors up to half of the range outside, and no wider than thrice."""
        functions = [
            lambda X: np.sin(3 * X[:, 0]), lambda X: np.sin(8 * X[:, 1]),
            lambda X: 2 * np.abs(X[:, 0] - 0.4), lambda X: 3 * X[:, 1] ** 2,
            lambda X: np.sin(2 * X[:, 0] + 2 * X[:, 1]),
            lambda X: np.sin(10 * X[:, 0]) + X[:, 1] ** 2,
        ]  # fmt: skip
        settings = [{}, {"lam": 0.5}, {"n_terms": 30}, {"n_terms": 100, "lam": -0.2}]
        inside = []
        for k, (f, options) in enumerate(itertools.product(functions, settings)):
            if k % 4 not in chosen:
                continue
            rng = np.random.default_rng(k)
            X = rng.uniform(size=(120, 2))
            y = f(X) + 0.05 * rng.normal(size=120)
            model = GegenbauerRegressorCV(spectrum=None, out_of_range="clip", **options).fit(X, y)
            Z = rng.uniform(size=(80, 2))
            distance = np.repeat([0.05, 0.1, 0.2, 0.3, 0.5], 16)
            used = int(k // 4 in (1, 3))  # which input matters
            Z[:, used] = np.where(rng.integers(2, size=80), 1 + distance, -distance)
            prediction, std = model.predict(Z, return_std=True)
            error = np.abs(f(Z) - prediction)
            inside.append(np.mean(error <= 1.645 * std))
            assert np.sqrt(np.mean(std**2)) < 3 * np.sqrt(np.mean(error**2))
            lower, upper = model.predict_interval(Z)
            assert np.mean((lower <= f(Z)) & (f(Z) <= upper)) > 0.6
        assert np.mean(inside) >= 0.9

    def test_without_noise_it_is_not_for_nothing(self):
        """The penalty is tiny there, and so is what it implies of the size of the function."""
        X = np.random.default_rng(0).uniform(size=(200, 3))
        model = GegenbauerRegressorCV().fit(X, np.sin(X.sum(axis=1)))
        lower, upper = model.predict_interval([[5, 0.5, 0.5], [0.5, 0.5, 0.5]])
        assert upper[0] - lower[0] > 0.5
        assert upper[1] - lower[1] < 1e-3

    def test_inputs_that_do_not_matter_may_lie_anywhere(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(150, 2))
        model = GegenbauerRegressorCV().fit(X, np.sin(6 * X[:, 0]))
        near, far = variance_at(model, [[0.5, 0.5], [0.5, 30.0]])
        assert far < 0.01 * variance_at(model, [[30.0, 0.5]])
        assert near < far

    def test_inside_of_the_box_nothing_changes(self):
        model, *_ = line_model()
        Z = np.array([[0.2], [0.7], [1.005]])
        together = model.predict_interval(np.vstack([Z, [[40.0]]]))
        for ends, alone in zip(together, model.predict_interval(Z), strict=True):
            assert_array_equal(ends[:3], alone)

    def test_extrapolations_are_as_wide_as_their_features_are(self):
        model, *_ = line_model()
        model.set_params(out_of_range="extrapolate")
        assert variance_at(model, [3.0]) > variance_at(model, [2.0])

    def test_a_saved_model(self, tmp_path):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(50, 2))
        Y = np.column_stack([X[:, 0], X[:, 0] * X[:, 1]]) + 0.1 * rng.normal(size=(50, 2))
        model = GegenbauerRegressorCV(spectrum=Spectrum((0.5, 2.0))).fit(X, Y)
        save(model, tmp_path / "m.st")
        Z = [[0.5, 3.0], [-1.0, 0.5]]
        assert_array_equal(
            load(tmp_path / "m.st").predict(Z, return_std=True)[1],
            model.predict(Z, return_std=True)[1],
        )


# ---- coefficients of terms are none of inputs ----------------------------------------


class TestTermCoefficients:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))

    @pytest.mark.parametrize(
        "model",
        [
            GegenbauerRegressor(n_terms=3), GegenbauerRegressor(n_terms=20),
            GegenbauerClassifier(n_terms=3), GegenbauerRegressorCV(spectrum=(0.5, 2.0), n_terms=3),
            GegenbauerClassifierCV(spectrum=(0.5, 2.0)),
        ],
        ids=str,
    )  # fmt: skip
    def test_selectors_take_one_number_for_each_input(self, model):
        y = (self.X[:, 1] > 0).astype(int)
        model.fit(self.X, y)
        assert not hasattr(model, "coef_")
        with pytest.raises(AttributeError, match="term_coef_ holds one for each term"):
            model.coef_  # noqa: B018
        chosen = SelectFromModel(model).fit(self.X, y).get_support()
        assert chosen.tolist() == [False, True, False]
        selector = RFE(model, n_features_to_select=1).fit(self.X, y)
        assert selector.support_.tolist() == [False, True, False]

    def test_other_names_are_not_there_as_everywhere(self):
        model = GegenbauerRegressor()
        with pytest.raises(AttributeError, match="'GegenbauerRegressor' object has no attribute"):
            model.nothing  # noqa: B018
        with pytest.raises(NotFittedError, match="not fitted yet"):
            GegenbauerRegressorCV().relevances_  # noqa: B018
        paper = GegenbauerRegressorCV(spectrum=None, n_terms=3).fit(self.X, self.X[:, 1])
        with pytest.raises(AttributeError, match="no relevances_: it has no spectrum"):
            paper.relevances_  # noqa: B018


# ---- a penalised constant ------------------------------------------------------------


class TestPenalizedConstant:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] ** 2 + X[:, 1]

    def caught(self, model, y, X=None, **options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(self.X if X is None else X, y, **options)
        return [w for w in caught if w.category is PenalizedConstantWarning]

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.PenalizedConstantWarning")
    @pytest.mark.parametrize("n_terms", [10, 100, 1000])
    def test_what_it_costs_is_what_it_costs(self, n_terms):
        """As fits to half of the samples show in the others, with and without the mean."""
        model = GegenbauerRegressor(n_terms=n_terms)
        (warning,) = self.caught(model, self.y + 1e6)
        assert warning.filename == __file__
        assert "Use `penalize_constant=False`, or subtract the mean" in str(warning.message)
        reported = float(str(warning.message).partition("off by some ")[2].split()[0])
        box = np.column_stack([self.X.min(axis=0), self.X.max(axis=0)])
        half = clone(model).set_params(bounds=box, alpha=model.alpha / 2)
        X, y, Z = self.X[::2], self.y[::2], self.X[1::2]
        far, near = half.fit(X, y + 1e6).predict(Z) - 1e6, half.fit(X, y).predict(Z)
        lost = np.median(np.abs(far - near)) / self.y.std()
        assert reported == pytest.approx(lost, rel=0.1)
        free = clone(model).set_params(penalize_constant=False)
        assert self.caught(free, self.y + 1e6) == []

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.PenalizedConstantWarning")
    @pytest.mark.parametrize("weight", [None, 0.5])
    def test_batches_report_it_from_their_sums(self, weight):
        """What sums give for targets of 1 is what fits with and without the mean differ by."""
        rng = np.random.default_rng(1)
        X = rng.uniform(-1, 1, size=(3000, 2))
        y = X[:, 0] ** 2 + X[:, 1]
        w = None if weight is None else np.full(3000, weight)
        model = GegenbauerRegressor(n_terms=15, alpha=1.0)
        for start in range(0, 3000, 1000):
            part = slice(start, start + 1000)
            model.partial_fit(X[part], y[part] + 1e4, None if w is None else w[part])
        with pytest.warns(PenalizedConstantWarning) as caught:
            model.predict(X[:1])
        (warning,) = [one for one in caught if one.category is PenalizedConstantWarning]
        assert warning.filename == __file__
        reported = float(str(warning.message).partition("off by some ")[2].split()[0])
        fit = [clone(model).fit(X, target, w).predict(X) for target in (y + 1e4, y)]
        lost = np.sqrt(np.mean((fit[0] - 1e4 - fit[1]) ** 2)) / y.std()
        assert reported == pytest.approx(lost, rel=0.05)

    @pytest.mark.parametrize("shape", ["flat", "columns"])
    @pytest.mark.parametrize("how", ["fit", "batches"])
    def test_targets_that_are_the_same_everywhere(self, how, shape):
        """Off by what `Ridge` on the same features is off by."""
        y = np.full(200, -1e6)
        y = y if shape == "flat" else np.column_stack([np.zeros(200), np.ones(200), y])
        model = GegenbauerRegressor(n_terms=15, alpha=1.0)
        if how == "fit":
            (warning,) = self.caught(model, y)
        else:
            model.fit_stream([(self.X[:100], y[:100]), (self.X[100:], y[100:])])
            with pytest.warns(PenalizedConstantWarning) as caught:
                model.predict(self.X[:1])
            (warning,) = [one for one in caught if one.category is PenalizedConstantWarning]
        message = str(warning.message)
        where = "" if shape == "flat" else " in column 2"
        assert message.startswith(f"The targets{where} are -1e+06 in all samples")
        advice = "Use `penalize_constant=False`, or subtract the mean from the targets."
        assert message.endswith(advice)
        G = model.basis_.evaluate(self.X, scaling=model.scaling_)
        ridge = Ridge(alpha=1.0, fit_intercept=False).fit(G, np.full(200, -1e6))
        off = np.sqrt(np.mean((ridge.predict(G) + 1e6) ** 2))
        assert 0.2 < float(message.partition("off by some ")[2].split(". ")[0]) / off < 5
        free = clone(model).set_params(penalize_constant=False)
        assert self.caught(free, y) == []
        last = y if shape == "flat" else y[:, 2]
        assert_allclose(free.predict(self.X).reshape(200, -1)[:, -1], last, rtol=1e-12)

    @pytest.mark.parametrize("how", ["fit", "fit_stream"])
    def test_a_search_warns_of_the_cause_alone(self, how):
        model = GegenbauerRegressorCV(
            spectrum=None, penalize_constant=True, n_terms=[10, 20, 40], alphas=[0.01, 0.1, 1.0]
        )
        y = self.y + 1e7
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if how == "fit":
                model.fit(self.X, y)
            else:
                model.fit_stream([(self.X[:100], y[:100]), (self.X[100:], y[100:])])
        kinds = [w.category for w in caught if w.category is not OutlierWarning]
        assert kinds == [PenalizedConstantWarning]
        constant = GegenbauerRegressorCV(
            spectrum=None, penalize_constant=True, n_terms=10, alphas=[1.0, 2.0, 4.0]
        )
        (warning,) = self.caught(constant, np.full(200, 1e6))
        assert "The targets are 1e+06 in all samples" in str(warning.message)

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.PenalizedConstantWarning")
    @pytest.mark.parametrize("n_terms", [200, 300, 600])
    def test_batches_of_fewer_samples_than_terms(self, n_terms):
        rng = np.random.default_rng(1)
        X = rng.uniform(size=(500, 3))
        y = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.normal(size=500) + 1e6
        model = GegenbauerRegressor(n_terms=n_terms, alpha=1e-3)
        model.fit_stream([(X[:125], y[:125]), (X[125:250], y[125:250])])
        with pytest.warns(PenalizedConstantWarning) as caught:
            model.predict(X[:1])
        reported = float(str(caught[0].message).partition("off by some ")[2].split()[0])
        model.set_params(out_of_range="clip")
        fit = [clone(model).fit(X[:250], t[:250]).predict(X[250:]) for t in (y, y - 1e6)]
        lost = np.sqrt(np.mean((fit[0] - 1e6 - fit[1]) ** 2)) / y.std()
        assert 0.1 < reported < 1.1 * lost  # at least so much

    def test_batches_whose_constant_is_cheap_or_free_warn_of_nothing(self):
        rng = np.random.default_rng(1)
        X = rng.uniform(-1, 1, size=(3000, 2))
        y = X[:, 0] ** 2 + X[:, 1]
        for model, target in [
            (GegenbauerRegressor(n_terms=15, alpha=1.0, penalize_constant=False), y + 1e4),
            (GegenbauerRegressor(n_terms=15, alpha=1.0), y),
            (GegenbauerRegressor(n_terms=15, alpha=1e-9), y + 1e4),
            (GegenbauerRegressor(n_terms=15, alpha=1.0), np.zeros(3000)),
        ]:
            with warnings.catch_warnings():
                warnings.simplefilter("error", PenalizedConstantWarning)
                model.fit_stream([(X[:1500], target[:1500]), (X[1500:], target[1500:])])
                model.predict(X[:1])

    def test_many_samples_are_looked_at_by_few(self, monkeypatch):
        """The fit to targets of 1 has a tenth of the samples, with its share of alpha."""
        rng = np.random.default_rng(1)
        X = rng.uniform(-1, 1, size=(20_000, 2))
        y = X[:, 0] ** 2 + X[:, 1] + 1e5
        seen = []
        solve = _ridge.solve_ridge

        def recorded(basis, X, Y, alpha, **options):
            seen.append((len(X), alpha))
            return solve(basis, X, Y, alpha, **options)

        for module in (_ridge, _constant):
            monkeypatch.setattr(module, "solve_ridge", recorded)
        with pytest.warns(PenalizedConstantWarning) as caught:
            model = GegenbauerRegressor(n_terms=40, alpha=1.0).fit(X, y)
        assert [n for n, _ in seen] == [20_000, 32, 129, 1000]
        assert [alpha for _, alpha in seen] == pytest.approx([n / 20_000 for n, _ in seen])
        reported = float(str(caught[0].message).partition("off by some ")[2].split()[0])
        free = clone(model).fit(X, y - 1e5)
        lost = np.median(np.abs(model.predict(X) - 1e5 - free.predict(X))) / y.std()
        assert reported == pytest.approx(lost, rel=0.15)

    def test_few_samples_are_looked_at_once(self, monkeypatch):
        """A glance at 34 of 100 samples would take as long."""
        seen = []
        solve = _constant.solve_ridge

        def recorded(basis, X, Y, alpha, **options):
            seen.append(len(X))
            return solve(basis, X, Y, alpha, **options)

        monkeypatch.setattr(_constant, "solve_ridge", recorded)
        with pytest.warns(PenalizedConstantWarning):
            GegenbauerRegressor(n_terms=30).fit(self.X, self.y + 1e6)
        assert seen == [100]

    def test_many_targets_are_looked_at_in_a_sixteenth_of_the_samples(self, monkeypatch):
        rng = np.random.default_rng(2)
        X, Y = rng.uniform(size=(1600, 2)), rng.normal(size=(1600, 100))
        seen = []
        distances = _constant._distances_of

        def recorded(Y, *given, **options):
            seen.append(Y.shape)
            return distances(Y, *given, **options)

        monkeypatch.setattr(_constant, "_distances_of", recorded)
        assert self.caught(GegenbauerRegressor(n_terms=10), Y, X) == []
        assert seen == [(100, 100)]
        Y[:, [3, 5]] += 1e6
        with pytest.warns(PenalizedConstantWarning, match="targets in column"):
            GegenbauerRegressor(n_terms=10).fit(X, Y)
        assert seen[1:] == [(100, 100), (1600, 2)]

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_a_share_leaves_out_no_mean_that_is_far(self, order, weighted):
        """Even where the samples of the share are the least favourable ones."""
        rng = np.random.default_rng(3)
        n, least = 4800, 10.0
        share = np.arange(n) < n // 16
        # means and deviations of the share, and means of the others without any deviation
        far, other = rng.uniform(0.0, 12.0, 300), rng.uniform(-50.0, 50.0, 300) ** 3 / 1e3
        noise = rng.normal(size=(n // 16, 300))
        noise = (noise - noise.mean(axis=0)) / noise.std(axis=0)
        noise[:, :60] = 0.0  # a share that is constant does not make all samples so
        other[:30] = far[:30] * 1.01
        Y = np.where(share[:, np.newaxis], 0.0, other)
        Y[share] = far + noise
        weight = np.where(share, rng.uniform(0.5, 2.0), 1.0) if weighted else None
        Y = np.asarray(Y, order=order)
        mean = np.average(Y, axis=0, weights=weight)
        spread = np.sqrt(np.average((Y - mean) ** 2, axis=0, weights=weight))
        expected = np.flatnonzero(np.abs(mean) / spread >= least)
        found = _constant._may_be_far(Y, weight, least)
        assert set(expected) <= set(found)
        assert 0 < expected.size < found.size < 300
        assert_allclose(_constant._distances_of(Y, weight), np.abs(mean) / spread, rtol=1e-6)

    @pytest.mark.parametrize("scale", [1e-160, 1.0, 1e160])
    def test_distances_of_any_size(self, scale):
        """Means up to 1e12 deviations away, of values whose squares float64 does not hold."""
        noise = np.tile([-1.0, 1.0], 500)
        expected = np.array([0.0, 3.0, 1e3, 1e6, 1e12])
        Y = scale * (noise[:, np.newaxis] + expected)
        assert_allclose(_constant._distances_of(Y, None), expected, rtol=1e-4, atol=1e-12)
        assert_array_equal(_constant._distances_of(np.full((9, 2), scale), None), [0.0, 0.0])

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.GridEdgeWarning")
    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    @pytest.mark.parametrize("alphas", [[0.25], [1e-4, 1e-3]])
    def test_the_search_warns_of_its_choice(self, alphas):
        """As fits with the chosen alpha, with and without the mean, differ in other samples."""
        y = self.y * 2.0 / self.y.std()
        options = {"n_terms": 100, "alphas": alphas, "penalize_constant": True}
        model = GegenbauerRegressorCV(spectrum=None, **options)
        (warning,) = self.caught(model, y + 1e6)
        assert warning.filename == __file__
        reported = float(str(warning.message).partition("off by some ")[2].split()[0])
        order = np.lexsort(self.X.T[::-1])
        X, y, Z = self.X[order[::2]], y[order[::2]], self.X[order[1::2]]
        box = np.column_stack([self.X.min(axis=0), self.X.max(axis=0)])
        half = GegenbauerRegressor(n_terms=100, alpha=model.alpha_ / 2, bounds=box)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            far, near = half.fit(X, y + 1e6).predict(Z) - 1e6, half.fit(X, y).predict(Z)
        assert reported == pytest.approx(np.median(np.abs(far - near)) / 2.0, rel=0.1)

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.GridEdgeWarning")
    def test_no_warning_of_searches_whose_constant_is_cheap_or_free(self):
        for model, y in [
            (GegenbauerRegressorCV(spectrum=None, n_terms=30, penalize_constant=True), self.y),
            (GegenbauerRegressorCV(spectrum=None, n_terms=30), self.y + 1e6),
            # chosen from 2^-30 on, the penalty costs 0.006 standard deviations
            (GegenbauerRegressorCV(spectrum=None, n_terms=100, penalize_constant=True),
             self.y + 1e6),
            (GegenbauerRegressorCV((0.5, 2.0), n_terms=30, penalize_constant=True), self.y + 1e6),
            (GegenbauerRegressorCV((0.5, 2.0), penalize_constant=True), self.y + 1e6),
        ]:  # fmt: skip
            assert self.caught(model, y) == []

    def test_of_the_outputs_the_one(self):
        Y = np.column_stack([self.y, self.y - 1e5])
        (warning,) = self.caught(GegenbauerRegressor(n_terms=50), Y)
        assert "The mean of the targets in column 1" in str(warning.message)

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_of_many_outputs_the_one(self, order, size, weighted):
        weights = {"sample_weight": np.linspace(1, 2, 200)} if weighted else {}
        Y = np.tile(self.y[:, np.newaxis], 300)
        Y[:, 7], Y[:, 9] = 0.0, 1e3
        Y[:, 250] += 1e6
        assert self.caught(GegenbauerRegressor(n_terms=50), np.delete(Y, 250, axis=1)) == []
        Y = np.asarray(size * Y, order=order)
        (warning,) = self.caught(GegenbauerRegressor(n_terms=50), Y, **weights)
        alone = self.caught(GegenbauerRegressor(n_terms=50), Y[:, 250], **weights)[0]
        assert str(warning.message) == str(alone.message).replace(
            "targets is", "targets in column 250 is"
        )

    @pytest.mark.parametrize("weighted", [False, True])
    def test_where_it_costs_nothing_no_warning_comes(self, weighted):
        weights = {"sample_weight": np.full(200, 2.0)} if weighted else {}
        for model, y in [
            (GegenbauerRegressor(penalize_constant=False), self.y + 1e6),
            (GegenbauerRegressor(), self.y),
            (GegenbauerRegressor(), self.y + 3),
            (GegenbauerRegressor(alpha=1e-13, n_terms=4), self.y + 1e3),
            (GegenbauerRegressor(n_terms=4), np.zeros(200)),
            (GegenbauerRegressor(n_terms=4, alpha=1e-12), np.full(200, 1e6)),
            (GegenbauerClassifier(n_terms=4), np.arange(200) == 7),
        ]:
            assert self.caught(model, y, **weights) == []

    @pytest.mark.parametrize("n_inputs", [2, 8])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_glance_hides_nothing(self, n_inputs, weighted, monkeypatch):
        """Whatever the distance of the mean, the warning is that of the thorough look alone."""
        rng = np.random.default_rng(n_inputs)
        X = rng.uniform(size=(400, n_inputs))
        y = np.sin(2 * X.sum(axis=1)) + 0.05 * rng.normal(size=400)
        weights = {"sample_weight": rng.uniform(0, 2, size=400)} if weighted else {}
        sizes = []
        solve = _constant.solve_ridge
        monkeypatch.setattr(
            _constant,
            "solve_ridge",
            lambda b, X, *a, **k: sizes.append(len(X)) or solve(b, X, *a, **k),
        )

        def messages():
            return [
                str(one.message)
                for mean in 10.0 ** np.arange(1, 8)
                for alpha in (1e-6, 1e-2)
                for one in self.caught(
                    GegenbauerRegressor(alpha=alpha, n_terms=300), y + mean, X=X, **weights
                )
            ]

        found = messages()
        at_a_glance, thorough = sizes.count(34), sizes.count(200)
        sizes.clear()
        monkeypatch.setattr(_constant, "_A_GLANCE", 400)
        assert messages() == found
        assert {*sizes} == {200}
        assert 3 <= len(found) <= thorough < len(sizes) == at_a_glance

    def test_many_samples_need_no_second_fit(self, monkeypatch):

        calls = []
        solve = _ridge.solve_ridge
        for module in (_ridge, _constant):
            monkeypatch.setattr(
                module, "solve_ridge", lambda *a, **k: calls.append(1) or solve(*a, **k)
            )
        assert self.caught(GegenbauerRegressor(n_terms=10), self.y + 20) == []
        assert len(calls) == 1


# ---- correlated inputs ---------------------------------------------------------------


class TestCorrelatedInputs:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 3))
    X[:, 2] = X[:, 0] + 0.05 * rng.normal(size=200)
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    frame = pd.DataFrame(X, columns=["carat", "table", "y"])

    @pytest.mark.parametrize(
        "model",
        [
            GegenbauerRegressor(n_terms=20),
            GegenbauerRegressor(n_terms=20, bounds=[[-1, 2]] * 3),
            GegenbauerRegressorCV(spectrum=(0.5, 2.0)),
            GegenbauerRegressorCV(spectrum=(0.5, 2.0), n_terms=30),
        ],
        ids=str,
    )
    def test_shares_are_not_theirs(self, model):
        model.fit(self.frame, self.y)
        with pytest.warns(CorrelatedInputsWarning) as caught:
            sobol_indices(model)
        r = np.corrcoef(self.X[:, 0], self.X[:, 2])[0, 1]
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert f"column 0 ('carat') and column 2 ('y') is {r:.2f} in" in str(caught[0].message)

    def test_the_threshold(self):
        for r, warned in ((0.69, False), (-0.69, False), (0.71, True), (-0.71, True)):
            Z = np.linalg.qr(np.random.default_rng(0).normal(size=(100, 2)) - 0.0)[0]
            Z -= Z.mean(axis=0)
            Z = np.linalg.qr(Z)[0]
            X = np.column_stack([Z[:, 0], r * Z[:, 0] + np.sqrt(1 - r * r) * Z[:, 1]])
            X -= X.mean(axis=0)
            model = GegenbauerRegressor(n_terms=6).fit(1e9 * X + [0, 3e9], self.y[:100])
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                sobol_indices(model)
            assert bool(caught) == warned, r

    def test_categories_and_missing_values(self):
        """The canonical correlation of indicators, and of a number with them."""
        rng = np.random.default_rng(1)
        level = rng.integers(0, 4, 400)
        noisy = np.where(rng.uniform(size=400) < 0.8, level, rng.integers(0, 4, 400))
        number = np.array([3.0, -2.0, 0.5, 9.0])[level] + rng.normal(size=400)
        other = rng.integers(0, 300, 400)  # so many levels that chance alone fits anything
        Z = np.column_stack([level, noisy, number, other]).astype(float)
        one_hot = [(Z[:, [t]] == np.unique(Z[:, t])).astype(float) for t in (0, 1)]
        expected = CCA(n_components=1).fit(one_hot[0][:, 1:], one_hot[1][:, 1:])
        pair = expected.transform(one_hot[0][:, 1:], one_hot[1][:, 1:])
        r = np.corrcoef(pair[0][:, 0], pair[1][:, 0])[0, 1]
        found = largest_correlation(Z[:, [0, 1, 3]], [0, 1, 2])
        assert found[1:] == (0, 1)
        assert found[0] == pytest.approx(r, abs=1e-4)
        means = np.array([number[level == k].mean() for k in range(4)])[level]
        eta = means.std() / number.std()
        found = largest_correlation(Z[:, [0, 2, 3]], [0, 2])
        assert found == (pytest.approx(eta, abs=1e-12), 0, 1)
        assert largest_correlation(Z[:, [0, 3]], [0, 1])[0] < 0.7
        assert largest_correlation(np.column_stack([level, level]).astype(float), [0, 1])[
            0
        ] == pytest.approx(1)
        # a gap elsewhere hides nothing, and is none itself
        X = np.column_stack([self.X, np.where(np.arange(200) % 3, np.nan, self.X[:, 1])])
        assert largest_correlation(X[:, [0, 2, 3]])[1:] == (0, 1)
        table = pd.DataFrame({"a": level.astype(str), "b": number, "c": rng.uniform(size=400)})
        model = GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(table, number + table["c"])
        with pytest.warns(CorrelatedInputsWarning, match=r"column 0 \('a'\) and column 1 \('b'\)"):
            sobol_indices(model)

    def test_constant_inputs_have_none(self):
        X = self.X.copy()
        X[:, 2] = 0.1
        sobol_indices(GegenbauerRegressor(n_terms=6).fit(X, self.y))
        sobol_indices(GegenbauerRegressor(n_terms=3).fit(X[:, :1], self.y))

    def test_loaded_and_streamed_models(self, tmp_path):
        whole = GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(self.X, self.y)
        save(whole, tmp_path / "a.st")
        with pytest.warns(CorrelatedInputsWarning):
            sobol_indices(load(tmp_path / "a.st"))
        finite = GegenbauerRegressor(n_terms=9).fit(self.X, self.y)
        save(finite, tmp_path / "b.st")
        with pytest.warns(CorrelatedInputsWarning):
            sobol_indices(load(tmp_path / "b.st"))
        sobol_indices(clone(finite).fit_stream([(self.X, self.y)]))
        sobol_indices(finite.fit_stream([(self.X, self.y)]))  # what fit has seen is gone
