"""Estimators that choose by themselves: against refits, definitions and plain estimators."""

from __future__ import annotations

import itertools
import pickle
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.inspection import partial_dependence
from sklearn.metrics import log_loss, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_predict,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    InputScaling,
    PowerDecay,
    Spectrum,
    TensorBasis,
    solve_kernel,
    solve_ridge,
)
from gegenbauer.basis import SpectrumKernel
from gegenbauer.errors import LightWeightsWarning, OutOfRangeWarning, UnderfittingWarning
from gegenbauer.estimators._uncertainty import estimate_noise_variance
from gegenbauer.ridge import predict_kernel


def regression(n=80, m=3, n_outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 3, (n, m))
    Y = np.column_stack([np.sin((k + 1) * X[:, 0]) + X[:, 1] for k in range(n_outputs)])
    Y += 0.05 * rng.normal(size=Y.shape)
    return X, Y[:, 0] if n_outputs == 1 else Y


def classes(n=90, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, 2)) + 1.5 * np.column_stack([np.cos(2 * codes), np.sin(2 * codes)])
    return X, np.array(["red", "green", "blue", "black"])[codes]


def kernel_refits(model, X, Y, weights=None):
    """Leave rows out one by one with the spectrum and alpha that were chosen."""
    out = np.empty_like(Y)
    for i in range(len(X)):
        keep = np.arange(len(X)) != i
        fit = solve_kernel(
            model.kernel_, X[keep], Y[keep], model.alpha_, scaling=model.scaling_,
            sample_weight=None if weights is None else weights[keep],
            penalize_constant=model.penalize_constant,
        )  # fmt: skip
        out[i] = predict_kernel(
            model.kernel_, X[i : i + 1], X[keep], fit.dual_coef, intercept=fit.intercept,
            scaling=model.scaling_,
        )  # fmt: skip
    return out


