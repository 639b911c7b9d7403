"""Classification by the mean of models whose spectra were learned without a part of the samples."""

from __future__ import annotations

import copy
import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import log_loss

from gegenbauer import GegenbauerClassifierCV, GegenbauerRegressorCV, load, save, sobol_indices
from gegenbauer.basis import SpectrumKernel
from gegenbauer.errors import TimeBudgetWarning, UnderfittingWarning
from gegenbauer.estimators import _best_model as best_model
from gegenbauer.estimators._alternatives import compare
from gegenbauer.estimators._samples import Samples, deal_samples
from gegenbauer.plotting import PathDisplay
from gegenbauer.ridge import KernelExpansion, MeanExpansion
from gegenbauer.selection import leave_one_out
from gegenbauer.selection.calibration import (
    ProbabilityMap,
    best_temperatures,
    class_scores,
    fit_probabilities,
)

FIVE = {"n_spectra": 5}
KINDS = ["binary", "classes", "labels"]


def table(kind="binary", n=40, m=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 3, (n, m))
    F = np.column_stack([np.sin(X[:, 0]), 0.5 * X[:, 1], 0.3 * X[:, 0] * X[:, 1] - 0.4])
    F += 0.4 * rng.normal(size=F.shape)
    y = {
        "binary": np.where(F[:, 0] > 0, "yes", "no"),
        "classes": np.array(["a", "b", "c"])[F.argmax(axis=1)],
        "labels": (F[:, :2] > 0.3).astype(int),
    }
    return X, y[kind]


def weights_of(n=40):
    return np.random.default_rng(1).uniform(0.5, 2.0, n)


@cache
def fitted(kind="binary", weighted=False, penalized=True):
    """Return a model of five spectra of the table, which tests only look at."""
    model = GegenbauerClassifierCV(penalize_constant=penalized, **FIVE)
    return model.fit(*table(kind), weights_of() if weighted else None)


def coded(y):
    """Return targets of plus and minus one, one column for a pair of classes."""
    if y.ndim == 2:
        return 2.0 * y - 1.0
    T = np.where(y[:, np.newaxis] == np.unique(y), 1.0, -1.0)
    return T[:, 1:] if T.shape[1] == 2 else T


def targets_of(y):
    """Return (outputs, codes) of each target: the columns that belong to it, and its classes."""
    if y.ndim == 2:
        return [(slice(k, k + 1), column) for k, column in enumerate(y.T)]
    return [(slice(None), np.unique(y, return_inverse=True)[1])]


def in_order_of(model, X):
    """Return the part of each sample, in the order in which they came."""
    function = model.expansion_
    places = [int(np.flatnonzero((function.centres == x).all(axis=1))[0]) for x in X]
    return function.left_out_by[places]


def solved(model, k, X, T, weights, Z):
    """Return the raw outputs at Z of the fit to (X, T) with spectrum k, by NumPy."""
    kernel = SpectrumKernel(X.shape[1], model.spectra_[k])
    D = np.ones(len(X)) if weights is None else weights
    alpha = model.expansion_.alphas[k]
    K = kernel(X, scaling=model.scaling_)
    coef = np.linalg.solve(K + alpha * np.diag(1.0 / D), T)
    return kernel(Z, X, scaling=model.scaling_) @ coef


def logits(y, left_out, weights, outputs):
    """Return those of outputs, by the maps that outputs of samples left out make.

    They are linear: the reach of a map is of the probabilities of all spectra together.
    """
    found = np.empty(outputs.shape)
    for columns, codes in targets_of(y):
        to = fit_probabilities(left_out[:, columns], codes, weights)
        to = ProbabilityMap(to.scale, to.bias)
        own = np.log(to(outputs[:, columns]))
        single = found[:, columns].shape[1] == 1
        found[:, columns] = own[:, 1:] - own[:, :1] if single else own
    return found


