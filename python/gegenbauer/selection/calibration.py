"""Probabilities from scores, on arrays: a temperature, and a bias for each class; and a check.

Scores of n samples and K classes become ``softmax(exp(a) F + b)``. A single output of two classes,
positive for the second, is the pair (-F/2, F/2), so that one formula serves all. Fitted on scores
that leave their own sample out, the result needs no second fit and no held-out data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._memory import require_memory
from gegenbauer._validation import CLIP, require_finite

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = [
    "ORDER",
    "ProbabilityMap",
    "best_temperatures",
    "calibrated_probabilities",
    "class_scores",
    "expected_calibration_error",
    "fit_probabilities",
    "log_loss",
]

# Logarithms of inverse temperatures that are looked at, for scores whose largest one is 1
_LOWEST, _HIGHEST = -6.0, 12.0

# Those that are tried before probabilities are fitted
_STARTS = np.arange(_LOWEST, _HIGHEST + 0.5)

# By what share scores beyond the reach of a map still differ, of which the order is kept
ORDER = 1e-6

# Halvings of that range, then Newton steps, which end where the loss is flat to rounding
_N_BISECTIONS, _N_NEWTON = 8, 4


# Probabilities that are made at once, with some arrays as large
_BLOCK_SIZE = 2**18


def class_scores(outputs: Doubles) -> Doubles:
    """Return scores (..., n, K) of outputs: a pair of them for a single one of two classes."""
    if outputs.shape[-1] > 1:
        return outputs
    return np.concatenate([-0.5 * outputs, 0.5 * outputs], axis=-1)


def _log_softmax(z: Doubles, axis: int = -1) -> Doubles:
    shifted = z - z.max(axis=axis, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return np.asarray(shifted)


def best_temperatures(
    scores: Doubles, codes: npt.NDArray[np.intp], weights: Doubles | None = None
) -> tuple[Doubles, Doubles]:
    r"""Find the inverse temperatures beta that minimise the log-loss of softmax(beta F).

    The loss is convex in beta, so that the sign of its derivative leads to the minimum, and Newton
    steps finish.

    Parameters
    ----------
    scores : ndarray, shape (..., n_samples, n_classes)
        F, for any number of models at once.
    codes : ndarray of int, shape (n_samples,)
        Column of each sample's class.
    weights : ndarray, shape (n_samples,), optional
        Of the samples.

    Returns
    -------
    beta, loss : ndarray, shape (...)
        The best beta, between exp(-6) and exp(12) times the inverse of the largest difference of
        scores, and the weighted mean of -log softmax(beta F).
    """
    share = np.ones(codes.size) if weights is None else weights
    share = share / share.sum()
    n_classes = scores.shape[-1]
    own = codes[:, np.newaxis]
    others = (own + np.arange(1, n_classes)) % n_classes

    def columns(at: npt.NDArray[np.intp]) -> Doubles:
        return np.take_along_axis(scores, at.reshape((1,) * (scores.ndim - 2) + at.shape), axis=-1)

    # what the other classes have more than the sample's own, classes before samples: sums over few
    # entries that lie one after another are slow
    margins = np.ascontiguousarray(np.swapaxes(columns(others) - columns(own), -1, -2))
    unit = np.abs(margins).max(axis=(-2, -1))
    unit = np.where(unit > 0, unit, 1.0)
    margins /= unit[..., np.newaxis, np.newaxis]
    squares = margins**2
    lower = np.full(scores.shape[:-2], _LOWEST)
    upper = np.full(scores.shape[:-2], _HIGHEST)
    log_beta = 0.5 * (lower + upper)
    for step in range(_N_BISECTIONS + _N_NEWTON):
        p, _ = _other_shares(log_beta, margins)
        mean = np.einsum("...kn,...kn->...n", p, margins)
        slope = mean @ share
        upper = np.where(slope >= 0, log_beta, upper)
        lower = np.where(slope >= 0, lower, log_beta)
        middle = 0.5 * (lower + upper)
        if step < _N_BISECTIONS:
            log_beta = middle
            continue
        spread = (np.einsum("...kn,...kn->...n", p, squares) - mean**2) @ share
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = log_beta - slope / (np.exp(log_beta) * spread)
        log_beta = np.where((lower <= newton) & (newton <= upper), newton, middle)
    # what never turned has its minimum at an end
    log_beta = np.where(lower == _LOWEST, _LOWEST, np.where(upper == _HIGHEST, _HIGHEST, log_beta))
    return np.exp(log_beta) / unit, _other_shares(log_beta, margins)[1] @ share


def log_loss(
    outputs: Doubles, codes: npt.NDArray[np.intp], weights: Doubles | None = None
) -> tuple[float, Doubles]:
    """Judge outputs (n, K), or (n, 1) of two classes, at the best temperature.

    Returns
    -------
    loss : float
        As by `best_temperatures`.
    slope : ndarray, shape (n, K) or (n, 1)
        Its derivatives by the outputs; the temperature, being the best one, adds nothing.
    """
    scores = class_scores(outputs)
    beta, loss = best_temperatures(scores, codes, weights)
    slope = np.exp(_log_softmax(beta * scores))
    slope[np.arange(codes.size), codes] -= 1.0
    share = np.ones(codes.size) if weights is None else weights
    slope *= beta * (share / share.sum())[:, np.newaxis]
    if outputs.shape[1] == 1:
        slope = 0.5 * (slope[:, 1:] - slope[:, :1])
    return float(loss), slope


def _other_shares(log_beta: Doubles, margins: Doubles) -> tuple[Doubles, Doubles]:
    """Return the probabilities of the other classes, and -log of that of each sample's own."""
    z = np.exp(log_beta)[..., np.newaxis, np.newaxis] * margins
    top = np.maximum(z.max(axis=-2), 0.0)
    z -= top[..., np.newaxis, :]
    np.exp(z, out=z)
    total = z.sum(axis=-2) + np.exp(-top)
    z /= total[..., np.newaxis, :]
    return z, np.log(total) + top


