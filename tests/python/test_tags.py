"""What estimators declare to scikit-learn (``__sklearn_tags__``) is what they do."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
)
from gegenbauer import dask as on_dask

pytestmark = pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")

SPECTRUM = (0.5, 2.0)
ESTIMATORS = [
    GegenbauerFeatures(),
    GegenbauerFeatures(missing="error"),
    GegenbauerFeatures(categorical_features=None),
    GegenbauerRegressor(n_terms=8),
    GegenbauerRegressor(n_terms=8, missing="error"),
    GegenbauerRegressor(n_terms=8, engine="moments"),
    GegenbauerRegressor(n_terms=8, categorical_features=None, spectrum="orthonormal"),
    GegenbauerClassifier(n_terms=8),
    GegenbauerClassifier(n_terms=8, missing="error", categorical_features=None),
    GegenbauerRegressorCV(spectrum=SPECTRUM),
    GegenbauerRegressorCV(spectrum=SPECTRUM, n_terms=8, missing="error"),
    GegenbauerRegressorCV(spectrum=None, n_terms=8),
    GegenbauerRegressorCV(spectrum=SPECTRUM, categorical_features=None),
    GegenbauerClassifierCV(spectrum=SPECTRUM),
    GegenbauerClassifierCV(spectrum=None, n_terms=8),
    GegenbauerClassifierCV(spectrum=SPECTRUM, missing="error", categorical_features=None),
]


def numbers():
    return np.random.default_rng(0).uniform(size=(40, 2))


def targets(estimator, X):
    y = X[:, 0] - X[:, 1]
    return None if is_transformer(estimator) else y > 0 if is_classifier(estimator) else y


def is_transformer(estimator):
    return get_tags(estimator).transformer_tags is not None


def takes(estimator, X, y):
    """Return whether a fit takes what it is given."""
    try:
        model = clone(estimator).fit(X, y)
    except (TypeError, ValueError):
        return False
    result = model.transform(X) if is_transformer(model) else model.predict(X)
    assert len(result) == X.shape[0]
    return True


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
class TestTags:
    def test_inputs(self, estimator):
        tags = get_tags(estimator).input_tags
        X = numbers()
        y = targets(estimator, X)
        assert tags.two_d_array
        assert takes(estimator, X, y)
        assert tags.sparse == takes(estimator, csr_array(X), y)
        gaps = X.copy()
        gaps[::5, 1] = np.nan
        assert tags.allow_nan == takes(estimator, gaps, y)
        table = pd.DataFrame(X, columns=["a", "b"])
        table["b"] = pd.Categorical(np.where(X[:, 1] > 0.5, "high", "low"))
        assert tags.categorical == takes(estimator, table, y)
        assert tags.string == takes(estimator, np.where(X > 0.5, "high", "low"), y)
        assert tags.one_d_array == takes(estimator, X[:, 0], y)
        assert tags.three_d_array == takes(estimator, X[:, :, np.newaxis], y)
        assert tags.dict == takes(estimator, [{"a": 1.0}] * 40, y)
        assert tags.positive_only != takes(estimator, X - 0.5, y)
        assert not tags.pairwise  # X is no matrix of similarities

    def test_targets(self, estimator):
        tags = get_tags(estimator)
        X = numbers()
        Y = np.column_stack([X[:, 0] > 0.5, X[:, 1] > 0.5, X.sum(axis=1) > 1.0]).astype(int)
        assert tags.target_tags.required != takes(estimator, X, None)
        assert (tags.classifier_tags is not None) == is_classifier(estimator)
        assert (tags.regressor_tags is not None) == is_regressor(estimator)
        assert (tags.transformer_tags is not None) == hasattr(estimator, "transform")
        if is_regressor(estimator):
            assert tags.target_tags.multi_output == takes(estimator, X, Y * 0.3)
            assert tags.target_tags.single_output == takes(estimator, X, X[:, 0])
        if is_classifier(estimator):
            assert tags.classifier_tags.multi_label == takes(estimator, X, Y)
            assert tags.classifier_tags.multi_class == takes(estimator, X, Y.sum(axis=1))
            assert not tags.target_tags.multi_output  # columns of several classes
            assert not takes(estimator, X, np.column_stack([Y.sum(axis=1)] * 2))

    def test_fits(self, estimator):
        tags = get_tags(estimator)
        X = numbers()
        y = targets(estimator, X)
        call = "transform" if is_transformer(estimator) else "predict"
        assert tags.requires_fit
        with pytest.raises(NotFittedError):
            getattr(clone(estimator), call)(X)
        assert not tags.non_deterministic
        one, other = (getattr(clone(estimator).fit(X, y), call)(X) for _ in range(2))
        np.testing.assert_array_equal(one, other)
        assert not tags.no_validation
        assert not takes(estimator, X[:, :0], y)
        if is_transformer(estimator):
            for dtype in (np.float64, np.float32, np.int64):
                kept = np.dtype(dtype).name in tags.transformer_tags.preserves_dtype
                found = clone(estimator).fit_transform((10 * X).astype(dtype)).dtype
                assert (found == dtype) == kept


@pytest.mark.parametrize("kind", ["GegenbauerFeatures", "GegenbauerRegressor",
                                  "GegenbauerClassifier"])  # fmt: skip
def test_on_dask(kind):
    """Collections of Dask are taken, and nothing else."""
    estimator = getattr(on_dask, kind)(n_terms=4)
    tags, X = get_tags(estimator), numbers()
    y = targets(estimator, X)
    assert tags.input_tags.sparse == takes(estimator, csr_array(X), y)
    parts = da.from_array(X, chunks=20)
    gaps = da.where(parts > 0.9, np.nan, parts)
    try:
        estimator.fit(gaps, y)
        taken = True
    except ValueError:
        taken = False
    assert tags.input_tags.allow_nan == taken