class TestClassifier:
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_everything_follows_from_the_choice(self, n_classes, weighted):
        """Leave-one-out outputs, score, model and probabilities, each by its definition."""
        X, y = classes(60, n_classes)
        weights = np.random.default_rng(1).uniform(0.5, 2, 60) if weighted else None
        model = GegenbauerClassifierCV().fit(X, y, weights)
        codes = np.searchsorted(model.classes_, y)
        Y = np.where(codes[:, np.newaxis] == np.arange(n_classes), 1.0, -1.0)
        Y = Y[:, 1:] if n_classes == 2 else Y
        left_out = kernel_refits(model, X, Y, weights)
        flat = left_out[:, 0] if n_classes == 2 else left_out
        assert_allclose(model.loo_predictions_, flat, atol=1e-7)
        assert model.spectrum_ == model.kernel_.spectrum
        (part,) = model.spectrum_.components
        assert isinstance(part, PowerDecay)
        assert part.smoothness in (1.0, 2.0)

        pair = np.column_stack([-flat / 2, flat / 2]) if n_classes == 2 else left_out
        scores = np.exp(np.linspace(-4, 6, 2001))[:, np.newaxis, np.newaxis] * pair
        losses = logsumexp(scores, axis=-1) - scores[:, np.arange(60), codes]
        expected = np.average(losses, axis=1, weights=weights).min()
        assert_allclose(model.best_score_, -expected, rtol=1e-4)

        fit = solve_kernel(
            model.kernel_, X, Y, model.alpha_, scaling=model.scaling_, sample_weight=weights
        )
        Z = X[:5] + 0.1
        raw = predict_kernel(model.kernel_, Z, X, fit.dual_coef, scaling=model.scaling_)
        P = model.predict_proba(Z)
        assert_allclose(P, model.probability_maps_[0](raw), atol=1e-8)
        assert_allclose(P.sum(axis=1), 1)
        assert_array_equal(model.predict(Z), model.classes_[P.argmax(axis=1)])

    def test_the_grid_holds_the_best(self):
        X, y = classes(60)
        model = GegenbauerClassifierCV().fit(X, y)
        table = model.surface_
        penalty = np.log(table["interaction"] * X.shape[1]) ** 2 / (32 * len(X))
        judged = table["score"] - penalty[:, np.newaxis]
        i, j, g = np.unravel_index(np.nanargmax(judged), judged.shape)
        (part,) = model.spectrum_.components  # each input has left the same start
        assert part.smoothness == table["smoothness"][i]
        assert_allclose(np.log(part.interaction), np.log(table["interaction"][j]), atol=2)
        assert 0 < g < table["relative_alpha"].size - 1
        assert model.best_score_ >= table["score"][i, j, g] - 1e-9
        assert model.n_search_samples_ == 60
        assert model.n_terms_ == np.inf
        assert model.engine_ == "kernel"

    def test_inputs_that_do_not_matter_fade(self):
        """Their weights fall, probabilities gain; with cv or a scorer inputs have equal weights."""
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (1200, 6))
        y = np.where(rng.uniform(size=1200) < 0.1, -1, 1) * X[:, 1] * X[:, 4] > 0
        rows = slice(200)
        own = GegenbauerClassifierCV().fit(X[rows], y[rows])
        q = own.spectrum_.interactions(6)[:, 0]
        assert q[[1, 4]].min() > 5 * q[[0, 2, 3, 5]].max()
        one = GegenbauerClassifierCV(scoring="neg_log_loss").fit(X[rows], y[rows])
        folds = GegenbauerClassifierCV(cv=3).fit(X[rows], y[rows])
        for model in (one, folds):
            assert np.ptp(model.spectrum_.interactions(6)) == 0
        better, worse = (log_loss(y[200:], m.predict_proba(X[200:])) for m in (own, one))
        assert better < worse - 0.05

    def test_inputs_get_weights_of_their_own_where_that_is_worth_it(self):
        """The exclusive or of two of six inputs does so; labels by chance do not."""
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(150, 6))
        y = (X[:, 1] > 0.5) ^ (X[:, 4] > 0.5)
        model = GegenbauerClassifierCV().fit(X, y)
        assert set(np.argsort(model.relevances_)[-2:]) == {1, 4}
        assert np.ptp(model.relevances_) > 0
        with pytest.warns(UnderfittingWarning):
            by_chance = GegenbauerClassifierCV().fit(X, rng.integers(0, 2, 150))
        assert np.ptp(by_chance.relevances_) == 0

    def test_labels_and_copies_have_per_input_weights(self):
        """Rows that come twice are rows of twice the weight; each label has its temperature."""
        X = np.random.default_rng(0).uniform(-1, 1, (90, 4))
        y = np.where((X[:, 0] > 0) ^ (X[:, 2] > 0), "red", "blue")
        Y = np.column_stack([y == "red", X[:, 0] > 0.1]).astype(int)
        for targets in (y, Y):
            twice = GegenbauerClassifierCV().fit(np.r_[X, X], np.concatenate([targets, targets]))
            weighted = GegenbauerClassifierCV().fit(X, targets, np.full(90, 2.0))
            assert_allclose(
                twice.spectrum_.interactions(4), weighted.spectrum_.interactions(4), rtol=1e-6
            )
            assert np.ptp(twice.spectrum_.interactions(4)) > 0

    def test_better_than_chance_by_far_with_default_settings(self):
        for load, least in ((load_iris, 0.93), (load_wine, 0.94), (load_breast_cancer, 0.95)):
            X, y = load(return_X_y=True)
            split = train_test_split(X, y, random_state=0, stratify=y)
            model = GegenbauerClassifierCV().fit(split[0], split[2])
            assert model.score(split[1], split[3]) >= least
            assert log_loss(split[3], model.predict_proba(split[1])) < 0.2

    def test_probabilities_are_calibrated(self):
        """Noisy labels: what is predicted as so many per cent is so many per cent."""
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (1600, 2))
        truth = 1 / (1 + np.exp(-3 * np.sin(3 * X[:, 0]) - 2 * X[:, 1]))
        y = (rng.uniform(size=1600) < truth).astype(int)
        model = GegenbauerClassifierCV().fit(X[:600], y[:600])
        P = model.predict_proba(X[600:])[:, 1]
        assert np.abs(P - truth[600:]).mean() < 0.06
        edges = np.quantile(P, np.linspace(0, 1, 6))
        for low, high in itertools.pairwise(edges):
            inside = (low <= P) & (high >= P)
            assert abs(P[inside].mean() - y[600:][inside].mean()) < 0.1

    def test_many_rows_use_the_terms_of_largest_weight(self, monkeypatch):
        monkeypatch.setattr("gegenbauer.estimators._search.default_landmarks", lambda _: 0)
        X, y = classes(300)
        model = GegenbauerClassifierCV(kernel_samples=200, search_samples=100).fit(X, y)
        assert isinstance(model.basis_, TensorBasis)
        assert model.n_terms_ == 2000
        assert model.n_search_samples_ <= 102
        assert model.basis_.spectrum == model.spectrum_
        assert not hasattr(model, "dual_coef_")
        kernel = GegenbauerClassifierCV(search_samples=100).fit(X, y)
        assert kernel.spectrum_ == model.spectrum_
        assert np.abs(model.predict_proba(X) - kernel.predict_proba(X)).mean() < 0.03
        few = GegenbauerClassifierCV(n_terms=30).fit(X, y)
        assert few.term_coef_.shape == (30, 3)
        codes = np.searchsorted(few.classes_, y)
        Y = np.where(codes[:, np.newaxis] == np.arange(3), 1.0, -1.0)
        fit = solve_ridge(few.basis_, X, Y, few.alpha_, scaling=few.scaling_)
        assert_allclose(few.term_coef_, fit.weights)

    def test_rows_of_the_search_are_spread_over_all_classes(self):
        X = np.arange(400.0)[:, np.newaxis]
        y = np.r_[np.zeros(380), np.ones(15), np.full(5, 2)]
        model = GegenbauerClassifierCV(search_samples=50).fit(X, y)
        assert 50 <= model.n_search_samples_ <= 53

    def test_multilabel(self):
        X, _ = classes(80)
        Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5]).astype(int)
        model = GegenbauerClassifierCV().fit(X, Y)
        P = model.predict_proba(X)
        assert P.shape == (80, 2)
        assert_array_equal(model.predict(X), (P > 0.5).astype(int))
        assert (model.predict(X) == Y).mean() > 0.95
        assert len(model.probability_maps_) == 2

    @pytest.mark.filterwarnings(
        "ignore::gegenbauer.errors.UnderfittingWarning"
    )  # with the weights, just
    def test_class_weight(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 1))
        y = (X[:, 0] + 1.5 * rng.normal(size=200) > 2).astype(int)
        plain = GegenbauerClassifierCV().fit(X, y)
        balanced = GegenbauerClassifierCV(class_weight="balanced").fit(X, y)
        assert balanced.predict(X).mean() > 2 * plain.predict(X).mean()
        weights = np.where(y == 1, 200 / (2 * y.sum()), 200 / (2 * (1 - y).sum()))
        same = GegenbauerClassifierCV().fit(X, y, weights)
        assert_allclose(balanced.predict_proba(X), same.predict_proba(X), atol=1e-8)

    @pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_brier_score", "f1"])
    def test_any_scorer(self, scoring):
        X, y = classes(70, 2)
        y = (y == "red").astype(int)
        model = GegenbauerClassifierCV(scoring=scoring).fit(X, y)
        loss = GegenbauerClassifierCV().fit(X, y)
        assert np.isfinite(model.best_score_)
        if scoring == "accuracy":
            right = ((model.loo_predictions_ > 0) == y).mean()
            assert model.best_score_ == right
            assert right >= ((loss.loo_predictions_ > 0) == y).mean()

    def test_a_scorer_of_many_classes(self):
        X, y = classes(60)
        own = make_scorer(lambda true, found: (true == found).mean())
        a, b = (GegenbauerClassifierCV(scoring=s).fit(X, y) for s in (own, "accuracy"))
        assert a.best_score_ == b.best_score_
        assert_array_equal(a.loo_predictions_, b.loo_predictions_)
        GegenbauerClassifierCV(scoring="roc_auc_ovr").fit(X, y)


