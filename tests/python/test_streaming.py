"""Learning from batches: against one fit, against the data, and what must be refused."""

from __future__ import annotations

import copy
import pickle
import signal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupts import handling
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from gegenbauer import (
    ArrayBatches,
    Checkpoint,
    GegenbauerClassifier,
    GegenbauerRegressor,
    GramStatistics,
    MomentStatistics,
    RidgePath,
    load,
    save,
)
from gegenbauer.errors import IllConditionedWarning, ModelFileError, OutOfRangeWarning, StreamError

BOTH = [GegenbauerRegressor, GegenbauerClassifier]
OPTIONS = {"n_terms": 35, "alpha": 2.0**-8}


def rows(n=240, m=3, seed=0):
    """Inputs of several sizes, with outliers, and a smooth value of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, (n, m)) * 10.0 ** np.arange(m) + np.arange(m)
    z = X / 10.0 ** np.arange(m)
    return X, np.sin(z[:, 0]) + z[:, 1] * np.cos(z[:, -1])


def classes_of(y, n):
    return np.digitize(y, np.quantile(y, np.arange(1, n) / n))


def task(kind, n=240):
    """Return an estimator, X and y, and what the first call needs."""
    X, y = rows(n)
    if kind == "real":
        return GegenbauerRegressor(**OPTIONS), X, y, {}
    if kind == "reals":
        return GegenbauerRegressor(**OPTIONS), X, np.column_stack([y, y**2, X[:, 0]]), {}
    if kind == "multilabel":
        table = np.column_stack([y > 0, y > 1, X[:, 0] > 0]).astype(int)
        return GegenbauerClassifier(**OPTIONS), X, table, {"classes": [0, 1, 2]}
    labels = np.array(["b", "a", "d", "c"])[classes_of(y, {"binary": 2, "four": 4}[kind])]
    return GegenbauerClassifier(**OPTIONS), X, labels, {"classes": np.unique(labels).tolist()}


KINDS = ["real", "reals", "binary", "four", "multilabel"]


def learned(model, X, y, parts, more, weight=None):
    for part in parts:
        given = {} if weight is None else {"sample_weight": weight[part]}
        model.partial_fit(X[part], y[part], **more, **given)
    return model


def outputs(model, X):
    values = model.predict(X) if hasattr(model, "decision_function") is False else None
    return model.decision_function(X) if values is None else values


def gap(a, b, X):
    """Largest difference of outputs, relative to the largest output."""
    p, q = outputs(a, X), outputs(b, X)
    return np.abs(p - q).max() / np.abs(q).max()


class TestOneFit:
    """Any split of the rows, in any order, is one fit."""

    @given(
        kind=st.sampled_from(KINDS),
        engine=st.sampled_from(["primal", "moments"]),
        lam=st.sampled_from([0.05, 0.5, 0.0]),
        domain=st.sampled_from([(0, 1), (-1, 1)]),
        weighted=st.booleans(),
        free=st.booleans(),
        cuts=st.lists(st.integers(1, 239), max_size=6, unique=True),
        seed=st.integers(0, 2**32 - 1),
    )
    @settings(max_examples=60, deadline=None)
    def test_any_split_and_order(self, kind, engine, lam, domain, weighted, free, cuts, seed):
        model, X, y, more = task(kind)
        model.set_params(engine=engine, lam=lam, domain=domain, penalize_constant=not free)
        rng = np.random.default_rng(seed)
        weight = rng.integers(0, 3, len(X)).astype(float) if weighted else None
        whole = clone(model).fit(X, y, weight)
        parts = np.split(rng.permutation(len(X)), sorted(cuts))
        got = learned(clone(model), X, y, parts, more, weight)
        assert gap(got, whole, X) <= 1e-10
        assert_allclose(got.scaling_.lower, whole.scaling_.lower, rtol=0)
        assert_allclose(got.scaling_.upper, whole.scaling_.upper, rtol=0)
        assert got.term_coef_.shape == whole.term_coef_.shape
        assert_array_equal(got.predict(X).shape, whole.predict(X).shape)
        if kind not in ("real", "reals"):
            assert_array_equal(got.classes_, whole.classes_)
            assert got.classes_.dtype == whole.classes_.dtype
        merged = sum(learned(clone(model), X, y, [part], more, weight) for part in parts)
        assert gap(merged, whole, X) <= 1e-10
        assert merged.n_samples_seen_ == got.n_samples_seen_

    @pytest.mark.parametrize("kind", KINDS)
    def test_rows_one_by_one(self, kind):
        model, X, y, more = task(kind, n=60)
        got = learned(clone(model), X, y, np.arange(60)[:, np.newaxis], more)
        assert gap(got, model.fit(X, y), X) <= 1e-10

    def test_a_box_that_grows_a_thousandfold(self):
        X, y = rows(400)
        order = np.argsort(np.abs(X[:, 0]))
        got = GegenbauerRegressor(n_terms=84, alpha=1e-3)
        learned(got, X, y, np.array_split(order, 50), {})
        assert gap(got, GegenbauerRegressor(n_terms=84, alpha=1e-3).fit(X, y), X) <= 1e-10

    def test_spectra_and_index_sets(self):
        X, y = rows(300)
        for options in (
            {"n_terms": 60, "index_set": "largest_weight", "spectrum": (0.3, 2.0), "lam": 0.0},
            {"degree": (3, 2, 4), "n_terms": None, "index_set": "tensor", "lam": 0.3},
            {"degree": 5, "n_terms": None, "index_set": "hyperbolic_cross", "max_interaction": 2},
            {"n_terms": 47, "term_order": "grevlex", "spectrum": "orthonormal", "lam": 1.5},
        ):
            for engine in ("primal", "moments"):
                model = GegenbauerRegressor(alpha=0.01, engine=engine, **options)
                got = learned(clone(model), X, y, np.array_split(np.arange(300), 7), {})
                assert gap(got, model.fit(X, y), X) <= 1e-10

    def test_float32(self):
        X, y = rows(300)
        X = X.astype(np.float32)
        got = learned(GegenbauerRegressor(**OPTIONS), X, y, np.array_split(np.arange(300), 4), {})
        assert got.statistics_.resolution == np.finfo(np.float32).eps
        assert gap(got, GegenbauerRegressor(**OPTIONS).fit(X, y), X) <= 1e-10

    def test_a_constant_column_that_varies_later(self):
        X, y = rows(200)
        X[:120, 1] = 4.0
        X[:, 2] = 7.0
        parts = np.array_split(np.arange(200), 5)
        got = learned(GegenbauerRegressor(**OPTIONS), X, y, parts, {})
        whole = GegenbauerRegressor(**OPTIONS).fit(X, y)
        assert_array_equal(got.scaling_.is_constant, [False, False, True])
        assert gap(got, whole, X) <= 1e-10

    @pytest.mark.parametrize("engine", ["primal", "moments"])
    @pytest.mark.parametrize("kind", ["fine", "coarse", "nanoseconds", "one sample"])
    def test_batches_that_look_constant(self, engine, kind):
        """Sorted, so that each is narrow beside its magnitude, and the whole is not."""
        rng = np.random.default_rng(0)
        if kind == "fine":
            x = (1000 + rng.uniform(-1e-3, 1e-3, 200)).astype(np.float32)
        elif kind == "coarse":
            x = (1000 + rng.uniform(-1e-2, 1e-2, 200)).astype(np.float32)
        elif kind == "nanoseconds":
            x = 1.7e18 + rng.integers(-3000, 3000, 200)
        else:
            x = 3.0 + np.arange(200.0)
        X = np.sort(x)[:, np.newaxis]
        y = (np.arange(200) > 100) + 0.05 * rng.normal(size=200)
        model = GegenbauerRegressor(n_terms=4, alpha=1e-3, engine=engine)
        parts = [slice(0, 1), *(slice(i, i + 20) for i in range(1, 200, 20))]
        whole = clone(model).fit(X, y)
        streamed = clone(model).fit_stream([(X[rows], y[rows]) for rows in parts])
        merged = sum(clone(model).fit_stream([(X[rows], y[rows])]) for rows in parts[::-1])
        assert whole.score(X, y) > 0.7
        for got in (streamed, merged):
            assert got.scaling_ == whole.scaling_
            assert gap(got, whole, X) <= 1e-10
        forgotten = streamed.forget(X[50:90], y[50:90])
        X, y = np.delete(X, slice(50, 90), axis=0), np.delete(y, slice(50, 90))
        assert gap(forgotten, clone(model).fit(X, y), X) <= 1e-8

    def test_a_checkpoint_of_narrow_batches(self, tmp_path):
        X = np.sort((1000 + np.linspace(-1e-3, 1e-3, 60)).astype(np.float32))[:, np.newaxis]
        y = 1e8 + np.sin(np.arange(60.0))
        first, rest = slice(0, 20), slice(20, 60)
        model = GegenbauerRegressor(n_terms=4, alpha=1e-3, penalize_constant=False)
        expected = clone(model).fit(X, y)
        got = clone(model).partial_fit(X[first], y[first])
        assert got.scaling_.is_constant.all()
        save(got, tmp_path / "model.safetensors")
        for twin in (load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(got))):
            assert twin.statistics_ == got.statistics_
            twin.partial_fit(X[rest], y[rest])
            assert_allclose(twin.predict(X), expected.predict(X), rtol=0, atol=1e-6)

    def test_class_weight(self):
        _, X, y, more = task("four")
        model = GegenbauerClassifier(class_weight={"a": 3.0, "c": 0.5}, **OPTIONS)
        parts = np.array_split(np.arange(len(X)), 3)
        assert gap(learned(clone(model), X, y, parts, more), model.fit(X, y), X) <= 1e-10

    def test_bitwise_identical_for_any_number_of_threads(self):
        X, y = rows(5000, 4)
        parts = [slice(0, 90), slice(90, 5000)]
        found = [
            learned(
                GegenbauerRegressor(n_terms=200, n_jobs=n), X, y, parts, {}
            ).term_coef_.tobytes()
            for n in (1, 2, 3)
        ]
        assert found[0] == found[1] == found[2]


class TestState:
    def test_solved_when_needed(self):
        X, y = rows()
        model = GegenbauerRegressor(**OPTIONS).partial_fit(X, y)
        assert model._solution is None
        assert model.term_coef_.shape == (35,)
        assert model._solution is not None
        assert (model.engine_, model.solver_, model.precision_) == (
            "moments",
            "cholesky",
            "float64",
        )
        model.partial_fit(X[:5], y[:5])
        assert model._solution is None
        assert model.n_samples_seen_ == model.statistics_.n_samples == 245
        with pytest.raises(AttributeError, match="not fitted yet"):
            GegenbauerRegressor().term_coef_  # noqa: B018

    @pytest.mark.parametrize("kind", KINDS)
    def test_copies_go_on_alone(self, kind):
        model, X, y, more = task(kind)
        model.partial_fit(X[:100], y[:100], **more)
        before = model.statistics_._packed().tobytes()
        for twin in (copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model))):
            assert twin.statistics_ == model.statistics_
            twin.partial_fit(X[100:], y[100:])
            assert gap(twin, clone(model).fit(X, y), X) <= 1e-10
            assert model.statistics_._packed().tobytes() == before

    def test_fit_begins_anew(self):
        X, y = rows()
        model = GegenbauerRegressor(**OPTIONS).partial_fit(X, y).fit(X[:50], y[:50])
        assert not hasattr(model, "statistics_")
        assert_array_equal(
            model.term_coef_, GegenbauerRegressor(**OPTIONS).fit(X[:50], y[:50]).term_coef_
        )
        with pytest.raises(AttributeError, match=r"no partial_fit here: .* was learned by fit"):
            model.partial_fit(X, y)
        with pytest.raises(ValueError, match="holds no statistics of its samples"):
            model.choose_alpha()

    @pytest.mark.parametrize("cls", BOTH)
    def test_a_failed_batch_changes_nothing(self, cls):
        X, y = rows()
        y = y > 0
        more = {} if cls is GegenbauerRegressor else {"classes": [False, True]}
        model = cls(**OPTIONS).partial_fit(X[:50], y[:50], **more)
        before = {**vars(model)}
        bad = X[50:].copy()
        bad[3, 1] = np.nan
        for call in (
            lambda: model.partial_fit(bad, y[50:]),
            lambda: model.partial_fit(X[50:, :2], y[50:]),
            lambda: model.partial_fit(X[50:], y[51:]),
            lambda: model.partial_fit(X[50:], y[50:], sample_weight=-np.ones(190)),
            lambda: model.forget(X, y),
        ):
            with pytest.raises(ValueError, match=r".+"):
                call()
            assert vars(model) == before

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"engine": "dual"}, "`engine='dual'` needs all samples at once"),
            ({"engine": "kernel"}, "`engine='kernel'` needs all samples at once"),
            ({"solver": "orthogonal"}, "`solver='orthogonal'` needs all samples at once"),
            ({"class_weight": "balanced"}, "pass a dict"),
        ],
    )
    def test_what_needs_all_rows(self, options, message):
        X, y = rows()
        model = GegenbauerClassifier(**OPTIONS, **options)
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError, match=message):
            model.partial_fit(X, y > 0, classes=[False, True])
        with pytest.raises(ValueError, match=message):
            model.fit_stream([(X, y > 0)])

    def test_way_of_summing(self):
        X, y = rows()
        for engine, kind in (("primal", GramStatistics), ("moments", MomentStatistics)):
            model = GegenbauerRegressor(engine=engine, **OPTIONS).partial_fit(X, y)
            assert type(model.statistics_) is kind
            assert model.engine_ == engine
        many = np.random.default_rng(0).uniform(size=(50, 80))  # too many for moments
        model = GegenbauerRegressor(n_terms=3321, engine="moments")
        assert type(model.partial_fit(many, many[:, 0]).statistics_) is GramStatistics
        # moments of large lam lose digits
        model = GegenbauerRegressor(lam=4.0, **OPTIONS).partial_fit(X, y)
        assert type(model.statistics_) is GramStatistics

    def test_parameters_that_change_in_between(self):
        X, y = rows()
        for name, value in (("lam", 0.3), ("n_terms", 20), ("out_of_range", "extrapolate"),
                            ("bounds", [(0, 1)] * 3), ("spectrum", (0.5, 1.0))):  # fmt: skip
            model = GegenbauerRegressor(**OPTIONS).partial_fit(X, y).set_params(**{name: value})
            for call in (model.partial_fit, model.forget):
                with pytest.raises(
                    ValueError, match=rf"`{name}` was .* and\s+is .* now: set it back"
                ):
                    call(X, y)
        model = GegenbauerRegressor(**OPTIONS).partial_fit(X, y).set_params(alpha=2.0, n_jobs=1)
        assert model.partial_fit(X, y).n_samples_seen_ == 480

    def test_nothing_left(self):
        X, y = rows()
        model = GegenbauerRegressor(**OPTIONS).partial_fit(X, y).forget(X, y)
        with pytest.raises(ValueError, match="all samples were forgotten again"):
            model.predict(X)
        with pytest.raises(ValueError, match="y must have 1 columns, as in the batches before"):
            model.partial_fit(X, X)

    def test_rows_of_no_weight(self):
        X, y = rows()
        nothing = np.zeros(len(X))
        model = GegenbauerRegressor(**OPTIONS).partial_fit(1e9 * X, y, nothing)
        assert not hasattr(model, "statistics_")
        with pytest.raises(NotFittedError):
            model.predict(X)
        model.partial_fit(X, y).partial_fit(1e9 * X, y, nothing)
        assert model.n_samples_seen_ == 240
        assert_allclose(model.predict(X), GegenbauerRegressor(**OPTIONS).fit(X, y).predict(X))


class TestFeatureRange:
    RANGE = ((-2.0, 2.0), (0.0, 1.0), (5.0, 9.0))

    def inputs(self, n=300):
        return np.random.default_rng(1).uniform(*np.transpose(self.RANGE), (n, 3))

    def test_fit_and_batches_take_it(self):
        X = self.inputs()
        y = X[:, 0] * X[:, 1]
        model = GegenbauerRegressor(bounds=self.RANGE, **OPTIONS)
        got = learned(clone(model), X, y, np.array_split(np.arange(300), 9), {})
        whole = model.fit(X, y)
        assert_array_equal(whole.scaling_.lower, [-2, 0, 5])
        assert gap(got, whole, X) <= 1e-10
        assert got.n_out_of_range_ == 0
        assert gap(got, GegenbauerRegressor(**OPTIONS).fit(X, y), X) > 1e-6  # another box

    def test_rows_beyond(self):
        X = self.inputs()
        X[[3, 70], 0] = 5.0
        y = X[:, 1]
        model = GegenbauerRegressor(bounds=self.RANGE, **OPTIONS)
        clipped = clone(model).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
        assert clipped.n_out_of_range_ == 2
        inside = np.clip(X, *np.transpose(self.RANGE))
        assert_allclose(clipped.predict(X), clone(model).fit(inside, y).predict(inside), rtol=1e-9)
        for fit in ("fit", "partial_fit"):
            with pytest.warns(OutOfRangeWarning, match="2 of 300 samples lie outside"):
                getattr(clone(model).set_params(out_of_range="warn"), fit)(X, y)
            with pytest.raises(ValueError, match=r"in 2 of them \(first in row 3, where it is 5"):
                getattr(clone(model).set_params(out_of_range="error"), fit)(X, y)
        beyond = clone(model).set_params(out_of_range="extrapolate")
        apart = clone(beyond).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
        assert_allclose(apart.predict(X), beyond.fit(X, y).predict(X), rtol=1e-8, atol=1e-9)

    @pytest.mark.parametrize(
        "bad",
        [[(0, 1)], [(0, 1), (0, 1), (1, 0)], [(0, 1), (0, 1), (0, np.inf)], [1, 2, 3], "abc",
         [(0, 1), (1, 1), (0, 1)]],
    )  # fmt: skip
    @pytest.mark.parametrize("fit", ["fit", "partial_fit"])
    def test_bad(self, bad, fit):
        with pytest.raises(ValueError, match=r"(?s)`bounds` must .*lower < upper|bounds.*abc"):
            getattr(GegenbauerRegressor(bounds=bad), fit)(self.inputs(), np.arange(300))

    def test_is_saved(self, tmp_path):
        X = self.inputs()
        model = GegenbauerRegressor(bounds=self.RANGE, **OPTIONS).fit(X, X[:, 0])
        save(model, tmp_path / "m")
        assert load(tmp_path / "m").bounds == self.RANGE


class TestClasses:
    @pytest.mark.parametrize("kind", [list, tuple, np.array])
    def test_announced_once(self, kind):
        model, X, y, _ = task("four")
        announced = kind(["d", "c", "b", "a"])
        only_a = y == "a"
        got = clone(model).partial_fit(X[only_a], y[only_a], classes=announced)
        assert got.classes_.tolist() == ["a", "b", "c", "d"]
        got.partial_fit(X[~only_a], y[~only_a], classes=announced)
        assert gap(got, model.fit(X, y), X) <= 1e-10

    def test_never_announced(self):
        model, X, y, _ = task("four")
        with pytest.raises(ValueError, match="first call of partial_fit needs `classes`"):
            model.partial_fit(X, y)
        model.partial_fit(X[y != "d"], y[y != "d"], classes=["a", "b", "c"])
        first = int((y == "d").argmax())
        with pytest.raises(ValueError, match=rf"label 'd' \(first in row {first}\).*'a', 'b', 'c'"):
            model.partial_fit(X, y)
        with pytest.raises(ValueError, match="`classes` must be the same in all calls"):
            model.partial_fit(X, y, classes=["a", "d"])
        with pytest.raises(ValueError, match="at least two labels"):
            clone(model).partial_fit(X, y, classes=["a"])
        for bad in ("ab", [["a", "b"]], 3):
            with pytest.raises(ValueError, match="`classes` must be a sequence of labels"):
                clone(model).partial_fit(X, y, classes=bad)

    def test_a_class_that_has_no_row(self):
        model, X, y, _ = task("binary")
        model.partial_fit(X, y, classes=["a", "b", "nobody"])
        assert model.decision_function(X).shape == (240, 3)
        assert set(model.predict(X)) <= {"a", "b"}

    def test_grow_in_streams(self):
        model, X, y, _ = task("four")
        order = np.argsort(y, kind="stable")[::-1]  # d first
        batches = [(X[part], y[part]) for part in np.array_split(order, 9)]
        got = clone(model).fit_stream(batches)
        assert got.classes_.tolist() == ["a", "b", "c", "d"]
        assert gap(got, model.fit(X, y), X) <= 1e-10
        with pytest.raises(StreamError, match=r"batch 2 .*label 'c' \(first in row \d+ of these\)"):
            clone(model).fit_stream(batches, classes=["a", "b", "d"])

    def test_merge_of_different_classes(self):
        model, X, y, _ = task("four")
        halves = [np.isin(y, ["a", "c"]), np.isin(y, ["b", "d"])]
        parts = [clone(model).fit_stream([(X[half], y[half])]) for half in halves]
        assert gap(parts[0] + parts[1], clone(model).fit(X, y), X) <= 1e-10
        assert gap(parts[1] + parts[0], model.fit(X, y), X) <= 1e-10
        assert parts[0].classes_.tolist() == ["a", "c"]

    def test_one_class_only(self):
        model, X, y, _ = task("binary")
        parts = [clone(model).fit_stream([(X[y == label], y[y == label])]) for label in "ab"]
        with pytest.raises(ValueError, match="all samples so far have the label 'a'"):
            parts[0].predict(X)
        assert gap(sum(parts), model.fit(X, y), X) <= 1e-10

    @pytest.mark.parametrize(
        "labels", [np.array([3, 1]), np.array([True, False]), "object", "wide"]
    )
    def test_kinds_of_labels(self, labels):
        model, X, y, _ = task("binary")
        if isinstance(labels, str):
            labels = np.array(["no", "yes"], dtype=object if labels == "object" else "<U9")
        y = labels[(y == "a").astype(int)]
        got = clone(model).partial_fit(X[:99], y[:99], classes=labels).partial_fit(X[99:], y[99:])
        assert_array_equal(got.predict(X), model.fit(X, y).predict(X))
        assert got.classes_.dtype == model.classes_.dtype

    def test_text_and_numbers(self):
        model, X, y, _ = task("binary")
        with pytest.raises(StreamError, match="they were text such as 'a', and are numbers"):
            model.fit_stream([(X, y), (X, np.arange(240) % 2)])
        with pytest.raises(ValueError, match="objects of the types int, str"):
            model.partial_fit(X, y, classes=["a", "b", 1])

    def test_multilabel_all_along(self):
        model, X, y, _ = task("multilabel")
        model.partial_fit(X, y, classes=range(3))
        with pytest.raises(ValueError, match="in all batches or in none"):
            model.partial_fit(X, y[:, 0])
        with pytest.raises(ValueError, match="3 columns"):
            model.partial_fit(X, np.column_stack([y, y]))

    @pytest.mark.parametrize("classes", [[0, 1, 2], ["c", "a", "b"]])
    def test_names_of_labels(self, classes):
        model, X, y, _ = task("multilabel")
        table = pd.DataFrame(y, columns=["b", "a", "c"])
        model.partial_fit(X, table, classes=classes)
        assert model.label_names_.tolist() == ["b", "a", "c"]
        assert model.classes_.tolist() == [[0, 1]] * 3
        model.partial_fit(X, y, classes=classes)  # without names, in the same order
        model.partial_fit(X, table)
        with pytest.raises(ValueError, match=r"same order: they were 'b', 'a', 'c' and are 'a'"):
            model.partial_fit(X, table[["a", "b", "c"]])
        with pytest.raises(ValueError, match="numbers of its columns, 0 to 2, or their names"):
            model.partial_fit(X, table, classes=["a", "b", "z"])

    def test_names_of_labels_are_merged(self):
        model, X, y, _ = task("multilabel")
        table = pd.DataFrame(y, columns=["b", "a", "c"])
        plain = copy.copy(model).partial_fit(X, y, classes=range(3))
        named = copy.copy(model).partial_fit(X, table, classes=range(3))
        for whole in (plain + named, named + plain):
            assert whole.label_names_.tolist() == ["b", "a", "c"]
        other = copy.copy(model).partial_fit(X, table[["a", "b", "c"]], classes=range(3))
        with pytest.raises(ValueError, match="same labels in the same order"):
            named + other

    @pytest.mark.parametrize("classes", [["x", "y", "z"], [1, 2, 3], [0, 1]])
    def test_classes_that_are_no_labels(self, classes):
        model, X, y, _ = task("multilabel")
        with pytest.raises(ValueError, match=r"columns.* 0 to 2; got|3$"):
            model.partial_fit(X, y, classes=classes)

    def test_class_weight_names_an_unknown_class(self):
        model, X, y, more = task("binary")
        model.set_params(class_weight={"z": 2.0})
        with pytest.raises(ValueError, match=r"`class_weight` has the keys \['z'\]"):
            model.partial_fit(X, y, **more)
        with pytest.raises(ValueError, match=r"`class_weight` has the keys \['z'\]"):
            model.fit_stream([(X, y)]).predict(X)


class TestForget:
    @pytest.mark.parametrize("kind", KINDS)
    def test_as_if_never_learned(self, kind):
        model, X, y, more = task(kind)
        weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
        extremes = np.unique([*X.argmin(axis=0), *X.argmax(axis=0)])
        gone = np.setdiff1d(np.arange(30, 90), extremes)
        kept = np.setdiff1d(np.arange(len(X)), gone)
        got = learned(clone(model), X, y, [slice(0, 100), slice(100, 240)], more, weight)
        got.forget(X[gone], y[gone], weight[gone])
        assert got.n_samples_seen_ == kept.size
        assert gap(got, model.fit(X[kept], y[kept], weight[kept]), X[kept]) <= 1e-10

    def test_what_was_never_there(self):
        X, y = rows()
        model = GegenbauerRegressor(**OPTIONS).partial_fit(X, y)
        with pytest.raises(ValueError, match="row 1 lies outside of the range of all rows seen"):
            model.forget(np.array([X[0], X.max(axis=0) + 1]), y[:2])
        with pytest.raises(ValueError, match="cannot take a weight of 1000 away from 240"):
            model.forget(X[:10], y[:10], np.full(10, 100.0))
        with pytest.raises(ValueError, match="cannot take 480 samples away from 240"):
            model.forget(np.vstack([X, X]), np.append(y, y))

    def test_clipped_rows(self):
        X = np.linspace(-1, 2, 60)[:, np.newaxis]
        box = np.array([(0.0, 1.0)])
        model = GegenbauerRegressor(n_terms=4, bounds=box).partial_fit(X, X[:, 0])
        model.forget(X[:10], X[:10, 0])
        model.forget(X[:5], X[:5, 0], np.zeros(5))
        rest = GegenbauerRegressor(n_terms=4, bounds=box).partial_fit(X[10:], X[10:, 0])
        assert model.n_out_of_range_ == rest.n_out_of_range_
        assert_allclose(model.term_coef_, rest.term_coef_, rtol=1e-9)


class TestMerge:
    def test_commutative_and_associative(self):
        model, X, y, more = task("four")
        a, b, c = (
            learned(clone(model), X, y, [part], more)
            for part in np.array_split(np.argsort(X[:, 0]), 3)
        )
        assert gap(a + b, b + a, X) <= 1e-12
        assert gap((a + b) + c, a + (b + c), X) <= 1e-12
        before = a.statistics_._packed().tobytes()
        assert sum([a]).statistics_ == a.statistics_
        a + b
        assert a.statistics_._packed().tobytes() == before

    def test_alpha_of_the_first(self):
        X, y = rows()
        a, b = (GegenbauerRegressor(n_terms=9, alpha=g).partial_fit(X, y) for g in (0.5, 0.25))
        assert (a + b).alpha == 0.5

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"lam": 0.1}, "`lam` is 0.05 here and 0.1 there"),
            ({"bounds": [(-1e3, 1e3)] * 3}, "`bounds` is None here"),
            ({"engine": "primal"}, "MomentStatistics and the other GramStatistics"),
        ],
    )
    def test_other_parameters(self, change, message):
        X, y = rows()
        a = GegenbauerRegressor(**OPTIONS).partial_fit(X, y)
        with pytest.raises(ValueError, match=message):
            a + GegenbauerRegressor(**OPTIONS, **change).partial_fit(X, y)

    def test_other_inputs(self):
        pd = pytest.importorskip("pandas")
        X, y = rows()
        a = GegenbauerRegressor(**OPTIONS).partial_fit(pd.DataFrame(X, columns=["u", "v", "w"]), y)
        b = GegenbauerRegressor(**OPTIONS).partial_fit(pd.DataFrame(X, columns=["u", "w", "v"]), y)
        with pytest.raises(ValueError, match="the same inputs"):
            a + b
        with pytest.raises(TypeError):
            a + 1
        with pytest.raises(ValueError, match="holds no statistics"):
            a + GegenbauerRegressor(**OPTIONS).fit(X, y)
        with pytest.raises(TypeError):
            a + GegenbauerClassifier(**OPTIONS).partial_fit(X, y > 0, classes=[False, True])

    def test_outputs_of_other_shapes(self):
        X, y = rows()
        a = GegenbauerRegressor(**OPTIONS).partial_fit(X, y)
        b = GegenbauerRegressor(**OPTIONS).partial_fit(X, y[:, np.newaxis])
        with pytest.raises(ValueError, match="one dimension here and two there"):
            a + b


class TestAlpha:
    ALPHAS = 2.0 ** np.arange(-20, 11, 3)

    @pytest.mark.parametrize("penalize", [True, False])
    @pytest.mark.parametrize("kind", KINDS)
    def test_gcv_is_that_of_the_data(self, kind, penalize):
        model, X, y, more = task(kind)
        model.set_params(penalize_constant=penalize)
        got = learned(clone(model), X, y, np.array_split(np.arange(240), 5), more)
        got.choose_alpha(self.ALPHAS)
        targets = y
        if kind == "binary":
            targets = np.where(y == "b", 1.0, -1.0)
        elif kind == "four":
            targets = np.where(y[:, np.newaxis] == np.unique(y), 1.0, -1.0)
        elif kind == "multilabel":
            targets = 2.0 * y - 1.0
        path = RidgePath(got.basis_, X, targets, scaling=got.scaling_, penalize_constant=penalize)
        expected = path.gcv(self.ALPHAS).sum(axis=1)
        assert_allclose(-got.alpha_results_["score"], expected, rtol=1e-7)
        assert got.alpha == self.ALPHAS[expected.argmin()]
        assert gap(got, clone(model).set_params(alpha=got.alpha).fit(X, y), X) <= 1e-9

    @pytest.mark.parametrize("kind", KINDS)
    def test_rows_held_out(self, kind):
        model, X, y, more = task(kind)
        got = learned(clone(model), X, y, [slice(0, 160)], more)
        got.choose_alpha(self.ALPHAS, held_out=[(X[160:200], y[160:200]), (X[200:], y[200:])])
        losses = []
        for alpha in self.ALPHAS:
            one = clone(model).set_params(alpha=alpha).fit(X[:160], y[:160])
            p = outputs(one, X[160:])
            t = y[160:]
            if kind == "binary":
                t = np.where(t == "b", 1.0, -1.0)
            elif kind == "four":
                t = np.where(t[:, np.newaxis] == one.classes_, 1.0, -1.0)
            elif kind == "multilabel":
                t = 2.0 * t - 1.0
            losses.append(((p - t) ** 2).reshape(80, -1).sum(axis=1).mean())
        assert_allclose(-got.alpha_results_["score"], losses, rtol=1e-7)
        assert got.alpha == self.ALPHAS[np.argmin(losses)]

    @pytest.mark.parametrize("engine", ["primal", "moments"])
    @pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
    def test_a_constant_added_to_the_targets_changes_no_choice(self, engine, offset):
        rng = np.random.default_rng(0)
        X, X_new = rng.uniform(size=(300, 2)), rng.uniform(size=(100, 2))
        y = np.sin(6 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=300)
        y_new = np.sin(6 * X_new[:, 0]) * X_new[:, 1]
        model = GegenbauerRegressor(
            degree=8, n_terms=None, spectrum="orthonormal", penalize_constant=False, engine=engine
        )
        parts = [slice(200, 300), slice(0, 20), slice(20, 200)]
        model.fit_stream([(X[rows], y[rows] + offset) for rows in parts])
        again = (X[50:90], y[50:90] + offset)
        model.partial_fit(*again).forget(*again)
        alphas = 2.0 ** np.arange(-20, 21, 2)
        path = RidgePath(model.basis_, X, y, scaling=model.scaling_, penalize_constant=False)
        expected = path.gcv(alphas)[:, 0]
        model.choose_alpha(alphas)
        # the offset rounds the targets themselves
        rtol = 1e-8 + 1e-15 * offset
        assert_allclose(-model.alpha_results_["score"], expected, rtol=rtol)
        assert model.alpha == alphas[expected.argmin()]
        expected = ((path.predict(X_new, alphas)[:, :, 0] - y_new) ** 2).mean(axis=1)
        held_out = [(X_new[rows], y_new[rows] + offset) for rows in (slice(30), slice(30, 100))]
        model.choose_alpha(alphas, held_out=held_out)
        assert_allclose(-model.alpha_results_["score"], expected, rtol=10 * rtol)
        assert model.alpha == alphas[expected.argmin()]

    @pytest.mark.parametrize("held_out", [False, True])
    @pytest.mark.parametrize("order", [1, -1])
    def test_below_the_rounding_of_sums_the_largest_penalty_is_chosen(self, held_out, order):
        """A polynomial without noise: of all penalties whose residuals drown it is the largest."""
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, size=(400, 2))
        y = X[:, 0] ** 3 - X[:, 0] * X[:, 1]
        model = GegenbauerRegressor(
            degree=4, n_terms=None, spectrum="orthonormal", penalize_constant=False
        ).fit_stream([(X[:200], y[:200]), (X[200:], y[200:])])
        alphas = 2.0 ** np.arange(-42, 1)[::order]
        Z = rng.uniform(-0.9, 0.9, size=(300, 2))
        z = Z[:, 0] ** 3 - Z[:, 0] * Z[:, 1]
        model.choose_alpha(alphas, held_out=[(Z, z)] if held_out else None)
        # with exact residuals, those of sums drown below 4096 eps of the squared targets
        path = RidgePath(model.basis_, X, y, scaling=model.scaling_, penalize_constant=False)
        rows, target = (Z, z) if held_out else (X, y)
        left = path.predict(rows, alphas)[:, :, 0] - target
        share = (left**2).sum(axis=1) / ((target - target.mean()) ** 2).sum()
        drown = alphas[share < 4096 * np.finfo(float).eps]
        assert 10 < drown.size < 30
        assert model.alpha / drown.max() in (0.5, 1.0, 2.0)

    @pytest.mark.parametrize("scale", [2.0**-400, 2.0**480, 2.0**495, 2.0**505])
    def test_squares_of_targets_near_the_end_of_float64(self, scale):
        X, y = rows()
        model = GegenbauerRegressor(**OPTIONS)
        expected = clone(model).partial_fit(X[:160], y[:160])
        got = clone(model).partial_fit(X[:160], y[:160] * scale)
        for held_out in (None, [(X[160:], y[160:])]):
            scaled = held_out and [(X[160:], y[160:] * scale)]
            expected.choose_alpha(self.ALPHAS, held_out=held_out)
            got.choose_alpha(self.ALPHAS, held_out=scaled)
            assert got.alpha == expected.alpha
            assert_allclose(got.predict(X) / scale, expected.predict(X), rtol=1e-9, atol=1e-9)
            assert_allclose(
                got.alpha_results_["score"] / scale / scale,
                expected.alpha_results_["score"],
                rtol=1e-9,
            )

    def test_refit(self):
        X, y = rows()
        model = GegenbauerRegressor(**OPTIONS).partial_fit(X, y)
        before = model.term_coef_
        model.set_params(alpha=4.0)
        assert_array_equal(model.term_coef_, before)  # a parameter is for the next solve
        assert gap(model.refit(), GegenbauerRegressor(n_terms=35, alpha=4.0).fit(X, y), X) <= 1e-11
        assert model.refit(0.25).alpha == 0.25
        assert gap(model, GegenbauerRegressor(n_terms=35, alpha=0.25).fit(X, y), X) <= 1e-11

    def test_bad(self):
        X, y = rows()
        model = GegenbauerRegressor(**OPTIONS).partial_fit(X, y)
        with pytest.raises(ValueError, match="`alphas` must be positive"):
            model.choose_alpha([0.0, 1.0])
        with pytest.raises(TypeError, match="`alphas` must hold real numbers"):
            model.choose_alpha("many")
        with pytest.raises(ValueError, match="`alpha` must be a finite number"):
            model.refit(-1.0)
        with pytest.raises(ValueError, match="held_out has no samples"):
            model.choose_alpha(held_out=[])
        with pytest.raises(StreamError, match="held_out, batch 0 "):
            model.choose_alpha(held_out=[(X[:, :2], y)])
        assert model.alpha == OPTIONS["alpha"]

    def test_too_small_a_alpha(self):
        x = np.linspace(0, 1, 5)[:, np.newaxis]
        model = GegenbauerRegressor(n_terms=40, lam=0.5, alpha=0.0).fit_stream([(x, x[:, 0])])
        with pytest.raises(np.linalg.LinAlgError, match=r"raise `alpha` \(now 0\), by `refit"):
            model.predict(x)
        model.choose_alpha()  # what was learned is still there
        assert model.alpha > 0

    def test_what_sums_are_too_coarse_for(self):
        X, y = rows(2000)
        model = GegenbauerRegressor(n_terms=120, lam=0.5).partial_fit(X, y)
        alphas = 2.0 ** np.arange(-60, 11, 2)
        model.choose_alpha(alphas)
        scores = model.alpha_results_["score"]
        # none that are so small that its rounding would count are chosen
        coarse = alphas < 1e-14 * np.linalg.eigvalsh(model.statistics_.gram)[-1]
        assert coarse.sum() > 3
        assert np.isneginf(scores[coarse]).all()
        assert np.isfinite(scores[-10:]).all()
        with pytest.warns(IllConditionedWarning, match=r"or `fit\(\)` to refine from the samples"):
            model.refit(alphas[coarse][-1])
        with pytest.raises(
            ValueError, match="all of `alphas` are too small for the accuracy of sums"
        ):
            model.choose_alpha(alphas[coarse])


class TestStream:
    def batches(self, kind="four", n=8):
        model, X, y, _ = task(kind)
        return model, X, y, [(X[p], y[p]) for p in np.array_split(np.arange(len(X)), n)]

    @pytest.mark.parametrize("kind", KINDS)
    def test_sources(self, kind, tmp_path):
        model, X, y, batches = self.batches(kind)
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        weighted = [(*batch, np.ones(len(batch[0]))) for batch in batches]
        whole = clone(model).fit(X, y)
        for source in (batches, iter(batches), (b for b in batches), weighted,
                       ArrayBatches(mapped, y, batch_size=37)):  # fmt: skip
            got = clone(model).fit_stream(source)
            assert gap(got, whole, X) <= 1e-10
            assert got.n_samples_seen_ == 240

    def test_again_is_anew(self):
        model, _, _, batches = self.batches()
        first = copy.copy(model.fit_stream(batches))
        model.fit_stream(batches)
        assert model.statistics_ == first.statistics_

    def test_empty(self):
        model, _X, y, batches = self.batches()
        empty = (np.empty((0, 3)), np.empty(0, dtype=y.dtype))
        got = clone(model).fit_stream([empty, *batches, empty])
        assert got.statistics_ == model.fit_stream(batches).statistics_
        for nothing in ([], [empty]):
            with pytest.raises(ValueError, match="the batches held no samples"):
                clone(model).fit_stream(nothing)

    def test_callback_and_bar(self, capsys):
        model, X, y, batches = self.batches(n=3)
        seen = []
        model.fit_stream(batches, callback=lambda *given: seen.append(given), verbose=True)
        assert seen == [(80, None), (160, None), (240, None)]
        assert "samples" in capsys.readouterr().err
        seen.clear()
        model.fit_stream(ArrayBatches(X, y, batch_size=200), callback=lambda *t: seen.append(t))
        assert seen == [(200, 240), (240, 240)]

    def test_no_batch(self):
        with pytest.raises(StreamError, match="batch 1"):
            GegenbauerRegressor().fit_stream([([[1.0]], [1.0]), (None, [1.0])])

    def test_a_bad_batch_is_named(self):
        model, _X, _, batches = self.batches()
        bad = batches[5][0].copy()
        bad[7, 2] = np.inf
        batches[5] = (bad, batches[5][1])
        before = {**vars(model)}
        with pytest.raises(StreamError, match=r"batch 5 \(rows 150 to 179\).* column 2 .*row 7"):
            model.fit_stream(batches)
        assert vars(model) == before

    def test_parameters_are_no_fault_of_rows(self):
        """Which what is wrong with rows is."""
        X, y = np.linspace(0, 1, 20).reshape(10, 2), np.arange(10.0)
        with pytest.raises(ValueError, match=r"^`max_interaction` must be at most"):
            GegenbauerRegressor(3, max_interaction=2**63).fit_stream([(X, y)])
        with pytest.raises(StreamError, match=r"^batch 0"):
            GegenbauerRegressor(3).fit_stream([(np.where(X > 0.5, np.inf, X), y)])

    @pytest.mark.parametrize("engine", ["auto", "moments"])
    @pytest.mark.parametrize("lam", [1e-17, -1e-17, 1e-320])
    @pytest.mark.parametrize("spectrum", [None, "orthonormal"])
    def test_lam_that_vanishes_beside_one(self, engine, lam, spectrum):
        """There the recurrence of the moments' coefficients ends in 0 / 0."""
        X = np.random.default_rng(0).random((60, 3))
        options = {"n_terms": 50, "lam": lam, "spectrum": spectrum}
        model = GegenbauerRegressor(**options, engine=engine).fit_stream([(X, X[:, 0])])
        expected = GegenbauerRegressor(**options).fit(X, X[:, 0])
        assert_allclose(model.predict(X), expected.predict(X), rtol=1e-7, atol=1e-9)


