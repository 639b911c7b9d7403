"""What lies outside of the box: not the same samples in another precision; one warning a stream."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from gegenbauer import (
    Checkpoint,
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    InputScaling,
)
from gegenbauer.errors import OutOfRangeWarning, StreamError

BOUNDS = [(-1.0, 1.0), (0.0, 4.0)]

ESTIMATORS = [
    GegenbauerRegressor(degree=2),
    GegenbauerClassifier(degree=2),
    GegenbauerFeatures(degree=2),
    GegenbauerRegressorCV(n_terms=20, intervals="one_spectrum"),
    GegenbauerRegressorCV(spectrum=None, lam=0.5, n_terms=10),
    GegenbauerClassifierCV(n_terms=20),
]


def samples(n=200, seed=0):
    """Inputs of several sizes, of which none of the ends is a float32."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1e-3, 1.0, 1e5] + [0.0, 1 / 3, 1e6]
    return X, X[:, 1] + X[:, 2] / 1e5


class TestPrecision:
    @pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
    @pytest.mark.parametrize("first", [np.float64, np.float32])
    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_samples_of_the_fit_are_inside(self, estimator, first):
        from sklearn.base import clone

        X, y = samples()
        y = y > np.median(y) if "Classifier" in type(estimator).__name__ else y
        model = clone(estimator).set_params(out_of_range="error").fit(X.astype(first), y)
        for dtype in (np.float64, np.float32):
            assert model.count_out_of_range(X.astype(dtype)) == 0
            (model.transform if hasattr(model, "transform") else model.predict)(X.astype(dtype))
        if not isinstance(estimator, GegenbauerRegressorCV):  # which has a margin
            largest = X[:, 1].argmax()
            X[largest, 1] *= 1 + 1e-6
            for dtype in (np.float64, np.float32):
                assert model.count_out_of_range(X.astype(dtype)) == 1

    def test_float32_in_a_box_of_float64(self):
        rng = np.random.default_rng(1)
        lower = rng.normal(size=500)
        upper = lower + rng.uniform(1e-6, 1e-3, size=500)
        ends = np.float32(lower), np.float32(upper)
        for steps in (-2, -1, 0, 1, 2):
            for end in ends:
                x = end.copy()
                for _ in range(abs(steps)):
                    x = np.nextafter(x, np.float32(np.sign(steps) * np.inf))
                box = InputScaling(lower, upper, constant=np.zeros(500, dtype=bool))
                wanted = (x < ends[0]) | (x > ends[1])
                np.testing.assert_array_equal(box.beyond(x[np.newaxis], rounded=True)[0], wanted)
                assert box.outside(x[np.newaxis], rounded=True)[0] == wanted.any()

    def test_float64_in_a_box_of_float32(self):
        rng = np.random.default_rng(2)
        lower = rng.normal(size=500).astype(np.float32)
        upper = (lower + rng.uniform(1e-4, 1, size=500)).astype(np.float32)
        box = InputScaling(lower, upper)
        for end in (lower, upper):
            x = end * (1 + rng.uniform(-2, 2, size=500) * np.finfo(np.float32).eps)
            assert x.dtype == np.float64
            rounded = x.astype(np.float32)
            wanted = (rounded < lower) | (rounded > upper)
            assert 0 < np.count_nonzero(wanted) < 500
            np.testing.assert_array_equal(box.beyond(x[np.newaxis], rounded=True)[0], wanted)

    def test_a_box_that_float32_does_not_resolve_is_exact(self):
        box = InputScaling([1e9], [1e9 + 10])  # steps of float32 are 64 there
        found = box.outside([[1e9 - 1], [1e9], [1e9 + 10], [1e9 + 11]], rounded=True)
        np.testing.assert_array_equal(found, [True, False, False, True])
        assert not box.outside(np.float32([[1e9 + 5]]), rounded=True).any()

    def test_the_largest_numbers(self):
        box = InputScaling([-1e300], [1e300])
        assert not box.outside(np.float32([[3e38]]), rounded=True).any()
        assert box.outside([[1.1e300]], rounded=True).all()