def probabilities(y, left_out, weights, outputs):
    """Return those of outputs, by the maps that outputs of samples left out make."""
    found = [
        fit_probabilities(left_out[:, columns], codes, weights)(outputs[:, columns])
        for columns, codes in targets_of(y)
    ]
    return np.column_stack([P[:, 1] for P in found]) if y.ndim == 2 else found[0]


class TestByDefinition:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("weighted", [False, True])
    def test_outputs_and_probabilities(self, kind, weighted):
        """From fits without a sample, one by one, with the spectrum that has not seen it.

        Outputs of each spectrum are logits by what it predicts of samples left out.
        """
        X, y = table(kind)
        weights = weights_of() if weighted else None
        model = fitted(kind, weighted)
        assert len(model.spectra_) == 5
        T, part, Z = coded(y), in_order_of(model, X), 0.9 * X[:7] + 0.02
        left_out, whole = np.empty((5, *T.shape)), np.empty((5, 7, T.shape[1]))
        for k in range(5):
            raw = np.empty(T.shape)
            for i in range(len(X)):
                keep = np.arange(len(X)) != i
                own = None if weights is None else weights[keep]
                raw[i] = solved(model, k, X[keep], T[keep], own, X[i : i + 1])[0]
            left_out[k] = logits(y, raw, weights, raw)
            whole[k] = logits(y, raw, weights, solved(model, k, X, T, weights, Z))
        mean, left_out = whole.mean(axis=0), left_out[part, np.arange(len(X))]
        shown = model.loo_predictions_.reshape(T.shape)
        if kind == "classes":  # whose outputs have no origin
            assert_allclose(np.diff(shown), np.diff(left_out), atol=1e-5)
        else:
            assert_allclose(shown, left_out, atol=1e-5)
        expected = probabilities(y, left_out, weights, left_out)
        assert_allclose(model.loo_probabilities_, expected, atol=1e-6)
        expected = probabilities(y, left_out, weights, mean)
        assert_allclose(model.predict_proba(Z), expected, atol=1e-6)
        if y.ndim == 2:
            assert_array_equal(model.predict(Z), expected > 0.5)
            odds = np.log(expected / (1 - expected))
        else:
            assert_array_equal(model.predict(Z), model.classes_[expected.argmax(axis=1)])
            odds = np.log(expected)
        found = model.decision_function(Z)
        if kind == "binary":
            assert_allclose(found, odds[:, 1] - odds[:, 0], atol=1e-4)
        elif kind == "classes":
            assert_allclose(np.diff(found), np.diff(odds), atol=1e-4)
        else:
            assert_allclose(found, odds, atol=1e-4)
        losses = [
            best_temperatures(class_scores(left_out[:, columns]), codes, weights)[1]
            for columns, codes in targets_of(y)
        ]
        assert_allclose(model.best_score_, -np.mean(losses), rtol=1e-5)

    @pytest.mark.parametrize("kind", KINDS)
    def test_no_spectrum_has_seen_its_part(self, kind):
        """Each is that of the estimator of one spectrum, in the same box, of the other samples."""
        X, y = table(kind, n=60)
        model = GegenbauerClassifierCV(**FIVE).fit(X, y)
        assert len(model.spectra_) == 5
        part, box = in_order_of(model, X), model.scaling_
        one = GegenbauerClassifierCV(bounds=np.column_stack([box.lower, box.upper]))
        for k, spectrum in enumerate(model.spectra_):
            rest = part != k
            expected = one.fit(X[rest], y[rest]).spectrum_
            assert_allclose(spectrum.interactions(3), expected.interactions(3), rtol=1e-5)
            smoothness = [
                [component.smoothness for component in each.components]
                for each in (spectrum, expected)
            ]
            assert smoothness[0] == smoothness[1]
        assert len({each.components for each in model.spectra_}) > 1
        mean = np.mean([each.interactions(3).sum(axis=1) for each in model.spectra_], axis=0)
        assert_allclose(model.relevances_, mean)

    def test_penalties_are_the_best_of_all_samples_left_out(self):
        X, y = table(n=60)
        model = GegenbauerClassifierCV(**FIVE).fit(X, y)
        codes = np.unique(y, return_inverse=True)[1]
        for part in model.expansion_.parts:
            alpha = part.posterior.alpha
            losses = [
                best_temperatures(
                    class_scores(
                        leave_one_out(
                            part.kernel, X, coded(y), each, scaling=model.scaling_
                        ).predictions[0]
                    ),
                    codes,
                )[1]
                for each in (alpha / 2, alpha, 2 * alpha)
            ]
            assert losses[1] <= min(losses) + 1e-7


