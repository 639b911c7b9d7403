"""Samples that repeat: what is left out with each, by refits, and what is learned from them."""

from __future__ import annotations

import warnings

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, KFold
from sklearn.preprocessing import OneHotEncoder

from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerRegressorCV,
    InputScaling,
    PowerDecay,
    RidgePath,
    TensorBasis,
    load,
    save,
    solve_kernel,
    solve_ridge,
)
from gegenbauer.basis import SpectrumKernel
from gegenbauer.errors import RepeatedSamplesWarning, UnderfittingWarning
from gegenbauer.ridge import predict, predict_kernel
from gegenbauer.selection import (
    leave_one_out,
    prefix_surface,
    search_alpha,
    search_basis,
    search_spectrum,
    spectrum_objective,
)

SCALING = InputScaling([0.0, 0.0], [1.0, 1.0], domain=(-1, 1))
BASIS = TensorBasis(2, degree=3, lam=0.0)
KERNEL = SpectrumKernel(2, PowerDecay(0.4, 2.0))


def weighted(n=14, seed=0):
    """Samples of weights from 1 to 5, of which one at a time is left out, of some all."""
    rng = np.random.default_rng(seed)
    X, Y = rng.uniform(size=(n, 2)), rng.normal(size=(n, 2))
    X[3:5] = X[2]  # with other targets
    weight = rng.integers(1, 6, n).astype(float)
    share = np.where(np.arange(n) % 3 == 0, 1.0, 1.0 / weight)
    return X, Y, weight, share


def refits(model, X, Y, weight, share, alpha, *, penalize_constant):
    """Leave the share of each out by a fit without it."""
    out = np.empty_like(Y)
    for i in range(len(X)):
        left = weight.copy()
        left[i] *= 1 - share[i]
        options = {
            "sample_weight": left, "scaling": SCALING, "penalize_constant": penalize_constant
        }  # fmt: skip
        if isinstance(model, TensorBasis):
            fit = solve_ridge(model, X, Y, alpha, **options)
            out[i] = predict(model, X[i : i + 1], fit.weights, scaling=SCALING)
        else:
            fit = solve_kernel(model, X, Y, alpha, **options)
            out[i] = predict_kernel(
                model, X[i : i + 1], X, fit.dual_coef, intercept=fit.intercept, scaling=SCALING
            )
    return out


