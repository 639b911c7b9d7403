"""What is taken as it is, and what waits until it is needed: all comes out as by the long way."""

from __future__ import annotations

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.multiclass import type_of_target

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerFeatures,
    GegenbauerRegressor,
    PowerDecay,
    Spectrum,
    TensorBasis,
    load,
    save,
    sobol_indices,
)
from gegenbauer.basis.spectrum import as_spectrum
from gegenbauer.estimators import _basis, _targets
from gegenbauer.estimators._base import InputEstimator, typed
from gegenbauer.estimators._labels import distinct_labels
from gegenbauer.estimators._outliers import find_bulk, may_have_bulk
from gegenbauer.inspection.marginals import Condensed, worked_out

MODELS = [GegenbauerRegressor, GegenbauerClassifier]
N = 40
X = np.random.default_rng(0).uniform(size=(N, 3))
LABELS = np.arange(N) % 3


def changed(array, at, value):
    found = np.array(array, dtype=np.result_type(array, type(value)))
    found[at] = value
    return found


BAD_X = {
    "NaN": changed(X, (3, 1), np.nan),
    "infinity": changed(X, (3, 1), np.inf),
    "two infinities": changed(changed(X, (3, 1), np.inf), (4, 1), -np.inf),
    "one dimension": X[:, 0],
    "three dimensions": X[:, :, np.newaxis],
    "no samples": X[:0],
    "no features": X[:, :0],
    "other samples": X[:-1],
    "complex": X + 0j,
    "objects": changed(X.astype(object), (2, 2), "a"),
    "text": np.full(X.shape, "a"),
    "bytes": np.full(X.shape, b"a"),
    "dates": X.astype("M8[s]"),
    "masked": np.ma.masked_greater(X, 0.9),
    "none": None,
    "a list that is ragged": [[1.0, 2.0], [3.0]],
    "a sparse NaN": sparse.csr_array(changed(X, (3, 1), np.nan)),
}

BAD_Y = {
    "NaN": changed(LABELS.astype(float), 5, np.nan),
    "infinity": changed(LABELS.astype(float), 5, np.inf),
    "two infinities": changed(changed(LABELS.astype(float), 5, np.inf), 6, -np.inf),
    "none": None,
    "too short": LABELS[:-1],
    "nothing": LABELS[:0],
    "no columns": np.empty((N, 0)),
    "a number": np.array(3.0),
    "three dimensions": LABELS.reshape(-1, 1, 1),
    "complex": LABELS + 0j,
    "text that is numbers": LABELS.astype(str),
    "bytes": LABELS.astype(bytes),
    "objects": np.array([*LABELS[:-1].tolist(), None], dtype=object),
    "dates": LABELS.astype("M8[D]"),
    "one class": np.zeros(N, dtype=int),
    "reals": np.linspace(0.0, 1.0, N),
    "several columns": np.column_stack([LABELS, LABELS + 1]),
}


@pytest.fixture
def long_way(monkeypatch):
    """Return a function that lets scikit-learn look at every array from then on."""

    def take():
        monkeypatch.setattr(InputEstimator, "_is_ready", lambda *_, **__: False)
        monkeypatch.setattr(_targets, "distinct_labels", lambda _: None)

    return take


