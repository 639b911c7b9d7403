"""What ``fit`` and ``tune`` share: a table that is learned from, and words about it."""

from __future__ import annotations

import itertools
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gegenbauer.cli.choices import Task
from gegenbauer.cli.columns import (
    MAX_CLASSES,
    categories_of,
    read_inputs,
    read_target,
    require_inputs,
)
from gegenbauer.cli.messages import UserError, count, listed, printable, quoted, refusals
from gegenbauer.cli.tables import read_table, writing
from gegenbauer.persistence._save import save

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from gegenbauer.cli.columns import Target
    from gegenbauer.cli.output import Steps

__all__ = [
    "MIN_ROWS_A_PART",
    "TrainingTable",
    "Written",
    "describe_accuracy",
    "describe_data",
    "describe_errors",
    "describe_kept",
    "keep",
    "read_training_table",
    "require_written",
    "too_few_rows",
    "warn_of_unnamed",
    "writes",
]

MIN_ROWS_A_PART = 2  # to learn from, and to hold out

_MAX_CLASSES_SHOWN = 8

_MAX_INPUTS_SHOWN = 6

_ADVICE = "; no better than the baseline: try another --alpha or fewer --n-terms"

_ADVICE_FAR = "; no better than the baseline: the mean is far from zero, try --free-constant"

_FAR_FROM_ZERO = 10.0  # standard deviations

_LARGE = 1e4  # from which a score is written with an exponent


@dataclass(frozen=True)
class TrainingTable:
    """A table to learn from.

    Attributes
    ----------
    inputs : DataFrame
        Numbers, and categories as objects.
    target : Target
        The column to learn, and what kind of task that is.
    requested : Task
        As the user requested.
    reading : float
        Seconds that it took to read the table.
    """

    inputs: pd.DataFrame
    target: Target
    requested: Task
    reading: float

    @property
    def classify(self) -> bool:
        """Whether the target is classes."""
        return self.target.classify

    @property
    def values(self) -> NDArray[Any]:
        """Labels, or float64."""
        assert self.target.values is not None
        return self.target.values

    def describe(self, rows: str) -> list[tuple[str, str]]:
        """Return labels and values for a report, of which that of the rows is given."""
        return describe_data(self.inputs.columns.tolist(), self.target, self.requested, rows)


def describe_data(
    inputs: Sequence[str], target: Target, requested: Task, rows: str
) -> list[tuple[str, str]]:
    """Return labels and values for a report on what is learned from.

    Parameters
    ----------
    inputs : sequence of str
        Names of the inputs.
    target : Target
        The column to learn.
    requested : Task
        As the user requested.
    rows : str
        What is reported of the rows.
    """
    pairs = [
        ("task", f"{target.task}: {target.reason}{_other_choice(target, requested)}"),
        ("rows", rows),
        ("inputs", f"{len(inputs)}: {listed(inputs, _MAX_INPUTS_SHOWN)}"),
    ]
    return [*pairs, ("classes", _classes(target))] if target.classify else pairs


def _other_choice(target: Target, requested: Task) -> str:
    """Describe how to override a decision that another one could stand beside."""
    seen = target.seen
    if requested != Task.auto or seen.kind in ("text", "truth"):
        return ""
    if target.classify:
        return " (--task regression takes them as quantities)"
    if seen.n_values is not None and seen.n_values <= MAX_CLASSES:
        return " (--task classification takes them as classes)"
    return ""


def _classes(target: Target) -> str:
    counts = target.seen.counts
    if counts is None:
        return str(target.seen.n_values)
    shown = [
        f"{quoted(label)} ({count(counts[label], 'row')})"
        for label in itertools.islice(counts, _MAX_CLASSES_SHOWN)
    ]
    more = f" and {len(counts) - len(shown)} more" if len(counts) > len(shown) else ""
    return f"{len(counts)}: {', '.join(shown)}{more}"


def read_training_table(
    path: Path,
    *,
    target: str,
    task: Task,
    ignored: Sequence[str],
    separator: str | None,
    steps: Steps,
    mixed: bool = False,
) -> TrainingTable:
    """Read a table to learn from.

    Parameters
    ----------
    path : Path
        The table.
    target : str
        Name of the column to learn.
    task : Task
        What to learn; ``auto`` to decide by the column.
    ignored : sequence of str
        Columns that are no inputs.
    separator : str or None
        Separator of a CSV file.
    steps : Steps
        Where progress is shown and warnings go.
    mixed : bool
        Whether columns of text are categories, and values may be missing.

    Raises
    ------
    UserError
        Anything is wrong with the table or its columns.
    """
    steps.begin(f"reading {printable(path.name)}")
    start = time.perf_counter()
    table = read_table(path, separator, target=target, ignored=ignored)
    reading = time.perf_counter() - start
    with refusals(steps.warn):
        categories = categories_of(table, table.inputs) if mixed else {}
        numbers = [name for name in table.inputs if name not in categories]
        require_inputs(table, numbers, may_be_empty=mixed)
        chosen = read_target(table, target, task)
        inputs = read_inputs(table, table.inputs, categories, missing=mixed)
    warn_of_unnamed(inputs.columns, steps)
    return TrainingTable(inputs, chosen, task, reading)


