"""Samples that are nearly copies of others: what is found, by refits, and what is not reported."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GroupKFold

from gegenbauer import GegenbauerClassifierCV, GegenbauerRegressorCV, InputScaling, PowerDecay
from gegenbauer.errors import RepeatedSamplesWarning
from gegenbauer.estimators._near_copies import equal_but_for_one, hold_out, near_in_box


def noisy(n, m=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, m))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)


def labelled(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (rng.uniform(size=n) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)


def moved(X, y, size):
    return np.vstack([X, X + size * np.random.default_rng(9).normal(size=X.shape)]), np.tile(y, 2)


def numbered(X, y, rows):
    return np.column_stack([np.vstack([X, X]), rows]), np.tile(y, 2)


def reported(model, X, y, **more):
    """Return the warnings of copies."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, **more)
    return [str(w.message) for w in caught if w.category is RepeatedSamplesWarning]


class TestReported:
    @pytest.mark.parametrize("size", [1e-12, 1e-6, 1e-3])
    @pytest.mark.parametrize(
        "options",
        [{}, {"n_terms": 60}, {"kernel_samples": 0}, {"spectrum": None}, {"cv": 5}],
        ids=["all terms", "terms", "landmarks", "paper", "cv"],
    )
    def test_moved_inputs(self, options, size):
        (message,) = reported(GegenbauerRegressorCV(**options), *moved(*noisy(60), size))
        assert int(message.partition("% of the samples have near copies")[0]) >= 90
        assert ("GroupKFold" in message) == ("spectrum" in options)
        assert ("`cv` holds them out" in message) == ("cv" in options)

    def test_refits_that_are_singular_report_nothing(self, monkeypatch):
        def singular(*_):
            raise np.linalg.LinAlgError("singular")

        monkeypatch.setattr(GegenbauerRegressorCV, "_refit", singular)
        model = GegenbauerRegressorCV()
        assert reported(model, *moved(*noisy(60), 1e-12)) == []
        assert np.isfinite(model.predict(noisy(5)[0])).all()

    def test_rounded_targets(self):
        X, y = noisy(60)
        found = reported(GegenbauerRegressorCV(), np.vstack([X, X]), np.append(y, y.round(3)))
        assert len(found) == 1

    @pytest.mark.parametrize("rows", ["in order", "at random", "adjacent"])
    def test_numbers_of_rows(self, rows):
        X, y = noisy(60)
        if rows == "adjacent":
            X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
            X = np.column_stack([X, np.arange(120)])
        else:
            places = np.random.default_rng(1).permutation(120)
            X, y = numbered(X, y, np.arange(120) if rows == "in order" else places)
        (message,) = reported(GegenbauerRegressorCV(), X, y)
        assert "(they differ in column 4 alone)" in message

    @pytest.mark.parametrize("options", [{}, {"n_spectra": 5}], ids=["one", "five"])
    def test_classes(self, options):
        X, label = labelled(60)
        places = np.random.default_rng(1).permutation(120)
        for table in (moved(X, label, 1e-9), numbered(X, label, places)):
            (message,) = reported(GegenbauerClassifierCV(**options), *table)
            assert "the share of wrong labels of these is 0 where" in message

    def test_half_of_the_samples(self):
        X, y = noisy(100)
        found = reported(
            GegenbauerRegressorCV(), np.vstack([X, X[:50] + 1e-9]), np.append(y, y[:50])
        )
        assert len(found) == 1
        assert 0.5 < int(found[0].partition("%")[0]) / 100 < 0.8  # 2 / 3

    def test_figures_are_those_of_refits(self):
        """The kernel's matrix with scikit-learn's ridge, without each sample and without pairs."""
        X, y = moved(*noisy(40, m=2), 1e-6)
        model = GegenbauerRegressorCV(
            PowerDecay(1.0, 1.0), alphas=[1e-4], penalize_constant=True, intervals="one_spectrum"
        )
        (message,) = reported(model, X, y)
        K = model.kernel_(X, scaling=model.scaling_)
        target = (y - y.mean()) / y.std()

        def squared_error(i, without):
            rest = np.setdiff1d(np.arange(80), without)
            fit = KernelRidge(alpha=1e-4, kernel="precomputed").fit(
                K[np.ix_(rest, rest)], target[rest]
            )
            return (fit.predict(K[i : i + 1, rest])[0] - target[i]) ** 2

        found = [float(value) for value in re.findall(r"(?:is|and) (\S+) where", message)]
        # one of each pair, the first in the order of the inputs
        first = [i if X[i, 0] < X[i + 40, 0] else i + 40 for i in range(40)]
        alone = np.mean([squared_error(i, [i]) for i in first])
        apart = np.mean([squared_error(i, [i % 40, i % 40 + 40]) for i in first])
        assert found[0] == pytest.approx(alone, rel=0.05)  # of two digits
        assert found[1] == pytest.approx(apart, rel=0.5)  # without up to three other pairs, too
        assert apart > 100 * alone