class TestParts:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("n", [23, 40, 101])
    def test_every_class_has_its_share_of_each(self, kind, n):
        X, y = table(kind, n)
        model = GegenbauerClassifierCV(search_samples=30, **FIVE).fit(X, y)
        part = in_order_of(model, X)
        assert np.ptp(np.bincount(part, minlength=5)) <= 1
        sets = np.unique(y, axis=0, return_inverse=True)[1].reshape(-1)
        for label in np.unique(sets):
            assert np.ptp(np.bincount(part[sets == label], minlength=5)) <= 1

    def test_small_strata_go_to_different_parts(self):
        """Of nine classes of two samples no part gets two of one, or three of all too many."""
        strata = np.repeat(np.arange(9), 2)
        X = np.random.default_rng(0).uniform(size=(18, 2))
        data = Samples(X, strata[:, np.newaxis].astype(float), None, np.arange(18))
        part = deal_samples(data, 5, strata)
        assert (part[::2] != part[1::2]).all()
        assert sorted(np.bincount(part)) == [3, 3, 4, 4, 4]
        order = np.random.default_rng(1).permutation(18)
        shuffled = Samples(X[order], data.Y[order], None, np.arange(18))
        assert_array_equal(deal_samples(shuffled, 5, strata[order]), part[order])

    @pytest.mark.parametrize("kind", KINDS)
    def test_repeats_are_weights(self, kind):
        X, y = table(kind, 50)
        repeats = np.random.default_rng(0).integers(0, 4, 50)
        rows = np.random.default_rng(1).permutation(np.repeat(np.arange(50), repeats))
        one = GegenbauerClassifierCV(**FIVE).fit(X, y, repeats)
        other = GegenbauerClassifierCV(**FIVE).fit(X[rows], y[rows])
        assert one.spectra_ == other.spectra_
        assert_array_equal(one.expansion_.left_out_by, other.expansion_.left_out_by)
        assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-9)
        assert_allclose(one.loo_probabilities_[rows], other.loo_probabilities_, rtol=1e-9)
        assert_allclose(one.best_score_, other.best_score_, rtol=1e-9)


class TestHonesty:
    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    @pytest.mark.parametrize(
        "problem", ["three classes", pytest.param("noise", marks=pytest.mark.slow)]
    )
    def test_log_loss_of_samples_left_out(self, problem):
        """Is nearer to that of 2000 new samples, with 60 samples of twelve inputs."""
        gaps = {1: [], 5: []}
        for seed in range(6):
            rng = np.random.default_rng(seed)
            X = rng.uniform(-1, 1, (2060, 12))
            F = 4 * np.column_stack([X[:, 0], X[:, 1] * X[:, 2], 0 * X[:, 0]])
            F = F if problem == "three classes" else 0 * F[:, :2]
            y = (F + rng.gumbel(size=F.shape)).argmax(axis=1)
            for n_spectra, found in gaps.items():
                model = GegenbauerClassifierCV(n_spectra=n_spectra, out_of_range="clip")
                model.fit(X[:60], y[:60])
                left_out = log_loss(y[:60], model.loo_probabilities_)
                found.append(left_out - log_loss(y[60:], model.predict_proba(X[60:])))
        one, five = (float(np.mean(found)) for found in gaps.values())
        assert one < -0.08
        assert abs(five) < 0.5 * abs(one)

    def test_what_chance_may_give(self):
        """No spectrum has seen what it is judged by: noise is not taken for more."""
        rng = np.random.default_rng(3)
        X, y = rng.uniform(size=(60, 12)), rng.integers(0, 2, 60)
        with pytest.warns(UnderfittingWarning):
            GegenbauerClassifierCV(**FIVE).fit(X, y)


