from __future__ import annotations

import pickle
import re
import warnings
from dataclasses import replace

import cloudpickle
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from interrupts import interrupt
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, make_multilabel_classification
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_param_validation, parametrize_with_checks

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    InputScaling,
    TensorBasis,
    solve_ridge,
)
from gegenbauer.errors import IllConditionedWarning, OutOfRangeWarning, TooLargeError

BOTH = [GegenbauerClassifier, GegenbauerRegressor]


@parametrize_with_checks(
    [
        GegenbauerClassifier(),
        GegenbauerRegressor(),
        GegenbauerClassifier(
            n_terms=40, alpha=1e-3, domain=(-1, 1), engine="dual", class_weight="balanced"
        ),
        GegenbauerRegressor(
            n_terms=None,
            degree=2,
            alpha=1e-4,
            domain=(-1, 1),
            engine="primal",
            solver="orthogonal",
            penalize_constant=False,
            out_of_range="extrapolate",
        ),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", BOTH)
def test_precision(rng, cls):
    X = rng.random((3000, 12), dtype=np.float32)
    y = np.arange(3000) % 2
    options = {"n_terms": 300, "engine": "primal", "alpha": 1.0}
    assert cls().get_params()["precision"] == "auto"
    fast = cls(**options).fit(X, y)
    exact = clone(fast).set_params(precision="float64").fit(X, y)
    assert (fast.precision_, exact.precision_) == ("float32", "float64")
    assert_allclose(
        fast.term_coef_, exact.term_coef_, rtol=0, atol=1e-11 * np.abs(exact.term_coef_).max()
    )
    assert cls(**options).fit(X.astype(np.float64), y).precision_ == "float64"


@pytest.mark.parametrize("cls", BOTH)
def test_parameters_are_validated(cls):
    check_param_validation(cls.__name__, cls())


@pytest.mark.parametrize("cls", BOTH)
def test_defaults_are_the_papers_setting(cls):
    parameters = cls().get_params()
    assert parameters["n_terms"] == 1000
    assert parameters["lam"] == 0.05
    assert parameters["alpha"] == 2.0**-12
    assert parameters["domain"] == (0, 1)
    assert parameters["term_order"] == "grlex"
    assert parameters["spectrum"] is None
    assert parameters["penalize_constant"] is True


class TestRightValues:
    """Of the issue that this module came from."""

    def test_iris(self, iris):
        model = GegenbauerClassifier(n_terms=15, alpha=2**-6).fit(*iris)
        assert_allclose(np.linalg.norm(model.term_coef_), 43.9783388964, rtol=0, atol=1e-10)
        assert_allclose(
            model.decision_function(iris.X[:1])[0],
            [0.867506036932, -0.731799745106, -1.135491215003],
            rtol=0,
            atol=1e-10,
        )
        assert (model.predict(iris.X) == iris.y).sum() == 143

    def test_iris_on_the_symmetric_domain(self, iris):
        model = GegenbauerClassifier(n_terms=15, alpha=2**-6, domain=(-1, 1)).fit(*iris)
        assert_allclose(np.linalg.norm(model.term_coef_), 29.6643646596, rtol=0, atol=1e-10)
        assert (model.predict(iris.X) == iris.y).sum() == 144

    @pytest.mark.parametrize(
        ("seed", "right"), list(enumerate([44, 42, 41, 44, 44, 43, 45, 44, 43, 41]))
    )
    def test_iris_splits(self, iris, seed, right):
        training, test = iris.split(seed, 105)
        model = GegenbauerClassifier().fit(*training)
        assert abs((model.predict(test.X) == test.y).sum() - right) <= 1

    @pytest.mark.parametrize(
        ("seed", "right"), list(enumerate([51, 50, 49, 52, 50, 51, 52, 52, 52, 50]))
    )
    def test_wine_splits(self, wine, seed, right):
        training, test = wine.split(seed, 126)
        model = GegenbauerClassifier(alpha=2**-6).fit(*training)
        assert abs((model.predict(test.X) == test.y).sum() - right) <= 1

    def test_three_points(self):
        model = GegenbauerRegressor(n_terms=2, lam=0.5, alpha=1).fit(
            [[0.0], [0.5], [1.0]], [-1, -1, 1]
        )
        assert_allclose(model.term_coef_, [-4 / 9, 14 / 27], rtol=1e-14)


class TestFitted:
    def test_attributes_regression(self, rng):
        X, y = rng.random((30, 3)), rng.random(30)
        model = GegenbauerRegressor(n_terms=10).fit(X, y)
        assert isinstance(model.basis_, TensorBasis)
        assert isinstance(model.scaling_, InputScaling)
        assert model.term_coef_.shape == (10,)
        assert model.n_terms_ == 10
        assert model.n_features_in_ == 3
        assert model.engine_ in ("primal", "dual")
        assert model.solver_ in ("cholesky", "qr", "lq", "complete_orthogonal")
        assert 0 < model.rcond_ <= 1
        assert model.n_refinements_ >= 0
        assert not hasattr(model, "feature_names_in_")
        assert not hasattr(model, "classes_")

    @pytest.mark.parametrize("shape", [(30,), (30, 1), (30, 2)])
    def test_output_has_the_shape_of_y(self, rng, shape):
        X, y = rng.random((30, 3)), rng.random(shape)
        model = GegenbauerRegressor(n_terms=10).fit(X, y)
        assert model.term_coef_.shape == (10, *shape[1:])
        assert model.predict(X).shape == shape

    def test_outputs_are_independent(self, rng):
        X, y = rng.random((30, 3)), rng.random((30, 2))
        both = GegenbauerRegressor(n_terms=10).fit(X, y)
        for k in range(2):
            one = GegenbauerRegressor(n_terms=10).fit(X, y[:, k])
            assert_allclose(both.term_coef_[:, k], one.term_coef_, rtol=1e-9)

    def test_coef_belongs_to_indices(self, rng):
        """A target that is one term comes back as that term's weight."""
        X = rng.random((200, 3))
        X[0], X[1] = 0, 1
        i = 7
        basis = TensorBasis(3, n_terms=10, lam=0.5)
        y = basis.evaluate(X)[:, i]
        model = GegenbauerRegressor(n_terms=10, lam=0.5, alpha=1e-12).fit(X, y)
        assert_array_equal(model.basis_.indices, basis.indices)
        assert_allclose(model.term_coef_, np.eye(10)[i], atol=1e-8)

    def test_same_as_the_functional_layer(self, rng):
        X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
        model = GegenbauerRegressor(n_terms=20, alpha=0.01).fit(X, y)
        solution = solve_ridge(TensorBasis(4, n_terms=20), X, y, 0.01, scaling=InputScaling.fit(X))
        assert_array_equal(model.term_coef_, solution.weights.ravel())

    def test_binary_is_one_output(self, iris):
        X, y = iris.X[:100], iris.y[:100]
        model = GegenbauerClassifier(n_terms=15).fit(X, y)
        assert model.term_coef_.shape == (15,)
        assert model.decision_function(X).shape == (100,)
        targets = GegenbauerRegressor(n_terms=15).fit(X, np.where(y == 1, 1.0, -1.0))
        assert_array_equal(model.term_coef_, targets.term_coef_)
        assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))

    def test_three_classes_are_three_outputs(self, iris):
        model = GegenbauerClassifier(n_terms=15).fit(*iris)
        targets = np.where(iris.y[:, np.newaxis] == np.arange(3), 1.0, -1.0)
        regressor = GegenbauerRegressor(n_terms=15).fit(iris.X, targets)
        assert_array_equal(model.term_coef_, regressor.term_coef_)
        outputs = model.decision_function(iris.X)
        assert outputs.shape == (150, 3)
        assert_array_equal(model.predict(iris.X), outputs.argmax(axis=1))

    def test_unpenalised_constant(self, rng):
        """Shifting y shifts the predictions, and nothing else."""
        X, y = rng.random((40, 2)), rng.random(40)
        model = GegenbauerRegressor(n_terms=10, alpha=1.0, penalize_constant=False)
        low, high = clone(model).fit(X, y), clone(model).fit(X, y + 1000)
        assert_allclose(high.predict(X), low.predict(X) + 1000, rtol=1e-11)
        assert_allclose(high.term_coef_[1:], low.term_coef_[1:], atol=1e-8)

    @pytest.mark.parametrize("engine", ["primal", "dual"])
    @pytest.mark.parametrize("solver", ["cholesky", "orthogonal"])
    def test_engines_and_solvers_agree_and_are_reported(self, rng, engine, solver):
        X, y = rng.random((30, 3)), rng.random(30)
        expected = GegenbauerRegressor(n_terms=30, alpha=0.1).fit(X, y)
        model = GegenbauerRegressor(n_terms=30, alpha=0.1, engine=engine, solver=solver).fit(X, y)
        assert_allclose(model.term_coef_, expected.term_coef_, rtol=1e-9, atol=1e-12)
        # orthogonal solvers choose by the shape
        expected = (engine, "cholesky") if solver == "cholesky" else ("dual", "lq")
        assert (model.engine_, model.solver_) == expected

    def test_alpha_zero_is_moore_penrose(self, rng):
        X, y = rng.random((10, 2)), rng.random(10)
        model = GegenbauerRegressor(n_terms=40, alpha=0).fit(X, y)
        G = model.basis_.evaluate(X, scaling=model.scaling_)
        assert_allclose(model.term_coef_, np.linalg.pinv(G, rcond=1e-13) @ y, rtol=1e-5, atol=1e-6)
        assert_allclose(model.predict(X), y, rtol=1e-6)

    def test_float32_is_used_as_it_is(self, rng):
        X, y = rng.random((60, 3)).astype(np.float32), rng.random(60)
        narrow = GegenbauerRegressor(n_terms=20).fit(X, y)
        wide = GegenbauerRegressor(n_terms=20).fit(X.astype(np.float64), y)
        assert narrow.term_coef_.dtype == np.float64
        assert_allclose(narrow.predict(X), wide.predict(X), rtol=1e-3, atol=1e-3)

    def test_memory_layouts_agree(self, rng, tmp_path):
        X, y = rng.random((60, 8))[:, ::2], rng.random(60)
        expected = GegenbauerRegressor(n_terms=20).fit(np.ascontiguousarray(X), y)
        np.save(tmp_path / "X.npy", X)
        frozen = X.copy()
        frozen.flags.writeable = False
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        for other in (X, np.asfortranarray(X), frozen, mapped, X.tolist(), X[::-1][::-1]):
            model = GegenbauerRegressor(n_terms=20).fit(other, y)
            assert_array_equal(model.term_coef_, expected.term_coef_)
            assert_array_equal(model.predict(other), expected.predict(X))

    def test_inputs_are_not_changed(self, rng):
        X, y, weight = rng.random((30, 2)), rng.integers(0, 2, 30), rng.random(30)
        copies = X.copy(), y.copy(), weight.copy()
        GegenbauerClassifier(n_terms=10, class_weight="balanced").fit(X, y, weight).predict(X)
        for now, before in zip((X, y, weight), copies, strict=True):
            assert_array_equal(now, before)

    def test_not_fitted(self):
        for method in (
            GegenbauerClassifier().decision_function,
            GegenbauerClassifier().predict,
            GegenbauerRegressor().predict,
            GegenbauerRegressor().count_out_of_range,
        ):
            with pytest.raises(NotFittedError, match="not fitted yet"):
                method([[0.0]])

    def test_no_probabilities_in_disguise(self):
        assert not hasattr(GegenbauerClassifier(), "predict_proba")