@pytest.mark.parametrize("penalize_constant", [True, False])
class TestShares:
    @pytest.mark.parametrize("method", ["svd", "dual", "primal", "kernel"])
    @pytest.mark.parametrize("n", [14, 8])
    def test_paths_are_refits(self, method, n, penalize_constant):
        X, Y, weight, share = weighted(n)
        model, method = (KERNEL, "dual") if method == "kernel" else (BASIS, method)
        path = RidgePath(
            model, X, Y, sample_weight=weight, scaling=SCALING, method=method,
            penalize_constant=penalize_constant,
        )  # fmt: skip
        found = path.leave_one_out([0.01, 1.0], left_out_share=share).predictions
        for alpha, predictions in zip([0.01, 1.0], found, strict=True):
            expected = refits(
                model, X, Y, weight, share, alpha, penalize_constant=penalize_constant
            )
            assert_allclose(predictions, expected, rtol=1e-8, atol=1e-9)
        whole = path.leave_one_out([0.01, 1.0]).predictions
        same = path.leave_one_out([0.01, 1.0], left_out_share=np.ones(n)).predictions
        assert np.array_equal(whole, same)

    def test_one_alpha_is_a_refit(self, penalize_constant):
        X, Y, weight, share = weighted()
        options = {
            "sample_weight": weight, "scaling": SCALING, "penalize_constant": penalize_constant
        }  # fmt: skip
        found = leave_one_out(KERNEL, X, Y, 0.1, left_out_share=share, **options)
        expected = refits(KERNEL, X, Y, weight, share, 0.1, penalize_constant=penalize_constant)
        assert_allclose(found.predictions[0], expected, rtol=1e-9)

        def squared_error(predictions, rows):
            return ((predictions - Y[rows]) ** 2).mean(axis=(1, 2))

        alpha, score, predictions, _ = search_alpha(
            KERNEL, X, Y, squared_error, 0.1, left_out_share=share, **options
        )
        expected = refits(KERNEL, X, Y, weight, share, alpha, penalize_constant=penalize_constant)
        assert_allclose(predictions, expected, rtol=1e-8, atol=1e-9)
        assert score == pytest.approx(((expected - Y) ** 2).mean())

    def test_prefixes_and_searches_are_refits(self, penalize_constant):
        X, Y, weight, share = weighted()
        options = {
            "sample_weight": weight, "scaling": SCALING, "penalize_constant": penalize_constant
        }  # fmt: skip
        surface = prefix_surface(
            TensorBasis(2, n_terms=5, lam=0.5), X, Y, [0.1], left_out_share=share, **options
        )
        for size, score in zip(surface.n_terms, surface.losses[0], strict=True):
            left_out = refits(
                TensorBasis(2, n_terms=size, lam=0.5), X, Y, weight, share, 0.1,
                penalize_constant=penalize_constant,
            )  # fmt: skip
            expected = np.average(((left_out - Y) ** 2).mean(axis=1), weights=weight)
            assert score == pytest.approx(expected, rel=1e-8)

        def squared_error(predictions, rows):
            return ((predictions - Y[rows]) ** 2).mean(axis=(1, 2))

        found = search_basis(
            X, Y, squared_error, lams=[0.5], n_terms=[5], alphas=[0.1], widen=False,
            left_out_share=share, **options,
        )  # fmt: skip
        assert found.loss == pytest.approx(((left_out - Y) ** 2).mean(), rel=1e-8)
        spectra = search_spectrum(
            X, Y, squared_error, smoothnesses=[2.0], interactions=[0.4], alphas=[0.1], widen=False,
            left_out_share=share, **options,
        )  # fmt: skip
        left_out = refits(
            KERNEL, X, Y, weight, share, spectra.alpha, penalize_constant=penalize_constant
        )
        assert spectra.loss == pytest.approx(((left_out - Y) ** 2).mean(), rel=1e-8)

    @pytest.mark.parametrize("objective", ["marginal_likelihood", "squared_error", "callable"])
    def test_objectives_have_their_derivatives(self, objective, penalize_constant):
        X, Y, weight, share = weighted()
        if objective == "callable":

            def objective(predictions):
                return float((np.abs(predictions - Y) ** 3).sum()), 3 * np.abs(predictions - Y) * (
                    predictions - Y
                )

        def judge(q, alpha):
            kernel = SpectrumKernel(2, PowerDecay([q, 0.3], 2.0))
            return spectrum_objective(
                kernel, X, Y, alpha, objective=objective, sample_weight=weight,
                left_out_share=share, scaling=SCALING, penalize_constant=penalize_constant,
            )  # fmt: skip

        h, found = 1e-5, judge(0.4, 0.2)
        by_alpha = (judge(0.4, 0.2 * np.exp(h)).value - judge(0.4, 0.2 * np.exp(-h)).value) / (
            2 * h
        )
        by_q = (judge(0.4 * np.exp(h), 0.2).value - judge(0.4 * np.exp(-h), 0.2).value) / (2 * h)
        assert found.by_log_alpha == pytest.approx(by_alpha, rel=1e-6, abs=1e-9)
        assert found.by_log_interaction[0, 0] == pytest.approx(by_q, rel=1e-6, abs=1e-9)

    def test_the_likelihood_is_that_of_all_samples(self, penalize_constant):
        X, Y, weight, _ = weighted()
        rows = np.repeat(np.arange(len(X)), weight.astype(int))
        options = {"scaling": SCALING, "penalize_constant": penalize_constant}
        merged = spectrum_objective(
            KERNEL, X, Y, 0.3, sample_weight=weight, left_out_share=1 / weight, **options
        )
        each = spectrum_objective(KERNEL, X[rows], Y[rows], 0.3, **options)
        assert merged.value == pytest.approx(each.value, rel=1e-10)
        assert merged.by_log_alpha == pytest.approx(each.by_log_alpha, rel=1e-8)
        assert_allclose(merged.by_log_interaction, each.by_log_interaction, rtol=1e-7)


