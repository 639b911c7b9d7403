"""Leave-one-out, GCV and likelihood for every alpha, held against refits and definitions."""

from __future__ import annotations

import warnings

import mpmath
import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from problems import make_problem
from scipy.linalg import solve_triangular
from sklearn.model_selection import KFold

from gegenbauer import (
    GegenbauerRegressorCV,
    InputScaling,
    RidgePath,
    TensorBasis,
    solve_kernel,
    solve_ridge,
)
from gegenbauer.basis import SpectrumKernel, TotalDegreeKernel
from gegenbauer.errors import TooLargeError
from gegenbauer.ridge import predict_kernel
from gegenbauer.selection import kfold_predictions, leave_one_out, prefix_surface
from gegenbauer.selection._leverage_passes import (
    FeaturesPass,
    FormsPass,
    GridPass,
    cheapest_pass,
)

ALPHAS = 10.0 ** np.arange(-15, 16, 3)
METHODS = ["svd", "dual", "primal"]
TALL, WIDE = (40, 2, 10), (24, 3, 40)
WAYS = {"features": FeaturesPass, "forms": FormsPass, "grid": GridPass}


def refits(G, Y, alpha, weights=None, *, free=False):
    """Leave each row out in turn and solve the rest by least squares."""
    S, L = G.shape
    root = np.ones(S) if weights is None else np.sqrt(weights)
    penalty = np.sqrt(alpha) * np.eye(L)[int(free) :]
    out = np.empty_like(Y)
    for i in range(S):
        keep = np.arange(S) != i
        A = np.vstack([G[keep] * root[keep, np.newaxis], penalty])
        B = np.vstack([Y[keep] * root[keep, np.newaxis], np.zeros((len(penalty), Y.shape[1]))])
        out[i] = G[i] @ np.linalg.lstsq(A, B, rcond=None)[0]
    return out


def exact_refits(G, Y, alpha, weights, *, free):
    """The same with 60 digits."""
    out = np.empty_like(Y)
    with mpmath.workdps(60):
        g, y, w = (oracles.extended(v) for v in (G, Y, weights))
        for i in range(len(G)):
            keep = (np.arange(len(G)) != i) & (weights > 0)
            W = oracles.normal_equations(
                g[keep], y[keep], w[keep], alpha, penalize_constant=not free
            )
            out[i] = g[i] @ W
    return out


def relative(found, true, Y):
    """Error of predictions relative to the size of the left-out residuals."""
    return np.linalg.norm(found - true) / np.linalg.norm(true - Y)


def rows_weights(kind, n, seed=1):
    rng = np.random.default_rng(seed)
    weights = {"none": None, "some": rng.uniform(0.2, 3, n), "zeros": rng.uniform(0.2, 3, n)}[kind]
    if kind == "zeros":
        weights[[0, 3]] = 0
    return weights


@pytest.mark.parametrize("kind", ["none", "some", "zeros"])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("shape", [TALL, WIDE])
@pytest.mark.parametrize("method", METHODS)
def test_equals_refits(method, shape, free, kind):
    """To 1e-10 wherever the estimate of the error allows it; to the estimate elsewhere."""
    p = make_problem(*shape, lam=0.5)
    weights = rows_weights(kind, shape[0])
    path = RidgePath(
        p.basis, p.X, p.Y, sample_weight=weights, penalize_constant=not free, method=method
    )
    assert path.method == method
    found = path.leave_one_out(ALPHAS)
    assert found.predictions.shape == (ALPHAS.size, shape[0], 2)
    for g, alpha in enumerate(ALPHAS):
        if alpha < 1e-6 and shape == WIDE:
            continue  # least squares lose digits themselves: see the test with 60 digits
        true = refits(p.G, p.Y, alpha, weights, free=free)
        if found.error[g] < 1:
            assert relative(found.predictions[g], true, p.Y) <= max(found.error[g], 1e-13)
    sure = found.error <= 1e-10
    assert sure[ALPHAS >= 1].all()
    if method == "svd":
        assert (found.error <= 1e-9).all()


@pytest.mark.parametrize("kind", ["none", "zeros"])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("method", ["svd", "primal"])
@pytest.mark.parametrize("shape", [TALL, WIDE])
def test_posterior(shape, method, free, kind):
    """Leverages of new rows, against the inverse itself."""
    p = make_problem(*shape, lam=0.5)
    weights = rows_weights(kind, len(p.X))
    path = RidgePath(
        p.basis, p.X, p.Y, sample_weight=weights, penalize_constant=not free, method=method
    )
    root, mean, alone = path.posterior(0.1)
    new = p.basis.evaluate(np.random.default_rng(3).uniform(size=(7, shape[1])))
    rows = new[:, 1:] - mean if free else new
    penalty = np.full(p.basis.n_terms, 0.1)
    if free:
        penalty[0] = 0.0
    w = np.ones(len(p.X)) if weights is None else weights
    inverse = np.linalg.inv(np.diag(penalty) + (p.G.T * w) @ p.G)
    true = np.einsum("il,lm,im->i", new, inverse, new)
    assert_allclose(((rows @ root) ** 2).sum(axis=1) + alone, true, rtol=1e-8)


@pytest.mark.parametrize("free", [False, True])
def test_surface_of_small_sets_for_any_alpha(free):
    """Scores of all numbers of terms against leave-one-out by features, for any alpha."""
    p = make_problem(60, 3, 35, lam=0.5)
    surface = prefix_surface(p.basis, p.X, p.Y, ALPHAS, penalize_constant=not free)
    assert (surface.error <= 1e-4).all()
    for size in (1, 10, 35):
        basis = TensorBasis(3, n_terms=size, lam=0.5)
        path = RidgePath(basis, p.X, p.Y, method="svd", penalize_constant=not free)
        found = path.leave_one_out(ALPHAS)
        true = ((found.predictions - p.Y) ** 2).mean(axis=(1, 2))
        assert_allclose(surface.losses[:, size - 1], true, rtol=1e-8)


@pytest.mark.parametrize("method", ["svd", "dual", "primal"])
def test_queries_do_not_change_results(method):
    p = make_problem(*WIDE, lam=0.5)
    path = RidgePath(p.basis, p.X, p.Y, method=method)
    alphas = [1e-3, 1.0]

    def query():
        found = path.leave_one_out(alphas)
        return (
            found.predictions, found.leverages, found.error, path.gcv(alphas),
            path.log_marginal_likelihood(alphas), path.predict(p.X, alphas),
        )  # fmt: skip

    for first, second in zip(query(), query(), strict=True):
        assert_array_equal(first, second)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("alpha", [1e-15, 1e-9, 1e-3, 1e15])
@pytest.mark.parametrize("shape", [(12, 2, 20), (14, 1, 6)])
def test_equals_refits_of_sixty_digits(shape, alpha, free):
    p = make_problem(*shape, n_outputs=1, lam=0.5)
    weights = rows_weights("zeros", shape[0])
    true = exact_refits(p.G, p.Y, alpha, weights, free=free)
    path = RidgePath(p.basis, p.X, p.Y, sample_weight=weights, penalize_constant=not free)
    assert path.method == "svd"
    found = path.leave_one_out([alpha])
    assert found.error[0] <= 1e-9
    assert relative(found.predictions[0], true, p.Y) <= 1e-10