def stream(n=1000, n_batches=7, seed=3):
    """Batches of which some samples are outside; these samples, and how many."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(0, 0.6, size=n), rng.uniform(0, 4.02, size=n)])
    n_outside = np.count_nonzero((np.abs(X[:, 0]) > 1) | (X[:, 1] > 4))
    y = X[:, 0] + 0.1 * rng.normal(size=n)
    return (
        list(zip(np.array_split(X, n_batches), np.array_split(y, n_batches), strict=True)),
        X,
        (n_outside),
    )


def caught_of(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, [str(w.message) for w in caught if w.category is OutOfRangeWarning]


class TestStreams:
    def test_one_warning_with_all_samples(self):
        batches, X, n_outside = stream()
        model, found = caught_of(
            lambda: GegenbauerRegressor(degree=2, bounds=BOUNDS).fit_stream(batches)
        )
        assert model.n_out_of_range_ == n_outside
        assert len(found) == 1
        assert found[0].startswith(f"{n_outside} of 1000 samples lie outside of `bounds`: column 0")
        beyond = np.abs(X[:, 0]) > 1
        first = f"{X[beyond.argmax(), 0]:.6g}"
        assert f"column 0 in {np.count_nonzero(beyond)} of them (first {first}" in found[0]
        assert "the range is [-1, 1]" in found[0]
        assert f"column 1 in {np.count_nonzero(X[:, 1] > 4)} of them" in found[0]

    def test_of_classes(self):
        batches, _, n_outside = stream()
        batches = [(X, np.where(y > 0, "up", "down")) for X, y in batches]
        _, found = caught_of(
            lambda: GegenbauerClassifier(degree=2, bounds=BOUNDS).fit_stream(batches)
        )
        assert [text.partition(" samples")[0] for text in found] == [f"{n_outside} of 1000"]

    @pytest.mark.parametrize("policy", ["clip", "extrapolate"])
    def test_none_on_request(self, policy):
        batches, _, n_outside = stream()
        model = GegenbauerRegressor(degree=2, bounds=BOUNDS, out_of_range=policy)
        model, found = caught_of(lambda: model.fit_stream(batches))
        assert (found, model.n_out_of_range_) == ([], n_outside)

    def test_an_error_names_the_batch(self):
        batches, _, _ = stream()
        model = GegenbauerRegressor(degree=2, bounds=BOUNDS, out_of_range="error")
        with pytest.raises(StreamError, match=r"batch 0 .* samples lie outside"):
            model.fit_stream(batches)

    def test_partial_fit_warns_of_its_own_samples(self):
        model = GegenbauerRegressor(degree=2, bounds=BOUNDS)
        for X, y in stream()[0]:
            n = np.count_nonzero((np.abs(X[:, 0]) > 1) | (X[:, 1] > 4))
            _, found = caught_of(lambda X=X, y=y: model.partial_fit(X, y))
            wanted = [f"{n} of {len(X)}"] if n else []
            assert [text.partition(" samples")[0] for text in found] == wanted

    def test_a_resumed_run_counts_all(self, tmp_path):
        batches, _, n_outside = stream()

        def broken():
            yield from batches[:4]
            raise KeyboardInterrupt

        place = Checkpoint(tmp_path / "run.safetensors", every_samples=1)
        model = GegenbauerRegressor(degree=2, bounds=BOUNDS)
        with pytest.raises(KeyboardInterrupt):
            model.fit_stream(broken(), checkpoint=place)
        _, found = caught_of(lambda: model.fit_stream(batches, checkpoint=place))
        assert [text.partition(" samples")[0] for text in found] == [f"{n_outside} of 1000"]

    def test_partitions(self):
        pytest.importorskip("dask.dataframe")
        import dask
        import dask.array as da

        from gegenbauer.dask import GegenbauerRegressor as OnDask

        batches, X, n_outside = stream()
        y = np.concatenate([part for _, part in batches])
        with dask.config.set(scheduler="synchronous"):
            model, found = caught_of(
                lambda: OnDask(degree=2, bounds=BOUNDS).fit(
                    da.from_array(X, chunks=(150, 2)), da.from_array(y, chunks=150)
                )
            )
        assert model.n_out_of_range_ == n_outside
        assert [text.partition(" samples")[0] for text in found] == [f"{n_outside} of 1000"]

    def test_names_of_columns(self):
        batches, _, n_outside = stream()
        batches = [(pd.DataFrame(X, columns=["speed", "height"]), y) for X, y in batches]
        with pytest.warns(OutOfRangeWarning, match=rf"{n_outside} of .*column 0 \('speed'\)"):
            GegenbauerRegressor(degree=2, bounds=BOUNDS).fit_stream(batches)
