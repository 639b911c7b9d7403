"""Estimators on Dask collections, on clusters of real processes that the tests start."""

from __future__ import annotations

import contextlib
import copy
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import forkserver
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import r2_score
from sklearn.model_selection import PredefinedSplit

import gegenbauer
from gegenbauer.errors import OutOfRangeWarning, PenalizedConstantWarning, StreamError

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

import dask  # noqa: E402

from gegenbauer.dask import (  # noqa: E402
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
)
from gegenbauer.dask.first_pass import Folds, Sample  # noqa: E402

N, CHUNK = 1000, 130
NAMES = ["a", "b", "c"]


@contextlib.contextmanager
def cluster(n_workers):
    """Start workers by forks of a process that has imported what each would import for seconds."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["dask.dataframe", "distributed", "gegenbauer.dask", "sklearn"])
    forkserver.ensure_running()
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}),
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0",
            silence_logs=50,
        ) as started,
        distributed.Client(started) as client,
    ):  # fmt: skip
        yield client


@pytest.fixture(scope="module")
def two():
    """A client of two worker processes, the current one of the tests that use it.

    Its scheduler does not take work, and with it the rows, from one worker to another.
    """
    with dask.config.set({"distributed.scheduler.work-stealing": False}), cluster(2) as client:
        yield client


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3)) * [1.0, 5.0, 0.1] + [0.0, 100.0, 0.0]
    y = np.sin(X[:, 0]) + (X[:, 1] - 100.0) * X[:, 2] + 0.1 * rng.normal(size=N)
    return X, y


@pytest.fixture(scope="module")
def wide():
    """Samples of six inputs, of which a thousand terms are not nearly all."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 3, size=(N, 6))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 3 + 0.2 * rng.normal(size=N)


@pytest.fixture(scope="module")
def labels(rows):
    return np.array(["low", "middle", "top"])[np.digitize(rows[1], [-0.5, 0.5])]


def chunked(*arrays, chunk=CHUNK):
    return [da.from_array(a, chunks=(chunk, *a.shape[1:])) for a in arrays]


def framed(X, y, npartitions=7):
    table = dd.from_pandas(pd.DataFrame(X, columns=NAMES).assign(target=y), npartitions=npartitions)
    return table[NAMES], table["target"]


def unknown(array):
    """The same rows in chunks whose sizes Dask does not know."""
    kept = array[da.ones(array.shape[0], chunks=array.chunks[0], dtype=bool)]
    assert np.isnan(kept.chunks[0]).all()
    return kept


def equal(one, other):
    """Whether partially fitted models and their solutions are bitwise identical."""
    same = one.statistics_ == other.statistics_ and np.array_equal(one.term_coef_, other.term_coef_)
    return same and one.scaling_ == other.scaling_


class TestRegressor:
    @pytest.mark.parametrize("kind", ["known", "unknown", "frame"])
    def test_equals_a_fit_of_all_rows(self, rows, kind):
        X, y = rows
        if kind == "frame":
            parts = framed(X, y)
        else:
            parts = chunked(X, y) if kind == "known" else map(unknown, chunked(X, y))
        model = GegenbauerRegressor(n_terms=50).fit(*parts)
        local = gegenbauer.GegenbauerRegressor(n_terms=50).fit(X, y)
        assert model.n_samples_seen_ == N
        assert model.scaling_ == local.scaling_
        np.testing.assert_allclose(model.predict(X if kind != "frame" else pd.DataFrame(
            X, columns=NAMES)), local.predict(X), rtol=0, atol=1e-10)  # fmt: skip

    def test_equals_partial_fit_of_the_partitions_merged_in_a_tree(self, rows):
        X, y = rows
        model = GegenbauerRegressor(n_terms=50).fit(*chunked(X, y))
        starts = range(0, N, CHUNK)
        parts = [
            gegenbauer.GegenbauerRegressor(n_terms=50).partial_fit(
                X[i : i + CHUNK], y[i : i + CHUNK]
            )
            for i in starts
        ]
        assert equal(model, sum(parts[:4]) + sum(parts[4:]))

    def test_weights_and_outputs(self, rows):
        X, y = rows
        Y, weight = np.column_stack([y, 2 * y**2]), np.random.default_rng(1).integers(0, 3, N)
        dX, dY, dw = chunked(X, Y, weight)
        model = GegenbauerRegressor(n_terms=30).fit(dX, dY, sample_weight=dw)
        local = gegenbauer.GegenbauerRegressor(n_terms=30).fit(X, Y, sample_weight=weight)
        found = model.predict(dX)
        assert found.shape == (N, 2)
        assert found.chunks == (dX.chunks[0], (2,))
        np.testing.assert_allclose(found.compute(), local.predict(X), rtol=0, atol=1e-9)
        whole = gegenbauer.GegenbauerRegressor(n_terms=30).fit(X, Y, sample_weight=2.0)
        model.fit(dX, dY, sample_weight=2.0)
        np.testing.assert_allclose(model.term_coef_, whole.term_coef_, rtol=0, atol=1e-7)

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.PenalizedConstantWarning")
    def test_score_adds_up(self, rows):
        X, y = rows
        Y, weight = np.column_stack([y, 1e6 + y**2]), np.random.default_rng(1).integers(0, 3, N)
        dX, dY, dw = chunked(X, Y, weight)
        model = GegenbauerRegressor(n_terms=30).fit(dX, dY)
        expected = r2_score(Y, model.predict(X), sample_weight=weight)
        assert model.score(dX, dY, dw) == pytest.approx(expected, rel=1e-9)
        assert model.score(X, Y, weight) == pytest.approx(expected, rel=1e-12)
        line = GegenbauerRegressor(n_terms=1, alpha=0).fit(dX, da.ones(N, chunks=CHUNK))
        assert line.score(dX, da.ones(N, chunks=CHUNK)) == 1.0
        assert line.score(dX, 2 * da.ones(N, chunks=CHUNK)) == 0.0

    def test_partitions_may_be_empty_and_of_unequal_dtype(self, rows):
        X, y = rows
        dX = da.from_array(X, chunks=((100, 100, 100, 0, 350, 350), 3))
        mixed = da.map_blocks(
            lambda x: x.astype(np.float32) if len(x) == 100 else x, dX, dtype=np.float64
        )
        dy = da.from_array(y, chunks=dX.chunks[0])
        model = GegenbauerRegressor(n_terms=20).fit(mixed, dy)
        assert model.n_samples_seen_ == N
        assert model.statistics_.resolution == np.finfo(np.float32).eps
        found = model.predict(dX)
        assert found.chunks[0] == (100, 100, 100, 0, 350, 350)
        np.testing.assert_allclose(found.compute(), model.predict(X), rtol=0, atol=1e-5)

    def test_a_frame_with_empty_partitions(self, rows):
        X, y = rows
        frame, target = framed(X, y)
        far = frame[frame["b"] > 112]
        model = GegenbauerRegressor(n_terms=4).fit(far, target[frame["b"] > 112])
        assert model.n_samples_seen_ == (X[:, 1] > 112).sum() < 7
        assert len(model.predict(far).compute()) == model.n_samples_seen_

    def test_all_partitions_empty(self, rows):
        frame, target = framed(*rows)
        with pytest.raises(ValueError, match=r"X holds no samples .* in any of its 7 partitions"):
            GegenbauerRegressor(n_terms=4).fit(frame[frame["b"] > 1e3], target[frame["b"] > 1e3])
        dX, dy = chunked(*rows)
        with pytest.raises(ValueError, match=r"X holds no samples .of positive weight"):
            GegenbauerRegressor(n_terms=4).fit(dX, dy, da.zeros(N, chunks=CHUNK))

    def test_partial_fit_goes_on(self, rows):
        X, y = rows
        first, second = [chunked(X[s], y[s], chunk=100) for s in (slice(400), slice(400, N))]
        model = GegenbauerRegressor(n_terms=50).partial_fit(*first).partial_fit(*second)
        model.partial_fit(X[:10], y[:10])
        local = gegenbauer.GegenbauerRegressor(n_terms=50).fit(
            np.vstack([X, X[:10]]), np.append(y, y[:10])
        )
        # predicting solves, also where nobody has read the weights
        found = model.predict(first[0]).compute()
        np.testing.assert_allclose(found, local.predict(X[:400]), rtol=0, atol=1e-10)
        both = GegenbauerRegressor(n_terms=50).fit(*first) + GegenbauerRegressor(n_terms=50).fit(
            *second
        )
        assert isinstance(both, GegenbauerRegressor)
        assert both.n_samples_seen_ == N
        assert both.choose_alpha().alpha_results_["alpha"].size == 61

    def test_rows_out_of_a_given_range(self, rows):
        options = {"n_terms": 10, "bounds": [[-2, 2], [90, 110], [-1, 1]]}
        outside = int(((np.abs(rows[0] - [0, 100, 0]) > [2, 10, 1]).any(axis=1)).sum())
        with pytest.warns(
            OutOfRangeWarning, match=f"{outside} of {len(rows[0])} samples lie outside"
        ):
            model = GegenbauerRegressor(**options).fit(*chunked(*rows))
        assert model.n_out_of_range_ == outside > 0
        with pytest.raises(StreamError, match=r"partition . \(rows .*\): .* samples lie outside"):
            GegenbauerRegressor(**options, out_of_range="error").fit(*chunked(*rows))