class TestChoice:
    def test_one_spectrum_by_default(self):
        X, y = table()
        model, given = GegenbauerClassifierCV().fit(X, y), GegenbauerClassifierCV(n_spectra=1)
        assert isinstance(model.expansion_, KernelExpansion)
        assert model.expansion_.posterior is None
        assert len(model.spectra_) == 1
        assert_array_equal(given.fit(X, y).predict_proba(X), model.predict_proba(X))

    def test_a_given_spectrum_has_seen_no_sample(self):
        X, y = table()
        model = GegenbauerClassifierCV((0.5, 2.0), **FIVE).fit(X, y)
        assert not isinstance(model.expansion_, MeanExpansion)
        expected = GegenbauerClassifierCV((0.5, 2.0)).fit(X, y)
        assert_array_equal(model.loo_probabilities_, expected.loo_probabilities_)

    def test_few_samples_of_many_are_searched(self):
        X, y = table(n=300)
        model = GegenbauerClassifierCV(search_samples=40, **FIVE).fit(X, y)
        assert len(model.spectra_) == 5
        assert 40 <= model.n_search_samples_ <= 5 * 42

    def test_a_scorer_judges_what_was_left_out(self):
        X, y = table()
        model = GegenbauerClassifierCV(scoring="accuracy", **FIVE).fit(X, y)
        assert len(model.spectra_) == 5
        left_out = model.classes_[(model.loo_predictions_ > 0).astype(int)]
        assert model.best_score_ == pytest.approx(np.mean(left_out == y))

    def test_half_ranks_are_judged_by_what_has_not_been_seen(self, monkeypatch):
        monkeypatch.setattr(best_model, "FEWEST_TO_JUDGE", 100)
        rng = np.random.default_rng(0)
        ranks = rng.uniform(size=(300, 2))
        X, y = 1e4**ranks, 10 * np.sin(5 * ranks[:, 0]) + rng.logistic(size=300) > 0

        class First(GegenbauerClassifierCV):
            _may_have_alternatives = False

        first, model = First(**FIVE).fit(X, y), GegenbauerClassifierCV(**FIVE).fit(X, y)
        assert len(model.spectra_) == 5
        found = model.alternatives_["half_ranks"]
        assert found.is_clear
        losses = [
            -np.log(each.loo_probabilities_[np.arange(300), y.astype(int)])
            for each in (first, model)
        ]
        assert_allclose(found, compare(*losses, None), rtol=1e-6)

    def test_a_time_budget_leaves_all_samples(self):
        X, y = table(n=200)
        with pytest.warns(TimeBudgetWarning, match="spectra are learned"):
            model = GegenbauerClassifierCV(max_seconds=1e-6, **FIVE).fit(X, y)
        assert len(model.spectra_) == 5
        assert model.engine_ == "kernel"

    def test_class_weights_are_weights(self):
        X, y = table(n=20)
        balanced = GegenbauerClassifierCV(class_weight="balanced", **FIVE).fit(X, y)
        factors = {label: 20 / (2 * np.sum(y == label)) for label in np.unique(y)}
        weighted = GegenbauerClassifierCV(**FIVE).fit(X, y, [factors[label] for label in y])
        assert_allclose(balanced.predict_proba(X), weighted.predict_proba(X), rtol=1e-9)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_terms": 12}, "is of models of all terms; got `n_terms=12`: leave `n_terms` out"),
            ({"cv": 3}, "leaves out one sample at a time; got `cv=3`: leave `cv` out"),
            ({"spectrum": None}, "the paper's basis has none; got `spectrum=None`: leave `spe"),
            (
                {"cv": [(np.arange(40), np.arange(40))] * 9},
                r"one sample at a time; got `cv=\[.{59}\.\.\.`: leave `cv` out",
            ),
            ({"kernel_samples": 20}, "40 samples are more than `kernel_samples=20` allows: raise"),
        ],
    )
    def test_what_does_not_go_together(self, options, message):
        expected = f"`n_spectra=5` .*{message}.*, or give `n_spectra=1`"
        with pytest.raises(ValueError, match=expected):
            GegenbauerClassifierCV(**options, **FIVE).fit(*table())

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (GegenbauerClassifierCV(n_spectra=5), "`n_spectra=5` .* give `n_spectra=1`"),
            (
                GegenbauerRegressorCV(intervals="five_spectra"),
                "`intervals='five_spectra'` .* give `intervals='auto'`",
            ),
        ],
    )
    def test_streams_have_one(self, model, message):
        with pytest.raises(ValueError, match=message):
            model.fit_stream([table()])

    @pytest.mark.parametrize("wrong", [0, 2, 4, 6, True, "five", None, 5.0])
    def test_values_of_the_parameter(self, wrong):
        with pytest.raises((TypeError, ValueError), match="n_spectra"):
            GegenbauerClassifierCV(n_spectra=wrong).fit(*table())

    @pytest.mark.parametrize("name", ["spectrum_", "kernel_", "dual_coef_", "intercept_"])
    def test_what_each_model_has_by_itself(self, name):
        model = fitted()
        with pytest.raises(AttributeError, match=f"no {name}: .* fit with `n_spectra=1`"):
            getattr(model, name)
        assert model.X_fit_.shape == (40, 3)
        assert model.alpha_ == np.median(model.expansion_.alphas)

    def test_nothing_is_left_of_an_earlier_fit(self):
        X, y = table()
        model = GegenbauerClassifierCV().fit(X, y)
        assert set(model.surface_) == {"smoothness", "interaction", "relative_alpha", "score"}
        model.set_params(n_spectra=5).fit(X, y)
        assert model.surface_ == {}
        assert model.cv_results_["params"] == []
        model.set_params(n_spectra=1).fit(X, y)
        assert model.kernel_.spectrum == model.spectrum_

    def test_clusters_have_one(self):
        pytest.importorskip("dask")
        from gegenbauer import dask

        assert "n_spectra" not in dask.GegenbauerClassifierCV().get_params()
        assert dask.GegenbauerClassifierCV().n_spectra == 1