def warn_of_unnamed(inputs: Iterable[str], steps: Steps) -> None:
    """Warn of inputs that have no name in their file."""
    for name in inputs:
        if re.fullmatch(r"Unnamed: \d+", name):  # its reader called it so
            steps.warn(
                f"a column without a name is used as the input {quoted(name)}; if it counts the "
                f"rows, leave it out with --ignore {quoted(name)}"
            )


def too_few_rows(n_rows: int, fraction: float, *, by_chance: bool = False) -> UserError:
    """Return the error of rows that cannot be parted; by chance if another seed may do it."""
    seed = ", give another --seed" if by_chance else ""
    return UserError(
        f"{count(n_rows, 'row')} will not do to hold out a fraction of {fraction:g} and leave "
        f"{MIN_ROWS_A_PART} rows on both sides; add rows{seed}, give a --validation-fraction "
        "nearer to one half, or give --validation-fraction 0 to fit without a score"
    )


def describe_accuracy(n_right: int, n_rows: int, frequent: object, chance: float) -> str:
    """Describe how many of the rows held out are right, beside always the most frequent class.

    Examples
    --------
    >>> describe_accuracy(9, 12, "yes", 0.5)
    "accuracy 0.7500 (9 of 12 rows held out are right); always 'yes' would give 0.5000"
    """
    accuracy = n_right / n_rows
    return (
        f"accuracy {accuracy:.4f} ({n_right} of {n_rows} rows held out are right); always "
        f"{quoted(frequent)} would give {chance:.4f}{_ADVICE if accuracy <= chance < 1 else ''}"
    )


def describe_errors(
    r2: float, rmse: float, n_rows: int, mean: float, std: float, *, penalized: bool
) -> str:
    """Describe how far off the predictions of rows held out are, beside always their mean.

    Examples
    --------
    >>> describe_errors(0.75, 1.0, 12, 5.0, 2.0, penalized=True)
    'R2 0.7500, RMSE 1 on 12 rows held out, whose standard deviation is 2'
    """
    advice = ""
    if r2 <= 0 < std:
        far = penalized and abs(mean) > _FAR_FROM_ZERO * std
        advice = _ADVICE_FAR if far else _ADVICE
    shown = f"{r2:.4f}" if abs(r2) < _LARGE else f"{r2:.4g}"
    return (
        f"R2 {shown}, RMSE {rmse:.4g} on {n_rows} rows held out, whose standard deviation is "
        f"{std:.4g}{advice}"
    )


@dataclass
class Written:
    """A file that was requested, and what went wrong with it.

    The error waits until the report of a long fit is printed.

    Attributes
    ----------
    path : Path or None
        The file; None if none was requested.
    done : str
        What was done to it, as in "saved to".
    error : Exception or None
        Why it was not written.
    """

    path: Path | None
    done: str
    error: Exception | None = None

    def describe(self, otherwise: str) -> str:
        """Describe what became of the file; `otherwise` if none was requested."""
        if self.path is None:
            return otherwise
        failed = f"not {self.done} {self.path}: see the error"
        return failed if self.error else f"{self.done} {self.path}"


@contextmanager
def writes(file: Written) -> Iterator[None]:
    """Keep an error in writing a file for `require_written`."""
    try:
        yield
    except Exception as error:
        file.error = error


def require_written(**files: Written) -> None:
    """Raise what went wrong in writing files, and name those that were written.

    Raises
    ------
    UserError
        Files were not written; the message also names those that were.
    """
    errors = [file.error for file in files.values() if file.error is not None]
    for error in errors:
        if not isinstance(error, UserError):
            raise error
    if errors:
        written = [
            f"the {name} was {file.done} {printable(str(file.path), 200)}"
            for name, file in files.items()
            if file.path is not None and file.error is None
        ]
        raise UserError("; ".join([*map(str, errors), *written])) from errors[0]


def keep(model: Any, out: Path | None, steps: Steps) -> Written:
    """Save a model, if there is a place for it."""
    file = Written(out, "saved to")
    if out is not None:
        steps.begin("saving")
        model.set_params(n_jobs=None)  # the threads of this machine, today
        with writes(file), refusals(steps.warn), writing(out):
            save(model, out, statistics=False)  # to predict with; a checkpoint holds the sums
    return file


def describe_kept(n_rows: int, file: Written, *, again: bool = False) -> str:
    """Describe what became of the model."""
    place = file.describe("not saved: --out MODEL.safetensors would")
    return f"fitted {'again ' if again else ''}on all {n_rows} rows, {place}"
