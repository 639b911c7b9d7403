"""Landmarks: features of a kernel at few samples, against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gegenbauer import InputScaling, RidgePath
from gegenbauer.basis import SpectrumKernel, TotalDegreeKernel
from gegenbauer.ridge import predict_kernel, solve_kernel
from gegenbauer.ridge.landmarks import choose_landmarks
from gegenbauer.selection import penalty, search_alpha

KERNEL = SpectrumKernel(2, (0.5, 2.0))
SCALING = InputScaling([0.0, -3.0], [2.0, 5.0], domain=(-1, 1))


def samples(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform([0.0, -3.0], [2.0, 5.0], size=(n, 2))
    y = np.sin(3 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=n)
    return X, y[:, np.newaxis]


@pytest.mark.parametrize("free", [False, True])
class TestFeatures:
    def test_they_span_the_kernel_at_the_centres(self, free):
        X, _ = samples(200)
        landmarks, places = choose_landmarks(KERNEL, X, 30, scaling=SCALING, free=free)
        features = landmarks.evaluate(X, scaling=SCALING)
        assert places.size == np.unique(places).size == 30
        assert features.shape == (200, landmarks.n_terms) == (200, 30 + free)
        if free:
            assert_array_equal(features[:, 0], 1.0)
            features = features[:, 1:]
        K = KERNEL(X, scaling=SCALING) - free
        projected = K[:, places] @ np.linalg.solve(K[np.ix_(places, places)], K[places])
        assert_allclose(features @ features.T, projected, atol=1e-10)

    def test_little_is_left(self, free):
        """Of the trace: no more than what the best subspace of half the dimensions leaves."""
        X, _ = samples(400)
        K = KERNEL(X, scaling=SCALING) - free
        for n_centres in (20, 60, 150):
            landmarks, _ = choose_landmarks(KERNEL, X, n_centres, scaling=SCALING, free=free)
            features = landmarks.evaluate(X, scaling=SCALING)[:, int(free) :]
            left = np.trace(K) - (features**2).sum()
            eigenvalues = np.linalg.eigvalsh(K)
            best, half = eigenvalues[:-n_centres].sum(), eigenvalues[: -n_centres // 2].sum()
            assert best < left < half

    def test_the_same_each_time(self, free):
        X, _ = samples(300)
        first, again = (
            choose_landmarks(KERNEL, X, 40, scaling=SCALING, free=free)[1] for _ in range(2)
        )
        assert_array_equal(first, again)

    def test_no_more_than_there_are_directions(self, free):
        """Of ten distinct inputs in five copies each; of a kernel of three terms."""
        X, _ = samples(10)
        landmarks, places = choose_landmarks(
            KERNEL, np.tile(X, (5, 1)), 30, scaling=SCALING, free=free
        )
        assert sorted(places % 10) == list(range(10))
        kernel = TotalDegreeKernel(2, degree=1, lam=0.5)
        landmarks, places = choose_landmarks(kernel, samples(50)[0], 30, free=free)
        assert places.size == 3 - free
        assert landmarks.n_terms == 3

    def test_weights_draw(self, free):
        """Samples of next to no weight are no centres while others are left."""
        X, _ = samples(400)
        weight = np.where(np.arange(400) < 200, 1.0, 1e-12)
        _, places = choose_landmarks(
            KERNEL, X, 50, sample_weight=weight, scaling=SCALING, free=free
        )
        assert places.max() < 200

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("method", ["primal", "svd"])
    def test_left_out(self, free, method, weighted):
        X, Y = samples(120)
        weight = np.random.default_rng(1).uniform(0.2, 3.0, 120) if weighted else np.ones(120)
        landmarks, _ = choose_landmarks(KERNEL, X, 25, scaling=SCALING, free=free)
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

    def test_coefficients_of_the_kernel(self, free):
        X, _ = samples(80)
        landmarks, places = choose_landmarks(KERNEL, X, 20, scaling=SCALING, free=free)
        weights = np.random.default_rng(2).normal(size=(landmarks.n_terms, 3))
        coef, intercept = landmarks.coefficients(weights)
        by_kernel = predict_kernel(KERNEL, X, X[places], coef, intercept=intercept, scaling=SCALING)
        assert_allclose(by_kernel, landmarks.evaluate(X, scaling=SCALING) @ weights, atol=1e-9)

    def test_all_samples_are_the_kernel_itself(self, free):
        X, Y = samples(60)
        landmarks, places = choose_landmarks(KERNEL, X, 60, scaling=SCALING, free=free)
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