def take_only(monkeypatch, way, *, moments=True):
    """Let normal equations take one way to the leverages, and sums of moments or of features."""
    monkeypatch.setattr("gegenbauer.selection._leverage_passes.PASSES", (WAYS[way],))
    monkeypatch.setattr(
        "gegenbauer.selection._factorisations.normal_equations.moments_serve",
        lambda *_, **__: moments,
    )


@pytest.mark.parametrize("kind", ["none", "zeros"])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("lam", [0.05, 2.0])
@pytest.mark.parametrize("way", ["features", "forms", "grid"])
def test_every_pass_equals_refits(way, lam, free, kind, monkeypatch):
    p = make_problem(*TALL, lam=lam)
    weights = rows_weights(kind, len(p.X))
    take_only(monkeypatch, way)
    monkeypatch.setattr("gegenbauer.selection._features.BLOCK_SIZE", 70.0)  # blocks of rows
    path = RidgePath(
        p.basis, p.X, p.Y, sample_weight=weights, penalize_constant=not free, method="primal",
        tolerance=np.inf,
    )  # fmt: skip
    found = path.leave_one_out(ALPHAS)
    for g, alpha in enumerate(ALPHAS):
        true = refits(p.G, p.Y, alpha, weights, free=free)
        if found.error[g] < 1:
            assert relative(found.predictions[g], true, p.Y) <= max(found.error[g], 1e-13)
    assert (found.error[ALPHAS >= 1e3] <= 1e-10).all()
    monkeypatch.undo()
    features = RidgePath(
        p.basis, p.X, p.Y, sample_weight=weights, penalize_constant=not free, method="primal"
    ).leave_one_out(ALPHAS)
    sure = ALPHAS >= 1
    assert_allclose(found.leverages[sure], features.leverages[sure], rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("m", "degree", "way"), [(1, 60, "grid"), (2, 24, "grid"), (3, 8, "forms")]
)
def test_what_pays_is_used(m, degree, way, monkeypatch):
    """Many rows and few inputs: no pass makes the features of every row for its leverages."""
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(20_000, m))
    y = np.sin(5 * X[:, 0]) * X[:, -1] + 0.1 * rng.standard_normal(len(X))
    basis = TensorBasis(m, degree=degree)
    alphas = 10.0 ** np.arange(-4, 3)
    path = RidgePath(basis, X, y, method="primal", tolerance=np.inf)
    chosen = cheapest_pass(path._factorisation.fits(alphas))
    assert type(chosen) is WAYS[way]
    found = path.leave_one_out(alphas)
    take_only(monkeypatch, "features", moments=False)
    path = RidgePath(basis, X, y, method="primal")
    features = path.leave_one_out(alphas)
    assert_allclose(found.predictions, features.predictions, rtol=0, atol=1e-9)
    # eigenvalues are known to eps of the largest, which is 1e-7 of the smallest alpha here
    assert_allclose(found.leverages, features.leverages, rtol=0, atol=1e-9)
    assert_allclose(found.leverages.sum(axis=1), path.effective_dof(alphas), rtol=1e-8)


@pytest.mark.parametrize("way", ["features", "forms", "grid"])
@pytest.mark.parametrize("scaled", [False, True])
def test_rows_beyond_the_domain(scaled, way, monkeypatch):
    """The box of the rows counts, not the domain or the box of a scaling that does not clip."""
    p = make_problem(*TALL, lam=0.5)
    X = 2.5 * p.X - 0.7
    scaling = InputScaling([0.0, 0.0], [1.0, 1.0], clip=False) if scaled else None
    take_only(monkeypatch, way)
    path = RidgePath(p.basis, X, p.Y, method="primal", scaling=scaling)
    found = path.leave_one_out([1e-3, 1.0])
    G = p.basis.evaluate(X, scaling=scaling)
    for g, alpha in enumerate([1e-3, 1.0]):
        true = refits(G, p.Y, alpha, None, free=False)
        assert relative(found.predictions[g], true, p.Y) <= 1e-9


@pytest.mark.parametrize("by_moments", [False, True])
@pytest.mark.parametrize("kind", ["none", "zeros"])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("shape", [TALL, WIDE])
def test_folds_equal_refits(shape, free, kind, by_moments, monkeypatch):
    p = make_problem(*shape, lam=0.5)
    n = shape[0]
    weights = rows_weights(kind, n)
    monkeypatch.setattr("gegenbauer.selection.kfold.moments_serve", lambda *_, **__: by_moments)
    folds = [np.arange(0, n - 3, 3), np.arange(1, n - 3, 3)]
    alphas = np.array([1e-3, 1.0, 1e3])
    options = {"penalize_constant": not free}
    result = kfold_predictions(p.basis, p.X, p.Y, folds, alphas, sample_weight=weights, **options)
    found = result.predictions
    assert (result.error <= 1e-9).all()
    assert np.isnan(found[:, np.setdiff1d(np.arange(n), np.concatenate(folds))]).all()
    for rows in folds:
        rest = np.setdiff1d(np.arange(n), rows)
        path = RidgePath(
            p.basis, p.X[rest], p.Y[rest], method="svd",
            sample_weight=None if weights is None else weights[rest], **options,
        )  # fmt: skip
        true = path.predict(p.X[rows], alphas)
        assert_allclose(found[:, rows], true, rtol=0, atol=1e-9 * np.abs(p.Y).max())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"folds": [[0, 1]]}, "at least two"),
        ({"folds": [[0, 1], []]}, "not empty"),
        ({"folds": [[0, 1], [2.0]]}, "sample indices"),
        ({"folds": [[0, 1], [40]]}, "between 0 and 39"),
        ({"folds": [[0, 1], [1, 2]]}, "share samples"),
        ({"folds": 5}, r"two sequences of sample indices, such as \[\[0, 2\], \[1, 3\]\]; got 5"),
        ({"folds": None}, "two sequences of sample indices, .* got None"),
        ({"folds": "ab"}, "two sequences of sample indices, .* got 'ab'"),
        ({"alphas": [0.0]}, "positive"),
        ({"alphas": 1.0}, "a sequence of numbers"),
        ({"sample_weight": [0.0] * 38 + [1.0, 1.0], "folds": [[38, 39], [0]]}, "positive weight"),
    ],
)
def test_folds_that_are_none(change, message):
    p = make_problem(*TALL)
    arguments = {"folds": [[0], [1]], "alphas": [1.0]} | change
    with pytest.raises((ValueError, TypeError), match=message):
        kfold_predictions(p.basis, p.X, p.Y, **arguments)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("free", [False, True])
def test_never_better_than_reported(method, free):
    """Legendre terms of 5 inputs at fewer samples: products lose tiny alphas, and report it."""
    p = make_problem(60, 5, 126, n_outputs=1, lam=0.5, seed=3)
    exact = RidgePath(p.basis, p.X, p.Y, penalize_constant=not free, method="svd")
    true = exact.leave_one_out(ALPHAS)
    found = RidgePath(p.basis, p.X, p.Y, penalize_constant=not free, method=method).leave_one_out(
        ALPHAS
    )
    for g in range(ALPHAS.size):
        error = relative(found.predictions[g], true.predictions[g], p.Y)
        assert found.error[g] == 1 or error <= found.error[g] + true.error[g]
    assert (np.diff(found.error) <= 0).all()
    if method == "primal":
        assert found.error[0] == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("free", [False, True])