class TestFewSamples:
    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("n", [2, 3, 4, 6, 9])
    def test_very_few(self, kind, n):
        X, _ = table(n=n)
        y = np.arange(n) % (3 if kind == "classes" and n > 2 else 2)
        y = np.column_stack([y, 1 - y]) if kind == "labels" else y
        model = GegenbauerClassifierCV(**FIVE).fit(X, y)
        assert len(model.spectra_) == min(n, 5)
        for P in (model.predict_proba(X), model.loo_probabilities_):
            assert P.shape == (n, 2 if kind != "classes" or n == 2 else 3)
            assert ((P >= 0) & (P <= 1)).all()
        assert model.loo_probabilities_.max() < 0.9

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    @pytest.mark.parametrize("scoring", [None, "neg_log_loss", "accuracy"])
    def test_a_class_of_one_sample(self, scoring):
        """Without it, the others are of one class, of which nothing is learned."""
        X, y = table()[0], np.zeros(40, dtype=int)
        y[3] = 1
        model = GegenbauerClassifierCV(scoring=scoring, **FIVE).fit(X, y)
        lone = model.spectra_[in_order_of(model, X)[3]]
        assert lone._pair() == pytest.approx((1 / 3, 2.0))
        assert 0.005 < model.predict_proba(X)[:, 1].mean() < 0.15
        third = np.where(y == 1, 2, np.arange(40) % 2)
        model = GegenbauerClassifierCV(scoring=scoring, **FIVE).fit(X, third)
        assert len(model.spectra_) == 5
        assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


