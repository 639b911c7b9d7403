from __future__ import annotations

import contextlib
import copy
import dataclasses
import fcntl
import json
import math
import os
import pickle
import re
import signal
import struct
import subprocess
import sys
import tracemalloc
import warnings
from fractions import Fraction
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gegenbauer
from gegenbauer import (
    Checkpoint,
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerDecay,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GeometricDecay,
    PowerDecay,
    Spectrum,
    load,
    save,
)
from gegenbauer.basis import spectrum
from gegenbauer.errors import ModelFileError, ModelVersionWarning
from gegenbauer.estimators._label_set import LabelSet
from gegenbauer.inspection.marginals import Condensed
from gegenbauer.persistence import _format, _restore, _save
from gegenbauer.selection.calibration import ProbabilityMap

MODELS = Path(__file__).parent / "models"
RELEASES = sorted(path.parent for path in MODELS.glob("*/expected.json"))


def outputs(model, X):
    names = getattr(model, "feature_names_in_", None)
    X = X if names is None else pd.DataFrame(X, columns=names)
    method = next(m for m in ("decision_function", "transform", "predict") if hasattr(model, m))
    return getattr(model, method)(X)


class TestReleases:
    def test_there_are_some(self):
        assert RELEASES

    @pytest.mark.parametrize("folder", RELEASES, ids=lambda folder: folder.name)
    def test_files_of_every_release_are_read(self, folder):
        expected = json.loads((folder / "expected.json").read_text())
        files = {path.stem for path in folder.glob("*.safetensors")}
        assert files == expected["outputs"].keys()
        for name, values in expected["outputs"].items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelVersionWarning)
                model = load(folder / f"{name}.safetensors")
            result = outputs(model, np.array(expected["X"]))
            scale = np.abs(values).max()
            assert_allclose(result, values, rtol=0, atol=1e-11 * scale, err_msg=name)
            if hasattr(model, "statistics_"):  # the sums are what they were
                again = outputs(model.refit(), np.array(expected["X"]))
                assert_allclose(again, values, rtol=0, atol=1e-9 * scale, err_msg=name)


def fitted(kind, **parameters):
    """Fit an estimator of each kind that the format distinguishes."""
    rng = np.random.default_rng(0)
    X = rng.random((30, 2))
    half, third = np.arange(30) % 2, np.arange(30) % 3
    frame = pd.DataFrame(X, columns=["a", "b b"])
    if kind == "features":
        return GegenbauerFeatures(n_terms=6, **parameters).fit(X)
    if kind.startswith("regressor"):
        X = X.astype(np.float32) if kind == "regressor-float32" else X
        y = {"regressor-outputs": np.c_[half, third], "regressor-column": half[:, np.newaxis]}
        return GegenbauerRegressor(n_terms=6, **parameters).fit(X, y.get(kind, third))
    y = {
        "classifier-int": third,
        "classifier-uint8": third.astype(np.uint8),
        "classifier-bool": half > 0,
        "classifier-float": half.astype(float),
        "classifier-str": np.array(["nein", "да"])[half],
        "classifier-object": np.array(["a", "bb", "ccc"], dtype=object)[third],
        "classifier-names": third,
        "classifier-multilabel": np.c_[half, third > 1].astype(int),
    }[kind]
    X = frame if kind == "classifier-names" else X
    return GegenbauerClassifier(n_terms=6, **parameters).fit(X, y)


KINDS = [
    "features",
    "regressor",
    "regressor-float32",
    "regressor-outputs",
    "regressor-column",
    "classifier-int",
    "classifier-uint8",
    "classifier-bool",
    "classifier-float",
    "classifier-str",
    "classifier-object",
    "classifier-names",
    "classifier-multilabel",
]


class TestRoundTrip:
    @pytest.mark.parametrize("kind", KINDS)
    def test_equal_models_are_equal_files(self, tmp_path, kind):
        path = tmp_path / "model.safetensors"
        files = set()
        for _ in range(20):
            save(fitted(kind), path)
            files.add(path.read_bytes())
        assert len(files) == 1
        save(load(path), path)
        assert path.read_bytes() in files

    @pytest.mark.parametrize("kind", KINDS)
    def test_everything_comes_back(self, tmp_path, kind):
        model = fitted(kind)
        save(model, tmp_path / "model.safetensors")
        again = load(tmp_path / "model.safetensors")
        assert type(again) is type(model)
        assert again.get_params() == model.get_params()
        assert vars(again).keys() == vars(model).keys()
        for name, value in vars(model).items():
            other = getattr(again, name)
            if name == "scaling_":
                assert_array_equal(other.lower, value.lower, strict=True)
                assert_array_equal(other.upper, value.upper, strict=True)
                assert other == value
            elif name == "basis_":
                assert_array_equal(other.indices, value.indices)
            else:
                assert same(value, other), name
        assert same(public(model), public(again))
        stored = [*vars(again).values(), getattr(again, "term_coef_", None)]
        assert all(value.flags.owndata for value in stored if isinstance(value, np.ndarray))
        X = np.random.default_rng(1).uniform(-1, 2, size=(20, 2))
        assert_array_equal(outputs(again, X), outputs(model, X))

    @pytest.mark.parametrize(
        "parameters",
        [
            {"degree": np.array([2, 1]), "index_set": "tensor"},
            {"degree": [2, 1], "index_set": "tensor"},
            {"spectrum": (0.5, 1.5), "index_set": "largest_weight"},
            {"spectrum": "orthonormal", "domain": (-1, 1)},
            {"lam": np.float64(0.5), "max_interaction": np.int64(1)},
            {"out_of_range": "extrapolate", "term_order": "grevlex", "n_jobs": -1},
            {"index_set": "hyperbolic_cross", "degree": 2},
        ],
    )
    def test_parameters(self, tmp_path, parameters):
        model = fitted("regressor", **parameters)
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        for name, value in model.get_params().items():
            assert_array_equal(getattr(again, name), value)
        X = np.random.default_rng(1).random((20, 2))
        assert_array_equal(again.predict(X), model.predict(X))
        assert_array_equal(again.fit(X, X[:, 0]).term_coef_, model.fit(X, X[:, 0]).term_coef_)

    @pytest.mark.parametrize(
        ("kind", "weight"),
        [
            ("classifier-int", {0: 1, 2: 0.5}),
            ("classifier-bool", {True: 2.0}),
            ("classifier-str", {np.str_("nein"): np.float64(3), "да": 1}),
            ("classifier-int", "balanced"),
        ],
    )
    def test_class_weight(self, tmp_path, kind, weight):
        model = fitted(kind, class_weight=weight)
        save(model, tmp_path / "model")
        assert load(tmp_path / "model").class_weight == weight

    def test_parameters_changed_after_fit(self, tmp_path):
        """What was fitted does not depend on what the next fit will do."""
        model = fitted("regressor")
        X = np.random.default_rng(1).random((20, 2))
        expected = model.predict(X)
        model.set_params(n_terms=3, lam=2.0, term_order="grevlex")
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        assert_array_equal(again.predict(X), expected)
        assert again.n_terms == 3

    def test_unknown_condition(self, tmp_path):
        model = fitted("regressor")
        model._solution = model._solution._replace(rcond=float("nan"))
        save(model, tmp_path / "model")
        assert np.isnan(load(tmp_path / "model").rcond_)

    def test_strided_weights(self, tmp_path):
        model = fitted("regressor-outputs")
        strided = np.asfortranarray(np.repeat(model.term_coef_, 2, axis=0))[::2]
        function = dataclasses.replace(model.expansion_, coef=strided)
        model._solution = model._solution._replace(expansion=function)
        save(model, tmp_path / "model")
        assert_array_equal(load(tmp_path / "model").term_coef_, model.term_coef_)

    def test_path_may_be_a_string(self, tmp_path):
        save(fitted("regressor"), str(tmp_path / "model"))
        load(str(tmp_path / "model"))

    def test_any_reader_of_safetensors_sees_the_schema(self, tmp_path):
        from safetensors import safe_open

        save(fitted("classifier-int"), tmp_path / "model")
        with safe_open(tmp_path / "model", framework="numpy") as file:
            entries = file.metadata()
            names = set(file.keys())
        assert entries["format"] == "gegenbauer-model"
        assert entries["format_version"] == "2"
        assert entries["library_version"] == gegenbauer.__version__
        assert entries["estimator"] == "GegenbauerClassifier"
        assert json.loads(entries["parameters"])["n_terms"] == 6
        marginals = {"marginal_sizes", "marginal_nodes", "marginal_weights"}
        assert names == {"indices", "lower", "upper", "constant", "coef", "classes"} | marginals
        assert re.fullmatch("[0-9a-f]{32}", entries["checksum"])


def fitted_search(kind):
    return copy.deepcopy(_searched(kind))


@cache
def _searched(kind):
    """Fit an estimator that chooses by itself, of each kind that the format distinguishes."""
    rng = np.random.default_rng(0)
    X = rng.random((30, 2))
    y = np.sin(4 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=30)
    third = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    weights = rng.uniform(0.5, 2, 30)
    parameters = {
        "terms": {"n_terms": 12},
        "terms-penalized": {"n_terms": 12, "penalize_constant": True},
        "fixed": {"spectrum": (0.5, 2.0), "alphas": np.array([1e-3, 1.0]), "cv": 3},
        "weights": {"penalize_constant": True, "search": "squared_error", "n_jobs": 1},
        "one": {"intervals": "one_spectrum"},
        "one-weights": {"intervals": "one_spectrum", "penalize_constant": True, "n_jobs": 1},
        "paper": {"spectrum": None, "lam": [0.05, 0.5], "n_terms": np.array([4, 9])},
        "landmarks": {"kernel_samples": 20},
        "landmarks-penalized": {"kernel_samples": 20, "penalize_constant": True},
        "mixed": {"categorical_features": [1]},
        "ranks": {"intervals": "one_spectrum"} if kind.startswith("regressor") else {},
        "one-mixed": {"categorical_features": [1], "intervals": "one_spectrum"},
        "five": {"n_spectra": 5},
        "five-multilabel": {"n_spectra": 5, "penalize_constant": False},
        "five-balanced": {"n_spectra": 5},
        "five-mixed": {"n_spectra": 5, "categorical_features": [1]},
    }
    with patch("gegenbauer.estimators._search.default_landmarks", lambda _: 8):
        if not kind.endswith("ranks"):
            return _fitted_search(kind, parameters, X, y, third, weights)
        X[:, 0] **= 4
        always = patch("gegenbauer.estimators._alternatives.Comparison.is_clear", True)
        with patch("gegenbauer.estimators._best_model.FEWEST_TO_JUDGE", 20), always:
            model = _fitted_search(kind, parameters, X, y, third, weights)
        assert model.scaling_.warping is not None
        return model