def test_leverages(method, free):
    p = make_problem(*TALL, lam=0.5)
    weights = rows_weights("zeros", TALL[0])
    root = np.sqrt(weights)[:, np.newaxis]
    A = p.G * root
    path = RidgePath(
        p.basis, p.X, p.Y, sample_weight=weights, penalize_constant=not free, method=method
    )
    alphas = [1e-1, 1.0, 1e3]
    found = path.leave_one_out(alphas).leverages
    for g, alpha in enumerate(alphas):
        penalty = alpha * np.eye(A.shape[1])
        penalty[0, 0] = 0 if free else alpha
        hat = A @ np.linalg.solve(A.T @ A + penalty, A.T)
        assert_allclose(found[g], np.diag(hat), atol=1e-13)
        assert_allclose(path.effective_dof([alpha]), np.trace(hat), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("shape", [TALL, WIDE])
def test_gcv_is_its_definition(method, free, shape):
    p = make_problem(*shape, lam=0.5)
    weights = rows_weights("some", shape[0])
    A = p.G * np.sqrt(weights)[:, np.newaxis]
    B = p.Y * np.sqrt(weights)[:, np.newaxis]
    path = RidgePath(
        p.basis, p.X, p.Y, sample_weight=weights, penalize_constant=not free, method=method
    )
    for alpha in (1e-2, 1.0, 1e4):
        penalty = alpha * np.eye(A.shape[1])
        penalty[0, 0] = 0 if free else alpha
        left = np.eye(len(A)) - A @ np.linalg.solve(A.T @ A + penalty, A.T)
        true = len(A) * ((left @ B) ** 2).sum(axis=0) / np.trace(left) ** 2
        assert_allclose(path.gcv([alpha])[0], true, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [TALL, WIDE])
def test_log_marginal_likelihood_is_that_of_a_normal_distribution(method, shape):
    from scipy.optimize import minimize_scalar
    from scipy.stats import multivariate_normal

    p = make_problem(*shape, lam=0.5)
    weights = rows_weights("some", shape[0])
    path = RidgePath(p.basis, p.X, p.Y, sample_weight=weights, method=method)
    for alpha in (1e-1, 10.0):
        shape_of_covariance = p.G @ p.G.T / alpha + np.diag(1 / weights)
        for k in range(2):

            def negative(log_variance, k=k, shape=shape_of_covariance):
                return -multivariate_normal.logpdf(p.Y[:, k], cov=np.exp(log_variance) * shape)

            best = minimize_scalar(negative, bounds=(-15, 10), method="bounded")
            assert_allclose(path.log_marginal_likelihood([alpha])[0, k], -best.fun, rtol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_likelihood_of_contrasts_where_the_constant_is_free(method):
    """It does not see the mean, and differs by nothing between an orthonormal set of contrasts."""
    p = make_problem(*TALL, n_outputs=1, lam=0.5)
    path = RidgePath(p.basis, p.X, p.Y, penalize_constant=False, method=method)
    shifted = RidgePath(p.basis, p.X, p.Y + 7, penalize_constant=False, method=method)
    alphas = [1e-2, 1.0]
    assert_allclose(
        path.log_marginal_likelihood(alphas), shifted.log_marginal_likelihood(alphas), rtol=1e-9
    )
    contrasts = np.linalg.qr(np.c_[np.ones(40), np.random.default_rng(0).normal(size=(40, 39))])[0]
    A = contrasts[:, 1:].T @ p.G[:, 1:]
    z = contrasts[:, 1:].T @ p.Y[:, 0]
    for alpha, found in zip(alphas, path.log_marginal_likelihood(alphas)[:, 0], strict=True):
        C = np.eye(39) + A @ A.T / alpha
        variance = z @ np.linalg.solve(C, z) / 39
        true = -0.5 * (39 * np.log(2 * np.pi * variance) + np.linalg.slogdet(C)[1] + 39)
        assert_allclose(found, true, rtol=1e-9)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_predictions_are_those_of_fits(method, free):
    p = make_problem(*WIDE, lam=0.5)
    weights = rows_weights("zeros", WIDE[0])
    Z = np.random.default_rng(5).uniform(0, 1, (7, 3))
    path = RidgePath(
        p.basis, p.X, p.Y, sample_weight=weights, penalize_constant=not free, method=method
    )
    alphas = [1e-3, 1.0]
    found = path.predict(Z, alphas)
    for g, alpha in enumerate(alphas):
        fit = solve_ridge(
            p.basis, p.X, p.Y, alpha, sample_weight=weights, penalize_constant=not free
        )
        assert_allclose(found[g], p.basis.evaluate(Z) @ fit.weights, atol=1e-9)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(
    "kernel", [SpectrumKernel(3, (0.3, 2.0)), TotalDegreeKernel(3, 5, lam=0.5)], ids=repr
)
def test_kernels(kernel, free):
    rng = np.random.default_rng(2)
    X, Y = rng.uniform(-2, 2, (25, 3)), rng.normal(size=(25, 2))
    scaling = InputScaling([-2] * 3, [2] * 3, domain=(-1, 1))
    weights = rows_weights("zeros", 25)
    path = RidgePath(
        kernel, X, Y, sample_weight=weights, scaling=scaling, penalize_constant=not free
    )
    assert path.method == "dual"
    alpha = 0.01
    found = path.leave_one_out([alpha]).predictions[0]
    for i in range(25):
        keep = np.arange(25) != i
        fit = solve_kernel(
            kernel, X[keep], Y[keep], alpha, sample_weight=weights[keep], scaling=scaling,
            penalize_constant=not free,
        )  # fmt: skip
        true = predict_kernel(
            kernel, X[i : i + 1], X[keep], fit.dual_coef, intercept=fit.intercept, scaling=scaling
        )
        assert_allclose(found[i], true[0], atol=1e-9)


def by_eigenvectors(path, alphas):
    """Leave-one-out predictions and leverages of a dual path, from LAPACK's eigenvectors."""
    G = path.model.evaluate(path._X)
    eigenvalues, U = np.linalg.eigh(G @ G.T)
    inverse = 1 / (eigenvalues.clip(min=0)[:, np.newaxis] + alphas)
    e = np.einsum("ij,jg,jk->gik", U, inverse, U.T @ path.targets, optimize=True)
    d = inverse.T @ U.T**2
    return path.targets - e / d[:, :, np.newaxis], 1 - alphas[:, np.newaxis] * d


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 16, 17, 25, 64, 300])
def test_band_equals_eigenvectors(n):
    """Also where the matrix is no larger than the band, and with more alphas than lanes."""
    rng = np.random.default_rng(n)
    X, Y = rng.uniform(size=(n, 3)), rng.normal(size=(n, 3))
    path = RidgePath(TensorBasis(3, degree=9, lam=0.5), X, Y, method="dual")
    alphas = 10.0 ** np.arange(-3, 8)
    found = path.leave_one_out(alphas)
    predictions, leverages = by_eigenvectors(path, alphas)
    for g in range(alphas.size):
        assert relative(found.predictions[g], predictions[g], Y) <= max(found.error[g], 1e-13)
        assert_allclose(found.leverages[g], leverages[g], rtol=0, atol=max(found.error[g], 1e-13))
    assert path.eigenvalues.shape == (n,)
    assert_allclose(found.leverages.sum(axis=1), path.effective_dof(alphas), atol=1e-7)