class TestCheckpoint:
    def test_going_on_is_bitwise_identical(self, tmp_path):
        model, _X, _y, batches = TestStream().batches()
        whole = clone(model).fit_stream(batches)
        for stop in range(1, 8):
            path = tmp_path / f"{stop}"

            def broken(stop=stop):
                yield from batches[:stop]
                raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                clone(model).fit_stream(broken(), checkpoint=Checkpoint(path))
            got = clone(model).fit_stream(batches, checkpoint=Checkpoint(path, every_samples=1))
            assert got.statistics_ == whole.statistics_
            assert got.term_coef_.tobytes() == whole.term_coef_.tobytes()
            assert got.classes_.tolist() == whole.classes_.tolist()
            assert not [p for p in tmp_path.iterdir() if "tmp" in p.name]

    def test_of_a_whole_stream(self, tmp_path):
        model, X, y, batches = TestStream().batches("real")
        checkpoint = Checkpoint(tmp_path / "run", every_samples=50)
        done = clone(model).fit_stream(batches, checkpoint=checkpoint)
        again = clone(model).fit_stream(batches, checkpoint=checkpoint)
        assert again.term_coef_.tobytes() == done.term_coef_.tobytes()
        # new batches behind the old ones
        more = clone(model).fit_stream([*batches, (X[:9], y[:9])], checkpoint=checkpoint)
        assert more.n_samples_seen_ == 249
        half = load(tmp_path / "run")  # it is a model as well
        assert half.statistics_ == more.statistics_

    def test_how_often(self, tmp_path, monkeypatch):
        model, _, _, batches = TestStream().batches("real")
        checkpoint = Checkpoint(tmp_path / "run", every_samples=70)
        written = []
        write = checkpoint.write
        monkeypatch.setattr(
            checkpoint, "write",
            lambda model, n, mark: (written.append(model.n_samples_seen_), write(model, n, mark)),
        )  # fmt: skip
        model.fit_stream(batches, checkpoint=checkpoint)
        assert written == [90, 180, 240]

    def test_how_often_by_time(self, tmp_path, monkeypatch):
        model, _, _, batches = TestStream().batches("real")
        checkpoint = Checkpoint(tmp_path / "run", every_seconds=0)
        written = []
        write = checkpoint.write
        monkeypatch.setattr(
            checkpoint, "write", lambda *given: (written.append(given[1]), write(*given))
        )
        model.fit_stream(batches, checkpoint=checkpoint)
        assert written == list(range(1, 9))
        with pytest.raises(ValueError, match="every_seconds"):
            Checkpoint(tmp_path / "run", every_seconds=-1)

    def test_no_room(self, tmp_path, monkeypatch):
        """The error of the batch is the one that is seen, with a note."""
        model, X, y, batches = TestStream().batches("real")

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("gegenbauer.persistence.checkpoint.write_atomically", full)
        bad = [*batches[:5], (X[:9, :2], y[:9])]
        with pytest.raises(StreamError, match=r"batch 5 .*2 features") as caught:
            model.fit_stream(bad, checkpoint=Checkpoint(tmp_path / "run"))
        (note,) = caught.value.__notes__
        assert "the checkpoint cannot be written: No space left" in note
        assert str(tmp_path / "run") in note
        with pytest.raises(OSError, match="the checkpoint cannot be written: No space left"):
            model.fit_stream(batches, checkpoint=Checkpoint(tmp_path / "run"))

    def test_classes_of_another_run(self, tmp_path):
        model, _, _, batches = TestStream().batches("four")
        clone(model).fit_stream(batches[:4], checkpoint=Checkpoint(tmp_path / "run"))
        with pytest.raises(ValueError, match="`classes` must be the same in all calls"):
            model.fit_stream(batches, classes=["a", "b"], checkpoint=Checkpoint(tmp_path / "run"))
        model.set_params(engine="primal")
        with pytest.raises(ValueError, match="`engine='auto'`, and this one has `engine='primal'`"):
            model.fit_stream(batches, checkpoint=Checkpoint(tmp_path / "run"))

    def test_an_iterator_that_was_begun(self, tmp_path):
        model, _, _, batches = TestStream().batches("real")
        reader = iter(batches)

        def interrupt(n_rows, _):
            if n_rows == 60:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            clone(model).fit_stream(
                reader, checkpoint=Checkpoint(tmp_path / "run"), callback=interrupt
            )
        with pytest.raises(ValueError, match="a generator anew, from its beginning"):
            model.fit_stream(reader, checkpoint=Checkpoint(tmp_path / "run"))

    def test_alpha_may_change(self, tmp_path):
        model, X, y, batches = TestStream().batches("real")
        checkpoint = Checkpoint(tmp_path / "run")
        clone(model).fit_stream(batches[:4], checkpoint=checkpoint)
        got = clone(model).set_params(alpha=1.0).fit_stream(batches, checkpoint=checkpoint)
        assert got.alpha == 1.0
        assert gap(got, clone(model).set_params(alpha=1.0).fit(X, y), X) <= 1e-10

    def test_of_something_else(self, tmp_path):
        model, X, y, batches = TestStream().batches("real")
        path = tmp_path / "run"
        clone(model).fit_stream(batches[:4], checkpoint=Checkpoint(path))
        before = path.read_bytes()
        with pytest.raises(ValueError, match=r"`lam=0\.05`, and this one has `lam=0\.1`: give"):
            clone(model).set_params(lam=0.1).fit_stream(batches, checkpoint=Checkpoint(path))
        with pytest.raises(ValueError, match="checkpoint of a GegenbauerRegressor"):
            GegenbauerClassifier().fit_stream([(X, y > 0)], checkpoint=Checkpoint(path))
        others = [(-X_, y_) for X_, y_ in batches]  # of the same lengths
        weighted = [(X_, y_, np.full(len(y_), 2.0)) for X_, y_ in batches]
        for other in ([(X[:7], y[:7])] * 6, others, weighted, ArrayBatches(X, y, batch_size=30)):
            with pytest.raises(ValueError, match="4 other batches"):
                clone(model).fit_stream(other, checkpoint=Checkpoint(path))
        assert path.read_bytes() == before
        save(clone(model).fit(X, y), path)
        with pytest.raises(ModelFileError, match="no checkpoint of a stream"):
            clone(model).fit_stream(batches, checkpoint=Checkpoint(path))
        path.write_bytes(before[:-8])
        with pytest.raises(ModelFileError, match="truncated"):
            clone(model).fit_stream(batches, checkpoint=Checkpoint(path))

    def test_an_error_keeps_what_was_learned(self, tmp_path):
        model, X, y, batches = TestStream().batches("real")
        checkpoint = Checkpoint(tmp_path / "run")
        bad = [*batches[:5], (X[:9, :2], y[:9]), *batches[5:]]
        with pytest.raises(StreamError, match=r"batch 5 .*2 features"):
            clone(model).fit_stream(bad, checkpoint=checkpoint)
        assert load(tmp_path / "run").n_samples_seen_ == 150
        got = clone(model).fit_stream(batches, checkpoint=checkpoint)
        assert got.statistics_ == clone(model).fit_stream(batches).statistics_

    def test_bad_places(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="no folder"):
            Checkpoint(tmp_path / "none" / "run")
        with pytest.raises(OSError, match="folder or a device"):
            Checkpoint(tmp_path)
        with pytest.raises(TypeError, match=r"such as Checkpoint\(path\), got str"):
            GegenbauerRegressor().fit_stream([], checkpoint="run")
        with pytest.raises(ValueError, match="every_samples"):
            Checkpoint(tmp_path / "run", every_samples=0)

    def test_goes_on_from_a_single_class(self, tmp_path):
        """A stream that is sorted by class, its labels as wide as the longest that will come."""
        X, _ = rows()
        X = X[np.argsort(X[:, 0])]
        y = np.where(X[:, 0] > 0, "out", "in")
        batches = [(X[k : k + 40], y[k : k + 40]) for k in range(0, 240, 40)]
        whole = GegenbauerClassifier(**OPTIONS).fit_stream(batches)
        for stop in range(1, 6):
            checkpoint = Checkpoint(tmp_path / f"{stop}")

            def broken(stop=stop):
                yield from batches[:stop]
                raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                GegenbauerClassifier(**OPTIONS).fit_stream(broken(), checkpoint=checkpoint)
            got = GegenbauerClassifier(**OPTIONS).fit_stream(batches, checkpoint=checkpoint)
            assert got.statistics_ == whole.statistics_
            assert_array_equal(got.classes_, ["in", "out"], strict=True)

    @pytest.mark.parametrize("make", [pd.DataFrame, np.asarray, list], ids=lambda f: f.__name__)
    def test_parameters_in_any_kind_of_sequence(self, tmp_path, make):
        X, y = rows()
        bounds = np.column_stack([X.min(axis=0), X.max(axis=0)])
        model = GegenbauerRegressor(n_terms=9, bounds=make(bounds))
        half = clone(model).partial_fit(X[:50], y[:50]).partial_fit(X[50:99], y[50:99])
        batches = [(X[:50], y[:50]), (X[50:99], y[50:99])]
        clone(model).fit_stream(batches[:1], checkpoint=Checkpoint(tmp_path / "run"))
        got = clone(model).fit_stream(batches, checkpoint=Checkpoint(tmp_path / "run"))
        assert got.statistics_ == half.statistics_
        assert (load(tmp_path / "run") + half).n_samples_seen_ == 198

    @pytest.mark.skipif(np.longdouble is np.float64, reason="there is no longer float")
    def test_labels_that_a_checkpoint_cannot_keep(self, tmp_path):
        X, _ = rows()
        y = (X[:, 0] > 0).astype(np.longdouble)
        checkpoint = Checkpoint(tmp_path / "run")
        with pytest.raises(TypeError, match="classes_ has dtype float"):
            GegenbauerClassifier(**OPTIONS).fit_stream([(X, y)], checkpoint=checkpoint)

        def broken():
            yield X, y
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as caught:
            GegenbauerClassifier(**OPTIONS).fit_stream(broken(), checkpoint=checkpoint)
        (note,) = caught.value.__notes__
        assert "classes_ has dtype float" in note
        assert not list(tmp_path.iterdir())

    def test_interrupt_while_a_batch_is_learned(self, tmp_path):
        model, _X, _y, batches = TestStream().batches("real")

        def interrupted():
            yield from batches[:3]
            signal.raise_signal(signal.SIGINT)
            yield from batches[3:]

        checkpoint = Checkpoint(tmp_path / "run")
        with (
            handling(signal.SIGINT, signal.default_int_handler),
            pytest.raises(KeyboardInterrupt) as caught,
        ):
            clone(model).fit_stream(interrupted(), checkpoint=checkpoint)
        assert load(tmp_path / "run").n_samples_seen_ == 90
        (note,) = caught.value.__notes__
        assert note == (
            f"The 3 batches before are kept in {checkpoint.path}, and the same call goes on behind "
            "them."
        )