class TestSize:
    def test_cut_degree_gives_one_warning(self, rng):
        X, y = rng.random((20, 20)), rng.random(20)
        with pytest.warns(
            UserWarning, match=r"`degree=3` has 1771 terms .* `n_terms=1000`"
        ) as caught:
            model = GegenbauerRegressor(degree=3).fit(X, y)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert model.n_terms_ == 1000
        assert GegenbauerRegressor(n_terms=None, degree=3).fit(X, y).n_terms_ == 1771

    def test_neither_number_nor_degree(self, rng):
        with pytest.raises(ValueError, match=r"GegenbauerRegressor needs `n_terms` .* or `degree`"):
            GegenbauerRegressor(n_terms=None).fit(rng.random((5, 2)), rng.random(5))

    @pytest.mark.parametrize(("n_features", "degree"), [(200, 40), (60, 20)])
    def test_too_many_terms_are_refused_at_once(self, n_features, degree):
        X = np.linspace(0, 1, 3 * n_features).reshape(3, n_features)
        with pytest.raises(ValueError, match=r"terms[\s\S]*(degree|n_terms)"):
            GegenbauerRegressor(n_terms=None, degree=degree).fit(X, [0.0, 1.0, 2.0])


class TestSampleWeight:
    @pytest.mark.parametrize("cls", BOTH)
    @pytest.mark.parametrize("engine", ["primal", "dual"])
    @pytest.mark.parametrize("penalize_constant", [True, False])
    def test_integer_weights_are_repeated_rows(self, rng, cls, engine, penalize_constant):
        X, y, weight = rng.random((40, 3)), rng.integers(0, 3, 40), rng.integers(0, 4, 40)
        model = cls(n_terms=20, alpha=0.1, engine=engine, penalize_constant=penalize_constant)
        weighted = clone(model).fit(X, y, weight)
        repeated = clone(model).fit(X.repeat(weight, axis=0), y.repeat(weight))
        assert_allclose(weighted.term_coef_, repeated.term_coef_, rtol=1e-8, atol=1e-10)
        assert_allclose(
            weighted.score(X, y, weight), repeated.score(X.repeat(weight, axis=0), y.repeat(weight))
        )

    @given(st.lists(st.integers(0, 3), min_size=12, max_size=12))
    def test_any_integers(self, weight):
        weight = [1, 1, *weight]  # two classes at least
        rng = np.random.default_rng(0)
        X, y = rng.random((14, 2)), np.arange(14) % 2
        model = GegenbauerClassifier(n_terms=6, alpha=0.1, class_weight="balanced")
        weighted = clone(model).fit(X, y, weight)
        repeated = clone(model).fit(X.repeat(weight, axis=0), y.repeat(weight))
        assert_array_equal(weighted.classes_, repeated.classes_)
        assert_array_equal(weighted.scaling_.lower, repeated.scaling_.lower)
        assert_allclose(weighted.term_coef_, repeated.term_coef_, rtol=1e-8, atol=1e-10)

    def test_rows_of_zero_weight_are_no_rows(self):
        X = np.array([[0.0], [1.0], [0.5], [9.0]])
        model = GegenbauerClassifier(n_terms=3).fit(X, ["a", "b", "a", "c"], [1, 2, 1, 0])
        assert model.classes_.tolist() == ["a", "b"]
        assert model.scaling_.upper.tolist() == [1]
        assert model.count_out_of_range(X) == 1

    def test_one_weight_for_all(self, rng):
        X, y = rng.random((20, 2)), rng.random(20)
        twice = GegenbauerRegressor(n_terms=6, alpha=0.1).fit(X, y, 2.0)
        halved = GegenbauerRegressor(n_terms=6, alpha=0.05).fit(X, y)
        assert_allclose(twice.term_coef_, halved.term_coef_, rtol=1e-10)

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            ([1, 1], r"sample_weight must have shape \(3,\).* got shape \(2,\)"),
            ([[1], [1], [1]], r"sample_weight must have shape \(3,\).* got shape \(3, 1\)"),
            ([1, -2, 1], "sample_weight must not be negative; got -2 in row 1"),
            ([1, np.nan, np.inf], "sample_weight contains NaN, first in row 1; 2 of its 3 entries"),
            ([1, 1, np.inf], "sample_weight contains infinity, first in row 2; 1 of its 3 entries"),
            ([0, 0, 0], "sample_weight is zero in all 3 samples"),
            (0.0, "sample_weight is zero in all 3 samples"),
            (["a", "b", "c"], "sample_weight must hold real numbers, got text such as 'a': turn"),
            (["1", "2", "3"], "sample_weight must hold real numbers, got text such as '1': turn"),
            (np.array([1, "2", 3], dtype=object), "got text such as '2', first in row 1"),
            (np.array([1, b"2", 3], dtype=object), "got text such as b'2', first in row 1"),
        ],
    )
    @pytest.mark.parametrize("cls", BOTH)
    def test_bad_weights(self, cls, weight, message):
        with pytest.raises(ValueError, match=message):
            cls(n_terms=2).fit([[0.0], [0.5], [1.0]], [0, 1, 0], weight)

    def test_metadata_routing(self, rng):
        X, y = rng.random((60, 2)), np.arange(60) % 2
        weight = rng.integers(0, 2, 60) + (np.arange(60) < 6)
        with sklearn.config_context(enable_metadata_routing=True):
            model = GegenbauerClassifier(n_terms=6).set_fit_request(sample_weight=True)
            scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
            pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
            pipeline.fit(X, y, sample_weight=weight)
            scores = cross_val_score(
                pipeline, X, y, params={"sample_weight": weight}, cv=3, scoring=scorer
            )
            with pytest.raises(ValueError, match="sample_weight"):
                cross_val_score(
                    GegenbauerClassifier(n_terms=6), X, y, params={"sample_weight": weight}
                )
        direct = GegenbauerClassifier(n_terms=6).fit(pipeline[0].transform(X), y, weight)
        assert_allclose(pipeline[-1].term_coef_, direct.term_coef_)
        assert np.isfinite(scores).all()