@dataclass(frozen=True, eq=False)
class ProbabilityMap:
    """From scores to probabilities: ``softmax(scale F + bias)``.

    Attributes
    ----------
    scale : float
        exp(a), > 0.
    bias : ndarray, shape (n_classes,)
        b.
    reach : float
        The largest difference of two scores of a sample in the fit. Scores that differ by more
        count as if by so much, but for a share of 1e-6 that keeps their order: nothing was seen of
        what they are worth. So two samples, of a class each, give no probability above 2/3.
    """

    scale: float
    bias: Doubles
    reach: float = np.inf

    def _within_reach(self, scores: Doubles) -> Doubles:
        """Return scores of which none is further below the largest of its sample than `reach`.

        Those of samples with some beyond it are shifted: differences count, which are small beside
        scores far outside.
        """
        with np.errstate(over="ignore"):
            below = scores.max(axis=-1, keepdims=True) - scores
        far = below > self.reach
        if not far.any():
            return scores
        limit = self.reach * (1.0 + ORDER * (1.0 - self.reach / np.where(far, below, np.inf)))
        near = 0.5 * self.reach - np.where(far, limit, below)
        return np.asarray(np.where(far.any(axis=-1, keepdims=True), near, scores))

    def __call__(self, outputs: Doubles) -> Doubles:
        """Return probabilities (n, K) of outputs (n, K), or (n, 1) of two classes.

        They depend on differences of scores alone, of which the largest is zero, so that no
        product overflows but those of classes whose probability is zero.
        """
        n, n_classes = len(outputs), len(self.bias)
        require_memory(8.0 * n * n_classes, "the probabilities", "predict fewer samples at once")
        found = np.empty((n, n_classes))
        step = max(1, _BLOCK_SIZE // n_classes)
        for first in range(0, n, step):
            rows = slice(first, first + step)
            scores = self._within_reach(class_scores(outputs[rows]))
            with np.errstate(over="ignore"):
                below = self.scale * (scores - scores.max(axis=-1, keepdims=True))
            np.exp(_log_softmax(below + self.bias), out=found[rows])
        return found

    def logits(self, outputs: Doubles) -> Doubles:
        """Return the logarithms of the probabilities, up to a constant for each sample."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.scale * self._within_reach(class_scores(outputs)) + self.bias
            # twice, so that the difference of two is finite as well
            require_finite(2.0 * found, "some scores of classes are", CLIP)
        return found


def fit_probabilities(
    outputs: Doubles, codes: npt.NDArray[np.intp], weights: Doubles | None = None
) -> ProbabilityMap:
    r"""Fit scale and biases by penalised maximum likelihood.

    Minimises :math:`-\sum_{ik} w_i t_{ik} \log p_{ik} + |b|^2 / 2` over the scale and b, which is
    convex, by Newton steps that are halved until they improve. The targets t are Platt's: one minus
    1 / (n_c + 2) for a sample's own class, which has n_c samples, and the rest for the others
    alike, so that classes that are separated without an error do not get probabilities of 0 and 1.

    Parameters
    ----------
    outputs : ndarray, shape (n_samples, n_classes), or (n_samples, 1) for two classes
        Leave-one-out scores.
    codes : ndarray of int, shape (n_samples,)
        Position of each sample's class.
    weights : ndarray, shape (n_samples,), optional
        Of the samples: how many each stands for.

    Returns
    -------
    ProbabilityMap

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.selection.calibration import fit_probabilities
    >>> outputs = np.array([[-1.0], [-0.5], [0.4], [-0.2], [0.6], [1.0]])
    >>> fit_probabilities(outputs, np.array([0, 0, 0, 1, 1, 1]))(outputs).round(2)[:, 1]
    array([0.23, 0.35, 0.6 , 0.43, 0.66, 0.75])
    """
    scores = class_scores(outputs)
    scale, bias = _best_maps(scores[np.newaxis], codes, weights)
    return ProbabilityMap(float(scale[0]), bias[0], float(np.ptp(scores, axis=1).max()))


def calibrated_probabilities(
    outputs: Doubles, codes: npt.NDArray[np.intp], weights: Doubles | None = None
) -> Doubles:
    """Return the probabilities that each of some models has by its own `fit_probabilities`.

    Parameters
    ----------
    outputs : ndarray, shape (n_models, n_samples, n_classes), or (n_models, n_samples, 1)
        As for `fit_probabilities`, of each model.
    codes, weights
        As for `fit_probabilities`.

    Returns
    -------
    ndarray, shape (n_models, n_samples, n_classes)
    """
    maps = zip(*_best_maps(class_scores(outputs), codes, weights), outputs, strict=True)
    return np.array([ProbabilityMap(float(scale), bias)(own) for scale, bias, own in maps])


def _log_shares(F: Doubles, scale: Doubles, bias: Doubles) -> Doubles:
    """Return the logarithms of the probabilities, classes before samples."""
    z = scale[:, np.newaxis, np.newaxis] * F
    z += bias[:, :, np.newaxis]
    return _log_softmax(z, axis=1)


def _first_scales(F: Doubles, w: Doubles, wT: Doubles) -> Doubles:
    """Return two scales (2, G), powers of e, of which the better one is the best without biases.

    The best temperature of classes that are separated without an error is no start: there the
    targets are far away, the loss has no curvature, and Newton's step would lead anywhere. The
    sign of its slope leads to the best of powers of e.
    """
    n_models, n_classes, _ = F.shape
    bias = np.zeros((n_models, n_classes))
    low, high = np.zeros(n_models, dtype=np.intp), np.full(n_models, _STARTS.size - 1)
    while (low < high).any():
        middle = (low + high) // 2
        P = np.exp(_log_shares(F, np.exp(_STARTS[middle]), bias))
        slope = np.einsum("gkn,gkn->g", w * P - wT, F)
        low, high = np.where(slope < 0, middle + 1, low), np.where(slope < 0, high, middle)
    return np.asarray(np.exp(_STARTS[[np.maximum(low - 1, 0), low]]))


def _slope_and_curvature(
    F: Doubles, scale: Doubles, bias: Doubles, w: Doubles, wT: Doubles
) -> tuple[Doubles, Doubles]:
    """Return the gradient (G, K + 1) of the loss by biases and, at the end, scale; its Hessian."""
    n_models, n_classes, n = F.shape
    diagonal = np.arange(n_classes)
    P = np.exp(_log_shares(F, scale, bias))
    wP = w * P
    gradient = np.empty((n_models, n_classes + 1))
    gradient[:, :-1] = (wP - wT).sum(axis=2) + bias
    gradient[:, -1] = np.einsum("gkn,gkn->g", wP - wT, F)
    mean_F = (P * F).sum(axis=1)
    H = np.empty((n_models, n_classes + 1, n_classes + 1))
    H[:, :-1, :-1] = -wP @ np.swapaxes(P, 1, 2)
    H[:, diagonal, diagonal] += wP.sum(axis=2) + 1.0
    # The penalty alone keeps the sum of the biases at zero, and is lost beside large weights. What
    # is added in that direction, in which there is no slope, changes no step.
    H[:, :-1, :-1] += w.sum() / n_classes**2
    H[:, :-1, -1] = H[:, -1, :-1] = (wP * (F - mean_F[:, np.newaxis])).sum(axis=2)
    H[:, -1, -1] = (wP * F**2).sum(axis=(1, 2)) - mean_F**2 @ w + 1e-12 * n
    return gradient, H


def _best_maps(
    scores: Doubles, codes: npt.NDArray[np.intp], weights: Doubles | None
) -> tuple[Doubles, Doubles]:
    """Return scales (G,) and biases (G, K) of scores (G, n, K), see `fit_probabilities`."""
    n_models, n, n_classes = scores.shape
    w = np.ones(n) if weights is None else weights
    rest = (1.0 / (np.bincount(codes, weights=w, minlength=n_classes) + 2.0))[codes]
    T = np.repeat(rest[np.newaxis] / (n_classes - 1), n_classes, axis=0)
    T[codes, np.arange(n)] = 1.0 - rest
    wT = w * T
    F = np.ascontiguousarray(np.swapaxes(scores, -1, -2))
    # typical scores of one keep Newton's matrix well scaled
    unit = np.abs(F).max(axis=(1, 2))
    unit = np.where(unit > 0, unit, 1.0)
    F /= unit[:, np.newaxis, np.newaxis]
    lowest, highest = np.exp(_LOWEST), np.exp(_HIGHEST)

    def loss(F: Doubles, scale: Doubles, bias: Doubles) -> Doubles:
        expected = np.einsum("kn,gkn->g", wT, _log_shares(F, scale, bias))
        return np.asarray(-expected + 0.5 * (bias**2).sum(axis=1))

    bias = np.zeros((n_models, n_classes))
    trials = _first_scales(F, w, wT)
    values = np.array([loss(F, trial, bias) for trial in trials])
    best = values.argmin(axis=0)
    scale, value = (found[best, np.arange(n_models)] for found in (trials, values))

    going = np.arange(n_models)
    for _ in range(50):
        gradient, H = _slope_and_curvature(F[going], scale[going], bias[going], w, wT)
        # a scale at an end of its range, from where the loss leads out of it, stays
        outward = np.where(gradient[:, -1] > 0, scale[going] <= lowest, scale[going] >= highest)
        gradient[outward, -1] = H[outward, :-1, -1] = H[outward, -1, :-1] = 0.0
        step = np.linalg.solve(H, gradient[..., np.newaxis])[..., 0]
        decrease = (gradient * step).sum(axis=1)
        moving = decrease > 1e-12 * (1.0 + np.abs(value[going]))
        going, step = going[moving], step[moving]
        length, waiting = 1.0, np.arange(going.size)
        improved = np.zeros(going.size, dtype=bool)
        while waiting.size and length > 1e-6:
            at, part = going[waiting], length * step[waiting]
            trial_scale = np.clip(scale[at] - part[:, -1], lowest, highest)
            trial_bias = bias[at] - part[:, :-1]
            trial = loss(F[at], trial_scale, trial_bias)
            better = trial < value[at]
            to = at[better]
            scale[to], bias[to], value[to] = trial_scale[better], trial_bias[better], trial[better]
            improved[waiting[better]] = True
            waiting = waiting[~better]
            length /= 2
        going = going[improved]
        if not going.size:
            break
    return scale / unit, bias


def expected_calibration_error(
    outcomes: npt.NDArray[np.bool_], probabilities: Doubles, edges: Doubles
) -> float:
    """Measure how far frequencies are from the probabilities that were given.

    Parameters
    ----------
    outcomes : ndarray of bool, shape (n_samples,)
        Whether it came true.
    probabilities : ndarray, shape (n_samples,)
        What was predicted for it.
    edges : ndarray, shape (n_bins + 1,)
        Ends of bins of probabilities, ascending. A probability at an edge belongs to the lower bin.

    Returns
    -------
    float
        The mean over the samples of the absolute difference, in their bin, of the mean outcome and
        the mean probability.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.selection.calibration import expected_calibration_error
    >>> given = np.array([0.2, 0.2, 0.9, 0.9])
    >>> edges = np.array([0.0, 0.5, 1.0])
    >>> expected_calibration_error(np.array([False, True, True, True]), given, edges)
    0.2
    """
    bins = np.searchsorted(edges[1:-1], probabilities)
    excess = np.bincount(bins, weights=outcomes - probabilities)
    return float(np.abs(excess).sum() / len(probabilities))
