"""Landmarks: features of a kernel at few samples, against dense linear algebra."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import block_diag
from sklearn.metrics import log_loss

from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerRegressorCV,
    InputScaling,
    RidgePath,
    load,
    save,
    sobol_indices,
)
from gegenbauer.basis import SpectrumKernel, TensorBasis, TotalDegreeKernel
from gegenbauer.errors import BeyondRangeError
from gegenbauer.plotting import PathDisplay
from gegenbauer.ridge import default_landmarks, predict_kernel, solve_kernel, solve_ridge
from gegenbauer.ridge.landmarks import choose_landmarks
from gegenbauer.ridge.statistics.landmarks import LandmarkStatistics
from gegenbauer.selection import penalty, search_alpha

KERNEL = SpectrumKernel(2, (0.5, 2.0))
SCALING = InputScaling([0.0, -3.0], [2.0, 5.0], domain=(-1, 1))


def samples(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform([0.0, -3.0], [2.0, 5.0], size=(n, 2))
    y = np.sin(3 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=n)
    return X, y[:, np.newaxis]


class TestFeatures:
    def test_they_span_the_kernel_at_the_centres(self):
        X, _ = samples(200)
        landmarks, places = choose_landmarks(KERNEL, X, 30, scaling=SCALING)
        features = landmarks.evaluate(X, scaling=SCALING)
        assert places.size == np.unique(places).size == 30
        assert features.shape == (200, landmarks.n_terms) == (200, 31)
        assert_array_equal(features[:, 0], 1.0)
        features = features[:, 1:]
        K = KERNEL(X, scaling=SCALING) - 1.0
        projected = K[:, places] @ np.linalg.solve(K[np.ix_(places, places)], K[places])
        assert_allclose(features @ features.T, projected, atol=1e-10)

    def test_little_is_left(self):
        """Of the trace: no more than what the best subspace of half the dimensions leaves."""
        X, _ = samples(400)
        K = KERNEL(X, scaling=SCALING) - 1.0
        for n_centres in (20, 60, 150):
            landmarks, _ = choose_landmarks(KERNEL, X, n_centres, scaling=SCALING)
            features = landmarks.evaluate(X, scaling=SCALING)[:, 1:]
            left = np.trace(K) - (features**2).sum()
            eigenvalues = np.linalg.eigvalsh(K)
            best, half = eigenvalues[:-n_centres].sum(), eigenvalues[: -n_centres // 2].sum()
            assert best < left < half

    def test_the_same_each_time(self):
        X, _ = samples(300)
        first, again = (choose_landmarks(KERNEL, X, 40, scaling=SCALING)[1] for _ in range(2))
        assert_array_equal(first, again)

    def test_no_more_than_there_are_directions(self):
        """Of ten distinct inputs in five copies each; of a kernel of three terms."""
        X, _ = samples(10)
        landmarks, places = choose_landmarks(KERNEL, np.tile(X, (5, 1)), 30, scaling=SCALING)
        assert sorted(places % 10) == list(range(10))
        kernel = TotalDegreeKernel(2, degree=1, lam=0.5)
        landmarks, places = choose_landmarks(kernel, samples(50)[0], 30)
        assert places.size == 2
        assert landmarks.n_terms == 3

    def test_weights_draw(self):
        """Samples of next to no weight are no centres while others are left."""
        X, _ = samples(400)
        weight = np.where(np.arange(400) < 200, 1.0, 1e-12)
        _, places = choose_landmarks(KERNEL, X, 50, sample_weight=weight, scaling=SCALING)
        assert places.max() < 200

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("method", ["primal", "svd"])
    @pytest.mark.parametrize("free", [False, True])
    def test_left_out(self, free, method, weighted):
        X, Y = samples(120)
        weight = np.random.default_rng(1).uniform(0.2, 3.0, 120) if weighted else np.ones(120)
        landmarks, _ = choose_landmarks(KERNEL, X, 25, scaling=SCALING)
        path = RidgePath(
            landmarks, X, Y, method=method, sample_weight=weight, scaling=SCALING,
            penalize_constant=not free,
        )  # fmt: skip
        alphas = np.array([1e-4, 1.0])
        found = path.leave_one_out(alphas)
        G = landmarks.evaluate(X, scaling=SCALING)
        for k, alpha in enumerate(alphas):
            penalties = np.full(G.shape[1], alpha)
            penalties[0] *= not free
            for i in (0, 50, 119):
                w = weight * (np.arange(120) != i)
                fit = np.linalg.solve((G.T * w) @ G + np.diag(penalties), (G.T * w) @ Y)
                assert_allclose(found.predictions[k, i], G[i] @ fit, rtol=1e-9, atol=1e-9)

    def test_coefficients_of_the_kernel(self):
        X, _ = samples(80)
        landmarks, places = choose_landmarks(KERNEL, X, 20, scaling=SCALING)
        weights = np.random.default_rng(2).normal(size=(landmarks.n_terms, 3))
        coef, intercept = landmarks.coefficients(weights)
        by_kernel = predict_kernel(KERNEL, X, X[places], coef, intercept=intercept, scaling=SCALING)
        assert_allclose(by_kernel, landmarks.evaluate(X, scaling=SCALING) @ weights, atol=1e-9)

    @pytest.mark.parametrize("free", [False, True])
    def test_all_samples_are_the_kernel_itself(self, free):
        X, Y = samples(60)
        landmarks, places = choose_landmarks(KERNEL, X, 60, scaling=SCALING)
        assert places.size == 60
        path = RidgePath(landmarks, X, Y, scaling=SCALING, penalize_constant=not free)
        fit = solve_kernel(KERNEL, X, Y, 0.1, scaling=SCALING, penalize_constant=not free)
        new, _ = samples(30, seed=5)
        whole = predict_kernel(
            KERNEL, new, X, fit.dual_coef, intercept=fit.intercept, scaling=SCALING
        )
        assert_allclose(path.predict(new, [0.1])[0], whole, atol=1e-9)


def test_a_dual_method_is_for_kernels():
    X, Y = samples(40)
    landmarks, _ = choose_landmarks(KERNEL, X, 10, scaling=SCALING)
    with pytest.raises(ValueError, match="`method='dual'` needs a kernel or a TensorBasis"):
        RidgePath(landmarks, X, Y, method="dual")


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("n_splits", [0, 3])
def test_the_walk_to_alpha_begins_near_its_end(monkeypatch, free, n_splits):
    """The penalty is the one that a walk from anywhere ends at, after fewer factorisations."""
    X, Y = samples(400)
    cv = [(np.arange(400) % 3 != k, np.arange(400) % 3 == k) for k in range(n_splits)]
    cv = [tuple(np.flatnonzero(part) for part in pair) for pair in cv] or None
    tried = []

    def loss(predictions, rows):
        if len(predictions) == 1:  # of the walk, not of the grid of landmarks
            tried.append(rows)
        return ((predictions - Y[rows]) ** 2).mean(axis=(1, 2))

    def walk(start):
        tried.clear()
        found = search_alpha(
            KERNEL, X, Y, loss, start, scaling=SCALING, penalize_constant=not free, cv=cv
        )
        return found, len(tried)

    far, many = walk(2.0**-25)
    monkeypatch.setattr(penalty, "_MANY", 400)
    for start in (2.0**-25, 1.0, 2.0**20):
        near, few = walk(start)
        assert near.alpha == far.alpha
        assert_allclose(near.loss, far.loss, rtol=1e-12)
        assert few <= 8 * max(n_splits, 1) < many


class TestEstimators:
    """Fits beyond `kernel_samples`."""

    @pytest.fixture
    def landmarks(self, monkeypatch):
        """Let fits take so many landmarks."""

        def take(n_landmarks):
            monkeypatch.setattr(
                "gegenbauer.estimators._search.default_landmarks", lambda _: n_landmarks
            )

        return take

    @pytest.mark.parametrize("penalize_constant", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_landmarks_at_all_samples_are_the_kernel(self, landmarks, penalize_constant, weighted):
        """Predictions, samples left out, standard deviations, noise and indices."""
        landmarks(80)
        X, y = samples(80)
        weight = np.random.default_rng(1).uniform(0.5, 3, 80) if weighted else None
        options = {
            "spectrum": (0.5, 2.0), "alphas": [0.3], "penalize_constant": penalize_constant
        }  # fmt: skip
        kernel, few = (
            GegenbauerRegressorCV(**options, kernel_samples=most).fit(X, y[:, 0], weight)
            for most in (80, 79)
        )
        assert (kernel.engine_, few.engine_) == ("kernel", "landmarks")
        assert few.n_terms_ == np.inf
        assert few.kernel_ == kernel.kernel_
        new = samples(40, seed=3)[0]
        for found, true in zip(
            few.predict(new, return_std=True), kernel.predict(new, return_std=True), strict=True
        ):
            assert_allclose(found, true, rtol=1e-7)
        assert_allclose(few.loo_predictions_, kernel.loo_predictions_, rtol=1e-7)
        for name in ("noise_variance_", "effective_dof_", "best_score_"):
            assert_allclose(getattr(few, name), getattr(kernel, name), rtol=1e-7)
        found, true = (sobol_indices(model) for model in (few, kernel))
        assert_allclose(found.total, true.total, rtol=1e-7)

    def test_standard_deviations_of_few_landmarks(self, landmarks):
        """What is beyond their span keeps the variance of the prior."""
        landmarks(15)
        X, y = samples(120)
        model = GegenbauerRegressorCV(
            spectrum=(0.5, 2.0), alphas=[0.3], kernel_samples=0, penalize_constant=True
        ).fit(X, y)
        Z, new = model.X_fit_, samples(30, seed=4)[0]
        assert len(Z) == 15
        kernel = partial(model.kernel_, scaling=model.scaling_)
        # the constant term is known beside the kernel at the centres
        K = block_diag(1.0, kernel(Z) - 1.0)
        k, k_new = (np.insert(kernel(part, Z) - 1.0, 0, 1.0, axis=1) for part in (X, new))
        # weights of the prior have the covariance of K^-1 / alpha in units of the noise
        inner = np.linalg.inv(k.T @ k + model.alpha_ * K)
        own = model.kernel_.diagonal(new, scaling=model.scaling_)
        beyond = own - np.einsum("ij,ji->i", k_new, np.linalg.solve(K, k_new.T))
        variance = beyond / model.alpha_ + np.einsum("ij,jk,ik->i", k_new, inner, k_new)
        std = np.sqrt(model.noise_variance_[0] * (1.0 + variance))
        assert_allclose(model.predict(new, return_std=True)[1][:, 0], std, rtol=1e-6)
        # the mean is that of least squares, which is the constant part of the units
        coef = inner @ (k.T @ (y - y.mean()) / y.std())
        expected = y.mean() + y.std() * (k_new @ coef)
        assert_allclose(model.predict(new), expected, atol=1e-7)

    def test_alpha_is_the_best_for_samples_left_out(self, landmarks):
        landmarks(40)
        X, y = samples(300)
        model = GegenbauerRegressorCV(kernel_samples=299, search_samples=100).fit(X, y[:, 0])
        assert model.engine_ == "landmarks"
        target = (y - y.mean()) / y.std()
        Z = model.X_fit_  # all of them, which span the same
        chosen, places = choose_landmarks(model.kernel_, Z, 40, scaling=model.scaling_)
        assert places.size == len(Z) == 40
        path = RidgePath(chosen, X, target, scaling=model.scaling_, penalize_constant=False)
        near = model.alpha_ * 2.0 ** np.arange(-1, 2)
        found = path.leave_one_out(near).predictions
        losses = ((found - target) ** 2).mean(axis=(1, 2))
        assert losses.argmin() == 1
        assert_allclose(
            model.loo_predictions_, y.mean() + y.std() * found[1, :, 0], rtol=1e-7, atol=1e-7
        )

    @pytest.mark.parametrize("cv", [None, 4])
    def test_classification(self, landmarks, cv):
        landmarks(60)
        X, y = samples(240)
        labels = np.array(["low", "middle", "high"])[np.digitize(y[:, 0], [-1.0, 1.0])]
        kernel, few = (
            GegenbauerClassifierCV(kernel_samples=most, cv=cv, search_samples=150).fit(X, labels)
            for most in (240, 239)
        )
        assert few.engine_ == "landmarks"
        assert few.X_fit_.shape == (60, 2)
        new, truth = samples(2000, seed=7)
        truth = np.array(["low", "middle", "high"])[np.digitize(truth[:, 0], [-1.0, 1.0])]
        loss, least = (log_loss(truth, m.predict_proba(new)) for m in (few, kernel))
        assert loss < least + 0.02
        assert few.score(new, truth) > kernel.score(new, truth) - 0.01

    @pytest.mark.parametrize("kind", [GegenbauerClassifierCV, GegenbauerRegressorCV])
    def test_saved_and_loaded(self, landmarks, kind, tmp_path):
        landmarks(30)
        X, y = samples(100)
        targets = y[:, 0] > 0 if kind is GegenbauerClassifierCV else y
        model = kind(spectrum=(0.5, 2.0), kernel_samples=50).fit(X, targets)
        save(model, tmp_path / "model.safetensors")
        again = load(tmp_path / "model.safetensors")
        assert again.engine_ == "landmarks"
        assert_array_equal(again.predict(X), model.predict(X))
        if kind is GegenbauerRegressorCV:
            for found, true in zip(
                [*again.predict(X, return_std=True), *again.predict_interval(X)],
                [*model.predict(X, return_std=True), *model.predict_interval(X)],
                strict=True,
            ):
                assert_array_equal(found, true)

    def test_displays(self, landmarks):
        landmarks(30)
        X, y = samples(100)
        model = GegenbauerRegressorCV(spectrum=(0.5, 2.0), kernel_samples=50).fit(X, y[:, 0])
        with pytest.raises(TypeError, match="keeps no samples of its fit: pass X and y"):
            PathDisplay.from_estimator(model)
        display = PathDisplay.from_estimator(model, X, y[:, 0])
        assert display.chosen == model.alpha_


@pytest.mark.parametrize(
    ("n", "n_landmarks"),
    [(600, 500), (3000, 600), (15_000, 3000), (125_000, 3000), (250_000, 2121), (300_000, 0)],
)
def test_the_number_of_landmarks(monkeypatch, n, n_landmarks):
    monkeypatch.setattr("gegenbauer.ridge.cost.default_kernel_samples", lambda: 15_000)
    assert default_landmarks(n) == n_landmarks


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("method", ["primal", "svd", "dual"])
def test_weights_of_a_path(method, free):
    """Those of `solve_ridge` for a basis, of least squares for landmarks; a kernel has none."""
    X, Y = samples(60)
    Y = np.hstack([Y, Y**2])
    basis, alphas = TensorBasis(2, degree=3), [1e-3, 2.0]
    options = {"scaling": SCALING, "penalize_constant": not free}
    found = RidgePath(basis, X, Y, method=method, **options).weights(alphas)
    assert found.shape == (2, basis.n_terms, 2)
    for weights, alpha in zip(found, alphas, strict=True):
        assert_allclose(weights, solve_ridge(basis, X, Y, alpha, **options).weights, rtol=1e-9)
    with pytest.raises(ValueError, match=r"weights need a model of finitely many terms, .* got Sp"):
        RidgePath(KERNEL, X, Y, **options).weights(alphas)


def test_sums_beyond_float64_are_refused():
    X, _ = samples(40)
    landmarks, _ = choose_landmarks(KERNEL, X, 10, scaling=SCALING)
    with pytest.raises(BeyondRangeError, match="the sums are beyond the range of float64"):
        RidgePath(landmarks, X, np.full(40, 1.7e308), scaling=SCALING)


@pytest.fixture(scope="module")
def sums():
    X, Y = samples(300)
    Y = np.hstack([Y + 1e6, -Y])
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=300)
    landmarks, _ = choose_landmarks(KERNEL, X, 25, scaling=SCALING)
    return X, Y, weight, landmarks


class TestStatistics:
    """Sums of features of landmarks over samples, which add like those of terms."""

    def test_they_are_those_of_the_features(self, sums, monkeypatch):
        X, Y, weight, landmarks = sums
        monkeypatch.setattr("gegenbauer.ridge.landmarks._BLOCK_SIZE", 700)  # of 25 samples
        found = LandmarkStatistics.from_data(landmarks, X, Y, sample_weight=weight, scaling=SCALING)
        G = landmarks.evaluate(X, scaling=SCALING)
        assert_allclose(found.gram, G.T @ (weight[:, np.newaxis] * G), rtol=1e-12, atol=1e-12)
        assert_allclose(found.cross, G.T @ (weight[:, np.newaxis] * Y), rtol=1e-12, atol=1e-6)
        parts = [
            LandmarkStatistics.from_data(
                landmarks, X[own], Y[own], sample_weight=weight[own], scaling=SCALING
            )
            for own in (slice(0, 100), slice(100, 300))
        ]
        together = parts[0] + pickle.loads(pickle.dumps(parts[1]))  # as it comes from a worker
        assert_allclose(together.gram, found.gram, rtol=1e-12, atol=1e-12)
        assert_allclose((found - parts[0]).gram, parts[1].gram, rtol=1e-11, atol=1e-11)

    def test_their_solution_is_that_of_the_samples(self, sums):
        X, Y, weight, landmarks = sums
        found = LandmarkStatistics.from_data(
            landmarks, X, Y, sample_weight=weight, scaling=SCALING
        ).solve(0.3, penalize_constant=False)
        path = RidgePath(
            landmarks, X, Y, sample_weight=weight, scaling=SCALING, penalize_constant=False
        )
        assert_allclose(found.weights, path.weights([0.3])[0], rtol=1e-9, atol=1e-9)
        assert found.engine == "landmarks"

    def test_what_does_not_add(self, sums):
        X, Y, _, landmarks = sums
        one = LandmarkStatistics.from_data(landmarks, X, Y, scaling=SCALING)
        wider = InputScaling([0.0, -4.0], [2.0, 5.0], domain=(-1, 1))
        with pytest.raises(ValueError, match="have the box that they began with"):
            one.rescaled(wider)
        with pytest.raises(ValueError, match="have the box that they began with"):
            one.update(X + 1.0, Y, widen=True)
        other, _ = choose_landmarks(KERNEL, X[::-1], 25, scaling=SCALING)
        with pytest.raises(ValueError, match="only if basis, scaling and n_outputs are the same"):
            one + LandmarkStatistics.from_data(other, X, Y, scaling=SCALING)
        with pytest.raises(TypeError, match="must be Landmarks, got TensorBasis"):
            LandmarkStatistics(TensorBasis(2, degree=2))
        with pytest.raises(ValueError, match="scaling"):
            LandmarkStatistics(landmarks, scaling=InputScaling([0.0], [1.0]))
