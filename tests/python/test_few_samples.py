"""One sample, two samples, and inputs or targets that are constant: what comes of them."""

from __future__ import annotations

import warnings

import dask.array as da
import numpy as np
import pytest

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    InputScaling,
    MomentStatistics,
    TensorBasis,
    solve_kernel,
    solve_ridge,
)
from gegenbauer import dask as on_dask
from gegenbauer.basis import SpectrumKernel
from gegenbauer.errors import PenalizedConstantWarning, UnderfittingWarning

ENGINES = ["auto", "primal", "moments", "dual", "kernel"]
SETTINGS = {"degree": 3, "n_terms": None, "alpha": 0.25}
ANYWHERE = np.array([[0.3, 2.0], [-4.0, 900.0]])
ONE = np.array([[0.3, 2.0]])
TWO = np.array([[0.3, 2.0], [0.5, 3.0]])
STREAMS = {
    "fit": lambda model, X, y: model.fit(X, y),
    "partial_fit": lambda model, X, y: model.partial_fit(X, y),
    "fit_stream": lambda model, X, y: model.fit_stream(
        [(X[i : i + 1], y[i : i + 1]) for i in range(len(X))]
    ),
}


def features(Z):
    """Terms of the settings at points of the domain, from the recurrence in NumPy."""
    lam, degree = 0.05, 3
    C = [np.ones_like(Z), 2 * lam * Z]
    for n in range(2, degree + 1):
        C.append((2 * (n + lam - 1) * Z * C[-1] - (n + 2 * lam - 2) * C[-2]) / n)
    return np.column_stack(
        [C[i][:, 0] * C[j][:, 1] for i in range(degree + 1) for j in range(degree + 1 - i)]
    )


def ridge(Z, y, Z_new, alpha=SETTINGS["alpha"]):
    G = features(np.asarray(Z))
    weights = np.linalg.solve(G.T @ G + alpha * np.eye(G.shape[1]), G.T @ y)
    return features(np.asarray(Z_new)) @ weights


# --- One sample -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", STREAMS)
@pytest.mark.parametrize("n", [1, 12])
def test_samples_at_one_point_give_their_shrunk_mean(way, n):
    """Every input is constant and mapped to 0: what is left is the ridge fit at that point."""
    X, y = np.repeat(ONE, n, axis=0), 5.0 + np.arange(n)
    model = STREAMS[way](GegenbauerRegressor(**SETTINGS), X, y)
    assert model.scaling_.is_constant.all()
    expected = ridge(np.zeros((n, 2)), y, np.zeros((2, 2)))
    np.testing.assert_allclose(model.predict(ANYWHERE), expected, rtol=1e-12)
    k = float((features(np.zeros((1, 2))) ** 2).sum())
    np.testing.assert_allclose(expected, y.sum() * k / (n * k + SETTINGS["alpha"]), rtol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("alpha", [0.0, 0.25])
def test_one_sample_by_every_engine(engine, alpha):
    basis, box = TensorBasis(2, degree=3), InputScaling.fit(ONE)
    solution = solve_ridge(basis, ONE, [5.0], alpha, scaling=box, engine=engine)
    k = float((features(np.zeros((1, 2))) ** 2).sum())
    value = float(basis.evaluate(ONE, scaling=box)[0] @ solution.weights[:, 0])
    assert value == pytest.approx(5.0 * k / (k + alpha), rel=1e-13)
    assert solution.rank == 1 or alpha > 0


def test_one_sample_by_a_kernel():
    kernel = SpectrumKernel(2, (0.5, 2.0))
    solution = solve_kernel(kernel, [[0.3, -0.2]], [5.0], 0.25)
    k = float(kernel([[0.3, -0.2]])[0, 0])
    assert solution.dual_coef[0, 0] == pytest.approx(5.0 / (k + 0.25), rel=1e-14)


@pytest.mark.parametrize("cls", [GegenbauerRegressorCV, GegenbauerClassifierCV])
@pytest.mark.parametrize("settings", [{}, {"spectrum": None}, {"n_terms": 10}])
def test_one_sample_leaves_nothing_to_choose_from(cls, settings):
    with pytest.raises(ValueError, match=r"needs at least two (rows|samples|classes)"):
        cls(**settings).fit(ONE, [1])
    # a sample of weight zero counts as removed
    with pytest.raises(ValueError, match=r"needs at least two (rows|samples|classes)"):
        cls(**settings).fit(TWO, [1, 0], sample_weight=[1, 0])


def test_samples_that_are_all_the_same_leave_nothing_to_choose_from():
    with pytest.raises(ValueError, match=r"needs at least two different samples.* all 7 are"):
        GegenbauerRegressorCV().fit(np.repeat(ONE, 7, axis=0), np.full(7, 5.0))


@pytest.mark.parametrize("cls", [GegenbauerClassifier, GegenbauerClassifierCV])
@pytest.mark.parametrize("X", [ONE, TWO])
def test_one_class(cls, X):
    with pytest.raises(ValueError, match="needs at least two classes"):
        cls().fit(X, ["a"] * len(X))


def test_one_class_of_a_stream():
    model = GegenbauerClassifier(**SETTINGS).partial_fit(ONE, ["a"], classes=["a", "b"])
    assert model.predict(ANYWHERE).tolist() == ["a", "a"]  # b was announced and never came
    alone = GegenbauerClassifier(**SETTINGS).fit_stream([(ONE, ["a"])])
    with pytest.raises(ValueError, match="needs at least two classes"):
        alone.predict(ONE)


def test_features_of_one_sample():
    found = GegenbauerFeatures(degree=3).fit_transform(ONE)
    np.testing.assert_allclose(
        np.sort(found[0]), np.sort(features(np.zeros((1, 2)))[0]), atol=1e-15
    )


# --- Two samples ----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", STREAMS)
def test_two_samples(way):
    """They are the corners of the box."""
    model = STREAMS[way](GegenbauerRegressor(**SETTINGS), TWO, np.array([5.0, -1.0]))
    expected = ridge([[0, 0], [1, 1]], np.array([5.0, -1.0]), [[0, 0], [1, 1], [0.5, 0.5]])
    found = model.predict([[0.3, 2.0], [0.5, 3.0], [0.4, 2.5]])
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_two_samples_of_two_classes():
    model = GegenbauerClassifier(**SETTINGS).fit(TWO, ["a", "b"])
    assert model.predict(TWO).tolist() == ["a", "b"]
    expected = ridge([[0, 0], [1, 1]], np.array([-1.0, 1.0]), [[0, 0], [1, 1]])
    np.testing.assert_allclose(model.decision_function(TWO), expected, rtol=1e-10)


def test_model_selection_on_two_samples():
    """It is done, and what cannot be known of two samples is infinite rather than made up."""
    with pytest.warns(UnderfittingWarning):
        model = GegenbauerRegressorCV().fit(TWO, [5.0, -1.0])
    mean, std = model.predict(TWO, return_std=True)
    assert np.isfinite(mean).all()
    assert (std == np.inf).all()
    lower, upper = model.predict_interval(TWO, coverage=0.9)  # two residuals have no 90 per cent
    assert (lower == -np.inf).all()
    assert (upper == np.inf).all()
    with pytest.warns(UnderfittingWarning):
        classes = GegenbauerClassifierCV().fit(TWO, ["a", "b"])
    proba = classes.predict_proba(TWO)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-14)
    assert np.isfinite(classes.decision_function(TWO)).all()


