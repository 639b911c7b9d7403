"""``gegenbauer tune``: learn a column of a table with all settings chosen by the data."""

from __future__ import annotations

import importlib.util
import io
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    root_mean_squared_error,
)

from gegenbauer.cli.messages import UserError, duration, number, printable, quoted, refusals
from gegenbauer.cli.output import Steps, print_heading, print_pairs, print_paragraphs, print_table
from gegenbauer.cli.report import (
    describe_clipped,
    describe_solution,
    describe_spectrum,
    describe_terms,
)
from gegenbauer.cli.tables import check_output, write_bytes
from gegenbauer.cli.training import (
    Written,
    describe_kept,
    keep,
    read_training_table,
    require_written,
    writes,
)
from gegenbauer.estimators.classifier_cv import GegenbauerClassifierCV
from gegenbauer.estimators.regressor_cv import GegenbauerRegressorCV
from gegenbauer.inspection.sobol import sobol_indices
from gegenbauer.plotting.reliability import left_out_outcomes
from gegenbauer.selection.calibration import expected_calibration_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from gegenbauer.cli.choices import Task
    from gegenbauer.cli.training import TrainingTable

__all__ = ["run"]

_MAX_INPUTS_SHOWN = 10

_MAX_INPUTS_DRAWN = 20

_N_BINS = 10

_INDEPENDENT = (
    "Shares take the inputs as independent of each other and uniform over the range of each."
)

_XLABEL = "share of the variance, inputs taken as independent and uniform"

# Within so many standard deviations lie 90 % of what is normal
_COVERAGE, _DEVIATIONS = 0.9, 1.6449


def run(
    path: Path,
    *,
    target: str,
    task: Task,
    out: Path | None,
    plot: Path | None,
    parameters: dict[str, Any],
    ignored: Sequence[str],
    separator: str | None,
) -> None:
    """Read the table, fit a model that chooses by itself, save, draw and report.

    Parameters
    ----------
    path : Path
        The table.
    target : str
        Name of the column to learn.
    task : Task
        What to learn; ``auto`` to decide by the column.
    out : Path or None
        Where to save the model.
    plot : Path or None
        Where to draw the plots.
    parameters : dict
        Parameters of the estimator that differ from its defaults.
    ignored : sequence of str
        Columns that are no inputs.
    separator : str or None
        Separator of a CSV file.

    Raises
    ------
    UserError
        Anything is wrong with the table, the target, the parameters or the places of the files.
    """
    if out is not None:
        check_output(out, "model", sources=[path])
    if plot is not None:
        check_output(plot, "plot", sources=[path])
        if importlib.util.find_spec("matplotlib") is None:
            raise UserError("--plot needs matplotlib: run pip install 'gegenbauer[plot]'")
    with Steps(total=3 + (out is not None) + (plot is not None)) as steps:
        training = read_training_table(
            path, target=target, task=task, ignored=ignored, separator=separator, steps=steps,
            mixed=parameters.get("n_terms") is None and parameters.get("spectrum", "") is not None,
        )  # fmt: skip
        steps.begin("choosing the polynomials and the penalty")
        kind = GegenbauerClassifierCV if training.classify else GegenbauerRegressorCV
        start = time.perf_counter()
        with refusals(steps.warn):
            model = kind(**parameters).fit(training.inputs, training.values)
        fitting = time.perf_counter() - start
        kept = keep(model, out, steps)
        steps.begin("judging")
        shares, notes = _shares(model)
        scores, calibration, better = (
            _classes_predicted if training.classify else _numbers_predicted
        )(model, training)
        drawn = Written(plot, "drawn to")
        if plot is not None:
            steps.begin("drawing")
            with writes(drawn):
                write_bytes(_plot(model, training, shares, plot.suffix.lower()[1:]), plot)
    n_rows = len(training.inputs)
    rows = f"{n_rows}, each left out of a fit to all others"
    if n_rows > model.search_samples:
        rows += f"; the spectrum was chosen on {model.n_search_samples_}"
    print_pairs(
        [
            *training.describe(rows),
            ("terms", describe_terms(model)),
            ("spectrum", describe_spectrum(model)),
            ("alpha", number(model.alpha_)),
            *describe_clipped(model, training.inputs.columns.tolist()),
            ("solved by", describe_solution(model)),
            ("calibration", calibration),
            (
                "time",
                f"{duration(training.reading)} to read, {duration(fitting)} to choose and fit",
            ),
            ("model", describe_kept(n_rows, kept)),
            *([("plot", drawn.describe(""))] if plot is not None else []),
        ]
    )
    print_heading("Scores of leave-one-out")
    print_table(("score", "this model", _baseline(training)), scores)
    _print_shares(training, shares)
    print_paragraphs(_INDEPENDENT, *notes)
    if not better:
        print_paragraphs(
            "This model finds no dependence of the target on the inputs: it is no better "
            "than the baseline."
        )
    require_written(model=kept, plot=drawn)


# ---- scores --------------------------------------------------------------------------


def _baseline(training: TrainingTable) -> str:
    if not training.classify:
        return "always the mean"
    labels, counts = np.unique(training.values, return_counts=True)
    return f"always {quoted(labels[counts.argmax()])}"


