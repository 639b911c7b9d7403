"""Landmarks of streams of noise: a few penalties show it, and other targets choose as before."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gegenbauer import GegenbauerClassifierCV, GegenbauerRegressorCV, InputScaling, Spectrum
from gegenbauer.basis import SpectrumKernel
from gegenbauer.errors import UnderfittingWarning
from gegenbauer.estimators import _sums_search
from gegenbauer.ridge import _eigen
from gegenbauer.ridge._eigen import PrimalInverse, PrimalSpectrum
from gegenbauer.ridge.landmarks import choose_landmarks
from gegenbauer.ridge.statistics import _base
from gegenbauer.ridge.statistics.landmarks import LandmarkStatistics
from gegenbauer.selection.fold_fits import FoldFits, TrialFits

N = 600


def samples(kind, n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    noise = rng.normal(size=n)
    truth = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, {"noise": noise, "weak": 0.5 * truth + noise, "clear": truth + 0.1 * noise}[kind]


def batches(X, y):
    return [(X[i : i + 100], y[i : i + 100]) for i in range(0, len(X), 100)]


@pytest.fixture(scope="module")
def folds():
    """Sums over three folds of a few landmarks."""
    X, y = samples("weak", 240)
    Y = np.column_stack([y + 3.0, X[:, 0]])
    box = InputScaling.fit(X, domain=(-1, 1))
    kernel = SpectrumKernel(3, Spectrum((0.3, 2.0)))
    landmarks, _ = choose_landmarks(kernel, X, 20, scaling=box)
    parts = [slice(k, None, 3) for k in range(3)]
    sums = [
        LandmarkStatistics.from_data(landmarks, X[part], Y[part], scaling=box) for part in parts
    ]
    return X, Y, parts, sums


class TestTrials:
    @pytest.mark.parametrize("penalize_constant", [False, True])
    @pytest.mark.parametrize("coded", [False, True])
    def test_are_the_fits_of_eigenvectors(self, folds, penalize_constant, coded):
        *_, sums = folds
        coding = (np.array([[2.0], [-1.0]]), np.array([0.5])) if coded else None
        given = {"coding": coding, "penalize_constant": penalize_constant, "n_threads": 1}
        alphas = np.array([1e-3, 1.0, 1e3])
        whole, some = FoldFits(sums, alphas, **given), TrialFits(sums, alphas, **given)
        assert_allclose(some.losses, whole.losses, rtol=1e-9)
        X = samples("weak", 30, seed=1)[0]
        fold_of = np.arange(30) % 3
        assert_allclose(some.outputs(X, fold_of), whole.outputs(X, fold_of), atol=1e-9)

    @pytest.mark.parametrize("penalize_constant", [False, True])
    def test_an_infinite_penalty_is_the_mean_of_the_others(self, folds, penalize_constant):
        _, Y, parts, sums = folds
        fits = TrialFits(
            sums, np.array([1.0, np.inf]), penalize_constant=penalize_constant, n_threads=1
        )
        errors = [((Y[own] - np.delete(Y, own, axis=0).mean(axis=0)) ** 2).mean() for own in (
            np.arange(len(Y))[part] for part in parts
        )]  # fmt: skip
        assert fits.losses[1] == pytest.approx(np.mean(errors), rel=1e-10)


class TestInverse:
    @pytest.mark.parametrize("free", [False, True])
    def test_is_that_of_the_eigenvectors(self, folds, free):
        *_, sums = folds
        total = sum(sums[1:], start=sums[0])
        system, means = total._system(None, 1)
        found = PrimalInverse(system.copy(order="F"), total.basis.n_terms, 0.3, free=free)
        spectrum = PrimalSpectrum(system, total.basis.n_terms, free=free, means=means)
        kept = spectrum.eigenvalues + 0.3
        expected = (spectrum.vectors / kept) @ spectrum.vectors.T
        assert_allclose(found.root @ found.root.T, expected, atol=1e-12)
        assert found.dof == pytest.approx((spectrum.eigenvalues / kept).sum(), rel=1e-12)
        assert_allclose(found.mean_features, spectrum.mean_features, rtol=1e-14)

    def test_a_penalty_that_is_too_small(self):
        with pytest.raises(np.linalg.LinAlgError, match="too small"):
            PrimalInverse(-np.eye(3), 3, 0.5, free=False)


def fitted(kind, estimator):
    X, y = samples(kind)
    if estimator is GegenbauerClassifierCV:
        y = np.where(y > np.median(y), "up", "down")
    return estimator(search_samples=150).fit_stream(batches(X, y), landmarks=True)


@pytest.mark.parametrize("estimator", [GegenbauerRegressorCV, GegenbauerClassifierCV])
class TestStreams:
    def test_of_noise_the_largest_penalty_is_kept(self, estimator, monkeypatch):
        def refuse(*_, **__):
            raise AssertionError("there are eigenvectors")

        monkeypatch.setattr(_base, "PrimalSpectrum", refuse)
        with pytest.warns(UnderfittingWarning):
            model = fitted("noise", estimator)
        assert model.alpha_results_["alpha"].tolist() == [model.alpha_]
        monkeypatch.undo()
        monkeypatch.setattr(_sums_search.SumsSearch, "_beat_constants", lambda *_: True)
        with pytest.warns(UnderfittingWarning):
            whole = fitted("noise", estimator)
        assert model.alpha_ == whole.alpha_results_["alpha"].max()
        scores = whole.alpha_results_["score"]
        assert model.best_score_ == pytest.approx(scores[-1], abs=1e-6)
        X, _ = samples("noise", seed=1)
        spread = np.ptp(model.expansion_.evaluate(X), axis=0)
        assert (spread < 0.1).all()

    @pytest.mark.parametrize("kind", [pytest.param("weak", marks=pytest.mark.slow), "clear"])
    def test_of_others_the_choice_is_as_before(self, kind, estimator, monkeypatch):
        model = fitted(kind, estimator)
        monkeypatch.setattr(
            _sums_search.SumsSearch, "_fits_of_landmarks",
            lambda self, folds, alphas, data, loss, coding=None: self._fold_fits(
                folds, alphas, coding
            ),
        )  # fmt: skip
        whole = fitted(kind, estimator)
        assert model.alpha_ == whole.alpha_
        for name in ("alpha", "score"):
            assert_array_equal(model.alpha_results_[name], whole.alpha_results_[name])
        X, _ = samples(kind, seed=1)
        assert_array_equal(model.predict(X), whole.predict(X))

    def test_given_penalties_are_all_judged(self, estimator):
        X, y = samples("noise")
        y = y if estimator is GegenbauerRegressorCV else y > 0
        model = estimator(search_samples=150, alphas=[0.1, 1.0, 10.0])
        with pytest.warns(UserWarning):  # noqa: PT030  # of several kinds
            model.fit_stream(batches(X, y), landmarks=True)
        assert model.alpha_results_["alpha"].tolist() == [0.1, 1.0, 10.0]


def test_standard_deviations_are_those_of_eigenvectors(monkeypatch):
    X, _ = samples("clear", seed=1)
    model = fitted("clear", GegenbauerRegressorCV)
    calls = []
    monkeypatch.setattr(_sums_search, "_EASY", 0.0)
    eigenvectors = np.linalg.eigh
    monkeypatch.setattr(
        _eigen.np.linalg, "eigh", lambda *a, **k: (calls.append(1), eigenvectors(*a, **k))[1]
    )
    whole = fitted("clear", GegenbauerRegressorCV)
    assert calls
    for found, expected in zip(
        model.predict(X, return_std=True), whole.predict(X, return_std=True), strict=True
    ):
        assert_allclose(found, expected, rtol=1e-6)
    assert model.effective_dof_ == pytest.approx(whole.effective_dof_, rel=1e-8)
    assert_allclose(model.noise_variance_, whole.noise_variance_, rtol=1e-8)