def _fitted_search(kind, parameters, X, y, third, weights):
    which, _, variant = kind.partition("-")
    model = (GegenbauerClassifierCV if which == "classifier" else GegenbauerRegressorCV)(
        **parameters.get(variant, {})
    )
    if variant.endswith("mixed"):  # levels of numbers, so that any number is one of them
        X = np.c_[np.where(X[:, 0] < 0.2, np.nan, X[:, 0]), np.round(3 * X[:, 1])]
    if which == "regressor":
        X = X.astype(np.float32) if variant == "float32" else X
        both = dict.fromkeys(["outputs", "weights", "one-weights"], np.c_[y, y**2])
        Y = {**both, "column": y[:, np.newaxis]}
        return model.fit(X, Y.get(variant, y), weights if variant.endswith("weights") else None)
    labels = {
        "binary": np.array(["no", "yes"])[(y > 0.5).astype(int)],
        "multilabel": np.c_[y > 0.5, third > 1].astype(int),
        "names": np.array(["a", "bb", "ccc"], dtype=object)[third],
        "balanced": third,
        "mixed": y > 0.5,
    }
    of = variant.removeprefix("five-")
    if variant == "names":
        X = pd.DataFrame(X, columns=["a", "b b"])
    if of == "balanced":
        model.set_params(class_weight="balanced")
    if variant == "balanced":
        model.set_params(scoring="accuracy")
    return model.fit(X, labels.get(of, third))


SEARCHES = [
    "classifier", "classifier-binary", "classifier-multilabel", "classifier-names",
    "classifier-balanced", "classifier-terms", "classifier-fixed", "classifier-paper",
    "regressor", "regressor-float32", "regressor-outputs", "regressor-weights",
    "regressor-one", "regressor-one-weights",
    "regressor-column", "regressor-terms", "regressor-terms-penalized", "regressor-fixed",
    "regressor-paper", "classifier-landmarks", "regressor-landmarks",
    "regressor-landmarks-penalized", "classifier-mixed", "regressor-mixed", "regressor-one-mixed",
    "classifier-ranks", "regressor-ranks", "classifier-five", "classifier-five-multilabel",
    "classifier-five-balanced", "classifier-five-mixed",
]  # fmt: skip


def same(one, other):
    """Return whether two values are equal, arrays to the last bit and type."""
    if isinstance(one, Condensed):  # of which a file holds the rule
        one = one.marginal
    if isinstance(one, np.ndarray):
        assert_array_equal(other, one, strict=True)
        return other.flags.writeable
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        alike = type(one) is type(other) and len(one) == len(other)
        return alike and all(map(same, one, other))
    if dataclasses.is_dataclass(one) or isinstance(one, ProbabilityMap):
        alike = type(one) is type(other) and vars(one).keys() == vars(other).keys()
        return alike and all(same(value, vars(other)[name]) for name, value in vars(one).items())
    if isinstance(one, gegenbauer.TensorBasis):
        return np.array_equal(one.indices, other.indices)
    if isinstance(one, np.generic):
        one = one.item()
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and one == other


def public(model, but=()):
    """What a model shows of its state by properties, such as ``term_coef_``."""
    names = [name for name in dir(type(model)) if name.endswith("_") and not name.startswith("_")]
    names = [name for name in names if name not in but]
    missing = object()
    found = {name: getattr(model, name, missing) for name in names}
    return {name: value for name, value in found.items() if value is not missing}