class TestClassifier:
    def test_labels_that_partitions_lack(self, rows, labels):
        order = np.argsort(labels, kind="stable")  # each partition has one class or two
        X, y = rows[0][order], labels[order]
        dX, dy = chunked(X, y)
        model = GegenbauerClassifier(n_terms=50).fit(dX, dy)
        local = gegenbauer.GegenbauerClassifier(n_terms=50).fit(X, y)
        assert model.classes_.tolist() == ["low", "middle", "top"]
        outputs = model.decision_function(dX)
        assert outputs.chunks == (dX.chunks[0], (3,))
        np.testing.assert_allclose(
            outputs.compute(), local.decision_function(X), rtol=0, atol=1e-10
        )
        found = model.predict(dX)
        assert found.dtype == y.dtype
        assert found.compute().tolist() == local.predict(X).tolist()
        assert model.score(dX, dy) == pytest.approx(local.score(X, y), abs=1e-15)

    @pytest.mark.parametrize("form", ["array", "frame", "in memory"])
    @pytest.mark.parametrize("search", [False, True])
    def test_labels_in_a_column(self, rows, labels, form, search):
        """As in memory: taken, with the warning of scikit-learn, and once."""
        X, y = rows[0][:400], labels[:400]
        cls = GegenbauerClassifierCV if search else GegenbauerClassifier
        options = {"spectrum": (0.5, 2.0)} if search else {}
        dX, dy = chunked(X, y, chunk=100)
        expected = cls(n_terms=30, **options).fit(dX, dy)
        column = y[:, np.newaxis]
        if form == "array":
            column = da.from_array(column, chunks=(100, 1))
        elif form == "frame":
            column = dd.from_pandas(pd.DataFrame({"label": y}), npartitions=4)
        with pytest.warns(DataConversionWarning, match="column-vector y was passed") as caught:
            model = cls(n_terms=30, **options).fit(dX, column)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert model.classes_.tolist() == ["low", "middle", "top"]
        found = model.to_local().decision_function(X)
        np.testing.assert_array_equal(found, expected.to_local().decision_function(X))

    @pytest.mark.parametrize("weighted", [False, True])
    def test_balanced_classes(self, rows, labels, weighted):
        X, y = rows[0], labels
        weight = np.random.default_rng(1).integers(0, 3, N) if weighted else None
        dX, dy, *dw = chunked(X, y, *([weight] if weighted else []))
        model = GegenbauerClassifier(n_terms=30, class_weight="balanced").fit(dX, dy, *dw)
        local = gegenbauer.GegenbauerClassifier(n_terms=30, class_weight="balanced")
        local.fit(X, y, weight)
        np.testing.assert_allclose(
            model.decision_function(X), local.decision_function(X), rtol=0, atol=1e-10
        )
        assert model.class_weight == "balanced"
        used = model.to_local().class_weight
        rows_of = np.ones(N) if weight is None else weight
        assert used == {
            label: pytest.approx(rows_of.sum() / 3 / rows_of[y == label].sum())
            for label in ("low", "middle", "top")
        }
        with pytest.raises(ValueError, match="cannot be merged"):
            model + model
        with pytest.raises(ValueError, match="go on with to_local"):
            model.partial_fit(dX, dy)

    def test_multilabel(self, rows):
        X, y = rows
        Y = np.column_stack([y > 0, X[:, 0] > 0]).astype(int)
        dX, dY = chunked(X, Y)
        model = GegenbauerClassifier(n_terms=30).fit(dX, dY)
        local = gegenbauer.GegenbauerClassifier(n_terms=30).fit(X, Y)
        found = model.predict(dX)
        assert found.shape == (N, 2)
        assert np.array_equal(found.compute(), local.predict(X))
        assert model.score(dX, dY) == pytest.approx(local.score(X, Y), abs=1e-15)
        with pytest.raises(ValueError, match="`class_weight` must be None for multilabel"):
            GegenbauerClassifier(n_terms=30, class_weight="balanced").fit(dX, dY)

    @pytest.mark.parametrize("kind", [GegenbauerClassifier, GegenbauerClassifierCV])
    def test_names_of_labels(self, rows, kind):
        X, y = rows
        table = pd.DataFrame({"high": y > 0, "right": X[:, 0] > 0}).astype(int)
        dX = dd.from_pandas(pd.DataFrame(X), npartitions=3)
        dY = dd.from_pandas(table, npartitions=3)
        options = {} if kind is GegenbauerClassifier else {"spectrum": (0.5, 2.0)}
        model = kind(n_terms=30, **options).fit(dX, dY)
        assert model.label_names_.tolist() == ["high", "right"]
        assert model.classes_.tolist() == [[0, 1], [0, 1]]
        outputs = model.decision_function(dX)
        assert outputs.columns.tolist() == ["high", "right"]
        assert len(outputs.compute()) == N
        if kind is GegenbauerClassifier:
            model.partial_fit(dX, dY)
            with pytest.raises(ValueError, match="same labels in the same order"):
                model.partial_fit(dX, dY[["right", "high"]])
        model.fit(dX, dY["high"])
        assert not hasattr(model, "label_names_")

    @pytest.mark.parametrize("kind", [GegenbauerClassifierCV, GegenbauerRegressorCV])
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"alphas": []}, "`alphas` must not be empty"),
            ({"alphas": [-1]}, "`alphas` must be a finite number greater than 0, got -1"),
            ({"lam": 0.1}, "`lam` is of the raw polynomials"),
            ({"spectrum": None, "n_terms": [5, 9]}, "must be single numbers"),
        ],
    )
    def test_parameters_are_refused_before_a_partition_is_read(self, kind, options, message):
        def read(block):
            raise AssertionError("a partition was read")

        X = da.zeros((20, 2), chunks=(10, 2)).map_blocks(read, dtype=float, meta=np.empty((0, 2)))
        with pytest.raises(ValueError, match=message):
            kind(**options).fit(X, da.zeros(20, chunks=10))

    def test_frames_keep_names_and_index(self, rows, labels):
        X, y = framed(rows[0], labels)
        model = GegenbauerClassifier(n_terms=30).fit(X, y)
        assert model.feature_names_in_.tolist() == NAMES
        found, outputs = model.predict(X), model.decision_function(X)
        assert isinstance(found, dd.Series)
        assert isinstance(outputs, dd.DataFrame)
        assert outputs.columns.tolist() == ["low", "middle", "top"]
        assert found.divisions == outputs.divisions == X.divisions
        local = model.to_local()
        whole = X.compute()
        pd.testing.assert_series_equal(
            found.compute(), pd.Series(local.predict(whole), index=whole.index),
            check_dtype=False,
        )  # fmt: skip
        assert np.array_equal(outputs.compute(), local.decision_function(whole))
        assert outputs.compute().index.equals(whole.index)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(X[["b", "a", "c"]])

    def test_a_single_class(self, rows):
        dX, _ = chunked(*rows)
        with pytest.raises(ValueError, match="at least two classes"):
            GegenbauerClassifier(n_terms=4).fit(dX, da.ones(N, chunks=CHUNK, dtype=int))

    def test_classes_that_are_announced(self, rows, labels):
        dX, dy = chunked(rows[0], labels)
        classes = ["low", "middle", "none", "top"]
        model = GegenbauerClassifier(n_terms=10).partial_fit(dX, dy, classes)
        model.partial_fit(dX, dy)
        assert model.classes_.tolist() == classes
        assert model.n_samples_seen_ == 2 * N
        with pytest.raises(StreamError, match=r"partition . \(rows .*\): y holds the label"):
            GegenbauerClassifier(n_terms=10).partial_fit(dX, dy, ["low", "top"])


