"""Dask's collections with categories and missing values, judged by fits in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("dask.dataframe")

import dask
import dask.array as da
import dask.dataframe as dd

import gegenbauer
from gegenbauer import GramStatistics, PowerDecay, Spectrum
from gegenbauer.dask import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
)
from gegenbauer.errors import StreamError

GIVEN = {"degree": 3, "n_terms": None, "alpha": 0.1}

Q = (0.5, 0.3, 0.2, 0.4)


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def table(n=400, seed=0):
    """Two numbers, of which one has gaps, a category of four levels, and truth values."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "x": rng.uniform(2, 5, size=n),
            "colour": rng.choice(["blue", "green", "red", "white"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "z": 5.0 + rng.normal(size=n),
            "old": rng.random(n) < 0.3,
        }
    )
    X.loc[rng.random(n) < 0.2, "z"] = np.nan
    X.loc[:99, "z"] = np.nan  # a whole partition
    X.loc[100:199, "colour"] = "blue"
    y = np.sin(2 * X.x) * (X.colour == "blue") + 1.0 * X.z.isna() + X.old * X.z.fillna(0.0)
    return X, y.to_numpy() + 0.1 * rng.normal(size=n)


def collections(X, y, n=4):
    frame = dd.from_pandas(X.assign(y=y), npartitions=n)
    return frame[list(X.columns)], frame["y"]


class TestGivenTerms:
    @pytest.mark.parametrize("spectrum", [None, PowerDecay(Q, 1.0)])
    def test_is_the_fit_in_memory(self, spectrum):
        X, y = table()
        given = {**GIVEN, "spectrum": spectrum}
        expected = gegenbauer.GegenbauerRegressor(**given).fit(X, y)
        dX, dy = collections(X, y)
        model = GegenbauerRegressor(**given, missing="indicator").fit(dX, dy)
        assert model.categories_ == expected.categories_
        assert model.basis_ == expected.basis_
        assert model.scaling_ == expected.scaling_
        np.testing.assert_allclose(model.predict(dX).compute(), expected.predict(X), atol=1e-9)
        np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-9)
        assert model.score(dX, dy) == pytest.approx(expected.score(X, y), abs=1e-9)
        np.testing.assert_allclose(model.to_local().predict(X), expected.predict(X), atol=1e-9)

    def test_classes_with_weights(self):
        X, y = table()
        labels = pd.Series(np.where(y > 0.5, "high", "low"))
        weight = pd.Series(np.random.default_rng(1).integers(0, 3, len(y)).astype(float))
        given = {**GIVEN, "class_weight": {"high": 3.0}}
        expected = gegenbauer.GegenbauerClassifier(**given).fit(X, labels, sample_weight=weight)
        frame = dd.from_pandas(X.assign(y=labels, w=weight), npartitions=4)
        model = GegenbauerClassifier(**given, missing="indicator")
        model.fit(frame[list(X.columns)], frame["y"], sample_weight=frame["w"])
        assert model.basis_ == expected.basis_
        found, wanted = model.decision_function(X), expected.decision_function(X)
        np.testing.assert_allclose(found, wanted, atol=1e-9)

    def test_columns_of_arrays(self):
        X, y = table()
        codes = X.colour.map({"blue": 7.0, "green": 8.0, "red": 9.0, "white": 11.0})
        numbers = np.column_stack([X.x, codes])
        expected = gegenbauer.GegenbauerRegressor(**GIVEN, categorical_features=[1]).fit(numbers, y)
        model = GegenbauerRegressor(**GIVEN, categorical_features=[1])
        dX = da.from_array(numbers, chunks=(90, 2))
        model.fit(dX, da.from_array(y, chunks=90))
        assert model.basis_ == expected.basis_
        np.testing.assert_allclose(
            model.predict(dX).compute(), expected.predict(numbers), atol=1e-9
        )

    def test_partial_fit_goes_on_with_the_levels(self):
        X, y = table()
        dX, dy = collections(X, y)
        model = GegenbauerRegressor(**GIVEN, missing="indicator").fit(dX, dy)
        model.partial_fit(dX, dy).partial_fit(X[:50], y[:50])
        assert model.n_samples_seen_ == 850
        both = GegenbauerRegressor(**GIVEN, missing="indicator").fit(dX, dy) + model
        assert both.n_samples_seen_ == 1250
        other = GegenbauerRegressor(**GIVEN, missing="indicator").fit(
            *collections(X[200:], y[200:])
        )
        with pytest.raises(ValueError, match="only if they know the same levels"):
            other + model

    def test_missing_values_by_default(self):
        X, y = table()
        dX, dy = collections(X, y)
        with pytest.raises(StreamError, match=r"partition \d: .*NaN(.|\n)*column 2 \('z'\)"):
            GegenbauerRegressor(**GIVEN).fit(dX, dy)
        with pytest.raises(StreamError, match=r"column 1 \('colour'\)"):
            GegenbauerRegressor(**GIVEN, categorical_features=None).fit(dX, dy)

    def test_numbers_take_one_pass(self, monkeypatch):
        from gegenbauer.dask import _base

        X, y = table()
        dX, dy = collections(X[["x"]], y)
        monkeypatch.setattr(_base, "find_levels", None)
        model = GegenbauerRegressor(**GIVEN).fit(dX, dy)
        expected = gegenbauer.GegenbauerRegressor(**GIVEN).fit(X[["x"]], y)
        np.testing.assert_allclose(model.predict(X[["x"]]), expected.predict(X[["x"]]), atol=1e-9)

    def test_features(self):
        X, y = table()
        dX, _ = collections(X, y)
        expected = gegenbauer.GegenbauerFeatures(degree=2).fit(X)
        features = GegenbauerFeatures(degree=2, missing="indicator").fit(dX)
        assert features.basis_ == expected.basis_
        found = features.transform(dX).compute()
        np.testing.assert_allclose(found, expected.transform(X), atol=1e-13)
        assert list(found.columns) == expected.get_feature_names_out().tolist()