class TestSearches:
    @pytest.mark.parametrize("kind", SEARCHES)
    def test_everything_comes_back(self, tmp_path, kind):
        """All that there is in a fitted estimator, and all that it answers, bitwise identical."""
        model = fitted_search(kind)
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        assert type(again) is type(model)
        assert vars(again).keys() == vars(model).keys()
        parameters = model.get_params()
        for name, value in vars(model).items():
            if name in parameters:
                assert_array_equal(getattr(again, name), value)
            else:
                assert same(value, getattr(again, name)), name
        # which follow from Sobol' indices, as below, that take long
        shown, again_shown = (public(one, ["feature_importances_"]) for one in (model, again))
        assert {"rcond_", "scaling_"} <= {*shown, *vars(model)}
        assert same(shown, again_shown)
        X = np.random.default_rng(1).uniform(-0.5, 1.5, size=(20, 2))
        if hasattr(model, "feature_names_in_"):
            X = pd.DataFrame(X, columns=model.feature_names_in_)
        assert_array_equal(again.predict(X), model.predict(X), strict=True)
        if kind.startswith("classifier"):
            for method in ("predict_proba", "decision_function"):
                assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
        else:
            for found, true in (
                (again.predict(X, return_std=True), model.predict(X, return_std=True)),
                (again.predict_interval(X, 0.8), model.predict_interval(X, 0.8)),
            ):
                for one, other in zip(found, true, strict=True):
                    assert_array_equal(one, other, strict=True)
        assert_array_equal(
            gegenbauer.sobol_indices(again).total, gegenbauer.sobol_indices(model).total
        )
        save(again, tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()

    def test_parameters_changed_after_fit(self, tmp_path):
        """What was fitted does not depend on what the next fit will do."""
        model = fitted_search("regressor-terms")
        X = np.random.default_rng(1).random((20, 2))
        expected = model.predict(X, return_std=True)
        model.set_params(n_terms=None, penalize_constant=True, spectrum=(1.0, 1.0))
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        assert_array_equal(again.predict(X, return_std=True), expected)
        assert again.spectrum == (1.0, 1.0)

    def test_rows_that_were_never_left_out(self, tmp_path):
        X, y = np.arange(20.0)[:, np.newaxis], np.arange(20.0)
        model = GegenbauerRegressorCV(cv=[(np.arange(10), np.arange(10, 20))]).fit(X, y)
        model.set_params(cv=None)
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        assert np.isnan(again.loo_predictions_).sum() == 10
        assert_array_equal(again.loo_predictions_, model.loo_predictions_)

    @pytest.mark.parametrize(
        "parameters",
        [
            {"cv": KFold(3)},
            {"cv": [(np.arange(5), np.arange(5, 9))]},
            {"scoring": make_scorer(lambda y, p: 0.0)},
        ],
        ids=["splitter", "splits", "scorer"],
    )
    def test_objects_have_no_place(self, tmp_path, parameters):
        model = fitted_search("regressor").set_params(**parameters)
        (name,) = parameters
        with pytest.raises(TypeError, match=rf"no place; .* save model.set_params\({name}=None\)"):
            save(model, tmp_path / "model")
        assert not list(tmp_path.iterdir())
        save(model.set_params(**{name: None}), tmp_path / "model")

    def test_unknown_variance_of_the_noise(self, tmp_path):
        model = fitted_search("regressor")
        model.noise_variance_ = np.array([np.inf])
        save(model, tmp_path / "model")
        assert load(tmp_path / "model").noise_variance_[0] == np.inf

    def test_non_finite_weights_are_refused(self, tmp_path):
        model = fitted_search("regressor-one")
        model.dual_coef_[0] = np.nan
        with pytest.raises(ValueError, match="dual_coef_ must be finite"):
            save(model, tmp_path / "model")


# ---- whatever fit takes ----------------------------------------------------------------

INPUTS = np.random.default_rng(5).uniform(size=(24, 2))


def several(values):
    """Draw a kind of sequence that holds the values of a parameter."""
    values = list(values)
    return st.sampled_from(
        [values, tuple(values), np.array(values), pd.Series(values), pd.Index(values)]
    )


def spectra(*, with_none):
    weights = st.floats(0.01, 2)
    q = st.one_of(weights, st.tuples(weights, weights), st.just(np.array([0.5, 0.1])))
    s = st.sampled_from([1, 2.0, np.float32(1.5), Fraction(3, 2)])
    part = st.one_of(
        st.builds(PowerDecay, q, s),
        st.builds(GeometricDecay, q, st.floats(0.1, 0.9)),
        st.builds(GegenbauerDecay, q, st.just(0.3)),
    )
    parts = st.lists(part, min_size=1, max_size=40)
    return st.one_of(
        st.none() if with_none else st.just("auto"),
        st.tuples(weights, weights),
        part,
        parts,
        parts.map(Spectrum),
    )


BIG = [10**6, 2**62, sys.maxsize, 10**18, 10**30, np.int64(2**62)]
FEW = [1, 5, np.int32(6), np.uint8(7)]
LABELS = {
    "wide": np.array(["a", "b"], dtype="<U9"),
    "swapped text": np.array(["a", "Ж"], dtype=">U3"),
    "of 4000": np.array(["a" * 4000, "b"]),
    "too wide": np.array(["a", "b"], dtype="<U140000"),
    "object": np.array(["", "b\0"], dtype=object),
    "text of numpy": np.array([np.str_("a"), np.str_("b c")], dtype=object),
    "half a pair": np.array(["\ud800", "\U0001f600"], dtype=object),
    "pandas": pd.Series(["a", "bbb"]),
    "category": pd.Series(["a", "bbb"]).astype("category"),
    "Int64": pd.Series([3, 7]).astype("Int64"),
    "bool": np.array([False, True]),
    "uint64": np.array([3, 2**64 - 1], dtype=np.uint64),
    "ids": np.array([10**18, 10**18 + 1]),
    "int8": np.array([-128, 127], dtype=np.int8),
    "swapped": np.array([1, 2], dtype=">i4"),
    "float16": np.array([0, 2048], dtype=np.float16),
    "integers": np.array([0, 1], dtype=object),
}
if hasattr(np.dtypes, "StringDType"):  # from NumPy 2 on
    LABELS["strings"] = np.array(["a", "b"]).astype(np.dtypes.StringDType())


@st.composite
def ridges(draw):
    """Draw parameters of the estimators of given terms."""
    bounds = np.array([[0, 1], [-1, 2]])
    return {
        "n_terms": draw(st.sampled_from([*FEW, *BIG])),
        "degree": draw(st.one_of(st.sampled_from([1, np.int16(3)]), several([2, 1]))),
        "lam": draw(st.sampled_from([0, 0.05, np.float32(0.3), -0.25, Fraction(1, 2)])),
        "alpha": draw(st.sampled_from([1, 2.0**-6, 10**20, np.float16(0.5), 1e-300, 9e299])),
        "max_interaction": draw(st.sampled_from([None, 1, 2**62])),
        "spectrum": draw(spectra(with_none=True)),
        "index_set": draw(st.sampled_from(["tensor", "largest_weight"])),
        "bounds": draw(
            st.sampled_from([None, bounds, pd.DataFrame(bounds), bounds.tolist(), list(bounds)])
        ),
        "n_jobs": draw(st.sampled_from([None, 1, np.int64(1)])),
        "penalize_constant": draw(st.booleans()),
    }


@st.composite
def searches(draw):
    """Draw parameters of the estimators that choose by themselves."""
    given = {
        "alphas": draw(st.one_of(st.just("auto"), several([1e-3, 0.1]), st.just({1e-3, 1e-2}))),
        "search_samples": draw(st.sampled_from([10, *BIG])),
        "kernel_samples": draw(st.sampled_from([0, 100, np.int64(2**62)])),
        "penalize_constant": draw(st.booleans()),
        "cv": draw(st.sampled_from([None, 3, np.int8(2)])),
    }
    if draw(st.booleans()):
        sizes = st.one_of(st.sampled_from([4, range(2, 9, 3), np.uint8(5)]), several([3, 6]))
        lams = st.one_of(st.sampled_from([None, 0.5, np.float32(0.25)]), several([0.05, 0.5]))
        return given | {"spectrum": None, "n_terms": draw(sizes), "lam": draw(lams)}
    weighted = {
        "spectrum": draw(spectra(with_none=False)),
        "n_terms": draw(st.sampled_from([None, 7])),
    }
    return given | weighted


@st.composite
def streams(draw, *, classify):
    """Draw an estimator without a fit, and a function that makes batches for it."""
    cls = GegenbauerClassifier if classify else GegenbauerRegressor
    blank = cls(
        n_terms=draw(st.integers(1, 6)),
        engine=draw(st.sampled_from(["auto", "primal", "moments"])),
        bounds=draw(st.sampled_from([None, [[0.2, 0.6], [0.0, 1.0]]])),
    )
    bits = (INPUTS > 0.5).astype(int)
    Y = draw(
        st.sampled_from(
            [bits[:, 0], bits[:, :1], bits, np.zeros(24, dtype=int)]
            if classify
            else [INPUTS[:, 0], INPUTS[:, :1], INPUTS, np.zeros(24)]
        )
    )
    return blank, lambda rows: (INPUTS[rows], Y[rows])


def fit_or_not(fit):
    """Return what fit returns, and nothing where it refuses its arguments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return fit()
        except (ValueError, TypeError, OverflowError, np.linalg.LinAlgError):
            return reject()


def assert_comes_back(model, folder):
    """Save and load a model; all that it holds and predicts is the same, and so is the file."""
    path = folder / "model"
    save(model, path)
    again = load(path)
    assert type(again) is type(model)
    assert vars(again).keys() == vars(model).keys()
    parameters = again.get_params(deep=False)
    for name, value in model.get_params(deep=False).items():
        assert _save.plain_parameter(name, value) == _save.plain_parameter(name, parameters[name])
    for name, value in vars(model).items():
        if name in parameters or name == "_summed_with":
            continue
        if name == "_label_set":  # text wider than it could be is kept as objects
            assert again.classes_.tolist() == value.classes.tolist()
            assert again.classes_.dtype in (value.classes.dtype.newbyteorder("="), object)
            assert same(value.names, again._label_set.names)
        else:
            assert same(value, getattr(again, name)), name
    written = path.read_bytes()
    save(again, path)
    assert path.read_bytes() == written
    if hasattr(model, "statistics_") and not is_solvable(model):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_array_equal(again.predict(INPUTS), model.predict(INPUTS))


def is_solvable(model):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            copy.copy(model).predict(INPUTS)
    except (ValueError, np.linalg.LinAlgError):
        return False
    return True


class TestWhateverFitTakes:
    """It comes back, or `save` names the attribute that does not before it writes anything."""

    @settings(max_examples=20)
    @given(ridges(), st.sampled_from([GegenbauerRegressor, GegenbauerClassifier]))
    def test_parameters_of_given_terms(self, tmp_path_factory, parameters, cls):
        y = (INPUTS[:, 0] > 0.5).astype(int)
        for fit in (
            lambda model: model.fit(INPUTS, y),
            lambda model: model.fit_stream([(INPUTS[:12], y[:12]), (INPUTS[12:], y[12:])]),
        ):
            model = fit_or_not(lambda fit=fit: fit(cls(**parameters)))
            assert_comes_back(model, tmp_path_factory.mktemp("model"))

    @settings(max_examples=12)
    @given(searches(), st.sampled_from([GegenbauerRegressorCV, GegenbauerClassifierCV]))
    def test_parameters_of_searches(self, tmp_path_factory, parameters, cls):
        model = cls(**parameters)
        y = (INPUTS[:, 0] > 0.5).astype(int)
        assert_comes_back(
            fit_or_not(lambda: model.fit(INPUTS, y)), tmp_path_factory.mktemp("model")
        )

    @settings(max_examples=25)
    @given(ridges(), searches())
    def test_parameters_set_after_the_fit(self, tmp_path_factory, of_terms, of_searches):
        """They are of the next fit, which may refuse them; the model does not depend on them."""
        for model, parameters in (
            (fitted("regressor"), of_terms),
            (fitted_search("regressor-fixed"), of_searches),
        ):
            changed = copy.copy(model).set_params(**parameters)
            fit_or_not(changed._validate_params)
            assert_comes_back(changed, tmp_path_factory.mktemp("model"))

    @pytest.mark.parametrize("kind", LABELS)
    @pytest.mark.parametrize("weights", [None, "balanced", "dict"])
    @pytest.mark.parametrize(
        "cls", [GegenbauerClassifier, GegenbauerClassifierCV], ids=lambda cls: cls.__name__
    )
    def test_labels(self, tmp_path, cls, kind, weights):
        labels = LABELS[kind]
        codes = (INPUTS[:, 0] > 0.5).astype(int)
        y = labels.take(codes) if hasattr(labels, "take") else labels[codes]
        if isinstance(y, pd.Series):
            y = y.reset_index(drop=True)
        if weights == "dict":
            weights = dict(zip(np.asarray(labels).tolist(), [1, np.float32(2.5)], strict=True))
        parameters = {"n_terms": 6, "class_weight": weights}
        if cls is GegenbauerClassifierCV:
            parameters["spectrum"] = (0.5, 2.0)
        assert_comes_back(cls(**parameters).fit(INPUTS, y), tmp_path)
        if cls is GegenbauerClassifier and weights != "balanced":
            stream = cls(**parameters).fit_stream([(INPUTS[:5], y[:5]), (INPUTS[5:], y[5:])])
            assert_comes_back(stream, tmp_path)

    @pytest.mark.skipif(np.longdouble is np.float64, reason="there is no longer float")
    def test_labels_of_another_kind(self, tmp_path):
        y = (INPUTS[:, 0] > 0.5).astype(np.longdouble)
        model = GegenbauerClassifier(n_terms=3).fit(INPUTS, y)
        with pytest.raises(TypeError, match=r"classes_ has dtype float.*; .* y\.astype\(str\)"):
            save(model, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    @settings(max_examples=30)
    @given(st.data())
    def test_states(self, tmp_path_factory, data):
        """Learned, merged and forgotten in any way, solved for or not, with any weights."""
        classify = data.draw(st.booleans())
        blank, batch_of = data.draw(streams(classify=classify))
        model, learned = blank, []
        for _ in range(data.draw(st.integers(1, 4))):
            rows = slice(*sorted(data.draw(st.lists(st.integers(0, 24), min_size=2, max_size=2))))
            weight = data.draw(st.sampled_from([None, 1.0, 1e17, 1e-17, 1e-300, 5e-324]))
            action = data.draw(st.sampled_from(["learn", "learn", "forget", "double", "choose"]))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with contextlib.suppress(ValueError, np.linalg.LinAlgError):
                    if action == "learn":
                        batch = (*batch_of(rows), weight)
                        model = model + clone(blank).fit_stream([batch])
                        learned.append(batch)
                    elif action == "forget" and learned:
                        model = copy.copy(model).forget(*learned.pop())
                    elif action == "double":
                        model = model + model
                    elif action == "choose":
                        model = copy.copy(model).choose_alpha([1e-3, 1.0])
        if not hasattr(model, "statistics_"):
            reject()
        if data.draw(st.booleans()) and is_solvable(model):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # ours, and none of NumPy's
                model.predict(INPUTS)
        folder = tmp_path_factory.mktemp("model")
        assert_comes_back(model, folder)
        if is_solvable(model):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                model.predict(INPUTS)
            save(model, folder / "model", statistics=False)
            assert_array_equal(load(folder / "model").predict(INPUTS), model.predict(INPUTS))

    def test_all_samples_forgotten(self, tmp_path):
        y = INPUTS[:, 0]
        model = GegenbauerRegressor(n_terms=5).partial_fit(INPUTS, y).forget(INPUTS, y)
        assert_comes_back(model, tmp_path)
        again = load(tmp_path / "model").partial_fit(INPUTS, y)
        expected = GegenbauerRegressor(n_terms=5).fit(INPUTS, y).predict(INPUTS)
        assert_allclose(again.predict(INPUTS), expected, atol=1e-9)

    def test_weights_that_sum_to_zero_after_rounding(self, tmp_path):
        y, heavy = INPUTS[:, 0], np.full(24, 1e17)
        model = GegenbauerRegressor(n_terms=5).partial_fit(INPUTS, y, sample_weight=heavy)
        model.partial_fit(INPUTS, y).forget(INPUTS, y, sample_weight=heavy)
        assert (model.n_samples_seen_, model.statistics_.weight_sum) == (24, 0.0)
        assert_comes_back(model, tmp_path)

    def test_weights_at_the_end_of_float64(self, tmp_path):
        for cls in (GegenbauerRegressorCV, GegenbauerClassifierCV):
            for weight in (5e-324, 1e-300, 1e300):
                y = (INPUTS[:, 0] > 0.5).astype(int)
                model = cls(spectrum=None, n_terms=5)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        model.fit(INPUTS, y, np.full(24, weight))
                    except ValueError:
                        continue
                assert_comes_back(model, tmp_path)

    @settings(max_examples=12)
    @given(st.data())
    def test_checkpoints(self, tmp_path_factory, data):
        """A stream that is interrupted anywhere and goes on is the stream that is not."""
        kind = data.draw(st.sampled_from(sorted(LABELS)))
        parameters = data.draw(ridges()) | {"n_terms": 6, "degree": 3, "index_set": "tensor"}
        parameters["spectrum"] = data.draw(st.sampled_from([None, (0.5, 1), PowerDecay(0.5, 2)]))
        codes = (INPUTS[:, 0] > 0.5).astype(int)
        labels = np.asarray(LABELS[kind])
        if data.draw(st.booleans()):  # a class that is not seen before the end
            codes = np.sort(codes)
        batches = [(INPUTS[k : k + 6], labels[codes[k : k + 6]]) for k in range(0, 24, 6)]
        parameters["class_weight"] = data.draw(
            st.sampled_from([None, dict(zip(labels.tolist(), [0.5, 2], strict=True))])
        )
        stop = data.draw(st.integers(1, 3))
        model = GegenbauerClassifier(**parameters)
        whole = fit_or_not(lambda: clone(model).fit_stream(batches))
        path = tmp_path_factory.mktemp("run") / "run"

        def broken():
            yield from batches[:stop]
            raise KeyboardInterrupt

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(KeyboardInterrupt):
                clone(model).fit_stream(broken(), checkpoint=Checkpoint(path))
            resumed = clone(model).fit_stream(batches, checkpoint=Checkpoint(path))
        assert resumed.statistics_ == whole.statistics_
        assert resumed.classes_.tolist() == whole.classes_.tolist()
        assert resumed.n_samples_seen_ == 24


class TestSave:
    def test_only_files_are_replaced(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        for path in (pipe, tmp_path):
            with pytest.raises(OSError, match="folder or a device"):
                save(fitted("regressor"), path)
        assert pipe.is_fifo()
        with pytest.raises(FileNotFoundError, match="no folder"):
            save(fitted("regressor"), tmp_path / "none" / "model")
        assert list(tmp_path.iterdir()) == [pipe]

    def test_pipeline_is_refused(self, tmp_path):
        model = make_pipeline(StandardScaler(), fitted("regressor"))
        with pytest.raises(TypeError, match=r"got Pipeline\. .* last step"):
            save(model, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_subclass_is_refused(self, tmp_path):
        class Mine(GegenbauerRegressor):
            pass

        with pytest.raises(TypeError, match="got Mine"):
            save(Mine(n_terms=2).fit([[0.0], [1.0]], [0, 1]), tmp_path / "model")

    def test_unfitted_is_refused(self, tmp_path):
        with pytest.raises(NotFittedError):
            save(GegenbauerRegressor(), tmp_path / "model")

    def test_non_finite_weights_are_refused(self, tmp_path):
        model = fitted("regressor")
        model.term_coef_[0] = np.nan
        with pytest.raises(ValueError, match="term_coef_ must be finite"):
            save(model, tmp_path / "model")

    def test_labels_without_a_place_in_the_format(self, tmp_path):
        X = [[0.0], [1.0]]
        model = GegenbauerClassifier(n_terms=2).fit(X, [0, 1])
        dates = pd.to_datetime(["2020", "2021"]).to_numpy()  # which fit refuses
        model._label_set = LabelSet(dates)
        with pytest.raises(TypeError, match="datetime64"):
            save(model, tmp_path / "model")

    def test_parameter_without_a_place_in_the_format(self, tmp_path):
        model = fitted("regressor").set_params(alpha=float("inf"))
        with pytest.raises(ValueError, match=r"alpha.*inf"):
            save(model, tmp_path / "model")

    def test_too_many_names(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_save, "MAX_HEADER_BYTES", 100)
        with pytest.raises(ValueError, match="no room"):
            save(fitted("regressor"), tmp_path / "model")

    def test_missing_package_is_named(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
        for call in (lambda: save(None, tmp_path / "model"), lambda: load(tmp_path / "model")):
            with pytest.raises(ImportError, match=r"pip install 'gegenbauer\[io\]'"):
                call()

    def test_too_many_values(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_save, "MAX_VALUES", 20)
        with pytest.raises(ValueError, match=r"or are more than 20; .* no room"):
            save(fitted("regressor"), tmp_path / "model")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("parameters", "error", "message"),
        [
            ({"n_terms": 10**309}, ValueError, "n_terms is an int of more than 309 digits"),
            ({"degree": [object()]}, TypeError, "degree must be None, .* it holds <object"),
            ({"bounds": [["a", "b"]]}, TypeError, "`bounds` must hold a pair"),
            ({"bounds": [[0, 10**400]]}, TypeError, "`bounds` must hold a pair"),
        ],
    )
    def test_parameters_without_a_place_in_the_format(self, tmp_path, parameters, error, message):
        with pytest.raises(error, match=message):
            save(fitted("regressor").set_params(**parameters), tmp_path / "model")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("weight", "error", "message"),
        [
            ({(1, 2): 1.0, 0: 1, 1: 1, 2: 1}, TypeError, r"labels of class_weight .* \(1, 2\)"),
            ({None: 1.0, 0: 1, 1: 1, 2: 1}, TypeError, "labels of class_weight .* None"),
            ({7: np.inf, 0: 1, 1: 1, 2: 1}, TypeError, "class_weight of 7 .* holds inf"),
        ],
    )
    def test_class_weight_without_a_place_in_the_format(self, tmp_path, weight, error, message):
        """A dict that names all classes may name anything else, too."""
        model = fitted("classifier-int", class_weight=weight)
        with pytest.raises(error, match=message):
            save(model, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_what_was_written_is_read_before_a_file_is_replaced(self, tmp_path, monkeypatch):
        path = tmp_path / "model"
        path.write_bytes(b"precious")
        fsync = os.fsync

        def damage(descriptor):
            os.lseek(descriptor, -1, os.SEEK_END)
            os.write(descriptor, b"?")
            fsync(descriptor)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", damage)
            with pytest.raises(OSError, match="does not hold what was written"):
                save(fitted("regressor"), path)
        with monkeypatch.context() as patch:
            restore = _restore._restore_parameters
            patch.setattr(
                _restore,
                "_restore_parameters",
                lambda *given: restore(*given).set_params(alpha=7.0),
            )
            with pytest.raises(ModelFileError, match="would come back changed"):
                save(fitted("regressor"), path)
        with monkeypatch.context() as patch:
            patch.setattr(_restore, "MAX_WEIGHTS", -1000)
            with pytest.raises(ModelFileError, match=r"1 components for 2 inputs"):
                save(fitted("regressor"), path)
        assert path.read_bytes() == b"precious"
        assert list(tmp_path.iterdir()) == [path]

    def test_what_a_killed_save_left_is_removed(self, tmp_path):
        path = tmp_path / "model (1).safetensors"
        code = (
            "import os, signal, sys, gegenbauer\n"
            "model = gegenbauer.GegenbauerRegressor(n_terms=2).fit([[0.0], [1.0]], [1.0, 2.0])\n"
            "os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)\n"
            "gegenbauer.save(model, sys.argv[1])\n"
        )
        for _ in range(2):
            done = subprocess.run([sys.executable, "-c", code, path], check=False)
            assert done.returncode == -signal.SIGKILL
            (left,) = tmp_path.iterdir()  # one, for the second has removed that of the first
        others = {tmp_path / f"{left.name}x", tmp_path / ".model.0123456789abcdef.tmp"}
        for other in others:
            other.touch()
        save(fitted("regressor"), path)
        assert set(tmp_path.iterdir()) == {path} | others

    def test_a_save_at_the_same_time_is_left_alone(self, tmp_path, monkeypatch):
        path, fsync = tmp_path / "model", os.fsync
        outer, inner = fitted("regressor"), fitted("classifier-int")

        def save_another(descriptor):
            monkeypatch.setattr(os, "fsync", fsync)
            save(inner, path)
            assert type(load(path)) is type(inner)
            fsync(descriptor)

        monkeypatch.setattr(os, "fsync", save_another)
        save(outer, path)
        assert type(load(path)) is type(outer)
        assert list(tmp_path.iterdir()) == [path]

    def test_a_file_taken_for_a_leftover_is_written_again(self, tmp_path, monkeypatch):
        flock, taken = fcntl.flock, []

        def late(descriptor, operation):
            if operation == fcntl.LOCK_EX and not taken:  # another save was faster
                taken.extend(tmp_path.iterdir())
                taken[0].unlink()
            flock(descriptor, operation)

        monkeypatch.setattr(fcntl, "flock", late)
        save(fitted("regressor"), tmp_path / "model")
        assert taken
        assert list(tmp_path.iterdir()) == [tmp_path / "model"]

    @pytest.mark.parametrize("name", ["m" * 255, "\U0001f600" * 63, "[a-z]*"])
    def test_any_name(self, tmp_path, name):
        for _ in range(2):
            save(fitted("regressor"), tmp_path / name)
            load(tmp_path / name)
        assert list(tmp_path.iterdir()) == [tmp_path / name]

    @pytest.mark.parametrize("step", ["fsync", "replace"])
    @pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
    def test_failure_leaves_the_existing_file(self, tmp_path, monkeypatch, step, error):
        path = tmp_path / "model"
        path.write_bytes(b"precious")

        def fail(*args, **kwargs):
            raise error("stopped")

        monkeypatch.setattr(os, step, fail)
        with pytest.raises(error):
            save(fitted("regressor"), path)
        monkeypatch.undo()
        assert path.read_bytes() == b"precious"
        assert list(tmp_path.iterdir()) == [path]

    def test_replaces_and_keeps_the_mode(self, tmp_path):
        path = tmp_path / "model"
        path.write_bytes(b"old")
        path.chmod(0o640)
        save(fitted("regressor"), path)
        load(path)
        assert path.stat().st_mode & 0o777 == 0o640
        assert list(tmp_path.iterdir()) == [path]

    def test_new_file_has_the_usual_mode(self, tmp_path):
        (tmp_path / "other").touch()
        save(fitted("regressor"), tmp_path / "model")
        assert (tmp_path / "model").stat().st_mode == (tmp_path / "other").stat().st_mode

    def test_writes_through_a_symbolic_link(self, tmp_path):
        (tmp_path / "folder").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "folder" / "model")
        save(fitted("regressor"), tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        load(tmp_path / "folder" / "model")

    def test_missing_folder(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            save(fitted("regressor"), tmp_path / "no" / "model")

    def test_folder_in_the_way(self, tmp_path):
        with pytest.raises(OSError, match=r"."):
            save(fitted("regressor"), tmp_path)
        assert not list(tmp_path.iterdir())

    def test_same_model_same_bytes(self, tmp_path):
        model = fitted("classifier-str")
        save(model, tmp_path / "a")
        save(pickle.loads(pickle.dumps(model)), tmp_path / "b")
        first, second = ((tmp_path / name).read_bytes() for name in "ab")
        assert len(first) == len(second)


# ---- hostile files -------------------------------------------------------------------


class Parts:
    """A model file taken apart, to be put together again in wrong ways."""

    def __init__(self, model, tmp_path):
        path = tmp_path / "good"
        save(model, path)
        self.raw = path.read_bytes()
        n_header = int.from_bytes(self.raw[:8], "little")
        self.header = json.loads(self.raw[8 : 8 + n_header])
        data = self.raw[8 + n_header :]
        self.entries = self.header.pop("__metadata__")
        del self.entries["checksum"]  # of which every change would be seen
        for name in ("parameters", "fitted"):
            self.entries[name] = json.loads(self.entries[name])
        self.tensors = {}
        for name, entry in self.header.items():
            begin, end = entry["data_offsets"]
            array = np.frombuffer(data[begin:end], _format.DTYPES[entry["dtype"]])
            self.tensors[name] = array.reshape(entry["shape"]).copy()
        self.path = tmp_path / "bad"

    def with_header(self, text, data=b""):
        self.path.write_bytes(struct.pack("<Q", len(text)) + text + data)
        return self.path

    def write(self):
        codes = {dtype: code for code, dtype in _format.DTYPES.items()}
        header, data = {}, b""
        for name, array in self.tensors.items():
            header[name] = {
                "dtype": codes[array.dtype],
                "shape": list(array.shape),
                "data_offsets": [len(data), len(data) + array.nbytes],
            }
            data += array.tobytes()
        entries = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in self.entries.items()
        }
        return self.with_header(json.dumps({"__metadata__": entries, **header}).encode(), data)


@pytest.fixture
def parts(tmp_path):
    return Parts(fitted("classifier-int"), tmp_path)


def peak_memory(call):
    """Return how many bytes a call has held at most."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def refused(path, message):
    with pytest.raises(ModelFileError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert len(str(caught.value)) < 1000


class TestHostile:
    def test_parts_make_a_good_file(self, parts):
        assert_array_equal(load(parts.write()).classes_, [0, 1, 2])

    def test_is_a_value_error(self):
        assert issubclass(ModelFileError, ValueError)

    @pytest.mark.parametrize("n_bytes", [0, 1, 7, 8, 9, 100, 1000, -1])
    def test_truncated(self, parts, n_bytes):
        parts.path.write_bytes(parts.raw[:n_bytes])
        refused(parts.path, "truncated|not a model file")

    def test_longer(self, parts):
        parts.path.write_bytes(parts.raw + b"\0")
        refused(parts.path, "truncated or damaged")

    @pytest.mark.parametrize(
        "content",
        [
            b"x,y\n1,2\n" * 100,
            pickle.dumps({"a": 1}),
            b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
            b"PK\x03\x04" + b"\0" * 100,
            b"\0" * 1000,
        ],
    )
    def test_other_files(self, tmp_path, content):
        (tmp_path / "other").write_bytes(content)
        refused(tmp_path / "other", "not a model file|not the JSON")

    def test_other_safetensors(self, tmp_path):
        from safetensors.numpy import save_file

        save_file({"a": np.zeros(3)}, tmp_path / "other")
        refused(tmp_path / "other", "does not have the format 'gegenbauer-model'")

    def test_nothing_is_unpickled(self, parts, tmp_path):
        class Bomb:
            def __reduce__(self):
                return (Path.touch, (tmp_path / "exploded",))

        parts.entries["fitted"]["engine_"] = pickle.dumps(Bomb()).decode("latin1")
        model = load(parts.write())  # a string is a string
        assert isinstance(model.engine_, str)
        parts.path.write_bytes(pickle.dumps(Bomb()))
        refused(parts.path, "not a model file|not the JSON")
        assert not (tmp_path / "exploded").exists()

    def test_folder_and_pipe(self, tmp_path):
        with pytest.raises(OSError, match=r"."):
            load(tmp_path)
        os.mkfifo(tmp_path / "pipe")
        refused(tmp_path / "pipe", "not a regular file")
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "missing")

    @pytest.mark.parametrize("n_header", [2**63, 2**64 - 1, 10**12, 17 * 2**20])
    def test_huge_header_is_not_read(self, tmp_path, n_header):
        path = tmp_path / "bad"
        path.write_bytes(struct.pack("<Q", n_header) + b"{}")
        refused(path, "not a model file, or a truncated one")

    def test_header_bomb_in_a_sparse_file(self, tmp_path):
        path = tmp_path / "bad"
        with path.open("wb") as file:
            file.write(struct.pack("<Q", 2**33))
            file.truncate(2**34)
        refused(path, "header claims 8589934592 bytes")

    def test_sparse_file_is_not_read(self, parts):
        parts.write()
        with parts.path.open("r+b") as file:
            file.truncate(2**34)
        refused(parts.path, "17179869184 bytes where its header describes")

    @pytest.mark.parametrize(
        "text",
        [
            b"[" * 100_000,
            b'{"a":' * 100_000,
            b"{",
            b'"text"',
            b"[]",
            b"null",
            b"\xff\xfe{}",
            b"NaN",
            b'{"__metadata__": {"format": "gegenbauer-model"}, "__metadata__": {}}',
            b'{"__metadata__": []}',
            b'{"a": ' + b"9" * 10_000 + b"}",
        ],
    )
    def test_header_that_is_no_header(self, parts, text):
        refused(parts.with_header(text), r"JSON|not a model file|same key|number")

    @pytest.mark.parametrize("name", ["parameters", "fitted"])
    @pytest.mark.parametrize(
        "text", ["NaN", "[1]", '{"a": NaN}', '{"a": 1e999}', "{", '{"a":1,"a":2}']
    )
    def test_entries_that_are_no_objects(self, parts, name, text):
        parts.entries[name] = text
        refused(parts.write(), r"JSON|must be a JSON object|number|same key")

    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("format", "other", "does not have the format"),
            ("format_version", "3", f"format_version is '3'.* {re.escape(gegenbauer.__version__)}"),
            ("estimator", "Pipeline", "estimator must be one of .* got 'Pipeline'"),
            ("estimator", "os.system", "estimator must be one of"),
            ("estimator", "GegenbauerRegressor", "unknown"),
            ("extra", "text", "unknown .*extra"),
        ],
    )
    def test_metadata(self, parts, key, value, message):
        parts.entries[key] = value
        refused(parts.write(), message)

    @pytest.mark.parametrize(
        "key", ["format", "library_version", "estimator", "parameters", "fitted"]
    )
    def test_missing_metadata(self, parts, key):
        del parts.entries[key]
        refused(parts.write(), "lacks|does not have the format")

    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("n_terms", -1, "'n_terms' .* Got -1"),
            ("lam", "os.system('true')", "'lam' .* must be"),
            ("alpha", -1.0, "'alpha'"),
            ("index_set", "everything", "'index_set'"),
            ("precision", "float16", "'precision'"),
            ("domain", [0, 5], "'domain'"),
            ("domain", [[0], 1], "'domain'"),
            ("degree", {"a": 1}, "'degree'"),
            ("class_weight", [[0, "much"]], "class_weight"),
            ("class_weight", [[[0], 1]], "class_weight"),
            ("class_weight", "equal", "'class_weight'"),
            ("class_weight", {"a": 1}, "class_weight"),
            ("n_jobs", 1.5, "'n_jobs'"),
            ("n_jobs", 10**9, "'n_jobs'"),
            ("__class__", "x", "unknown .*__class__"),
        ],
    )
    def test_parameters(self, parts, key, value, message):
        parts.entries["parameters"][key] = value
        refused(parts.write(), message)

    def test_missing_parameter_is_newer_than_the_file(self, parts):
        del parts.entries["parameters"]["n_jobs"]
        assert load(parts.write()).n_jobs is None

    def test_missing_precision_is_newer_than_the_file(self, parts):
        del parts.entries["parameters"]["precision"], parts.entries["fitted"]["precision_"]
        model = load(parts.write())
        assert (model.precision, model.precision_) == ("auto", None)
        save(model, parts.path)
        assert load(parts.path).precision_ is None

    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("engine_", 3, "engine_"),
            ("precision_", 64, "precision_"),
            ("rcond_", "small", "rcond_"),
            ("n_refinements_", 1.5, "n_refinements_"),
            ("n_refinements_", True, "n_refinements_"),
            ("multilabel_", 0, "multilabel_"),
            ("multilabel_", None, "multilabel_"),
            ("clip", 1, "clip"),
            ("domain", [0, 2], "domain"),
            ("domain", [0], "domain"),
            ("domain", 1, "domain"),
            ("feature_names_in_", ["a"], "feature_names_in_ must be 2 strings"),
            ("feature_names_in_", ["a", 2], "feature_names_in_ must be 2 strings"),
            ("feature_names_in_", "ab", "feature_names_in_"),
            ("classes_", {"dtype": "object", "values": ["a", "b", "c"]}, "unknown .*classes"),
            ("basis", [], "basis"),
            ("other", 1, "unknown .*other"),
        ],
    )
    def test_fitted(self, parts, key, value, message):
        parts.entries["fitted"][key] = value
        refused(parts.write(), message)

    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("n_terms", 10**12, "indices have the shape"),
            ("n_terms", 5, "indices have the shape"),
            ("n_features", 3, "indices have the shape"),
            ("n_features", 2.0, "n_features|basis"),
            ("degree", 1, "index set .* has 3"),
            ("degree", -1, "degree"),
            ("degree", 10**17, r"."),
            ("degree", {"a": 1}, "degree"),
            ("degree", [[1], 2], "degree"),
            ("lam", -3.0, "lam"),
            ("lam", None, "lam"),
            ("index_set", "everything", "index_set"),
            ("term_order", "random", "order"),
            ("term_order", "grlex_ascending", "not those that this version"),
            ("max_interaction", 0, "max_interaction"),
            ("spectrum", "loud", "spectrum"),
            ("spectrum", [1.0], "spectrum"),
            ("code", "x", "unknown .*code"),
        ],
    )
    def test_basis(self, parts, key, value, message):
        parts.entries["fitted"]["basis"][key] = value
        refused(parts.write(), message)

    @pytest.mark.parametrize("index_set", ["total_degree", "tensor", "hyperbolic_cross"])
    def test_index_set_of_10_to_the_12(self, tmp_path, index_set):
        """The number of terms is settled by what is in the file, before any is built."""
        parts = Parts(fitted("features"), tmp_path)
        parts.entries["fitted"]["basis"] |= {
            "n_terms": 10**12,
            "degree": 10**6,
            "index_set": index_set,
        }
        refused(parts.write(), r"indices have the shape \(6, 2\)")
        parts.header = None
        text = json.loads(parts.path.read_bytes()[8:].split(b"}}")[0] + b"}}")
        text["indices"] = {
            "dtype": "I32",
            "shape": [10**12, 2],
            "data_offsets": [0, 8 * 10**12],
        }
        refused(parts.with_header(json.dumps(text).encode()), "overlap|bytes where its header")

    @pytest.mark.parametrize(
        ("name", "array", "message"),
        [
            ("coef", np.full((6, 3), np.nan), "coef' must be finite; it holds nan"),
            ("coef", np.full((6, 3), np.inf), "coef' must be finite; it holds inf"),
            ("coef", np.zeros((6, 3), np.float32), "coef' must be float64 .* got float32"),
            ("coef", np.zeros((6, 2)), "3 classes and a coef"),
            ("coef", np.zeros((5, 3)), r"coef' must be float64 of shape \(6, any\)"),
            ("coef", np.zeros(6), "3 classes and a coef"),
            ("coef", np.zeros((6, 3, 1)), "coef"),
            ("coef", np.zeros((6, 3, 1, 1)), "coef' has 4 dimensions; no tensor .* more than 3"),
            ("coef", np.zeros((6, 0)), "coef"),
            ("coef", np.zeros(()), "3 classes and a coef"),
            ("indices", np.zeros((6, 2), np.int64), "indices' must be int32"),
            ("indices", np.zeros((6, 2), np.int32), "not those that this version"),
            ("indices", np.zeros((0, 2), np.int32), "indices'"),
            ("indices", np.zeros(12, np.int32), "indices'"),
            ("lower", np.array([0, np.nan]), "lower' must be finite; it holds nan"),
            ("lower", np.array([0.0, 5.0]), "`lower` must not exceed `upper`"),
            ("lower", np.zeros(2, np.float32), "lower' must be float64"),
            ("constant", np.zeros(2, np.uint8), "constant' must be bool"),
            ("constant", np.zeros(1, bool), r"constant' must be .* of shape \(2\)"),
            ("upper", np.zeros(3), r"upper' must be .* of shape \(2\)"),
            ("upper", np.ones(2, np.int64), "upper' must be"),
            ("classes", np.array([0, 1]), "2 classes and a coef"),
            ("classes", np.zeros((3, 1), int), "classes'"),
            ("classes", np.zeros(0, int), "0 classes"),
            ("classes", np.array([0, 1, np.nan]), "classes' must be finite; it holds nan"),
            ("classes", np.array([0, 2, 1]), "labels must be sorted and all different"),
            ("classes", np.array([0, 1, 1]), "labels must be sorted and all different"),
            ("more", np.zeros(2), "unknown .*more"),
        ],
    )
    def test_tensors(self, parts, name, array, message):
        parts.tensors[name] = array
        refused(parts.write(), message)

    def test_marginals(self, parts):
        """Their weights are probabilities, and there are as many of them as nodes."""
        good = parts.tensors["marginal_weights"]
        parts.tensors["marginal_weights"] = 0.5 * good
        refused(parts.write(), "marginal_weights must have the sum 1")
        parts.tensors["marginal_weights"] = good
        parts.tensors["marginal_sizes"] = parts.tensors["marginal_sizes"] + 1
        refused(parts.write(), "marginal_sizes must have the sum")

    @pytest.mark.parametrize("name", ["coef", "indices", "lower", "upper", "constant", "classes"])
    def test_missing_tensors(self, parts, name):
        del parts.tensors[name]
        refused(parts.write(), f"lacks .*{name}")

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"dtype": "F8_E4M3"}, "dtype 'F8_E4M3'"),
            ({"dtype": "C64"}, "dtype 'C64'"),
            ({"dtype": ["F64"]}, "dtype"),
            ({"shape": [6, 4]}, "takes 192 bytes"),
            ({"shape": [2**40, 2**40]}, "takes"),
            ({"shape": [-6, -3]}, "non-negative"),
            ({"shape": [True, 18]}, "non-negative ints"),
            ({"shape": "63"}, "non-negative ints"),
            ({"data_offsets": [0, 144, 1]}, "data_offsets"),
            ({"data_offsets": [144, 0]}, "data_offsets"),
            ({"data_offsets": [0]}, "data_offsets"),
            ({"data_offsets": [10**15, 10**15 + 144]}, "overlap or leave gaps"),
            ({"data_offsets": [0, 144]}, "overlap or leave gaps"),
            ({"code": 1}, "nothing else"),
        ],
    )
    def test_descriptions_of_tensors(self, parts, change, message):
        header = copy.deepcopy(parts.header)
        n_header = int.from_bytes(parts.raw[:8], "little")
        whole = json.loads(parts.raw[8 : 8 + n_header])
        assert header["coef"]["data_offsets"] != [0, 144]
        whole["coef"] |= change
        path = parts.with_header(json.dumps(whole).encode(), parts.raw[8 + n_header :])
        refused(path, message)

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            ({"dtype": "<U4", "values": ["a", "bbbb"]}, None),
            ({"dtype": "object", "values": ["a", "bbbb"]}, None),
            ({"dtype": "<U9", "values": ["a", "bbbb"]}, None),
            ({"dtype": "<U999999", "values": ["a", "bbbb"]}, "dtype '<U999999'"),
            ({"dtype": ">U9", "values": ["a", "bbbb"]}, "dtype '>U9'"),
            ({"dtype": "<U04", "values": ["a", "bbbb"]}, "dtype '<U04'"),
            ({"dtype": "<U2", "values": ["a", "bbbb"]}, "dtype '<U2'"),
            ({"dtype": "<U999999999999", "values": ["a", "b"]}, "dtype"),
            ({"dtype": "O", "values": ["a", "b"]}, "dtype 'O'"),
            ({"dtype": ["<U1"], "values": ["a", "b"]}, "dtype"),
            ({"dtype": "object", "values": ["a", 1]}, "list of strings"),
            ({"dtype": "object", "values": "ab"}, "list of strings"),
            ({"dtype": "object", "values": ["a", "a"]}, "all different"),
            ({"dtype": "object", "values": ["b", "a"]}, "must be sorted"),
            ({"dtype": "<U1", "values": ["b", "a"]}, "must be sorted"),
            ({"dtype": "object", "values": ["a"]}, "1 classes"),
            ({"dtype": "object", "values": []}, "0 classes"),
            ({"dtype": "object", "values": ["a", "b", "c"]}, "3 classes"),
            ({"dtype": "object"}, "lacks .*values"),
            (None, "lacks .*classes"),
        ],
    )
    def test_labels(self, tmp_path, entry, message):
        parts = Parts(fitted("classifier-str"), tmp_path)
        parts.entries["fitted"]["classes_"] = entry
        path = parts.write()
        if message is None:
            assert load(path).classes_.tolist() == ["a", "bbbb"]
        else:
            refused(path, message)

    def test_wide_labels_take_no_more_memory_than_the_file_allows(self, tmp_path):
        parts = Parts(fitted("classifier-str"), tmp_path)
        values = [*(f"l{k}" for k in range(3999)), "x" * 100_000]
        parts.entries["fitted"]["classes_"] = {"dtype": "<U100000", "values": sorted(values)}
        peak = peak_memory(lambda: refused(parts.write(), "dtype '<U100000'"))
        assert peak < 2**20 + 10 * parts.path.stat().st_size

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("lists", "[" + "[]," * 5_000_000 + "[]]"),
            ("objects", "[" + "{}," * 5_000_000 + "{}]"),
            ("numbers", "[" + "1," * 7_000_000 + "1]"),
            ("keys", "{" + ",".join(f'"{k:x}":1' for k in range(1_200_000)) + "}"),
            ("nested", "[" * 7_000_000),
        ],
    )
    def test_json_of_many_values(self, parts, name, text):
        """Fifty bytes for each two of the file, and a call for each number."""
        parts.entries["parameters"] = text
        path = parts.write()
        peak = peak_memory(lambda: refused(path, "more than 1048576 values"))
        assert peak < 6 * path.stat().st_size, name

    def test_json_of_as_many_values_as_there_may_be(self, parts):
        text = "[" + "[]," * (_format.MAX_VALUES // 2 - 100) + "[]]"
        parts.entries["parameters"] = text
        path = parts.write()
        peak = peak_memory(lambda: refused(path, "parameters must be a JSON object"))
        assert peak < 2**26 + 10 * path.stat().st_size

    def test_spectra_of_many_components(self, tmp_path):
        """A kernel takes its time for each, however short a file of them is."""
        parts = Parts(fitted_search("regressor-one"), tmp_path)
        most = _format.MAX_COMPONENTS
        part = {"kind": "PowerDecay", "interaction": 0.01, "smoothness": 2}
        for entries, name in [
            (parts.entries["fitted"], "spectrum_"),
            (parts.entries["parameters"], r"parameters\['spectrum'\]"),
        ]:
            entry = name if name in entries else "spectrum"
            whole = entries[entry]
            entries[entry] = [part] * most
            load(parts.write())
            entries[entry] = [part] * (most + 1)
            refused(parts.write(), f"{name} must hold at most 4096 entries; it has 4097")
            entries[entry] = whole

    @pytest.mark.parametrize("name", ["alphas", "lam", "n_terms"])
    def test_grids_of_many_values(self, tmp_path, name):
        parts = Parts(fitted_search("regressor"), tmp_path)
        parts.entries["parameters"][name] = [1] * (_format.MAX_GRID + 1)
        refused(parts.write(), f"{name} must hold at most 65536 entries; it has 65537")

    @pytest.mark.parametrize("number", [1, 0.5])
    def test_numbers_of_a_spectrum_are_not_checked_one_by_one(self, tmp_path, monkeypatch, number):
        """20,000 whole numbers for each of 52 components took seconds for 3 MB."""
        model = GegenbauerRegressor(
            n_terms=3, index_set="largest_weight", spectrum=PowerDecay([number] * 5000, 2.0)
        ).fit(np.eye(3, 5000), [1.0, 2.0, 4.0])
        path = tmp_path / "wide"
        save(model, path)
        calls = []

        def counted(function):
            def call(*args, **kwargs):
                calls.append(function.__name__)
                return function(*args, **kwargs)

            return call

        for module, name in [(_restore, "require_valid"), (spectrum, "check_number")]:
            monkeypatch.setattr(module, name, counted(getattr(module, name)))
        assert load(path).spectrum == model.spectrum
        assert 0 < len(calls) < 100

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (None, "got None"),
            (True, "got True"),
            ("inf", "got 'inf'"),
            ([1], r"got \[1\]"),
            (-1, "must be a finite number of at least 0, got -1"),
            (10**309 - 1, "within the range of float64"),
        ],
    )
    @pytest.mark.parametrize("at", [0, 4999])
    def test_a_number_of_a_spectrum_that_is_none(self, tmp_path, value, message, at):
        model = GegenbauerRegressor(
            n_terms=3, index_set="largest_weight", spectrum=PowerDecay([1] * 5000, 2.0)
        ).fit(np.eye(3, 5000), [1.0, 2.0, 4.0])
        parts = Parts(model, tmp_path)
        for entries in (parts.entries["parameters"], parts.entries["fitted"]["basis"]):
            whole = copy.deepcopy(entries)
            found = entries["spectrum"]
            (component,) = found.get("components", [found])
            component["interaction"][at] = value
            refused(parts.write(), message)
            entries.update(whole)
        load(parts.write())

    @pytest.mark.parametrize("n_dimensions", [4, 101, 80_000])
    def test_shape_of_many_dimensions(self, parts, n_dimensions):
        """A product of so many sizes takes minutes, and its digits cannot be shown."""
        n_header = int.from_bytes(parts.raw[:8], "little")
        whole = json.loads(parts.raw[8 : 8 + n_header])
        whole["coef"]["shape"] = [999_999_999_999_999_999] * n_dimensions
        path = parts.with_header(json.dumps(whole).encode(), parts.raw[8 + n_header :])
        refused(path, f"'coef' has {n_dimensions} dimensions; no tensor .* more than 3")

    def test_sizes_that_no_array_can_have(self, parts):
        n_header = int.from_bytes(parts.raw[:8], "little")
        for sizes in ([0, 10**17, 10**17], [2**63], [10**300, 1], [0, 2**62]):
            whole = json.loads(parts.raw[8 : 8 + n_header])
            whole["coef"] |= {"shape": sizes, "data_offsets": [0, 0]}
            whole["indices"]["data_offsets"] = [0, 48]
            path = parts.with_header(json.dumps(whole).encode(), parts.raw[8 + n_header :])
            refused(path, "coef|gaps")

    @pytest.mark.parametrize("text", ["\ud800", "1.0\x1b[2J", "", "1" * 65])
    def test_version_that_is_none(self, parts, text):
        parts.entries["library_version"] = text
        refused(parts.write(), "__metadata__ must hold strings|library_version must be one")

    def test_numbers_of_many_digits(self, parts):
        for digits, message in ((309, "alpha"), (310, "beyond float64"), (5000, "beyond float64")):
            parts.entries["parameters"]["alpha"] = f"@{digits}"
            text = json.dumps(parts.entries["parameters"])
            parts.entries["parameters"] = text.replace(f'"@{digits}"', "-" + "9" * digits)
            refused(parts.write(), message)
            parts.entries["parameters"] = json.loads(text)

    def test_class_weight_with_a_label_twice(self, parts):
        parts.entries["parameters"]["class_weight"] = [[1, 2.0], [True, 3.0]]
        refused(parts.write(), "label twice")

    def test_multilabel_and_classes_agree(self, parts, tmp_path):
        parts.entries["fitted"]["multilabel_"] = True
        assert load(parts.write()).predict([[0.5, 0.5]]).shape == (1, 3)
        good = parts.tensors["classes"]
        parts.tensors["classes"] = good + 1
        refused(parts.write(), "multilabel model must be 0, 1, 2")
        del parts.tensors["classes"]
        parts.entries["fitted"]["classes_"] = {"dtype": "object", "values": ["c", "a", "b"]}
        assert load(parts.write()).label_names_.tolist() == ["c", "a", "b"]
        parts.entries["fitted"]["classes_"]["values"][1] = "c"
        refused(parts.write(), "names of the labels .* must differ")
        binary = Parts(fitted("classifier-bool"), tmp_path)
        binary.entries["fitted"]["multilabel_"] = True
        refused(binary.write(), "do not belong together|dimensions")

    def test_other_version_warns_with_both(self, parts):
        parts.entries["library_version"] = "0.0.7"
        expected = rf"0\.0\.7 .* {re.escape(gegenbauer.__version__)}"
        with pytest.warns(ModelVersionWarning, match=expected) as caught:
            load(parts.write())
        assert len(caught) == 1
        assert caught[0].filename == __file__

    def test_file_that_shrinks_while_it_is_read(self, parts, monkeypatch):
        fstat = os.fstat
        path = parts.write()

        class Larger:
            def __init__(self, status):
                self.st_mode, self.st_size = status.st_mode, status.st_size + 8

        monkeypatch.setattr(os, "fstat", lambda descriptor: Larger(fstat(descriptor)))
        whole = json.loads(parts.raw[8 : 8 + int.from_bytes(parts.raw[:8], "little")])
        assert whole  # the header is whole; the data end too early
        refused(path, "truncated or damaged")