@pytest.mark.parametrize("free", [False, True])
def test_threads_do_not_change_the_band(free):
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(size=(400, 3)), rng.normal(size=(400, 2))
    one, two, three = (
        RidgePath(
            SpectrumKernel(3, (0.3, 2.0)), X, Y, penalize_constant=not free, n_threads=n_threads
        ).leave_one_out(ALPHAS)
        for n_threads in (1, 2, 3)
    )
    assert np.array_equal(one.predictions, two.predictions)
    assert np.array_equal(one.predictions, three.predictions)
    assert np.array_equal(one.leverages, two.leverages)


def test_alphas_below_rounding_are_finite_and_reported():
    """A numerically singular matrix: what is trusted chooses the same alpha as eigenvectors do."""
    rng = np.random.default_rng(4)
    X = rng.uniform(size=(300, 1))
    Y = np.sin(6 * X) + 0.1 * rng.normal(size=(300, 1))
    path = RidgePath(TensorBasis(1, degree=299, lam=0.5), X, Y, method="dual")
    alphas = 10.0 ** np.arange(-24.0, 4.0)
    found = path.leave_one_out(alphas)
    assert np.isfinite(found.predictions).all()
    assert (found.leverages >= 0).all()
    assert (found.leverages <= 1).all()
    assert (found.error[alphas < 1e-13 * path.eigenvalues[0]] > 0.1).all()
    predictions, _ = by_eigenvectors(path, alphas)
    for g in np.flatnonzero(found.error < 0.1):
        assert relative(found.predictions[g], predictions[g], Y) <= found.error[g]
    trusted = found.error < 0.1
    assert trusted.any()
    scores = [((p[trusted] - Y) ** 2).mean(axis=(1, 2)) for p in (found.predictions, predictions)]
    assert scores[0].argmin() == scores[1].argmin()


