"""Tables that are read in batches: what they are, their target, and how fast they are read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gegenbauer.batches.survey import ColumnSurvey
from gegenbauer.batches.tables import TableBatches
from gegenbauer.cli.columns import choose_target
from gegenbauer.cli.files import require_ending, require_file
from gegenbauer.cli.messages import listed, refusals
from gegenbauer.cli.output import Line
from gegenbauer.cli.training import warn_of_unnamed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gegenbauer.cli.choices import Task
    from gegenbauer.cli.columns import Target
    from gegenbauer.cli.output import Steps
    from gegenbauer.cli.training import Source

__all__ = ["Pace", "files_line", "look_at_target", "open_training_tables", "require_tables"]

_MAX_FILES_SHOWN = 4


def require_tables(paths: Sequence[Path]) -> None:
    """Refuse what is neither a table nor a folder."""
    for path in paths:
        if not path.is_dir():
            require_file(path, "table")
            require_ending(path)


class TrainingBatches(NamedTuple):
    """Tables to learn from, in batches.

    Attributes
    ----------
    source : TableBatches
        All of them.
    target : Target
        What is learned.
    seconds : float
        How long it took to look at the target.
    """

    source: TableBatches
    target: Target
    seconds: float


def open_training_tables(
    paths: Sequence[Path], wanted: Source, steps: Steps, *, mixed: bool = True
) -> TrainingBatches:
    """Open tables, and read the column to learn once: the first step of a command.

    With ``mixed`` inputs may be categories, and values missing.

    Raises
    ------
    UserError
        Anything is wrong with the tables or the target.
    """
    steps.begin("looking at the target")
    start = time.perf_counter()
    with refusals(steps.warn):
        source = TableBatches(
            list(paths) if len(paths) > 1 else paths[0],
            wanted.target,
            ignore=wanted.parts.ignored,
            id_columns=wanted.parts.ids,
            sample_weight=wanted.parts.weight,
            separator=wanted.dialect.separator,
            decimal=wanted.dialect.decimal,
            missing_values=wanted.dialect.missing,
            mixed=mixed,
        )
        chosen = look_at_target(source, wanted.task, steps)
    seconds = time.perf_counter() - start
    warn_of_unnamed(source.inputs, steps)
    return TrainingBatches(source, chosen, seconds)


def look_at_target(source: TableBatches, task: Task, steps: Steps) -> Target:
    """Choose the task as for a column in memory, and set what the source reads."""
    survey = ColumnSurvey(from_text=source.format == "csv")
    pace = Pace(steps, source.n_rows)
    for column, where in source._target_pieces():
        survey.add(column, where)
        pace.advance(len(column))
    target, dtype = choose_target(survey, source.target, task)
    if not target.classify:
        source._set_target(np.dtype(np.float64))
    elif source.format == "csv":
        source._set_target(dtype)
    return target


def files_line(source: TableBatches) -> Line:
    """Return the line of the files that were read."""
    text = f"{len(source.files)}: {listed(source.files, _MAX_FILES_SHOWN)}"
    return Line("files", text, {"files": source.files})


class Pace:
    """Shows how many rows are done, and how many a second."""

    def __init__(self, steps: Steps, total: int | None) -> None:
        self._steps, self._total = steps, total
        self._done = self._skipped = 0
        self._start = time.monotonic()

    def skip(self, n_rows: int) -> None:
        """Count rows that were done by an earlier run."""
        self._done += n_rows
        self._skipped += n_rows

    def advance(self, n_rows: int) -> None:
        """Count more rows that are done."""
        self._done += n_rows
        rate = (self._done - self._skipped) / max(time.monotonic() - self._start, 1e-9)
        of = "" if self._total is None else f" of {self._total:,}"
        self._steps.detail(f"{self._done:,}{of} rows, {rate:,.0f} rows/s")

    def until(self, n_rows: int, _: int | None) -> None:
        """Count rows up to so many, as the callback of ``fit_stream``."""
        self.advance(n_rows - self._done)
