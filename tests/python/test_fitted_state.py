"""What a fit leaves behind: all of its state or nothing of it, and nothing of an earlier fit."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
)

PLAIN = [
    GegenbauerFeatures, GegenbauerRegressor, GegenbauerClassifier, GegenbauerRegressorCV,
    GegenbauerClassifierCV,
]  # fmt: skip
LEARNERS = [GegenbauerRegressor, GegenbauerClassifier]
SEARCHES = [GegenbauerRegressorCV, GegenbauerClassifierCV]


def table(kind, n_features=2, n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, n_features))
    noise = rng.normal(scale=0.1, size=n)
    y = np.sin(3.0 * X[:, 0]) + X[:, -1] + noise
    return X, (y > np.median(y)).astype(int) if is_classifier(kind()) else y


def other_table(kind):
    """Return a table that leaves more behind: names, several outputs, weights."""
    X, y = table(kind, 3, seed=1)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    return frame, np.column_stack([y, y[::-1]])


def make(kind, **options):
    """Return an estimator whose fits are short."""
    if issubclass(kind, tuple(SEARCHES)):
        options = {"spectrum": (0.5, 2.0), "alphas": [0.01, 0.1]} | options
    return kind(**options)


def values(model, X):
    found = [model.transform(X) if hasattr(model, "transform") else model.predict(X)]
    if hasattr(model, "noise_variance_"):
        found += [*model.predict(X, return_std=True), *model.predict_interval(X)]
    if hasattr(model, "predict_proba"):
        found.append(model.predict_proba(X))
    return found


def assert_alike(one, other, X):
    assert vars(one).keys() == vars(other).keys()
    shown = [name for name in dir(type(one)) if name.endswith("_") and name[0] != "_"]
    assert [hasattr(one, name) for name in shown] == [hasattr(other, name) for name in shown]
    for found, expected in zip(values(one, X), values(other, X), strict=True):
        assert_array_equal(found, expected, strict=True)


def interruptible(kind):
    """Return a class whose instances, together, may set ``left`` attributes and no more."""

    class Interruptible(kind):
        left = float("inf")

        def __setattr__(self, name, value):
            if not name.startswith("_skl"):  # scikit-learn's own, which its callbacks need
                if Interruptible.left == 0:
                    raise KeyboardInterrupt
                Interruptible.left -= 1
            super().__setattr__(name, value)

    return Interruptible


def interrupt_everywhere(model, work, X, every=1):
    """Interrupt `work` before each attribute that it sets; return how many these are.

    `model` is an estimator of an `interruptible` class, fitted or not.
    """
    kind = type(model)
    expected = values(model, X) if vars(model).keys() > model.get_params().keys() else []
    for step in range(0, 1000, every):
        again = copy.copy(model)
        state = dict(vars(again))
        kind.left = step
        try:
            work(again)
        except KeyboardInterrupt:
            assert vars(again) == state  # the very same objects
        else:
            return step
        finally:
            kind.left = float("inf")
        for found, value in zip(values(again, X) if expected else [], expected, strict=True):
            assert_array_equal(found, value)
    raise AssertionError("it never came to its end")


class TestFit:
    @pytest.mark.parametrize("kind", PLAIN)
    def test_failed(self, kind):
        X, y = table(kind)
        model = make(kind).fit(X, y)
        before, expected = dict(vars(model)), values(model, X)
        frame, targets = other_table(kind)
        bad = frame.assign(c=np.inf)
        with pytest.raises(ValueError, match="infinity"):
            model.fit(bad, targets)
        assert vars(model) == before
        for found, value in zip(values(model, X), expected, strict=True):
            assert_array_equal(found, value)

    @pytest.mark.parametrize("fitted", [False, True])
    @pytest.mark.parametrize("kind", PLAIN)
    def test_interrupted(self, kind, fitted):
        X, y = table(kind)
        model = make(interruptible(kind))
        if fitted:
            model.fit(X, y)
        n = interrupt_everywhere(model, lambda model: model.fit(*other_table(kind)), X)
        assert n >= 5

    @pytest.mark.parametrize("kind", PLAIN)
    def test_repeated(self, kind):
        X, y = table(kind)
        again = make(kind).fit(*other_table(kind)).fit(X, y)
        assert not hasattr(again, "feature_names_in_")
        assert_alike(again, make(kind).fit(X, y), X)

    @pytest.mark.parametrize("first", [{"n_terms": 9}, {}], ids=str)
    @pytest.mark.parametrize("kind", SEARCHES)
    def test_repeated_with_other_parameters(self, kind, first):
        X, y = table(kind)
        second = {"n_terms": None} if first else {"n_terms": 9}
        again = make(kind, **first).fit(X, y).set_params(**second).fit(X, y)
        assert_alike(again, make(kind, **second).fit(X, y), X)

    @pytest.mark.parametrize("kind", PLAIN)
    def test_declares_what_it_sets(self, kind):
        """Else a later fit would find it: see ``_unfitted``."""
        model = make(kind)
        model.own = 1
        for data in (table(kind), other_table(kind)):
            model.fit(*data)
            left = vars(model._unfitted())
            assert left.keys() == {*model.get_params(), "own"}


class TestSums:
    def announced(self, kind):
        return {"classes": [0, 1]} if is_classifier(kind()) else {}

    @pytest.mark.parametrize("kind", LEARNERS)
    @pytest.mark.parametrize("method", ["partial_fit", "forget", "refit", "choose_alpha"])
    def test_interrupted(self, kind, method):
        X, y = table(kind)
        more = self.announced(kind)
        arguments = {
            "partial_fit": (X[20:], y[20:]),
            "forget": (X[:5], y[:5]),
            "refit": (0.5,),
            "choose_alpha": ([0.5, 2.0],),
        }[method]
        model = make(interruptible(kind), n_terms=9).partial_fit(X[:20], y[:20], **more).refit()
        n = interrupt_everywhere(model, lambda model: getattr(model, method)(*arguments), X)
        assert n >= 2

    @pytest.mark.parametrize("kind", LEARNERS)
    def test_interrupted_stream(self, kind):
        X, y = table(kind)
        model = make(interruptible(kind), n_terms=9).fit(X, y)
        batches = [(X[:20], y[:20]), (X[20:], y[20:])]
        n = interrupt_everywhere(model, lambda model: model.fit_stream(batches), X)
        assert n >= 5

    @pytest.mark.parametrize("kind", LEARNERS)
    def test_fits_of_both_kinds(self, kind):
        """Neither of a fit nor of a stream is anything found by the other."""
        X, y = table(kind)
        fresh = make(kind, n_terms=9).fit(X, y)
        again = make(kind, n_terms=9).fit_stream([other_table(kind)]).choose_alpha([0.5])
        again.set_params(alpha=fresh.alpha).fit(X, y)
        assert not hasattr(again, "statistics_")
        assert not hasattr(again, "alpha_results_")
        assert_alike(again, fresh, X)
        streamed = make(kind, n_terms=9).fit_stream([(X, y)])
        assert_alike(fresh.fit_stream([(X, y)]), streamed, X)

    @pytest.mark.parametrize("kind", LEARNERS)
    def test_new_sums_take_the_solution_away(self, kind):
        X, y = table(kind)
        model = make(kind, n_terms=9).partial_fit(X[:20], y[:20], **self.announced(kind))
        model.choose_alpha([0.5])
        first = model.expansion_
        assert model.expansion_ is first
        model.partial_fit(X[20:], y[20:])
        assert not hasattr(model, "alpha_results_")
        assert model.expansion_ is not first
        assert_array_equal(model.term_coef_, model.expansion_.coef)


class TestLabels:
    CLASSIFIERS = (GegenbauerClassifier, GegenbauerClassifierCV)
    NAMES = ("classes_", "label_names_", "multilabel_")

    @pytest.mark.parametrize("kind", CLASSIFIERS)
    def test_come_with_a_fit(self, kind):
        model = make(kind)
        assert not any(hasattr(model, name) for name in self.NAMES)
        for name in self.NAMES:
            with pytest.raises(NotFittedError, match="not fitted yet"):
                getattr(model, name)
        X, y = table(kind)
        model.fit(X, y)
        assert_array_equal(model.classes_, [0, 1])
        assert model.multilabel_ is False
        with pytest.raises(AttributeError, match="no label_names_: it has classes"):
            model.label_names_  # noqa: B018
        model.fit(X, pd.DataFrame({"a": y, "b": 1 - y}))
        assert model.label_names_.tolist() == ["a", "b"]
        assert_array_equal(model.classes_, [[0, 1], [0, 1]])
        assert model.multilabel_ is True

    @pytest.mark.parametrize("kind", CLASSIFIERS)
    @pytest.mark.parametrize("name", NAMES)
    def test_nothing_changes_them(self, kind, name):
        model = make(kind).fit(*table(kind))
        with pytest.raises(AttributeError, match="has no setter"):
            setattr(model, name, None)

    def test_announced_ones_are_known_before_the_first_sample(self):
        """A batch whose samples have no weight teaches nothing else."""
        X, y = table(GegenbauerClassifier)
        model = make(GegenbauerClassifier, n_terms=9)
        model.partial_fit(X, y, classes=["b", "a"], sample_weight=0.0)
        assert not hasattr(model, "statistics_")
        model.partial_fit(X, np.where(y == 1, "a", "b"))
        assert model.classes_.tolist() == ["a", "b"]

    def test_names_of_columns_are_those_of_the_batch(self):
        """Names that an earlier call came with are no names of a later y without."""
        X, y = table(GegenbauerClassifier)
        Y = np.column_stack([y, 1 - y])
        model = make(GegenbauerClassifier, n_terms=9)
        model.fit(X, pd.DataFrame(Y, columns=["a", "b"])).fit(X, Y)
        assert model.label_names_.tolist() == [0, 1]


class Own(GegenbauerRegressor):
    """A user's class, which fixes parameters and has attributes of its own."""

    def __init__(self, alpha=1.0):
        super().__init__(n_terms=9, lam=0.5, alpha=alpha)
        self._n_fits = 0

    def fit(self, X, y, sample_weight=None):
        self._n_fits += 1
        self.seen_ = X.shape
        return super().fit(X, y, sample_weight)