class TestHostileSearches:
    """The same for what only the estimators that choose by themselves have."""

    @pytest.mark.parametrize("kind", SEARCHES)
    def test_every_tensor_is_needed_and_checked(self, tmp_path, kind):
        parts = Parts(fitted_search(kind), tmp_path)
        load(parts.write())
        any_number = {"loo_predictions"}  # of rows
        if "posterior" in parts.tensors:
            any_number.add("residuals")
        for name in sorted(parts.tensors):
            array = parts.tensors.pop(name)
            # not all models have one, or did
            if name in ("row_weight", "prior_variance", "probability_reaches", "ordered_sums"):
                load(parts.write())
            else:
                refused(parts.write(), "lacks")
            parts.tensors[name] = array[..., np.newaxis]
            refused(parts.write(), r".")
            if name not in any_number:
                parts.tensors[name] = np.concatenate([array, array[:1] if array.size else [0.0]])
                refused(parts.write(), r".")
            if array.dtype.kind == "f":
                parts.tensors[name] = np.zeros(array.shape, np.float16)
                refused(parts.write(), f"{name}' must be ")
                if not _format.TENSORS[name].unknown and array.size:
                    parts.tensors[name] = np.full_like(array, np.nan)
                    refused(parts.write(), "must be .*; it holds nan")
            parts.tensors[name] = array

    @pytest.mark.parametrize(
        ("kind", "name", "value", "message"),
        [
            ("regressor", "noise_variance", -1.0, "must be of at least 0; it holds -1"),
            ("regressor", "noise_variance", np.nan, "must be of at least 0; it holds nan"),
            ("regressor", "prior_variance", np.nan, "must be of at least 0; it holds nan"),
            ("regressor", "noise_variance", 1.7e308, r"noise_variance must be at most 1e\+300"),
            ("regressor", "prior_variance", np.inf, r"prior_variance must be at most 1e\+300"),
            ("regressor-weights", "row_weight", 0.0, "row_weight' must be finite and positive"),
            ("classifier", "probability_scales", -1.0, "must be finite and positive"),
            ("classifier", "probability_reaches", -1.0, "must be of at least 0; it holds -1"),
            ("regressor", "relevances", -1.0, "must be finite and of at least 0"),
            ("classifier-paper", "surface.n_terms", 0, "must be finite and of at least 1"),
            ("classifier-paper", "surface.lam", -0.6, "must be finite and of at least -0.5"),
        ],
    )
    def test_values_of_tensors(self, tmp_path, kind, name, value, message):
        parts = Parts(fitted_search(kind), tmp_path)
        parts.tensors[name][...] = value
        refused(parts.write(), message)

    @pytest.mark.parametrize(
        ("kind", "key", "value", "message"),
        [
            ("regressor", "alpha_", 0, "alpha_'\\] must be positive"),
            ("regressor", "alpha_", 10**308 * 9, "alpha_'\\] must be at most"),
            ("regressor", "best_score_", "much", "best_score_'\\] must be a number"),
            ("regressor", "n_search_samples_", -1, "n_search_samples_'\\] must be at least 0"),
            ("regressor", "correlation", [0.5, 0], "must be a number and two inputs"),
            ("regressor", "correlation", [2.0, 0, 1], "number from -1 to 1 and two of"),
            ("regressor", "correlation", [0.5, 0, 99], "number from -1 to 1 and two of"),
            ("regressor", "correlation", "x", "must be one of: list"),
            ("regressor", "alpha_", "1", "alpha_"),
            ("regressor", "best_score_", None, "best_score_"),
            ("regressor", "n_search_samples_", 1.5, "n_search_samples_"),
            ("regressor", "y_was_flat", 1, "y_was_flat"),
            ("regressor-outputs", "y_was_flat", True, "loo_predictions' must be .* of shape"),
            ("regressor", "free_leverage", 0.5, "free_leverage must be null"),
            ("regressor-terms", "free_leverage", None, "free_leverage must be null"),
            ("regressor-terms", "free_leverage", -0.5, "free_leverage'\\] must be at least 0"),
            ("regressor-terms", "free_constant", False, "posterior'"),
            ("regressor-terms", "effective_dof_", [1], "effective_dof_"),
            ("regressor", "basis", {}, "lacks"),
            ("classifier", "effective_dof_", 1.0, "unknown .*effective_dof_"),
            ("classifier", "free_constant", False, "unknown .*free_constant"),
            ("classifier-five", "free_constant", 0, "free_constant'\\] must be one of: bool"),
            ("classifier-five", "spectrum_", [], "unknown .*spectrum_"),
            ("classifier-five", "multilabel_", True, "probability"),
            ("classifier", "multilabel_", True, "probability"),
            ("classifier", "spectrum_", None, "the list of tensors"),
            ("classifier-paper", "spectrum_", [], "the list of tensors"),
            ("classifier", "spectrum_", [], "Spectrum refuses .* must be a pair"),
            ("classifier", "spectrum_", [1], "a component of spectrum_"),
            ("classifier", "spectrum_", [{}], "must be one of PowerDecay, GeometricDecay"),
            ("classifier", "spectrum_", [{"kind": ["x"]}], "must be one of PowerDecay"),
            ("classifier", "spectrum_", [{"kind": "os.system"}], "must be one of PowerDecay"),
            ("classifier", "spectrum_", [{"kind": "PowerDecay"}], "lacks .*interaction"),
            (
                "classifier", "spectrum_",
                [{"kind": "PowerDecay", "interaction": 1.0, "smoothness": 1.0, "code": 1}],
                "unknown .*code",
            ),
            (
                "classifier", "spectrum_",
                [{"kind": "PowerDecay", "interaction": [1.0] * 3, "smoothness": 1.0}],
                "SpectrumKernel refuses .* one number or 2",
            ),
            (
                "classifier", "spectrum_",
                [{"kind": "GeometricDecay", "interaction": 1.0, "ratio": 2.0}],
                "GeometricDecay refuses .*`ratio`",
            ),
            (
                "classifier", "spectrum_",
                [{"kind": "PowerDecay", "interaction": {"a": 1}, "smoothness": 1.0}],
                "interaction",
            ),
        ],
    )  # fmt: skip
    def test_fitted(self, tmp_path, kind, key, value, message):
        parts = Parts(fitted_search(kind), tmp_path)
        parts.entries["fitted"][key] = value
        refused(parts.write(), message)

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("left_out_by", 5, "left_out_by must be less than 5; it holds 5"),
            ("left_out_by", -1, "'left_out_by' must be .*of at least 0"),
            ("part_noise", 5.5, "part_noise must have a mean of one; it holds 5.5"),
            ("part_noise", 0.0, "'part_noise' must be finite and positive"),
            ("part_alphas", 0.0, "'part_alphas' must be finite and positive"),
            ("X_fit", np.nan, "from_arrays refuses .* column \\d holds NaN"),
            ("part_alphas", 1e-308, "alpha_ must be the middle one of part_alphas|prior_variance"),
        ],
    )
    @pytest.mark.parametrize("kind", ["regressor", "classifier-five"])
    def test_models_of_which_the_mean_is_taken(self, tmp_path, kind, name, value, message):
        parts = Parts(fitted_search(kind), tmp_path)
        parts.tensors[name][0] = value
        refused(parts.write(), message)

    @pytest.mark.parametrize("n_spectra", [0, 1, 4, 17])
    def test_numbers_of_spectra(self, tmp_path, n_spectra):
        parts = Parts(fitted_search("regressor"), tmp_path)
        spectra = parts.entries["fitted"]["spectra_"]
        assert len(spectra) == 5
        parts.entries["fitted"]["spectra_"] = (4 * spectra)[:n_spectra]
        refused(parts.write(), "spectra_ must be 2 to 16|must be float64 of shape")

    def test_the_middle_of_the_penalties(self, tmp_path):
        parts = Parts(fitted_search("regressor"), tmp_path)
        parts.entries["fitted"]["alpha_"] *= 2
        refused(parts.write(), "alpha_ must be the middle one of part_alphas")

    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("cv", [[0, 1], [2]], "parameters\\['cv'\\] must be one of: int, null"),
            ("cv", [0, 1], "parameters\\['cv'\\] must be one of: int, null"),
            ("cv", "os.system", "parameters\\['cv'\\] must be one of: int, null"),
            ("scoring", "os.system", "scoring must be .*get_scorer_names, or null; got 'os.sys"),
            ("scoring", ["accuracy"], "scoring must be"),
            ("spectrum", "loud", "'spectrum'"),
            ("alphas", "some", "'alphas'"),
            ("search_samples", 1, "'search_samples'"),
            ("verbose", "x", "'verbose'"),
            ("lambda", 1, "unknown .*lambda"),
        ],
    )
    def test_parameters(self, tmp_path, key, value, message):
        parts = Parts(fitted_search("classifier"), tmp_path)
        parts.entries["parameters"][key] = value
        refused(parts.write(), message)