class TestClassWeight:
    X = np.array([[0.0], [0.2], [0.4], [0.6], [0.8], [1.0]])
    y = np.array(["a", "a", "a", "a", "b", "b"])

    def fit(self, class_weight=None, sample_weight=None, y=None):
        model = GegenbauerClassifier(n_terms=3, alpha=0.1, class_weight=class_weight)
        return model.fit(self.X, self.y if y is None else y, sample_weight)

    def test_dict_multiplies_sample_weight(self):
        weight = np.array([1, 2, 1, 1, 3, 1.0])
        expected = self.fit(None, weight * [2, 2, 2, 2, 5, 5])
        assert_allclose(
            self.fit({"a": 2, "b": 5}, weight).term_coef_, expected.term_coef_, rtol=1e-12
        )

    def test_labels_that_are_not_in_the_dict_have_weight_one(self):
        expected = self.fit({"a": 1, "b": 5})
        assert_array_equal(self.fit({"b": 5}).term_coef_, expected.term_coef_)

    def test_balanced(self):
        expected = self.fit({"a": 6 / (2 * 4), "b": 6 / (2 * 2)})
        assert_allclose(self.fit("balanced").term_coef_, expected.term_coef_, rtol=1e-12)

    def test_balanced_counts_with_sample_weight(self):
        weight = np.array([1, 1, 2, 2, 1, 1])
        repeated = GegenbauerClassifier(n_terms=3, alpha=0.1, class_weight="balanced").fit(
            self.X.repeat(weight, axis=0), self.y.repeat(weight)
        )
        assert_allclose(self.fit("balanced", weight).term_coef_, repeated.term_coef_, rtol=1e-12)

    def test_labels_of_digits_are_labels(self):
        """scikit-learn's own function takes the label "0" for 0."""
        y = np.where(self.y == "a", "0", "1")
        assert_array_equal(self.fit({"0": 3}, y=y).term_coef_, self.fit({"a": 3}).term_coef_)

    @pytest.mark.parametrize("learn", ["fit", "fit_stream"])
    def test_class_of_weight_zero_is_samples_of_weight_zero(self, learn):
        """For the classes, the range of the inputs and the weights, and where one class is left."""
        y = np.where(self.X[:, 0] == self.X[:, 0].max(), "c", self.y)
        options = {"n_terms": 3, "alpha": 0.1}

        def learned(model, weight=None):
            if learn == "fit":
                return model.fit(self.X, y, weight)
            return model.fit_stream([(self.X, y, weight)])

        by_class = learned(GegenbauerClassifier(class_weight={"c": 0.0}, **options))
        by_sample = learned(GegenbauerClassifier(**options), (y != "c").astype(float))
        assert by_class.classes_.tolist() == by_sample.classes_.tolist() == ["a", "b"]
        assert by_class.scaling_ == by_sample.scaling_
        assert_array_equal(by_class.term_coef_, by_sample.term_coef_)
        alone = GegenbauerClassifier(class_weight={"a": 1.0, "b": 0.0, "c": 0.0}, **options)
        for model, weight in ((alone, None), (GegenbauerClassifier(**options), y == "a")):
            with pytest.raises(ValueError, match="at least two classes"):
                learned(model, None if weight is None else weight.astype(float)).predict(self.X)

    def test_samples_of_a_class_of_weight_zero_are_no_samples_of_a_batch(self):
        """Announced classes stay, and what is forgotten is what was learned."""
        X = np.linspace(0, 1, 9)[:, np.newaxis]
        y = np.arange(9) % 3
        model = GegenbauerClassifier(n_terms=3, class_weight={2: 0.0})
        model.partial_fit(X[:6], y[:6], classes=[0, 1, 2]).partial_fit(X[6:], y[6:])
        assert model.n_samples_seen_ == 6
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.forget(X[6:], y[6:]).n_samples_seen_ == 4
        twin = GegenbauerClassifier(n_terms=3).partial_fit(
            X[:6], y[:6], classes=[0, 1, 2], sample_weight=(y[:6] != 2).astype(float)
        )
        assert_allclose(model.refit().predict(X), twin.predict(X))

    def test_fold_without_a_class_that_the_dict_names(self):
        assert_array_equal(
            self.fit({"a": 1, "b": 2, "c": 3}).term_coef_, self.fit({"a": 1, "b": 2}).term_coef_
        )

    @pytest.mark.parametrize(
        ("class_weight", "message"),
        [
            ({"x": 2}, r"`class_weight` has the keys \['x'\].*\['a', 'b'\] of dtype <U1"),
            ({"a": -1}, "`class_weight` must have finite weights of at least 0"),
            ({"a": np.nan}, "`class_weight` must have finite weights of at least 0"),
            ({"a": 0, "b": 0}, "not all of them 0"),
            ("unbalanced", "'class_weight' .* Got 'unbalanced'"),
        ],
    )
    def test_bad(self, class_weight, message):
        with pytest.raises(ValueError, match=message):
            self.fit(class_weight)

    def test_multilabel(self):
        y = np.c_[self.y == "a", [0, 1, 0, 1, 0, 1]]
        weight = np.where(y[:, 0], 6 / 8, 6 / 4)  # the second column is balanced as it is
        assert_allclose(
            self.fit("balanced", y=y).term_coef_, self.fit(None, weight, y=y).term_coef_, rtol=1e-12
        )
        with pytest.raises(ValueError, match=r"`class_weight` .* multilabel .* sample_weight"):
            self.fit({0: 1, 1: 2}, y=y)


