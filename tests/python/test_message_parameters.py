"""Errors and warnings name the parameters that they are about, and advise what works."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from gegenbauer import (
    Checkpoint,
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    InputScaling,
    Spectrum,
    TensorBasis,
    load,
    save,
    solve_ridge,
)
from gegenbauer._memory import require_memory
from gegenbauer._messages import Setting, Ways
from gegenbauer._validation import check_integer
from gegenbauer.basis import Levels, PowerDecay, count_terms
from gegenbauer.batches import ArrayBatches, TableBatches
from gegenbauer.errors import (
    BeyondRangeError,
    OutOfRangeWarning,
    PenalizedConstantWarning,
    StreamError,
    TooLargeError,
    message_of,
    parameters_of,
)


def of_options(*names: str):
    """Return how a command writes settings that has options of these names alone."""
    return lambda setting: f"--{setting.name}" if setting.name in names else None


X, y = np.linspace(-1, 1, 40).reshape(20, 2), np.linspace(0, 1, 20)


GAPS = np.where(np.arange(40).reshape(20, 2) == 7, np.nan, X)


def learned(**parameters):
    return GegenbauerRegressor(**{"n_terms": 3, **parameters}).partial_fit(X, y)


def changed(**parameters):
    return learned().set_params(**parameters)


def learn(model, inputs=X, **how):
    return model.fit_stream([(inputs, y)], **how)


def no_score(*_):
    return np.nan


def too_far():
    return TensorBasis(2, degree=30).evaluate(
        np.full((1, 2), 1e300), scaling=InputScaling([0, 0], [1, 1], clip=False)
    )


def beyond_the_range():
    return GegenbauerRegressor(n_terms=3, out_of_range="error").fit(X, y).predict([[5.0, 0.0]])


def table(tmp_path, text: str, **parameters):
    (tmp_path / "t.csv").write_text(text)
    return list(TableBatches(tmp_path / "t.csv", "y", **parameters).start())


class TestParameters:
    @pytest.mark.parametrize(
        ("call", "expected"),
        [
            (lambda: check_integer(0, "n_jobs", minimum=1), ("n_jobs",)),
            (lambda: TensorBasis(2, degree=-1), ("degree",)),
            (lambda: TensorBasis(2, degree=1, spectrum=(-1.0, 2.0)), ("spectrum",)),
            (lambda: TensorBasis(50, degree=50), ("degree",)),
            (lambda: require_memory(1e30, "it", Ways("lower", "`a`")), ("a",)),
            (too_far, ("scaling", "lam", "degree")),
            (lambda: GegenbauerRegressor(n_terms=3, lam="x").fit(X, y), ("lam",)),
            (lambda: GegenbauerRegressor(n_terms=None).fit(X, y), ("n_terms", "degree")),
            (lambda: GegenbauerRegressorCV(alphas=[-1.0]).fit(X, y), ("alphas",)),
            (
                lambda: GegenbauerClassifier(n_terms=3, class_weight={"u": 1.0}).fit(X, y > 0.5),
                ("class_weight",),
            ),
            (beyond_the_range, ("out_of_range",)),
            # of the compiled core
            (lambda: TensorBasis(2, n_terms=10**9, max_interaction=1),
             ("n_terms", "max_interaction")),
            (lambda: TensorBasis(2, n_terms=3, index_set="tensor", degree=[1]), ("degree",)),
            (lambda: TensorBasis(3, degree=40, lam=1e40), ("lam", "degree")),
            (lambda: solve_ridge(TensorBasis(2, n_terms=3), X, y, alpha=0.0, solver="cholesky"),
             ("solver", "alpha")),
            (lambda: solve_ridge(TensorBasis(2, n_terms=9), 0 * X, y, alpha=1e-300,
                                 engine="primal", solver="cholesky"), ("alpha", "solver")),
            (lambda: TensorBasis(1, n_terms=10**6), ("n_terms",)),
            # of parameters that changed, or differ
            (lambda: changed(lam=0.5).partial_fit(X, y), ("lam",)),
            (lambda: changed(n_terms=4).partial_fit(X, y), ("n_terms",)),
            (lambda: learned() + learned(n_terms=4), ("n_terms",)),
            (lambda: GegenbauerRegressor(gamma=1.0), ("alpha",)),
            (lambda: GegenbauerRegressor().set_params(gamma=1.0), ("alpha",)),
            (lambda: TensorBasis(2, n_terms=3, spectrum=([1, 2], 2.0)), ("spectrum",)),
            (lambda: Spectrum([PowerDecay([1, 2], 2.0), PowerDecay([1, 2, 3], 2.0)]),
             ("spectrum",)),
            # of the automatic estimators
            (lambda: GegenbauerRegressorCV(cv=GroupKFold(4)).fit(X, y), ("cv",)),
            (lambda: GegenbauerRegressorCV(cv=100).fit(X, y), ("cv",)),
            (lambda: GegenbauerClassifierCV(cv=100).fit(X, y > 0.5), ("cv",)),
            (lambda: GegenbauerRegressorCV(scoring=no_score).fit(X, y), ("scoring",)),
            (lambda: GegenbauerRegressorCV(scoring="max_error").fit(X, y, np.ones(20)),
             ("scoring",)),
            (lambda: GegenbauerRegressorCV(lam=0.5).fit(X, y), ("lam", "spectrum")),
            (lambda: GegenbauerClassifierCV(n_spectra=5, n_terms=9).fit(X, y > 0.5),
             ("n_spectra", "n_terms")),
            (lambda: GegenbauerRegressorCV(spectrum=None).fit(GAPS, y), ("spectrum",)),
            (lambda: GegenbauerRegressor(n_terms=3, missing="error").fit(GAPS, y), ("missing",)),
            # of streams
            (lambda: learn(GegenbauerRegressorCV(out_of_range="extrapolate"), landmarks=True),
             ("landmarks", "out_of_range")),
            (lambda: learn(GegenbauerRegressorCV(n_terms=3), landmarks=True),
             ("landmarks", "n_terms")),
            (lambda: learn(GegenbauerRegressorCV(max_seconds=1.0)), ("max_seconds",)),
            (lambda: learn(GegenbauerRegressorCV(spectrum=None), GAPS), ("spectrum",)),
            (lambda: learn(GegenbauerRegressor(n_terms=3), callback=3), ("callback",)),
            (lambda: learned().choose_alpha([]), ("alphas",)),
            (lambda: save(learned(), 3), ("path",)),
            (lambda: load(3), ("path",)),
            (lambda: Checkpoint(b"run"), ("path",)),
            # of data
            (lambda: GegenbauerRegressor(n_terms=3).fit(X, y[1:]), ()),
        ],
    )  # fmt: skip
    def test_of_errors(self, call, expected):
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
        assert parameters_of(caught.value) == expected

    def test_of_tables(self, tmp_path):
        for text, parameters, expected in [
            ("a,y\n1,2\n", {"ignore": ["b"]}, ("ignore",)),
            ("a;y\n1;2\n", {}, ("separator",)),
            ("a,y\n1,2\n", {"inputs": ["a", "a"]}, ("inputs",)),
            ("a,y\n1,2\n", {"sample_weight": "y"}, ("target", "sample_weight")),
            ("a,y\nx,2\n1,2\n1,2\n", {}, ("mixed", "ignore")),
        ]:
            with pytest.raises(StreamError) as caught:
                table(tmp_path, text, **parameters)
            assert parameters_of(caught.value) == expected

    @pytest.mark.parametrize("change", ["X", "y", "w"])
    def test_rows_of_batches(self, change):
        """They count as the source of the batches does, whatever is wrong with them."""
        inputs, targets, weights = X.copy(), y.copy(), np.ones(20)
        {"X": inputs[:, 0], "y": targets, "w": weights}[change][13] = -np.inf
        if change == "w":
            weights[13] = -1.0
        model = GegenbauerRegressor(n_terms=3)
        arrays = ArrayBatches(inputs, targets, weights, batch_size=10)
        with pytest.raises(StreamError, match=r"rows 10 to 19 .*\brow 13\b"):
            model.fit_stream(arrays)
        halves = [(inputs[k : k + 10], targets[k : k + 10], weights[k : k + 10]) for k in (0, 10)]
        with pytest.raises(StreamError, match=r"batch 1 \(rows 10 to 19\): .*\brow 3 of these\b"):
            model.fit_stream(halves)

    def test_a_box_that_is_given_is_named(self):
        given = {"n_terms": 3, "bounds": [(-1.0, 0.0)] * 2}
        with pytest.raises(ValueError, match="lie outside of `bounds`: column 0") as caught:
            GegenbauerRegressor(**given, out_of_range="error").fit(X, y)
        assert parameters_of(caught.value) == ("bounds",)
        assert [*message_of(caught.value).ways.parameters()] == ["out_of_range"]
        halves = [(X[:5], y[:5]), (X[5:], y[5:])]
        with pytest.raises(StreamError, match=r"in row 5 of these.*Set `out_of_range`"):
            GegenbauerRegressor(**given, out_of_range="error").fit_stream(halves)
        for model in (GegenbauerRegressor(**given), GegenbauerRegressorCV(**given)):
            model.fit(X[:10], y[:10])
            with pytest.warns(OutOfRangeWarning, match="lie outside of `bounds`") as found:
                model.predict(X)
            assert parameters_of(found[0].message) == ("bounds",)
        few = given | {"n_terms": None, "degree": 30}
        far = GegenbauerRegressor(**few, out_of_range="extrapolate").fit(X[:10], y[:10])
        with pytest.raises(BeyondRangeError, match="too far outside of `bounds`, set"):
            far.predict([[1e200, 1e200]])

    def test_of_warnings(self):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            GegenbauerRegressor(n_terms=3, alpha=1.0).fit(X, 1e3 + y)
        (one,) = [each.message for each in found if each.category is PenalizedConstantWarning]
        assert parameters_of(one) == ("penalize_constant",)
        assert [*message_of(one).ways.parameters()] == ["penalize_constant"]

    def test_classes_that_no_batch_had(self):
        """As in memory, a weight of a class that there is not is refused before anything else."""
        weights = {"u": 2.0}
        for model in (GegenbauerClassifier(n_terms=3, class_weight=weights),
                      GegenbauerClassifierCV(class_weight=weights)):  # fmt: skip
            for call in (lambda one=model: one.fit(X, y > 0.5),
                         lambda one=model: one.fit_stream([(X, y > 0.5)])):  # fmt: skip
                with pytest.raises(ValueError, match="has the keys \\['u'\\]") as caught:
                    call()
                assert parameters_of(caught.value) == ("class_weight",)
        partly = GegenbauerClassifier(n_terms=3, class_weight={True: 2.0})
        assert partly.fit_stream([(X, y > 0.5)]).n_samples_seen_ == 20

    def test_advice_that_will_work(self):
        """Of 10^9 terms it is not to use all of them."""
        with pytest.warns(UserWarning, match=r"has 5\.\d\de\+25 terms .* Lower `degree`") as found:
            GegenbauerRegressor(n_terms=3, degree=9).fit(np.ones((4, 3000)), np.arange(4.0))
        assert [*message_of(found[0].message).ways.parameters()] == ["degree", "degree"]
        with pytest.warns(UserWarning, match="Pass `n_terms=None` to use them all, or `degree=N"):
            GegenbauerRegressor(n_terms=3, degree=9).fit(X, y)
        with pytest.raises(TooLargeError, match=r"or use fewer inputs$") as caught:
            GegenbauerRegressor(n_terms=None, degree=9).fit(np.ones((4, 3000)), np.arange(4.0))
        message = message_of(caught.value)
        assert [*message.ways.parameters()] == [
            "degree", "max_interaction", "n_terms", "n_features",
        ]  # fmt: skip
        assert message.in_words(of_options("n_features")).endswith(": use --n_features")

    @pytest.mark.parametrize("lam", [1e40, 1e300])
    @pytest.mark.parametrize("spectrum", [None, (0.5, 1.0)])
    def test_the_largest_lam(self, lam, spectrum):
        """What the message allows works, and ten times as much does not."""
        with pytest.raises(ValueError, match="range of float64") as caught:
            TensorBasis(3, degree=40, lam=lam, spectrum=spectrum)
        allowed = float(re.search(r"`lam` \(to (\S+) or less\)", str(caught.value))[1])
        assert TensorBasis(3, degree=40, lam=allowed, spectrum=spectrum).lam == allowed
        with pytest.raises(ValueError, match="range of float64"):
            TensorBasis(3, degree=40, lam=10 * allowed, spectrum=spectrum)

    @pytest.mark.parametrize(("n_inputs", "most"), [(1, 100_001), (2, 200_001)])
    def test_the_largest_number_of_terms(self, n_inputs, most):
        single = {"max_interaction": 1} if n_inputs > 1 else {}
        with pytest.raises(ValueError, match=f"must be at most {most}, the terms of degrees up to"):
            TensorBasis(n_inputs, n_terms=most + 1, **single)
        assert count_terms(n_inputs, n_terms=most, **single) == most
        with pytest.raises(ValueError, match=f"must be at most {most}"):
            count_terms(n_inputs, n_terms=most + 1, **single)
        levels = [Levels([0.5, 0.5])] * n_inputs  # of which there are no more
        assert count_terms(n_inputs, n_terms=10**6, levels=levels) == 2**n_inputs

    def test_text_in_files(self, tmp_path):
        (tmp_path / "t.csv").write_text("a,t,y\n" + "".join(f"{k},u{k},{k}\n" for k in range(9)))
        with pytest.raises(StreamError, match="take text for categories by `mixed=True`"):
            TableBatches(tmp_path / "t.csv", "y")
        model = GegenbauerRegressor(n_terms=3)
        assert model.fit_stream(TableBatches(tmp_path / "t.csv", "y", mixed=True))
        table = TableBatches(tmp_path / "t.csv", "t", inputs=["a", "y"])
        with pytest.raises(
            StreamError, match="the target, holds text, such as 'u0', and regression"
        ):
            model.fit_stream(table)
        assert GegenbauerClassifier(n_terms=3).fit_stream(table).classes_.size == 9

    def test_checkpoints_of_other_models(self, tmp_path):
        learn(GegenbauerRegressor(n_terms=3), checkpoint=Checkpoint(tmp_path / "run"))
        with pytest.raises(
            ValueError, match=r"of a GegenbauerRegressor, not of a .*: give another"
        ):
            GegenbauerClassifier(n_terms=3).fit_stream(
                [(X, y > 0.5)], checkpoint=Checkpoint(tmp_path / "run")
            )
        with pytest.raises(
            ValueError, match=r"`n_terms=3`, and this one has `n_terms=4`"
        ) as caught:
            learn(GegenbauerRegressor(n_terms=4), checkpoint=Checkpoint(tmp_path / "run"))
        settings = [*message_of(caught.value).settings()]
        assert settings == [Setting("n_terms", "3"), Setting("n_terms", "4")]

    def test_of_none(self):
        assert parameters_of(ValueError()) == ()
        assert parameters_of(ValueError("`a` is bad")) == ()
        assert parameters_of(KeyError("a")) == ()