@pytest.mark.parametrize("penalize_constant", [False, True])
@pytest.mark.parametrize("alpha", [1e-8, 1e-4, 1.0])
def test_copies_of_very_different_weights(alpha, penalize_constant):
    """A share of one but for 1e-8 leaves the others their digits: refits of 60 digits judge."""
    basis = TensorBasis(1, n_terms=4, lam=0.5)
    penalties = mpmath.diag([alpha * penalize_constant, alpha, alpha, alpha])
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = np.tile(rng.uniform(-1, 1, size=(3, 1)), (2, 1)), rng.normal(size=6)
        weight = 10.0 ** rng.uniform(-4, 4, 6)
        path = RidgePath(
            basis, X, y, sample_weight=weight, penalize_constant=penalize_constant, method="svd"
        )
        found = path.leave_one_out([alpha])
        with mpmath.workdps(60):
            G, W = mpmath.matrix(basis.evaluate(X).tolist()), mpmath.diag(weight.tolist())
            expected = []
            for i in range(6):
                rest = W.copy()
                rest[i, i] = 0
                targets = G.T * rest * mpmath.matrix(y.tolist())
                fit = mpmath.lu_solve(G.T * rest * G + penalties, targets)
                expected.append(float((G[i, :] * fit)[0]))
        off = np.abs(found.predictions[0, :, 0] - expected).max()
        size = max(np.abs(expected).max(), np.abs(y).max())
        assert off <= 1e-13 * size
        assert off <= 2.0 * found.error[0] * size


@pytest.mark.parametrize("share", [[0.0, 1.0, 1.0], [1.0, 1.0, 1.1], [np.nan, 1.0, 1.0], [1.0]])
def test_shares_that_are_none(share):
    path = RidgePath(TensorBasis(1, degree=1), [[0.0], [0.5], [1.0]], [0.0, 1.0, 0.0])
    with pytest.raises(ValueError, match="left_out_share"):
        path.leave_one_out([1.0], left_out_share=share)


def passengers(n=1200, seed=0):
    """One-hot inputs of 12 kinds of samples, whose labels are noisy."""
    rng = np.random.default_rng(seed)
    level = rng.choice(3, size=n, p=[0.25, 0.2, 0.55])
    woman, child = rng.uniform(size=n) < 0.35, rng.uniform(size=n) < 0.08
    p = 0.2 + 0.5 * woman + 0.25 * child - 0.15 * (level == 2) + 0.1 * (level == 0)
    y = (rng.uniform(size=n) < np.clip(p, 0.02, 0.98)).astype(int)
    return OneHotEncoder(sparse_output=False).fit_transform(np.c_[level, woman, child]), y


def switches(n=500, seed=0, n_inputs=4, noise=0.2):
    """Binary inputs, of which the first two decide by an exclusive or, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_inputs)).astype(float)
    return X, (X[:, 0] != X[:, 1]).astype(int) ^ (rng.uniform(size=n) < noise)


def curves(n=200, seed=0):
    """Continuous inputs: no two samples are at the same x."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    p = 1 / (1 + np.exp(-4 * np.sin(3 * X[:, 0]) - 2 * X[:, 1]))
    return X, (rng.uniform(size=n) < p).astype(int)