class TestFeatures:
    def test_arrays_and_frames(self, rows):
        X, y = rows
        (dX,) = chunked(X)
        local = gegenbauer.GegenbauerFeatures(degree=3).fit(X)
        features = GegenbauerFeatures(degree=3).fit(unknown(dX))
        assert features.scaling_ == local.scaling_
        found = features.transform(dX)
        assert found.chunks == (dX.chunks[0], (20,))
        assert np.array_equal(found.compute(), local.transform(X))
        frame, _ = framed(X, y)
        found = GegenbauerFeatures(degree=3).fit_transform(frame)
        assert isinstance(found, dd.DataFrame)
        assert found.columns.tolist() == local.get_feature_names_out(NAMES).tolist()
        assert np.array_equal(found.compute(), local.transform(X))

    def test_float32(self, rows):
        (dX,) = chunked(rows[0].astype(np.float32))
        features = GegenbauerFeatures(degree=2).fit(dX)
        assert features.transform(dX).dtype == np.float32
        assert features.transform(dX).compute().dtype == np.float32


PARTS = (130, 0, 270, 1, 599)
FOLDS = np.concatenate([(np.arange(size) + number) % 5 for number, size in enumerate(PARTS)])


def unequal(*arrays):
    return [da.from_array(a, chunks=(PARTS, *a.shape[1:])) for a in arrays]