def partially_fitted(kind):
    """Return a model that has learned some batches, solved for or not.

    Its sums are prescribed: which are cheaper depends on the processor.
    """
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(50, 2))
    parameters = {"n_terms": 6, "engine": "primal" if "gram" in kind else "moments"}
    if "classifier" in kind:
        model = GegenbauerClassifier(**parameters)
        model.partial_fit(X, X[:, 0] > 0.5, classes=[False, True])
    else:
        model = GegenbauerRegressor(**parameters).partial_fit(X, X[:, 0])
    if "solved" in kind:
        model.predict(X)
    return model


HALVES = ["half-regressor", "half-regressor-gram", "half-classifier-gram-solved"]


class TestHostileHalves:
    """The same for what only models learned from batches have."""

    @pytest.mark.parametrize("kind", HALVES)
    def test_every_tensor_is_needed_and_checked(self, tmp_path, kind):
        parts = Parts(partially_fitted(kind), tmp_path)
        load(parts.write())
        for name in sorted(parts.tensors):
            array = parts.tensors.pop(name)
            refused(parts.write(), "lacks")
            for bad in (array[..., np.newaxis], np.concatenate([array, array[:1]])):
                parts.tensors[name] = bad
                refused(parts.write(), r".")
            if array.dtype.kind == "f":
                parts.tensors[name] = np.full_like(array, np.nan)
                refused(parts.write(), "must be .*; it holds nan")
            parts.tensors[name] = array
        parts.tensors["other"] = np.ones(1)
        refused(parts.write(), "unknown .*other")

    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("kind", "os.system", "kind of its statistics, 'os.system', is not known"),
            ("kind", "gram", "sums has"),
            ("n_samples", -1, "n_samples'\\] must be at least 0"),
            ("n_samples", 2**63, "n_samples'\\] must be at most"),
            ("n_samples", 1.5, "must be one of: int"),
            ("weight_sum", 9 * 10**308, "weight_sum'\\] must be at most"),
            ("weight_sum", None, "must be one of"),
            ("resolution", 0.5, "out of range"),
            ("n_outputs", 0, "n_outputs'\\] must be at least 1"),
            ("n_outputs", 2, "sums has"),
            ("n_outputs", 10**9, "cannot have 1000000000 outputs"),
            ("n_outputs", 2**59 - 32, "n_outputs'\\] must be at most"),
            ("n_out_of_range", "x", "must be one of: int"),
            ("y_was_flat", 1, "must be one of: bool"),
            ("solved", True, "lacks"),
            ("solved", None, "."),
            ("position", [1], "a number of batches and a fingerprint"),
            ("position", ["a", "b"], "a number of batches and a fingerprint"),
            ("position", [-1, "b"], "a number of batches and a fingerprint"),
            ("code", 1, "unknown .*code"),
        ],
    )
    def test_entries(self, tmp_path, key, value, message):
        parts = Parts(partially_fitted("half-regressor"), tmp_path)
        entry = parts.entries["fitted"]["statistics"]
        assert entry["kind"] == "moments"
        entry[key] = value
        if key == "n_outputs":
            if 1 <= value <= 10**9:
                refused(parts.write(), "tensor 'shift' must be")
            entry |= {
                "shifted": False,
                "y_was_flat": False,
            }  # as in older files, of several outputs
            del parts.tensors["shift"]
        refused(parts.write(), message)

    @pytest.mark.parametrize("kind", HALVES)
    def test_dimensions_of_y(self, tmp_path, kind):
        parts = Parts(partially_fitted(kind), tmp_path)
        entry = parts.entries["fitted"]["statistics"]
        entry["y_was_flat"] = not entry["y_was_flat"]
        if "classifier" in kind:
            refused(parts.write(), "y_was_flat is False")
        else:  # a column is as good as an array
            assert load(parts.write()).predict([[0.5, 0.5]]).shape == (1, 1)

    def test_no_object(self, tmp_path):
        parts = Parts(partially_fitted("half-regressor"), tmp_path)
        for bad in ([], 1, None):
            parts.entries["fitted"]["statistics"] = bad
            refused(parts.write(), r".")

    def test_classes_and_outputs_agree(self, tmp_path):
        parts = Parts(partially_fitted("half-classifier-gram-solved"), tmp_path)
        parts.entries["fitted"]["statistics"] |= {"n_outputs": 3, "shifted": False}
        del parts.tensors["shift"]
        refused(parts.write(), "cannot have 3 outputs")

    @pytest.mark.parametrize("bad", [1, [1, 2], [[1]], [["a", "b"], [0, 1]], [[1, 0], [0, 1]]])
    def test_bounds(self, tmp_path, bad):
        parts = Parts(partially_fitted("half-regressor"), tmp_path)
        parts.entries["parameters"]["bounds"] = bad
        if bad == [[1, 0], [0, 1]]:  # a parameter like any other: found when it is used
            with pytest.raises(ValueError, match="bounds"):
                load(parts.write()).partial_fit([[0.5, 0.5]], [1.0])
        else:
            refused(parts.write(), "bounds must be a list of pairs")


