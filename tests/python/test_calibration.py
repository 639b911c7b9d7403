"""Probabilities from scores, against a general minimiser and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

from gegenbauer.selection.calibration import (
    ProbabilityMap,
    best_temperatures,
    calibrated_probabilities,
    class_scores,
    fit_probabilities,
    log_loss,
)


def scores(n, n_classes, seed=0, strength=1.5):
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)]
    F = rng.normal(size=(n, n_classes)) + strength * np.eye(n_classes)[codes]
    return F, codes, rng.uniform(0.1, 2, n)


def test_two_classes_of_one_output():
    outputs = np.array([[-2.0], [0.0], [3.0]])
    logits = class_scores(outputs)
    assert_allclose(logits[:, 1] - logits[:, 0], outputs[:, 0])
    assert class_scores(logits) is logits


@pytest.mark.parametrize("scale", [1e308, 9e307])
@pytest.mark.parametrize("outputs", [[[2.0]], [[2.0, -2.0, 1.0]]])
def test_scores_beyond_float64_are_an_error(scale, outputs):
    """Neither they nor their differences, such as of 9e307 and -9e307, may become infinite.

    Probabilities depend on differences from the largest, and are certain.
    """
    make = ProbabilityMap(scale, np.zeros(max(2, len(outputs[0]))))
    with pytest.raises(ValueError, match=r"scores of classes are .* first in row 0"):
        make.logits(np.array(outputs))
    (found,) = make(np.array(outputs))
    assert sorted(found.tolist()) == [0.0] * (found.size - 1) + [1.0]
    assert found.argmax() == class_scores(np.array(outputs)).argmax()


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_best_temperatures(n_classes):
    F, codes, weights = scores(120, n_classes)
    several = np.stack([F, 0.1 * F, 20 * F])
    beta, loss = best_temperatures(several, codes, weights)

    def mean_loss(log_beta):
        logs = log_softmax(np.exp(log_beta) * F, axis=1)
        return -np.average(logs[np.arange(120), codes], weights=weights)

    best = minimize_scalar(mean_loss, bounds=(-6, 12), method="bounded", options={"xatol": 1e-9})
    assert_allclose(loss, best.fun, rtol=1e-10)
    assert_allclose(beta * [1, 0.1, 20], np.exp(best.x), rtol=1e-4)


@pytest.mark.parametrize("n_classes", [1, 2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_slopes_of_the_log_loss(n_classes, weighted):
    """Against finite differences, with the temperature found anew at each."""
    F, codes, weights = scores(25, max(2, n_classes))
    F = F[:, 1:] - F[:, :1] if n_classes == 1 else F
    weights = weights if weighted else None
    loss, slope = log_loss(F, codes, weights)
    assert_allclose(loss, best_temperatures(class_scores(F), codes, weights)[1])
    for at in np.ndindex(F.shape):
        step = np.zeros_like(F)
        step[at] = 1e-4
        high, low = (log_loss(F + sign * step, codes, weights)[0] for sign in (1, -1))
        assert_allclose(slope[at], (high - low) / 2e-4, rtol=1e-4, atol=1e-8)


def test_temperatures_of_many_models():
    """Wherever the steps begin: also where one of them has met the minimum already."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, 60)
    F = rng.standard_normal((60, 60, 3)) + rng.uniform(0, 4, (60, 1, 1)) * np.eye(3)[codes]
    for model, found in zip(F, best_temperatures(F, codes)[1], strict=True):

        def mean_loss(log_beta, model=model):
            logs = log_softmax(np.exp(log_beta) * model, axis=1)
            return -np.average(logs[np.arange(60), codes])

        best = minimize_scalar(mean_loss, bounds=(-6, 12), method="bounded")
        assert found <= best.fun + 1e-9