class TestFewDistinctInputs:
    """As good as what counts every sample; the constant has 0.62, 0.50 and 0.50."""

    def test_one_hot_inputs(self):
        X, y = passengers()
        model = GegenbauerClassifierCV().fit(X[:800], y[:800])
        peer = LogisticRegression().fit(X[:800], y[:800])
        assert model.score(X[800:], y[800:]) > peer.score(X[800:], y[800:]) - 0.01
        losses = [log_loss(y[800:], m.predict_proba(X[800:])) for m in (model, peer)]
        assert losses[0] < losses[1] + 0.02

    def test_one_hot_inputs_in_regression(self):
        X, y = passengers()
        model = GegenbauerRegressorCV().fit(X[:800], y[:800].astype(float))
        peer = LinearRegression().fit(X[:800], y[:800])
        assert model.score(X[800:], y[800:]) > peer.score(X[800:], y[800:]) - 0.01

    @pytest.mark.parametrize("options", [{}, {"kernel_samples": 0, "n_terms": 40}])
    def test_four_binary_inputs(self, options):
        X, y = switches()
        model = GegenbauerClassifierCV(**options).fit(X, y)
        grid = np.unique(X, axis=0)
        right = np.where(grid[:, 0] != grid[:, 1], 0.8, 0.2)
        assert np.abs(model.predict_proba(grid)[:, 1] - right).mean() < 0.07

    def test_one_binary_input(self):
        rng = np.random.default_rng(0)
        x = rng.integers(0, 2, 300)
        y = (rng.uniform(size=300) < np.where(x, 0.85, 0.3)).astype(int)
        model = GegenbauerClassifierCV().fit(x[:, np.newaxis], y)
        shares = [y[x == value].mean() for value in (0, 1)]
        assert_allclose(model.predict_proba([[0], [1]])[:, 1], shares, atol=0.03)

    def test_ratings_in_regression(self):
        """Targets of five values at 9 inputs: near the means at each of them."""
        rng = np.random.default_rng(0)
        X = rng.integers(0, 3, (400, 2)).astype(float)
        y = np.clip(np.rint(2 + X[:, 0] - X[:, 1] + rng.normal(size=400)), 0, 4)
        model = GegenbauerRegressorCV().fit(X, y)
        grid = np.unique(X, axis=0)
        means = [y[(x == X).all(axis=1)].mean() for x in grid]
        assert np.abs(model.predict(grid) - means).mean() < 0.15
        # the noise of a rating, not that of a mean of many
        residuals = [y[(x == X).all(axis=1)] - mean for x, mean in zip(grid, means, strict=True)]
        assert model.noise_variance_[0] == pytest.approx(np.concatenate(residuals).var(), rel=0.1)

    def test_a_search_on_some_of_many_kinds(self):
        """Samples of one x are taken together: else labels would seem certain at each."""
        rng = np.random.default_rng(0)
        X = rng.integers(0, 5, (1500, 3)).astype(float)
        y = (rng.uniform(size=1500) < 1 / (1 + np.exp(2 - X[:, 0]))).astype(int)
        model = GegenbauerClassifierCV(search_samples=60).fit(X, y)
        assert 40 <= model.n_search_samples_ <= 80
        truth = 1 / (1 + np.exp(2 - np.arange(5.0)))
        found = model.predict_proba(np.column_stack([np.arange(5), *[np.full(5, 2)] * 2]))[:, 1]
        assert_allclose(found, truth, atol=0.08)


class TestWhatIsLeftOut:
    def test_one_sample_where_others_disagree(self):
        X, y = switches(200)
        model = GegenbauerClassifierCV(spectrum=(0.3, 2), alphas=[3.0]).fit(X, y)
        assert len(model.X_fit_) <= 32  # of 16 kinds and two labels
        T = np.where(y == 1, 1.0, -1.0)[:, np.newaxis]
        others = [(y[(x == X).all(axis=1)] != label).any() for x, label in zip(X, y, strict=True)]
        assert np.sum(others) > 100
        for i in np.flatnonzero(others)[::40]:
            keep = np.arange(200) != i
            fit = solve_kernel(model.kernel_, X[keep], T[keep], 3.0, scaling=model.scaling_)
            expected = predict_kernel(
                model.kernel_, X[i : i + 1], X[keep], fit.dual_coef, scaling=model.scaling_
            )
            assert model.loo_predictions_[i] == pytest.approx(expected[0, 0], abs=1e-9)

    def test_all_copies_where_none_disagrees(self):
        X, y = curves(40)
        model = GegenbauerClassifierCV(spectrum=(0.3, 2), alphas=[0.1])
        once = model.fit(X, y).loo_predictions_
        twice = model.set_params(alphas=[0.2]).fit(np.repeat(X, 2, 0), np.repeat(y, 2))
        assert_allclose(twice.loo_predictions_[::2], once, rtol=1e-9)

    def test_all_copies_of_a_target_of_its_own(self):
        """Measured twice at each x, and each sample copied: as without the copies."""
        rng = np.random.default_rng(0)
        X = np.repeat(rng.uniform(size=(25, 2)), 2, axis=0)
        y = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=50)
        once = GegenbauerRegressorCV(spectrum=(0.3, 2), alphas=[0.1]).fit(X, y)
        twice = GegenbauerRegressorCV(spectrum=(0.3, 2), alphas=[0.2])
        twice.fit(np.repeat(X, 2, 0), np.repeat(y, 2))
        assert_allclose(twice.loo_predictions_[::2], once.loo_predictions_, rtol=1e-9)

    def test_intervals_are_made_of_refits(self):
        """Jackknife+, each model without what was left out."""
        rng = np.random.default_rng(0)
        X = rng.integers(0, 3, (30, 2)).astype(float)
        y = np.rint(3 * X[:, 0] + rng.normal(size=30))
        model = GegenbauerRegressorCV(spectrum=(0.3, 2), alphas=[0.5]).fit(X, y)
        new, unit, center = np.array([[0.5, 1.5]]), y.std(), y.mean()
        low, high = [], []
        for i in range(30):
            x_same, y_same = (X[i] == X).all(axis=1), y == y[i]
            alone = (y_same | ~x_same).all() or not (y_same & ~x_same).any()
            keep = ~(x_same & y_same) if alone else np.arange(30) != i
            fit = solve_kernel(
                model.kernel_, X[keep], (y[keep, np.newaxis] - center) / unit, 0.5,
                scaling=model.scaling_, penalize_constant=False,
            )  # fmt: skip
            there, here = (
                unit * predict_kernel(
                    model.kernel_, at, X[keep], fit.dual_coef, intercept=fit.intercept,
                    scaling=model.scaling_,
                )[0, 0] + center
                for at in (X[i : i + 1], new)
            )  # fmt: skip
            assert model.loo_predictions_[i] == pytest.approx(there, abs=1e-9)
            low.append(here - abs(y[i] - there))
            high.append(here + abs(y[i] - there))
        lower, upper = model.predict_interval(new, 0.8)
        k = int(np.ceil(0.8 * 31)) - 1
        assert upper[0] == pytest.approx(np.sort(high)[k], abs=1e-8)
        assert lower[0] == pytest.approx(-np.sort(-np.array(low))[k], abs=1e-8)

    def test_intervals_of_saved_models(self, tmp_path):
        X, y = passengers(200)
        model = GegenbauerRegressorCV(spectrum=(0.3, 2)).fit(X, y.astype(float))
        assert model._left_out_share is not None
        save(model, tmp_path / "model.safetensors")
        again = load(tmp_path / "model.safetensors")
        for one, other in zip(
            model.predict_interval(X[:5]), again.predict_interval(X[:5]), strict=True
        ):
            assert np.array_equal(one, other)