def outcome(call):
    """Return what a call ends with: an error and its words, or the weights, with all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = call()
        except Exception as error:
            found = type(error).__name__, str(error)
        else:
            found = model.term_coef_.tobytes(), model.n_features_in_, model.scaling_
    return found, sorted((one.category.__name__, str(one.message)) for one in caught)


class TestTheSameAsByTheLongWay:
    @pytest.mark.parametrize("kind", MODELS)
    @pytest.mark.parametrize("bad", BAD_X)
    def test_inputs_that_are_refused(self, long_way, kind, bad):
        found = outcome(lambda: kind(20, missing="error").fit(BAD_X[bad], LABELS))
        assert isinstance(found[0][0], str)
        long_way()
        assert outcome(lambda: kind(20, missing="error").fit(BAD_X[bad], LABELS)) == found

    @pytest.mark.parametrize("kind", MODELS)
    @pytest.mark.parametrize("y", BAD_Y)
    def test_targets(self, long_way, kind, y):
        found = outcome(lambda: kind(20).fit(X, BAD_Y[y]))
        long_way()
        assert outcome(lambda: kind(20).fit(X, BAD_Y[y])) == found

    @pytest.mark.parametrize("kind", MODELS)
    @pytest.mark.parametrize("bad", [name for name in BAD_X if name != "other samples"])
    def test_prediction(self, long_way, kind, bad):
        model = kind(20, missing="error").fit(X, LABELS)

        def message():
            with pytest.raises((TypeError, ValueError)) as caught:
                model.predict(BAD_X[bad])
            return type(caught.value), str(caught.value)

        found = message()
        long_way()
        assert message() == found

    @pytest.mark.parametrize("kind", [*MODELS, GegenbauerFeatures])
    @pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "f2", "i8", "u1", "?"])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_arrays(self, long_way, kind, dtype, order):
        data = np.asarray(10 * X, dtype=dtype, order=order)
        model = kind(20).fit(data, LABELS)
        assert model.n_features_in_ == 3
        assert not hasattr(model, "feature_names_in_")
        method = "transform" if kind is GegenbauerFeatures else "predict"
        found = getattr(model, method)(data)
        long_way()
        assert_array_equal(getattr(kind(20).fit(data, LABELS), method)(data), found, strict=True)

    @pytest.mark.parametrize("kind", MODELS)
    def test_weights_and_batches(self, long_way, kind):
        weight = np.arange(N) % 4

        def fits():
            yield kind(20).fit(X, LABELS, weight)
            first = {"classes": [0, 1, 2]} if kind is GegenbauerClassifier else {}
            model = kind(20, bounds=[(0, 1)] * 3).partial_fit(X[:9], LABELS[:9], **first)
            yield model.partial_fit(X[9:], LABELS[9:])

        found = [model.term_coef_ for model in fits()]
        long_way()
        for expected, model in zip(found, fits(), strict=True):
            assert_array_equal(model.term_coef_, expected)

    def test_names_are_compared(self):
        table = pd.DataFrame(X, columns=["a", "b", "c"])
        model = GegenbauerRegressor(20).fit(table, LABELS)
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            model.predict(X)
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(table.rename(columns={"a": "d"}))
        plain = model.fit(X, LABELS)
        assert not hasattr(plain, "feature_names_in_")
        with pytest.warns(UserWarning, match="was fitted without feature names"):
            plain.predict(table)
        with pytest.raises(ValueError, match="X has 2 features"):
            plain.predict(X[:, :2])
        with pytest.raises(ValueError, match="X has 2 features"):
            plain.predict(X[:1, :2])

    def test_categories_of_arrays(self):
        codes = np.column_stack([X[:, 0], LABELS])
        model = GegenbauerRegressor(
            9, spectrum="orthonormal", categorical_features=[1], alpha=1e-9
        ).fit(codes, LABELS)
        assert model.categories_ == [None, [0.0, 1.0, 2.0]]
        np.testing.assert_allclose(model.predict(codes), LABELS, atol=1e-6)


class TestLabels:
    @pytest.mark.parametrize(
        "y",
        [
            LABELS, LABELS % 2, LABELS.astype("u1"), LABELS > 0, LABELS.astype(str), -LABELS,
            np.array([3, 3]), LABELS.astype(">i4"), np.array(["b", "aaa", "b", "aaa"]),
        ],
    )  # fmt: skip
    def test_distinct_ones(self, y):
        classes, codes = distinct_labels(y)
        known = LabelEncoder()
        expected = known.fit_transform(y)
        assert_array_equal(codes, expected, strict=True)
        assert_array_equal(classes, known.classes_, strict=True)
        assert type_of_target(y) == ("binary" if classes.size <= 2 else "multiclass")

    @pytest.mark.parametrize(
        "y",
        [
            LABELS[:, np.newaxis], LABELS.astype(float), LABELS.astype(object), np.arange(N),
            LABELS[:0], np.ma.masked_equal(LABELS, 1), LABELS.tolist(), LABELS.astype(complex),
        ],
    )  # fmt: skip
    def test_what_scikit_learn_is_to_look_at(self, y):
        assert distinct_labels(y) is None


def test_outliers_are_looked_for_wherever_there_may_be_some():
    rng = np.random.default_rng(0)
    n_found = 0
    for trial in range(600):
        n = int(rng.integers(20, 200))
        values = np.sort(rng.standard_normal(n) * 10.0 ** rng.integers(-3, 300))
        most = int(rng.integers(0, n // (2, 50)[trial % 2] + 1))
        values[n - most :] *= 10.0 ** rng.uniform(0, 6)
        if trial % 3 == 0:
            values[: int(rng.integers(1, n))] = -999.0
        if trial % 5 == 0:
            values = values.round(1)
        values = np.sort(values)
        lower, upper = values[0], values[-1]
        if not lower < upper:
            continue
        found = find_bulk(values, values, float(lower), float(upper)) is not None
        n_found += found
        (suspect,) = may_have_bulk(values[:, np.newaxis], values[:1], values[-1:])
        assert suspect or not found
    assert n_found > 50
    many = np.sort(rng.uniform(size=(2000, 120)), axis=0)  # more than are looked at together
    many[:, 7::50] **= 9
    alone = [may_have_bulk(one[:, np.newaxis], one[:1], one[-1:])[0] for one in many.T]
    assert_array_equal(may_have_bulk(many, many[0], many[-1]), alone)
    assert 0 < sum(alone) < 120
    (plain,) = may_have_bulk(np.linspace(0, 1, 50)[:, np.newaxis], np.zeros(1), np.ones(1))
    assert not plain


@pytest.mark.parametrize(
    "options",
    [
        {"degree": 5},
        {"degree": 0},
        {"n_terms": 1},
        {"n_terms": 37, "term_order": "grlex_ascending"},
        {"degree": 6, "max_interaction": 2, "term_order": "grevlex"},
        {"degree": 9, "index_set": "hyperbolic_cross"},
        {"degree": (3, 0, 5), "index_set": "tensor"},
        {
            "n_terms": 40,
            "index_set": "largest_weight",
            "spectrum": Spectrum(PowerDecay((1.0, 0.0, 0.01), 2)),
        },
    ],
)
def test_largest_degrees(options):
    basis = TensorBasis(3, **options)
    assert_array_equal(basis.max_degrees, basis.indices.max(axis=0), strict=True)


class TestKeptByValue:
    def test_spectra_of_raw_polynomials_do_not_change(self):
        one = as_spectrum(None, 0.25)
        assert one == as_spectrum(None, 0.25) == Spectrum.paper(0.25)
        with pytest.raises(AttributeError, match="does not change"):
            one.levels = None

    def test_equal_numbers_of_other_types_have_their_own(self):
        for lam in (1.0, 1, Fraction(1), np.float64(1)):
            assert type(as_spectrum(None, lam).components[0].lam) is type(lam)

    def test_keys_know_the_types(self):
        pairs = [(0, 1), (0.0, 1.0), (False, True)]
        assert len({typed((1, pair)) for pair in pairs}) == 3
        assert len({typed((value,)) for value in (1, 1.0, True, "1", None)}) == 5
        for value in ([1], np.float64(1), np.array([1]), {}, (1, [2])):
            with pytest.raises(ValueError):  # noqa: PT011  # it has no message
                typed((1, value))

    def test_a_basis_does_not_change(self):
        basis = TensorBasis(2, degree=2)
        for name in ("degree", "_complete", "lam"):
            with pytest.raises(AttributeError, match="does not change"):
                setattr(basis, name, 3)
        assert pickle.loads(pickle.dumps(basis)) == copy.deepcopy(basis) == basis

    def test_bases_of_estimators(self):
        def basis(**options):
            return GegenbauerRegressor(**{"n_terms": 20} | options).fit(X, LABELS).basis_

        assert basis() is basis()
        assert basis(lam=0.25) == TensorBasis(3, n_terms=20, lam=0.25) != basis()
        assert basis(n_terms=np.int64(20)) == basis()
        tensor = {"n_terms": None, "index_set": "tensor"}
        for degree in ((2, 1, 0), [2, 1, 0], np.array([2, 1, 0])):
            assert basis(degree=degree, **tensor).n_terms == 6
        for wrong in ((2.0, 1, 0), (2, True, 0)):  # which are equal to those that are there
            with pytest.raises(TypeError, match="must be an integer"):
                basis(degree=wrong, **tensor)
        degrees = basis().max_degrees
        with pytest.raises(ValueError, match="read-only"):
            degrees[0] = 7
        for lam in np.linspace(0.1, 3.0, 40).tolist():
            assert basis(lam=lam).lam == lam
        assert len(_basis._BASES) <= _basis._MOST_BASES


class TestRulesOfMarginals:
    def model(self):
        return GegenbauerRegressor(20).fit(X, LABELS)

    def test_are_worked_out_when_they_are_needed(self):
        model = self.model()
        assert all(type(one) is Condensed and "marginal" not in vars(one)
                   for one in model._marginals)  # fmt: skip
        sobol_indices(model, distribution="empirical")
        first = worked_out(model._marginals)
        assert all(a is b for a, b in zip(first, worked_out(model._marginals), strict=True))

    def test_in_copies_and_files(self, tmp_path):
        model = self.model()
        others = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
        save(model, tmp_path / "model")
        others.append(load(tmp_path / "model"))
        expected = sobol_indices(model, distribution="empirical").total
        others.append(pickle.loads(pickle.dumps(model)))
        for other in others:
            found = sobol_indices(other, distribution="empirical").total
            assert_array_equal(found, expected)

    def test_by_several_threads(self):
        model = self.model()
        with ThreadPoolExecutor(4) as pool:
            parts = [*pool.map(lambda _: worked_out(model._marginals), range(16))]
        for part in parts:
            for one, other in zip(part, parts[0], strict=True):
                assert_array_equal(one.nodes, other.nodes)
                assert_array_equal(one.weights, other.weights)