def _classes_predicted(
    model: GegenbauerClassifierCV, training: TrainingTable
) -> tuple[list[tuple[str, str, str]], str, bool]:
    """Return scores beside those of the baseline, calibration, and whether it helps."""
    y, P = training.values, model.loo_probabilities_
    baseline = DummyClassifier(strategy="prior").fit(training.inputs, y)
    predicted, classes = model.classes_[P.argmax(axis=1)], model.classes_
    accuracy, chance = accuracy_score(y, predicted), baseline.score(training.inputs, y)
    loss = log_loss(y, P, labels=classes)
    frequencies = log_loss(y, baseline.predict_proba(training.inputs), labels=classes)
    n_right = int(np.count_nonzero(predicted == y))
    scores = [
        ("accuracy", f"{accuracy:.4f}", f"{chance:.4f}"),
        ("right of them", str(n_right), str(round(chance * len(y)))),
        ("log-loss", f"{loss:.4f}", f"{frequencies:.4f}"),
    ]
    outcomes, given = left_out_outcomes(model, y)
    error = expected_calibration_error(outcomes, given, np.linspace(0, 1, _N_BINS + 1))
    whose = "the likeliest class" if classes.size > 2 else quoted(classes[1])
    calibration = (
        f"expected calibration error {error:.4f}: {whose} was given a probability of "
        f"{given.mean():.4f} on average, and came true in {outcomes.mean():.4f}"
    )
    return scores, calibration, loss < frequencies


def _numbers_predicted(
    model: GegenbauerRegressorCV, training: TrainingTable
) -> tuple[list[tuple[str, str, str]], str, bool]:
    y, left_out = training.values, model.loo_predictions_
    mean = DummyRegressor().fit(training.inputs, y).predict(training.inputs)
    scores = [
        (name, f"{score(y, left_out):.4g}", f"{score(y, mean):.4g}")
        for name, score in (
            ("R2", r2_score),
            ("RMSE", root_mean_squared_error),
            ("mean absolute error", mean_absolute_error),
        )
    ]
    return scores, _coverage(model, training), bool(r2_score(y, left_out) > 0)


def _coverage(model: GegenbauerRegressorCV, training: TrainingTable) -> str:
    """Return the share of samples left out that lie in their intervals."""
    noise = float(model.noise_variance_[0])
    if noise == 0:
        return "nothing to judge: there is no noise at all"
    if noise == math.inf:
        return "unknown: the model leaves no degrees of freedom to estimate noise from"
    _, std = model.predict(training.inputs, return_std=True)
    # sigma^2 (1 + h) is for a row beside those of the fit; without row i itself it is
    # sigma^2 / (1 - h_i)
    leverage = np.clip(std**2 / noise - 1.0, 0.0, 1.0 - 1e-12)
    errors = np.abs(training.values - model.loo_predictions_)
    inside = errors <= _DEVIATIONS * np.sqrt(noise / (1.0 - leverage))
    return (
        f"{np.mean(inside):.1%} of the samples left out lie within their {_COVERAGE:.0%} interval; "
        f"noise of standard deviation {math.sqrt(noise):.4g}"
    )


# ---- inputs --------------------------------------------------------------------------


def _shares(model: Any) -> tuple[NDArray[np.float64], list[str]]:
    """Return the share of the variance in which each input has a part, the mean over outputs.

    And the warnings about it.
    """
    notes: list[str] = []
    with refusals(lambda message: notes.append(f"{message[:1].upper()}{message[1:]}.")):
        found = sobol_indices(model)
    total = found.variance.sum()
    if not total > 0:
        return np.zeros(model.n_features_in_), notes
    return np.asarray(found.variance @ found.total / total), notes


def _print_shares(training: TrainingTable, shares: NDArray[np.float64]) -> None:
    order = np.argsort(-shares, kind="stable")[:_MAX_INPUTS_SHOWN]
    more = f" ({order.size} of {shares.size})" if order.size < shares.size else ""
    print_heading(f"Inputs by the share of the variance in which they have a part{more}")
    names = training.inputs.columns
    print_table(
        ("input", "share"), [(printable(names[t]), f"{shares[t]:.4f}") for t in order.tolist()]
    )


# ---- the plot ---------------------------------------------------------------------


def _plot(model: Any, training: TrainingTable, shares: NDArray[np.float64], ending: str) -> bytes:
    """Draw two plots side by side; return the file."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import AutoLocator
    from sklearn.metrics import PredictionErrorDisplay

    from gegenbauer.plotting.inputs import InputDisplay
    from gegenbauer.plotting.path import PathDisplay
    from gegenbauer.plotting.reliability import ReliabilityDisplay

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    y = training.values
    if training.classify:
        PathDisplay.from_estimator(model, ax=left)
        left.set_title("scores of leave-one-out")
        display = ReliabilityDisplay.from_estimator(
            model, y, n_bins=_N_BINS, name="leave-one-out", ax=right
        )
        right.set_title(f"calibration error {display.expected_calibration_error:.4f}")
    else:
        PredictionErrorDisplay.from_predictions(
            y, model.loo_predictions_, kind="actual_vs_predicted", random_state=0, ax=left
        )
        left.set(title="leave-one-out", xlabel="predicted", ylabel="actual")
        for axis in (left.xaxis, left.yaxis):  # scikit-learn divides the range by four
            axis.set_major_locator(AutoLocator())
        order = np.argsort(-shares, kind="stable")[:_MAX_INPUTS_DRAWN]
        names = [printable(training.inputs.columns[t]) for t in order.tolist()]
        InputDisplay(names, {"total": shares[order]}, xlabel=_XLABEL).plot(ax=right)
        right.set_title("inputs")
    data = io.BytesIO()
    figure.savefig(data, format=ending)
    return data.getvalue()