class TestCopies:
    @pytest.mark.parametrize("kind", [GegenbauerClassifierCV, GegenbauerRegressorCV])
    @pytest.mark.parametrize("make", [switches, passengers, curves])
    def test_weights_are_repetition(self, kind, make):
        X, y = make(120)
        repeats = np.random.default_rng(1).integers(0, 4, 120)
        rows = np.random.default_rng(2).permutation(np.repeat(np.arange(120), repeats))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnderfittingWarning)
            by_weight = kind().fit(X, y, repeats)
            by_rows = kind().fit(X[rows], y[rows])
        assert by_weight.spectra_ == by_rows.spectra_
        assert by_weight.alpha_ == by_rows.alpha_
        method = "predict_proba" if kind is GegenbauerClassifierCV else "predict"
        assert_allclose(getattr(by_weight, method)(X), getattr(by_rows, method)(X), rtol=1e-7)
        assert_allclose(by_rows.loo_predictions_, by_weight.loo_predictions_[rows], rtol=1e-7)

    @pytest.mark.parametrize("kind", [GegenbauerClassifierCV, GegenbauerRegressorCV])
    @pytest.mark.parametrize("times", [2, 50])
    def test_a_table_all_of_whose_samples_are_repeated(self, kind, times):
        """They do not make the penalty vanish: it is relative to the weight of the samples."""
        X, y = curves(120)
        once = kind().fit(X, y)
        more = kind().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        assert 0.3 < more.alpha_ / (times * once.alpha_) < 3
        assert_allclose(more.loo_predictions_[::times], once.loo_predictions_, atol=0.1)

    def test_a_table_drawn_with_replacement(self):
        X, y = curves(900)
        drawn = np.random.default_rng(1).integers(0, 200, 200)
        chosen = np.unique(drawn)
        probabilities = [
            GegenbauerClassifierCV().fit(X[rows], y[rows]).predict_proba(X[200:])
            for rows in (drawn, chosen)
        ]
        losses = [log_loss(y[200:], p) for p in probabilities]
        assert losses[0] < losses[1] + 0.03

    def test_distinct_samples_are_left_out_whole(self):
        X, y = curves(60)
        for weight in (None, np.random.default_rng(0).uniform(0.2, 4, 60)):
            model = GegenbauerRegressorCV().fit(X, y.astype(float), weight)
            assert model._left_out_share is None


