from __future__ import annotations

import pickle
import warnings

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_param_validation, parametrize_with_checks

from gegenbauer import GegenbauerFeatures, reference
from gegenbauer.errors import OutOfRangeWarning


@parametrize_with_checks(
    [
        GegenbauerFeatures(),
        GegenbauerFeatures(
            n_terms=7, lam=0.5, domain=(-1, 1), out_of_range="extrapolate", term_order="grevlex"
        ),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_parameters_are_validated():
    check_param_validation("GegenbauerFeatures", GegenbauerFeatures())


class TestValues:
    @pytest.mark.parametrize("lam", [0.05, 0.5, 2.0])
    @pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
    def test_activation_matrix_of_the_scaled_inputs(self, rng, lam, domain):
        X = rng.normal(size=(40, 3))
        features = GegenbauerFeatures(degree=4, lam=lam, domain=domain).fit(X)
        scaled = domain[0] + (domain[1] - domain[0]) * (X - X.min(axis=0)) / np.ptp(X, axis=0)
        expected = reference.activation_matrix(scaled, features.basis_.indices, lam)
        assert_allclose(features.transform(X), expected, rtol=1e-12, atol=1e-14)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_dtype_is_kept(self, rng, dtype):
        X = rng.random((20, 2)).astype(dtype)
        assert GegenbauerFeatures(degree=3).fit_transform(X).dtype == dtype

    @pytest.mark.parametrize("dtype", [np.int8, np.bool_, np.uint16, np.float16, object])
    def test_other_numbers_become_float64(self, dtype):
        X = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
        result = GegenbauerFeatures(degree=2).fit_transform(X)
        assert result.dtype == np.float64
        assert_array_equal(result, GegenbauerFeatures(degree=2).fit_transform(X.astype(float)))

    def test_beyond_float32_is_an_error(self):
        X = np.array([[0.0], [1.0]], dtype=np.float32)
        features = GegenbauerFeatures(degree=60, lam=50).fit(X)
        with pytest.raises(
            ValueError, match=r"beyond the range of float32, first in row 1.*float64"
        ):
            features.transform(X)
        assert np.isfinite(features.transform(X.astype(float))).all()

    def test_int8_does_not_overflow(self):
        X = np.array([[-128], [100], [127]], dtype=np.int8)
        result = GegenbauerFeatures(degree=2, lam=0.5).fit_transform(X)
        assert_allclose(result[:, 1], [0, 228 / 255, 1], rtol=1e-15)

    def test_memory_layouts_agree(self, rng):
        X = rng.random((30, 6))[:, ::2]
        features = GegenbauerFeatures(degree=3).fit(X)
        expected = features.transform(np.ascontiguousarray(X))
        for other in (X, np.asfortranarray(X), X[::-1][::-1], X.tolist()):
            assert_array_equal(features.transform(other), expected)


class TestSize:
    def test_default_is_degree_2(self, rng):
        assert GegenbauerFeatures().fit(rng.random((5, 3))).n_terms_ == 10

    def test_first_terms_of_the_order(self, rng):
        features = GegenbauerFeatures(n_terms=5).fit(rng.random((5, 3)))
        assert features.basis_.indices.tolist() == [
            [0, 0, 0],
            [1, 0, 0],
            [0, 1, 0],
            [0, 0, 1],
            [2, 0, 0],
        ]

    def test_cut_degree_gives_one_warning(self, rng):
        X = rng.random((5, 3))
        with pytest.warns(
            UserWarning, match=r"`degree=2` has 10 terms .* `n_terms=None`"
        ) as caught:
            GegenbauerFeatures(n_terms=5, degree=2).fit(X)
        assert len(caught) == 1
        assert caught[0].filename == __file__

    def test_degree_within_n_terms_is_silent(self, rng):
        assert GegenbauerFeatures(n_terms=50, degree=2).fit(rng.random((5, 3))).n_terms_ == 10

    def test_too_many_terms_are_refused_at_once(self, rng):
        with pytest.raises(ValueError, match="terms"):
            GegenbauerFeatures(degree=40).fit(rng.random((5, 200)))

    def test_tensor_degrees(self, rng):
        features = GegenbauerFeatures(degree=[2, 1], index_set="tensor").fit(rng.random((5, 2)))
        assert features.n_terms_ == 6
        with pytest.raises(ValueError, match="degree"):
            GegenbauerFeatures(degree=[2, 1, 1], index_set="tensor").fit(rng.random((5, 2)))

    def test_largest_weight(self, rng):
        features = GegenbauerFeatures(
            n_terms=20, index_set="largest_weight", spectrum=(0.3, 1.5), domain=(-1, 1)
        ).fit(rng.random((5, 4)))
        assert features.n_terms_ == 20
        with pytest.raises(ValueError, match="n_terms"):
            GegenbauerFeatures(index_set="largest_weight", spectrum=(0.3, 1.5)).fit(
                rng.random((5, 4))
            )


class TestRange:
    X = np.array([[0.0, -1.0], [1.0, 3.0], [0.5, 0.0]])
    outside = np.array([[0.5, 0.0], [2.0, 0.0], [0.5, -7.0]])

    def test_clip(self):
        features = GegenbauerFeatures(degree=3).fit(self.X)
        clipped = np.clip(self.outside, self.X.min(axis=0), self.X.max(axis=0))
        assert_array_equal(features.transform(self.outside), features.transform(clipped))

    def test_warn_clips_and_warns_once_with_the_count(self):
        features = GegenbauerFeatures(degree=3).fit(self.X)
        with pytest.warns(OutOfRangeWarning) as all_:
            result = features.transform(self.outside)
        assert len(all_) == 1
        assert all_[0].filename == __file__
        assert str(all_[0].message) == (
            "2 of 3 samples lie outside of the range seen in fit: column 0 in 1 of them (first in "
            "row 1, where it is 2 and the range is [0, 1]), column 1 in 1 of them (first in row 2, "
            "where it is -7 and the range is [-1, 3]). They are clipped to it; "
            "`out_of_range='clip'` does so without a warning."
        )
        silent = clone(features).set_params(out_of_range="clip").fit(self.X)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert_array_equal(result, silent.transform(self.outside))
            features.transform(self.X)  # inside of the range there is nothing to warn of

    def test_the_numbers_of_the_warning_differ(self):
        features = GegenbauerFeatures(degree=1).fit([[1.7e9], [1.7e9 + 60]])
        with pytest.warns(OutOfRangeWarning, match=r"is 1700000061 .* \[1700000000, 1700000060\]"):
            features.transform([[1.7e9 + 61]])

    def test_no_more_columns_than_can_be_read(self):
        features = GegenbauerFeatures(degree=1).fit(np.vstack([np.zeros(9), np.ones(9)]))
        with pytest.warns(OutOfRangeWarning, match=r"column 4 .* and 4 more columns\. They"):
            features.transform(np.full((1, 9), 2.0))

    def test_error_names_row_column_and_range(self):
        frame = pd.DataFrame(self.X, columns=["a", "b"])
        features = GegenbauerFeatures(degree=3, out_of_range="error").fit(frame)
        with pytest.raises(ValueError, match=r"2 of 3 samples .* \('a'\) .* is 2 and .* \[0, 1\]"):
            features.transform(frame.assign(a=[0, 2, 0.5], b=[0, 0, -7.0]))
        features.transform(frame)

    def test_extrapolate(self):
        features = GegenbauerFeatures(degree=2, lam=0.5, out_of_range="extrapolate").fit(self.X)
        # P_2(2) = (3 * 4 - 1) / 2
        assert_allclose(features.transform([[2.0, -1.0]])[0, 3], 5.5)

    def test_extrapolation_to_infinity_is_an_error(self):
        features = GegenbauerFeatures(degree=2, out_of_range="extrapolate").fit(self.X)
        with pytest.raises(ValueError, match=r"float64, first in row 1.*`out_of_range='clip'`"):
            features.transform([[0.0, 0.0], [1e200, 0.0]])

    def test_policy_may_change_after_fit(self):
        features = GegenbauerFeatures(degree=3).fit(self.X)
        extrapolating = clone(features).set_params(out_of_range="extrapolate").fit(self.X)
        features.set_params(out_of_range="extrapolate")
        assert_array_equal(features.transform(self.outside), extrapolating.transform(self.outside))

    @pytest.mark.parametrize("policy", ["clip", "warn", "error", "extrapolate"])
    def test_count(self, policy):
        features = GegenbauerFeatures(out_of_range=policy).fit(self.X)
        assert features.count_out_of_range(self.outside) == 2
        assert features.count_out_of_range(self.X) == 0

    def test_constant_column_is_zero_and_stays_so(self):
        X = np.array([[0.0, 7.0], [1.0, 7.0], [0.5, 7.0]])
        features = GegenbauerFeatures(degree=2, lam=0.5).fit(X)
        names = features.get_feature_names_out().tolist()
        result = features.transform([[0.5, 7.0], [0.5, 1e6], [0.5, -3.0]])
        assert np.isfinite(result).all()
        assert_array_equal(result[:, names.index("C1(x1)")], 0)
        assert_array_equal(result[:, names.index("C2(x1)")], -0.5)


class TestNames:
    def test_readable(self, rng):
        features = GegenbauerFeatures(degree=3).fit(rng.random((5, 4)))
        names = features.get_feature_names_out()
        assert names.dtype == object
        assert names[0] == "1"
        assert names[1] == "C1(x0)"
        assert "C2(x0) C1(x3)" in names
        assert len(names) == len(set(names)) == features.n_terms_

    def test_of_the_columns(self, rng):
        frame = pd.DataFrame(rng.random((5, 2)), columns=["width", "height"])
        features = GegenbauerFeatures().fit(frame)
        expected = ["1", "C1(width)", "C1(height)", "C2(width)", "C1(width) C1(height)"]
        assert features.get_feature_names_out()[:5].tolist() == expected
        with pytest.raises(ValueError, match=r"input_features is not equal .*'a', 'b'"):
            features.get_feature_names_out(["a", "b"])
        with pytest.raises(ValueError, match=r"feature names should match"):
            features.transform(frame[["height", "width"]])

    def test_wrong_number(self, rng):
        features = GegenbauerFeatures().fit(rng.random((5, 2)))
        with pytest.raises(ValueError, match=r"input_features should have length equal .* got 3"):
            features.get_feature_names_out(["a", "b", "c"])

    def test_not_fitted(self):
        with pytest.raises(NotFittedError):
            GegenbauerFeatures().get_feature_names_out()

    @pytest.mark.parametrize("n_features", [1, 15, 200])
    def test_any_number_of_inputs(self, rng, n_features):
        features = GegenbauerFeatures(degree=1).fit(rng.random((4, n_features)))
        assert len(features.get_feature_names_out()) == n_features + 1

    def test_set_output_pandas(self, rng):
        frame = pd.DataFrame(rng.random((5, 2)), columns=["a", "b"], index=[3, 1, 4, 2, 0])
        features = GegenbauerFeatures().set_output(transform="pandas").fit(frame)
        result = features.transform(frame)
        assert isinstance(result, pd.DataFrame)
        assert list(result.columns) == features.get_feature_names_out().tolist()
        assert list(result.index) == [3, 1, 4, 2, 0]


class TestBadInput:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_terms": 0}, "'n_terms' .* Got 0"),
            ({"n_terms": 2.5}, "'n_terms' .* Got 2.5"),
            ({"degree": -1}, "'degree' .* Got -1"),
            ({"lam": -0.5}, "'lam' .* Got -0.5"),
            ({"lam": float("nan")}, "'lam' .* Got nan"),
            ({"lam": float("inf")}, "'lam' .* Got inf"),
            ({"index_set": "simplex"}, "'index_set' .* Got 'simplex'"),
            ({"max_interaction": 0}, "'max_interaction' .* Got 0"),
            ({"term_order": "lex"}, "'term_order' .* Got 'lex'"),
            ({"spectrum": "raw"}, "'spectrum' .* Got 'raw'"),
            ({"spectrum": (-1.0, 1.0)}, "spectrum"),
            ({"domain": (0, 2)}, r"'domain' .* Got \(0, 2\)"),
            ({"out_of_range": "ignore"}, "'out_of_range' .* Got 'ignore'"),
            ({"n_jobs": 0}, "'n_jobs' .* Got 0"),
            ({"n_jobs": 10**9}, "'n_jobs' .* Got 1000000000"),
            ({"n_jobs": "all"}, "'n_jobs' .* Got 'all'"),
        ],
    )
    def test_parameters(self, rng, parameters, message):
        X = rng.random((5, 2))
        with pytest.raises((ValueError, TypeError), match=message):
            GegenbauerFeatures(**parameters).fit(X).transform(X)

    def test_non_finite_columns_are_named(self):
        frame = pd.DataFrame({"a": [1.0, 2, 3], "b": [1, np.nan, 2], "c": [1, 2, np.inf]})
        with pytest.raises(
            ValueError, match=r"column 1 \('b'\) \(first in row 1\), column 2 \('c'\) .* row 2"
        ):
            GegenbauerFeatures(missing="error").fit(frame)
        with pytest.raises(ValueError, match=r"infinity.* column 2 \('c'\) \(first in row 2\)"):
            GegenbauerFeatures().fit(frame)
        features = GegenbauerFeatures(missing="error")
        features.fit(frame.fillna(0).replace(np.inf, 9))
        with pytest.raises(ValueError, match=r"NaN[\s\S]*column 1 \('b'\)"):
            features.transform(frame[["a", "b"]].assign(c=1.0))

    def test_many_non_finite_columns_are_not_all_named(self):
        with pytest.raises(ValueError, match=r"column 4 \(first in row 0\) and 15 more\."):
            GegenbauerFeatures().fit(np.full((3, 20), np.inf))

    def test_failed_refit_changes_nothing(self, rng):
        features = GegenbauerFeatures().fit(rng.random((5, 2)))
        before = dict(vars(features))
        for bad in (np.full((4, 3), np.inf), np.zeros((0, 3)), [["a"]], np.zeros(3)):
            with pytest.raises(ValueError, match=r"."):
                features.fit(bad)
            assert vars(features) == before


class TestEcosystem:
    def test_pipeline_and_search(self, rng):
        X = rng.uniform(-1, 1, size=(80, 2))
        y = X[:, 0] ** 2 * X[:, 1]
        model = make_pipeline(GegenbauerFeatures(lam=0.5), Ridge(alpha=1e-8))
        search = GridSearchCV(model, {"gegenbauerfeatures__degree": [1, 3]}, cv=3, n_jobs=2)
        search.fit(X, y)
        assert search.best_params_ == {"gegenbauerfeatures__degree": 3}
        assert search.best_score_ > 0.99

    @pytest.mark.parametrize("module", [pickle, cloudpickle])
    def test_pickle(self, rng, module):
        X = rng.random((10, 3))
        features = GegenbauerFeatures(degree=3).fit(X)
        again = module.loads(module.dumps(features))
        assert_array_equal(again.transform(X), features.transform(X))

    def test_threads_do_not_change_a_bit(self, rng):
        X = rng.random((500, 3))
        features = GegenbauerFeatures(degree=5).fit(X)
        expected = features.set_params(n_jobs=1).transform(X)
        for n_jobs in (None, 2, 3, -1):
            assert_array_equal(features.set_params(n_jobs=n_jobs).transform(X), expected)