class TestLabels:
    @pytest.mark.parametrize(
        "labels",
        [
            np.array([0, 1]),
            np.array([-3, 7], dtype=np.int8),
            np.array([1, 2, 3], dtype=np.uint64),
            np.array([False, True]),
            np.array(["no", "yes"]),
            np.array(["no", "yes", "perhaps"], dtype=object),
            np.array([0.0, 1.0]),
        ],
        ids=lambda labels: labels.dtype.name + str(labels.size),
    )
    def test_kinds(self, labels):
        X = np.linspace(0, 1, 12)[:, np.newaxis]
        y = labels[np.arange(12) * labels.size // 12]
        model = GegenbauerClassifier(n_terms=12, lam=0.5, alpha=1e-6).fit(X, y)
        assert_array_equal(model.classes_, np.unique(labels))
        assert model.classes_.dtype == labels.dtype
        predicted = model.predict(X)
        assert_array_equal(predicted, y)
        assert predicted.dtype == labels.dtype

    @pytest.mark.parametrize(
        ("labels", "dtype"), [([3, 5], int), ([True, False], bool), ([1.0, 2.0], float)]
    )
    def test_objects_that_are_numbers(self, labels, dtype):
        X = np.linspace(0, 1, 6)[:, np.newaxis]
        model = GegenbauerClassifier(n_terms=6).fit(X, np.array(labels * 3, dtype=object))
        assert model.classes_.dtype == dtype
        assert model.classes_.tolist() == sorted(labels)

    @pytest.mark.parametrize("dtype", ["str", "category", "string", "object"])
    def test_pandas(self, dtype):
        y = pd.Series(["b", "a", "b", "a"], dtype=dtype, index=[7, 5, 3, 1])
        model = GegenbauerClassifier(n_terms=4).fit(np.linspace(0, 1, 4)[:, np.newaxis], y)
        assert model.classes_.tolist() == ["a", "b"]

    def test_pandas_integers_stay_integers(self):
        y = pd.Series([4, 2, 4, 2], dtype="Int64")
        model = GegenbauerClassifier(n_terms=4).fit(np.linspace(0, 1, 4)[:, np.newaxis], y)
        assert model.classes_.dtype.kind == "i"

    @pytest.mark.parametrize(
        ("y", "pieces"),
        [
            ([1, 1, 1, 1], ["1 class", "int64", "1."]),
            (["a"] * 4, ["1 class", "<U1", "'a'"]),
            ([0.5, 1.5, 2.5, 0.5], ["continuous", "float64", "0.5, 1.5", "GegenbauerRegressor"]),
            (np.array(["a", None, "b", "a"], dtype=object),
             ["first in row 1; 1 of its 4 entries are missing", "object", "None"]),
            (np.array(["a", "b", np.nan, None], dtype=object),
             ["first in row 2; 2 of its 4 entries are missing", "object", "nan"]),
            (np.array([[0, 1], [1, 0], [0, 0], [0, pd.NA]], dtype=object),
             ["first in row 3, column 1; 1 of its 8 entries are missing"]),
            (np.array(["a", 1, "b", 2], dtype=object), ["int, str", "object", "'a', 1"]),
            (np.array([b"a", b"b", b"a", b"b"]), ["bytes", "|S1"]),
            ([[0, 2], [2, 0], [0, 2], [0, 0]], ["multilabel", "0 and 1", "int64", "0, 2"]),
            ([[0, 1], [2, 0], [0, 2], [0, 0]], ["multiclass-multioutput", "0, 1, 2"]),
            ([0, 1, np.nan, 1], ["y contains NaN"]),
            ([0, 1, 1], ["inconsistent numbers of samples"]),
            (None, ["requires y"]),
        ],
    )  # fmt: skip
    def test_bad_labels_are_named(self, y, pieces):
        X = np.linspace(0, 1, 4)[:, np.newaxis]
        with pytest.raises(ValueError, match=r".") as caught:
            GegenbauerClassifier(n_terms=2).fit(X, y)
        for piece in pieces:
            assert piece in str(caught.value)

    def test_many_labels_are_not_all_listed(self):
        y = np.arange(100) / 7
        with pytest.raises(ValueError, match=r"100 different values"):
            GegenbauerClassifier(n_terms=2).fit(y[:, np.newaxis], y)

    def test_single_class_inside_a_fold(self):
        X, y = np.linspace(0, 1, 9)[:, np.newaxis], np.array([0] * 3 + [1] * 6)
        with pytest.raises(ValueError, match="1 class"):
            cross_validate(
                GegenbauerClassifier(n_terms=2), X[:6], y[:6] * 0, cv=3, error_score="raise"
            )

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    def test_column_vector_warns_as_in_scikit_learn(self):
        X = np.linspace(0, 1, 4)[:, np.newaxis]
        y = np.array([[0], [1], [0], [1]])
        for learn in (
            lambda: GegenbauerClassifier(n_terms=2).fit(X, y),
            lambda: GegenbauerClassifier(n_terms=2, bounds=[(0, 1)]).partial_fit(
                X, y, classes=[0, 1]
            ),
            lambda: GegenbauerClassifierCV(spectrum=(0.5, 2.0), alphas=[1.0]).fit(X, y),
        ):
            with pytest.warns(DataConversionWarning, match="pass y.ravel") as caught:
                model = learn()
            (warning,) = [one for one in caught if one.category is DataConversionWarning]
            assert warning.filename == __file__
            assert model.predict(X).shape == (4,)


class TestMultilabel:
    def test_columns_are_separate_binary_targets(self):
        X, y = make_multilabel_classification(80, 5, n_classes=4, random_state=0)
        model = GegenbauerClassifier(n_terms=20, alpha=0.1).fit(X, y)
        assert model.multilabel_
        assert model.classes_.tolist() == [[0, 1]] * 4
        assert model.label_names_.tolist() == [0, 1, 2, 3]
        assert model.decision_function(X).shape == y.shape
        predicted = model.predict(X)
        assert predicted.dtype == y.dtype
        for k in range(4):
            one = GegenbauerClassifier(n_terms=20, alpha=0.1).fit(X, y[:, k])
            assert_allclose(model.term_coef_[:, k], one.term_coef_, rtol=1e-8, atol=1e-10)
            assert_array_equal(predicted[:, k], one.predict(X))
        assert 0 < model.score(X, y) <= 1

    @pytest.mark.parametrize(
        "convert", [pd.DataFrame, np.ndarray.tolist, scipy.sparse.csr_array, lambda y: y > 0]
    )
    def test_containers(self, convert):
        X, y = make_multilabel_classification(40, 3, n_classes=3, random_state=0)
        expected = GegenbauerClassifier(n_terms=6).fit(X, y)
        model = GegenbauerClassifier(n_terms=6).fit(X, convert(y))
        assert_array_equal(model.term_coef_, expected.term_coef_)

    def test_names_of_labels(self):
        X, y = make_multilabel_classification(40, 3, n_classes=3, random_state=0)
        model = GegenbauerClassifier(n_terms=6).fit(X, pd.DataFrame(y, columns=["b", "a", "c"]))
        assert model.label_names_.tolist() == ["b", "a", "c"]
        model.fit(X, pd.DataFrame(y, columns=["b", "a", "a"]))
        assert model.label_names_.tolist() == [0, 1, 2]  # names that are the same name nothing
        model.fit(X, pd.DataFrame(y[:, :1], columns=["b"]).squeeze(axis=1))
        assert model.classes_.tolist() == [0, 1]
        assert not hasattr(model, "label_names_")

    def test_constant_column_is_predicted_constant(self):
        X = np.linspace(0, 1, 6)[:, np.newaxis]
        y = np.c_[[0, 1, 0, 1, 0, 1], np.ones(6, int)]
        assert_array_equal(GegenbauerClassifier(n_terms=6).fit(X, y).predict(X)[:, 1], 1)


class TestRange:
    X = np.array([[0.0], [1.0], [0.5]])
    y = np.array([0.0, 1.0, 0.25])
    outside = np.array([[0.5], [3.0], [-2.0]])

    def model(self, policy, **parameters):
        return GegenbauerRegressor(
            n_terms=3, lam=0.5, alpha=1e-9, out_of_range=policy, **parameters
        )

    def test_clip_is_the_default(self):
        model = GegenbauerRegressor(n_terms=3, lam=0.5, alpha=1e-9).fit(self.X, self.y)
        assert_array_equal(model.predict(self.outside), model.predict([[0.5], [1.0], [0.0]]))

    def test_warn(self):
        model = self.model("warn").fit(self.X, self.y)
        with pytest.warns(OutOfRangeWarning, match="2 of 3 samples") as caught:
            result = model.predict(self.outside)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert_array_equal(result, model.predict([[0.5], [1.0], [0.0]]))

    def test_error(self):
        model = self.model("error").fit(self.X, self.y)
        with pytest.raises(
            ValueError,
            match=r"2 of 3 samples .* column 0 in 2 .* row 1, where it is 3 .* \[0, 1\]",
        ):
            model.predict(self.outside)

    def test_extrapolate(self):
        model = self.model("extrapolate").fit(self.X, self.y)
        assert_allclose(model.predict(self.outside), [0.25, 9, 4], rtol=1e-6)  # y = x^2

    def test_extrapolation_to_infinity_is_an_error(self):
        model = self.model("extrapolate").fit(self.X, self.y)
        with pytest.raises(ValueError, match=r"float64, first in row 1.*`out_of_range='clip'`"):
            model.predict([[0.0], [1e300]])

    @pytest.mark.parametrize("policy", ["clip", "warn", "error", "extrapolate"])
    def test_count(self, policy):
        assert self.model(policy).fit(self.X, self.y).count_out_of_range(self.outside) == 2

    @pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
    def test_constant_column_is_ignored_also_when_it_varies(self, rng, domain):
        X = np.c_[rng.random(30), np.full(30, 7.0)]
        model = GegenbauerRegressor(n_terms=10, domain=domain).fit(X, X[:, 0])
        moved = X.copy()
        moved[:, 1] = rng.normal(size=30) * 1e6
        assert np.isfinite(model.term_coef_).all()
        assert_array_equal(model.predict(moved), model.predict(X))


class TestBadInput:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_terms": 0}, "'n_terms' .* Got 0"),
            ({"lam": -1}, "'lam' .* Got -1"),
            ({"alpha": -1.0}, "'alpha' .* Got -1.0"),
            ({"alpha": float("nan")}, "'alpha' .* Got nan"),
            ({"alpha": float("inf")}, "'alpha' .* Got inf"),
            ({"alpha": False}, "'alpha' .* Got False"),
            ({"n_terms": np.True_}, "'n_terms' .* Got "),
            ({"engine": "both"}, "'engine' .* Got 'both'"),
            ({"solver": "svd"}, "'solver' .* Got 'svd'"),
            ({"precision": "float16"}, "'precision' .* Got 'float16'"),
            ({"penalize_constant": "no"}, "'penalize_constant' .* Got 'no'"),
            ({"domain": (0, 2)}, r"'domain' .* Got \(0, 2\)"),
            ({"out_of_range": None}, "'out_of_range' .* Got None"),
        ],
    )
    @pytest.mark.parametrize("cls", BOTH)
    def test_parameters(self, rng, cls, parameters, message):
        with pytest.raises(ValueError, match=message):
            cls(**parameters).fit(rng.random((6, 2)), [0, 1, 0, 1, 0, 1])

    @pytest.mark.parametrize("cls", BOTH)
    @pytest.mark.parametrize(
        ("X", "message"),
        [
            ([[1.0, np.inf]] * 4, r"infinity[\s\S]*column 1"),
            (np.zeros((0, 2)), r"0 sample"),
            (np.zeros((4, 0)), r"0 feature"),
            (np.zeros(4), "2D array"),
            (np.zeros((4, 2, 2)), "dim 3"),
            (np.zeros((4, 2), complex), "Complex"),
            ([["a", "b"]] * 4, "could not convert string"),
        ],
    )
    def test_data(self, cls, X, message):
        with pytest.raises(ValueError, match=message):
            cls(n_terms=3).fit(X, [0, 1, 0, 1])
        model = cls(n_terms=3).fit([[0.0, 1], [1, 0], [0, 0], [1, 1]], [0, 1, 0, 1])
        with pytest.raises(ValueError, match=message):
            model.predict(X)

    @pytest.mark.parametrize("cls", BOTH)
    def test_missing_values_on_request(self, cls):
        message, X = r"NaN[\s\S]*column 1 \(first in row 0\)", [[1.0, np.nan]] * 4
        with pytest.raises(ValueError, match=message):
            cls(n_terms=3, missing="error").fit(X, [0, 1, 0, 1])
        model = cls(n_terms=3, missing="error")
        model.fit([[0.0, 1], [1, 0], [0, 0], [1, 1]], [0, 1, 0, 1])
        with pytest.raises(ValueError, match=message):
            model.predict(X)

    def test_what_would_not_fit_into_memory_is_not_made_dense(self, monkeypatch):
        monkeypatch.setattr("gegenbauer._memory.available_memory", lambda: 1e9)
        X = scipy.sparse.eye_array(20_000).tocsr()
        with pytest.raises(TooLargeError, match=r"X of shape \(20000, 20000\), which is sparse"):
            GegenbauerRegressor(n_terms=3).fit(X, np.arange(20_000.0))

    @pytest.mark.parametrize("y", [[0, 1, np.nan], [0, 1, np.inf], ["a", "b", "c"], [0, 1], None])
    def test_targets(self, y):
        with pytest.raises(ValueError, match=r"y|could not convert|inconsistent"):
            GegenbauerRegressor(n_terms=3).fit([[0.0], [0.5], [1.0]], y)

    def test_other_columns_in_prediction(self, rng):
        frame = pd.DataFrame(rng.random((8, 2)), columns=["a", "b"])
        model = GegenbauerRegressor(n_terms=3).fit(frame, rng.random(8))
        assert model.feature_names_in_.tolist() == ["a", "b"]
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(frame[["b", "a"]])
        with pytest.raises(ValueError, match="unseen at fit time"):
            model.predict(frame.assign(c=0.0))
        model.fit(frame.to_numpy(), rng.random(8))
        assert not hasattr(model, "feature_names_in_")
        with pytest.raises(ValueError, match=r"3 features, but .* is expecting 2"):
            model.predict(rng.random((8, 3)))

    def test_ill_conditioning_gives_one_warning(self, rng, monkeypatch):
        def ill_conditioned(*args, **kwargs):
            return replace(solve_ridge(*args, **kwargs), rcond=1e-19, error=3.0)

        monkeypatch.setattr("gegenbauer.estimators._ridge.solve_ridge", ill_conditioned)
        with pytest.warns(
            IllConditionedWarning, match=r"1\.0e-19[\s\S]*by 1e\+00[\s\S]*larger `alpha`"
        ) as caught:
            GegenbauerRegressor(n_terms=3).fit(rng.random((8, 2)), rng.random((8, 3)))
        assert len(caught) == 1
        assert caught[0].filename == __file__

    @pytest.mark.parametrize("solver", ["auto", "orthogonal"])
    def test_inputs_nearly_alike_and_a_tiny_penalty_give_a_warning(self, rng, solver):
        """Orthogonal solvers lose digits as well, if later; equal inputs are no reason."""
        X = np.repeat(rng.uniform(-1, 1, (200, 1)), 2, axis=1)
        y = X[:, 0] + 0.1 * rng.normal(size=200)
        options = {"degree": 3, "n_terms": None, "lam": 0.5, "solver": solver}
        # closer ones are distinguished from copies or not by the rounding of the variant of the
        # core
        near = X + [0, 1e-7] * rng.normal(size=(200, 1))
        with pytest.warns(IllConditionedWarning, match=r"larger `alpha`[\s\S]*leave out inputs"):
            GegenbauerRegressor(alpha=1e-20, domain=(-1, 1), **options).fit(near, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for alpha in (1e-6, 1e-12, 1e-17, 0.0):
                model = GegenbauerRegressor(alpha=alpha, domain=(-1, 1), **options).fit(X, y)
                assert_allclose(
                    model.predict([[0.5, -0.5]]), model.predict([[-0.5, 0.5]]), rtol=1e-6
                )

    def test_cholesky_by_force_is_sent_to_other_solvers(self, rng):
        X = np.repeat(rng.random((40, 1)), 2, axis=1)
        model = GegenbauerRegressor(degree=3, alpha=1e-13, solver="cholesky", lam=0.5)
        with pytest.warns(IllConditionedWarning, match="`solver='auto'`"):
            model.fit(X, rng.random(40))


class TestAtomicity:
    """A fit that fails or is interrupted leaves the estimator as it was, fitted or not."""

    @pytest.mark.parametrize("cls", BOTH)
    @pytest.mark.parametrize("fitted", [False, True])
    def test_failed_fit(self, rng, cls, fitted):
        model = cls(n_terms=5)
        X, y = pd.DataFrame(rng.random((10, 2)), columns=["a", "b"]), np.arange(10) % 2
        if fitted:
            model.fit(X, y)
        before = dict(vars(model))
        other = rng.random((10, 3))
        for bad in (
            (np.full((10, 3), np.inf), y),
            (other, None),
            (other, y[:5]),
            (other, y, -np.ones(10)),
            (other, np.full(10, np.nan)),
        ):
            with pytest.raises(ValueError, match=r"."):
                model.fit(*bad)
            assert vars(model) == before
        if not fitted:
            with pytest.raises(NotFittedError):
                model.predict(X)

    @pytest.mark.parametrize("cls", BOTH)
    @pytest.mark.parametrize("fitted", [False, True])
    @pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
    def test_interrupted_fit(self, rng, monkeypatch, cls, fitted, error):
        model = cls(n_terms=5)
        X, y = rng.random((10, 2)), np.arange(10) % 2
        if fitted:
            model.fit(X, y)
        before = dict(vars(model))

        def stop(*args, **kwargs):
            raise error

        monkeypatch.setattr("gegenbauer.estimators._ridge.solve_ridge", stop)
        with pytest.raises(error):
            model.fit(rng.random((10, 3)), y)
        assert vars(model) == before

    def test_interrupt_by_the_user(self):
        """Ctrl-C while the core computes, on a fit that would take some seconds."""
        rng = np.random.default_rng(0)
        X, y = rng.random((60_000, 12)), rng.random(60_000)
        model = GegenbauerRegressor(n_terms=10).fit(X[:50], y[:50])
        before = dict(vars(model))
        model.set_params(n_terms=3000)
        interrupt(lambda: model.fit(X, y))
        assert vars(model) == before | {"n_terms": 3000}

    def test_refit_forgets_the_first_fit(self, iris, rng):
        model = GegenbauerClassifier(n_terms=5).fit(*iris)
        model.fit(rng.random((10, 2)), np.arange(10) % 2)
        fresh = clone(model)
        assert vars(fresh).keys() < vars(model).keys()
        assert model.n_features_in_ == 2
        assert model.classes_.tolist() == [0, 1]
        assert model.term_coef_.ndim == 1


class TestEcosystem:
    def test_cross_val_score_in_processes(self, iris):
        model = GegenbauerClassifier(n_terms=15, alpha=2**-6)
        one = cross_val_score(model, *iris, cv=4, n_jobs=1)
        two = cross_val_score(model, *iris, cv=4, n_jobs=2)
        assert_array_equal(one, two)
        assert one.mean() > 0.9

    def test_grid_search(self):
        X, y = load_diabetes(return_X_y=True)
        search = GridSearchCV(
            GegenbauerRegressor(degree=2, n_terms=None),
            {"alpha": 2.0 ** np.arange(-12, 5, 8), "lam": [0.05, 0.5]},
            cv=3,
        ).fit(X, y)
        assert set(search.best_params_) == {"alpha", "lam"}
        assert search.best_score_ > 0.3

    def test_pipeline(self, wine):
        model = make_pipeline(StandardScaler(), GegenbauerClassifier(alpha=2**-6))
        assert model.fit(*wine).score(*wine) > 0.95

    @pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "average_precision", "f1"])
    def test_scorers(self, scoring):
        X, y = load_breast_cancer(return_X_y=True)
        model = GegenbauerClassifier(n_terms=100, alpha=1.0).fit(X, y)
        assert get_scorer(scoring)(model, X, y) > 0.9

    @pytest.mark.parametrize("cls", BOTH)
    def test_clone(self, cls):
        weight = {0: 1.0, 1: 2.0}
        parameters = {"class_weight": weight} if cls is GegenbauerClassifier else {}
        model = cls(degree=np.array([2, 1]), index_set="tensor", **parameters)
        again = clone(model)
        assert_array_equal(again.degree, [2, 1])
        assert again.get_params().keys() == model.get_params().keys()
        assert model.get_params()["index_set"] == "tensor"

    @pytest.mark.parametrize("module", [pickle, cloudpickle])
    @pytest.mark.parametrize("cls", BOTH)
    def test_pickle(self, iris, module, cls):
        model = cls(n_terms=15).fit(*iris)
        again = module.loads(module.dumps(model))
        assert_array_equal(again.predict(iris.X), model.predict(iris.X))
        assert again.get_params() == model.get_params()
        assert vars(again).keys() == vars(model).keys()

    def test_pandas(self, rng):
        frame = pd.DataFrame(
            {"a": rng.random(30).astype(np.float32), "b": np.arange(30), "c": np.arange(30) % 2 > 0}
        )
        y = pd.Series(frame["a"] * 2.0, index=frame.index)
        model = GegenbauerRegressor(n_terms=20).fit(frame, y)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        assert isinstance(model.predict(frame), np.ndarray)
        assert model.score(frame, y) > 0.99

    @pytest.mark.parametrize("engine", ["primal", "dual"])
    def test_threads_do_not_change_a_bit(self, rng, engine):
        X, y = rng.random((300, 4)), rng.random((300, 2))
        models = [
            GegenbauerRegressor(n_terms=200, engine=engine, n_jobs=n_jobs).fit(X, y)
            for n_jobs in (1, 2, 3, -1, None)
        ]
        for model in models[1:]:
            assert_array_equal(model.term_coef_, models[0].term_coef_)
            assert_array_equal(model.predict(X), models[0].predict(X))

    def test_representation_names_what_was_changed(self):
        assert re.fullmatch(
            r"GegenbauerClassifier\(alpha=1, n_terms=5\)",
            repr(GegenbauerClassifier(n_terms=5, alpha=1)),
        )