class TestSplits:
    @pytest.mark.parametrize(
        ("kind", "options"),
        [
            (GegenbauerClassifierCV, {}),
            (GegenbauerClassifierCV, {"spectrum": (0.5, 2), "n_terms": 20}),
            (GegenbauerClassifierCV, {"search_samples": 30}),
            (GegenbauerClassifierCV, {"spectrum": None, "n_terms": [5, 10]}),
            (GegenbauerRegressorCV, {"alphas": [0.1]}),
            (GegenbauerRegressorCV, {"n_terms": 20}),
            (GegenbauerRegressorCV, {"search_samples": 30}),
        ],
    )
    def test_weights_are_repetition(self, kind, options):
        X, y = curves(90)
        X[45:50], y[45:50] = X[:5], y[:5]  # some of which are in other parts
        repeats = np.random.default_rng(1).integers(0, 4, 90)
        rows = np.repeat(np.arange(90), repeats)
        folds = [*KFold(3).split(X)]
        spread = [
            (np.flatnonzero(np.isin(rows, a)), np.flatnonzero(np.isin(rows, b))) for a, b in folds
        ]
        by_weight = kind(cv=folds, **options).fit(X, y, repeats)
        by_rows = kind(cv=spread, **options).fit(X[rows], y[rows])
        assert by_weight.alpha_ == pytest.approx(by_rows.alpha_, rel=1e-9)
        assert by_weight.spectra_ == by_rows.spectra_
        assert_allclose(by_rows.loo_predictions_, by_weight.loo_predictions_[rows], rtol=1e-7)

    @pytest.mark.parametrize("kind", [GegenbauerClassifierCV, GegenbauerRegressorCV])
    def test_copies_in_other_parts_are_reported(self, kind):
        X, y = curves(80)
        twice = np.vstack([X, X]), np.append(y, y)
        with pytest.warns(RepeatedSamplesWarning, match="100% of the samples that `cv` holds out"):
            kind(cv=4).fit(*twice)
        kind(cv=GroupKFold(4)).fit(*twice, groups=np.tile(np.arange(80), 2))  # warnings are errors
        switched, label = switches(80)  # which are equal by chance
        kind(cv=4).fit(switched, label)

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    def test_a_row_that_comes_twice_in_a_part(self):
        X, y = curves(40)
        rng = np.random.default_rng(0)
        drawn = [(rng.integers(0, 30, 40), np.arange(30, 40)) for _ in range(2)]
        X = np.vstack([X, X[:2]])
        y = np.append(y, y[:2])  # equal, and in no part
        model = GegenbauerRegressorCV(spectrum=(0.3, 2), alphas=[0.1], cv=drawn).fit(X, y)
        fit = solve_kernel(
            model.kernel_, X[drawn[1][0]],
            ((y - y.mean()) / y.std())[drawn[1][0], np.newaxis], 0.1,
            scaling=model.scaling_, penalize_constant=False,
        )  # fmt: skip
        expected = predict_kernel(
            model.kernel_, X[30:40], X[drawn[1][0]], fit.dual_coef, intercept=fit.intercept,
            scaling=model.scaling_,
        )[:, 0]  # fmt: skip
        assert_allclose(model.loo_predictions_[30:40], expected * y.std() + y.mean(), rtol=1e-9)


def noise(kind, seed, n=100):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    return rng.normal(size=(n, 3)), (y > 0).astype(int) if kind is GegenbauerClassifierCV else y