# --- Constant inputs and targets ------------------------------------------------------------------

LINE = np.linspace(0.0, 1.0, 12)
WITH_CONSTANT = np.column_stack([LINE, np.full(12, 7.0)])
ESTIMATORS = {
    "GegenbauerRegressor": lambda **s: GegenbauerRegressor(**SETTINGS, **s),
    "GegenbauerClassifier": lambda **s: GegenbauerClassifier(**SETTINGS, **s),
    "GegenbauerRegressorCV": GegenbauerRegressorCV,
    "GegenbauerClassifierCV": GegenbauerClassifierCV,
    "GegenbauerRegressorCV of the paper": lambda **s: GegenbauerRegressorCV(
        spectrum=None, n_terms=10, **s
    ),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("policy", ["clip", "error"])
def test_constant_input_is_ignored(name, policy):
    """Whatever comes in it later: nothing was learned about it."""
    model = ESTIMATORS[name](out_of_range=policy).fit(WITH_CONSTANT, LINE > 0.45)
    later = np.column_stack([LINE, np.linspace(-1e6, 1e6, 12)])
    np.testing.assert_array_equal(model.predict(later), model.predict(WITH_CONSTANT))
    assert model.count_out_of_range(later) == 0
    assert model.scaling_.is_constant.tolist() == [False, True]


@pytest.mark.parametrize("value", [7.0, 0.0, -1e300, 5e-324, np.float32(0.1), True])
def test_constant_of_any_size(value):
    X = np.column_stack([LINE, np.full(12, value)]).astype(float)
    expected = GegenbauerRegressor(**SETTINGS).fit(WITH_CONSTANT, LINE).predict(WITH_CONSTANT)
    found = GegenbauerRegressor(**SETTINGS).fit(X, LINE).predict(X)
    np.testing.assert_array_equal(found, expected)


def test_all_inputs_constant():
    """The targets' mean is all there is to learn, and classes are what most samples are."""
    X, y = np.full((12, 2), 7.0), np.arange(12.0)
    for settings in ({}, {"spectrum": None}, {"n_terms": 10}):
        with pytest.warns(UnderfittingWarning):
            model = GegenbauerRegressorCV(**settings).fit(X, y)
        # what a constant penalised kernel adds to a free constant is rounding of it by the penalty
        rounding = np.finfo(float).eps * len(X) / model.alpha_
        np.testing.assert_allclose(model.predict(ANYWHERE), 5.5, rtol=1e-12 + rounding)
    labels = np.array(["b"] * 9 + ["a"] * 3)
    assert GegenbauerClassifier(**SETTINGS).fit(X, labels).predict(ANYWHERE).tolist() == ["b", "b"]


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if "Regressor" in n])
@pytest.mark.parametrize("value", [5.0, 0.0, -1e9])
def test_constant_targets(name, value):
    X = np.random.default_rng(0).uniform(size=(12, 2))
    penalized = name == "GegenbauerRegressor"  # its constant, as in the paper
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ESTIMATORS[name]().fit(X, np.full(12, value))
    kinds = [w.category for w in caught]
    assert kinds == ([PenalizedConstantWarning] if penalized and value else [])
    found = model.predict(X)
    if penalized:
        box = InputScaling.fit(X)
        np.testing.assert_allclose(
            found, ridge(box.transform(X), np.full(12, value), box.transform(X)), rtol=1e-9
        )
    else:
        np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-12)


