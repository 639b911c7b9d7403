"""The columns of a table: which are inputs, what the target is, and what is wrong with them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from gegenbauer.batches.column_types import are_numbers, no_classes
from gegenbauer.batches.csv import TEXTS
from gegenbauer.cli.choices import Task
from gegenbauer.cli.messages import UserError, count, did_you_mean, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "MAX_CLASSES",
    "MAX_COUNTED",
    "ColumnSummary",
    "Target",
    "choose_inputs",
    "choose_task",
    "numeric_inputs",
    "read_target",
    "refuse_mistake",
    "require_column",
    "select_inputs",
]

# A column of at most so many whole numbers, each of them in at least so many rows on average, is
# taken for classes.
MAX_CLASSES = 20

_MIN_ROWS_A_CLASS = 5

# The rows of at most so many different values are counted.
MAX_COUNTED = 100_000

# What is read from a CSV file as a missing value.
_MISSING = "no value (blank, NA, None or the like)"


@dataclass(frozen=True)
class ColumnSummary:
    """What the target holds, as far as the choice of the task and the report need it.

    Attributes
    ----------
    kind : {"text", "truth", "whole", "decimal"}
        Of all values.
    n_rows : int
        Number of rows.
    first : object
        Value of the first row.
    fraction : float or None
        First value that names no class, of decimal ones: no whole number, or of more than 53 bits.
    n_values : int or None
        Number of different values; None if it is not known, for there are more than MAX_COUNTED
        or some with a fraction.
    counts : dict or None
        Number of rows by value, in the order of the values; None as above.
    """

    kind: str
    n_rows: int
    first: Any
    fraction: float | None
    n_values: int | None
    counts: dict[Any, int] | None


@dataclass(frozen=True)
class Target:
    """The column to learn.

    Attributes
    ----------
    task : Task
        Classification or regression, never ``auto``.
    reason : str
        Why, for the report.
    seen : Seen
        What it holds.
    values : ndarray of shape (n_rows,) or None
        Labels, or float64; None if they are not in memory.
    """

    task: Task
    reason: str
    seen: ColumnSummary
    values: NDArray[Any] | None = None

    @property
    def classify(self) -> bool:
        """Whether these are classes."""
        return self.task == Task.classification


# ---- inputs --------------------------------------------------------------------------


def require_column(name: str, table: pd.DataFrame, option: str) -> None:
    """Refuse the name of a column that is not there."""
    if name not in table.columns:
        advice = did_you_mean(name, table.columns) or f"it has {listed(table.columns.tolist(), 10)}"
        raise UserError(f"{option}: the table has no column {quoted(name)}; {advice}")


def choose_inputs(table: pd.DataFrame, target: str, ignored: Sequence[str]) -> pd.DataFrame:
    """Return all columns but the target and the ignored ones, as numbers.

    Raises
    ------
    UserError
        A name is not that of a column, nothing is left, or :func:`numeric_inputs` refuses it.
    """
    require_column(target, table, "--target")
    for name in ignored:
        require_column(name, table, "--ignore")
    if target in ignored:
        raise UserError(f"{quoted(target)} is both --target and --ignore; give it once")
    left_out = {target, *ignored}
    names = [name for name in table.columns if name not in left_out]
    if not names:
        raise UserError(
            f"no column is left as an input beside the target {quoted(target)}; the table must "
            "have at least one more, or ignore fewer"
        )
    return numeric_inputs(table[names], can_ignore=True)


def select_inputs(table: pd.DataFrame, names: Sequence[str] | None, n_inputs: int) -> pd.DataFrame:
    """Return the columns that a model needs, in its order, as numbers.

    Parameters
    ----------
    table : DataFrame
        Any table.
    names : sequence of str or None
        The model's names of its inputs; None if it knows none, and takes all columns as they are.
    n_inputs : int
        Number of the model's inputs.

    Raises
    ------
    UserError
        Columns are missing, or too many where the model has no names, or
        :func:`numeric_inputs` refuses them.
    """
    if names is None:
        if table.shape[1] != n_inputs:
            raise UserError(
                f"the model has no names for its {count(n_inputs, 'input')}, so the table must "
                f"have just these columns, in the model's order; it has {table.shape[1]}"
            )
        return numeric_inputs(table, can_ignore=False)
    missing = [name for name in names if name not in table.columns]
    if missing:
        needed = set(names)
        near = did_you_mean(missing[0], [c for c in table.columns if c not in needed])
        advice = f"{near} Rename it" if near else "add it" if len(missing) == 1 else "add them"
        raise UserError(
            f"the table lacks {count(len(missing), 'column')} that the model needs: "
            f"{listed(missing)}; {advice}"
        )
    return numeric_inputs(table[list(names)], can_ignore=False)


def numeric_inputs(table: pd.DataFrame, *, can_ignore: bool) -> pd.DataFrame:
    """Return columns as float64, or float32 if all of them are.

    Parameters
    ----------
    table : DataFrame
        The inputs.
    can_ignore : bool
        Whether the advice may be to leave a column out.

    Raises
    ------
    UserError
        A column holds something else than numbers, lacks values or holds infinity.
    """
    columns = {name: _as_numbers(table[name]) for name in table.columns}
    foreign = [name for name, values in columns.items() if values is None]
    if foreign:
        others = f" (and so {_are(len(foreign) - 1)})" if len(foreign) > 1 else ""
        raise UserError(
            f"column {quoted(foreign[0])} is not numeric: it holds "
            f"{_first_foreign(table[foreign[0]])}{others}; make it numbers"
            + (_or_ignore(foreign) if can_ignore else "")
        )
    numbers = [values for values in columns.values() if values is not None]
    for name, values in zip(columns, numbers, strict=True):
        _require_values(np.isnan(values), name, _MISSING, _or_ignore([name]) * can_ignore)
        _require_values(np.isinf(values), name, "infinity", _or_ignore([name]) * can_ignore)
    # One array, which the estimators read without a copy.
    single = all(values.dtype == np.float32 for values in numbers)
    array = np.empty(table.shape, dtype=np.float32 if single else np.float64, order="F")
    for place, values in enumerate(numbers):
        array[:, place] = values
    return pd.DataFrame(array, columns=table.columns, copy=False)


def _as_numbers(column: pd.Series[Any]) -> NDArray[np.floating[Any]] | None:
    """Return a column as floats, with NaN for missing values; None if it holds anything else."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float32 if column.dtype == np.float32 else np.float64)
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "categorical":
        return _as_numbers(column.astype(column.cat.categories.dtype))
    if kind not in ("integer", "floating", "mixed-integer-float", "boolean", "decimal", "empty"):
        return None
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _foreign(column: pd.Series[Any]) -> NDArray[np.bool_]:
    """Find which values are there, and are no numbers when they are read as text."""
    present = column.notna().to_numpy(dtype=bool)
    texts = pa.array([str(value) for value in column[present]], pa.string())
    foreign = np.zeros(len(column), dtype=bool)
    foreign[present] = ~are_numbers(texts).to_numpy(zero_copy_only=False).astype(bool)
    return foreign


