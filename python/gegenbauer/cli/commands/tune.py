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
from gegenbauer.cli.report import describe_solution, describe_spectrum, describe_terms
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
        Where to draw the picture.
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
        check_output(plot, "picture", sources=[path])
        if importlib.util.find_spec("matplotlib") is None:
            raise UserError("--plot needs matplotlib: run pip install 'gegenbauer[plot]'")
    with Steps(total=3 + (out is not None) + (plot is not None)) as steps:
        lesson = read_training_table(
            path, target=target, task=task, ignored=ignored, separator=separator, steps=steps
        )
        steps.begin("choosing the polynomials and the penalty")
        kind = GegenbauerClassifierCV if lesson.classify else GegenbauerRegressorCV
        start = time.perf_counter()
        with refusals(steps.warn):
            model = kind(**parameters).fit(lesson.inputs, lesson.values)
        fitting = time.perf_counter() - start
        kept = keep(model, out, steps)
        steps.begin("judging")
        shares, told = _shares(model)
        scores, calibration, better = (
            _classes_told_apart if lesson.classify else _numbers_predicted
        )(model, lesson)
        drawn = Written(plot, "drawn to")
        if plot is not None:
            steps.begin("drawing")
            with writes(drawn):
                write_bytes(_picture(model, lesson, shares, plot.suffix.lower()[1:]), plot)
    n_rows = len(lesson.inputs)
    rows = f"{n_rows}, each left out of a fit to all others"
    if n_rows > model.search_samples:
        rows += f"; the spectrum was chosen on {model.n_search_samples_}"
    print_pairs(
        [
            *lesson.describe(rows),
            ("terms", describe_terms(model)),
            ("spectrum", describe_spectrum(model)),
            ("alpha", number(model.alpha_)),
            ("solved by", describe_solution(model)),
            ("calibration", calibration),
            ("time", f"{duration(lesson.reading)} to read, {duration(fitting)} to choose and fit"),
            ("model", describe_kept(n_rows, kept)),
            *([("picture", drawn.describe(""))] if plot is not None else []),
        ]
    )
    print_heading("Scores of rows left out")
    print_table(("score", "this model", _baseline(lesson)), scores)
    _print_shares(lesson, shares)
    print_paragraphs(_INDEPENDENT, *told)
    if not better:
        print_paragraphs(
            "The inputs tell nothing about the target that this model can see: it is no better "
            "than a guess."
        )
    require_written(model=kept, picture=drawn)


# ---- scores --------------------------------------------------------------------------


def _baseline(lesson: TrainingTable) -> str:
    if not lesson.classify:
        return "always the mean"
    labels, counts = np.unique(lesson.values, return_counts=True)
    return f"always {quoted(labels[counts.argmax()])}"


def _classes_told_apart(
    model: GegenbauerClassifierCV, lesson: TrainingTable
) -> tuple[list[tuple[str, str, str]], str, bool]:
    """Return scores beside those of a guess, how good probabilities are, and whether it helps."""
    y, P = lesson.values, model.loo_probabilities_
    guess = DummyClassifier(strategy="prior").fit(lesson.inputs, y)
    predicted, classes = model.classes_[P.argmax(axis=1)], model.classes_
    accuracy, chance = accuracy_score(y, predicted), guess.score(lesson.inputs, y)
    loss = log_loss(y, P, labels=classes)
    frequencies = log_loss(y, guess.predict_proba(lesson.inputs), labels=classes)
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
    model: GegenbauerRegressorCV, lesson: TrainingTable
) -> tuple[list[tuple[str, str, str]], str, bool]:
    y, left_out = lesson.values, model.loo_predictions_
    mean = DummyRegressor().fit(lesson.inputs, y).predict(lesson.inputs)
    scores = [
        (name, f"{score(y, left_out):.4g}", f"{score(y, mean):.4g}")
        for name, score in (
            ("R2", r2_score),
            ("RMSE", root_mean_squared_error),
            ("mean absolute error", mean_absolute_error),
        )
    ]
    return scores, _coverage(model, lesson), bool(r2_score(y, left_out) > 0)


