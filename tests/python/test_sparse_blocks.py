"""A sparse X in prediction is made dense block by block, and nothing else is to be seen of it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
)
from gegenbauer.batches import ArrayBatches
from gegenbauer.errors import BeyondRangeError, OutOfRangeWarning, TooLargeError
from gegenbauer.estimators import _base, _sparse

N, M = 700, 6


def samples(n=N, seed=0):
    """Inputs of which most are 0, and a target of their products."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, M)) * (rng.random((n, M)) < 0.4)
    return X, X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.05 * rng.normal(size=n)


REGRESSORS = {
    "terms": GegenbauerRegressor(degree=3),
    "few terms": GegenbauerRegressorCV(n_terms=40, search_samples=60, intervals="one_spectrum"),
    "all terms": GegenbauerRegressorCV(intervals="one_spectrum", search_samples=60),
    "five spectra": GegenbauerRegressorCV(intervals="five_spectra"),
    "landmarks": GegenbauerRegressorCV(kernel_samples=50, search_samples=60),
}

CLASSIFIERS = {
    "terms": GegenbauerClassifier(degree=3),
    "few terms": GegenbauerClassifierCV(n_terms=40, search_samples=60),
    "all terms": GegenbauerClassifierCV(search_samples=60),
}


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 64 samples; return a list of the shapes that are made dense."""
    monkeypatch.setattr(_sparse, "_BLOCK_NUMBERS", 64 * M)
    monkeypatch.setattr(_sparse, "_FEWEST", 64)
    shapes, dense = [], _base._dense
    monkeypatch.setattr(_base, "_dense", lambda X: (shapes.append(X.shape), dense(X))[1])
    return shapes


@pytest.fixture(scope="module")
def fitted():
    X, y = samples(150)
    labels = np.digitize(y, [-0.2, 0.4])
    models = {f"regressor {name}": clone(m).fit(X, y) for name, m in REGRESSORS.items()}
    models |= {f"classifier {name}": clone(m).fit(X, labels) for name, m in CLASSIFIERS.items()}
    for model in models.values():
        model.set_params(out_of_range="clip")
    return models


METHODS = {
    "predict": ("regressor", "classifier"),
    "decision_function": ("classifier",),
    "predict_proba": ("classifier",),
    "predict_interval": ("regressor",),
}


@pytest.mark.parametrize("form", ["csr_matrix", "csr_array", "csc_array", "coo_array", "dok_array"])
def test_any_form(form, fitted, small_blocks):
    X, _ = samples(seed=1)
    model = fitted["regressor terms"]
    assert_array_equal(model.predict(getattr(sparse, form)(X)), model.predict(X))
    assert small_blocks == [(64, M)] * (N // 64) + [(N % 64, M)]


@pytest.mark.parametrize("kind", [f"regressor {name}" for name in REGRESSORS])
def test_regressors(kind, fitted, small_blocks):
    X, _ = samples(seed=1)
    model, given = fitted[kind], sparse.csr_array(X)
    assert_array_equal(model.predict(given), model.predict(X))
    if hasattr(model, "predict_interval"):
        for found, wanted in zip(
            [*model.predict(given, return_std=True), *model.predict_interval(given)],
            [*model.predict(X, return_std=True), *model.predict_interval(X)],
            strict=True,
        ):
            np.testing.assert_allclose(found, wanted, rtol=1e-10)
    assert max(n for n, _ in small_blocks) == 64


@pytest.mark.parametrize("kind", [f"classifier {name}" for name in CLASSIFIERS])
@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
def test_classifiers(kind, method, fitted, small_blocks):
    X, _ = samples(seed=1)
    model = fitted[kind]
    if not hasattr(model, method):
        pytest.skip("it has no probabilities")
    assert_array_equal(getattr(model, method)(sparse.csr_array(X)), getattr(model, method)(X))
    assert max(n for n, _ in small_blocks) == 64


def test_float32(fitted, small_blocks):
    X, _ = samples(seed=1)
    X = X.astype(np.float32)
    model = fitted["regressor all terms"]
    assert_array_equal(model.predict(sparse.csr_array(X)), model.predict(X))


def test_of_partially_fitted_models(small_blocks):
    X, y = samples()
    given = sparse.csr_array(X)
    model = GegenbauerRegressor(degree=2).fit_stream(ArrayBatches(given, y, batch_size=100))
    dense = GegenbauerRegressor(degree=2).fit_stream(ArrayBatches(X, y, batch_size=100))
    assert_array_equal(model.predict(given), dense.predict(X))
    assert_array_equal(model.term_coef_, dense.term_coef_)


class TestOutside:
    def outside(self):
        X = 0.9 * samples(seed=2)[0]
        X[[70, 71, 300], 1] = 5.0
        X[650, 3] = -9.0
        return X

    def test_one_warning_as_of_dense_samples(self, fitted, small_blocks):
        X = self.outside()
        model = clone(fitted["regressor terms"]).set_params(out_of_range="warn").fit(*samples())
        with pytest.warns(OutOfRangeWarning) as wanted:
            predictions = model.predict(X)
        with pytest.warns(OutOfRangeWarning) as found:
            assert_array_equal(model.predict(sparse.csr_array(X)), predictions)
        texts = [str(one.message) for one in wanted]
        assert [str(one.message) for one in found] == texts
        assert "column 1 in 3 of them (first in row 70, where it is 5" in texts[0]
        assert "column 3 in 1 of them (first in row 650, where it is -9" in texts[0]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert model.count_out_of_range(sparse.csr_array(X)) == model.count_out_of_range(X) > 0

    def test_one_error(self, small_blocks):
        X = self.outside()
        model = GegenbauerRegressor(degree=2, out_of_range="error").fit(*samples())
        texts = []
        for given in (X, sparse.csr_array(X)):
            with pytest.raises(ValueError, match="samples lie outside") as error:
                model.predict(given)
            texts.append(str(error.value))
        assert texts[0] == texts[1]

    def test_missing_numbers(self, small_blocks):
        X, _ = samples(seed=2)
        X[[200, 500], 2] = np.nan
        model = GegenbauerRegressor(degree=2).fit(*samples())
        with pytest.warns(
            OutOfRangeWarning, match="2 of 700 .*column 2 has no value in 2"
        ) as found:
            predictions = model.predict(sparse.csr_array(X))
        assert len([one for one in found if "no value" in str(one.message)]) == 1
        model.set_params(out_of_range="clip")
        assert_array_equal(predictions, model.predict(X))

    def test_rows_of_errors(self, small_blocks):
        X, y = samples()
        model = GegenbauerRegressor(degree=3, out_of_range="extrapolate").fit(X, y)
        X[650, 3] = 1e200
        for given in (X, sparse.csr_array(X)):
            with pytest.raises(BeyondRangeError, match="first in row 650"):
                model.predict(given)
        X[650, 3] = np.inf
        with pytest.raises(ValueError, match=r"column 3 \(first in row 10\)") as error:
            model.predict(sparse.csr_array(X))
        assert error.value.__notes__ == [
            "Rows count from row 640 of X, which is sparse and read in blocks."
        ]


def test_memory_is_that_of_a_block(monkeypatch):
    X, y = samples()
    model = GegenbauerRegressor(degree=1).fit(X, y)
    large = sparse.csr_array((1 << 22, M))
    checked = []
    monkeypatch.setattr(_base, "require_memory", lambda n, *_: checked.append(n))
    assert model.predict(large).shape == (1 << 22,)
    assert max(checked) <= 8 * (1 << 22)
    assert sum(checked) >= 8 * large.shape[0] * M

    def refuse(n, what, advice):
        raise TooLargeError(f"{what} needs {n}: {advice}")

    monkeypatch.setattr(_base, "require_memory", refuse)
    with pytest.raises(TooLargeError, match="which is sparse and is made dense"):
        model.predict(large)