class TestNothingSilent:
    """Bad input that NumPy or scikit-learn would let through."""

    X = np.random.default_rng(0).uniform(size=(30, 2))
    y = np.arange(30.0)

    @pytest.mark.parametrize(("scale", "weight"), [(1.7e308, None), (1.0, np.full(30, 1e308))])
    def test_weights_beyond_float64_are_an_error(self, scale, weight):
        model = GegenbauerRegressor(20).fit(self.X, self.y)
        before = model.term_coef_.copy()
        with pytest.raises(ValueError, match=r"range of float64.*the targets .* are too large"):
            model.fit(self.X, self.y / 30 * scale, sample_weight=weight)
        assert_array_equal(model.term_coef_, before)

    @pytest.mark.parametrize("frame", [False, True])
    def test_dates_are_no_numbers(self, frame):
        dates = np.array(["2026-01-01", "NaT"] * 15, dtype="datetime64[D]")[:, np.newaxis]
        X = pd.DataFrame({"day": dates[:, 0], "x": self.y}) if frame else dates
        with pytest.raises(TypeError, match="dates"):
            GegenbauerRegressor(20).fit(X, self.y)

    @pytest.mark.parametrize(
        "change", [{"out_of_range": "bogus"}, {"n_jobs": 0}, {"n_jobs": "x"}, {"n_jobs": 5000}]
    )
    def test_parameters_set_after_fit_are_checked(self, change):
        model = GegenbauerRegressor(20).fit(self.X, self.y).set_params(**change)
        with pytest.raises(ValueError, match=next(iter(change))):
            model.predict(self.X)

    def test_missing_values_get_one_line(self):
        X = self.X.copy()
        X[4, 1] = np.nan
        with pytest.raises(ValueError, match=r"^[^\n]*NaN[^\n]*column 1 \(first in row 4\)[^\n]*$"):
            GegenbauerRegressor(20, missing="error").fit(X, self.y)

    @pytest.mark.parametrize(
        "y", [["a"] * 30, np.arange(30).astype("datetime64[D]"), [10**400] * 30]
    )
    def test_targets_that_are_no_numbers(self, y):
        with pytest.raises(ValueError, match=r"\by\b must hold real numbers"):
            GegenbauerRegressor(20).fit(self.X, y)

    def test_sparse_targets(self):
        with pytest.raises(TypeError, match=r"y must be dense"):
            GegenbauerRegressor(20).fit(self.X, sparse.csr_array(self.y[:, np.newaxis]))

    def test_class_weights_that_are_no_numbers(self):
        with pytest.raises(TypeError, match="`class_weight` must hold numbers, got 'x'"):
            GegenbauerClassifier(20, class_weight={True: "x"}).fit(self.X, self.y > 9)


