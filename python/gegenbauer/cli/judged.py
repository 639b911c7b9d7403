"""A model that ``tune`` chose: its scores beside a baseline, and its inputs by what they matter."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    root_mean_squared_error,
)

from gegenbauer.cli.messages import printable, quoted, refusals
from gegenbauer.cli.output import Line, print_heading, print_paragraphs, print_table
from gegenbauer.inspection.sobol import sobol_indices
from gegenbauer.plotting.reliability import left_out_outcomes
from gegenbauer.selection.calibration import expected_calibration_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["UNKNOWN_NOISE", "JudgedModel"]

UNKNOWN_NOISE = (
    "unknown: the model leaves less than one degree of freedom, too little to estimate noise from"
)

_MAX_INPUTS_SHOWN = 10

_MAX_INPUTS_DRAWN = 20

_N_BINS = 10

_INDEPENDENT = (
    "Shares take the inputs as independent of each other and uniform over the range of each."
)

_OF_RANKS = (
    "Inputs of half ranks are taken as uniform in these: half as over the range, half as in the "
    "rows."
)

_XLABEL = "share of the variance, inputs taken as independent and uniform"


class _Score(NamedTuple):
    name: str
    model: float
    baseline: float
    form: str = ".4g"

    def texts(self) -> tuple[str, str, str]:
        return self.name, f"{self.model:{self.form}}", f"{self.baseline:{self.form}}"


@dataclass
class JudgedModel:
    """A model, and the samples that it predicts by models without them.

    Parameters
    ----------
    model : GegenbauerClassifierCV or GegenbauerRegressorCV
        Fitted.
    values : ndarray, shape (n_samples,)
        Targets of the samples of ``model.loo_predictions_``.
    inputs : sequence of str
        Names of the inputs.
    way : str
        How samples were left out, such as "leave-one-out".
    weights : ndarray, shape (n_samples,) or None
        Weights of the samples, by which scores are.
    """

    model: Any
    values: NDArray[Any]
    inputs: Sequence[str]
    way: str
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        self._notes: list[str] = []
        with refusals(lambda text: self._notes.append(f"{text[:1].upper()}{text[1:]}.")):
            found = sobol_indices(self.model)
        total = found.variance.sum()
        # the share of the variance in which each input has a part, the mean over outputs
        self.shares = np.zeros(self.model.n_features_in_)
        if total > 0:
            self.shares = np.asarray(found.variance @ found.total / total)
        predicted = self._classes() if is_classifier(self.model) else self._numbers()
        self._scores, self.calibration, self._helps = predicted

    # ---- scores --------------------------------------------------------------------

    def _baseline(self) -> str:
        if not is_classifier(self.model):
            return "always the mean"
        labels, counts = np.unique(self.values, return_counts=True)
        return f"always {quoted(labels[counts.argmax()])}"

    def _classes(self) -> tuple[list[_Score], Line, bool]:
        """Return scores beside those of the baseline, calibration, and whether the model helps."""
        model, y, nothing = self.model, self.values, np.zeros((len(self.values), 1))
        w = self.weights
        P, classes = model.loo_probabilities_, model.classes_
        baseline = DummyClassifier(strategy="prior").fit(nothing, y, w)
        # classes that no sample at hand has are likely to no one
        prior = np.zeros((1, classes.size))
        prior[0, np.searchsorted(classes, baseline.classes_)] = baseline.class_prior_
        predicted = classes[P.argmax(axis=1)]
        accuracy = accuracy_score(y, predicted, sample_weight=w)
        chance = baseline.score(nothing, y, w)
        loss = log_loss(y, P, labels=classes, sample_weight=w)
        constant = np.repeat(prior, len(y), axis=0)
        frequencies = log_loss(y, constant, labels=classes, sample_weight=w)
        n_right = int(np.count_nonzero(predicted == y))
        n_chance = int(np.count_nonzero(baseline.predict(nothing) == y))
        scores = [
            _Score("accuracy", accuracy, chance, ".4f"),
            _Score("right of them", n_right, n_chance, "d"),
            _Score("log-loss", loss, frequencies, ".4f"),
        ]
        outcomes, given = left_out_outcomes(model, y)
        error = expected_calibration_error(outcomes, given, np.linspace(0, 1, _N_BINS + 1))
        whose = "the likeliest class" if classes.size > 2 else quoted(classes[1])
        calibration = (
            f"expected calibration error {error:.4f}: {whose} was given a probability of "
            f"{given.mean():.4f} on average, and came true in {outcomes.mean():.4f}"
        )
        values = {"expected_calibration_error": error}
        return scores, Line("calibration", calibration, {"calibration": values}), loss < frequencies

    def _numbers(self) -> tuple[list[_Score], Line, bool]:
        y, left_out, nothing = (
            self.values, self.model.loo_predictions_, np.zeros((len(self.values), 1))
        )  # fmt: skip
        w = self.weights
        mean = DummyRegressor().fit(nothing, y, w).predict(nothing)
        scores = [
            _Score(name, score(y, left_out, sample_weight=w), score(y, mean, sample_weight=w))
            for name, score in (
                ("R2", r2_score),
                ("RMSE", root_mean_squared_error),
                ("mean absolute error", mean_absolute_error),
            )
        ]
        noise = float(self.model.noise_variance_[0]) ** 0.5
        text = f"noise of standard deviation {noise:.4g}" if np.isfinite(noise) else UNKNOWN_NOISE
        values = {"noise": noise, "share_in_intervals": None}
        return scores, Line("calibration", text, {"calibration": values}), scores[0].model > 0

    # ---- what is shown -------------------------------------------------------------

    def print_scores(self) -> None:
        """Print scores, inputs, and what is to be known of both."""
        print_heading(f"Scores of {self.way}{'' if self.weights is None else ', by weight'}")
        print_table(
            ("score", "this model", self._baseline()),
            [score.texts() for score in self._scores],
            {
                "scores_of": self.way,
                "scores": [
                    {"score": one.name, "model": one.model, "baseline": one.baseline}
                    for one in self._scores
                ],
            },
        )
        shares = self.shares
        order = np.argsort(-shares, kind="stable")[:_MAX_INPUTS_SHOWN]
        more = f" ({order.size} of {shares.size})" if order.size < shares.size else ""
        print_heading(f"Inputs by the share of the variance in which they have a part{more}")
        print_table(
            ("input", "share"),
            [(printable(self.inputs[t]), f"{shares[t]:.4f}") for t in order.tolist()],
            {"shares": dict(zip(self.inputs, shares.tolist(), strict=True))},
        )
        ranks = self.model.scaling_.warping is not None
        print_paragraphs(_INDEPENDENT, *([_OF_RANKS] if ranks else []), *self._notes)
        if not self._helps:
            print_paragraphs(
                "This model finds no dependence of the target on the inputs: it is no better "
                "than the baseline."
            )

    def plot(self, ending: str) -> bytes:
        """Draw two plots side by side; return the file."""
        from matplotlib.figure import Figure
        from matplotlib.ticker import AutoLocator
        from sklearn.metrics import PredictionErrorDisplay

        from gegenbauer.plotting.inputs import InputDisplay
        from gegenbauer.plotting.path import PathDisplay
        from gegenbauer.plotting.reliability import ReliabilityDisplay

        figure = Figure(figsize=(11, 4.5), layout="constrained")
        left, right = figure.subplots(1, 2)
        model, y, shares = self.model, self.values, self.shares
        if is_classifier(model):
            PathDisplay.from_estimator(model, ax=left)
            left.set_title(f"scores of {self.way}")
            display = ReliabilityDisplay.from_estimator(
                model, y, n_bins=_N_BINS, name=self.way, ax=right
            )
            right.set_title(f"calibration error {display.expected_calibration_error:.4f}")
        else:
            PredictionErrorDisplay.from_predictions(
                y, model.loo_predictions_, kind="actual_vs_predicted", random_state=0, ax=left
            )
            left.set(title=self.way, xlabel="predicted", ylabel="actual")
            for axis in (left.xaxis, left.yaxis):  # scikit-learn divides the range by four
                axis.set_major_locator(AutoLocator())
            order = np.argsort(-shares, kind="stable")[:_MAX_INPUTS_DRAWN]
            names = [printable(self.inputs[t]) for t in order.tolist()]
            InputDisplay(names, {"total": shares[order]}, xlabel=_XLABEL).plot(ax=right)
            right.set_title("inputs")
        data = io.BytesIO()
        figure.savefig(data, format=ending)
        return data.getvalue()
