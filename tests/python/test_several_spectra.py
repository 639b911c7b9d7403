"""The mean of models whose spectra were learned without a part of the samples each."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gegenbauer import GegenbauerRegressorCV, load, save, sobol_indices, solve_kernel
from gegenbauer.basis import SpectrumKernel
from gegenbauer.errors import UnderfittingWarning
from gegenbauer.estimators._samples import Samples, deal_samples
from gegenbauer.ridge import KernelExpansion, MeanExpansion, predict_kernel
from gegenbauer.selection import learn_spectrum

# The benchmarks are no part of the installed package.
sys.path.append(str(Path(__file__).parents[2]))

from bench.intervals import PROBLEMS, draw, judge

ONE, FIVE = {"intervals": "one_spectrum"}, {"intervals": "five_spectra"}


def table(n=30, m=3, n_outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 3, (n, m))
    Y = np.column_stack([np.sin((k + 1) * X[:, 0]) + X[:, 1] for k in range(n_outputs)])
    Y += 0.2 * rng.normal(size=Y.shape)
    return X, Y[:, 0] if n_outputs == 1 else Y


def standardised(Y, weights):
    Y = Y.reshape(len(Y), -1)
    mean = np.average(Y, axis=0, weights=weights)
    unit = np.sqrt(np.average((Y - mean) ** 2, axis=0, weights=weights))
    return (Y - mean) / unit, mean, unit


def in_order_of(model, X):
    """Return the part of each sample, in the order in which they came."""
    function = model.expansion_
    places = [int(np.flatnonzero((function.centres == x).all(axis=1))[0]) for x in X]
    return function.left_out_by[places]


class Refits:
    """Everything by refits without one sample, of the spectra and penalties that were chosen."""

    def __init__(self, model, X, Y, weights, Z, *, free=True):
        T, mean, unit = standardised(Y, weights)
        n, self.part = len(X), in_order_of(model, X)
        alphas = [part.posterior.alpha for part in model.expansion_.parts]

        def fit(k, keep, at):
            kernel = SpectrumKernel(X.shape[1], model.spectra_[k])
            found = solve_kernel(
                kernel, X[keep], T[keep], alphas[k], scaling=model.scaling_,
                penalize_constant=not free,
                sample_weight=None if weights is None else weights[keep],
            )  # fmt: skip
            raw = predict_kernel(
                kernel, at, X[keep], found.dual_coef, intercept=found.intercept,
                scaling=model.scaling_,
            )  # fmt: skip
            return raw * unit + mean

        whole = np.arange(n)
        self.whole = np.array([fit(k, whole, Z) for k in range(len(alphas))])
        self.fitted = np.array([fit(k, whole, X) for k in range(len(alphas))])
        self.left_out, self.without = np.empty(T.shape), np.empty((n, len(Z), T.shape[1]))
        for i in range(n):
            found = fit(self.part[i], np.delete(whole, i), np.vstack([X[i : i + 1], Z]))
            self.left_out[i], self.without[i] = found[0], found[1:]


class TestByDefinition:
    @pytest.mark.parametrize("n_outputs", [1, 2])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_predictions_and_intervals(self, n_outputs, weighted):
        """From models that are fitted without a sample, one by one."""
        X, Y = table(26, 2, n_outputs)
        weights = np.random.default_rng(1).uniform(0.5, 2, 26) if weighted else None
        model = GegenbauerRegressorCV().fit(X, Y, weights)
        assert len(model.spectra_) == 5
        Z = X[:4] + 0.1
        refits = Refits(model, X, Y, weights, Z)
        shape = (-1, *Y.shape[1:])
        assert_allclose(model.predict(Z), refits.whole.mean(axis=0).reshape(shape), atol=1e-7)
        assert_allclose(model.loo_predictions_, refits.left_out.reshape(shape), atol=1e-6)
        T, mean, unit = standardised(Y, weights)
        errors = ((T - (refits.left_out - mean) / unit) ** 2).mean(axis=1)
        assert_allclose(model.best_score_, -np.average(errors, weights=weights), rtol=1e-6)

        sizes = np.ones(26) if weights is None else weights
        size = np.abs(Y.reshape(26, -1) - refits.left_out)[:, np.newaxis]

        def smallest_that_holds(values, coverage):
            order = np.argsort(values)
            held = np.cumsum(sizes[order]) >= coverage * (sizes.sum() + 1)
            return values[order][np.argmax(held)]

        high, low = (
            np.apply_along_axis(smallest_that_holds, 0, size + way * refits.without, 0.8)
            for way in (1, -1)
        )
        lower, upper = model.predict_interval(Z, 0.8)
        assert_allclose(upper, high.reshape(shape), atol=1e-6)
        assert_allclose(lower, -low.reshape(shape), atol=1e-6)

    @pytest.mark.parametrize("penalize_constant", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_standard_deviations(self, penalize_constant, weighted):
        """The mean of the variances of five models, by features, and the variance of their means.

        The noise is judged by the residual of each sample, and the leverage, of the model that has
        not seen it, in units of what each model itself takes for noise.
        """
        X, y = table(40, 2)
        weights = np.random.default_rng(1).uniform(0.5, 2, 40) if weighted else None
        options = {"penalize_constant": penalize_constant, **FIVE}
        model = GegenbauerRegressorCV(**options).fit(X, y, weights)
        Z, D = X[:6] + 0.05, np.ones(40) if weights is None else weights
        refits = Refits(model, X, y, weights, Z, free=not penalize_constant)
        squares, left, h = np.empty((5, 40)), np.empty((5, 40)), np.empty((5, 6))
        for k, part in enumerate(model.expansion_.parts):
            K = SpectrumKernel(2, model.spectra_[k])(np.vstack([X, Z]), scaling=model.scaling_)
            values, vectors = np.linalg.eigh(K - 1)
            G = np.column_stack([np.ones(46), vectors * np.sqrt(values.clip(0))])
            penalty = part.posterior.alpha * np.eye(47)
            if not penalize_constant:
                penalty[0, 0] = 0
            inverse = np.linalg.inv(penalty + G[:40].T @ (D[:, np.newaxis] * G[:40]))
            left[k] = 1 - D * np.einsum("ij,jk,ik->i", G[:40], inverse, G[:40])
            h[k] = np.einsum("ij,jk,ik->i", G[40:], inverse, G[40:])
            squares[k] = D * (y - refits.fitted[k, :, 0]) ** 2
        noise = squares.sum(axis=1) / left.sum(axis=1)
        noise /= noise.mean()
        own = refits.part, np.arange(40)
        freedom = left[own].sum() + D.sum() - 40
        variance = (squares[own] / noise[refits.part]).sum() / freedom
        assert_allclose(model.effective_dof_, 40 - left[own].sum(), rtol=1e-5)
        assert_allclose(model.noise_variance_, variance, rtol=1e-4)
        expected = variance * (noise @ (1 + h)) / 5 + refits.whole[:, :, 0].var(axis=0)
        assert_allclose(model.predict(Z, return_std=True)[1], np.sqrt(expected), rtol=1e-4)

    def test_no_spectrum_has_seen_its_part(self):
        X, y = table(40)
        model = GegenbauerRegressorCV().fit(X, y)
        part = in_order_of(model, X)
        T = standardised(y, None)[0]
        order = np.lexsort((T[:, 0], *X.T[::-1]))  # in which they are learned, to the last digit
        for k, spectrum in enumerate(model.spectra_):
            rest = order[part[order] != k]
            kernel, _ = learn_spectrum(
                X[rest], T[rest], scaling=model.scaling_, penalize_constant=False
            )
            assert_allclose(spectrum.interactions(3), kernel.spectrum.interactions(3), rtol=1e-6)
        mean = np.mean([each.interactions(3).sum(axis=1) for each in model.spectra_], axis=0)
        assert_allclose(model.relevances_, mean)


class TestParts:
    def deal(self, X, y, n_parts=5):
        return deal_samples(Samples(X, y[:, np.newaxis], None, np.arange(len(X))), n_parts)

    @pytest.mark.parametrize("n", [5, 7, 50, 299])
    def test_equal_sizes_over_the_range(self, n):
        X, y = table(n)
        part = self.deal(X, y)
        sizes = np.bincount(part)
        assert sizes.size == 5
        assert np.ptp(sizes) <= 1
        if n > 200:
            means = [y[part == k].mean() for k in range(5)]
            assert np.ptp(means) < 0.25 * y.std()

    def test_the_order_does_not_matter(self):
        X, y = table(60)
        order = np.random.default_rng(1).permutation(60)
        assert_array_equal(self.deal(X, y)[order], self.deal(X[order], y[order]))

    @pytest.mark.parametrize("n_levels", [2, 3, 5, 8, 10])
    def test_levels_of_a_design_are_in_all_parts(self, n_levels):
        """A fold of every fifth sample would be one level of a design of five."""
        levels = np.arange(float(n_levels))
        X = np.stack(np.meshgrid(levels, levels, np.arange(5.0)), axis=-1).reshape(-1, 3)
        for y in (np.zeros(len(X)), X[:, 0], X[:, 0] + 10 * X[:, 1]):
            part = self.deal(X, y)
            for k, t in np.ndindex(5, 3):
                count = np.bincount(X[part != k, t].astype(int), minlength=n_levels)
                assert count[: len(np.unique(X[:, t]))].min() > 0

    def test_repeats_are_weights(self):
        X, y = table(40)
        repeats = np.random.default_rng(0).integers(0, 4, 40)
        rows = np.random.default_rng(1).permutation(np.repeat(np.arange(40), repeats))
        one = GegenbauerRegressorCV().fit(X, y, repeats)
        other = GegenbauerRegressorCV().fit(X[rows], y[rows])
        assert one.spectra_ == other.spectra_
        assert_array_equal(one.expansion_.left_out_by, other.expansion_.left_out_by)
        for a, b in zip(
            [*one.predict(X, return_std=True), *one.predict_interval(X)],
            [*other.predict(X, return_std=True), *other.predict_interval(X)], strict=True,
        ):  # fmt: skip
            assert_allclose(a, b, rtol=1e-6)


class TestChoice:
    def test_by_the_number_of_samples(self):
        X, y = table(301, 2)
        settings = {"search_samples": 30}
        assert len(GegenbauerRegressorCV(**settings).fit(X[:300], y[:300]).spectra_) == 5
        many = GegenbauerRegressorCV(**settings).fit(X, y)
        assert len(many.spectra_) == 1
        assert many.spectrum_ == many.spectra_[0]
        wanted = GegenbauerRegressorCV(**settings, **FIVE).fit(X, y)
        assert len(wanted.spectra_) == 5
        assert wanted.n_search_samples_ <= 5 * 31

    @pytest.mark.parametrize(
        "options",
        [ONE, {"n_terms": 12}, {"cv": 3}, {"spectrum": (0.5, 2.0)}, {"kernel_samples": 20},
         {"spectrum": (0.5, 2.0), **FIVE}],
        ids=str,
    )  # fmt: skip
    def test_one_spectrum(self, options, monkeypatch):
        monkeypatch.setattr("gegenbauer.estimators._search.default_landmarks", lambda _: 8)
        X, y = table(30)
        model = GegenbauerRegressorCV(**options).fit(X, y)
        assert len(model.spectra_) == 1
        assert not isinstance(model.expansion_, MeanExpansion)

    def test_a_scorer_judges_what_was_left_out(self):
        X, y = table(30)
        model = GegenbauerRegressorCV(scoring="neg_mean_absolute_error").fit(X, y)
        assert len(model.spectra_) == 5
        assert_allclose(model.best_score_, -np.abs(model.loo_predictions_ - y).mean(), rtol=1e-6)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_terms": 12}, "is of models of all terms; got `n_terms=12`: leave `n_terms` out"),
            ({"cv": 3}, "leaves out one sample at a time; got `cv=3`: leave `cv` out"),
            ({"spectrum": None}, "the paper's basis has none; got `spectrum=None`: leave `spe"),
            ({"kernel_samples": 20}, "the 30 samples are more than `kernel_samples=20` allows"),
        ],
    )
    def test_what_does_not_go_together(self, options, message):
        X, y = table(30)
        with pytest.raises(ValueError, match=f"`intervals='five_spectra'` .*{message}"):
            GegenbauerRegressorCV(**options, **FIVE).fit(X, y)

    def test_values_of_the_parameter(self):
        with pytest.raises(ValueError, match=r"'intervals' parameter .* must be a str among"):
            GegenbauerRegressorCV(intervals="exact").fit(*table(10))

    @pytest.mark.parametrize("name", ["spectrum_", "kernel_", "dual_coef_", "intercept_"])
    def test_what_each_model_has_by_itself(self, name):
        model = GegenbauerRegressorCV().fit(*table(20))
        message = f"no {name}: it is the mean of 5 models: see .*`intervals='one_spectrum'`"
        with pytest.raises(AttributeError, match=message):
            getattr(model, name)
        assert not hasattr(model, name)
        assert model.X_fit_.shape == (20, 3)
        assert model.alpha_ == np.median([p.posterior.alpha for p in model.expansion_.parts])

    def test_what_chance_may_give(self):
        """No spectrum has seen what it is judged by: chance is in the choice of alpha alone."""
        rng = np.random.default_rng(0)
        X, noise = rng.uniform(size=(40, 3)), rng.normal(size=40)
        with pytest.warns(UnderfittingWarning):
            GegenbauerRegressorCV().fit(X, noise)
        weak = GegenbauerRegressorCV().fit(X, 1.7 * X[:, 0] + noise)
        assert -1.0 + 12 / 40 > weak.best_score_ > -1.0 + 4 / 40

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    @pytest.mark.parametrize("n", [2, 3, 4, 6])
    def test_very_few_samples(self, n):
        X, y = table(n)
        model = GegenbauerRegressorCV().fit(X, y)
        assert len(model.spectra_) == min(n, 5)
        mean, std = model.predict(X, return_std=True)
        assert np.isfinite(mean).all()
        assert np.isfinite(std).all() == (n > 2)  # two leave less than a degree of freedom

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    def test_a_target_that_only_one_sample_has(self):
        """Without it, the others learn from a constant."""
        X, y = table(20)[0], np.zeros(20)
        y[3] = 1.0
        model = GegenbauerRegressorCV().fit(X, y)
        assert np.isfinite(model.predict(X, return_std=True)).all()


@pytest.fixture(scope="module")
def model():
    X, Y = table(30, 3, 2)
    return GegenbauerRegressorCV().fit(X, Y, np.random.default_rng(1).uniform(0.5, 2, 30))


class TestExpansion:
    Z = np.random.default_rng(5).uniform(-1.5, 2.5, size=(7, 3))

    def test_gradient(self, model):
        step = 1e-5
        found = model.expansion_.gradient(self.Z)
        for t in range(3):
            ends = [model.expansion_.evaluate(self.Z + s * step * np.eye(3)[t]) for s in (1, -1)]
            assert_allclose(found[:, t], (ends[0] - ends[1]) / (2 * step), atol=1e-6)

    def test_arrays(self, model):
        function = model.expansion_
        kernels = [part.kernel for part in function.parts]
        again = MeanExpansion.from_arrays(
            function.to_arrays(), kernels, function.scaling, free_constant=True
        )
        assert_array_equal(again.evaluate(self.Z), function.evaluate(self.Z))
        assert_array_equal(again.variance(self.Z), function.variance(self.Z))
        arrays = {k: v for k, v in function.to_arrays().items() if k != "left_out_by"}
        with pytest.raises(ValueError, match="arrays must hold 'left_out_by'"):
            MeanExpansion.from_arrays(arrays, kernels, function.scaling, free_constant=True)

    def test_huge_values_have_a_mean_and_a_deviation(self, model):
        small = model.expansion_.with_units(np.ones(2), np.zeros(2))
        unit = 2.0**996  # some 1e300, by which nothing is rounded
        function = small.with_units(np.full(2, unit), np.zeros(2))
        assert_allclose(function.evaluate(self.Z), unit * small.evaluate(self.Z), rtol=1e-9)
        assert_allclose(function.disagreement(self.Z), unit * small.disagreement(self.Z), rtol=1e-9)

    def test_a_mean_of_one_is_that_one(self):
        X, y = table(30)
        model = GegenbauerRegressorCV(**ONE).fit(X, y)
        part = model.expansion_
        assert isinstance(part, KernelExpansion)
        mean = MeanExpansion((part, part), np.arange(30) % 2, np.ones(2))
        residuals = model._left_out_residuals
        for name, arguments in [
            ("evaluate", (self.Z,)), ("gradient", (self.Z,)), ("variance", (self.Z,)),
            ("without_each", (self.Z, residuals)), ("prior_increments", (0.2 * self.Z,)),
            ("prior_spread", (X, np.full(30, 1 / 30))),
        ]:  # fmt: skip
            assert_allclose(getattr(mean, name)(*arguments), getattr(part, name)(*arguments))
        assert_array_equal(mean.disagreement(self.Z), 0)

    @pytest.mark.parametrize("m", [1, 3])
    def test_sobol_indices_are_those_of_the_mean(self, m):
        X, y = table(40)
        X, y = X[:, :m], y + X[:, 0] * (m == 1)
        model = GegenbauerRegressorCV().fit(X, y)
        found = sobol_indices(model)
        box = model.scaling_
        half = 0.5 * (box.upper - box.lower) / 1.02
        draws = np.random.default_rng(0).uniform(-1, 1, size=(2, 40_000, m))
        A, B = 0.5 * (box.upper + box.lower) + half * draws
        at_a = model.predict(A)
        assert_allclose(found.mean, at_a.mean(), atol=4 * at_a.std() / 200)
        assert_allclose(found.variance, at_a.var(), rtol=0.03)
        for t in range(m):
            mixed = A.copy()
            mixed[:, t] = B[:, t]
            total = 0.5 * np.mean((at_a - model.predict(mixed)) ** 2) / at_a.var()
            assert_allclose(found.total[0, t], total, atol=0.03)

    def test_categories_and_missing_numbers(self):
        """All five have the levels of all samples, and what is unknown is the mean."""
        rng = np.random.default_rng(0)
        colour = rng.choice(["blue", "red", "rare"], p=[0.5, 0.45, 0.05], size=60)
        x, z = rng.uniform(size=(2, 60))
        X = pd.DataFrame({"colour": colour, "x": np.where(z < 0.1, np.nan, x), "z": z})
        y = np.where(colour == "red", 1.0, 0.0) + x + 0.1 * rng.normal(size=60)
        model = GegenbauerRegressorCV(out_of_range="clip").fit(X, y)
        assert len({each.levels for each in model.spectra_}) == 1
        new = X.assign(colour="violet")
        known, unknown = (model.predict(Z, return_std=True) for Z in (X, new))
        levels = [model.predict(X.assign(colour=c)) for c in ("blue", "red", "rare")]
        shares = [np.mean(colour == c) for c in ("blue", "red", "rare")]
        assert_allclose(unknown[0], np.average(levels, axis=0, weights=shares), atol=1e-7)
        assert (unknown[1] > known[1] + 0.1).all()
        total = sobol_indices(model).total[0]
        assert total[0] > 0.5 > total[1] > 0.05 > total[2]

    def test_copies(self, model, tmp_path):
        save(model, tmp_path / "model")
        X = np.vstack([self.Z, 9 + self.Z])
        for again in (load(tmp_path / "model"), copy.deepcopy(model),
                      pickle.loads(pickle.dumps(model))):  # fmt: skip
            assert again.spectra_ == model.spectra_
            for one, other in zip(
                [*again.predict(X, return_std=True), *again.predict_interval(X, 0.8)],
                [*model.predict(X, return_std=True), *model.predict_interval(X, 0.8)], strict=True,
            ):  # fmt: skip
                assert_array_equal(one, other)


def share_inside(intervals, n_repeats):
    """Return the mean coverage of 90 per cent with 50 samples of ten inputs."""
    measured = [
        judge(draw(PROBLEMS["Friedman-1"], 50, seed), intervals)
        for seed in range(n_repeats)
    ]  # fmt: skip
    return [float(np.mean([getattr(m, name) for m in measured])) for name in ("inside", "within")]


@pytest.mark.slow
def test_coverage():
    """Of intervals, and of normal ones by the standard deviation."""
    for share in share_inside("auto", 3):
        assert 0.85 < share < 0.95
    for share in share_inside("one_spectrum", 3):
        assert share < 0.8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")  # some are hard
@pytest.mark.parametrize(("n", "n_seeds"), [(50, 8), (100, 8), (300, 3)])
def test_coverage_of_all_problems(n, n_seeds):
    inside, within = [], []
    for problem in PROBLEMS.values():
        measured = [judge(draw(problem, n, seed), "auto") for seed in range(n_seeds)]
        inside.append(np.mean([m.inside for m in measured]))
        within.append(np.mean([m.within for m in measured]))
    assert 0.88 < np.mean(inside) < 0.94
    assert 0.88 < np.mean(within) < 0.94
    assert min(inside) > 0.84