@pytest.mark.parametrize("kind", [GegenbauerClassifierCV, GegenbauerRegressorCV])
class TestUnderfittingWarning:
    def test_noise(self, kind):
        """The best of all spectra and penalties may gain by chance: once in ten, not more."""
        warned = 0
        for seed in range(10):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                kind().fit(*noise(kind, seed))
            messages = [str(w.message) for w in caught if w.category is UnderfittingWarning]
            warned += any("no better than a constant" in message for message in messages)
        assert warned >= 9

    @pytest.mark.parametrize(
        "options",
        [
            {"cv": 3},
            {"kernel_samples": 0, "n_terms": 30},
            {"spectrum": None, "n_terms": 20},
            {"spectrum": (0.3, 2.0), "alphas": [1.0, 10.0]},
        ],
    )
    def test_noise_by_all_ways(self, kind, options):
        with pytest.warns(UnderfittingWarning):
            kind(**options).fit(*noise(kind, 0))

    def test_noise_and_a_scorer(self, kind):
        scoring = "accuracy" if kind is GegenbauerClassifierCV else "r2"
        X, y = noise(kind, 0)
        model = kind(spectrum=(2.0, 1.0), alphas=[1e-3], scoring=scoring)
        with pytest.warns(
            UnderfittingWarning, match=rf"one\) the score by `scoring='{scoring}'` is -?[\d.]+, and"
        ):
            model.fit(X, y)

    def test_the_measure_is_named(self, kind):
        measure = {
            GegenbauerClassifierCV: "the log-loss",
            GegenbauerRegressorCV: "the mean squared error, in units of the targets' variance,",
        }
        model = kind(spectrum=(2.0, 1.0), alphas=[1e-3])
        with pytest.warns(UnderfittingWarning) as caught:
            model.fit(*noise(kind, 0))
        (text,) = [str(one.message) for one in caught if one.category is UnderfittingWarning]
        assert f"one) {measure[kind]} is {-model.best_score_:.4g}, and" in text

    def test_a_function_that_scores_is_named(self, kind):
        def nearness(model, X, y):
            return -float(np.abs(model.predict(X) - y).mean())

        with pytest.warns(UnderfittingWarning, match=r"the score by `scoring='nearness'` is -"):
            kind(spectrum=(2.0, 1.0), alphas=[1e-3], scoring=nearness).fit(*noise(kind, 0))

    @pytest.mark.parametrize(
        "at", [0, *(pytest.param(at, marks=pytest.mark.slow) for at in (1, 2))]
    )
    def test_the_best_of_many_by_a_scorer(self, kind, at):
        """The gain over a constant must exceed what halves of the samples vary by."""
        names = {
            GegenbauerClassifierCV: ["roc_auc", "balanced_accuracy", "accuracy"],
            GegenbauerRegressorCV: ["r2", "neg_mean_absolute_error", "explained_variance"],
        }
        scoring, silent, warned = names[kind][at], 0, 0
        for seed in range(6):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
            for target in (y, X[:, 0] + 0.7 * y):
                if kind is GegenbauerClassifierCV:
                    target = (target > 0).astype(int)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    kind(scoring=scoring).fit(X, target)
                found = any(w.category is UnderfittingWarning for w in caught)
                if target is y or np.array_equal(target, y > 0):
                    warned += found
                else:
                    silent += not found
        assert warned >= 4
        assert silent >= 5

    def test_noise_of_few_kinds(self, kind):
        X, _ = switches(150)
        y = np.random.default_rng(0).integers(0, 2, 150)
        with pytest.warns(UnderfittingWarning):
            kind().fit(X, y)

    @pytest.mark.parametrize("cv", [None, 5])
    def test_few_kinds_and_a_scorer(self, kind, cv):
        """Sixteen kinds of 500 samples, of which halves of the samples hold alike."""
        rng = np.random.default_rng(2)
        X = rng.integers(0, 2, (500, 4)).astype(float)
        y = (rng.uniform(size=500) < np.where(X[:, 0] != X[:, 1], 0.8, 0.2)).astype(int)
        scorers = ["r2"] if kind is GegenbauerRegressorCV else ["accuracy", "f1"]
        for scoring in scorers:
            kind(scoring=scoring, cv=cv).fit(X, y)  # a warning is an error
        with pytest.warns(UnderfittingWarning):
            kind(scoring=scorers[0], cv=cv).fit(X, rng.permutation(y))

    @pytest.mark.parametrize("make", [passengers, switches, curves])
    def test_good_tables_are_silent(self, kind, make):
        X, y = make(300)
        kind().fit(X, y)


def test_a_penalty_that_runs_away_is_named():
    X, y = noise(GegenbauerRegressorCV, 4)
    with pytest.warns(UnderfittingWarning, match="The penalty ran away, to alpha = .*e"):
        GegenbauerRegressorCV().fit(X, y)