def _coverage(model: GegenbauerRegressorCV, lesson: TrainingTable) -> str:
    """Say how many of the rows left out lie where they should."""
    noise = float(model.noise_variance_[0])
    if noise == 0:
        return "nothing to judge: there is no noise at all"
    if noise == math.inf:
        return "unknown: the model leaves no degrees of freedom to estimate noise from"
    _, std = model.predict(lesson.inputs, return_std=True)
    # sigma^2 (1 + h) is for a row beside those of the fit; without row i itself it is
    # sigma^2 / (1 - h_i)
    leverage = np.clip(std**2 / noise - 1.0, 0.0, 1.0 - 1e-12)
    errors = np.abs(lesson.values - model.loo_predictions_)
    inside = errors <= _DEVIATIONS * np.sqrt(noise / (1.0 - leverage))
    return (
        f"{np.mean(inside):.1%} of the rows left out lie within their {_COVERAGE:.0%} interval; "
        f"noise of standard deviation {math.sqrt(noise):.4g}"
    )


# ---- inputs --------------------------------------------------------------------------


def _shares(model: Any) -> tuple[NDArray[np.float64], list[str]]:
    """Return the share of the variance in which each input has a part, the mean over outputs.

    And what there is to be told of it.
    """
    told: list[str] = []
    with refusals(lambda message: told.append(f"{message[:1].upper()}{message[1:]}.")):
        found = sobol_indices(model)
    total = found.variance.sum()
    if not total > 0:
        return np.zeros(model.n_features_in_), told
    return np.asarray(found.variance @ found.total / total), told


def _print_shares(lesson: TrainingTable, shares: NDArray[np.float64]) -> None:
    order = np.argsort(-shares, kind="stable")[:_MAX_INPUTS_SHOWN]
    more = f" ({order.size} of {shares.size})" if order.size < shares.size else ""
    print_heading(f"Inputs by the share of the variance in which they have a part{more}")
    names = lesson.inputs.columns
    print_table(
        ("input", "share"), [(printable(names[t]), f"{shares[t]:.4f}") for t in order.tolist()]
    )


# ---- the plot ---------------------------------------------------------------------


def _picture(model: Any, lesson: TrainingTable, shares: NDArray[np.float64], ending: str) -> bytes:
    """Draw two pictures side by side; return the file."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import AutoLocator
    from sklearn.metrics import PredictionErrorDisplay

    from gegenbauer.plotting.inputs import InputDisplay
    from gegenbauer.plotting.path import PathDisplay
    from gegenbauer.plotting.reliability import ReliabilityDisplay

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    y = lesson.values
    if lesson.classify:
        PathDisplay.from_estimator(model, ax=left)
        left.set_title("scores of rows left out")
        display = ReliabilityDisplay.from_estimator(
            model, y, n_bins=_N_BINS, name="rows left out", ax=right
        )
        right.set_title(f"calibration error {display.expected_calibration_error:.4f}")
    else:
        PredictionErrorDisplay.from_predictions(
            y, model.loo_predictions_, kind="actual_vs_predicted", random_state=0, ax=left
        )
        left.set(title="rows left out", xlabel="predicted", ylabel="actual")
        for axis in (left.xaxis, left.yaxis):  # scikit-learn divides the range by four
            axis.set_major_locator(AutoLocator())
        order = np.argsort(-shares, kind="stable")[:_MAX_INPUTS_DRAWN]
        names = [printable(lesson.inputs.columns[t]) for t in order.tolist()]
        InputDisplay(names, {"total": shares[order]}, xlabel=_XLABEL).plot(ax=right)
        right.set_title("inputs")
    data = io.BytesIO()
    figure.savefig(data, format=ending)
    return data.getvalue()