def _first_foreign(column: pd.Series[Any]) -> str:
    """Show the first value that is not a number, and where it is."""
    values = column.astype(object)
    foreign = _foreign(values)
    row = int(foreign.argmax()) if foreign.any() else int(values.notna().to_numpy().argmax())
    return f"{quoted(values.iloc[row])} in data row {row + 1}"


def _require_values(bad: NDArray[np.bool_], name: str, what: str, advice: str = "") -> None:
    n_bad = int(np.count_nonzero(bad))
    if n_bad == 0:
        return
    first = f"data row {int(bad.argmax()) + 1}"
    where = first if n_bad == 1 else f"{n_bad} rows of {bad.size}, the first in {first}"
    rows = "this row" if n_bad == 1 else "these rows"
    raise UserError(
        f"column {quoted(name)} holds {what} in {where}; repair or remove {rows}{advice}"
    )


def _or_ignore(names: Sequence[str]) -> str:
    options = " ".join(f"--ignore {shlex.quote(name)}" for name in names[:5])
    return f", or leave it out: {options}{' ...' if len(names) > 5 else ''}"


def _are(n_others: int) -> str:
    return f"{'is 1 more column' if n_others == 1 else f'are {n_others} more columns'}"


# ---- target --------------------------------------------------------------------------


def read_target(table: pd.DataFrame, name: str, task: Task) -> Target:
    """Return the column to learn, once it is known to suit the task.

    Parameters
    ----------
    table : DataFrame
        A table with the column.
    name : str
        The column.
    task : Task
        ``auto`` decides: text, true and false, and few different whole numbers are classes;
        other numbers are for regression.

    Raises
    ------
    UserError
        The column lacks values, is of a kind that cannot be learned, or does not suit the task.
    """
    column = table[name]
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    _require_values(column.isna().to_numpy(), name, _MISSING)
    kind = pd.api.types.infer_dtype(column, skipna=True)
    values: NDArray[Any]
    if kind == "string":
        if task != Task.classification:
            n_foreign = int(np.count_nonzero(_foreign(column)))
            refuse_mistake(name, n_foreign, len(column), _first_foreign(column))
        seen = _see("text", values := column.to_numpy(dtype=object))
    elif kind == "boolean":
        seen = _see("truth", values := column.to_numpy(dtype=bool))
    elif kind == "integer":
        seen = _see("whole", values := _integers(column))
    elif kind in ("floating", "mixed-integer-float", "decimal"):
        values = column.to_numpy(dtype=np.float64)
        _require_values(np.isinf(values), name, "infinity")
        seen = _see("decimal", values)
    else:
        raise UserError(
            f"column {quoted(name)}, the target, holds {kind} values such as "
            f"{quoted(column.iloc[0])}; choose a column of text, numbers, or true and false"
        )
    texts = table.attrs[TEXTS].of.get(name) if TEXTS in table.attrs else None
    if texts is None:
        chosen, reason, seen = choose_task(seen, name, task)
    else:
        as_text, pair = np.array(texts[0].to_pylist(), dtype=object), texts[1]
        chosen, reason, seen = choose_task(seen, name, task, (_see("text", as_text), pair))
        values = as_text if chosen == Task.classification else values
    if chosen == Task.regression:
        values = values.astype(np.float64)
    return Target(chosen, reason, seen, values)