def test_alpha_of_zero_by_a_band():
    p = make_problem(12, 2, 45, n_outputs=1, lam=0.5)
    found = RidgePath(p.basis, p.X, p.Y, method="dual").leave_one_out([0.0]).predictions[0]
    exact = RidgePath(p.basis, p.X, p.Y, method="svd").leave_one_out([0.0]).predictions[0]
    assert_allclose(found, exact, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_alpha_of_zero_is_least_squares(method):
    p = make_problem(*TALL, lam=0.5)
    true = refits(p.G, p.Y, 0.0)
    if method == "dual":
        with pytest.raises(ValueError, match=r"alpha = 0 .* full rank"):
            RidgePath(p.basis, p.X, p.Y, method=method).leave_one_out([0.0])
        return
    found = RidgePath(p.basis, p.X, p.Y, method=method).leave_one_out([0.0])
    assert relative(found.predictions[0], true, p.Y) <= 1e-10


def test_alpha_of_zero_with_more_terms_than_rows():
    """Least-norm interpolation, as the limit of small penalties."""
    p = make_problem(12, 2, 20, n_outputs=1, lam=0.5)
    found = RidgePath(p.basis, p.X, p.Y).leave_one_out([0.0]).predictions[0]
    for i in range(12):
        keep = np.arange(12) != i
        W = np.linalg.pinv(p.G[keep]) @ p.Y[keep]
        assert_allclose(found[i], p.G[i] @ W, rtol=1e-8)


@pytest.mark.parametrize("free", [False, True])
def test_alpha_of_zero_of_repeated_samples(free):
    """Fewer distinct samples than terms: the limit of small penalties, of samples and copies."""
    p = make_problem(12, 2, 20, n_outputs=1, lam=0.5)
    X = p.X[[0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 1, 2]]
    path = RidgePath(p.basis, X, p.Y, penalize_constant=not free)
    found = path.leave_one_out([0.0]).predictions[0]
    true = exact_refits(p.basis.evaluate(X), p.Y, 1e-30, np.ones(12), free=free)
    assert relative(found, true, p.Y) <= 1e-12
    assert path.gcv([0.0]).shape == (1, 1)


@pytest.mark.parametrize(("kind", "scaled"), [("none", False), ("zeros", False), ("some", True)])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("shape", [(9, 2, 8), (9, 1, 4)])
def test_repeated_samples_of_any_penalty(shape, free, kind, scaled):
    """Noise of copies is orthogonal to all functions, and no singular value of 1e-17 is smaller."""
    p = make_problem(*shape, n_outputs=1, lam=0.5)
    X = p.X[[0, 1, 2, 3, 4, 5, 0, 1, 0]]
    scaling = None
    if scaled:  # clips two that differ to the same
        X[[4, 5]] = [[-1.0] * shape[1], [-2.0] * shape[1]]
        scaling = InputScaling(np.zeros(shape[1]), np.ones(shape[1]))
    weights = rows_weights(kind, 9)
    path = RidgePath(
        p.basis, X, p.Y, sample_weight=weights, penalize_constant=not free, scaling=scaling
    )
    assert path.method == "svd"
    alphas = 10.0 ** np.array([-18.0, -10.0, -2.0])
    found = path.leave_one_out(alphas)
    assert (found.error <= 1e-9).all()
    G = p.basis.evaluate(X, scaling=scaling)
    for g, alpha in enumerate(alphas):
        true = exact_refits(G, p.Y, alpha, np.ones(9) if weights is None else weights, free=free)
        assert relative(found.predictions[g], true, p.Y) <= min(1e-12, found.error[g])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", METHODS)
def test_the_error_is_no_smaller_than_reported(method, seed):
    """Against 60 digits, where samples or inputs are nearly the same and penalties are tiny."""
    rng = np.random.default_rng(seed)
    for kind in ("plain", "near", "equal inputs", "repeated"):
        n, m, terms = int(rng.choice([5, 8])), int(rng.choice([1, 2])), int(rng.choice([4, 7]))
        X, Y = rng.uniform(size=(n, m)), rng.normal(size=(n, 1))
        copies = X[rng.integers(0, n // 2, n - n // 2)]
        if kind == "near":
            X[n // 2 :] = copies + 10.0 ** -rng.integers(3, 12) * rng.normal(size=copies.shape)
        if kind == "equal inputs":
            X[:] = X[:, :1]
        if kind == "repeated":
            X[n // 2 :] = copies
        weights, free = rng.uniform(0.1, 2, n), bool(rng.integers(2))
        basis = TensorBasis(m, n_terms=terms, lam=float(rng.choice([0.05, 0.5])))
        alpha = 10.0 ** -float(rng.choice([4, 8, 10, 12, 14, 16, 20]))
        true = exact_refits(basis.evaluate(X), Y, alpha, weights, free=free)
        path = RidgePath(
            basis, X, Y, sample_weight=weights, penalize_constant=not free, method=method
        )
        found = path.leave_one_out([alpha])
        off = relative(found.predictions[0], true, Y)
        assert found.error[0] == 1 or off <= 2 * found.error[0], (kind, alpha)


def tiny_problem(seed):
    """Narrow, crowded and wide inputs; targets with noise, without, and far from zero."""
    rng = np.random.default_rng(seed)
    n, m, terms = int(rng.integers(4, 11)), int(rng.choice([1, 1, 2])), int(rng.integers(2, 10))
    kind = ("plain", "narrow", "near", "wide")[rng.integers(4)]
    X = rng.uniform(-1, 1, size=(n, m))
    if kind == "narrow":
        X = 0.9 + 0.1 * 10.0 ** -rng.integers(0, 3) * X
    if kind == "near":
        copies = X[rng.integers(0, n // 2, n - n // 2)]
        X[n // 2 :] = copies + 10.0 ** -rng.integers(2, 9) * rng.normal(size=copies.shape)
    if kind == "wide":
        X = 1.5 * X
    y = rng.normal(size=(n, 1)) if rng.integers(3) == 0 else np.sin(3 * X[:, :1])
    y = y + (0.0, 1e3)[rng.integers(2)]
    weights = (
        np.ones(n) if rng.integers(2) else 10.0 ** rng.integers(-2, 3) * rng.uniform(0.1, 2, n)
    )
    basis = TensorBasis(m, n_terms=terms, lam=float(rng.choice([0.0, 0.05, 0.5, 2.0])))
    return basis, X, y, weights, 10.0 ** -rng.uniform(0, 16)


@pytest.mark.parametrize("free", [False, True])
def test_no_true_error_is_above_twice_its_estimate(free):
    """And estimates stay of use: of answers that have four digits, hardly one is given up."""
    n_good, n_known = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0)
    for seed in range(120):
        basis, X, y, weights, alpha = tiny_problem(seed)
        true = exact_refits(basis.evaluate(X), y, alpha, weights, free=free)
        for method in METHODS:
            path = RidgePath(
                basis, X, y, sample_weight=weights, penalize_constant=not free, method=method
            )
            found = path.leave_one_out([alpha])
            off = relative(found.predictions[0], true, y)
            assert found.error[0] == 1 or off <= 2 * found.error[0], (method, seed)
            n_good[method] += off < 1e-4
            n_known[method] += found.error[0] < 1e-3
    for method, share in {"svd": 0.95, "dual": 0.6, "primal": 0.75}.items():
        assert n_known[method] >= share * n_good[method], method
        assert n_good[method] >= 80, method


@pytest.mark.parametrize("free", [False, True])
def test_rounding_of_kernels_is_not_below_the_truth(free):
    """Refits with 60 digits, by features that are not rounded."""
    kernel = TotalDegreeKernel(1, 5, lam=0.05)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 9))
        X, y = 0.9 + 0.1 * rng.uniform(-1, 1, size=(n, 1)), rng.normal(size=(n, 1))
        alpha = 10.0 ** -rng.uniform(1, 5)
        G = np.array([oracles.gegenbauer(x, 5, 0.05) for x in X[:, 0]], dtype=object)
        true = exact_refits(G, y, alpha, np.ones(n), free=free)
        alone = leave_one_out(kernel, X, y, alpha, penalize_constant=not free)
        path = RidgePath(kernel, X, y, penalize_constant=not free).leave_one_out([alpha])
        for found in (alone, path):
            off = relative(found.predictions[0], true, y)
            assert off <= 2 * found.error[0], (seed, alpha)
            assert found.error[0] < 1e-3


def test_a_free_constant_does_not_hide_rounding():
    """Narrow features beside a constant of one: rounding is that of the constant."""
    rng = np.random.default_rng(44)
    X, y = rng.uniform(size=(8, 1)), rng.normal(size=(8, 1))
    basis = TensorBasis(1, n_terms=6, lam=0.05)
    true = exact_refits(basis.evaluate(X), y, 1e-10, np.ones(8), free=True)
    for method in METHODS:
        path = RidgePath(basis, X, y, penalize_constant=False, method=method)
        found = path.leave_one_out([1e-10])
        assert relative(found.predictions[0], true, y) <= found.error[0] <= 0.1


def test_samples_that_are_nearly_the_only_ones_of_their_kind_keep_their_digits():
    """What the terms cannot reach of a sample is 1e-17, whose root 1e-8 of the targets counts."""
    X = np.array([-0.7, -0.7 + 1e-8, -0.967, -0.967 - 2e-8, 0.591, 0.591 + 5e-8, 0.75])[:, None]
    y = np.array([1.2, -1.4, 0.6, -0.1, -0.5, 2.0, 0.3])[:, None]
    basis = TensorBasis(1, n_terms=4, lam=0.0)
    true = exact_refits(basis.evaluate(X), y, 1e-2, np.ones(7), free=False)
    found = RidgePath(basis, X, y, method="svd").leave_one_out([1e-2])
    assert relative(found.predictions[0], true, y) <= 1e-12


def test_residuals_of_zero_are_exact_only_where_targets_are_constant():
    X = np.linspace(-1, 1, 6)[:, np.newaxis]
    path = RidgePath(TensorBasis(1, n_terms=3), X, np.full(6, 3.0), penalize_constant=False)
    found = path.leave_one_out([1e-3])
    assert found.error[0] <= 1e-15
    assert_array_equal(found.predictions[0, :, 0], np.full(6, 3.0))


def test_alpha_of_zero_needs_full_rank():
    p = make_problem(30, 2, 10)
    path = RidgePath(p.basis, p.X[:, [0, 0]], p.Y)
    with pytest.raises(ValueError, match=r"4 of 10"):
        path.leave_one_out([1.0, 0.0])
    path = RidgePath(p.basis, np.vstack([p.X[:5]] * 6), p.Y, method="primal")
    with pytest.raises(ValueError, match=r"5 of 10"):
        path.leave_one_out([1.0, 0.0])
    with pytest.raises(ValueError, match="no residual"):
        RidgePath(p.basis, p.X[:8], p.Y[:8]).gcv([0.0])
    with pytest.raises(ValueError, match="must be positive"):
        RidgePath(p.basis, p.X, p.Y).log_marginal_likelihood([0.0, 1.0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("free", [False, True])
def test_integer_weights_are_repeated_samples_left_out_together(method, free):
    p = make_problem(20, 2, 10)
    repeats = np.random.default_rng(0).integers(0, 4, 20)
    rows = np.repeat(np.arange(20), repeats)
    path = RidgePath(
        p.basis, p.X, p.Y, sample_weight=repeats, penalize_constant=not free, method=method
    )
    long = RidgePath(p.basis, p.X[rows], p.Y[rows], penalize_constant=not free, method=method)
    alphas = [1e-2, 1.0]
    assert_allclose(path.predict(p.X, alphas), long.predict(p.X, alphas), atol=1e-10)
    assert_allclose(path.effective_dof(alphas), long.effective_dof(alphas), rtol=1e-10)
    found = path.leave_one_out(alphas).predictions
    for i in range(20):
        keep = rows != i
        fit = RidgePath(
            p.basis, p.X[rows[keep]], p.Y[rows[keep]], penalize_constant=not free, method=method
        )
        assert_allclose(found[:, i], fit.predict(p.X[i : i + 1], alphas)[:, 0], atol=1e-10)


def test_blocks_of_rows_do_not_show(monkeypatch):
    p = make_problem(200, 2, 21)
    whole = RidgePath(p.basis, p.X, p.Y, method="primal", penalize_constant=False)
    expected = whole.leave_one_out(ALPHAS[4:])
    monkeypatch.setattr("gegenbauer.selection._features.BLOCK_SIZE", 21.0 * 17)
    blocks = RidgePath(p.basis, p.X, p.Y, method="primal", penalize_constant=False)
    found = blocks.leave_one_out(ALPHAS[4:])
    assert_allclose(found.predictions, expected.predictions, rtol=1e-9)
    assert_allclose(found.leverages, expected.leverages, atol=1e-12)


def test_the_method_is_chosen_by_size():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(1200, 4)), rng.normal(size=1200)
    assert RidgePath(TensorBasis(4, n_terms=100), X[:300], y[:300]).method == "svd"
    assert RidgePath(TensorBasis(4, n_terms=700), X, y).method == "primal"
    assert RidgePath(TensorBasis(4, n_terms=1001), X[:800], y[:800]).method == "dual"


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(9, 1, 4), (9, 2, 12), (15, 3, 10)]),
    exponent=st.floats(-6, 6),
    free=st.booleans(),
)
def test_properties(seed, shape, exponent, free):
    """Leverages lie between 0 and 1, fall with alpha, and sum to the degrees of freedom."""
    p = make_problem(*shape, seed=seed, lam=0.5)
    path = RidgePath(p.basis, p.X, p.Y, penalize_constant=not free)
    alphas = 10.0 ** np.array([exponent, exponent + 1])
    found = path.leave_one_out(alphas)
    assert (found.leverages >= 0).all()
    assert (found.leverages <= 1 + 1e-12).all()
    assert_allclose(found.leverages.sum(axis=1), path.effective_dof(alphas), rtol=1e-9)
    assert path.effective_dof(alphas)[1] <= path.effective_dof(alphas)[0] * (1 + 1e-12)
    fitted = path.predict(p.X, alphas)
    # y - f = (1 - h) (y - f of the others)
    assert_allclose(
        p.Y - fitted,
        (1 - found.leverages)[:, :, np.newaxis] * (p.Y - found.predictions),
        atol=1e-7,
    )


class TestArguments:
    basis = TensorBasis(2, degree=2)
    X = np.random.default_rng(0).uniform(size=(9, 2))
    y = np.arange(9.0)

    def test_alphas(self):
        path = RidgePath(self.basis, self.X, self.y)
        for bad, message in [
            ([-1.0], "`alphas` must not be negative, got -1"),
            ([np.nan], "`alphas` must be finite"),
            ([], "`alphas` must not be empty"),
            ([[1.0, 2.0]], "`alphas` must have 1 columns"),
            (["a"], "`alphas` must hold real numbers, got text such as 'a': turn"),
            (
                0.5,
                r"`alphas` must be a sequence of numbers, such as \[0.1, 1.0\]; got a single float",
            ),
            (None, "`alphas` must be a sequence of numbers, .* got a single NoneType"),
            ("a", "`alphas` must hold real numbers"),
        ]:
            with pytest.raises((ValueError, TypeError), match=message):
                path.leave_one_out(bad)
        assert_array_equal(path.leave_one_out([2, 1]).alphas, [2.0, 1.0])

    def test_others(self):
        for arguments, options, message in [
            (("basis", self.X, self.y), {}, "`model` must be a TensorBasis"),
            ((self.basis, self.X, self.y[:8]), {}, "Y must have 9 rows, got 8"),
            ((self.basis, self.X[:, :1], self.y), {}, "X must have 2 columns, got 1"),
            ((self.basis, self.X, self.y), {"method": "qr"}, "`method` must be"),
            ((self.basis, self.X, self.y), {"scaling": 3}, "`scaling` must be an InputScaling"),
            ((SpectrumKernel(2, (1, 1)), self.X, self.y), {"method": "svd"}, "needs a TensorBasis"),
            ((self.basis, self.X, self.y), {"sample_weight": [-1] * 9}, "must not be negative"),
            (
                (self.basis, self.X[:1], self.y[:1]),
                {"penalize_constant": False},
                "at least two samples",
            ),
        ]:
            with pytest.raises((ValueError, TypeError), match=message):
                RidgePath(*arguments, **options)

    def test_too_large(self, monkeypatch):
        monkeypatch.setattr("gegenbauer._memory.available_memory", lambda: 1e9)
        X = np.zeros((200_000, 2))
        with pytest.raises(TooLargeError, match="kernel matrix of 200000 samples"):
            RidgePath(self.basis, X, X[:, 0], method="dual")
        path = RidgePath(self.basis, self.X, self.y)
        with pytest.raises(TooLargeError, match="fewer `alphas`"):
            path.leave_one_out(np.ones(10**7))

    def test_equals_itself(self):
        path = RidgePath(self.basis, self.X, self.y)
        a, b = path.leave_one_out([1.0]), path.leave_one_out([1.0])
        assert a == a
        assert len({a, b, a}) == 2

    def test_one_row(self):
        found = RidgePath(self.basis, self.X[:1], self.y[:1] + 1).leave_one_out([1.0])
        assert_allclose(found.predictions, 0, atol=1e-15)


class TestPrefixSurface:
    @pytest.mark.parametrize("free", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("shape", [TALL, WIDE])
    def test_leave_one_out_of_every_prefix(self, shape, weighted, free):
        p = make_problem(*shape, lam=0.5)
        weights = rows_weights("some", shape[0]) if weighted else None
        alphas = [1e-2, 1.0]
        found = prefix_surface(
            p.basis, p.X, p.Y, alphas, sample_weight=weights, penalize_constant=not free
        )
        assert found.losses.shape == (2, shape[2])
        assert (found.error < 1e-9).all()
        for g, alpha in enumerate(alphas):
            for n_terms in (1, 2, 5, shape[2]):
                left_out = refits(p.G[:, :n_terms], p.Y, alpha, weights, free=free)
                squares = ((left_out - p.Y) ** 2).mean(axis=1)
                true = np.average(squares, weights=weights)
                assert_allclose(found.losses[g, n_terms - 1], true, rtol=1e-8)

    @pytest.mark.parametrize("free", [False, True])
    def test_rows_of_a_test(self, free):
        p = make_problem(60, 3, 30, lam=0.5)
        train, test = slice(0, 40), slice(40, 60)
        found = prefix_surface(
            p.basis, p.X[train], p.Y[train], ALPHAS[4:], X_test=p.X[test], Y_test=p.Y[test],
            penalize_constant=not free,
        )  # fmt: skip
        for g, alpha in enumerate(ALPHAS[4:]):
            for n_terms in (1, 7, 30):
                basis = TensorBasis(3, n_terms=n_terms, lam=0.5)
                fit = solve_ridge(basis, p.X[train], p.Y[train], alpha, penalize_constant=not free)
                error = ((basis.evaluate(p.X[test]) @ fit.weights - p.Y[test]) ** 2).mean()
                assert_allclose(found.losses[g, n_terms - 1], error, rtol=1e-8)

    def test_any_score(self):
        p = make_problem(40, 2, 15, n_outputs=1, lam=0.5)
        labels = p.Y > 0
        found = prefix_surface(
            p.basis, p.X, np.where(labels, 1.0, -1.0), [0.1, 1.0],
            loss=lambda predictions: ((predictions > 0) != labels).mean(axis=(1, 2)),
        )  # fmt: skip
        path = RidgePath(p.basis, p.X, np.where(labels, 1.0, -1.0)).leave_one_out([0.1, 1.0])
        wrong = ((path.predictions > 0) != labels).mean(axis=(1, 2))
        assert_allclose(found.losses[:, -1], wrong)
        alpha, n_terms = found.best
        assert found.losses.min() == found.losses[[0.1, 1.0].index(alpha), n_terms - 1]
        assert (found.losses[:, : n_terms - 1] > found.losses.min()).all()

    def test_blocks_of_terms_do_not_show(self, monkeypatch):
        p = make_problem(40, 2, 21)
        whole = prefix_surface(p.basis, p.X, p.Y, [0.1])
        monkeypatch.setattr("gegenbauer.selection._prefix_surface.BLOCK_SIZE", 40.0 * 2 * 4)
        assert_allclose(prefix_surface(p.basis, p.X, p.Y, [0.1]).losses, whole.losses)

    @pytest.mark.parametrize("block", [4e6, 40.0 * 2 * 4])
    def test_some_numbers_of_terms(self, monkeypatch, block):
        p = make_problem(40, 2, 21)
        whole = prefix_surface(p.basis, p.X, p.Y, [0.1, 1.0])
        monkeypatch.setattr("gegenbauer.selection._prefix_surface.BLOCK_SIZE", block)
        some = prefix_surface(p.basis, p.X, p.Y, [0.1, 1.0], n_terms=[18, 3, 3])
        assert_array_equal(some.n_terms, [3, 18])
        assert_allclose(some.losses, whole.losses[:, [2, 17]])
        g = [0.1, 1.0].index(some.best[0])
        assert some.losses[g, [3, 18].index(some.best[1])] == some.losses.min()
        assert_array_equal(whole.n_terms, np.arange(1, 22))

    def test_too_small_for_float64(self):
        """Nine rows of one value: G'G has rank one, and alpha vanishes beside it."""
        basis = TensorBasis(1, degree=3)
        found = prefix_surface(basis, np.ones((9, 1)), np.arange(9.0), [1e-30, 1.0])
        assert (found.losses[0] == np.inf).all()
        assert found.error[0] == 1.0
        assert np.isfinite(found.losses[1]).all()
        assert found.best[0] == 1.0

    def test_what_rounding_spoils_is_not_the_best(self, monkeypatch):
        monkeypatch.setattr(
            "gegenbauer.selection._prefix_surface._SMALL_SURFACE", 0.0
        )  # by products of features
        p = make_problem(40, 2, 10, n_outputs=1)
        found = prefix_surface(p.basis, p.X, p.Y, [1e-14, 1e-2])
        assert found.error[0] > 1e-3
        assert found.best[0] == 1e-2

    def test_arguments(self):
        p = make_problem(9, 2, 6)
        for arguments, options, message in [
            (("basis", p.X, p.Y, [1.0]), {}, "`basis` must be a TensorBasis"),
            ((p.basis, p.X, p.Y, [0.0]), {}, "`alphas` must be positive"),
            ((p.basis, p.X, p.Y, []), {}, "`alphas` must not be empty"),
            ((p.basis, p.X, p.Y, [1.0]), {"sample_weight": np.r_[0, np.ones(8)]}, "be positive"),
            ((p.basis, p.X, p.Y, [1.0]), {"X_test": p.X[:, :1]}, "X_test must have 2 columns"),
            ((p.basis, p.X, p.Y, [1.0]), {"X_test": p.X, "Y_test": p.Y[:3]}, "Y_test must have 9"),
            ((p.basis, p.X, p.Y, [1.0]), {"n_terms": [0, 3]}, "between 1 and 6, .* got 0 to 3"),
            ((p.basis, p.X, p.Y, [1.0]), {"n_terms": [7]}, "between 1 and 6, .* got 7 to 7"),
            ((p.basis, p.X, p.Y, [1.0]), {"n_terms": [1.5]}, "sequence of whole numbers"),
            ((p.basis, p.X, p.Y, [1.0]), {"n_terms": []}, "sequence of whole numbers"),
        ]:
            with pytest.raises((ValueError, TypeError), match=message):
                prefix_surface(*arguments, **options)


@pytest.fixture(scope="module")
def clustered():
    """20,000 samples of two inputs that crowd at one end, a smooth target and one with noise."""
    rng = np.random.default_rng(0)
    X = 2 * rng.beta(30, 1, size=(20_000, 2)) - 1
    y = np.sin(5 * X[:, 0]) * X[:, 1]
    return X, np.column_stack([y, y + 0.1 * rng.normal(size=20_000)])


class TestClusteredSamples:
    """Sums of features do not resolve these penalties; the features themselves do."""

    ALPHAS = (1e-4, 1e-2, 1.0)

    @staticmethod
    def assert_refits(found, expected):
        assert np.abs(found - expected)[..., 0].max() <= 1e-8
        # With noise, fits reach hundreds where samples are few.
        noisy = np.abs(found - expected)[..., 1].max(axis=1)
        assert (noisy <= 3e-7 * np.abs(expected[..., 1]).max(axis=1).clip(min=1)).all()

    @staticmethod
    def refits(G, Y, G_new, alphas, *, free=False):
        """Least squares by QR, refined by residuals of more digits; depends on no part of the core.

        Without the refinement predictions change by 3e-7 from one LAPACK to the next: the condition
        number is 5e9.
        """
        n, K = G.shape[1], Y.shape[1]
        Q, R = np.linalg.qr(G)
        penalized = np.eye(n)
        penalized[0] *= not free
        found = []
        for alpha in alphas:
            penalty = np.sqrt(alpha) * penalized
            A = np.vstack([G, penalty]).astype(np.longdouble)
            B = np.vstack([Y, np.zeros((n, K))])
            inner, triangle = np.linalg.qr(np.vstack([R, penalty]))
            outer = np.vstack([Q @ inner[: len(R)], inner[len(R) :]])
            # unknowns are the residuals as well as the weights (Bjorck): digits do not depend on
            # the square of the condition number
            weights, residuals = np.zeros((n, K), np.longdouble), B.astype(np.longdouble)
            for _ in range(3):
                left = (B - residuals - A @ weights).astype(float)
                slopes = -(A.T @ residuals).astype(float)
                within = outer.T @ left - solve_triangular(triangle, slopes, trans=1)
                weights += solve_triangular(triangle, within)
                residuals += left - outer @ within
            found.append((G_new @ weights).astype(float))
        return np.array(found)

    @pytest.mark.slow
    @pytest.mark.parametrize("lam", [1.0, 2.0])
    def test_folds_and_path(self, clustered, lam):
        X, Y = clustered
        basis = TensorBasis(2, degree=30, lam=lam)
        G = basis.evaluate(X)
        rows = np.arange(0, 20_000, 2)
        rest = np.arange(1, 20_000, 2)
        folds = kfold_predictions(basis, X, Y, [rows, rest], self.ALPHAS)
        expected = self.refits(G[rest], Y[rest], G[rows], self.ALPHAS)
        self.assert_refits(folds.predictions[:, rows], expected)
        assert (folds.error < 1e-3).all()
        path = RidgePath(basis, X[rest], Y[rest], method="primal")
        self.assert_refits(path.predict(X[rows], self.ALPHAS), expected)
        left_out = path.leave_one_out(self.ALPHAS).predictions[:, [1234]]
        one, others = rest[1234], np.delete(rest, 1234)
        refit = self.refits(G[others], Y[others], G[[one]], self.ALPHAS)
        self.assert_refits(left_out, refit)

    @pytest.mark.parametrize("free", [pytest.param(False, marks=pytest.mark.slow), True])
    def test_samples_at_the_thin_end(self, clustered, free):
        """Where leverages are one but for 1e-7, and features are 10^5 times as large as elsewhere.

        Products with eigenvectors were off by the size of the answer there.
        """
        X, y = clustered[0][:6000], clustered[1][:6000, 1]
        basis = TensorBasis(2, degree=30, lam=2.0)
        path = RidgePath(basis, X, y, method="primal", penalize_constant=not free, tolerance=0.1)
        found = path.leave_one_out(self.ALPHAS)
        G = basis.evaluate(X)
        extreme = np.argsort(found.leverages[0])[[-1, -2, -5, -20, -100, 3000, 0]]
        true = np.empty((len(self.ALPHAS), extreme.size))
        rest = np.setdiff1d(np.arange(len(X)), extreme)
        # the triangle of all others stands for them
        R = np.linalg.qr(np.column_stack([G[rest], y[rest]]), mode="r")
        for at, sample in enumerate(extreme):
            near = np.delete(extreme, at)
            A = np.vstack([R, np.column_stack([G[near], y[near]])])
            refit = self.refits(A[:, :-1], A[:, -1:], G[[sample]], self.ALPHAS, free=free)
            true[:, at] = refit[:, 0, 0]
        for k in range(len(self.ALPHAS)):
            off = np.abs(found.predictions[k, extreme, 0] - true[k])
            left = np.abs(y[extreme] - true[k])
            assert (off <= 1e-3 * left).all()
            assert (
                off.max() / np.linalg.norm(y - found.predictions[k, :, 0]) <= found.error[k] <= 0.1
            )

    def test_numbers_of_terms(self, clustered):
        X, Y = clustered[0][:3000], clustered[1][:3000]
        basis = TensorBasis(2, degree=18, lam=2.0)
        test, sizes = clustered[0][3000:3200], [40, 190]
        kept = []

        def keep(predictions):
            kept.append(predictions)
            return predictions[:, 0, 0]

        surface = prefix_surface(basis, X, Y, self.ALPHAS, n_terms=sizes, X_test=test, loss=keep)
        assert (surface.error < 1e-3).all()
        G, G_test = basis.evaluate(X), basis.evaluate(test)
        for k, size in enumerate(sizes):
            expected = self.refits(G[:, :size], Y, G_test[:, :size], self.ALPHAS)
            self.assert_refits(np.array([found[k] for found in kept]), expected)

    @pytest.mark.slow
    def test_single_samples_choose(self, clustered):
        """Ended with "no alpha has a finite loss"."""
        X, Y = clustered
        model = GegenbauerRegressorCV(
            spectrum=None, lam=[2.0], n_terms=[496], alphas=self.ALPHAS, penalize_constant=True
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so few alphas, none of which is good
            model.fit(X[:6000], Y[:6000, 1])
        scores = model.surface_["score"].ravel()
        path = RidgePath(model.basis_, X[:6000], Y[:6000, 1], method="svd", scaling=model.scaling_)
        left_out = path.leave_one_out(self.ALPHAS).predictions[:, :, 0]
        expected = -((left_out - Y[:6000, 1]) ** 2).mean(axis=1) / Y[:6000, 1].var()
        assert_allclose(scores, expected, rtol=1e-2)

    @pytest.mark.parametrize(
        "options",
        [
            {"n_terms": [231], "alphas": ALPHAS, "penalize_constant": True},
            pytest.param({"n_terms": [496], "alphas": ALPHAS}, marks=pytest.mark.slow),
            # 1,000 terms, of degrees up to 44: sums carry a part of the alphas, and fewer digits
            pytest.param({}, marks=pytest.mark.slow),
        ],
        ids=["231 terms", "degree 30", "defaults"],
    )
    def test_the_estimator_that_chooses(self, clustered, options):
        X, Y = clustered
        model = GegenbauerRegressorCV(spectrum=None, lam=[2.0], cv=5, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the best is at an end of so few
            model.fit(X, Y[:, 0])
        if options:
            assert np.isfinite(model.surface_["score"]).all()
        # the first of five folds of neighbours is a refit to the others
        test, train = next(KFold(5).split(X))[::-1]
        G = model.basis_.evaluate(X, scaling=model.scaling_)
        free = not model.penalize_constant
        expected = self.refits(G[train], Y[train], G[test], [model.alpha_], free=free)[0, :, 0]
        size = 1e-8 if options else 1e-7
        assert np.abs(model.loo_predictions_[test] - expected).max() <= size
        # and the one of all samples, likewise
        everything = self.refits(G, Y, G[test], [model.alpha_], free=free)[0, :, 0]
        assert np.abs(model.predict(X[test]) - everything).max() <= 1e-8


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9])
def test_a_free_constant_takes_what_is_added_to_the_targets(offset):
    """Predictions move by it, scores do not, up to what float64 has left of the targets."""
    p = make_problem(60, 2, 15)
    Y = (p.Y + offset) - offset
    raised = Y + offset
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    alphas = 10.0 ** np.arange(-6, 3, 2)
    options = {"sample_weight": weight, "penalize_constant": False}
    size = 1e-9 + 1e-15 * offset

    def same(found, expected, shift=0.0):
        assert np.abs((found - shift) - expected).max() <= size * np.abs(expected).max()

    for method in METHODS:
        plain, path = (RidgePath(p.basis, p.X, T, method=method, **options) for T in (Y, raised))
        same(
            path.leave_one_out(alphas).predictions, plain.leave_one_out(alphas).predictions, offset
        )
        same(path.predict(p.X[:9] + 0.01, alphas), plain.predict(p.X[:9] + 0.01, alphas), offset)
        same(path.gcv(alphas), plain.gcv(alphas))
        same(path.log_marginal_likelihood(alphas), plain.log_marginal_likelihood(alphas))
    folds = np.arange(60).reshape(3, 20)
    found, expected = (
        kfold_predictions(p.basis, p.X, T, folds, alphas, **options) for T in (raised, Y)
    )
    same(found.predictions, expected.predictions, offset)
    found, expected = (prefix_surface(p.basis, p.X, T, alphas, **options) for T in (raised, Y))
    same(found.losses, expected.losses)
    kernel = TotalDegreeKernel(2, 4)
    found, expected = (leave_one_out(kernel, p.X, T, 0.1, **options) for T in (raised, Y))
    same(found.predictions, expected.predictions, offset)


def test_a_fold_that_outweighs_all_others_leaves_them_as_they_are():
    """The sums without it are those of the others, not what is left of the whole."""
    p = make_problem(90, 2, 10)
    weight = np.ones(90)
    weight[:30] = 1e14
    folds = np.arange(90).reshape(3, 30)
    found = kfold_predictions(p.basis, p.X, p.Y, folds, [0.1], sample_weight=weight)
    fit = solve_ridge(p.basis, p.X[30:], p.Y[30:], 0.1)
    assert_allclose(found.predictions[0, :30], p.G[:30] @ fit.weights, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("tolerance", [-1.0, np.nan, "some"])
def test_a_tolerance_is_a_number(tolerance):
    p = make_problem(30, 2, 6)
    with pytest.raises(ValueError, match="`tolerance` must be a number >= 0"):
        RidgePath(p.basis, p.X, p.Y, tolerance=tolerance)
    with pytest.raises(ValueError, match="`tolerance` must be a number >= 0"):
        kfold_predictions(
            p.basis, p.X, p.Y, [np.arange(9), np.arange(9, 30)], [1.0], tolerance=tolerance
        )