def test_temperatures_at_their_ends():
    codes = np.array([0, 0, 1, 1])
    right = np.eye(2)[codes]
    beta, loss = best_temperatures(np.stack([right, -right, 0 * right]), codes)
    assert_allclose(np.log(beta[1:]), [-6, -6], atol=1e-5)
    assert_allclose(loss, [0, np.log(2), np.log(2)], atol=3e-3)
    assert 6 < np.log(beta[0]) < 12  # where the loss becomes zero in float64
    assert_allclose(best_temperatures(1e9 * right, codes)[0], beta[0] / 1e9)


def platt_targets(codes, weights, n_classes):
    counts = np.array([weights[codes == c].sum() for c in range(n_classes)])
    T = np.empty((codes.size, n_classes))
    for i, c in enumerate(codes):
        T[i] = 1 / (counts[c] + 2) / (n_classes - 1)
        T[i, c] = 1 - 1 / (counts[c] + 2)
    return T


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_fit_is_the_penalised_maximum(n_classes, unit):
    F, codes, weights = scores(150, n_classes)
    T = platt_targets(codes, weights, n_classes)

    def loss(p):
        logs = log_softmax(np.exp(p[0]) * F + p[1:], axis=1)
        return -(weights @ (T * logs).sum(axis=1)) + 0.5 * p[1:] @ p[1:]

    best = minimize(loss, np.zeros(n_classes + 1), tol=1e-12)
    found = fit_probabilities(unit * F, codes, weights)
    assert_allclose(found.scale * unit, np.exp(best.x[0]), rtol=1e-4)
    assert_allclose(found.bias, best.x[1:], atol=1e-4)
    assert_allclose(found(unit * F).sum(axis=1), 1, rtol=1e-14)
    assert_allclose(found.bias.sum(), 0, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_many_models_have_the_probabilities_of_each(n_classes):
    """Of models that are right, wrong and constant, which take different numbers of steps."""
    F, codes, weights = scores(60, n_classes)
    several = np.stack([F, -F, 0 * F, 1e9 * F, 1e-9 * F, 50.0 * np.eye(n_classes)[codes]])
    found = calibrated_probabilities(several, codes, weights)
    for model, P in zip(several, found, strict=True):
        assert_allclose(P, fit_probabilities(model, codes, weights)(model), atol=1e-7)


def test_the_bias_is_the_best_at_the_smallest_scale():
    """Scores that are wrong take no part, but for the least scale; the bias is the best beside."""
    rng = np.random.default_rng(0)
    codes = (np.arange(90) < 30).astype(int)
    outputs = (rng.normal(size=90) - 3.0 * codes)[:, np.newaxis]
    found = fit_probabilities(outputs, codes)
    F = np.column_stack([-0.5 * outputs, 0.5 * outputs])
    assert_allclose(found.scale * np.abs(F).max(), np.exp(-6))
    P = found(outputs)
    T = platt_targets(codes, np.ones(90), 2)
    assert_allclose((P - T).sum(axis=0) + found.bias, 0, atol=1e-5)  # the slope by the bias


def test_one_output_equals_its_pair():
    F, codes, weights = scores(80, 2)
    outputs = (F[:, 1] - F[:, 0])[:, np.newaxis]
    pair, one = fit_probabilities(F, codes, weights), fit_probabilities(outputs, codes, weights)
    assert_allclose(one(outputs), pair(F), atol=1e-7)


def test_never_certain_of_perfectly_separated_classes():
    """Laplace's rule at the rows themselves, for however many of them."""
    for n in (2, 10, 1000):
        codes = np.repeat([0, 1], n)
        outputs = np.where(codes == 1, 1.0, -1.0)[:, np.newaxis]
        P = fit_probabilities(outputs, codes)(outputs)
        assert_allclose(P[0], [1 - 1 / (n + 2), 1 / (n + 2)], rtol=1e-4)


def test_wrong_and_empty_scores_give_base_rates():
    codes = np.array([0, 0, 0, 1])
    for outputs in (np.zeros((4, 1)), np.array([[1.0], [1.0], [1.0], [-1.0]])):
        P = fit_probabilities(outputs, codes)(outputs)
        assert (P[:, 0] > 0.5).all()
        assert_allclose(P[0], P[3], atol=5e-3)


def test_a_large_share_of_a_class_moves_the_bias():
    rng = np.random.default_rng(0)
    codes = (rng.uniform(size=400) < 0.1).astype(int)
    outputs = rng.normal(size=(400, 1)) + codes[:, np.newaxis]
    P = fit_probabilities(outputs, codes)(outputs)
    assert_allclose(P[:, 1].mean(), codes.mean(), atol=0.01)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n_classes=st.integers(2, 5),
    strength=st.sampled_from([-3.0, 0.0, 0.5, 5.0, 50.0]),
    magnitude=st.sampled_from([1e-12, 1.0, 1e12]),
)
def test_always_probabilities(seed, n_classes, strength, magnitude):
    F, codes, weights = scores(20, n_classes, seed, strength)
    found = fit_probabilities(magnitude * F, codes, weights)
    P = found(magnitude * F)
    assert np.isfinite(P).all()
    assert (P > 0).all()
    assert (P < 1).all()
    assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    assert found.scale > 0


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("least", [0.1, 1e-3, 1e-5])
def test_probabilities_of_separated_classes(n_classes, least):
    """By some row so narrowly that the best temperature is of no use as a start."""
    codes = np.arange(150) % n_classes
    margins = np.linspace(0.5, 1, 150)
    margins[7] = least
    found = fit_probabilities(margins[:, np.newaxis] * np.eye(n_classes)[codes], codes)
    assert 5 < found.scale < 8
    assert np.abs(found.bias).max() < 0.3