class TestMixedInputs:
    @pytest.fixture(scope="class")
    @staticmethod
    def data():
        rng = np.random.default_rng(0)
        colour = rng.choice(["blue", "red", "rare"], p=[0.5, 0.45, 0.05], size=80)
        x, z = rng.uniform(size=(2, 80))
        X = pd.DataFrame({"colour": colour, "x": np.where(z < 0.1, np.nan, x), "z": z})
        score = 4.0 * (colour == "red") + 4 * x - 4 + rng.logistic(size=80)
        return X, np.where(score > 0, "up", "down")

    def test_levels_and_values_that_are_missing(self, data):
        X, y = data
        model = GegenbauerClassifierCV(out_of_range="clip", **FIVE).fit(X, y)
        assert len({each.levels for each in model.spectra_}) == 1
        assert model.categories_[0] == ["blue", "rare", "red"]
        # outputs of an unknown level are means over levels, before calibration
        outputs = {
            name: model._raw_outputs(X.assign(colour=name))
            for name in ("blue", "red", "rare", "violet")
        }
        shares = [np.mean(X["colour"] == name) for name in ("blue", "red", "rare")]
        mean = np.average([outputs[name] for name in ("blue", "red", "rare")], axis=0,
                          weights=shares)  # fmt: skip
        assert_allclose(outputs["violet"], mean, atol=1e-8)
        red, blue = (model.predict_proba(X.assign(colour=c))[:, 1] for c in ("red", "blue"))
        assert (red > blue + 0.1).all()

    def test_repeats_are_weights(self, data):
        X, y = data
        repeats = np.random.default_rng(2).integers(0, 3, 80)
        rows = np.repeat(np.arange(80), repeats)
        one = GegenbauerClassifierCV(out_of_range="clip", **FIVE).fit(X, y, repeats)
        other = GegenbauerClassifierCV(out_of_range="clip", **FIVE).fit(X.iloc[rows], y[rows])
        assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-7)

    def test_files(self, data, tmp_path):
        X, y = data
        model = GegenbauerClassifierCV(out_of_range="clip", **FIVE).fit(X, y)
        save(model, tmp_path / "m.safetensors")
        back = load(tmp_path / "m.safetensors")
        new = X.assign(colour=np.where(X["z"] > 0.5, "violet", X["colour"]))
        assert_array_equal(back.predict_proba(new), model.predict_proba(new))
        assert_array_equal(back.feature_importances_, model.feature_importances_)


class TestRoundTrips:
    Z = np.random.default_rng(5).uniform(-1.5, 2.5, size=(7, 3))

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("weighted", [False, True])
    def test_copies(self, kind, weighted, tmp_path):
        model = fitted(kind, weighted, penalized=weighted)
        save(model, tmp_path / "model")
        back = load(tmp_path / "model")
        for again in (back, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert again.spectra_ == model.spectra_
            assert again.get_params() == model.get_params()
            for name in ("predict_proba", "decision_function", "predict"):
                assert_array_equal(getattr(again, name)(self.Z), getattr(model, name)(self.Z))
            assert_array_equal(again.loo_probabilities_, model.loo_probabilities_)
            # what variances are made of comes back, too
            assert_array_equal(again.expansion_.variance(self.Z), model.expansion_.variance(self.Z))
        assert clone(model).n_spectra == 5
        assert_array_equal(sobol_indices(back).total, sobol_indices(model).total)

    def test_a_plot_of_the_path_needs_no_samples(self):
        (X, y), model = table(), fitted()
        display = PathDisplay.from_estimator(model)
        given = PathDisplay.from_estimator(model, X, y)
        assert display.chosen == model.alpha_
        for name, curve in given.errors.items():
            assert_allclose(display.errors[name], curve, rtol=1e-6)
