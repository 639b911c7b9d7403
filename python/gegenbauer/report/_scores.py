"""How good a model is at some samples, beside a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import is_classifier
from sklearn.metrics import log_loss, mean_absolute_error, r2_score, root_mean_squared_error

from gegenbauer._messages import Message
from gegenbauer._validation import require_plain, shown
from gegenbauer.estimators._samples import ordered_sums
from gegenbauer.selection.calibration import expected_calibration_error
from gegenbauer.selection.calibration import log_loss as loss_of_outputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles

__all__ = ["Judgement", "judge", "targets_of"]

# Shares of the samples that intervals are to hold
COVERAGES = (0.5, 0.8, 0.9, 0.95)

_N_BINS = 10

# What sums of the same samples may differ by, as a share of the sum of their sizes
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Judgement:
    """Scores of a model and of a baseline, and what they are of.

    Attributes
    ----------
    scores : list of tuple
        Name, score of the model, that of the baseline, for each score.
    baseline : str
        What the baseline predicts.
    left_out : bool
        Whether samples are those of the fit, each predicted by the model without it.
    predicted : ndarray
        Predictions: numbers, or probabilities of classes (None without them).
    calibration : float or None
        Expected calibration error.
    outcomes, probabilities : ndarray or None
        What came true, and the probability that was given to it.
    coverage : list of tuple
        Shares that intervals are to hold, those that they hold, and their mean widths.
    """

    scores: list[tuple[str, float, float]]
    baseline: str
    left_out: bool
    predicted: NDArray[Any] | None
    calibration: float | None = None
    outcomes: NDArray[np.bool_] | None = None
    probabilities: Doubles | None = None
    coverage: list[tuple[str, float, float]] | None = None


def targets_of(model: Any, y: Any, n_samples: int) -> NDArray[Any]:
    """Return targets as the model has them; refuse others.

    Raises
    ------
    ValueError
        They are not as many as the samples or outputs, have labels that the model does not know, or
        numbers that are none.
    """
    found = np.asarray(require_plain(y, "y", wanted="targets"))
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    width = _width(model)
    if found.shape != ((n_samples,) if width is None else (n_samples, width)):
        wanted = f"({n_samples},)" if width is None else f"({n_samples}, {width})"
        raise ValueError(
            Message("`y` must have a target for each sample, of shape {}; got {}",
                    wanted, found.shape)
        )  # fmt: skip
    if is_classifier(model):
        known = [0, 1] if model.multilabel_ else model.classes_.tolist()
        unknown = [label for label in dict.fromkeys(found.ravel().tolist()) if label not in known]
        if unknown:
            raise ValueError(
                Message(
                    "`y` has {!r}, which is no class of the model; these are {}",
                    unknown[0],
                    shown(known),
                )
            )
        return found
    numbers = found.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(Message("`y` must be finite numbers: drop samples without a target"))
    return numbers


def _width(model: Any) -> int | None:
    """Return the columns of targets, None where they are flat."""
    if is_classifier(model):
        return len(model.label_names_) if model.multilabel_ else None
    n: int = model.expansion_.n_outputs
    return None if n == 1 else n


def judge(model: Any, X: Any, y: NDArray[Any]) -> Judgement:
    """Return the scores of a model at samples.

    Those of a fit that left them out one by one are predicted so.
    """
    return _classes(model, X, y) if is_classifier(model) else _numbers(model, X, y)


# ---- whether these are the samples of the fit ---------------------------------------------


def _is_of_fit(model: Any, X: Any, y: NDArray[Any]) -> bool:
    """Whether samples are those of the fit, in its order.

    Models do not keep them all. But they keep predictions of samples left out, which have the score
    of the fit for its targets alone, and a sum of each input, which depends on the order.
    """
    predictions = getattr(model, "loo_predictions_", None)
    if predictions is None or len(predictions) != len(y) or not np.isfinite(predictions).all():
        return False
    known = model._ordered_sums
    if known is None or model.scoring is not None:
        return False
    codes = model._samples_to_explain(X).astype(np.float64)
    sizes = np.abs(np.nan_to_num(codes)).sum(axis=0) + len(codes)
    if not (np.abs(ordered_sums(codes) - known) <= _ROUNDING * sizes).all():
        return False
    if is_classifier(model):
        outputs = predictions.reshape(len(y), -1)
        parts = [outputs]
        codes = [np.searchsorted(model.classes_, y)] if not model.multilabel_ else [*y.T]
        if model.multilabel_:
            parts = [outputs[:, k : k + 1] for k in range(outputs.shape[1])]
        losses = [
            loss_of_outputs(part, code.astype(np.intp))[0]
            for part, code in zip(parts, codes, strict=True)
        ]
        found = float(np.mean(losses))
    else:
        errors = (y - predictions.reshape(y.shape)).reshape(len(y), -1)
        spread = float(y.reshape(len(y), -1).var(axis=0).sum())
        found = float((errors**2).mean(axis=0).sum()) / spread if spread > 0 else np.nan
    return bool(np.isclose(found, -model.best_score_, rtol=1e-6, atol=1e-12))


# ---- numbers ---------------------------------------------------------------------------------


def _numbers(model: Any, X: Any, y: Doubles) -> Judgement:
    left_out = _is_of_fit(model, X, y)
    predicted = model.loo_predictions_.reshape(y.shape) if left_out else model.predict(X)
    mean = np.broadcast_to(y.mean(axis=0), y.shape)
    scores = [
        (name, float(score(y, predicted)), float(score(y, mean)))
        for name, score in (
            ("R2", r2_score),
            ("RMSE", root_mean_squared_error),
            ("mean absolute error", mean_absolute_error),
        )
    ] if len(y) > 1 else []  # fmt: skip
    if y.ndim == 2 and len(y) > 1:
        scores += [
            (f"R2 of output {k}", float(r2_score(y[:, k], predicted[:, k])), 0.0)
            for k in range(y.shape[1])
        ]
    covered = None
    if y.ndim == 1:
        covered = _coverage_left_out(model, X, y) if left_out else _coverage(model, X, y)
    return Judgement(scores, "always the mean", left_out, predicted, coverage=covered)


def _coverage(model: Any, X: Any, y: Doubles) -> list[tuple[str, float, float]] | None:
    """Return how many targets lie in their intervals, if the model has intervals."""
    try:
        intervals = model.predict_interval
    except AttributeError:
        return None
    found = []
    for share in COVERAGES:
        lower, upper = intervals(X, share)
        if np.isfinite(upper - lower).all():
            inside = float(((lower <= y) & (y <= upper)).mean())
            found.append((f"{share:.0%}", inside, float((upper - lower).mean())))
    return found or None


def _coverage_left_out(model: Any, X: Any, y: Doubles) -> list[tuple[str, float, float]] | None:
    """Return the same of the samples of the fit, by the standard deviations of models without them.

    sigma^2 (1 + h) is for a sample beside those of the fit; without the sample itself it is
    sigma^2 / (1 - h).
    """
    noise = float(model.noise_variance_[0])
    if not 0 < noise < np.inf:
        return None
    _, std = model.predict(X, return_std=True)
    leverage = np.clip(std**2 / noise - 1.0, 0.0, 1.0 - 1e-12)
    spread = np.sqrt(noise / (1.0 - leverage))
    errors = np.abs(y - model.loo_predictions_.reshape(y.shape))
    found = []
    for share in COVERAGES:
        half = float(ndtri(0.5 + 0.5 * share)) * spread
        found.append((f"{share:.0%}", float((errors <= half).mean()), float(2.0 * half.mean())))
    return found


# ---- classes -----------------------------------------------------------------------------------


def _classes(model: Any, X: Any, y: NDArray[Any]) -> Judgement:
    left_out = _is_of_fit(model, X, y)
    P = _probabilities(model, X, left_out=left_out)
    if model.multilabel_:
        return _labels(model, X, y, P, left_out=left_out)
    classes = model.classes_
    of_left_out = left_out and P is not None
    predicted = classes[P.argmax(axis=1)] if of_left_out else model.predict(X)  # type: ignore[union-attr]
    places, counts = np.unique(np.searchsorted(classes, y), return_counts=True)
    frequent = classes[places[counts.argmax()]]
    right = predicted == y
    scores = [("accuracy", float(right.mean()), float(counts.max() / len(y)))]
    if P is None:
        return Judgement(scores, f"always {frequent}", left_out, None)
    shares = np.zeros(len(classes))
    shares[places] = counts / len(y)
    by_shares = -float((shares[places] * np.log(shares[places])).sum())
    scores.append(("log-loss", float(log_loss(y, P, labels=classes)), by_shares))
    if len(classes) == 2:
        outcomes, given = y == classes[1], P[:, 1]
    else:
        outcomes, given = right, P.max(axis=1)
    return Judgement(
        scores, f"always {frequent}; its log-loss: of the shares of the classes", left_out, P,
        _calibration(outcomes, given), outcomes, given,
    )  # fmt: skip


def _labels(model: Any, X: Any, y: NDArray[Any], P: Doubles | None, *, left_out: bool) -> Judgement:
    """Judge a model of several labels, each of which is given or not."""
    truth = y > 0
    predicted = np.asarray(model.predict(X)) > 0 if P is None else P > 0.5
    frequent = np.broadcast_to(truth.mean(axis=0) > 0.5, truth.shape)
    right, by_chance = predicted == truth, frequent == truth
    scores = [
        (
            "all labels right",
            float(right.all(axis=1).mean()),
            float(by_chance.all(axis=1).mean()),
        ),
        ("labels right", float(right.mean()), float(by_chance.mean())),
    ]
    if P is None:
        return Judgement(scores, "always the frequent value of a label", left_out, None)
    outcomes, given = truth.ravel(), P.ravel()
    return Judgement(
        scores, "always the frequent value of a label", left_out, P,
        _calibration(outcomes, given), outcomes, given,
    )  # fmt: skip


def _probabilities(model: Any, X: Any, *, left_out: bool) -> Doubles | None:
    if left_out and np.isfinite(model.loo_probabilities_).all():
        return np.asarray(model.loo_probabilities_)
    try:
        return np.asarray(model.predict_proba(X))
    except AttributeError:
        return None


def _calibration(outcomes: NDArray[np.bool_], given: Doubles) -> float:
    return float(expected_calibration_error(outcomes, given, np.linspace(0, 1, _N_BINS + 1)))