class TestRegressor:
    @pytest.mark.parametrize("n_outputs", [1, 2])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_everything_follows_from_the_choice(self, n_outputs, weighted):
        X, Y = regression(50, 2, n_outputs)
        weights = np.random.default_rng(1).uniform(0.5, 2, 50) if weighted else None
        model = GegenbauerRegressorCV(intervals="one_spectrum").fit(X, Y, weights)
        table = Y.reshape(50, -1)
        mean = np.average(table, axis=0, weights=weights)
        unit = np.sqrt(np.average((table - mean) ** 2, axis=0, weights=weights))
        left_out = kernel_refits(model, X, (table - mean) / unit, weights)
        assert_allclose(
            model.loo_predictions_, (left_out * unit + mean).reshape(Y.shape), atol=1e-6
        )
        errors = (left_out - (table - mean) / unit) ** 2
        assert_allclose(
            model.best_score_, -np.average(errors.mean(axis=1), weights=weights), rtol=1e-6
        )
        fit = solve_kernel(
            model.kernel_, X, (table - mean) / unit, model.alpha_, scaling=model.scaling_,
            sample_weight=weights, penalize_constant=False,
        )  # fmt: skip
        raw = predict_kernel(
            model.kernel_, X[:7], X, fit.dual_coef, intercept=fit.intercept, scaling=model.scaling_
        )
        assert_allclose(model.predict(X[:7]), (raw * unit + mean).reshape(Y[:7].shape), atol=1e-8)

    def test_alpha_is_a_minimum(self):
        X, y = regression(80)
        one = {"intervals": "one_spectrum"}
        model = GegenbauerRegressorCV(**one).fit(X, y)
        for factor in (0.5, 2.0):
            other = GegenbauerRegressorCV(alphas=[model.alpha_ * factor], **one).fit(X, y)
            assert other.best_score_ < model.best_score_
        same = GegenbauerRegressorCV(alphas=model.alpha_ * np.array([0.5, 1, 2]), **one).fit(X, y)
        assert_allclose(same.alpha_, model.alpha_)

    def test_irrelevant_inputs_fade(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(150, 6))
        y = np.exp(X[:, 1]) * np.sin(5 * X[:, 4])
        model = GegenbauerRegressorCV().fit(X, y)
        assert set(np.argsort(model.relevances_)[-2:]) == {1, 4}
        Z = rng.uniform(0.02, 0.98, (500, 6))
        error = model.predict(Z) - np.exp(Z[:, 1]) * np.sin(5 * Z[:, 4])
        assert error.std() < 1e-2 * y.std()

    def test_inputs_may_lie_a_little_outside(self):
        """The box is one per cent wider than the rows of the fit; beyond, inputs are clipped."""
        X, y = regression(80)
        model = GegenbauerRegressorCV(out_of_range="warn").fit(X, y)
        low, high = X.min(axis=0), X.max(axis=0)
        assert_allclose(model.scaling_.lower, low - 0.01 * (high - low))
        a_little, far = X[:1].copy(), X[:1].copy()
        a_little[0, 0] = high[0] + 0.009 * (high - low)[0]
        far[0, 0] = high[0] + 5
        assert model.count_out_of_range(np.vstack([a_little, far])) == 1
        model.predict(a_little)
        with pytest.warns(OutOfRangeWarning):
            model.predict(far)

    def test_scale_and_shift_of_the_targets_do_not_matter(self):
        X, y = regression(60)
        plain, moved = (GegenbauerRegressorCV().fit(X, v) for v in (y, 1e6 * y - 3e8))
        assert_allclose(moved.predict(X), 1e6 * plain.predict(X) - 3e8, rtol=1e-6)
        assert_allclose(moved.best_score_, plain.best_score_, rtol=1e-4)

    def test_constant_targets(self):
        X, _ = regression(20)
        model = GegenbauerRegressorCV().fit(X, np.full(20, 7.0))
        assert_allclose(model.predict(X), 7.0)
        assert_allclose(model.loo_predictions_, 7.0)

    @pytest.mark.parametrize("search", ["marginal_likelihood", "squared_error"])
    def test_search_by_either_objective(self, search):
        X, y = regression(80)
        model = GegenbauerRegressorCV(search=search).fit(X, y)
        assert model.score(X, y) > 0.98

    def test_fixed_spectrum_and_terms(self):
        X, y = regression(120)
        model = GegenbauerRegressorCV(spectrum=(0.5, 2.0), n_terms=40).fit(X, y)
        assert model.spectrum_ == Spectrum((0.5, 2.0))
        assert model.basis_.n_terms == 40
        assert model.score(X, y) > 0.95
        kernel = GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(X, y)
        assert kernel.kernel_ == SpectrumKernel(3, (0.5, 2.0))

    @pytest.mark.parametrize("options", [{"kernel_samples": 100}, {"n_terms": 50}], ids=str)
    def test_finite_sets_by_themselves(self, options, monkeypatch):
        # as with very many samples
        monkeypatch.setattr("gegenbauer.estimators._search.default_landmarks", lambda _: 0)
        X, y = regression(150, 2)
        model = GegenbauerRegressorCV(search_samples=80, **options).fit(X, y)
        assert model.n_terms_ == model.basis_.n_terms == options.get("n_terms", 2000)
        assert model.basis_.spectrum == model.spectrum_
        assert model.spectrum_.interactions(2).shape == (2, 3)
        kernel = GegenbauerRegressorCV(search_samples=80, intervals="one_spectrum").fit(X, y)
        assert kernel.spectrum_ == model.spectrum_
        assert model.score(X, y) > 0.98
        assert np.std(model.loo_predictions_ - y) < 0.1 * np.std(y)

    @pytest.mark.parametrize("most", [149, 150])
    def test_the_machine_limits_all_terms(self, most, monkeypatch):
        monkeypatch.setattr(
            "gegenbauer.estimators._best_model.default_kernel_samples", lambda: most
        )
        X, y = regression(150, 2)
        model = GegenbauerRegressorCV(search_samples=80).fit(X, y)
        assert model.kernel_samples == "auto"
        assert model.engine_ == ("landmarks" if most == 149 else "kernel")
        given = GegenbauerRegressorCV(search_samples=80, kernel_samples=150).fit(X, y)
        assert given.engine_ == "kernel"

    def test_a_scorer(self):
        X, y = regression(60)
        model = GegenbauerRegressorCV(scoring="neg_mean_absolute_error").fit(X, y)
        assert_allclose(model.best_score_, -np.abs(model.loo_predictions_ - y).mean(), rtol=1e-6)


