"""Objectives of a spectrum against refits and distributions, their gradients, and the searches."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.model_selection import KFold, ShuffleSplit

from gegenbauer import (
    GeometricDecay,
    InputScaling,
    PowerDecay,
    RidgePath,
    Spectrum,
    TensorBasis,
    solve_kernel,
)
from gegenbauer.basis import SpectrumKernel, TotalDegreeKernel
from gegenbauer.ridge import predict_kernel
from gegenbauer.selection import (
    learn_spectrum,
    leave_one_out,
    search_alpha,
    search_spectrum,
    spectrum_objective,
)
from gegenbauer.selection._leave_one_out import KernelSystem
from gegenbauer.selection.candidates import Candidate

OBJECTIVES = ["marginal_likelihood", "squared_error"]


def slanted(left_out):
    """Make an objective of predictions: each output judged in its own way."""
    shares = np.linspace(1, 2, left_out.size).reshape(left_out.shape)
    return float((shares * np.logaddexp(0, left_out)).sum()), shares / (1 + np.exp(-left_out))


def data(n=30, m=3, n_outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, m))
    Y = np.sin(X @ rng.normal(0, 2, (m, n_outputs))) + 0.1 * rng.normal(size=(n, n_outputs))
    return X, Y, rng.uniform(0.5, 2, n)


def kernel_of(logs, lam=0.0, max_degree=None):
    parts = [PowerDecay(tuple(np.exp(logs[:, 0])), 2.0), GeometricDecay(np.exp(logs[:, 1]), 0.2)]
    return SpectrumKernel(len(logs), parts, lam=lam, max_degree=max_degree)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("objective", [*OBJECTIVES, slanted])
def test_gradients_equal_finite_differences(objective, free, weighted):
    X, Y, weights = data()
    rng = np.random.default_rng(1)
    logs, alpha, step = rng.normal(-1, 1, (3, 2)), 0.1, 1e-5

    def at(logs, alpha):
        return spectrum_objective(
            kernel_of(logs), X, Y, alpha, objective=objective,
            sample_weight=weights if weighted else None, penalize_constant=not free,
        )  # fmt: skip

    found = at(logs, alpha)
    for t, j in itertools.product(range(3), range(2)):
        shift = np.zeros_like(logs)
        shift[t, j] = step
        slope = (at(logs + shift, alpha).value - at(logs - shift, alpha).value) / (2 * step)
        assert_allclose(found.by_log_interaction[t, j], slope, rtol=1e-6, atol=1e-8)
    up, down = at(logs, alpha * np.exp(step)).value, at(logs, alpha * np.exp(-step)).value
    assert_allclose(found.by_log_alpha, (up - down) / (2 * step), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("free", [False, True])
def test_likelihood_is_that_of_ridge_path(free):
    """Which a test holds against normal distributions."""
    X, Y, weights = data()
    kernel, n = kernel_of(np.full((3, 2), -1.0)), 30 - free
    values = []
    for alpha in (0.01, 1.0):
        found = spectrum_objective(
            kernel, X, Y, alpha, sample_weight=weights, penalize_constant=not free
        )
        path = RidgePath(kernel, X, Y, sample_weight=weights, penalize_constant=not free)
        values.append(found.value + path.log_marginal_likelihood([alpha])[0].mean() / n)
    assert_allclose(values[0], values[1], rtol=1e-10)


def test_likelihood_of_one_output():
    X, Y, _ = data(n_outputs=1)
    kernel = kernel_of(np.full((3, 2), -1.0))
    alpha = 0.1
    C = kernel(X) / alpha + np.eye(30)
    variance = Y[:, 0] @ np.linalg.solve(C, Y[:, 0]) / 30
    true = -multivariate_normal.logpdf(Y[:, 0], cov=variance * C) / 30
    found = spectrum_objective(kernel, X, Y, alpha).value
    assert_allclose(found, true - 0.5 * (1 + np.log(2 * np.pi)), rtol=1e-10)


@pytest.mark.parametrize("free", [False, True])
def test_squared_error_is_that_of_refits(free):
    X, Y, weights = data(n=15)
    kernel = kernel_of(np.full((3, 2), -1.0))
    errors = np.empty_like(Y)
    for i in range(15):
        keep = np.arange(15) != i
        fit = solve_kernel(
            kernel, X[keep], Y[keep], 0.1, sample_weight=weights[keep], penalize_constant=not free
        )
        errors[i] = Y[i] - predict_kernel(
            kernel, X[i : i + 1], X[keep], fit.dual_coef, intercept=fit.intercept
        )
    mean = np.average(errors**2, axis=0, weights=weights)
    found = spectrum_objective(
        kernel, X, Y, 0.1, objective="squared_error", sample_weight=weights,
        penalize_constant=not free,
    )  # fmt: skip
    assert_allclose(found.value, 0.5 * np.log(mean).mean(), rtol=1e-9)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "kernel", [SpectrumKernel(3, (0.3, 2.0)), TotalDegreeKernel(3, 4, lam=0.5)], ids=repr
)
def test_leave_one_out_of_one_alpha(kernel, weighted, free):
    X, Y, weights = data()
    options = {
        "sample_weight": weights if weighted else None,
        "penalize_constant": not free,
        "scaling": InputScaling([-1] * 3, [1] * 3, domain=(-1, 1)),
    }
    expected = RidgePath(kernel, X, Y, **options).leave_one_out([0.1])
    found = leave_one_out(kernel, X, Y, 0.1, **options)
    assert_allclose(found.predictions, expected.predictions, atol=1e-10)
    assert_allclose(found.leverages, expected.leverages, atol=1e-11)
    assert (found.error <= 1e-10).all()


def test_leave_one_out_checks_its_arguments():
    kernel, X, y = SpectrumKernel(1, (1.0, 1.0)), np.zeros((3, 1)), np.zeros(3)
    for arguments, options, message in [
        (("kernel", X, y, 1.0), {}, "`kernel` must be"),
        ((kernel, X, y, 0.0), {}, "`alpha` must be"),
        ((kernel, X, y, 1.0), {"sample_weight": [1, 0, 1]}, "must be positive"),
        ((kernel, X[:1], y[:1], 1.0), {"penalize_constant": False}, "two samples"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            leave_one_out(*arguments, **options)


class TestLearnSpectrum:
    @pytest.mark.parametrize("objective", OBJECTIVES)
    def test_finds_the_inputs_that_matter(self, objective):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (80, 4))
        y = np.sin(3 * X[:, 1]) * X[:, 3]
        kernel, alpha = learn_spectrum(X, y, objective=objective, penalize_constant=False)
        relevance = kernel.spectrum.interactions(kernel.n_features).sum(axis=1)
        assert min(relevance[[1, 3]]) > 50 * max(relevance[[0, 2]])
        fit = solve_kernel(kernel, X, y, alpha, penalize_constant=False)
        Z = rng.uniform(-0.9, 0.9, (200, 4))
        found = predict_kernel(kernel, Z, X, fit.dual_coef, intercept=fit.intercept)[:, 0]
        assert np.std(found - np.sin(3 * Z[:, 1]) * Z[:, 3]) < 2e-3

    @pytest.mark.parametrize("objective", OBJECTIVES)
    def test_ends_where_the_gradient_vanishes(self, objective):
        """With noise, inside of the bounds: no small change of alpha or a strong weight helps."""
        X, Y, weights = data(60, 2, 1)
        kernel, alpha = learn_spectrum(
            X, Y, components=[PowerDecay(0.5, 2.0)], objective=objective, sample_weight=weights
        )
        best = spectrum_objective(kernel, X, Y, alpha, objective=objective, sample_weight=weights)
        assert abs(best.by_log_alpha) < 1e-3
        q = kernel.spectrum.interactions(kernel.n_features)
        assert np.abs(best.by_log_interaction[q < 200]).max() < 1e-3  # the others are at their ends
        assert (q < 200).any()
        for factor in (0.5, 2):
            other = spectrum_objective(
                kernel, X, Y, alpha * factor, objective=objective, sample_weight=weights
            )
            assert other.value > best.value

    def test_objective_of_ones_own(self):
        """It is judged at predictions of samples left out, of those that have a weight."""
        X, Y, weights = data(25)
        weights[3] = 0
        kernel, used = kernel_of(np.full((3, 2), -1.0)), weights > 0
        found = spectrum_objective(kernel, X, Y, 0.2, objective=slanted, sample_weight=weights)
        left_out = leave_one_out(kernel, X[used], Y[used], 0.2, sample_weight=weights[used])
        assert_allclose(found.value, slanted(left_out.predictions[0])[0], rtol=1e-10)
        assert learn_spectrum(X, np.ones((25, 2)), objective=slanted)[1] > 0

    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_prior_holds_weights_together(self, weighted):
        """A tight one at their start; else the slope of the penalty is what that of the data is."""
        X, Y, weights = data(60)
        weights = weights if weighted else np.ones(60)
        start = SpectrumKernel(3, PowerDecay(0.3, 2.0))

        def learn(prior):
            kernel, alpha = learn_spectrum(
                X, Y, components=start.spectrum, alpha=0.01, prior=prior, sample_weight=weights
            )
            return kernel, alpha, np.log(kernel.spectrum.interactions(3)[:, 0] / 0.3)

        spreads = [np.abs(learn(prior)[2]).max() for prior in (1e-3, 0.3, 3.0, None)]
        assert spreads[0] < 1e-3
        assert spreads == sorted(spreads)
        kernel, alpha, departure = learn(0.7)
        found = spectrum_objective(kernel, X, Y, alpha, sample_weight=weights)

        def level(kernel):  # for each sample, of which there are as many as are left out
            return np.average(kernel.diagonal(X), weights=weights) * weights.mean()

        relative = alpha / level(kernel)
        by_alpha = found.by_log_alpha + np.log(relative / 0.01) / 16 / len(weights)
        assert abs(by_alpha) < 1e-4
        for t in range(3):  # alpha relative to the level stays, as the level follows q
            q = 0.3 * np.exp(departure)
            q[t] *= 1.001
            moved = SpectrumKernel(3, PowerDecay(tuple(q), 2.0))
            by_level = np.log(level(moved) / level(kernel)) / np.log(1.001)
            reach = 1 + departure @ departure / (4 * 0.49)
            penalty = (4 + 3) * departure[t] / (4 * 0.49) / reach / len(weights)
            slope = found.by_log_interaction[t, 0] + found.by_log_alpha * by_level + penalty
            assert abs(slope) < 1e-4

    def test_is_deterministic_and_the_same_for_threads(self):
        X, Y, _ = data(90, 3)
        one, two = (learn_spectrum(X, Y, max_iter=5, n_threads=n) for n in (1, 2))
        assert one == two

    @pytest.mark.parametrize("free", [False, True])
    @pytest.mark.parametrize("objective", [*OBJECTIVES, slanted])
    def test_is_the_same_where_parts_are_too_large_to_be_kept(self, objective, free, monkeypatch):
        X, Y, weights = data(50, 40)
        options = {
            "objective": objective, "sample_weight": weights, "penalize_constant": not free,
            "max_iter": 8,
        }  # fmt: skip
        kept, alpha = learn_spectrum(X, Y, **options)
        monkeypatch.setattr("gegenbauer.selection._learn_spectrum._MOST_KEPT", 0)
        found, other = learn_spectrum(X, Y, **options)
        assert_allclose(other, alpha, rtol=1e-7)
        assert_allclose(found.spectrum.interactions(40), kept.spectrum.interactions(40), rtol=1e-7)

    def test_rows_of_weight_zero_are_no_rows(self):
        X, Y, _ = data(40)
        weights = np.r_[np.ones(30), np.zeros(10)]
        assert learn_spectrum(X, Y, sample_weight=weights, max_iter=3) == learn_spectrum(
            X[:30], Y[:30], max_iter=3
        )

    def test_callback_and_few_rows(self):
        X, Y, _ = data(20)
        steps = []
        learn_spectrum(X, Y, max_iter=4, callback=steps.append)
        assert steps == [1, 2, 3, 4]
        kernel, alpha = learn_spectrum(X, np.full(20, 3.0))
        assert alpha > 0
        assert len(kernel.spectrum.components) == 3
        assert learn_spectrum(X[:2], Y[:2])[1] > 0

    def test_checks_its_arguments(self):
        X, Y, _ = data()
        for options, message in [
            ({"components": [PowerDecay(0.0, 1.0)]}, "positive interactions"),
            ({"objective": "aic"}, "`objective` must be"),
            ({"max_iter": 0}, "`max_iter` must be"),
            ({"alpha": -1.0}, "`alpha` must be"),
            ({"prior": 0.0}, "`prior` must be"),
        ]:
            with pytest.raises((ValueError, TypeError), match=message):
                learn_spectrum(X, Y, **options)


def squared_error(Y):
    return lambda predictions, rows: ((predictions - Y[rows]) ** 2).mean(axis=(1, 2))


class TestSearchSpectrum:
    def test_is_the_best_of_refits(self):
        """Every score of the table, by the definition; the best one is what is returned."""
        X, Y, weights = data(14, 2)
        found = search_spectrum(
            X, Y, squared_error(Y), smoothnesses=[1, 2], interactions=[0.1, 1], alphas=[1e-2, 1],
            widen=False, sample_weight=weights, penalize_constant=False,
        )  # fmt: skip
        assert found.losses.shape == (2, 2, 2)
        for i, j, g in np.ndindex(2, 2, 2):
            kernel = SpectrumKernel(2, (found.interactions[j], found.smoothnesses[i]))
            level = (np.average(kernel.diagonal(X), weights=weights) - 1) * weights.mean()
            left_out = np.empty_like(Y)
            for r in range(14):
                keep = np.arange(14) != r
                fit = solve_kernel(
                    kernel, X[keep], Y[keep], found.alphas[g] * level,
                    sample_weight=weights[keep], penalize_constant=False,
                )  # fmt: skip
                left_out[r] = predict_kernel(
                    kernel, X[r : r + 1], X[keep], fit.dual_coef, intercept=fit.intercept
                )
            assert_allclose(found.losses[i, j, g], ((left_out - Y) ** 2).mean(), rtol=1e-8)
            if found.losses[i, j, g] == found.loss:
                assert found.kernel == kernel
                assert_allclose(found.alpha, found.alphas[g] * level)
        assert found.loss == found.losses.min()

    def test_grids_widen_until_the_best_is_inside(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (60, 2))
        Y = np.sin(5 * X[:, :1] * X[:, 1:]) + 0.3 * rng.normal(size=(60, 1))
        narrow = search_spectrum(
            X, Y, squared_error(Y), smoothnesses=[1], interactions=[1e-3, 4e-3], alphas=[1e-4, 4e-4]
        )
        assert narrow.interactions.size > 2
        assert narrow.alphas[-1] > 4e-4
        fixed = search_spectrum(
            X,
            Y,
            squared_error(Y),
            smoothnesses=[1],
            interactions=[1e-3, 4e-3],
            alphas=[1e-4, 4e-4],
            widen=False,
        )
        assert fixed.on_edge == ("interactions", "alphas")
        assert narrow.loss < fixed.loss
        wide = search_spectrum(X, Y, squared_error(Y))
        assert wide.on_edge == ()

    def test_single_values_are_no_edge(self):
        X, Y, _ = data(20)
        found = search_spectrum(
            X, Y, squared_error(Y), smoothnesses=[2], interactions=[1.0], alphas=[0.1]
        )
        assert found.on_edge == ()
        assert found.losses.shape == (1, 1, 1)

    def test_what_rounding_spoils_is_never_chosen(self):
        X, Y, _ = data(100, 1)
        found = search_spectrum(
            X,
            Y,
            squared_error(Y),
            smoothnesses=[3],
            interactions=[1.0],
            alphas=[1e-30, 1e-3],
            widen=False,
        )
        assert found.losses[0, 0, 0] == np.inf
        assert np.isfinite(found.loss)
        with pytest.raises(ValueError, match="no candidate has a finite loss"):
            search_spectrum(
                X, Y, squared_error(Y), alphas=[1e-30], interactions=[1.0], smoothnesses=[3]
            )

    def test_callback_counts_spectra(self):
        X, Y, _ = data(20)
        seen = []
        search_spectrum(
            X, Y, squared_error(Y), interactions=[0.1, 1.0], widen=False, callback=seen.append
        )
        assert seen == [1, 2, 3, 4]

    def test_checks_its_grids(self):
        X, Y, _ = data(20)
        for name in ("smoothnesses", "interactions", "alphas"):
            with pytest.raises(ValueError, match=f"`{name}` must be positive"):
                search_spectrum(X, Y, squared_error(Y), **{name: [1.0, 0.0]})


class TestSearchAlpha:
    @pytest.mark.parametrize("start", [1e-6, 1.0, 1e6])
    def test_ends_at_the_same_minimum(self, start):
        X, Y, _ = data(50)
        kernel = SpectrumKernel(3, (0.3, 2.0))
        score = squared_error(Y)
        alpha, best, predictions, _ = search_alpha(kernel, X, Y, score, start)
        rows = np.arange(50)
        assert_array_equal(score(predictions[np.newaxis], rows), [best])
        alphas = alpha * 2.0 ** np.arange(-3, 4)
        path = score(RidgePath(kernel, X, Y).leave_one_out(alphas).predictions, rows)
        assert path.argmin() == 3

    @pytest.mark.parametrize("free", [pytest.param(False, marks=pytest.mark.slow), True])
    def test_many_samples_walk_in_float32(self, free, monkeypatch):
        """To the same alpha as by exact factorisations, whose results are returned."""
        monkeypatch.setattr("gegenbauer.selection.penalty._MANY", 700)
        rng = np.random.default_rng(4)
        X = rng.uniform(-1, 1, (750, 3))
        Y = np.column_stack([np.sin(3 * X[:, 0]) + X[:, 1], X[:, 2] ** 2])
        Y += 0.3 * rng.normal(size=Y.shape)
        weights = rng.integers(1, 4, 750).astype(float)
        options = {"sample_weight": weights, "penalize_constant": not free}
        kernel, score = SpectrumKernel(3, (0.3, 2.0)), squared_error(Y)
        seen = []
        original = KernelSystem.leave_one_out

        def watched(self, targets, alpha, share, *, precision="float64"):
            found = original(self, targets, alpha, share, precision=precision)
            seen.append((alpha, precision, score(found.predictions, np.arange(750))[0]))
            return found

        monkeypatch.setattr(KernelSystem, "leave_one_out", watched)
        quick = search_alpha(kernel, X, Y, score, 1.0, **options)
        by_single = {alpha: value for alpha, kind, value in seen if kind == "float32"}
        assert seen[-1][:2] == (quick.alpha, "float64")
        assert len(by_single) == len(seen) - 1
        for alpha, value in by_single.items():
            exact = leave_one_out(kernel, X, Y, alpha, **options)
            (expected,) = score(exact.predictions, np.arange(750))
            # alpha is 100 times what float32 does to eigenvalues of K, at least; a loss is a
            # mean over samples of both signs and shows a thousandth (1.02e-5 by one ISA variant)
            assert_allclose(value, expected, rtol=1e-4)
            if alpha == quick.alpha:
                assert_array_equal(quick.predictions, exact.predictions[0])
                assert quick.loss == expected
                assert_allclose(quick.residual_dof, 750 - exact.leverages.sum(), rtol=1e-9)
        # a penalty that float32 does not resolve is judged in float64
        seen.clear()
        smooth = np.sin(X[:, :1])
        search_alpha(kernel, X, smooth, squared_error(smooth), 1e-7, penalize_constant=not free)
        assert {kind for alpha, kind, _ in seen if alpha < 1e-6} == {"float64"}

    def test_starts_again_where_float64_ends(self):
        X, Y, _ = data(50)
        alpha, _, _, _ = search_alpha(SpectrumKernel(3, (0.3, 2.0)), X, Y, squared_error(Y), 1e-25)
        assert alpha > 1e-12

    def test_nan_is_no_score(self):
        X, Y, _ = data(20)
        kernel = SpectrumKernel(3, (0.3, 2.0))
        with pytest.raises(ValueError, match="no alpha has a finite loss"):
            search_alpha(kernel, X, Y, lambda p, _: np.full(len(p), np.nan), 1.0)

    @pytest.mark.parametrize("free", [False, True])
    def test_splits(self, free):
        """Both searches agree with refits on the training rows of each split."""
        X, Y, weights = data(40)
        score = squared_error(Y)
        folds = np.arange(40) % 4
        splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(3)]
        options = {"sample_weight": weights, "penalize_constant": not free, "cv": splits}
        found = search_spectrum(
            X, Y, score, smoothnesses=[2], interactions=[0.3], alphas=[0.01, 0.1], widen=False,
            **options,
        )  # fmt: skip
        level = found.alpha / found.alphas[found.losses[0, 0].argmin()]
        for g, relative in enumerate(found.alphas):
            values = []
            for train, test in splits:
                fit = solve_kernel(
                    found.kernel, X[train], Y[train], relative * level,
                    sample_weight=weights[train], penalize_constant=not free,
                )  # fmt: skip
                predicted = predict_kernel(
                    found.kernel, X[test], X[train], fit.dual_coef, intercept=fit.intercept
                )
                values.append(((predicted - Y[test]) ** 2).mean())
            assert_allclose(found.losses[0, 0, g], np.mean(values), rtol=1e-9)
        alpha, best, predictions, _ = search_alpha(
            found.kernel, X, Y, score, found.alpha, **options
        )
        assert best <= found.loss * (1 + 1e-9)
        assert np.isnan(predictions[folds == 3]).all()
        assert np.isfinite(predictions[folds != 3]).all()
        assert alpha > 0


@pytest.mark.parametrize("weighted", [False, True])
def test_folds_of_a_basis_take_one_sum(weighted, monkeypatch):
    """Splits of complements are K-fold by subtraction; other splits are fits of their own."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(90, 2))
    Y = np.sin(4 * X[:, :1]) + X[:, 1:] ** 2 + 0.1 * rng.standard_normal((90, 1))
    weights = rng.uniform(0.5, 2, 90) if weighted else None
    basis, alphas = TensorBasis(2, n_terms=15), np.array([1e-4, 1e-2, 1.0])
    monkeypatch.setattr("gegenbauer.selection._factorisations._SMALL", 0.0)

    def squared_error(predictions, rows):
        return ((predictions - Y[rows]) ** 2).mean(axis=(1, 2))

    def candidate(splits, model=basis):
        return Candidate(model, X, Y, weights, splits, scaling=None, penalize_constant=False)

    complements = [*KFold(3, shuffle=True, random_state=0).split(X)]
    assert candidate(complements)._folds
    splits = [*ShuffleSplit(3, random_state=0).split(X), complements[0]]
    for others in (None, complements[:1], splits, [(a[1:], b) for a, b in complements]):
        assert not candidate(others)._folds
    assert not candidate(complements, TensorBasis(2, n_terms=60))._folds
    assert not candidate(complements, SpectrumKernel(2, (1.0, 1.0)))._folds
    found = candidate(complements)
    expected = np.zeros((len(alphas), *Y.shape))
    for train, test in complements:
        part = None if weights is None else weights[train]
        path = RidgePath(basis, X[train], Y[train], sample_weight=part, penalize_constant=False)
        expected[:, test] = path.predict(X[test], alphas)
    scores = np.mean(
        [squared_error(expected[:, test], test) for _, test in complements], axis=0
    )  # fmt: skip
    assert_allclose(found.losses(alphas, squared_error), scores, rtol=1e-9)
    assert_allclose(found.predictions(1e-2), expected[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("splits", [None, [(np.arange(10, 40), np.arange(10))]])
def test_alpha_stays_above_rounding(splits, free):
    """Targets without noise, for which the smallest alpha would look the best."""
    X, _, weights = data(40, 2, 1)
    kernel = SpectrumKernel(2, PowerDecay(0.5, 3.0))
    alpha, score, _, _ = search_alpha(
        kernel, X, X[:, 0] ** 3, squared_error(X[:, :1] ** 3), 1e-30, cv=splits,
        sample_weight=weights, penalize_constant=not free,
    )  # fmt: skip
    trace = (kernel.diagonal(X) - free) @ weights
    assert 4 * np.finfo(float).eps * trace / alpha <= 0.1
    assert score < 1e-4


def test_starts_are_the_best_of_each_smoothness():
    X, Y, _ = data(40, 2, 1)
    found = search_spectrum(X, Y, squared_error(Y), smoothnesses=[1, 2, 3], prior=2.0)
    penalty = np.log(found.interactions * 2) ** 2 / (8 * 40)
    assert len(found.starts) == 3
    for (kernel, alpha), s, scores in zip(
        found.starts, found.smoothnesses, found.losses, strict=True
    ):
        j, g = np.unravel_index(np.nanargmin(scores + penalty[:, np.newaxis]), scores.shape)
        assert kernel.spectrum == Spectrum((found.interactions[j], s))
        assert alpha == found.alphas[g]


def test_a_prior_of_the_interaction():
    """It moves the choice towards 1 / n_features as its density implies, and no score."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (60, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + rng.logistic(size=60) > 0.3, 1.0, -1.0)

    def log_loss(predictions, rows):
        return np.logaddexp(0, -predictions[:, :, 0] * y[rows]).mean(axis=1)

    qs = 4.0 ** np.arange(-5, 4)
    weights = np.full(60, 2.0)
    for prior in (None, 4.0, 0.5, 0.05):
        for weight, n in ((None, 60), (weights, 120)):
            found = search_spectrum(
                X, y, log_loss, interactions=qs, prior=prior, widen=False, sample_weight=weight
            )
            penalty = 0.0 if prior is None else np.log(qs * 4) ** 2 / (2 * prior**2 * n)
            total = found.losses.min(axis=(0, 2)) + penalty
            (part,) = found.kernel.spectrum.components
            assert part.interaction == qs[total.argmin()]
            assert found.loss == found.losses[:, total.argmin()].min()
    assert part.interaction == 0.25
    with pytest.raises(ValueError, match="`prior` must be a finite number greater"):
        search_spectrum(X, y, log_loss, prior=0.0)


def test_weights_that_underflow():
    """Beside a free constant nothing is left of them, and no alpha can be relative to it."""
    X = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    y = X[:, 0]
    tiny = ".*1e-300.* gives the inputs such small weights"
    with pytest.raises(ValueError, match=f"components={tiny}"):
        learn_spectrum(X, y, components=(1e-300, 2.0), penalize_constant=False)
    with pytest.raises(ValueError, match=f"interaction {tiny}"):
        search_spectrum(
            X, y, lambda p, at: ((p[:, :, 0] - y[at]) ** 2).mean(axis=1), interactions=[1e-300],
            penalize_constant=False,
        )  # fmt: skip