class TestFiles:
    @pytest.mark.parametrize("engine", ["primal", "moments"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_a_partially_fitted_model_goes_on(self, kind, engine, tmp_path):
        model, X, y, more = task(kind)
        model.set_params(engine=engine)
        half = clone(model).partial_fit(X[:100], y[:100], **more)
        save(half, tmp_path / "half")
        found = load(tmp_path / "half")
        assert found.statistics_ == half.statistics_
        assert found._solution is None
        assert found.term_coef_.tobytes() == half.term_coef_.tobytes()
        save(half, tmp_path / "solved")
        assert load(tmp_path / "solved").term_coef_.tobytes() == half.term_coef_.tobytes()
        found.partial_fit(X[100:], y[100:])
        assert gap(found, clone(model).fit(X, y), X) <= 1e-10
        other = clone(model).partial_fit(X[100:], y[100:], **more)
        assert gap(load(tmp_path / "half") + other, clone(model).fit(X, y), X) <= 1e-10

    @pytest.mark.parametrize(
        "options",
        [
            {"degree": 3, "n_terms": None},
            {"degree": 3},
            {"degree": (2, 1, 3), "n_terms": None, "index_set": "tensor"},
            {"n_terms": 40, "index_set": "largest_weight", "spectrum": (0.3, 1.0), "lam": 0.0},
        ],
    )
    def test_merges_with_a_fresh_one(self, tmp_path, options):
        X, y = rows()
        first, second = (
            GegenbauerRegressor(**options).partial_fit(X[part], y[part])
            for part in (slice(0, 100), slice(100, 240))
        )
        save(first, tmp_path / "first")
        whole = GegenbauerRegressor(**options).fit(X, y)
        assert gap(load(tmp_path / "first") + second, whole, X) <= 1e-10
        assert gap(second + load(tmp_path / "first"), whole, X) <= 1e-10

    def test_without_statistics(self, tmp_path):
        X, y = rows()
        model = GegenbauerRegressor(n_terms=100).partial_fit(X, y)
        save(model, tmp_path / "small", statistics=False)
        save(model, tmp_path / "large")
        small = load(tmp_path / "small")
        assert_array_equal(small.predict(X), model.predict(X))
        assert (tmp_path / "small").stat().st_size < 0.5 * (tmp_path / "large").stat().st_size
        assert not hasattr(small, "partial_fit")
        assert hasattr(model, "statistics_")

    def test_one_class_so_far(self, tmp_path):
        X, _ = rows()
        y = np.array(["x", "y"])[(X[:, 0] > 0).astype(int)]
        checkpoint = Checkpoint(tmp_path / "run", every_samples=1)
        first = X[:, 0] > 0
        GegenbauerClassifier(**OPTIONS).fit_stream([(X[first], y[first])], checkpoint=checkpoint)
        batches = [(X[first], y[first]), (X[~first], y[~first])]
        got = GegenbauerClassifier(**OPTIONS).fit_stream(batches, checkpoint=checkpoint)
        assert gap(got, GegenbauerClassifier(**OPTIONS).fit(X, y), X) <= 1e-10
