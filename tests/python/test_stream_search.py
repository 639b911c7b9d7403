"""One pass over a stream, then everything chosen: against refits of the samples in memory."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from gegenbauer import (
    ArrayBatches,
    Checkpoint,
    GegenbauerClassifierCV,
    GegenbauerRegressorCV,
    GramStatistics,
    InputScaling,
    MomentStatistics,
    PowerDecay,
    Spectrum,
    TensorBasis,
    load,
    save,
    sobol_indices,
    solve_ridge,
)
from gegenbauer.errors import OutOfRangeWarning, StreamError, StreamOrderWarning, TooLargeError
from gegenbauer.estimators import _fold_sums
from gegenbauer.estimators._draw import folds_of_places, keys_of_places
from gegenbauer.ridge.landmarks import Landmarks
from gegenbauer.ridge.statistics.other_terms import normal_equations, terms_within
from gegenbauer.selection.calibration import best_temperatures, class_scores, fit_probabilities

GIVEN = Spectrum(PowerDecay([0.5, 0.3, 0.1], smoothness=2))
ALPHAS = [1e-4, 1e-2, 1.0, 100.0]


def samples(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 2, size=(n, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 5.0 + 0.2 * rng.normal(size=n)
    return X, y


def task(kind, n=600):
    X, y = samples(n)
    if kind == "real":
        return GegenbauerRegressorCV, X, y
    if kind == "reals":
        return GegenbauerRegressorCV, X, np.column_stack([y, 100 * X[:, 0] ** 2])
    if kind == "multilabel":
        return GegenbauerClassifierCV, X, np.column_stack([y > 5, y > 6, X[:, 0] > 0]).astype(int)
    edges = [5.0] if kind == "binary" else [4.5, 5.5]
    return GegenbauerClassifierCV, X, np.array(["b", "a", "c"])[np.digitize(y, edges)]


KINDS = ["real", "reals", "binary", "three", "multilabel"]


def targets_of(kind, y):
    """Return what is solved for, (n, K): standardised numbers, or +1 and -1."""
    if kind in ("real", "reals"):
        values = np.asarray(y, dtype=float).reshape(len(y), -1)
        return (values - values.mean(axis=0)) / values.std(axis=0)
    if kind == "multilabel":
        return 2.0 * y - 1.0
    classes = np.unique(y)
    if classes.size == 2:
        return np.where(y == classes[1], 1.0, -1.0)[:, np.newaxis]
    return 2.0 * (y[:, np.newaxis] == classes) - 1.0


def refit(basis, X, T, alpha, scaling, *, free, weight=None):
    """Return the weights (n_terms, K) of a fit to samples in memory."""
    if isinstance(basis, TensorBasis):
        return solve_ridge(
            basis, X, T, alpha, scaling=scaling, penalize_constant=not free, sample_weight=weight
        ).weights
    G = basis.evaluate(X, scaling=scaling)
    weight = np.ones(len(X)) if weight is None else weight
    penalty = np.full(basis.n_terms, alpha)
    penalty[0] *= not free
    weighted = G.T * weight
    return np.linalg.solve(weighted @ G + np.diag(penalty), weighted @ T)


def by_refits(kind, basis, X, y, alphas, scaling, n_folds, *, free, weight=None):
    """Return losses of alphas and outputs held out (n_alphas, n, K) by fits to the other folds."""
    T = targets_of(kind, y)
    fold = folds_of_places(np.arange(len(X)), n_folds)
    outputs = np.empty((len(alphas), *T.shape))
    for k in range(n_folds):
        own, rest = fold == k, fold != k
        G = basis.evaluate(X[own], scaling=scaling)
        for a, alpha in enumerate(alphas):
            found = refit(
                basis, X[rest], T[rest], alpha, scaling, free=free,
                weight=None if weight is None else weight[rest],
            )  # fmt: skip
            outputs[a, own] = G @ found
    if kind in ("real", "reals"):
        return ((outputs - T) ** 2).mean(axis=(1, 2)), outputs
    parts = [outputs[..., k : k + 1] for k in range(T.shape[1])]
    codes = [(T[:, k] > 0).astype(int) for k in range(T.shape[1])]
    if kind == "three":
        parts, codes = [outputs], [T.argmax(axis=1)]
    losses = [
        best_temperatures(class_scores(part), code)[1]
        for part, code in zip(parts, codes, strict=True)
    ]
    return np.mean(losses, axis=0), outputs


class TestOtherTerms:
    """Sums over samples as those of other terms."""

    @pytest.mark.parametrize("kind", [GramStatistics, MomentStatistics])
    def test_of_another_spectrum(self, kind):
        X, y = samples(200)
        Y = np.column_stack([y, y**2])
        weight = np.random.default_rng(1).uniform(size=200)
        box = InputScaling.fit(X, domain=(-1, 1))
        many = TensorBasis(
            3, n_terms=300, lam=0, index_set="largest_weight", spectrum=Spectrum((0.3, 2))
        )
        summed = kind.from_data(many, X, Y, sample_weight=weight, scaling=box)
        few = TensorBasis(3, n_terms=40, lam=0, index_set="largest_weight", spectrum=GIVEN)
        found = normal_equations(summed, few)
        direct = GramStatistics.from_data(few, X, Y, sample_weight=weight, scaling=box)
        for name in ("gram", "cross", "target_gram"):
            expected = getattr(direct, name)
            assert_allclose(getattr(found, name), expected, atol=1e-12 * np.abs(expected).max())
        assert (found.n_samples, found.weight_sum) == (200, direct.weight_sum)
        assert_allclose(found.solve(0.1).weights, direct.solve(0.1).weights, atol=1e-9)

    @pytest.mark.parametrize("lam", [-0.2, 0.0, 0.5, 2.0])
    def test_moments_are_those_of_every_lam(self, lam):
        X, y = samples(200)
        box = InputScaling.fit(X)
        summed = MomentStatistics.from_data(TensorBasis(3, n_terms=90), X, y, scaling=box)
        few = TensorBasis(3, n_terms=50, lam=lam)
        direct = GramStatistics.from_data(few, X, y, scaling=box).gram
        found = normal_equations(summed, few).gram
        assert_allclose(found, direct, atol=1e-12 * np.abs(direct).max())

    def test_constant_inputs_stay_constant(self):
        X, y = samples(100)
        X[:, 1] = 3.0
        box = InputScaling.fit(X)
        basis = TensorBasis(3, n_terms=30)
        summed = MomentStatistics.from_data(basis, X, y, scaling=box)
        direct = GramStatistics.from_data(basis, X, y, scaling=box)
        assert_allclose(normal_equations(summed, basis).gram, direct.gram, atol=1e-10)

    def test_what_was_not_summed_is_refused(self):
        X, y = samples(50)
        summed = GramStatistics.from_data(TensorBasis(3, degree=2), X, y)
        with pytest.raises(ValueError, match=r"the term of degrees \[3, 0, 0\] was not summed"):
            normal_equations(summed, TensorBasis(3, degree=3))
        with pytest.raises(ValueError, match=r"have no other `lam`, got 0.5"):
            normal_equations(summed, TensorBasis(3, degree=2, lam=0.5))
        assert (
            terms_within(TensorBasis(3, degree=3), summed.basis).tolist()
            == [True] * 10 + [False] * 10
        )


class TestAgainstRefits:
    """The same choice as by explicit refits of the samples in memory."""

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("free", [False, True])
    def test_number_of_terms_and_alpha(self, kind, free):
        estimator, X, y = task(kind, 400)
        model = estimator(
            GIVEN, ALPHAS, cv=4, penalize_constant=not free, out_of_range="clip"
        ).fit_stream(ArrayBatches(X, y, batch_size=90))
        results = model.stream_results_
        assert_array_equal(results["n_terms"], [50, 100, 200, 400])
        losses = []
        for n_terms in results["n_terms"]:
            basis = TensorBasis(
                3, n_terms=n_terms, lam=0, index_set="largest_weight", spectrum=GIVEN
            )
            found, outputs = by_refits(
                kind, basis, X, y, ALPHAS, model.scaling_, 4, free=free
            )  # fmt: skip
            losses.append(found)
            if n_terms == model.n_terms_:
                chosen, left_out = basis, outputs
        losses = np.array(losses)
        assert_allclose(-results["score"], losses.min(axis=1), rtol=1e-6)
        best = np.unravel_index(losses.argmin(), losses.shape)
        assert model.n_terms_ == results["n_terms"][best[0]]
        assert model.alpha_ == ALPHAS[best[1]]
        assert_allclose(-model.alpha_results_["score"], losses[best[0]], rtol=1e-6)
        T = targets_of(kind, y)
        fit = solve_ridge(
            chosen, X, T, model.alpha_, scaling=model.scaling_, penalize_constant=not free
        )
        outputs = chosen.evaluate(X, scaling=model.scaling_) @ fit.weights
        held_out = left_out[best[1]]
        if kind in ("real", "reals"):
            values = np.asarray(y, dtype=float).reshape(len(y), -1)
            outputs = outputs * values.std(axis=0) + values.mean(axis=0)
            held_out = held_out * values.std(axis=0) + values.mean(axis=0)
            assert_allclose(model.predict(X).reshape(outputs.shape), outputs, rtol=1e-6)
        assert_allclose(model._raw_outputs(X), outputs, rtol=1e-6, atol=1e-6)
        assert_allclose(
            model.loo_predictions_.reshape(held_out.shape), held_out, rtol=1e-5, atol=1e-6
        )
        assert_array_equal(model.loo_targets_, y)

    @pytest.mark.parametrize("kind", ["real", "three"])
    def test_lam_and_number_of_terms_of_the_paper(self, kind):
        estimator, X, y = task(kind, 300)
        lams, sizes, alphas = [0.05, 1.5], [10, 35], [2.0**-6, 2.0]
        model = estimator(
            None, alphas, sizes, lam=lams, cv=3, penalize_constant=False
        ).fit_stream(ArrayBatches(X, y, batch_size=77))  # fmt: skip
        expected = np.array([
            [
                by_refits(
                    kind, TensorBasis(3, n_terms=size, lam=lam), X, y, alphas, model.scaling_, 3,
                    free=True,
                )[0]
                for size in sizes
            ]
            for lam in lams
        ])  # fmt: skip
        assert_allclose(-model.surface_["score"], expected, rtol=1e-6)
        lam, size, alpha = np.unravel_index(expected.argmin(), expected.shape)
        assert (model.lam_, model.n_terms_) == (lams[lam], sizes[size])
        assert model.alpha_ == alphas[alpha]
        assert model.scaling_.domain == (0, 1)

    @pytest.mark.parametrize("kind", KINDS)
    def test_spectrum_is_the_one_of_a_fit_in_memory(self, kind):
        estimator, X, y = task(kind)
        streamed = estimator(n_terms=60, search_samples=200).fit_stream(
            ArrayBatches(X, y, batch_size=100)
        )
        whole = estimator(n_terms=60, search_samples=200).fit(X, y)
        assert streamed.n_search_samples_ == whole.n_search_samples_
        assert_allclose(
            streamed.spectrum_.squared_weights(3, 4), whole.spectrum_.squared_weights(3, 4),
            rtol=1e-3,
        )  # fmt: skip
        assert_array_equal(streamed.scaling_.lower, whole.scaling_.lower)
        assert_array_equal(streamed.scaling_.upper, whole.scaling_.upper)

    @pytest.mark.slow
    def test_features_serve_as_moments_do(self, monkeypatch):
        X, y = samples(500)
        by_moments = GegenbauerRegressorCV(n_terms=60).fit_stream(ArrayBatches(X, y))
        monkeypatch.setattr(
            "gegenbauer.estimators._fold_sums.choose_statistics", lambda *_: GramStatistics
        )
        monkeypatch.setattr(
            "gegenbauer.estimators._stream_search.choose_statistics", lambda *_: GramStatistics
        )
        by_features = GegenbauerRegressorCV(n_terms=60).fit_stream(ArrayBatches(X, y))
        assert_allclose(by_features.predict(X), by_moments.predict(X), atol=1e-8)
        several = {"spectrum": None, "lam": [0.05, 0.5], "n_terms": [10, 30]}
        model = GegenbauerRegressorCV(**several).fit_stream(ArrayBatches(X, y))
        monkeypatch.undo()
        again = GegenbauerRegressorCV(**several).fit_stream(ArrayBatches(X, y))
        finite = np.isfinite(model.surface_["score"]) & np.isfinite(again.surface_["score"])
        assert finite.mean() > 0.6
        large = finite & (model.surface_["alpha"] > 1e-6)
        assert_allclose(model.surface_["score"][large], again.surface_["score"][large], rtol=1e-6)

    def test_probabilities_are_those_of_the_outputs_held_out(self):
        estimator, X, y = task("three")
        model = estimator(GIVEN, ALPHAS, 50).fit_stream([(X, y)])
        codes = np.searchsorted(model.classes_, y)
        expected = fit_probabilities(model.loo_predictions_, codes)(model._raw_outputs(X))
        assert_allclose(model.predict_proba(X), expected, atol=1e-12)
        assert model.score(X, y) > 0.8

    def test_uncertainty_of_a_regression(self):
        X, y = samples(3000)
        model = GegenbauerRegressorCV(n_terms=100).fit_stream(ArrayBatches(X, y, batch_size=999))
        assert model.noise_variance_[0] == pytest.approx(0.04, rel=0.1)
        new, truth = samples(2000, seed=1)
        lower, upper = model.predict_interval(new, 0.9)
        assert np.mean((lower <= truth) & (truth <= upper)) == pytest.approx(0.9, abs=0.03)
        residuals = y - model.predict(X)
        left = 3000 - model.effective_dof_
        assert model.noise_variance_[0] == pytest.approx(residuals @ residuals / left, rel=1e-6)


class TestLandmarks:
    """All terms in the span of landmarks that are chosen among the first samples."""

    @pytest.fixture
    def forty(self, monkeypatch):
        monkeypatch.setattr(
            "gegenbauer.estimators._stream_search.default_landmarks", lambda n_samples: 40
        )

    @pytest.mark.usefixtures("forty")
    @pytest.mark.parametrize(("weighted", "free"), [(False, False), (False, True), (True, True)])
    @pytest.mark.parametrize("kind", KINDS)
    def test_they_equal_refits(self, kind, weighted, free):
        estimator, X, y = task(kind, 400)
        weight = np.random.default_rng(1).uniform(0.5, 2.0, size=400) if weighted else None
        batches = [
            (X[own], y[own]) if weight is None else (X[own], y[own], weight[own])
            for own in (slice(0, 90), slice(90, 400))
        ]
        model = estimator(GIVEN, ALPHAS, cv=4, penalize_constant=not free).fit_stream(
            batches, landmarks=True
        )
        assert (model.engine_, model.n_terms_, len(model.X_fit_)) == ("landmarks", np.inf, 40)
        assert {tuple(row) for row in model.X_fit_} <= {tuple(row) for row in X}
        scaling = model.scaling_
        centres = scaling.transform(model.X_fit_)
        own = model.kernel_(centres) - 1.0
        landmarks = Landmarks(model.kernel_, centres, np.linalg.cholesky(own))
        losses, left_out = by_refits(
            kind, landmarks, X, y, ALPHAS, scaling, 4, free=free, weight=weight
        )
        if not weighted:  # else losses are weighted, and so are the standardised targets
            assert_allclose(-model.alpha_results_["score"], losses, rtol=1e-6)
            assert model.alpha_ == ALPHAS[int(np.argmin(losses))]
            held_out = left_out[int(np.argmin(losses))]
        T = targets_of(kind, y)
        outputs = landmarks.evaluate(X, scaling=scaling) @ refit(
            landmarks, X, T, model.alpha_, scaling, free=free, weight=weight
        )
        if kind in ("real", "reals"):
            values = np.asarray(y, dtype=float).reshape(len(y), -1)
            outputs = outputs * values.std(axis=0) + values.mean(axis=0)
            if not weighted:
                held_out = held_out * values.std(axis=0) + values.mean(axis=0)
        assert_allclose(model._raw_outputs(X), outputs, rtol=1e-6, atol=1e-6)
        if not weighted:
            found = model.loo_predictions_.reshape(held_out.shape)
            assert_allclose(found, held_out, rtol=1e-5, atol=1e-6)

    @pytest.mark.usefixtures("forty")
    @pytest.mark.parametrize("kind", ["real", "three"])
    def test_borders_of_batches_do_not_matter(self, kind, monkeypatch):
        """The box is that of the first samples; what lies beyond is clipped and counted."""
        monkeypatch.setattr(_fold_sums, "SAMPLE_SIZE", 150)
        estimator, X, y = task(kind, 500)
        X[300:, 0] *= 2.0
        fits = []
        for size in (500, 149, 7):
            with pytest.warns(StreamOrderWarning, match="values of column 0 lie beyond the range"):
                fits.append(
                    estimator(search_samples=80, out_of_range="clip").fit_stream(
                        ArrayBatches(X, y, batch_size=size), landmarks=True
                    )
                )
        for fit in fits[1:]:
            fits_alike(fits[0], fit, X)
            assert fit.spectrum_ == fits[0].spectrum_
            assert_array_equal(fit.X_fit_, fits[0].X_fit_)
        in_memory = estimator(n_terms=5).fit(X[:150], y[:150]).scaling_
        for fit in fits:
            assert_array_equal(fit.scaling_.lower, in_memory.lower)
            assert_array_equal(fit.scaling_.upper, in_memory.upper)
            n_beyond = np.count_nonzero(in_memory.beyond(X), axis=0)
            assert_array_equal(fit.n_clipped_, n_beyond)
            assert fit.n_clipped_[0] > 50
            assert fit.n_search_samples_ == 80

    @pytest.mark.usefixtures("forty")
    def test_an_input_that_varies_late_is_reported(self, monkeypatch):
        monkeypatch.setattr(_fold_sums, "SAMPLE_SIZE", 150)
        X, y = samples(500)
        X[:150, 1] = 0.5
        with pytest.warns(StreamOrderWarning, match=r"70.0% of the values of column 1 lie beyond"):
            model = GegenbauerRegressorCV(GIVEN, [1.0]).fit_stream([(X, y)], landmarks=True)
        assert model.n_clipped_.tolist()[1] == 350
        with pytest.raises(StreamError, match="GegenbauerRegressorCV is expecting 3 features"):
            GegenbauerRegressorCV().fit_stream([(X, y), (X[:, :2], y)])

    @pytest.mark.usefixtures("forty")
    @pytest.mark.parametrize("free", [False, True])
    def test_uncertainty_and_files(self, tmp_path, free):
        X, y = samples(3000)
        model = GegenbauerRegressorCV(penalize_constant=not free).fit_stream(
            ArrayBatches(X, y), landmarks=True
        )
        residuals = y - model.predict(X)
        left = 3000 - model.effective_dof_
        assert model.noise_variance_[0] == pytest.approx(residuals @ residuals / left, rel=1e-6)
        K = model.kernel_(X, model.X_fit_, scaling=model.scaling_) - 1.0
        L = np.linalg.cholesky(model.kernel_(model.X_fit_, scaling=model.scaling_) - 1.0)
        G = np.column_stack([np.ones(3000), np.linalg.solve(L, K.T).T])
        penalty = np.diag(np.append(0.0 if free else model.alpha_, np.full(40, model.alpha_)))
        leverage = np.einsum("ij,ji->i", G, np.linalg.solve(G.T @ G + penalty, G.T))
        diagonal = model.kernel_.diagonal(X, scaling=model.scaling_) - 1.0
        beyond = (diagonal - (G[:, 1:] ** 2).sum(axis=1)).clip(min=0) / model.alpha_
        expected = np.sqrt(model.noise_variance_[0] * (1.0 + leverage + beyond))
        assert_allclose(model.predict(X, return_std=True)[1], expected, rtol=1e-5)
        save(model, tmp_path / "model")
        loaded = load(tmp_path / "model")
        assert_array_equal(loaded.predict(X), model.predict(X))
        assert_allclose(loaded.predict(X, return_std=True)[1], expected, rtol=1e-5)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_terms": 50}, "with `landmarks=True`, `n_terms` must not be 50"),
            ({"spectrum": None}, "with `landmarks=True`, `spectrum` must not be None"),
            ({"spectrum": (0.3, 1.3)}, "smoothness = 1.3"),
        ],
    )
    def test_what_does_not_go_with_them(self, options, message):
        model = GegenbauerRegressorCV(**options)
        with pytest.raises(ValueError, match=message):
            model.fit_stream([samples(50)], landmarks=True)
        assert not hasattr(model, "expansion_")
        with pytest.raises(TypeError, match="landmarks"):
            GegenbauerRegressorCV().fit_stream([samples(50)], landmarks="yes")


def fits_alike(one, other, X):
    assert one.alpha_ == pytest.approx(other.alpha_, rel=1e-6)
    assert one.n_terms_ == other.n_terms_
    assert one.n_samples_seen_ == other.n_samples_seen_
    assert_allclose(one._raw_outputs(X), other._raw_outputs(X), rtol=1e-7, atol=1e-7)
    assert_allclose(one.loo_predictions_, other.loo_predictions_, rtol=1e-6, atol=1e-6)


class TestOnePass:
    @pytest.fixture
    def few_at_hand(self, monkeypatch):
        """Keep a draw of 150 samples, so that the others are in the sums alone."""
        monkeypatch.setattr(_fold_sums, "SAMPLE_SIZE", 150)

    @pytest.mark.usefixtures("few_at_hand")
    @pytest.mark.parametrize("kind", KINDS)
    def test_borders_of_batches_do_not_matter(self, kind):
        estimator, X, y = task(kind, 500)
        options = {"n_terms": 40, "search_samples": 80, "out_of_range": "clip"}
        fits = [
            estimator(**options).fit_stream(ArrayBatches(X, y, batch_size=size))
            for size in (500, 149, 7)
        ]
        for fit in fits[1:]:
            fits_alike(fits[0], fit, X)
            assert fit.spectrum_ == fits[0].spectrum_
        assert fits[0].loo_targets_.shape[0] == 150
        chosen = np.sort(np.argsort(keys_of_places(np.arange(500)))[:150])
        assert_array_equal(fits[0].loo_targets_, y[chosen])

    @pytest.mark.usefixtures("few_at_hand")
    def test_all_samples_count_not_the_draw_alone(self):
        X, y = samples(2000)
        model = GegenbauerRegressorCV(GIVEN, ALPHAS, 60, cv=3).fit_stream(
            ArrayBatches(X, y, batch_size=300)
        )
        drawn = np.sort(np.argsort(keys_of_places(np.arange(2000)))[:150])
        center, unit = y[drawn].mean(), y[drawn].std()
        basis = TensorBasis(3, n_terms=60, lam=0, index_set="largest_weight", spectrum=GIVEN)
        fold = folds_of_places(np.arange(2000), 3)
        errors = np.zeros(len(ALPHAS))
        for k in range(3):
            G = basis.evaluate(X[fold == k], scaling=model.scaling_)
            for a, alpha in enumerate(ALPHAS):
                fit = solve_ridge(
                    basis, X[fold != k], (y[fold != k] - center) / unit, alpha,
                    scaling=model.scaling_, penalize_constant=False,
                )  # fmt: skip
                left = (y[fold == k] - center) / unit - (G @ fit.weights)[:, 0]
                errors[a] += left @ left
        assert_allclose(-model.alpha_results_["score"], errors / 2000, rtol=1e-7)

    @pytest.mark.parametrize("kind", KINDS)
    def test_weights_count_samples(self, kind):
        """With all given: repeated samples are dealt to other folds than one of their weight."""
        estimator, X, y = task(kind, 300)
        times = np.random.default_rng(2).integers(0, 4, size=300)
        options = {"spectrum": GIVEN, "alphas": [0.5], "n_terms": 30}
        weighted = estimator(**options).fit_stream([(X, y, times.astype(float))])
        repeated = estimator(**options).fit_stream(
            [(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0))]
        )
        assert_allclose(
            weighted._raw_outputs(X), repeated._raw_outputs(X), rtol=1e-8, atol=1e-8
        )  # fmt: skip

    def test_weights_of_classes_are_weights_of_samples(self):
        estimator, X, y = task("three", 300)
        factors = {"a": 1.0, "b": 2.0, "c": 0.5}
        options = {"spectrum": GIVEN, "n_terms": 30}
        by_class = estimator(**options, class_weight=factors).fit_stream([(X, y)])
        weight = np.array([factors[label] for label in y])
        fits_alike(by_class, estimator(**options).fit_stream([(X, y, weight)]), X)

    def test_floats_of_both_sizes(self):
        X, y = samples(400)
        X = X.astype(np.float32)
        options = {"spectrum": GIVEN, "n_terms": 30}
        mixed = [(X[:200], y[:200]), (X[200:].astype(np.float64), y[200:])]
        fits_alike(
            GegenbauerRegressorCV(**options).fit_stream(mixed),
            GegenbauerRegressorCV(**options).fit_stream([(X.astype(np.float64), y)]), X,
        )  # fmt: skip

    def test_estimators_on_clusters_take_streams_too(self):
        pytest.importorskip("distributed")
        from gegenbauer import dask

        X, y = samples(300)
        model = dask.GegenbauerRegressorCV(GIVEN, n_terms=30).fit_stream([(X, y)])
        assert type(model) is dask.GegenbauerRegressorCV
        fits_alike(model, GegenbauerRegressorCV(GIVEN, n_terms=30).fit_stream([(X, y)]), X)

    @pytest.mark.parametrize("kind", ["real", "three"])
    def test_samples_of_no_weight_have_no_place(self, kind):
        estimator, X, y = task(kind, 300)
        weight = np.random.default_rng(2).integers(0, 2, size=300).astype(float)
        options = {"spectrum": GIVEN, "n_terms": 30}
        weighted = estimator(**options).fit_stream(ArrayBatches(X, y, weight, batch_size=70))
        removed = estimator(**options).fit_stream([(X[weight > 0], y[weight > 0])])
        fits_alike(weighted, removed, X[weight > 0])

    def test_a_reader_may_reuse_its_arrays(self):
        X, y = samples(400)

        def reusing():
            buffer, targets = np.empty((100, 3)), np.empty(100)
            for first in range(0, 400, 100):
                buffer[:], targets[:] = X[first : first + 100], y[first : first + 100]
                yield buffer, targets

        one = GegenbauerRegressorCV(GIVEN, n_terms=30).fit_stream(reusing())
        fits_alike(one, GegenbauerRegressorCV(GIVEN, n_terms=30).fit_stream([(X, y)]), X)

    def test_narrow_at_first(self):
        X, y = samples(600)
        order = np.argsort(X[:, 0])
        model = GegenbauerRegressorCV(GIVEN, n_terms=60).fit_stream(
            ArrayBatches(X[order], y[order], batch_size=50)
        )
        assert model.score(X, y) > 0.95
        assert_array_equal(model.scaling_.outside(X), False)

    @pytest.mark.usefixtures("few_at_hand")
    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    def test_a_beginning_unlike_the_rest(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, size=(3000, 3))
        y = np.where(np.arange(3000) < 150, np.sin(7 * X[:, 0]), np.sin(7 * X[:, 1]))
        with pytest.warns(StreamOrderWarning, match=r"hold \d+% of the weight.*shuffle the stream"):
            model = GegenbauerRegressorCV(n_terms=60, search_samples=100).fit_stream([(X, y)])
        assert {False, True} == set(model.stream_results_["of_first"].tolist())
        assert -model.best_score_ == pytest.approx(-model.stream_results_["score"].max())

    def test_bounds(self):
        X, y = samples(300)
        bounds = [(-1, 1.5)] * 3
        with pytest.warns(OutOfRangeWarning):
            GegenbauerRegressorCV(GIVEN, n_terms=30, bounds=bounds).fit_stream([(X, y)])
        model = GegenbauerRegressorCV(GIVEN, n_terms=30, bounds=bounds, out_of_range="clip")
        model.fit_stream(ArrayBatches(X, y, batch_size=31))
        assert_array_equal(model.scaling_.upper, 1.5)
        assert_array_equal(model.n_clipped_, (X > 1.5).sum(axis=0))
        inside = X.clip(-1, 1.5)
        fits_alike(model, clone(model).fit_stream([(inside, y)]), X)
        with pytest.raises(ValueError, match="`bounds` must hold a pair"):
            clone(model).set_params(bounds=[(0, 1)]).fit_stream([(X, y)])

    def test_classes_come_one_by_one_or_are_announced(self):
        X, y = samples(600)
        labels = np.array(["a", "b", "c"])[np.digitize(y, [4.5, 5.5])]
        order = np.argsort(labels, kind="stable")
        late = ArrayBatches(X[order], labels[order], batch_size=40)
        options = {"spectrum": GIVEN, "n_terms": 40}
        one = GegenbauerClassifierCV(**options).fit_stream(late)
        assert one.classes_.tolist() == ["a", "b", "c"]
        other = GegenbauerClassifierCV(**options).fit_stream(late, classes=["c", "b", "a"])
        fits_alike(one, other, X)
        with pytest.raises(StreamError, match=r"'c'.*not among the classes announced"):
            GegenbauerClassifierCV(**options).fit_stream(late, classes=["a", "b"])

    @pytest.mark.usefixtures("few_at_hand")
    def test_a_class_that_the_draw_lacks(self):
        X, y = samples(2000)
        labels = (y > 5).astype(int)
        drawn = np.argsort(keys_of_places(np.arange(2000)))[:150]
        rare = np.setdiff1d(np.arange(2000), drawn)[:3]
        labels[rare] = 2
        model = GegenbauerClassifierCV(n_terms=40).fit_stream(
            ArrayBatches(X, labels, batch_size=99)
        )
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.predict_proba(X)[:, 2].max() < 0.5
        assert model.score(X, labels) > 0.85

    @pytest.mark.parametrize("n", [5, 8, 40])
    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    def test_few_samples(self, n):
        """Of so few, one candidate may be the constant alone."""
        X, y = samples(n)
        model = GegenbauerRegressorCV(alphas=[1e-3]).fit_stream([(X, y)])
        first = int(model.stream_results_["n_terms"][0])
        assert first == max(1, n // 8)
        fold = folds_of_places(np.arange(n), 5)
        if first == 1:  # whose predictions are the means of the other folds
            means = np.array([y[fold != k].mean() for k in fold])
            expected = np.mean((y - means) ** 2) / y.var()
            assert_allclose(-model.stream_results_["score"][0], expected, rtol=1e-9)
        assert np.isfinite(model.predict(X)).all()


class TestModel:
    def test_names_state_and_files(self, tmp_path):
        pytest.importorskip("safetensors")
        X, y = samples(400)
        table = pd.DataFrame(X, columns=["p", "q", "r"])
        model = GegenbauerRegressorCV(n_terms=40).fit_stream([(table, y)])
        assert model.feature_names_in_.tolist() == ["p", "q", "r"]
        assert type(model) is GegenbauerRegressorCV
        save(model, tmp_path / "model")
        assert_array_equal(load(tmp_path / "model").predict(table), model.predict(table))
        assert sobol_indices(model).total.shape == (1, 3)
        again = copy.deepcopy(model)
        assert_array_equal(again.predict(table), model.predict(table))
        model.fit(table, y)
        assert not any(hasattr(model, name) for name in ("stream_results_", "n_samples_seen_"))

    @pytest.mark.parametrize("kind", ["real", "three"])
    def test_nothing_is_left_of_a_fit_that_fails(self, kind):
        estimator, X, y = task(kind, 200)
        model = estimator(GIVEN, n_terms=20)
        bad = X.copy()
        bad[150, 1] = np.inf
        with pytest.raises(StreamError, match=r"rows 150 to 199 .*infinity.*first in row 150"):
            model.fit_stream(ArrayBatches(bad, y, batch_size=50))
        assert not any(name.endswith("_") for name in vars(model))
        model.fit(X, y)
        before = model.predict(X)
        with pytest.raises(StreamError, match="infinity"):
            model.fit_stream(ArrayBatches(bad, y, batch_size=50))
        assert_array_equal(model.predict(X), before)

    def test_callback_and_announcement(self, capsys):
        X, y = samples(300)
        seen = []
        GegenbauerRegressorCV(GIVEN, n_terms=30, cv=3).fit_stream(
            ArrayBatches(X, y, batch_size=100), callback=lambda *done: seen.append(done),
            verbose=True,
        )  # fmt: skip
        assert seen == [(100, 300), (200, 300), (300, 300)]
        assert "3 folds of" in capsys.readouterr().out


class TestRefused:
    @pytest.mark.parametrize("estimator", [GegenbauerRegressorCV, GegenbauerClassifierCV])
    def test_streams(self, estimator):
        X, y = samples(60)
        y = y if estimator is GegenbauerRegressorCV else (y > 5).astype(int)
        model = estimator(GIVEN, n_terms=20)
        with pytest.raises(ValueError, match=r"the batches held no samples"):
            model.fit_stream([])
        with pytest.raises(ValueError, match=r"the batches held no samples \(of positive weight\)"):
            model.fit_stream([(X, y, np.zeros(60))])
        with pytest.raises(ValueError, match=r"5 folds need at least 5 samples.* got 4"):
            model.fit_stream([(X[:4], y[:4])])
        with pytest.raises(StreamError, match=r"batch 1.*2 features"):
            model.fit_stream([(X, y), (X[:, :2], y)])
        names = pd.DataFrame(X, columns=list("abc"))
        with pytest.raises(StreamError, match=r"batch 1.*feature names"):
            model.fit_stream([(names, y), (names.rename(columns={"a": "z"}), y)])
        with pytest.raises(ValueError, match=r"sample_weight is at most 1e-60"):
            model.fit_stream([(X, y, np.full(60, 1e-60))])
        with pytest.raises(TypeError, match=r"batches must be a source of rows"):
            model.fit_stream(3)

    def test_targets(self):
        X, y = samples(60)
        with pytest.raises(ValueError, match=r"GegenbauerClassifierCV needs at least two classes"):
            GegenbauerClassifierCV(GIVEN, n_terms=20).fit_stream([(X, np.ones(60, dtype=int))])
        with pytest.raises(StreamError, match=r"y must have 1 columns, as in the batches before"):
            GegenbauerRegressorCV(GIVEN).fit_stream([(X, y), (X, np.column_stack([y, y]))])
        with pytest.raises(StreamError, match=r"labels must be of one type"):
            GegenbauerClassifierCV(GIVEN).fit_stream([(X, y > 5), (X, np.full(60, "yes"))])
        with pytest.raises(ValueError, match=r"sums are beyond the range of float64: .* Y or"):
            GegenbauerRegressorCV(GIVEN).fit_stream([(X, 1e200 * y)])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"cv": [([0], [1])]}, r"`cv` must be a number of folds or None for 5"),
            ({"cv": 1}, r"'cv' parameter .* range \[2, inf\).* Got 1"),
            ({"scoring": "accuracy"}, r"`scoring` must be None, since the samples are gone"),
            ({"class_weight": "balanced"}, r"`class_weight='balanced'` needs the number of rows"),
            (
                {"n_terms": [10, 20]},
                r"several `n_terms` to choose from need the basis of the paper",
            ),
            ({"categorical_features": [0], "spectrum": None}, r"`spectrum=None` takes numbers al"),
            ({"spectrum": (0.0, 1.0)}, r"the spectrum gives no input a weight"),
        ],
    )
    def test_parameters(self, options, message):
        X, y = samples(60)
        with pytest.raises(ValueError, match=message):
            GegenbauerClassifierCV(**options).fit_stream([(X, y > 5)])

    def test_checkpoint(self, tmp_path):
        X, y = samples(60)
        with pytest.raises(ValueError, match=r"`checkpoint` must be None .* GegenbauerRegressor;"):
            GegenbauerRegressorCV().fit_stream([(X, y)], checkpoint=Checkpoint(tmp_path / "run"))

    def test_memory_is_refused_before_the_sums(self, monkeypatch):
        X, y = samples(2000)
        monkeypatch.setattr("gegenbauer._memory.available_memory", lambda: 3e8)
        with pytest.raises(
            TooLargeError,
            match=r"1501 terms and outputs in 60 folds needs 3.32 GB.*lower `n_terms` or `cv`",
        ):
            GegenbauerRegressorCV(GIVEN, n_terms=1500, cv=60).fit_stream(ArrayBatches(X, y))

    def test_memory_of_the_sums_is_counted(self):
        basis = TensorBasis(3, degree=4)
        (summed,) = _fold_sums.summed_terms([basis], 2)
        assert summed.kind is MomentStatistics
        size = MomentStatistics(basis, 2).size
        assert summed.n_bytes(7, 2) == 7 * 8 * size
        assert summed.describe(7, 2).startswith(f"7 folds of {size:,} moments (35 terms): ")