class TestSearch:
    """K-fold by subtraction is the plain search with the same folds, where every row is sampled."""

    def test_what_the_penalty_on_the_constant_costs(self):
        """A sample of 1000 shows it as all samples do: by its share of alpha."""
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (6000, 2))
        y = X[:, 0] + 0.1 * rng.normal(size=6000) + 600.0
        options = {"spectrum": None, "n_terms": 20, "penalize_constant": True, "alphas": [3.0]}
        costs = []
        for model, data in [
            (gegenbauer.GegenbauerRegressorCV(**options), (X, y)),
            (
                GegenbauerRegressorCV(**options, search_samples=1000),
                (da.from_array(X, chunks=(1000, 2)), da.from_array(y, chunks=1000)),
            ),
        ]:
            with pytest.warns(PenalizedConstantWarning) as caught:
                model.fit(*data)
            (warning,) = [w for w in caught if w.category is PenalizedConstantWarning]
            costs.append(float(str(warning.message).partition("off by some ")[2].split()[0]))
        assert costs[0] == pytest.approx(costs[1], rel=0.15)

    @pytest.mark.parametrize(
        "options",
        [
            {"n_terms": 40},
            {"n_terms": 60, "spectrum": (0.5, 2.0), "alphas": [1e-6, 1e-3, 1.0, 1e3, 1e6]},
            {"n_terms": 50, "spectrum": None, "lam": 0.5, "penalize_constant": True},
        ],
        ids=["learned", "given", "paper"],
    )
    def test_regressor(self, rows, options):
        X, y = rows
        Y = np.column_stack([y, 5 + 3 * X[:, 0] ** 2])
        dX, dY = unequal(X, Y)
        model = GegenbauerRegressorCV(**options).fit(dX, dY)
        local = gegenbauer.GegenbauerRegressorCV(
            **options, cv=PredefinedSplit(FOLDS), kernel_samples=0
        ).fit(X, Y)
        assert model.alpha_ == pytest.approx(local.alpha_, rel=1e-12)
        # Sums of rows in another order differ by eps / rcond, and a smooth spectrum that is
        # learned has an rcond of 1e-10.
        resolved = 2.0**-52 / model.rcond_
        assert model.best_score_ == pytest.approx(local.best_score_, rel=1e-9 + resolved)
        assert model.effective_dof_ == pytest.approx(local.effective_dof_, rel=1e-8)
        for found, expected in (
            (model.loo_predictions_, local.loo_predictions_),
            (model.predict(dX), local.predict(X)),
            *zip(
                model.predict(dX, return_std=True), local.predict(X, return_std=True), strict=True
            ),
            *zip(model.predict_interval(dX, 0.8), local.predict_interval(X, 0.8), strict=True),
        ):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 + resolved)
        assert np.array_equal(model.loo_targets_, Y)
        scores = model.alpha_results_["score"]
        assert model.alpha_results_["alpha"][scores.argmax()] == model.alpha_

    @pytest.mark.parametrize(
        "options",
        [
            {"n_terms": 40},
            {"n_terms": 60, "spectrum": (0.5, 2.0), "class_weight": "balanced"},
            {"n_terms": 50, "spectrum": None, "alphas": [0.01, 1.0]},
        ],
        ids=["learned", "given", "paper"],
    )
    @pytest.mark.parametrize(
        "kind", ["two", "three", pytest.param("multilabel", marks=pytest.mark.slow)]
    )
    def test_classifier(self, rows, labels, options, kind):
        X, y = rows
        labels = {
            "two": labels == "top",
            "three": labels,
            "multilabel": np.column_stack([y > 0.3, X[:, 0] > 0.5]).astype(int),
        }[kind]
        dX, dy = unequal(X, labels)
        model = GegenbauerClassifierCV(**options).fit(dX, dy)
        local = gegenbauer.GegenbauerClassifierCV(
            **options, cv=PredefinedSplit(FOLDS), kernel_samples=0
        ).fit(X, labels)
        assert model.alpha_ == pytest.approx(local.alpha_, rel=1e-12)
        assert model.best_score_ == pytest.approx(local.best_score_, rel=1e-8)
        found = model.predict_proba(dX)
        assert found.chunks == (PARTS, (3 if kind == "three" else 2,))
        np.testing.assert_allclose(found, local.predict_proba(X), rtol=0, atol=1e-6)
        np.testing.assert_allclose(
            model.loo_probabilities_, local.loo_probabilities_, rtol=0, atol=1e-6
        )
        assert np.array_equal(model.predict(dX).compute(), local.predict(X))
        assert model.score(dX, dy) == pytest.approx(local.score(X, labels), abs=1e-12)

    def test_weights(self, rows):
        X, y = rows
        weight = np.random.default_rng(1).integers(0, 3, N)
        dX, dy, dw = unequal(X, y, weight)
        options = {"n_terms": 40, "spectrum": (0.5, 2.0)}
        model = GegenbauerRegressorCV(**options).fit(dX, dy, dw)
        local = gegenbauer.GegenbauerRegressorCV(
            **options, cv=PredefinedSplit(FOLDS), kernel_samples=0
        ).fit(X, y, weight)
        np.testing.assert_allclose(model.predict(X), local.predict(X), rtol=0, atol=1e-9)
        np.testing.assert_allclose(model.noise_variance_, local.noise_variance_, rtol=1e-9)

    def test_a_class_of_weight_zero_takes_no_part(self, rows, labels):
        X, counts = rows[0], (labels != "low").astype(float)
        dX, dy, dw = chunked(X, labels, counts)
        options = {"n_terms": 20, "spectrum": (0.5, 2.0)}
        model = GegenbauerClassifierCV(**options, class_weight={"low": 0}).fit(dX, dy)
        expected = GegenbauerClassifierCV(**options).fit(dX, dy, dw)
        assert model.classes_.tolist() == ["middle", "top"]
        assert np.array_equal(model.predict_proba(X), expected.predict_proba(X))

    def test_frames_and_the_local_model(self, rows, labels, tmp_path):
        X, y = framed(rows[0], labels)
        model = GegenbauerClassifierCV((0.5, 2.0), n_terms=40, client=None).fit(X, y)
        found = model.predict_proba(X)
        assert found.columns.tolist() == ["low", "middle", "top"]
        local = model.to_local()
        assert type(local) is gegenbauer.GegenbauerClassifierCV
        assert np.array_equal(local.predict_proba(X.compute()), found.compute())
        assert "_partitions" not in local.__dict__
        assert clone(model).get_params() == model.get_params()
        assert np.array_equal(clone(model).fit(X, y).term_coef_, model.term_coef_)
        assert "scoring" not in model.get_params()
        with pytest.raises(TypeError, match="scoring"):
            GegenbauerClassifierCV(scoring="accuracy")
        pytest.importorskip("safetensors")
        gegenbauer.save(local, tmp_path / "model")
        loaded = gegenbauer.load(tmp_path / "model")
        assert np.array_equal(loaded.predict_proba(X.compute()), found.compute())

    @pytest.mark.parametrize("kind", ["regression", "two", "three"])
    def test_landmarks(self, wide, kind, monkeypatch, tmp_path):
        """Where terms hold less than 99 per cent of the weight; equal to the plain ones."""
        for module in ("_search", "_sums_search"):
            monkeypatch.setattr(
                f"gegenbauer.estimators.{module}.default_landmarks", lambda n_samples: 70
            )
        X, y = wide
        if kind != "regression":
            y = np.digitize(y, [0.0] if kind == "two" else [-0.5, 0.5])
        dX, dy = unequal(X, y)
        name = "GegenbauerRegressorCV" if kind == "regression" else "GegenbauerClassifierCV"
        options = {"spectrum": (0.5, 1.0), "penalize_constant": kind != "three"}
        model = getattr(gegenbauer.dask, name)(**options).fit(dX, dy)
        local = getattr(gegenbauer, name)(
            **options, cv=PredefinedSplit(FOLDS), kernel_samples=0
        ).fit(X, y)
        assert (model.engine_, model.n_terms_) == (local.engine_, local.n_terms_)
        assert model.engine_ == "landmarks"
        assert model.alpha_ == pytest.approx(local.alpha_, rel=1e-12)
        assert model.best_score_ == pytest.approx(local.best_score_, rel=1e-7)
        assert_allclose(model.dual_coef_, local.dual_coef_, rtol=0, atol=1e-6)
        if kind == "regression":
            assert_allclose(model.loo_predictions_, local.loo_predictions_, rtol=0, atol=1e-7)
            assert_allclose(model.predict(dX).compute(), local.predict(X), rtol=0, atol=1e-8)
            # of the plain ones, whose residuals are those of single samples
            assert model.noise_variance_ == pytest.approx(local.noise_variance_, rel=1e-6)
            assert model.effective_dof_ == pytest.approx(local.effective_dof_, rel=1e-8)
            expected = local.predict(X, return_std=True)[1]
            assert_allclose(model.predict(X, return_std=True)[1], expected, rtol=1e-6)
            assert_allclose(
                np.transpose(model.predict_interval(X)), np.transpose(local.predict_interval(X)),
                rtol=0, atol=1e-6,
            )  # fmt: skip
        else:
            expected = local.predict_proba(X)
            assert_allclose(model.predict_proba(dX).compute(), expected, rtol=0, atol=1e-7)
        pytest.importorskip("safetensors")
        gegenbauer.save(model.to_local(), tmp_path / "model")
        loaded = gegenbauer.load(tmp_path / "model")
        assert np.array_equal(loaded.predict(X), model.predict(X))

    def test_where_there_are_no_landmarks(self, wide, rows, monkeypatch):
        X, y = unequal(*wide)
        options = {"spectrum": (0.5, 1.0), "alphas": [1.0]}
        with_terms = GegenbauerRegressorCV(**options, n_terms=60).fit(X, y)
        assert (with_terms.engine_, with_terms.n_terms_) == ("moments", 60)
        unknown_sum = GegenbauerRegressorCV(spectrum=(0.5, 1.25), alphas=[1.0]).fit(X, y)
        assert unknown_sum.n_terms_ == 1000
        options["spectrum"] = 0.3, 2.0
        few_inputs = GegenbauerRegressorCV(**options).fit(X[:, :2], y)  # nearly all terms
        assert (few_inputs.engine_, few_inputs.n_terms_) == ("moments", 1000)

    @pytest.mark.parametrize("kind", ["GegenbauerRegressorCV", "GegenbauerClassifierCV"])
    def test_samples_of_no_weight_have_no_place(self, rows, kind):
        """In any rows of their partition: the folds are those of the others."""
        X, y = rows[0][:400], rows[1][:400]
        y = y if kind == "GegenbauerRegressorCV" else y > 0.0
        at = np.sort(np.random.default_rng(3).permutation(600)[:400])
        wider, more, weight = np.zeros((600, 3)), np.zeros(600, dtype=y.dtype), np.zeros(600)
        wider[at], more[at], weight[at] = X, y, 1.0
        make = getattr(gegenbauer.dask, kind)
        few = make(n_terms=30).fit(*chunked(X, y, chunk=400))
        found = make(n_terms=30).fit(*chunked(wider, more, weight, chunk=600))
        assert found.alpha_ == pytest.approx(few.alpha_, rel=1e-9)
        assert_allclose(found._raw_outputs(X), few._raw_outputs(X), rtol=0, atol=1e-9)

    def test_a_sample_of_many_rows(self, monkeypatch):
        from gegenbauer.dask import first_pass

        monkeypatch.setattr(first_pass, "SAMPLE_SIZE", 300)
        X = da.random.default_rng(0).uniform(size=(4000, 2), chunks=(500, 2))
        y = da.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * da.random.default_rng(1).normal(
            size=4000, chunks=500
        )  # fmt: skip
        model = GegenbauerRegressorCV(n_terms=50).fit(X, y)
        assert model.loo_targets_.shape == (300,)
        assert model.n_search_samples_ == 300
        assert model.noise_variance_[0] == pytest.approx(0.01, rel=0.1)
        assert -model.best_score_ * np.var(y.compute()) == pytest.approx(0.01, rel=0.1)
        lower, upper = model.predict_interval(X, 0.9)
        assert float(((lower <= y) & (y <= upper)).mean()) == pytest.approx(0.9, abs=0.03)

    def test_bitwise_identical_on_a_cluster(self, two, rows, labels):
        dX, dy = unequal(rows[0], labels)
        on_two = GegenbauerClassifierCV(n_terms=40, client=two).fit(dX, dy)
        with dask.config.set(scheduler="synchronous"):
            alone = GegenbauerClassifierCV(n_terms=40).fit(dX, dy)
        assert np.array_equal(on_two.term_coef_, alone.term_coef_)
        assert np.array_equal(on_two.loo_predictions_, alone.loo_predictions_)

    def test_errors(self, rows, labels):
        X, y = rows
        dX, dy, dl = unequal(X, y, labels)
        with pytest.raises(ValueError, match="must be single numbers"):
            GegenbauerRegressorCV(spectrum=None, lam=[0.1, 0.5]).fit(dX, dy)
        with pytest.raises(ValueError, match="fall into one of the folds of `cv=5`"):
            GegenbauerRegressorCV(n_terms=3).fit(
                da.from_array(X[:2], chunks=((1, 0, 0, 0, 0, 1), 3)),
                da.from_array(y[:2], chunks=((1, 0, 0, 0, 0, 1),)),
            )
        with pytest.raises(ValueError, match="at least two samples"):
            GegenbauerRegressorCV(n_terms=3).fit(*chunked(X[:1], y[:1]))
        with pytest.raises(ValueError, match="at least two classes"):
            GegenbauerClassifierCV(n_terms=3).fit(dX, da.ones_like(dl, dtype=int))
        with pytest.raises(
            StreamError, match=r"partition . \(rows? .*\): .*GegenbauerRegressorCV for real"
        ):
            GegenbauerClassifierCV(n_terms=3).fit(dX, dy)
        with pytest.raises(ValueError, match="cv"):
            GegenbauerRegressorCV(cv=1).fit(dX, dy)
        X = X.copy()
        X[400, 1] = np.nan
        with pytest.raises(StreamError, match=r"partition 3 \(row .*\): Input X contains NaN"):
            GegenbauerRegressorCV(n_terms=3).fit(unequal(X)[0], dy)