class TestSubclass:
    def test_keeps_what_is_its_own(self):
        X, y = table(GegenbauerRegressor)
        model = Own()
        model.note = "a"
        model._private, model.public_ = "b", "c"
        for n in (1, 2):
            model.fit(X, y)
            assert (model.note, model._private, model.public_) == ("a", "b", "c")
            assert (model._n_fits, model.seen_) == (n, X.shape)
            assert (model.n_terms, model.lam) == (9, 0.5)
        model.fit_stream([(X, y)])
        assert (model._n_fits, model._private, model.n_terms) == (2, "b", 9)

    def test_predicts_as_the_class_that_it_derives_from(self):
        X, y = table(GegenbauerRegressor)
        plain = GegenbauerRegressor(n_terms=9, lam=0.5, alpha=1.0).fit(X, y)
        assert_array_equal(Own().fit(X, y).predict(X), plain.predict(X))


class TestDask:
    @pytest.mark.parametrize("name", [kind.__name__ for kind in PLAIN])
    def test_failed_interrupted_and_repeated(self, name):
        pytest.importorskip("dask")
        import dask.array

        import gegenbauer.dask

        kind = getattr(gegenbauer.dask, name)
        plain = getattr(gegenbauer, name)

        def collections(n_features, seed):
            X, y = table(plain, n_features, 200, seed)
            return dask.array.from_array(X, chunks=100), dask.array.from_array(y, chunks=100)

        X, y = collections(2, 0)
        wider, others = collections(3, 1)
        # a search begins as it does without settings, but has one penalty to try
        options = {"n_terms": 9} | ({"alphas": [0.1]} if plain in SEARCHES else {})
        here = X.compute()

        def fitted(model, *data):
            return model.fit(*(data[:1] if name == "GegenbauerFeatures" else data))

        fresh = fitted(kind(**options), X, y)
        again = fitted(fitted(kind(**options), wider, others), X, y)
        assert vars(again).keys() == vars(fresh).keys()
        before, expected = dict(vars(again)), values(again, here)
        for found, value in zip(expected, values(fresh, here), strict=True):
            assert_array_equal(found, value)
        with pytest.raises(ValueError, match="NaN"):
            fitted(again, wider * np.nan, others)
        assert vars(again) == before
        model = fitted(interruptible(kind)(**options), X, y)
        n = interrupt_everywhere(model, lambda model: fitted(model, wider, others), here, every=4)
        assert n >= 1
