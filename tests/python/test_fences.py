"""The box of estimators that choose: fences, given bounds, and what lies beyond."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from scipy import stats

from gegenbauer import GegenbauerClassifierCV, GegenbauerRegressorCV, load, save
from gegenbauer.errors import OutlierWarning, OutOfRangeWarning
from gegenbauer.estimators._fences import find_fences


def smooth(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, np.sin(4 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.05 * rng.normal(size=n)


class TestFences:
    def test_by_definition(self):
        """Three times as far from the median as the quantile of 0.99, if the range is wider."""
        values = np.append(np.arange(101.0), 1e6)
        lower, upper = find_fences(values, None)
        assert lower == 0.0
        assert upper == 50.0 + 3 * (99.0 - 50.0)

    def test_ranges_without_outliers_are_kept(self):
        rng = np.random.default_rng(0)
        for values in (rng.uniform(size=1000), rng.normal(size=1000), rng.beta(2, 5, 1000)):
            assert find_fences(values, None) == (values.min(), values.max())

    def test_few_normal_and_lognormal_values_are_beyond(self):
        rng = np.random.default_rng(0)
        for values, share in ((rng.normal(size=10**6), 1e-9), (rng.lognormal(size=10**6), 6e-4)):
            lower, upper = find_fences(values, None)
            assert ((values < lower) | (values > upper)).mean() < share

    def test_the_lognormal_share_is_the_exact_one(self):
        q = stats.lognorm(1).ppf([0.5, 0.99])
        share = stats.lognorm(1).sf(q[0] + 3 * (q[1] - q[0]))
        assert share == pytest.approx(0.0004, abs=0.00005)  # as the docstring has it

    @pytest.mark.parametrize("n", [50, 99, 100, 150, 1000])
    def test_one_wild_value_never_sets_the_box(self, n):
        values = np.append(np.linspace(0, 1, n), 1e9)
        assert find_fences(values, None)[1] < 3.0
        assert find_fences(-values, None)[0] > -3.0

    def test_values_that_are_nearly_all_the_same_have_none(self):
        values = np.zeros(1000)
        values[:5] = 7.0
        assert find_fences(values, None) == (0.0, 7.0)

    def test_designs_and_counts_have_none(self):
        assert find_fences(10.0 ** np.arange(6), None) == (1.0, 1e5)
        counts = np.append(np.repeat([0.0, 1.0], [240, 157]), [5.0, 6.0, 7.0])
        assert find_fences(counts, None) == (0.0, 7.0)

    def test_weights_are_repeats(self):
        rng = np.random.default_rng(0)
        values, weight = rng.standard_t(1.5, 400), rng.integers(1, 4, 400)
        again = np.repeat(values, weight)
        assert find_fences(values, weight.astype(float)) == find_fences(again, None)

    def test_missing_values_and_order_do_not_matter(self):
        rng = np.random.default_rng(0)
        values = rng.standard_t(1.5, 400)
        mixed = np.append(values, [np.nan] * 9)[rng.permutation(409)]
        assert find_fences(mixed, None) == find_fences(values, None)

    def test_extreme_values(self):
        lower, upper = find_fences(np.array([-1.7e308, 0.0, 1.7e308]), None)
        assert -1.7e308 <= lower < upper <= 1.7e308

    def test_ranges_beyond_float64(self):
        """Neither fences nor the look for outliers leave float64, which NumPy would warn of."""
        values = np.linspace(-1.0, 1.0, 120) * 1.7e308
        assert find_fences(values, None) == (values[0], values[-1])
        far = np.where(np.arange(120) == 4, 1e308, -1e308) + np.arange(120) * 1e300
        with pytest.warns(OutlierWarning, match="99.17 per cent"):
            GegenbauerRegressorCV().fit(far[:, np.newaxis], np.arange(120.0))


class TestEstimators:
    @pytest.fixture(scope="class")
    @staticmethod
    def wild():
        X, y = smooth()
        X[7, 0] = 1e4
        return X, y

    @pytest.fixture(scope="class")
    @staticmethod
    def clean():
        return GegenbauerRegressorCV().fit(*smooth())

    @pytest.fixture(scope="class")
    @staticmethod
    def fenced(wild):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutlierWarning)
            return GegenbauerRegressorCV().fit(*wild)

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.OutlierWarning")
    def test_a_wild_value_costs_nothing(self, wild, clean, fenced):
        X_new, y_new = smooth(500, seed=1)
        by_range = GegenbauerRegressorCV(bounds=None).fit(*wild)
        scores = {
            name: 1 - copy.copy(model).set_params(out_of_range="clip").score(X_new, y_new)
            for name, model in (("clean", clean), ("fenced", fenced), ("range", by_range))
        }
        assert scores["fenced"] < 1.2 * scores["clean"]
        assert scores["range"] > 10 * scores["clean"]

    def test_what_is_clipped_is_reported(self, wild):
        X, y = wild
        warned = r"^99 per cent of the samples of column 0 fill .* are clipped to the box .*"
        with pytest.warns(OutlierWarning, match=warned + "leave them out") as caught:
            model = GegenbauerRegressorCV().fit(X, y)
        assert len(caught) == 1
        assert model.n_clipped_.tolist() == [1, 0, 0]
        assert model.scaling_.upper[0] < 4.0

    @pytest.mark.parametrize("value", [10.0, 1e3, 1e6])
    def test_one_wild_value_is_named(self, value):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(200, 4))
        X[7, 2] = value
        with pytest.warns(OutlierWarning, match="of column 2 fill .* leave them out if they"):
            GegenbauerRegressorCV().fit(X, X[:, 0])

    def test_tails_are_no_outliers(self):
        X = np.random.default_rng(0).standard_t(3, size=(900, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("error", OutlierWarning)
            model = GegenbauerRegressorCV().fit(X, np.tanh(X[:, 0]))
        assert model.n_clipped_.any()  # whose values beyond the fences are not apart from others

    def test_what_was_seen_is_not_outside(self, fenced):
        model = fenced
        seen, beyond = [[100.0, 0.0, 0.0]], [[2e4, 0.0, 0.0]]
        assert model.count_out_of_range(seen) == 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            value, std = model.predict(seen, return_std=True)
        with pytest.warns(OutOfRangeWarning, match=r"it is 20000 and the range is \[.*, 1010"):
            assert model.predict(beyond) == value
        with pytest.warns(OutOfRangeWarning):
            assert model.predict(beyond, return_std=True)[1][0] > std[0]

    def test_without_outliers_the_box_is_that_of_the_range(self, clean):
        one, other = clean, GegenbauerRegressorCV(bounds=None).fit(*smooth())
        np.testing.assert_array_equal(one.loo_predictions_, other.loo_predictions_)
        assert one.n_clipped_.tolist() == [0, 0, 0]

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.OutlierWarning")
    @pytest.mark.parametrize("kind", [GegenbauerRegressorCV, GegenbauerClassifierCV])
    def test_files_keep_what_was_seen(self, kind, wild, fenced, tmp_path):
        X, y = wild
        model = fenced if kind is GegenbauerRegressorCV else kind().fit(X, y > 0)
        save(model, tmp_path / "m.safetensors")
        back = load(tmp_path / "m.safetensors")
        assert back.n_clipped_.tolist() == model.n_clipped_.tolist()
        assert back.count_out_of_range([[100.0, 0.0, 0.0], [2e4, 0.0, 0.0]]) == 1
        assert back.bounds == "auto"

    def test_given_bounds(self, tmp_path):
        X, y = smooth()
        bounds = [[-2, 2]] * 3
        model = GegenbauerRegressorCV((0.5, 2.0), bounds=bounds).fit(X, y)
        assert model.scaling_.lower.tolist() == [-2, -2, -2]
        assert model.count_out_of_range([[1.9, 0, 0], [2.1, 0, 0]]) == 1
        save(model, tmp_path / "m.safetensors")
        assert load(tmp_path / "m.safetensors").bounds == ((-2.0, 2.0),) * 3

    def test_bounds_of_a_category_count_for_nothing(self):
        X, y = smooth()
        X[:, 2] = np.arange(300) % 5
        models = [
            GegenbauerRegressorCV((0.5, 2.0), bounds=bounds, categorical_features=[2]).fit(X, y)
            for bounds in ([[-2, 2]] * 3, [[-2, 2], [-2, 2], [7, 9]])
        ]
        assert models[0].scaling_.lower.tolist() == models[1].scaling_.lower.tolist() == [-2, -2, 0]
        assert np.array_equal(models[0].loo_predictions_, models[1].loo_predictions_)

    def test_samples_beyond_given_bounds(self):
        X, y = smooth()
        bounds = [[-0.9, 2], [-2, 2], [-2, 2]]
        n = int((X[:, 0] < -0.9).sum())
        with pytest.warns(OutOfRangeWarning, match=f"{n} of 300 samples"):
            model = GegenbauerRegressorCV((0.5, 2.0), bounds=bounds).fit(X, y)
        assert model.n_clipped_.tolist() == [n, 0, 0]

    @pytest.mark.parametrize(
        ("bounds", "message"),
        [
            ([[0, 1]], r"`bounds` must hold a pair.*of the 3 inputs"),
            ([[1, 0]] * 3, r"lower < upper"),
            ("all", "bounds"),
        ],
    )
    def test_bad_bounds(self, bounds, message):
        X, y = smooth(30)
        with pytest.raises(ValueError, match=message):
            GegenbauerRegressorCV(bounds=bounds).fit(X, y)

    def test_the_basis_of_the_paper_has_the_box_of_the_paper(self, wild):
        X, y = wild
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GegenbauerRegressorCV(spectrum=None, n_terms=[10]).fit(X, y)
        assert model.scaling_.upper[0] == 1e4
