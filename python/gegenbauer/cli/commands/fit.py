"""``gegenbauer fit``: learn a column of a table from the others."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import train_test_split

from gegenbauer.cli.files import check_output
from gegenbauer.cli.foresight import announce, knowing_levels
from gegenbauer.cli.lines import (
    NO_VALIDATION,
    accuracy_line,
    errors_line,
    model_line,
    rows_line,
    times_line,
)
from gegenbauer.cli.messages import DataError, count, quoted, refusals
from gegenbauer.cli.output import Line, Steps, print_pairs
from gegenbauer.cli.report import parameters_line, solution_line, terms_line
from gegenbauer.cli.training import MIN_ROWS_A_PART, read_training_table, too_few_rows
from gegenbauer.cli.written import keep, require_written
from gegenbauer.estimators.classifier import GegenbauerClassifier
from gegenbauer.estimators.regressor import GegenbauerRegressor

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from gegenbauer.cli.training import Source, TrainingTable

__all__ = ["run"]


def run(
    path: Path,
    source: Source,
    *,
    out: Path | None,
    parameters: dict[str, Any],
    validation_fraction: float,
    seed: int,
) -> None:
    """Read the table, score a model on rows held out, fit the model to keep, save and report.

    Parameters
    ----------
    path : Path
        The table.
    source : Source
        What is learned from it, and how it is written.
    out : Path or None
        Where to save the model.
    parameters : dict
        Parameters of the estimator that differ from its defaults.
    validation_fraction : float
        Share of the rows to hold out, from 0 (no validation) to below 1.
    seed : int
        Chooses these rows.

    Raises
    ------
    UserError
        Anything is wrong with the table, the target, the parameters or the place of the model.
    """
    if out is not None:
        check_output(out, "model", sources=[path])
    with Steps(total=4) as steps:
        training = read_training_table(
            path, source, steps, mixed=True,
        )  # fmt: skip
        model = (GegenbauerClassifier if training.classify else GegenbauerRegressor)(**parameters)

        n_rows, n_inputs = training.inputs.shape
        known = knowing_levels(model, training.inputs)
        announce(known, n_inputs, n_rows, 1 + (validation_fraction > 0), steps)
        steps.begin("fitting with rows held out")
        with refusals(lambda _: None):  # the fit on all rows warns of the same things
            validation = _validate(model, training, validation_fraction, seed)
        steps.begin("fitting on all rows")
        start = time.perf_counter()
        with refusals(steps.warn):
            model.fit(training.inputs, training.values, training.weights)
        fitting = time.perf_counter() - start
        kept = keep(model, out, steps)
    print_pairs(
        [
            *training.describe(_rows(n_rows, validation, seed)),
            terms_line(model),
            parameters_line(model),
            solution_line(model),
            NO_VALIDATION if validation is None else validation.score,
            _times(training.reading, validation, fitting),
            model_line(n_rows, kept, again=validation is not None),
        ]
    )
    require_written(model=kept)


@dataclass(frozen=True)
class _Validation:
    n_rows: int
    split: str  # how the rows were chosen
    score: Line
    fitting: float  # seconds
    scoring: float


def _validate(
    model: Any, training: TrainingTable, fraction: float, seed: int
) -> _Validation | None:
    """Fit on a part of the rows and score on the others."""
    if fraction == 0:
        return None
    inputs, values, classify = training.inputs, training.values, training.classify
    n_rows = len(inputs)
    n_held_out = int(np.ceil(fraction * n_rows))
    if min(n_held_out, n_rows - n_held_out) < MIN_ROWS_A_PART:
        raise too_few_rows(n_rows, fraction)
    strata, split = _strata(values, n_held_out) if classify else (None, "at random")
    weights = np.ones(n_rows) if training.weights is None else training.weights
    X, X_out, y, y_out, w, w_out = train_test_split(
        inputs, values, weights, test_size=n_held_out, random_state=seed, stratify=strata
    )
    if min(w.sum(), w_out.sum()) == 0:
        raise DataError(
            "the rows held out, or the others, have no weight at all; give another --seed, or "
            "--validation-fraction 0 to fit without a score"
        )
    if classify and np.unique(y).size < 2:
        raise DataError(
            f"the {count(len(y), 'row')} that are left for training hold a single class; give a "
            "smaller --validation-fraction, another --seed, or --validation-fraction 0 to fit "
            "without a score"
        )
    start = time.perf_counter()
    weighted = training.weights is not None
    trial = clone(model).fit(X, y, w if weighted else None)
    fitted = time.perf_counter()
    if trial.out_of_range in ("warn", "error"):  # is for predictions, not for the score
        trial.set_params(out_of_range="clip")
    predicted = trial.predict(X_out)
    end = time.perf_counter()
    out = y_out, predicted, w_out if weighted else None
    score = _accuracy(y, *out) if classify else _errors(*out, trial.penalize_constant)
    return _Validation(n_held_out, split, score, fitted - start, end - fitted)


def _strata(labels: NDArray[Any], n_held_out: int) -> tuple[NDArray[Any] | None, str]:
    """Return the labels to stratify by, or None, and which and why in words."""
    classes, counts = np.unique(labels, return_counts=True)
    if counts.min() < 2:
        rare = quoted(classes[counts.argmin()])
        return None, f"at random, not stratified, for class {rare} has a single row"
    if min(n_held_out, labels.size - n_held_out) < classes.size:
        return None, "at random, not stratified, for there are more classes than rows"
    return labels, "stratified by class"


def _errors(
    y: NDArray[Any], predicted: NDArray[Any], weights: NDArray[Any] | None, penalized: bool
) -> Line:
    unit = float(np.abs(y).max()) or 1.0  # of which squares are in the range of float64
    y, predicted = y / unit, predicted / unit
    mean = np.average(y, weights=weights)
    return errors_line(
        r2_score(y, predicted, sample_weight=weights),
        unit * root_mean_squared_error(y, predicted, sample_weight=weights),
        y.size if weights is None else int(np.count_nonzero(weights)),
        unit * float(mean),
        unit * float(np.average((y - mean) ** 2, weights=weights)) ** 0.5,
        penalized=penalized,
        weighted=weights is not None,
    )


def _accuracy(
    y: NDArray[Any], y_out: NDArray[Any], predicted: NDArray[Any], weights: NDArray[Any] | None
) -> Line:
    labels, counts = np.unique(y, return_counts=True)
    frequent = labels[counts.argmax()]
    right = predicted == y_out
    weighted = None if weights is None else float(np.average(right, weights=weights))
    counted = np.ones(len(y_out), bool) if weights is None else weights > 0
    return accuracy_line(
        int(np.count_nonzero(right & counted)),
        int(np.count_nonzero(counted)),
        frequent,
        float(np.average(y_out == frequent, weights=weights)),
        weighted=weighted,
    )


# ---- words of the report -------------------------------------------------------------


def _rows(n_rows: int, validation: _Validation | None, seed: int) -> Line:
    if validation is None:
        return rows_line(n_rows, str(n_rows), held_out=0)
    n_out = validation.n_rows
    text = f"{n_rows}; {n_out} held out to validate ({validation.split}, seed {seed})"
    return rows_line(n_rows, text, held_out=n_out)


def _times(reading: float, validation: _Validation | None, fitting: float) -> Line:
    seconds = {"read": (reading, "to read")}
    if validation is not None:
        seconds["validation_fit"] = validation.fitting, "to fit with rows held out"
        seconds["validation_predict"] = validation.scoring, "to predict them"
    return times_line(**seconds, fit=(fitting, "to fit on all rows"))