class TestErrors:
    def test_column_chunks(self, rows):
        X, y = rows
        cut = da.from_array(X, chunks=(CHUNK, 2))
        (dy,) = chunked(y)
        advice = r"pass X\.rechunk\({1: -1}\)"
        with pytest.raises(ValueError, match=advice):
            GegenbauerRegressor().fit(cut, dy)
        with pytest.raises(ValueError, match=advice):
            GegenbauerFeatures().fit(cut)
        model = GegenbauerRegressor(n_terms=4).fit(cut.rechunk({1: -1}), dy)
        with pytest.raises(ValueError, match=advice):
            model.predict(cut)

    @pytest.mark.parametrize("name", ["y", "sample_weight"])
    def test_partitioned_differently(self, rows, name):
        dX, dy = chunked(*rows)
        wrong = abs(dy.rechunk(500))
        given = {"y": dy, "sample_weight": da.ones(N, chunks=CHUNK), name: wrong}
        text = (
            f"X and {name} must be partitioned alike; X has 8 partitions of 130, 130, 130, 130, "
            rf"130, \.\.\. samples, {name} 2 partitions of 500, 500 samples: pass {name}\.rechunk"
        )
        with pytest.raises(ValueError, match=text):
            GegenbauerRegressor(n_terms=4).fit(dX, **given)
        given[name] = unknown(wrong)
        with pytest.raises(ValueError, match=f"X has 8 partitions and {name} 2"):
            GegenbauerRegressor(n_terms=4).fit(dX, **given)
        given[name] = unknown(abs(dy).rechunk(((130, 130, 100, 160, 130, 130, 130, 90),)))
        with pytest.raises(
            StreamError, match=rf"partition [23] \(rows .*\): X has 130 rows and {name} 1[06]0"
        ):
            GegenbauerRegressor(n_terms=4).fit(dX, **given)

    def test_y_in_memory(self, rows):
        X, y = rows
        dX, dy = chunked(X, y)
        model = GegenbauerRegressor(n_terms=20).fit(dX, y.tolist(), pd.Series(np.ones(N)))
        assert equal(model, GegenbauerRegressor(n_terms=20).fit(dX, dy, da.ones(N, chunks=CHUNK)))
        with pytest.raises(ValueError, match=r"pass X\.compute_chunk_sizes\(\) for X"):
            GegenbauerRegressor(n_terms=20).fit(unknown(dX), y)
        with pytest.raises(ValueError, match=r"pass X\.to_dask_array\(lengths=True\) for X"):
            GegenbauerRegressor(n_terms=20).fit(framed(X, y)[0], y)
        with pytest.raises(ValueError, match="for each of the 1000 rows of X, got shape"):
            GegenbauerRegressor(n_terms=20).fit(dX, y[1:])
        with pytest.raises(TypeError, match="X must be a Dask array or dataframe, got ndarray"):
            GegenbauerRegressor(n_terms=20).fit(X, dy)

    def test_what_is_no_table(self, rows):
        dX, dy = chunked(*rows)
        with pytest.raises(ValueError, match="X must have two dimensions"):
            GegenbauerRegressor(n_terms=4).fit(dX[:, 0], dy)
        with pytest.raises(TypeError, match="X must be a Dask array or dataframe, got Series"):
            GegenbauerRegressor(n_terms=4).fit(framed(*rows)[0]["a"], dy)
        with pytest.raises(TypeError, match="y must be a Dask array, dataframe or series"):
            GegenbauerRegressor(n_terms=4).fit(dX, dask.delayed(rows[1]))

    def test_nan_names_partition_and_column(self, rows):
        X, y = rows
        X = X.copy()
        X[400, 1] = np.nan
        text = (
            r"partition 3 \(rows 390 to 519\): Input X contains NaN. Found in column 1 "
            r"\(first in row 10 of the partition\)"
        )
        model = GegenbauerRegressor(n_terms=20)
        with pytest.raises(StreamError, match=text):
            model.fit(*chunked(X, y))
        assert not hasattr(model, "term_coef_")
        X, y = framed(X, y)
        with pytest.raises(StreamError, match=r"partition 2: .* column 1 \('b'\)"):
            GegenbauerRegressor(n_terms=20).fit(X, y)
        with pytest.raises(StreamError, match="partition 2: Input X contains NaN"):
            GegenbauerFeatures().fit(X)

    def test_rows_of_a_dataframe_are_those_of_a_partition(self, rows):
        """How many stand before it is not known."""
        X, y = rows
        y = y.copy()
        y[400] = np.nan
        dX, dy = framed(X, y)
        text = r"^partition 2: Input y contains NaN, first in row \d+ of the partition; 1 of its"
        with pytest.raises(StreamError, match=text):
            GegenbauerRegressor(n_terms=4).fit(dX, dy)
        X = X.copy()
        X[400, 1] = np.inf
        text = r"^a partition of X: .* \(first in row \d+ of the partition\)"
        for take in (chunked, framed):
            model = GegenbauerRegressor(n_terms=4).fit(*take(*rows))
            with pytest.raises(StreamError, match=text):
                model.predict(take(X, rows[1])[0]).compute()

    @pytest.mark.parametrize("kind", [GegenbauerRegressor, GegenbauerClassifierCV])
    def test_targets_that_are_missing(self, rows, kind):
        with pytest.raises(ValueError, match=r"^This Gegenbauer.* requires y to be passed, but"):
            kind(n_terms=4).fit(chunked(*rows)[0], None)

    def test_parameters_are_checked_before_any_work(self, rows):
        dX, dy = chunked(*rows)

        def never(x):
            raise AssertionError("computed")

        bad = dX.map_blocks(never, dtype=float, meta=np.empty((0, 0)))
        with pytest.raises(ValueError, match="n_terms"):
            GegenbauerRegressor(n_terms=0).fit(bad, dy)
        with pytest.raises(ValueError, match="`engine='dual'` needs all samples at once"):
            GegenbauerRegressor(n_terms=4, engine="dual").fit(bad, dy)
        with pytest.raises(ValueError, match="largest_weight"):
            GegenbauerRegressor(n_terms=4, index_set="largest_weight").fit(bad, dy)

    def test_collections_are_not_brought_here_unasked(self, rows):
        dX, dy = chunked(*rows)
        model = GegenbauerRegressor(n_terms=4).fit(dX, dy)
        for call in (
            lambda: model.forget(dX, dy),
            lambda: model.count_out_of_range(dX),
            lambda: model.choose_alpha(held_out=[(dX, dy)]),
            lambda: GegenbauerFeatures().fit(dX).count_out_of_range(dX),
        ):
            with pytest.raises((TypeError, StreamError), match="takes samples in memory"):
                call()