class TestUncertainty:
    @pytest.mark.parametrize("options", [{}, {"spectrum": (0.5, 2.0), "n_terms": 25}], ids=str)
    @pytest.mark.parametrize("penalize_constant", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_standard_deviations_by_definition(self, options, penalize_constant, weighted):
        """sigma^2 (1 + g' (alpha I + G'DG)^-1 g), with explicit features where there are some."""
        X, y = regression(60, 2)
        weights = np.random.default_rng(1).uniform(0.5, 2, 60) if weighted else None
        options = {**options, "penalize_constant": penalize_constant, "intervals": "one_spectrum"}
        model = GegenbauerRegressorCV(**options).fit(X, y, weights)
        Z = X[:6] + 0.05
        prediction, std = model.predict(Z, return_std=True)
        assert_array_equal(prediction, model.predict(Z))
        if hasattr(model, "basis_"):
            G, g = (model.basis_.evaluate(x, scaling=model.scaling_) for x in (X, Z))
        else:  # the kernel's own features: any square root of the kernel of all rows
            K = model.kernel_(np.vstack([X, Z]), scaling=model.scaling_)
            values, vectors = np.linalg.eigh(K - 1)
            root = np.column_stack([np.ones(66), vectors * np.sqrt(values.clip(0))])
            G, g = root[:60], root[60:]
        D = np.ones(60) if weights is None else weights
        penalty = model.alpha_ * np.eye(G.shape[1])
        if not penalize_constant:
            penalty[0, 0] = 0
        inverse = np.linalg.inv(penalty + G.T @ (D[:, np.newaxis] * G))
        dof = np.trace(G @ inverse @ G.T * D)
        fitted = model.predict(X)
        variance = (D * (y - fitted) ** 2).sum() / (D.sum() - dof)
        assert_allclose(model.effective_dof_, dof, rtol=1e-5)
        assert_allclose(model.noise_variance_, variance, rtol=1e-5)
        h = np.einsum("ij,jk,ik->i", g, inverse, g)
        assert_allclose(std, np.sqrt(variance * (1 + h)), rtol=1e-5)

    def test_noise_is_found(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(400, 2))
        y = np.sin(4 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=400)
        model = GegenbauerRegressorCV().fit(X, y)
        assert_allclose(np.sqrt(model.noise_variance_), 0.2, rtol=0.1)
        _, std = model.predict(X, return_std=True)
        assert (std >= np.sqrt(model.noise_variance_)).all()
        Y = np.column_stack([y, 3 * y])
        both = GegenbauerRegressorCV().fit(X, Y)
        assert_allclose(both.noise_variance_[1], 9 * both.noise_variance_[0])
        assert both.predict(X[:3], return_std=True)[1].shape == (3, 2)

    def test_intervals_by_definition(self):
        """From models that are fitted without a row, one by one."""
        X, y = regression(25, 2)
        model = GegenbauerRegressorCV(intervals="one_spectrum").fit(X, y)
        Z = X[:4] + 0.1
        predictions, errors = np.empty((25, 4)), np.empty(25)
        mean, unit = y.mean(), y.std()
        for i in range(25):
            keep = np.arange(25) != i
            fit = solve_kernel(
                model.kernel_, X[keep], (y[keep] - mean) / unit, model.alpha_,
                scaling=model.scaling_, penalize_constant=False,
            )  # fmt: skip
            found = predict_kernel(
                model.kernel_, np.vstack([Z, X[i : i + 1]]), X[keep], fit.dual_coef,
                intercept=fit.intercept, scaling=model.scaling_,
            )[:, 0] * unit + mean  # fmt: skip
            predictions[i], errors[i] = found[:4], abs(y[i] - found[4])
        lower, upper = model.predict_interval(Z, 0.8)
        place = int(np.ceil(0.8 * 26)) - 1
        high = np.sort(predictions + errors[:, np.newaxis], axis=0)[place]
        low = -np.sort(errors[:, np.newaxis] - predictions, axis=0)[place]
        assert_allclose(upper, high, atol=1e-6)
        assert_allclose(lower, low, atol=1e-6)
        assert (model.predict_interval(Z, 0.99)[1] == np.inf).all()

    @pytest.mark.parametrize(
        "options",
        [pytest.param({}, marks=pytest.mark.slow), {"spectrum": (0.5, 2.0), "n_terms": 40}],
        ids=str,
    )
    def test_coverage(self, options):
        """Over simulated tables with noise that is not normal."""
        inside = []
        for seed in range(12):
            rng = np.random.default_rng(seed)
            X = rng.uniform(size=(260, 2))
            y = np.sin(4 * X[:, 0]) * X[:, 1] + 0.1 * rng.standard_t(3, size=260)
            model = GegenbauerRegressorCV(**options).fit(X[:60], y[:60])
            lower, upper = model.predict_interval(X[60:], 0.8)
            inside.append(((lower <= y[60:]) & (y[60:] <= upper)).mean())
        assert 0.75 <= np.mean(inside) <= 0.87

    def test_repeated_rows_are_weights(self):
        X, y = regression(30)
        repeats = np.random.default_rng(0).integers(1, 4, 30)
        rows = np.repeat(np.arange(30), repeats)
        a, b = (
            GegenbauerRegressorCV().fit(X, y, repeats),
            GegenbauerRegressorCV().fit(X[rows], y[rows]),
        )
        assert_allclose(a.noise_variance_, b.noise_variance_, rtol=1e-6)
        for one, other in zip(a.predict_interval(X), b.predict_interval(X), strict=True):
            assert_allclose(one, other, rtol=1e-6)

    @pytest.mark.parametrize("coverage", [0.0, 1.0, -1, np.nan, "x"])
    def test_coverage_is_between_zero_and_one(self, coverage):
        X, y = regression(20)
        model = GegenbauerRegressorCV().fit(X, y)
        expected = "`coverage` must be greater than 0 and less than 1, .* got "
        if isinstance(coverage, str):
            with pytest.raises(TypeError, match="`coverage` must be a number, got 'x'"):
                model.predict_interval(X, coverage)
            return
        with pytest.raises(ValueError, match=expected + re.escape(repr(coverage))):
            model.predict_interval(X, coverage)


MODELS = [GegenbauerClassifierCV, GegenbauerRegressorCV]


def table(kind, n=60):
    return classes(n, 2) if kind is GegenbauerClassifierCV else regression(n)


@pytest.mark.parametrize("kind", MODELS)
class TestBoth:
    def test_cv_splits(self, kind):
        """Chosen and scored by the test parts, as scikit-learn would with the same settings."""
        X, y = table(kind)
        if kind is GegenbauerClassifierCV:
            cv, scoring = StratifiedKFold(4), "accuracy"
        else:
            cv, scoring = KFold(4, shuffle=True, random_state=0), "r2"
        model = kind(cv=cv, scoring=scoring).fit(X, y)
        left_out = model.loo_predictions_
        assert np.isfinite(left_out).all()
        if kind is GegenbauerRegressorCV:
            return  # scikit-learn's folds would learn other spectra
        fixed = kind(spectrum=model.spectrum_, alphas=[model.alpha_])
        labels = cross_val_predict(clone(fixed), X, y, cv=cv)
        # its folds are scaled by their own rows and calibrated by their own scores
        assert (labels == model.classes_[(left_out > 0).astype(int)]).mean() > 0.9

    def test_explicit_splits_are_of_the_rows_as_they_are(self, kind):
        X, y = table(kind)
        splits = [(np.arange(40), np.arange(40, 60))]
        model = kind(cv=splits).fit(X, y)
        assert np.isnan(model.loo_predictions_[:40]).all()
        assert np.isfinite(model.loo_predictions_[40:]).all()
        weights = np.r_[np.zeros(5), np.ones(55)]
        short = kind(cv=[(np.arange(35), np.arange(35, 55))]).fit(X[5:], y[5:])
        same = kind(cv=splits).fit(X, y, weights)
        assert_allclose(same.predict(X) == short.predict(X), True)

    def test_repeated_rows_are_weights(self, kind):
        X, y = table(kind, 40)
        repeats = np.random.default_rng(0).integers(0, 4, 40)
        rows = np.repeat(np.arange(40), repeats)
        by_weight = kind().fit(X, y, repeats)
        by_rows = kind().fit(X[rows], y[rows])
        assert by_weight.spectra_ == by_rows.spectra_
        assert by_weight.alpha_ == by_rows.alpha_
        method = "predict_proba" if kind is GegenbauerClassifierCV else "predict"
        assert_allclose(getattr(by_weight, method)(X), getattr(by_rows, method)(X), rtol=1e-7)
        first = np.unique(rows, return_index=True)[1]
        assert_allclose(by_rows.loo_predictions_[first], by_weight.loo_predictions_[repeats > 0])
        unused = by_weight._raw_outputs(X[repeats == 0])[:, 0]
        assert_array_equal(by_weight.loo_predictions_[repeats == 0], unused)

    def test_the_order_of_rows_does_not_matter(self, kind):
        X, y = table(kind)
        order = np.random.default_rng(3).permutation(60)
        a, b = kind(search_samples=30).fit(X, y), kind(search_samples=30).fit(X[order], y[order])
        assert a.spectra_ == b.spectra_
        assert_allclose(a.loo_predictions_[order], b.loo_predictions_, rtol=1e-9)

    def test_constant_inputs_and_pandas(self, kind):
        pd = pytest.importorskip("pandas")
        X, y = table(kind)
        frame = pd.DataFrame(np.column_stack([X, np.full(60, 3.0)]))
        frame.columns = [f"c{i}" for i in range(frame.shape[1])]
        model = kind().fit(frame, y)
        assert list(model.feature_names_in_) == list(frame.columns)
        frame["c1"] = frame["c1"] * 1.0
        other = frame.copy()
        other.iloc[:, -1] = 99
        assert_array_equal(model.predict(frame), model.predict(other))

    def test_float32(self, kind):
        X, y = table(kind)
        X = X.astype(np.float32)
        a, b = kind().fit(X, y), kind().fit(X.astype(np.float64), y)
        assert_array_equal(a.predict(X), b.predict(X.astype(np.float64)))

    def test_pickle_clone_and_pipeline(self, kind):
        X, y = table(kind)
        model = kind(search_samples=40).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        assert_array_equal(again.predict(X), model.predict(X))
        assert clone(model).get_params() == model.get_params()
        pipe = make_pipeline(StandardScaler(), kind(search_samples=40)).fit(X, y)
        assert (pipe.predict(X) == model.predict(X)).mean() > 0.95 or kind is GegenbauerRegressorCV

    def test_partial_dependence(self, kind):
        X, y = table(kind)
        model = kind().fit(X, y)
        found = partial_dependence(model, X, [0], grid_resolution=5)
        assert found["average"].shape == (1, 5)

    def test_a_failed_fit_changes_nothing(self, kind):
        X, y = table(kind)
        model = kind().fit(X, y)
        before = dict(model.__dict__)
        with pytest.raises(ValueError, match="`alphas` must be a finite number greater than 0"):
            model.set_params(alphas=[-1.0]).fit(X, y)
        model.set_params(alphas="auto")
        assert model.__dict__ == before

    @pytest.mark.parametrize("n_terms", [(None, 20), (20, None)], ids=str)
    def test_a_second_fit_knows_nothing_of_the_first(self, kind, n_terms):
        """Neither a kernel's coefficients nor those of a finite set outlive their fit."""
        X, y = table(kind)
        again = kind(n_terms=n_terms[0]).fit(X, y).set_params(n_terms=n_terms[1]).fit(X, y)
        fresh = kind(n_terms=n_terms[1]).fit(X, y)
        assert vars(again).keys() == vars(fresh).keys()
        assert_array_equal(again._raw_outputs(X), fresh._raw_outputs(X))

    def test_silent_by_default(self, kind, capsys):
        X, y = table(kind, 30)
        kind().fit(X, y)
        assert capsys.readouterr() == ("", "")
        kind(verbose=True).fit(X, y)
        shown = capsys.readouterr()
        assert "alpha on all samples" in shown.out + shown.err

    def test_arguments(self, kind):
        X, y = table(kind, 30)
        for options, message in [
            ({"spectrum": "best"}, "spectrum"),
            ({"spectrum": (1.0,)}, r"pair \(q, s\)"),
            ({"spectrum": (-1.0, 1.0)}, r"\(q\) of `spectrum`"),
            ({"alphas": []}, "`alphas` must not be empty"),
            ({"alphas": [np.nan]}, "`alphas` must be a finite number greater than 0"),
            ({"alphas": ["a"]}, "`alphas` must be a number, got 'a'"),
            ({"alphas": [True]}, "`alphas` must be a number, got True"),
            ({"alphas": [[1, 2]]}, r"`alphas` must be a number, got \[1, 2\]"),
            ({"spectrum": None, "lam": [0.5, "a"]}, "^`lam` must be a number, got 'a'"),
            ({"spectrum": None, "lam": []}, "^`lam` must not be empty"),
            ({"spectrum": None, "lam": True}, "'lam' parameter .* Got True"),
            ({"spectrum": None, "n_terms": []}, "^`n_terms` must not be empty"),
            ({"spectrum": None, "n_terms": [True]}, "`n_terms` must be an integer, got True"),
            ({"n_terms": True}, "'n_terms' parameter .* Got True"),
            ({"kernel_samples": True}, "'kernel_samples' parameter .* Got True"),
            ({"spectrum": ((0.1, 0.2), 2.0)}, r"write PowerDecay\(\(0.1, 0.2\), 2.0\)"),
            ({"n_terms": 0}, "n_terms"),
            ({"scoring": "nonsense"}, "scoring"),
            ({"cv": "nonsense"}, "cv"),
            ({"search_samples": 3}, "search_samples"),
            ({"out_of_range": "extrapolate"}, "finite set of terms, since .*: give `n_terms`"),
        ]:
            with pytest.raises((ValueError, TypeError), match=message):
                kind(**options).fit(X, y)


def test_one_row_is_too_few():
    with pytest.raises(ValueError, match="n_samples = 1"):
        GegenbauerRegressorCV().fit([[1.0]], [2.0])
    with pytest.raises(ValueError, match="needs at least two classes"):
        GegenbauerClassifierCV().fit([[1.0]], ["a"])


def test_a_classifier_of_one_row_of_each_class():
    model = GegenbauerClassifierCV().fit([[0.0], [1.0]], ["a", "b"])
    P = model.predict_proba([[0.0], [1.0]])
    assert np.isfinite(P).all()
    assert_allclose(P.sum(axis=1), 1)


def test_the_scaling_of_a_classifier_is_tight():
    X, y = classes(40)
    model = GegenbauerClassifierCV().fit(X, y)
    assert model.scaling_ == InputScaling.fit(X, domain=(-1, 1))


@pytest.mark.parametrize("kind", [GegenbauerClassifierCV, GegenbauerRegressorCV])
class TestScorers:
    """Scorers see the rows that came and the weights that were given, as in scikit-learn."""

    def table(self, kind):
        X, y = classes(40) if kind is GegenbauerClassifierCV else regression(40)
        return np.vstack([X, X[:3], X[:1]]), np.concatenate([y, y[:3], y[:1]])

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    def test_rows_as_they_came(self, kind):
        X, y = self.table(kind)
        seen = []

        def scorer(model, rows, labels):  # takes no weights
            seen.append((len(rows), len(labels), len(model.predict(rows))))
            if len(rows) < 25:  # a half of the distinct ones, by which chance is judged in the end
                return 0.0
            order = np.lexsort((*rows.T,))
            assert_array_equal(rows[order], X[np.lexsort((*X.T,))])
            return float(np.mean(model.predict(rows) == labels))

        kind(scoring=scorer, spectrum=(0.5, 2.0), alphas=[0.1, 1.0]).fit(X, y)
        (first_half,) = np.flatnonzero(np.diff([n == 44 for n, _, _ in seen]))[:1] + 1
        assert set(seen[:first_half]) == {(44, 44, 44)}
        assert all(n == labels == predicted for n, labels, predicted in seen)
        assert len(seen[first_half:]) == 60  # thirty of the model, thirty of a constant

    def test_equal_rows_count_as_often_as_they_came(self, kind):
        X, y = self.table(kind)
        name = "accuracy" if kind is GegenbauerClassifierCV else "neg_mean_squared_error"
        model = kind(scoring=name, spectrum=(0.5, 2.0), alphas=[0.1]).fit(X, y)
        if kind is GegenbauerClassifierCV:
            right = model.classes_[model.loo_predictions_.argmax(axis=1)] == y
            assert_allclose(model.best_score_, right.mean())
        else:
            assert_allclose(model.best_score_, -((model.loo_predictions_ - y) ** 2).mean())

    def test_weights_that_a_scorer_does_not_take(self, kind):
        X, y = self.table(kind)

        def scorer(model, rows, labels):
            return float(np.mean(model.predict(rows) == labels))

        with pytest.raises(TypeError, match="takes no sample_weight, but weights were given"):
            kind(scoring=scorer).fit(X, y, np.arange(1.0, 45.0))

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    def test_scores_that_are_no_numbers(self, kind):
        X, y = self.table(kind)
        for value in ("a", None, [1.0], "1"):
            with pytest.raises(TypeError, match=r"`scoring=<function .* must return one number"):
                kind(scoring=lambda *_, value=value: value).fit(X, y)
        whole = kind(scoring=lambda *_: np.int64(3), spectrum=(0.5, 2.0)).fit(X, y)
        assert whole.best_score_ == 3.0

    def test_errors_of_a_scorer_of_ones_own(self, kind):
        X, y = self.table(kind)
        error = RuntimeError("no")

        def scorer(*_):
            raise error

        model = kind(scoring=scorer)
        before = dict(vars(model))
        with pytest.raises(RuntimeError) as caught:
            model.fit(X, y)
        assert caught.value is error
        assert vars(model) == before

    def test_leaving_one_out_by_a_splitter_is_the_same(self, kind):
        """One temperature for all rows: for one row alone any would do."""
        X, y = classes(36) if kind is GegenbauerClassifierCV else regression(36)
        if kind is GegenbauerRegressorCV:
            y = y + np.random.default_rng(1).normal(size=36)
        given = {"spectrum": (0.5, 2.0)}
        exact = kind(**given).fit(X, y)
        by_fits = kind(**given, cv=LeaveOneOut()).fit(X, y)
        assert_allclose(by_fits.best_score_, exact.best_score_, rtol=1e-8)
        assert_allclose(by_fits.alpha_, exact.alpha_, rtol=1e-9)
        paper = {"spectrum": None, "n_terms": 6, "alphas": 4.0 ** np.arange(-12, 6)}
        first, second = (kind(**paper, cv=cv).fit(X, y) for cv in (None, LeaveOneOut()))
        assert_allclose(first.surface_["score"], second.surface_["score"], rtol=1e-8, atol=1e-12)


def test_noise_is_unknown_without_degrees_of_freedom():
    """Weights are to blame only where they are light."""
    squares = np.array([1.0, 2.0])
    for left in (0.0, -1e-8):
        assert_array_equal(estimate_noise_variance(squares, left, 11.0, 11, 11.0), [np.inf] * 2)
    with pytest.warns(LightWeightsWarning, match="11 count as 10, of which"):
        estimate_noise_variance(squares, 0.0, 10.0, 11, 10.0)
    assert_array_equal(estimate_noise_variance(squares, 0.5, 11.0, 11, 10.5), [2.0, 4.0])


def test_weights_that_leave_nothing_to_judge_noise_by():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(30, 3))
    y = X[:, 0] + X[:, 1] ** 2
    with pytest.warns(LightWeightsWarning, match="30 count as 9, of which the model takes"):
        model = GegenbauerRegressorCV().fit(X, y, sample_weight=np.full(30, 0.3))
    assert np.isinf(model.noise_variance_).all()


