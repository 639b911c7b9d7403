"""What ``fit`` and ``tune`` share: a table that is learned from, and words about it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gegenbauer.cli.choices import Task
from gegenbauer.cli.columns import (
    categories_of,
    read_inputs,
    read_target,
    read_weights,
    require_inputs,
)
from gegenbauer.cli.lines import describe_data
from gegenbauer.cli.messages import (
    DataError,
    UserError,
    count,
    printable,
    quoted,
    refusals,
)
from gegenbauer.cli.tables import AS_CSV, read_table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from gegenbauer.batches.formats import Dialect
    from gegenbauer.cli.columns import Target
    from gegenbauer.cli.output import Line, Steps
    from gegenbauer.cli.tables import Parts

__all__ = [
    "MIN_ROWS_A_PART",
    "Source",
    "TrainingTable",
    "read_training_table",
    "too_few_rows",
    "warn_of_unnamed",
]

MIN_ROWS_A_PART = 2  # to learn from, and to hold out


@dataclass(frozen=True)
class Source:
    """What is learned, of tables that are written in some way.

    Attributes
    ----------
    parts : Parts
        Columns of a part, of which one is the target.
    task : Task
        What to learn; ``auto`` to decide by the column.
    dialect : Dialect
        How the tables are written.
    """

    parts: Parts
    task: Task = Task.auto
    dialect: Dialect = AS_CSV

    @property
    def target(self) -> str:
        """Name of the column to learn."""
        assert self.parts.target is not None
        return self.parts.target


@dataclass(frozen=True)
class TrainingTable:
    """A table to learn from.

    Attributes
    ----------
    inputs : DataFrame
        Numbers, and categories as objects.
    target : Target
        The column to learn, and what kind of task that is.
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows.
    requested : Task
        As the user requested.
    reading : float
        Seconds that it took to read the table.
    """

    inputs: pd.DataFrame
    target: Target
    weights: NDArray[np.float64] | None
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

    def describe(self, rows: Line) -> list[Line]:
        """Return lines for a report, of which that of the rows is given."""
        return describe_data(self.inputs.columns.tolist(), self.target, self.requested, rows)


def read_training_table(
    path: Path, source: Source, steps: Steps, *, mixed: bool = False
) -> TrainingTable:
    """Read a table to learn from.

    Parameters
    ----------
    path : Path
        The table.
    source : Source
        What is learned from it, and how it is written.
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
    table = read_table(path, source.dialect, source.parts)
    reading = time.perf_counter() - start
    with refusals(steps.warn):
        categories = categories_of(table, table.inputs) if mixed else {}
        numbers = [name for name in table.inputs if name not in categories]
        require_inputs(table, numbers, may_be_empty=mixed)
        chosen = read_target(table, source.target, source.task)
        inputs = read_inputs(table, table.inputs, categories, missing=mixed)
        weights = read_weights(table, source.parts.weight)
    warn_of_unnamed(inputs.columns, steps)
    return TrainingTable(inputs, chosen, weights, source.task, reading)


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
    nearer = ", give a --validation-fraction nearer to one half"
    enough = n_rows >= 2 * MIN_ROWS_A_PART
    return DataError(
        f"{count(n_rows, 'row')} will not do to hold out a fraction of {fraction:g} and leave "
        f"{MIN_ROWS_A_PART} rows on both sides; add rows{seed}{nearer if enough else ''}, or give "
        "--validation-fraction 0 to fit without a score"
    )