def test_weights_that_cancel_are_no_sign_of_ill_conditioning():
    """Two balanced classes have no mean: the weight is rounding, and so are its errors."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(30, 2)), np.arange(30) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GegenbauerClassifier(n_terms=1).fit(X, y, sample_weight=rng.uniform(1, 2, 30))
        balanced = GegenbauerClassifier(n_terms=1, class_weight="balanced").fit(X, y)
        GegenbauerRegressor(n_terms=5, alpha=1e30).fit(X, X[:, 0])
    assert np.abs(model.term_coef_).max() < 0.1
    assert np.abs(balanced.term_coef_).max() < 1e-15


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_array"])
@pytest.mark.parametrize(
    "estimator",
    [
        GegenbauerRegressor(n_terms=30),
        GegenbauerClassifier(n_terms=30),
        GegenbauerRegressorCV(search_samples=50),
        GegenbauerClassifierCV(search_samples=50),
        GegenbauerFeatures(n_terms=30),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_sparse_inputs_are_dense_ones(estimator, form):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (90, 2))
    dense = OneHotEncoder(sparse_output=False).fit_transform(codes)
    y = (codes.sum(axis=1) + rng.integers(0, 2, 90) > 2).astype(int)
    X = getattr(sparse, form)(dense)
    found, true = clone(estimator).fit(X, y), clone(estimator).fit(dense, y)
    method = "transform" if isinstance(estimator, GegenbauerFeatures) else "predict"
    for inputs in (X, dense):
        assert_array_equal(getattr(found, method)(inputs), getattr(true, method)(dense))
    if isinstance(estimator, GegenbauerRegressor):
        again = clone(estimator).set_params(bounds=[(0, 1)] * 6).partial_fit(X, y)
        plain = clone(estimator).set_params(bounds=[(0, 1)] * 6).partial_fit(dense, y)
        assert_array_equal(again.predict(X), plain.predict(dense))
