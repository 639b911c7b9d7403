"""Fitted models in the formats of others: pickle, joblib, skops and MLflow."""

from __future__ import annotations

import functools
import importlib
import inspect
import io
import pickle
import re
import warnings
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
)
from gegenbauer.persistence import trusted_types

pytestmark = pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")

PAGE = Path(__file__).parents[2] / "docs" / "interoperability.md"
SPECTRUM = (0.5, 2.0)


def numbers():
    return np.random.default_rng(0).uniform(size=(60, 2))


@functools.cache
def table():
    X, rng = numbers(), np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=["x", "z"])
    frame["colour"] = pd.Categorical(rng.choice(["red", "blue", "green"], 60))
    frame.loc[::7, "z"] = np.nan
    return frame


def targets():
    X = numbers()
    return np.sin(3 * X[:, 0]) + X[:, 1]


def labels():
    return np.where(targets() > 1.2, "high", "low")


def encoded(model):
    encode = make_column_transformer(
        (OneHotEncoder(), ["colour"]), remainder="passthrough", verbose_feature_names_out=False
    )
    return make_pipeline(encode, model)


# What each of them holds differs: between them they hold all that an estimator may
MODELS = {
    "features": lambda: GegenbauerFeatures(degree=3).fit(table()),
    "paper": lambda: GegenbauerRegressor(n_terms=10).fit(numbers(), targets()),
    "decays": lambda: GegenbauerRegressor(n_terms=10, spectrum=SPECTRUM).fit(table(), targets()),
    "classifier": lambda: GegenbauerClassifier(n_terms=10).fit(table(), labels()),
    "moments": lambda: GegenbauerRegressor(n_terms=6, engine="moments").partial_fit(
        numbers(), targets()
    ),
    "Gram": lambda: GegenbauerClassifier(n_terms=6, engine="primal").partial_fit(
        numbers(), labels(), classes=["high", "low"]
    ),
    "five spectra": lambda: GegenbauerRegressorCV().fit(table(), targets()),
    "one spectrum": lambda: GegenbauerRegressorCV(intervals="one_spectrum").fit(table(), targets()),
    "landmarks": lambda: GegenbauerRegressorCV(kernel_samples=0).fit(table(), targets()),
    "terms": lambda: GegenbauerRegressorCV(n_terms=10).fit(table(), targets()),
    "paper CV": lambda: GegenbauerRegressorCV(spectrum=None, n_terms=[3, 6]).fit(
        numbers(), targets()
    ),
    "range": lambda: GegenbauerClassifierCV(spectrum=None, n_terms=range(3, 9, 3)).fit(
        numbers(), labels()
    ),
    "classifier CV": lambda: GegenbauerClassifierCV().fit(table(), labels()),
    "classes of five spectra": lambda: GegenbauerClassifierCV(n_spectra=5).fit(table(), labels()),
    "paper's classes": lambda: GegenbauerClassifierCV(spectrum=None, n_terms=[3, 6]).fit(
        numbers(), labels()
    ),
    "stream": lambda: GegenbauerRegressorCV(spectrum=SPECTRUM, n_terms=8).fit_stream(
        [(numbers(), targets())]
    ),
    "pipeline": lambda: encoded(GegenbauerRegressorCV(spectrum=SPECTRUM)).fit(table(), targets()),
    "pipeline of classes": lambda: encoded(GegenbauerClassifier(n_terms=10)).fit(table(), labels()),
    "pipeline of features": lambda: make_pipeline(GegenbauerFeatures(degree=2), Ridge()).fit(
        table(), targets()
    ),
}


@functools.cache
def fitted(name):
    return MODELS[name]()


def outputs(model):
    """Return all that a model predicts of samples that it has seen, and of which it may not."""
    seen = getattr(model, "feature_names_in_", None)
    X = numbers()[:20] if seen is None else table()[:20]
    calls = ("predict", "predict_proba", "decision_function", "predict_interval", "transform")
    found = [getattr(model, name)(X) for name in calls if hasattr(model, name)]
    assert found
    return found


def check_same(other, model):
    assert type(other) is type(model)
    for one, another in zip(outputs(other), outputs(model), strict=True):
        np.testing.assert_array_equal(one, another)


@pytest.mark.parametrize("name", MODELS)
class TestPickles:
    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_of_every_protocol(self, name, protocol):
        check_same(pickle.loads(pickle.dumps(fitted(name), protocol)), fitted(name))

    def test_of_others(self, name):
        file = io.BytesIO()
        joblib.dump(fitted(name), file)
        file.seek(0)
        check_same(joblib.load(file), fitted(name))
        check_same(pickle.loads(cloudpickle.dumps(fitted(name))), fitted(name))


class TestSkops:
    @pytest.fixture
    def skops_io(self):
        return pytest.importorskip("skops.io")

    @pytest.mark.parametrize("name", MODELS)
    def test_round_trip_of_trusted_types(self, skops_io, name):
        data = skops_io.dumps(fitted(name))
        assert {*skops_io.get_untrusted_types(data=data)} <= {*trusted_types()}
        check_same(skops_io.loads(data, trusted=trusted_types()), fitted(name))

    def test_no_type_is_trusted_without_need(self, skops_io):
        held = (skops_io.get_untrusted_types(data=skops_io.dumps(fitted(one))) for one in MODELS)
        assert {kind for kinds in held for kind in kinds} == {*trusted_types()}

    def test_nothing_is_trusted_without_a_request(self, skops_io):
        with pytest.raises(TypeError, match="Untrusted types found"):
            skops_io.loads(skops_io.dumps(fitted("paper")))


def test_trusted_types_are_those_of_the_page():
    """And they exist: each in the module that its name gives."""
    text = PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"`(gegenbauer\.[a-z_.]+\.[A-Z]\w+|builtins\.\w+)`", text)
    assert sorted(listed) == sorted(trusted_types()) == trusted_types()
    for name in trusted_types():
        module, _, kind = name.rpartition(".")
        assert inspect.isclass(getattr(importlib.import_module(module), kind))


class TestMlflow:
    @pytest.fixture
    def mlflow(self, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pytest.importorskip("mlflow.sklearn")
            return pytest.importorskip("mlflow.pyfunc")

    @pytest.mark.filterwarnings("ignore")  # of others, who load what they wrote
    @pytest.mark.parametrize("form", ["pickle", "cloudpickle", "skops"])
    @pytest.mark.parametrize(
        "name", ["paper", "five spectra", "classifier CV", "pipeline", "pipeline of classes"]
    )
    def test_round_trip(self, mlflow, name, form):
        from mlflow import sklearn as formats

        options = {"serialization_format": form, "pip_requirements": ["gegenbauer"]}
        if form == "skops":
            if "skops_trusted_types" not in inspect.signature(formats.save_model).parameters:
                pytest.skip("this MLflow writes no skops")
            options["skops_trusted_types"] = trusted_types()
        model = fitted(name)
        formats.save_model(model, "model", **options)
        check_same(formats.load_model("model"), model)
        X = table() if hasattr(model, "feature_names_in_") else numbers()
        served = mlflow.load_model("model").predict(X)
        np.testing.assert_array_equal(served, model.predict(X))