# --- Scores beyond those of the fit ---------------------------------------------------------------


def test_scores_beyond_those_of_the_fit_count_as_the_furthest():
    """Of a map through samples left out, what lies beyond all of these is not known."""
    outputs = np.array([[-1.0], [-0.5], [0.4], [-0.2], [0.6], [0.9]])
    make = fit_probabilities(outputs, np.array([0, 0, 0, 1, 1, 1]))
    assert make.reach == 1.0  # the larger of the two ends, for either
    ends = make(np.array([[-1.0], [1.0]]))
    far = np.array([[-1e300], [-50.0], [50.0], [1e300]])
    assert_allclose(make(far), ends[[0, 0, 1, 1]], rtol=1e-5)
    inside = ProbabilityMap(make.scale, make.bias)
    assert_allclose(make(outputs), inside(outputs), rtol=0, atol=0)
    # the order stays, so that no measure by ranks changes
    far = np.array([-50.0, -2.0, -1.0, 0.0, 1.0, 2.0, 50.0])[:, np.newaxis]
    assert (np.diff(make(far)[:, 1]) > 0).all()
    logits = make.logits(far)
    assert (np.diff(logits[:, 1] - logits[:, 0]) > 0).all()
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert_allclose(shares, make(far), rtol=1e-12)


def test_reach_of_several_classes():
    """Largest minus smallest score of a sample; predictions stay those of the probabilities."""
    F, codes, weights = scores(120, 4)
    make = fit_probabilities(F, codes, weights)
    assert make.reach == pytest.approx((F.max(axis=1) - F.min(axis=1)).max(), rel=1e-15)
    rng = np.random.default_rng(3)
    far = 100 * rng.standard_normal((500, 4))
    P, logits = make(far), make.logits(far)
    assert (P.argmax(axis=1) == logits.argmax(axis=1)).all()
    bound = make.scale * make.reach * (1 + 1e-5) + np.ptp(make.bias)
    assert (np.ptp(np.log(P), axis=1) <= bound).all()
    assert_allclose(make(far + 1e3), P, rtol=1e-6)  # differences alone count


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("size", [1e14, 1e17, 1e25, 1e50])
def test_large_weights(n_classes, size):
    """The penalty of the biases is lost beside them, and with it what holds their sum."""
    F, codes, weights = scores(60, n_classes)
    whole = fit_probabilities(F, codes, 1e10 * weights)(F)
    assert_allclose(fit_probabilities(F, codes, size * weights)(F), whole, rtol=1e-6)