class TestChosen:
    def test_penalty_is_that_of_refits(self):
        X, y = table()
        alphas = [1e-3, 1e-1, 10.0]
        dX, dy = collections(X, y)
        model = GegenbauerRegressorCV(
            spectrum=PowerDecay(Q, 1.0), alphas=alphas, n_terms=80, missing="indicator"
        )
        model.fit(dX, dy)
        whole = gegenbauer.GegenbauerRegressorCV(
            spectrum=PowerDecay(Q, 1.0), alphas=alphas, n_terms=80, bounds=None
        ).fit(X, y)
        assert model.categories_ == whole.categories_
        assert model.basis_ == whole.basis_
        assert model.basis_.spectrum == Spectrum(PowerDecay(Q, 1.0), whole._levels)
        np.testing.assert_allclose(model.scaling_.lower, whole.scaling_.lower, rtol=1e-12)
        codes = whole._validate_inputs(X, reset=False)
        sums = GramStatistics.from_data(model.basis_, codes, y, scaling=model.scaling_)
        expected = sums.solve(model.alpha_, penalize_constant=False).weights[:, 0]
        G = model.basis_.evaluate(codes, scaling=model.scaling_)
        np.testing.assert_allclose(model.predict(X), G @ expected, atol=1e-8)
        # samples are dealt to folds in turn, each partition beginning with the next fold
        parts = [len(part) for part in dX.partitions]
        fold = np.concatenate([(np.arange(n) + k) % 5 for k, n in enumerate(parts)])
        scores = []
        for alpha in alphas:
            errors = np.empty(len(y))
            for k in range(5):
                out = fold == k
                rest = GramStatistics.from_data(
                    model.basis_, codes[~out], y[~out], scaling=model.scaling_
                )
                weights = rest.solve(alpha, penalize_constant=False).weights[:, 0]
                errors[out] = y[out] - G[out] @ weights
            scores.append(-np.mean(errors**2) / np.var(y))
        np.testing.assert_allclose(model.alpha_results_["score"], scores, rtol=1e-6)

    def test_classes_and_landmarks(self):
        X, y = table()
        labels = np.where(y > 0.5, "high", "low")
        frame = dd.from_pandas(X.assign(y=labels), npartitions=4)
        dX, dy = frame[list(X.columns)], frame["y"]
        model = GegenbauerClassifierCV(
            spectrum=PowerDecay(Q, 1.0), missing="indicator", out_of_range="clip"
        )
        model.fit(dX, dy)
        assert model.score(dX, dy) > 0.95
        assert model.predict_proba(dX).compute().to_numpy().sum(axis=1) == pytest.approx(1.0)
        Z = X[:5].assign(colour="violet")
        unknown = model.to_local().decision_function(Z)
        assert np.isfinite(unknown).all()

    def test_the_papers_basis_takes_numbers_alone(self):
        X, y = table()
        dX, dy = collections(X, y)
        with pytest.raises(ValueError, match="`spectrum=None` takes numbers alone"):
            GegenbauerRegressorCV(spectrum=None, categorical_features=["colour"]).fit(dX, dy)