class TestNotReported:
    @pytest.mark.parametrize("noise", [0.0, 0.2])
    @pytest.mark.parametrize("n_inputs", [1, 2, 4])
    def test_smooth_functions(self, n_inputs, noise):
        rng = np.random.default_rng(n_inputs)
        X = rng.uniform(size=(400, n_inputs))
        y = np.sin(4 * X.sum(axis=1)) + noise * rng.normal(size=400)
        assert reported(GegenbauerRegressorCV(), X, y) == []

    def test_equal_samples(self):
        X, y = noisy(60)
        assert reported(GegenbauerRegressorCV(), np.vstack([X, X]), np.append(y, y)) == []

    @pytest.mark.parametrize("kind", [GegenbauerClassifierCV, GegenbauerRegressorCV])
    def test_counts(self, kind):
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.integers(0, 100, 500), rng.integers(0, 4, 500)])
        y = np.sin(X[:, 0] / 20) + X[:, 1] + 0.5 * rng.normal(size=500)
        y = (y > 1).astype(int) if kind is GegenbauerClassifierCV else y
        assert reported(kind(), X, y) == []
        inert = np.column_stack([X[:, 0], rng.uniform(size=500)])
        assert reported(GegenbauerRegressorCV(), inert, np.floor(X[:, 0] / 10) % 3) == []

    def test_codes(self):
        rng = np.random.default_rng(0)
        X = rng.integers(0, [2, 3, 6], (600, 3))
        y = (rng.uniform(size=600) < 0.2 + 0.5 * X[:, 0]).astype(int)
        assert reported(GegenbauerClassifierCV(), X, y) == []

    def test_repeated_measurements(self):
        X = np.repeat(np.random.default_rng(0).uniform(size=(60, 2)), 3, axis=0)
        y = np.sin(5 * X[:, 0]) + 0.3 * np.random.default_rng(1).normal(size=180)
        assert reported(GegenbauerRegressorCV(), X, y) == []

    def test_times(self):
        rng = np.random.default_rng(0)
        t = np.arange(400.0)
        bursts = np.sort(rng.integers(0, 80, 400) + 1e-3 * rng.uniform(size=400))
        walk = np.cumsum(rng.normal(size=400))
        for times, y in [
            (t, np.sin(t / 15)), (t, walk), (bursts, walk),
            (bursts, np.sin(bursts / 4) + 0.3 * rng.normal(size=400)),
        ]:  # fmt: skip
            assert reported(GegenbauerRegressorCV(), times[:, np.newaxis], y) == []

    @pytest.mark.parametrize("load", [load_iris, load_wine])
    def test_real_classes(self, load):
        assert reported(GegenbauerClassifierCV(), *load(return_X_y=True)) == []

    def test_real_targets(self):
        assert reported(GegenbauerRegressorCV(), *load_diabetes(return_X_y=True)) == []

    @pytest.mark.slow
    def test_groups_heed_copies(self):
        X, label = labelled(300)
        X, label = numbered(X, label, np.random.default_rng(1).permutation(600))
        model, blind = GegenbauerClassifierCV(cv=GroupKFold(5)), GegenbauerClassifierCV()
        assert reported(model, X, label, groups=np.tile(np.arange(300), 2)) == []
        assert len(reported(blind, X, label)) == 1
        test_X, test_label = labelled(1000, seed=1)
        test_X = np.column_stack([test_X, np.linspace(0, 599, 1000)])
        # what the remedy is worth
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # beyond the range
            assert model.score(test_X, test_label) > blind.score(test_X, test_label) + 0.03


class TestGroups:
    def test_neighbours_with_a_gap(self):
        X, _ = noisy(50, m=3)
        table = np.vstack([X, X[:20] + 1e-7, X[:20] - 2e-7])
        found = near_in_box(table, InputScaling.fit(table))
        assert sorted(sorted(group.tolist()) for group in found.groups) == [
            [i, i + 50, i + 70] for i in range(20)
        ]
        assert found.share == pytest.approx(60 / 90)

    def test_equal_but_for_one(self):
        X, _ = noisy(30_000, m=3)
        assert equal_but_for_one(X) is None
        table = np.column_stack([X, np.arange(30_000)])
        table[15_000:, :3] = table[:15_000, :3]
        table[[7, 15_007], 0] = np.nan
        found = equal_but_for_one(table)
        assert found is not None
        assert found.share == 1.0
        assert all(b - a == 15_000 for a, b in found.groups)
        assert found.differ_in(table) == [3]
        table[:2, 3] = 0.0  # which numbers them no more
        assert equal_but_for_one(table) is None

    def test_groups_are_held_out_whole(self):
        one, other = np.linspace(0, 1, 40), np.random.default_rng(0).uniform(size=40)
        table = np.column_stack([np.repeat(one, 3), np.repeat(other, 3), np.arange(120)])
        found = equal_but_for_one(table)
        assert found is not None
        left_out = []

        def predict(rest, first):
            own = np.concatenate([group for group in found.groups if group[0] in first])
            assert np.intersect1d(rest, own).size == 0
            assert rest.size + own.size == 120
            assert own.size <= 12
            left_out.extend(own.tolist())
            return table[first]

        outputs = hold_out(found, 120, predict)
        assert np.array_equal(outputs, table[[group[0] for group in found.groups]])
        assert sorted(left_out) == list(range(120))
