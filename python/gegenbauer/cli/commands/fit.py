"""``gegenbauer fit``: learn a column of a table from the others."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import train_test_split

from gegenbauer.cli.foresight import announce, knowing_levels
from gegenbauer.cli.messages import UserError, count, duration, printable, quoted, refusals
from gegenbauer.cli.output import Steps, print_pairs
from gegenbauer.cli.report import describe_parameters, describe_solution, describe_terms
from gegenbauer.cli.tables import check_output
from gegenbauer.cli.training import (
    MIN_ROWS_A_PART,
    describe_accuracy,
    describe_errors,
    describe_kept,
    keep,
    read_training_table,
    require_written,
    too_few_rows,
)
from gegenbauer.estimators.classifier import GegenbauerClassifier
from gegenbauer.estimators.regressor import GegenbauerRegressor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from gegenbauer.cli.choices import Task
    from gegenbauer.cli.training import TrainingTable

__all__ = ["run"]


def run(
    path: Path,
    *,
    target: str,
    task: Task,
    out: Path | None,
    parameters: dict[str, Any],
    ignored: Sequence[str],
    validation_fraction: float,
    seed: int,
    separator: str | None,
) -> None:
    """Read the table, score a model on rows held out, fit the model to keep, save and report.

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
    parameters : dict
        Parameters of the estimator that differ from its defaults.
    ignored : sequence of str
        Columns that are no inputs.
    validation_fraction : float
        Share of the rows to hold out, from 0 (no validation) to below 1.
    seed : int
        Chooses these rows.
    separator : str or None
        Separator of a CSV file.

    Raises
    ------
    UserError
        Anything is wrong with the table, the target, the parameters or the place of the model.
    """
    if path.is_dir():
        raise UserError(
            f"{printable(str(path), 200)} is a folder; give --stream to learn the tables in it"
        )
    if out is not None:
        check_output(out, "model", sources=[path])
    with Steps(total=4) as steps:
        training = read_training_table(
            path, target=target, task=task, ignored=ignored, separator=separator, steps=steps,
            mixed=True,
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
            model.fit(training.inputs, training.values)
        fitting = time.perf_counter() - start
        kept = keep(model, out, steps)
    print_pairs(
        [
            *training.describe(_rows(n_rows, validation, seed)),
            ("terms", describe_terms(model)),
            ("parameters", describe_parameters(model)),
            ("solved by", describe_solution(model)),
            ("validation", "none, as requested" if validation is None else validation.score),
            ("time", _times(training.reading, validation, fitting)),
            ("model", describe_kept(n_rows, kept, again=validation is not None)),
        ]
    )
    require_written(model=kept)


@dataclass(frozen=True)
class _Validation:
    n_rows: int
    split: str  # how the rows were chosen
    score: str
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
    X, X_out, y, y_out = train_test_split(
        inputs, values, test_size=n_held_out, random_state=seed, stratify=strata
    )
    if classify and np.unique(y).size < 2:
        raise UserError(
            f"the {count(len(y), 'row')} that are left for training hold a single class; give a "
            "smaller --validation-fraction, another --seed, or --validation-fraction 0 to fit "
            "without a score"
        )
    start = time.perf_counter()
    trial = clone(model).fit(X, y)
    fitted = time.perf_counter()
    if trial.out_of_range in ("warn", "error"):  # is for predictions, not for the score
        trial.set_params(out_of_range="clip")
    predicted = trial.predict(X_out)
    end = time.perf_counter()
    score = (
        _accuracy(y, y_out, predicted)
        if classify
        else _errors(y_out, predicted, penalized=trial.penalize_constant)
    )
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


def _errors(y: NDArray[Any], predicted: NDArray[Any], *, penalized: bool) -> str:
    unit = float(np.abs(y).max()) or 1.0  # of which squares are in the range of float64
    y, predicted = y / unit, predicted / unit
    return describe_errors(
        r2_score(y, predicted),
        unit * root_mean_squared_error(y, predicted),
        y.size,
        unit * float(np.mean(y)),
        unit * float(np.std(y)),
        penalized=penalized,
    )


def _accuracy(y: NDArray[Any], y_out: NDArray[Any], predicted: NDArray[Any]) -> str:
    labels, counts = np.unique(y, return_counts=True)
    frequent = labels[counts.argmax()]
    n_right = int(np.count_nonzero(predicted == y_out))
    return describe_accuracy(n_right, len(y_out), frequent, float(np.mean(y_out == frequent)))


# ---- words of the report -------------------------------------------------------------


def _rows(n_rows: int, validation: _Validation | None, seed: int) -> str:
    if validation is None:
        return str(n_rows)
    return f"{n_rows}; {validation.n_rows} held out to validate ({validation.split}, seed {seed})"


def _times(reading: float, validation: _Validation | None, fitting: float) -> str:
    parts = [f"{duration(reading)} to read"]
    if validation is not None:
        parts.append(f"{duration(validation.fitting)} to fit with rows held out")
        parts.append(f"{duration(validation.scoring)} to predict them")
    parts.append(f"{duration(fitting)} to fit on all rows")
    return ", ".join(parts)