def test_scorers_that_need_predictions_that_differ():
    """Such a scorer has no verdict on a constant, and the fit goes on."""

    def correlation(model, X, y):
        predictions = model.predict(X)
        if np.ptp(predictions) == 0:
            raise ValueError("constant")
        return float(np.corrcoef(predictions, y)[0, 1])

    X, y = curves(40)
    GegenbauerRegressorCV(spectrum=(0.3, 2), scoring=correlation).fit(X, y)


def test_constant_targets_are_no_reason_to_warn():
    X, _ = curves(20)
    GegenbauerRegressorCV().fit(X, np.full(20, 3.0))


class TestCellsOfOneLabel:
    """Few values of the inputs, each of which has one label only: nothing but copies show it."""

    @staticmethod
    def tables():
        rng = np.random.default_rng(0)
        level, bits = rng.integers(0, 8, 400), rng.integers(0, 2, (200, 3))
        return {
            "one-hot": (np.eye(8)[level], np.isin(level, [0, 3, 5])),
            "one-hot, three classes": (np.eye(8)[level], np.arange(8)[level] % 3),
            "ordinal": (level[:, np.newaxis] % 4, level % 2),
            "and of three": (bits, bits.all(axis=1)),
            "itself": (np.c_[bits[:, 0], 1 - bits[:, 0]], bits[:, 0]),
        }

    @pytest.mark.parametrize("name", tables())
    @pytest.mark.parametrize("times", [1, 2])
    def test_classes(self, name, times):
        X, y = self.tables()[name]
        X, y = np.tile(X, (times, 1)), np.tile(y.astype(int), times)
        model = GegenbauerClassifierCV().fit(X, y)
        assert model.score(X, y) == 1.0
        assert log_loss(y, model.predict_proba(X)) < 0.03
        assert log_loss(y, model.loo_probabilities_) < 0.03

    def test_numbers(self):
        rng = np.random.default_rng(1)
        level, mean = rng.integers(0, 8, 300), rng.normal(size=8)
        model = GegenbauerRegressorCV().fit(np.eye(8)[level], mean[level])
        np.testing.assert_allclose(model.predict(np.eye(8)), mean, atol=1e-6)
        lower, upper = model.predict_interval(np.eye(8))
        assert (upper - lower).max() < 1e-6

    def test_a_table_twice_chooses_as_once(self):
        rng = np.random.default_rng(2)
        X = rng.integers(0, 3, (200, 3)).astype(float)
        y = np.where(rng.uniform(size=200) < 0.7, X.sum(axis=1) % 3, rng.integers(0, 3, 200))
        once = GegenbauerClassifierCV().fit(X, y)
        twice = GegenbauerClassifierCV().fit(np.tile(X, (2, 1)), np.tile(y, 2))
        assert twice.alpha_ == pytest.approx(2 * once.alpha_, rel=1e-6)
        np.testing.assert_allclose(twice.dual_coef_, once.dual_coef_, atol=1e-8)


def test_the_order_of_samples_does_not_matter_to_a_search_with_splits():
    rng = np.random.default_rng(0)
    X, y, part = rng.uniform(size=(90, 3)), rng.integers(0, 3, 90), np.arange(90) % 3
    order = rng.permutation(90)

    def fitted(rows):
        cv = [(np.flatnonzero(part[rows] != k), np.flatnonzero(part[rows] == k)) for k in range(3)]
        model = GegenbauerClassifierCV(search_samples=20, cv=cv)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnderfittingWarning)
            return model.fit(X[rows], y[rows]).predict_proba(X)

    np.testing.assert_allclose(fitted(order), fitted(np.arange(90)), atol=1e-8)


def test_a_clear_gain_is_compared_with_a_few_halves():
    """Of one within reach of chance all thirty are scored, and each with a constant."""
    X, y = noise(GegenbauerRegressorCV, 0)
    calls = {}
    for name, target in (("clear", np.sin(X[:, 0])), ("noise", y)):
        calls[name] = []

        def nearness(model, X, y, called=calls[name]):
            called.append(len(y))
            return -float(np.abs(model.predict(X) - y).mean())

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnderfittingWarning)
            GegenbauerRegressorCV(spectrum=(0.3, 2.0), alphas=[1e-3], scoring=nearness).fit(
                X, target
            )
    half = len(X) // 2
    assert calls["clear"].count(half) == 2 * 8
    assert calls["noise"].count(half) == 2 * 30