class TestClient:
    def test_stays_behind(self, two, rows):
        dX, dy = chunked(*rows)
        model = GegenbauerRegressor(n_terms=20, client=two).fit(dX, dy)
        assert model.client is two
        assert clone(model).client is two
        assert copy.deepcopy(model).client is two
        assert not hasattr(clone(model), "statistics_")
        copied = pickle.loads(pickle.dumps(model))
        assert copied.client is None
        assert equal(copied, model)
        local = model.to_local()
        assert type(local) is gegenbauer.GegenbauerRegressor
        assert not hasattr(local, "client")
        assert equal(local, model)
        assert equal(pickle.loads(pickle.dumps(local)), model)

    def test_clones_are_configured_alike(self, two):
        """As every estimator's, which scikit-learn clones: its metadata requests and its output."""
        with sklearn.config_context(enable_metadata_routing=True):
            model = GegenbauerRegressor(n_terms=[3], client=two)
            model.set_fit_request(sample_weight=True)
            again = clone(model)
            assert again.client is two
            assert again.n_terms is not model.n_terms
            assert again.get_metadata_routing().fit.requests == {"sample_weight": True}
        features = GegenbauerFeatures(client=two).set_output(transform="pandas")
        again = clone(features)
        assert again.client is two
        assert again._sklearn_output_config == {"transform": "pandas"}
        assert again._sklearn_output_config is not features._sklearn_output_config

    def test_parameters_are_those_of_the_plain_ones_and_client(self):
        for ours in (GegenbauerClassifier, GegenbauerFeatures, GegenbauerRegressor):
            plain = getattr(gegenbauer, ours.__name__)
            given = {**plain().get_params(), "missing": "error"}  # else there is one more pass
            assert ours().get_params() == {**given, "client": None}
            assert ours(n_terms=3).set_params(degree=2).get_params()["degree"] == 2

    def test_save_explains_what_to_do(self, rows, tmp_path):
        pytest.importorskip("safetensors")
        model = GegenbauerRegressor(n_terms=20).fit(*chunked(*rows))
        with pytest.raises(TypeError, match=r"save its to_local\(\)"):
            gegenbauer.save(model, tmp_path / "model")
        gegenbauer.save(model.to_local(), tmp_path / "model")
        assert equal(gegenbauer.load(tmp_path / "model"), model)

    def test_predictions_take_little_along(self, rows):
        dX, dy = chunked(*rows)
        model = GegenbauerRegressorCV(n_terms=200, spectrum=(0.5, 2.0)).fit(dX, dy)
        assert len(pickle.dumps(model)) > 300_000
        assert len(pickle.dumps(model._predictor())) < 20_000

    def test_given_client_is_used(self, two, rows):
        dX, dy = chunked(*rows)
        seen = dX.map_blocks(lambda x: x + 0.0 * os.getpid(), dtype=float, meta=np.empty((0, 0)))
        before = two.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
        with dask.config.set(scheduler="synchronous"):
            GegenbauerRegressor(n_terms=20, client=two).fit(seen, dy)
        after = two.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
        assert after > before