def _see(kind: str, values: NDArray[Any]) -> ColumnSummary:
    fraction = None
    if kind == "decimal":
        fractions = no_classes(values)
        fraction = float(values[fractions.argmax()]) if fractions.any() else None
    if fraction is not None:
        return ColumnSummary(kind, values.size, values[0], fraction, None, None)
    labels, counts = np.unique(values, return_counts=True)
    few = labels.size <= MAX_COUNTED
    return ColumnSummary(
        kind, values.size, values[0], None, labels.size,
        dict(zip(labels.tolist(), counts.tolist(), strict=True)) if few else None,
    )  # fmt: skip


def refuse_mistake(name: str, n_foreign: int, n_rows: int, first: str) -> None:
    """Refuse a column of numbers that a few other values turned into text.

    Parameters
    ----------
    name : str
        The column.
    n_foreign, n_rows : int
        How many of its values are no numbers, and of how many.
    first : str
        The first of these, and where it is.

    Raises
    ------
    UserError
        Some, but less than half of the values are no numbers.
    """
    if 0 < 2 * n_foreign < n_rows:
        raise UserError(
            f"column {quoted(name)} holds numbers but for {first}"
            f"{'' if n_foreign == 1 else f' and {n_foreign - 1} more'}; make all of them numbers, "
            "or give --task classification if they are names of classes"
        )


def _integers(column: pd.Series[Any]) -> NDArray[Any]:
    dtype = np.uint64 if column.max() > np.iinfo(np.int64).max else np.int64
    try:
        return column.to_numpy(dtype=dtype)
    except OverflowError:
        raise UserError(
            f"column {quoted(column.name)}, the target, holds whole numbers of more than 64 bits; "
            "choose another --target"
        ) from None


def choose_task(
    seen: ColumnSummary,
    name: str,
    task: Task,
    texts: tuple[ColumnSummary, tuple[str, str]] | None = None,
) -> tuple[Task, str, ColumnSummary]:
    """Return the task, decided by what the target holds if it is ``auto``, why, and what it holds.

    Parameters
    ----------
    seen : Seen
        What the target holds.
    name : str
        Its name.
    task : Task
        As the user said.
    texts : tuple of Seen and (str, str), optional
        The same as text, where two texts (these) are one number: what it holds as classes.

    Raises
    ------
    UserError
        The target does not suit the task.
    """
    who = f"column {quoted(name)}"
    rows = count(seen.n_rows, "row")
    auto = Task.regression if seen.kind == "decimal" else Task.classification
    if seen.kind == "whole":
        n = seen.n_values
        many = n is None or n > MAX_CLASSES or n * _MIN_ROWS_A_CLASS > seen.n_rows
        auto = Task.regression if many else Task.classification
        numbers = (
            f"more than {MAX_COUNTED} different whole numbers" if n is None
            else count(n, "different whole number")
        )  # fmt: skip
        holds = f"{numbers} in {rows}"
    else:
        holds = {"text": "text", "truth": "true and false", "decimal": "decimal numbers"}[seen.kind]
    chosen = auto if task == Task.auto else task
    if texts is not None and chosen == Task.classification and seen.fraction is None:
        seen, (one, other) = texts
        pair = f"{quoted(one)} and {quoted(other)}"
        holds += f", and {pair}, which are one number, stay two classes"
    _require_suited(seen, who, chosen)
    reason = "" if task == Task.auto else "as requested; "
    return chosen, f"{reason}{who} holds {holds}", seen


def _require_suited(seen: ColumnSummary, who: str, task: Task) -> None:
    if task == Task.regression:
        if seen.kind == "text":
            raise UserError(
                f"{who} holds text, such as {quoted(seen.first)}, and regression needs numbers; "
                "use --task classification"
            )
        return
    if seen.fraction is not None:
        raise UserError(
            f"{who} holds decimal numbers, such as {seen.fraction:g}, which are no classes; use "
            "--task regression"
        )
    if seen.n_values is None:
        raise UserError(
            f"{who} holds more than {MAX_COUNTED} different values, so they are no classes; "
            "choose another --target, or use --task regression if they are numbers"
        )
    if seen.n_values == 1:
        raise UserError(
            f"{who} holds a single class, {quoted(seen.first)}, in all its rows; a classifier "
            "needs at least two: choose another --target, or add rows of another class"
        )
    if seen.n_values == seen.n_rows > 2:
        raise UserError(
            f"{who} holds a different value in each of its {seen.n_rows} rows, so they are no "
            "classes; choose another --target, or use --task regression if they are numbers"
        )