@pytest.mark.parametrize("size", [1e-138, 1e-100, 1e100, 1e138])
def test_targets_of_any_size_are_fitted_alike(size):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(30, 3))
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.standard_normal(30)
    one, other = GegenbauerRegressorCV().fit(X, y), GegenbauerRegressorCV().fit(X, size * y)
    assert other.best_score_ == pytest.approx(one.best_score_, rel=1e-5)
    assert other.noise_variance_ == pytest.approx(one.noise_variance_ * size * size, rel=1e-5)
    assert_allclose(other.predict(X), size * one.predict(X), rtol=1e-5)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e308])
def test_targets_whose_squares_leave_float64_are_refused(size):
    X = np.linspace(0, 1, 20)[:, np.newaxis]
    model = GegenbauerRegressorCV()
    with pytest.raises(
        ValueError, match="targets must have a standard deviation between 1e-140 and"
    ):
        model.fit(X, size * X[:, 0])
    assert not hasattr(model, "scaling_")


def test_inputs_at_the_edge_of_float64():
    X = np.random.default_rng(0).uniform(-1, 1, (30, 2))
    y = X[:, 0] ** 2
    one = GegenbauerRegressorCV(spectrum=(0.3, 2.0)).fit(X, y)
    other = GegenbauerRegressorCV(spectrum=(0.3, 2.0)).fit(1.79e308 * X, y)
    assert other.best_score_ == pytest.approx(one.best_score_, rel=0.05)
    assert np.isfinite(other.predict(1.79e308 * X)).all()