def test_partitions_of_one_sample():
    X, y = WITH_CONSTANT, LINE**2
    here = GegenbauerRegressor(**SETTINGS).fit(X, y)
    there = on_dask.GegenbauerRegressor(**SETTINGS).fit(
        da.from_array(X, chunks=(1, 2)), da.from_array(y, chunks=1)
    )
    np.testing.assert_allclose(there.to_local().predict(X), here.predict(X), rtol=1e-9)
    one = on_dask.GegenbauerRegressor(**SETTINGS).fit(da.from_array(ONE), da.from_array([5.0]))
    expected = GegenbauerRegressor(**SETTINGS).fit(ONE, [5.0]).predict(ANYWHERE)
    np.testing.assert_allclose(one.to_local().predict(ANYWHERE), expected, rtol=1e-12)


def test_sums_of_one_sample():
    statistics = MomentStatistics.from_data(TensorBasis(1, degree=2), [[0.5]], [2.0])
    assert statistics.n_samples == 1
    k = float((TensorBasis(1, degree=2).evaluate([[0.5]]) ** 2).sum())
    found = TensorBasis(1, degree=2).evaluate([[0.5]]) @ statistics.solve(1.0).weights
    assert found[0, 0] == pytest.approx(2.0 * k / (k + 1.0), rel=1e-12)


# --- What few samples do not show -----------------------------------------------------------------


@pytest.mark.parametrize("n_spectra", [1, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_features", [1, 3])
def test_no_probability_of_few_samples_is_sure(n_spectra, n_features):
    """Of two samples none is above Platt's 2/3, of more none above those of samples left out.

    Whatever they are, and wherever: the outputs at two samples are a million times those at the
    same samples left out, whose calibration they were given.
    """
    rng = np.random.default_rng(0)
    anywhere = rng.uniform(-3, 3, size=(200, n_features))
    for n in (1, 2, 3):
        for _ in range(5):
            X = rng.uniform(-1, 1, size=(2 * n, n_features))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = GegenbauerClassifierCV(n_spectra=n_spectra).fit(X, [0] * n + [1] * n)
                P = model.predict_proba(np.vstack([X, anywhere]))
            most = 2 / 3
            if n > 1:  # of either class at the furthest of all samples left out
                (make,), reach = model.probability_maps_, np.abs(model.loo_predictions_).max()
                most = make(np.array([[-reach], [reach]])).max()
            assert P.max() < most + 1e-5


@pytest.mark.parametrize(
    "intervals", [pytest.param("auto", marks=pytest.mark.slow), "one_spectrum"]
)
def test_noise_that_few_samples_do_not_show(intervals):
    """Some spectrum meets a few samples with next to no noise, whatever they are: then it is none.

    Samples of a noise of 0.5 had one of 1e-7 where there were three.
    """
    seen = set()
    for n in (2, 3, 4, 5, 6, 8):
        for seed in range(8):
            rng = np.random.default_rng(seed)
            X = rng.uniform(-1, 1, size=(n, 3))
            y = 2 * X[:, 0] + 0.5 * rng.standard_normal(n)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = GegenbauerRegressorCV(intervals=intervals).fit(X, y)
                _, std = model.predict(X, return_std=True)
            left = n - model.effective_dof_
            known = bool(np.isfinite(model.noise_variance_[0]))
            assert known == (left >= 1)
            assert np.isfinite(std).all() == known
            assert not known or model.noise_variance_[0] > 1e-4
            seen.add(known)
    assert seen == {True, False}


def test_noise_free_samples_that_are_not_few():
    """From ten on less than a degree of freedom is what a function without noise leaves."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(12, 1))
    model = GegenbauerRegressorCV().fit(X, np.sin(3 * X[:, 0]))
    assert 12 - model.effective_dof_ < 1
    assert model.noise_variance_[0] < 1e-12
    assert (model.predict(X, return_std=True)[1] < 1e-3).all()


def test_few_samples_of_a_stream():
    X = np.random.default_rng(0).uniform(-1, 1, size=(6, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GegenbauerRegressorCV().fit_stream([(X, np.exp(X[:, 0]))])
    assert np.isfinite(model.noise_variance_[0]) == (6 - model.effective_dof_ >= 1)
