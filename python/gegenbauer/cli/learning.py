"""What ``fit`` and ``tune`` share: a table that is learned from, and words about it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.cli.choices import Task
from gegenbauer.cli.columns import MAX_CLASSES, Target, choose_inputs, read_target, require_column
from gegenbauer.cli.tables import read_table, writing
from gegenbauer.cli.words import count, listed, printable, quoted, refusals
from gegenbauer.persistence import save

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from gegenbauer.cli.output import Steps

__all__ = ["Lesson", "describe_kept", "keep", "read_lesson"]

_MAX_CLASSES_SHOWN = 8
_MAX_INPUTS_SHOWN = 6


@dataclass(frozen=True)
class Lesson:
    """A table to learn from.

    Attributes
    ----------
    inputs : DataFrame
        Numbers.
    target : Target
        The column to learn, and what kind of task that is.
    asked : Task
        As the user said.
    reading : float
        Seconds that it took to read the table.
    """

    inputs: pd.DataFrame
    target: Target
    asked: Task
    reading: float

    @property
    def classify(self) -> bool:
        """Whether the target is classes."""
        return self.target.task == Task.classification

    def describe(self, rows: str) -> list[tuple[str, str]]:
        """Return labels and values for a report, of which that of the rows is given."""
        names = self.inputs.columns.tolist()
        pairs = [
            ("task", f"{self.target.task}: {self.target.reason}{self._other_choice()}"),
            ("rows", rows),
            ("inputs", f"{len(names)}: {listed(names, _MAX_INPUTS_SHOWN)}"),
        ]
        return [*pairs, ("classes", self._classes())] if self.classify else pairs

    def _other_choice(self) -> str:
        """Say how to override a decision that another one could stand beside."""
        values = self.target.values
        if self.asked != Task.auto or values.dtype.kind in "Ob":
            return ""
        if self.classify:
            return " (--task regression takes them as quantities)"
        whole = bool((values == np.rint(values)).all())
        if whole and np.unique(values).size <= MAX_CLASSES:
            return " (--task classification takes them as classes)"
        return ""

    def _classes(self) -> str:
        classes, counts = np.unique(self.target.values, return_counts=True)
        shown = [
            f"{quoted(label)} ({count(int(n), 'row')})"
            for label, n in zip(classes[:_MAX_CLASSES_SHOWN], counts, strict=False)
        ]
        more = f" and {classes.size - len(shown)} more" if classes.size > len(shown) else ""
        return f"{classes.size}: {', '.join(shown)}{more}"


def read_lesson(
    path: Path, *, target: str, task: Task, ignored: Sequence[str], separator: str, steps: Steps
) -> Lesson:
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
    separator : str
        Separator of a CSV file.
    steps : Steps
        Where progress is shown and warnings go.

    Raises
    ------
    UserError
        Anything is wrong with the table or its columns.
    """
    steps.begin(f"reading {printable(path.name)}")
    start = time.perf_counter()
    table = read_table(path, separator)
    reading = time.perf_counter() - start
    require_column(target, table, "--target")
    chosen = read_target(table, target, task)
    inputs = choose_inputs(table, target, ignored)
    for name in inputs.columns:
        if re.fullmatch(r"Unnamed: \d+", name):  # pandas called it so
            steps.warn(
                f"a column without a name is used as the input {quoted(name)}; if it counts the "
                f"rows, leave it out with --ignore {quoted(name)}"
            )
    return Lesson(inputs, chosen, task, reading)


def keep(model: Any, out: Path | None, steps: Steps) -> None:
    """Save a model, if there is a place for it."""
    if out is None:
        return
    steps.begin("saving")
    model.set_params(n_jobs=None)  # the threads of this machine, today
    with refusals(steps.warn), writing(out):
        save(model, out)


def describe_kept(n_rows: int, out: Path | None, *, again: bool = False) -> str:
    """Say what became of the model."""
    place = "not saved: --out MODEL.safetensors would" if out is None else f"saved to {out}"
    return f"fitted {'again ' if again else ''}on all {n_rows} rows, {place}"
