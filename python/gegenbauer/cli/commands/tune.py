"""``gegenbauer tune``: learn a column of a table with all settings chosen by the data."""

from __future__ import annotations

import importlib.util
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.cli.files import check_output, write_bytes
from gegenbauer.cli.judged import UNKNOWN_NOISE, JudgedModel
from gegenbauer.cli.lines import model_line, plot_lines, rows_line, times_line
from gegenbauer.cli.messages import DataError, UserError, number, refusals
from gegenbauer.cli.output import Line, Steps, print_pairs
from gegenbauer.cli.report import (
    alternatives_lines,
    clipped_lines,
    solution_line,
    spectrum_line,
    terms_line,
)
from gegenbauer.cli.training import read_training_table
from gegenbauer.cli.written import Written, keep, require_written, writes
from gegenbauer.estimators.classifier_cv import GegenbauerClassifierCV
from gegenbauer.estimators.regressor_cv import GegenbauerRegressorCV

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gegenbauer.cli.training import Source, TrainingTable

__all__ = ["check_plot", "run"]

# Within so many standard deviations lie 90 % of what is normal
_COVERAGE, _DEVIATIONS = 0.9, 1.6449

# Of fewer rows the intervals are infinite: one of n + 1 is beyond all others, more than 10 %
_FEWEST = 9


def run(
    path: Path,
    source: Source,
    *,
    out: Path | None,
    plot: Path | None,
    parameters: dict[str, Any],
    n_spectra: int | None = None,
) -> None:
    """Read the table, fit a model that chooses by itself, save, draw and report.

    Parameters
    ----------
    path : Path
        The table.
    source : Source
        What is learned from it, and how it is written.
    out : Path or None
        Where to save the model.
    plot : Path or None
        Where to draw the plots.
    parameters : dict
        Parameters of the estimator that differ from its defaults.
    n_spectra : int or None
        Number of spectra, 1 or 5; None as the estimator has it.

    Raises
    ------
    UserError
        Anything is wrong with the table, the target, the parameters or the places of the files.
    """
    if out is not None:
        check_output(out, "model", sources=[path])
    if plot is not None:
        check_plot(plot, [path])
    with Steps(total=3 + (out is not None) + (plot is not None)) as steps:
        training = read_training_table(
            path, source, steps, mixed=parameters.get("spectrum", "auto") is not None,
        )  # fmt: skip
        if len(training.inputs) < 2:
            raise DataError("1 row will not do to choose a model, which leaves rows out; add rows")
        steps.begin("choosing the polynomials and the penalty")
        kind = GegenbauerClassifierCV if training.classify else GegenbauerRegressorCV
        start = time.perf_counter()
        if n_spectra is not None:
            parameters = {**parameters, **_of_spectra(n_spectra, classify=training.classify)}
        with refusals(steps.warn):
            model = kind(**parameters).fit(training.inputs, training.values, training.weights)
        fitting = time.perf_counter() - start
        kept = keep(model, out, steps)
        steps.begin("judging")
        judged = JudgedModel(
            model, training.values, training.inputs.columns.tolist(), "leave-one-out",
            training.weights,
        )  # fmt: skip
        calibration = judged.calibration if training.classify else _coverage(model, training)
        drawn = Written(plot, "drawn to")
        if plot is not None:
            steps.begin("drawing")
            with writes(drawn):
                write_bytes(judged.plot(plot.suffix.lower()[1:]), plot)
    n_rows = len(training.inputs)
    rows = f"{n_rows}, each left out of a fit to all others"
    if n_rows > model.search_samples:
        rows += f"; the spectrum was chosen on {model.n_search_samples_}"
    print_pairs(
        [
            *training.describe(rows_line(n_rows, rows, for_spectrum=model.n_search_samples_)),
            terms_line(model),
            spectrum_line(model),
            Line("alpha", number(model.alpha_), {"alpha": model.alpha_}),
            *alternatives_lines(model),
            *clipped_lines(model, training.inputs.columns.tolist()),
            solution_line(model),
            calibration,
            times_line(read=(training.reading, "to read"), tune=(fitting, "to choose and fit")),
            model_line(n_rows, kept),
            *plot_lines(drawn),
        ]
    )
    judged.print_scores()
    require_written(model=kept, plot=drawn)


def _of_spectra(n_spectra: int, *, classify: bool) -> dict[str, Any]:
    """Return what requests so many spectra of the estimator."""
    if classify:
        return {"n_spectra": n_spectra}
    return {"intervals": "one_spectrum" if n_spectra == 1 else "five_spectra"}


def check_plot(plot: Path, sources: Sequence[Path]) -> None:
    """Refuse a place of the plots where none can be written, or no plot be drawn."""
    check_output(plot, "plot", sources=sources)
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError("--plot needs matplotlib: run pip install 'gegenbauer[plot]'")


def _coverage(model: GegenbauerRegressorCV, training: TrainingTable) -> Line:
    """Return the share of samples left out that lie in their intervals."""
    noise = float(model.noise_variance_[0])
    values: dict[str, Any] = {"noise": math.sqrt(noise), "share_in_intervals": None}
    deviation = f"noise of standard deviation {math.sqrt(noise):.4g}"
    unknown = (
        "nothing to judge: there is no noise at all" if noise == 0
        else UNKNOWN_NOISE if noise == math.inf
        else f"unknown: {_COVERAGE:.0%} intervals need {_FEWEST} rows or more; {deviation}"
        if len(training.values) < _FEWEST
        else f"intervals are not judged where rows have weights; {deviation} for a weight of 1"
        if training.weights is not None
        else ""
    )  # fmt: skip
    if unknown:
        return Line("calibration", unknown, {"calibration": values})
    _, std = model.predict(training.inputs, return_std=True)
    # sigma^2 (1 + h) is for a row beside those of the fit; without row i itself it is
    # sigma^2 / (1 - h_i)
    leverage = np.clip(std**2 / noise - 1.0, 0.0, 1.0 - 1e-12)
    errors = np.abs(training.values - model.loo_predictions_)
    inside = errors <= _DEVIATIONS * np.sqrt(noise / (1.0 - leverage))
    text = (
        f"{np.mean(inside):.1%} of the samples left out lie within their {_COVERAGE:.0%} interval; "
        f"{deviation}"
    )
    values["share_in_intervals"] = np.mean(inside)
    return Line("calibration", text, {"calibration": values})