class TestCluster:
    @pytest.mark.parametrize("n_workers", [1, pytest.param(4, marks=pytest.mark.slow)])
    def test_bitwise_identical_for_any_number_of_workers(self, two, rows, n_workers):
        dX, dy = chunked(*rows, chunk=60)
        on_two = GegenbauerRegressor(n_terms=50, client=two).fit(dX, dy)
        with dask.config.set(scheduler="synchronous"):
            alone = GegenbauerRegressor(n_terms=50).fit(dX, dy)
        with dask.config.set(scheduler="threads"):
            in_threads = GegenbauerRegressor(n_terms=50).fit(dX, dy)
        with cluster(n_workers) as client:
            on_others = GegenbauerRegressor(n_terms=50, client=client).fit(dX, dy)
            assert np.array_equal(on_others.predict(dX).compute(), on_others.predict(rows[0]))
        assert equal(on_two, alone)
        assert equal(on_two, in_threads)
        assert equal(on_two, on_others)

    @pytest.mark.parametrize("n_workers", [2, pytest.param(4, marks=pytest.mark.slow)])
    def test_a_worker_that_dies_changes_nothing(self, rows, n_workers, tmp_path):
        X, y = rows
        dX, dy = chunked(X, y, chunk=40)  # 25 partitions

        killed = tmp_path / "killed"

        def first_few(x, block_info=None):
            """Let some blocks pass, and the others only when the worker is dead."""
            while block_info[0]["chunk-location"][0] >= 4 * n_workers and not killed.exists():
                time.sleep(0.01)
            return x

        slowly = dX.map_blocks(first_few, dtype=float, meta=np.empty((0, 0)))
        with dask.config.set(scheduler="synchronous"):
            expected = GegenbauerRegressor(n_terms=50).fit(dX, dy)
        with cluster(n_workers) as client:
            name, victim = next(iter(client.run(os.getpid).items()))

            def kill():
                while not client.has_what([name])[name]:
                    time.sleep(0.01)
                os.kill(victim, signal.SIGKILL)
                killed.touch()

            killer = threading.Thread(target=kill)
            killer.start()
            found = GegenbauerRegressor(n_terms=50, client=client).fit(slowly, dy)
            killer.join()
            assert victim not in client.run(os.getpid).values()
        assert equal(found, expected)

    def test_errors_arrive_as_ours(self, two, rows):
        X, y = rows
        X = X.copy()
        X[400, 1] = np.nan
        with pytest.raises(StreamError) as caught:
            GegenbauerRegressor(n_terms=20, client=two).fit(*chunked(X, y))
        assert str(caught.value).startswith("partition 3 (rows 390 to 519): Input X contains NaN.")
        assert isinstance(caught.value, ValueError)

    def test_a_task_has_one_thread(self, two, rows):
        model = GegenbauerRegressor(n_terms=20)
        assert model._for_a_task().n_jobs == 1
        assert GegenbauerRegressor(n_jobs=3)._for_a_task().n_jobs == 3
        assert model.fit(*chunked(*rows)).n_jobs is None
        assert model.to_local().n_jobs is None

    def test_no_rows_move(self, two, rows):
        """Each task that takes rows takes one partition, and merges take sums alone."""
        blocks = two.persist(da.random.default_rng(0).normal(size=(80_000, 6), chunks=(5_000, 6)))
        y = two.persist(blocks[:, 0] * blocks[:, 1])
        distributed.wait([blocks, y])

        def received(dask_worker):
            return sum(record["total"] for record in dask_worker.transfer_incoming_log)

        before = sum(two.run(received).values())
        model = GegenbauerRegressor(n_terms=20, client=two).fit(blocks, y)
        moved = sum(two.run(received).values()) - before
        partition = 5_000 * 6 * 8
        assert moved < partition  # of 16 partitions
        assert len(pickle.dumps(model.to_local())) * 16 > moved
        taken = [block.key for block in np.ravel(blocks.to_delayed(optimize_graph=False))]
        graph = graph_of(lambda: model.fit(blocks, y))
        users = [key for key, needs in graph.items() if needs & set(taken)]
        assert sorted(users, key=str) == sorted(
            [key for key in graph if key[0].startswith("learn-") and "merge" not in key[0]], key=str
        )
        assert all(len(graph[key] & set(taken)) == 1 for key in users)