def test_small_alphas_of_small_sets_are_trusted():
    """A set of few terms is judged by its features themselves, down to 1e-12."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150, :4], y[:150]
    model = GegenbauerRegressorCV(spectrum=None, lam=0.05, n_terms=[8], alphas=[1e-12]).fit(X, y)
    assert model.alpha_ == 1e-12
    assert -0.75 < model.best_score_ < -0.65


def test_weights_that_leave_hardly_a_row_are_reported():
    X, y = regression(40)
    with pytest.warns(LightWeightsWarning, match="40 samples count as 1 only") as caught:
        GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(X, y, np.full(40, 1 / 40))
    assert caught[0].filename == __file__
    X, y = regression(200)
    GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(X, y, np.full(200, 0.9))


def test_intervals_are_made_of_rows_that_were_tested():
    X, y = regression(60)
    splits = [(np.arange(40), np.arange(40, 60))]
    model = GegenbauerRegressorCV(spectrum=(0.5, 2.0), cv=splits, n_terms=20).fit(X, y)
    lower, upper = model.predict_interval(X[:5])
    residuals = np.sort(np.abs(model.loo_predictions_[40:] - y[40:]))
    assert_allclose(upper - lower, 2 * residuals[int(np.ceil(0.9 * 21)) - 1], rtol=1e-9)
    all_terms = GegenbauerRegressorCV(spectrum=(0.5, 2.0), cv=splits).fit(X, y)
    assert np.isfinite(all_terms.predict_interval(X[:5])).all()


def test_a_constant_alone():
    X, y = regression(30)
    with pytest.warns(UnderfittingWarning):
        model = GegenbauerRegressorCV(n_terms=1).fit(X, y)
    assert_allclose(model.predict(X[:3]), y.mean())


@pytest.mark.parametrize("options", [{}, {"n_terms": 12}])
def test_what_the_attributes_hold(options):
    X, y = regression(30)
    model = GegenbauerRegressorCV(intervals="one_spectrum", **options).fit(X, y)
    G = (
        model.basis_.evaluate(X[:4], scaling=model.scaling_) @ model.term_coef_
        if options
        else model.kernel_(X[:4], model.X_fit_, scaling=model.scaling_) @ model.dual_coef_
    )
    assert_allclose((G + model.intercept_)[:, 0], model.predict(X[:4]), rtol=0, atol=1e-7)


def test_a_splitter_is_not_a_class():
    with pytest.raises(TypeError, match=r"not a class: write LeaveOneOut\(...\)"):
        GegenbauerRegressorCV(cv=LeaveOneOut).fit(*regression(30))


@pytest.mark.parametrize("policy", ["clip", "warn", "error"])
def test_rows_of_weight_zero_may_lie_anywhere(policy):
    """They are no samples of the fit, and the policy for samples out of its range ignores them."""
    X, y = regression(30)
    far = np.vstack([X, X[:1] + 100.0])
    weights = np.append(np.ones(30), 0.0)
    fixed = {"spectrum": (0.5, 2.0), "out_of_range": policy}
    model = GegenbauerRegressorCV(**fixed).fit(far, np.append(y, 0.0), weights)
    inside = GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(X, y)
    assert_allclose(model.loo_predictions_[:30], inside.loo_predictions_, rtol=1e-9)
    assert_allclose(model.loo_predictions_[30:], inside.predict(far[30:]), rtol=1e-9)


@pytest.mark.parametrize(
    "options", [{}, {"spectrum": (0.3, 2.0)}, {"spectrum": None, "n_terms": 10}, {"cv": 3}]
)
def test_a_class_of_weight_zero_takes_no_part(options):
    """As rows of weight zero do: none of them is scored or widens the box."""
    X, y = load_iris(return_X_y=True)
    expected = GegenbauerClassifierCV(**options).fit(X, y, (y != 0).astype(float))
    for weights in ({0: 0, 1: 1, 2: 1}, {0: 0.0}):
        model = GegenbauerClassifierCV(**options, class_weight=weights).fit(X, y)
        assert model.classes_.tolist() == [1, 2]
        assert model.scaling_ == expected.scaling_
        assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
        assert_array_equal(model.loo_predictions_, expected.loo_predictions_)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({7: 0}, r"`class_weight` has the keys \[7\]"),
        ({0: 0, 1: 0, 2: 0}, "not all of them 0"),
        ({0: 0, 1: 0}, "at least two classes"),
    ],
)
def test_weights_of_classes_that_leave_too_little(weights, message):
    with pytest.raises(ValueError, match=message):
        GegenbauerClassifierCV(class_weight=weights).fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize("kind", MODELS)
class TestGroups:
    def test_they_are_left_out_together(self, kind):
        X, y = table(kind, 60)
        groups = np.repeat([f"site {k}" for k in range(12)], 5)
        model = kind(cv=GroupKFold(4)).fit(X, y, groups=groups.tolist())
        same = kind(cv=[*GroupKFold(4).split(X, y, groups)]).fit(X, y)
        assert_array_equal(model.loo_predictions_, same.loo_predictions_)
        assert model.best_score_ == same.best_score_

    def test_rows_of_no_weight(self, kind):
        X, y = table(kind, 60)
        groups, weights = np.repeat(np.arange(12), 5), np.r_[np.zeros(10), np.ones(50)]
        model = kind(cv=LeaveOneGroupOut(), spectrum=(0.5, 2.0))
        with_them = clone(model).fit(X, y, weights, groups)
        without = clone(model).fit(X[10:], y[10:], groups=groups[10:])
        assert_allclose(with_them.loo_predictions_[10:], without.loo_predictions_, rtol=1e-7)

    def test_they_are_routed(self, kind):
        X, y = table(kind, 60)
        groups = np.repeat(np.arange(12), 5)
        with config_context(enable_metadata_routing=True):
            model = kind(cv=GroupKFold(4)).set_fit_request(groups=True)
            piped = make_pipeline(StandardScaler(), model).fit(X, y, groups=groups)
        assert np.isfinite(piped[-1].loo_predictions_).all()

    @pytest.mark.parametrize(
        ("cv", "groups", "message"),
        [
            (GroupKFold(4), None, r"GroupKFold\(.* splits by groups, .* fit\(X, y, groups=...\)"),
            (LeaveOneGroupOut(), None, "splits by groups"),
            (
                None,
                np.arange(30),
                "`cv=None` leaves out single ones: give `cv`, such as GroupKFold",
            ),
            (GroupKFold(4), np.arange(29), r"groups must have shape \(30,\).* got shape \(29,\)"),
            (GroupKFold(4), "a", r"groups must have shape .* got shape \(\)"),
        ],
    )
    def test_what_is_missing_is_named(self, kind, cv, groups, message):
        X, y = table(kind, 30)
        model = kind(cv=cv)
        before = dict(vars(model))
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, groups=groups)
        assert vars(model) == before


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([1, 2, 3], r"`cv` must yield pairs \(training samples, test samples\); its split 0 is 1"),
        ([([0], [500])], "split 0 of `cv` has the test row 500, but there are 30 rows, 0 to 29"),
        ([([0, -31], [5])], "split 0 of `cv` has the training row -31"),
        ([], "`cv` must have at least one split, got"),
        ([([0, 1], [2]), ([], [1])], "split 1 of `cv` has no training samples"),
        ([([0, 1], [])], "split 0 of `cv` has no test samples"),
        ([([0.0, 1.0], [2])], r"places of training samples \(integers\).* got dtype float64"),
        ([("a", "b")], "places of training samples"),
        ([(np.ones(29, bool), [2])], "a mask of all 30 rows; got dtype bool"),
    ],
)
def test_splits_that_are_none(cv, message):
    with pytest.raises((TypeError, ValueError), match=message):
        GegenbauerRegressorCV(cv=cv).fit(*regression(30))


def test_splits_may_be_masks():
    X, y = regression(30)
    train = np.arange(30) < 20
    by_mask = GegenbauerRegressorCV(cv=[(train, ~train)]).fit(X, y)
    by_rows = GegenbauerRegressorCV(cv=[(np.arange(20), np.arange(20, 30))]).fit(X, y)
    assert_array_equal(by_mask.loo_predictions_, by_rows.loo_predictions_)


@pytest.mark.parametrize("options", [{}, {"alphas": [0.1]}, {"cv": 3}])
def test_a_spectrum_of_weights_that_underflow(options):
    X, y = regression(30)
    with pytest.raises(
        ValueError, match=r"spectrum=\(1e-300, 2.0\) gives the inputs such small weights"
    ):
        GegenbauerRegressorCV(spectrum=(1e-300, 2.0), **options).fit(X, y)


def test_deviations_beyond_float64_are_refused():
    """As coefficients of damaged models make them, whose values are numbers themselves."""
    X = np.random.default_rng(0).random((40, 2))
    model = GegenbauerRegressorCV(spectrum=None, lam=[1.0], n_terms=6).fit(X, X[:, 0])
    inside, far = X[:2], X[:2] + 2.0
    function = model.expansion_
    model.expansion_ = replace(function, coef=function.coef * 1e200)
    assert np.isfinite(model.predict(inside, return_std=True)).all()
    assert np.isfinite(model.predict_interval(inside)).all()
    with pytest.raises(ValueError, match=r"some standard deviations are beyond .* larger `alpha`"):
        model.predict(far, return_std=True)
    with pytest.raises(ValueError, match=r"variances of some samples are beyond .* larger `alpha`"):
        model.predict_interval(far)


def test_return_std_is_a_flag():
    model = GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(*regression(30))
    with pytest.raises(TypeError, match="`return_std` must be True or False, got 'x'"):
        model.predict([[0.0, 0.0, 0.0]], return_std="x")


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        (GegenbauerRegressorCV, "GegenbauerClassifierCV takes labels"),
        (GegenbauerRegressor, "GegenbauerClassifier takes labels"),
        (GegenbauerClassifierCV, "Use GegenbauerRegressorCV for real targets"),
        (GegenbauerClassifier, "Use GegenbauerRegressor for real targets"),
    ],
)
def test_targets_of_the_other_kind_name_their_estimator(kind, other):
    X, y = regression(30)
    regressor = "Regressor" in kind.__name__
    for targets in [np.where(y > 0, *pair) for pair in ("ab", "10")] if regressor else [y]:
        with pytest.raises(ValueError, match=other):
            kind().fit(X, targets)


@pytest.mark.parametrize("kind", [GegenbauerRegressorCV, GegenbauerRegressor])
def test_weights_that_are_no_numbers(kind):
    X, y = regression(30)
    for weights in ("a", ["a"] * 30):
        with pytest.raises(ValueError, match=r"sample_weight must hold real numbers, got text"):
            kind().fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"sample_weight must hold numbers, .* 30 rows of X"):
        kind().fit(X, y, sample_weight=[None, {}] * 15)


@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize(
    ("kind", "scoring"),
    [
        (GegenbauerRegressorCV, "roc_auc"),
        (GegenbauerRegressorCV, "accuracy"),
        (GegenbauerClassifierCV, "r2"),
    ],
)
def test_a_scorer_for_other_targets(kind, scoring, cv):
    X, y = regression(30) if kind is GegenbauerRegressorCV else classes(30, 2)
    with pytest.raises(ValueError, match=f"^`scoring='{scoring}'` cannot score these") as caught:
        kind(scoring=scoring, cv=cv).fit(X, y)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("weight", [1e-9, 1e-45, 1e-300])
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    "cls",
    [GegenbauerRegressor, GegenbauerClassifier, GegenbauerRegressorCV, GegenbauerClassifierCV],
)
def test_light_weights_are_reported_by_all(cls, learn, weight):
    """By one warning, and none of NumPy; where numbers leave float64 by an error."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    if not hasattr(cls(), learn):
        assert learn == "partial_fit"
        return
    classes = {"classes": [0, 1]} if (cls, learn) == (GegenbauerClassifier, "partial_fit") else {}
    weights = np.full(60, weight)

    def learned():
        model = getattr(cls(), learn)(X, y, sample_weight=weights, **classes)
        return model.predict(X)

    if weight == 1e-300 and issubclass(cls, (GegenbauerRegressorCV, GegenbauerClassifierCV)):
        with pytest.raises(ValueError, match=r"sample_weight is at most 1e-300, .* scale the"):
            learned()
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert np.isfinite(learned()).all()
    reported = [str(one.message) for one in caught if one.category is LightWeightsWarning]
    assert len(reported) == 1
    assert f"60 samples count as {60 * weight:.3g} only" in reported[0]
    assert not any(one.category is RuntimeWarning for one in caught)


@pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
@pytest.mark.parametrize(("n", "n_second"), [(60, 15), (61, 17), (40, 20)])
@pytest.mark.parametrize("constant", [True, False])
def test_the_best_score_is_that_of_the_outputs_left_out(n, n_second, constant):
    """Of the model that is returned, at the best temperature, found here by brute force."""
    X = np.ones((n, 2)) if constant else np.random.default_rng(0).uniform(size=(n, 2))
    y = (np.arange(n) < n_second).astype(int)
    model = GegenbauerClassifierCV().fit(X, y)
    margins = model.loo_predictions_ * np.where(y == 1, 1.0, -1.0)
    beta = np.geomspace(1e-3, 1e6, 20_001) / np.abs(margins).max()
    losses = np.array([np.logaddexp(0.0, -b * margins).mean() for b in beta])
    assert model.best_score_ == pytest.approx(-losses.min(), abs=2e-3)


@pytest.mark.parametrize("kind", [GegenbauerClassifierCV, GegenbauerRegressorCV])
def test_a_splitter_sees_the_inputs(kind):
    """Such as one that splits by an input, as scikit-learn lets it."""

    class ByFirstInput:
        def split(self, X, y=None, groups=None):
            early = np.asarray(X)[:, 0] < 0.5
            yield np.flatnonzero(early), np.flatnonzero(~early)

        def get_n_splits(self, X=None, y=None, groups=None):
            return 1

    rng = np.random.default_rng(0)
    X = rng.uniform(size=(80, 2))
    y = (X[:, 1] + 0.3 * rng.normal(size=80) > 0.5).astype(int)
    model = kind(spectrum=(0.5, 2.0), cv=ByFirstInput()).fit(X, y)
    early = X[:, 0] < 0.5
    assert np.isnan(model.loo_predictions_[early]).all()
    assert np.isfinite(model.loo_predictions_[~early]).all()
    given = kind(spectrum=(0.5, 2.0), cv=[(np.flatnonzero(early), np.flatnonzero(~early))]).fit(
        X, y
    )
    assert given.alpha_ == model.alpha_


@pytest.mark.parametrize("kind", [GegenbauerClassifierCV, GegenbauerRegressorCV])
def test_extrapolation_of_all_terms_is_refused_when_it_is_set_later(kind):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    model = kind(spectrum=(0.5, 2.0)).fit(X, (X[:, 0] > 0.5).astype(int))
    model.set_params(out_of_range="extrapolate")
    with pytest.raises(ValueError, match=r"`out_of_range='extrapolate'` needs a finite set of"):
        model.predict([[2.0, 0.5]])