SAMPLES: dict[str, tuple[Path, bytes]] = {}


def sample(tmp_path_factory, kind):
    """Write one good file of a kind, once: hypothesis runs a test many times."""
    if kind not in SAMPLES:
        folder = tmp_path_factory.mktemp("fuzz")
        make = fitted if kind in KINDS else partially_fitted if kind in HALVES else fitted_search
        save(make(kind), folder / "good")
        SAMPLES[kind] = folder, (folder / "good").read_bytes()
    return SAMPLES[kind]


@pytest.mark.parametrize("kind", ["classifier-str", "regressor-terms", *HALVES])
def test_every_flipped_bit_is_found(tmp_path_factory, kind):
    folder, good = sample(tmp_path_factory, kind)
    path = folder / "flipped"
    places = np.unique(np.linspace(0, len(good) - 1, 200).astype(int))
    for place in places.tolist():
        bad = bytearray(good)
        bad[place] ^= 1 << place % 8
        path.write_bytes(bad)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelVersionWarning)
            with pytest.raises(ModelFileError):
                load(path)


@pytest.mark.parametrize(
    "kind",
    ["classifier-str", "classifier-binary", "regressor-terms", "regressor-weights", *HALVES],
)
@given(
    st.lists(
        st.tuples(st.integers(0, 2**16), st.integers(0, 255)),
        min_size=1,
        max_size=8,
    ),
    st.integers(-64, 64),
)
@example([(0, 255)], 0)
@example([(7, 128)], 0)
def test_damaged_bytes_never_do_more_than_be_refused(tmp_path_factory, kind, changes, cut):
    folder, good = sample(tmp_path_factory, kind)
    bad = bytearray(good)
    for place, value in changes:
        bad[place % len(bad)] = value
    bad = bad[:cut] if cut < 0 else bad + bytes(cut)
    path = folder / "bad"
    path.write_bytes(bad)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelVersionWarning)
        try:
            model = load(path)
        except ModelFileError:
            return
    assert type(model).__name__ in _format.ESTIMATORS
    if kind in KINDS:
        assert model.predict([[0.5, 0.5]]).shape == (1,)


def test_a_model_is_saved_as_it_is_when_save_is_called(tmp_path, monkeypatch):
    """What another thread learns meanwhile belongs to the next file."""
    X = np.linspace(0, 1, 40)[:, np.newaxis]
    model = GegenbauerRegressor(n_terms=4, alpha=1e-9, bounds=[[0, 1]])
    model.partial_fit(X, X[:, 0])
    original = GegenbauerRegressor._validate_params

    def meanwhile(self):
        original(self)
        if self is not model and model.n_samples_seen_ == 40:
            model.partial_fit(X, 1 - X[:, 0])

    monkeypatch.setattr(GegenbauerRegressor, "_validate_params", meanwhile)
    save(model, tmp_path / "model.safetensors")
    assert model.n_samples_seen_ == 80
    same = load(tmp_path / "model.safetensors")
    assert same.n_samples_seen_ == 40
    assert_allclose(same.predict(X), X[:, 0], atol=1e-2)