@pytest.mark.slow  # each starts a cluster in a process of its own
@pytest.mark.parametrize("page", ["distributed", "ray", "spark"])
def test_pages_run(page, tmp_path):
    """Saved as files, as a reader would."""
    if page != "distributed":
        pytest.importorskip({"ray": "ray", "spark": "pyspark"}[page])
    text = (Path(__file__).parents[2] / "docs" / f"{page}.md").read_text(encoding="utf-8")
    code, output = re.search(r"```python\n(.*?)```\s+```\n(.*?)```", text, re.DOTALL).groups()
    (tmp_path / "program.py").write_text(code, encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if key != "PYSPARK_PYTHON"}
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"], cwd=tmp_path, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == output


def graph_of(fit):
    """Return the keys that each task of a fit depends on."""
    found = {}

    def catch(result, scheduler):
        graph = dict(result.__dask_graph__())
        found.update({key: set(task.dependencies) for key, task in graph.items()})
        raise StopIteration

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask, "compute", catch)
        with pytest.raises(StopIteration):
            fit()
    return found


class TestFolds:
    def sample(self, X):
        n = len(X)
        rng = np.random.default_rng(0)
        key, rows = np.sort(rng.random(n)), np.arange(n)
        return Sample(key, rows // 50, rows % 50, X, np.zeros(n), np.ones(n))

    def test_equal_samples_fall_into_one_fold_wherever_they_are(self):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(400, 3))
        X[:40, 1] = 0.0
        twice = np.vstack([X, X])[rng.permutation(800)]
        dealt = self.sample(twice).folds(5)
        assert dealt.by_x
        folds = dealt.of(twice, 0, np.arange(800))
        places = {row.tobytes(): fold for row, fold in zip(twice, folds, strict=True)}
        assert len(places) == 400
        assert [places[row.tobytes()] for row in twice] == folds.tolist()
        negative = twice.copy()
        negative[negative == 0] = -0.0
        assert_array_equal(dealt.of(negative, 3, np.arange(800) + 7), folds)
        assert_array_equal(dealt.of(np.asfortranarray(twice), 1, np.arange(800)), folds)
        assert np.bincount(folds, minlength=5).min() > 100  # of 160 each

    def test_others_are_dealt_in_turn(self):
        rng = np.random.default_rng(2)
        distinct, codes = rng.normal(size=(300, 2)), rng.integers(0, 4, (300, 2)).astype(float)
        one = np.vstack([distinct[:60], np.tile(distinct[:1], (240, 1))])  # nearly all are the same
        for X in (distinct, codes, one):
            dealt = self.sample(X).folds(3)
            assert not dealt.by_x
            assert_array_equal(dealt.of(X, 1, np.arange(300)), (np.arange(300) + 1) % 3)

    @pytest.mark.parametrize("order", ["behind", "beside", "mixed"])
    def test_a_table_twice_needs_a_penalty(self, two, order):  # whose client is used
        """Its noise is not predicted by copies: as much is learned as from the table itself."""
        rng = np.random.default_rng(1)
        X = rng.normal(size=(300, 4))
        clean = np.sin(2 * X[:, 0]) + X[:, 1]
        y = clean + rng.normal(size=300)
        rows = {
            "behind": np.tile(np.arange(300), 2),
            "beside": np.repeat(np.arange(300), 2),
            "mixed": rng.permutation(np.tile(np.arange(300), 2)),
        }[order]
        model = GegenbauerRegressorCV(spectrum=(0.3, 2.0), n_terms=120)
        model.fit(da.from_array(X[rows], chunks=(200, 4)), da.from_array(y[rows], chunks=200))
        error = np.mean((model.to_local().predict(X) - clean) ** 2) / clean.var()
        assert error < 0.15
        assert model.alpha_ > 1e-4

    @pytest.mark.parametrize("table", ["doubled", "bootstrapped twice"])
    @pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
    def test_copies_are_merged_as_by_the_plain_estimators(self, two, kind, table, monkeypatch):
        """Their spectrum, number of terms, penalty and accuracy, given the same folds."""
        monkeypatch.setattr(  # as of very many samples: a finite set in any case
            "gegenbauer.estimators._sums_search.default_landmarks", lambda n_samples: 0
        )
        rng = np.random.default_rng(1)
        n = 200
        once = rng.uniform(-1, 1, (n, 3))
        clean = np.sin(4 * once[:, 0]) * once[:, 1] + once[:, 2] ** 2
        targets = clean + 0.5 * rng.normal(size=n)
        if kind == "Classifier":
            targets = targets > 0.3
        rows = np.tile(np.arange(n), 2)
        if table == "bootstrapped twice":
            rows = rng.integers(0, n, n)[rng.integers(0, n, n)]
        X, y = once[rows], targets[rows]
        model = getattr(gegenbauer.dask, f"Gegenbauer{kind}CV")().fit(*chunked(X, y)).to_local()
        n_distinct = np.unique(rows).size
        assert model.n_terms_ == model.n_search_samples_ == n_distinct < len(rows)
        folds = PredefinedSplit(Folds(5, by_x=True).of(X, 0, np.arange(len(X))))
        plain = getattr(gegenbauer, f"Gegenbauer{kind}CV")(
            kernel_samples=0, n_terms=n_distinct, cv=folds
        ).fit(X, y)
        assert_allclose(model.alpha_, plain.alpha_, rtol=1e-3)
        method = "predict" if kind == "Regressor" else "predict_proba"
        new = rng.uniform(-1, 1, (100, 3))
        assert_allclose(getattr(model, method)(new), getattr(plain, method)(new), atol=1e-3)
        assert_allclose(model.loo_predictions_, plain.loo_predictions_, atol=1e-3)

    def test_a_table_twice_is_learned_as_itself(self, two):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (300, 4))
        y = np.sin(4 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.5 * rng.normal(size=300)
        # with five folds as the table has them once its samples are equal to others
        once = gegenbauer.GegenbauerRegressorCV(
            kernel_samples=0,
            n_terms=300,
            cv=PredefinedSplit(Folds(5, True).of(X, 0, np.arange(300))),
        ).fit(X, y)
        twice = GegenbauerRegressorCV().fit(*chunked(np.vstack([X, X]), np.append(y, y)))
        assert_allclose(twice.alpha_, 2 * once.alpha_, rtol=1e-3)
        new = rng.uniform(-1, 1, (100, 4))
        assert_allclose(twice.to_local().predict(new), once.predict(new), atol=1e-3)
