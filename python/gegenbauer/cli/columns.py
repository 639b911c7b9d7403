"""The columns of a table: which are inputs, what the target is, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from gegenbauer._messages import Message, Ways
from gegenbauer.batches.column_types import (
    TEXT,
    TRUTH,
    as_floats,
    column_kind,
    decoded,
    read_as,
)
from gegenbauer.batches.columns import did_you_mean, example_of, require_category, require_numbers
from gegenbauer.batches.survey import MAX_COUNTED, ColumnSurvey, require_learnable
from gegenbauer.batches.values import (
    INFINITY,
    NO_VALUE,
    ValueFault,
    find_fault,
    require_weight_kind,
    require_weights,
)
from gegenbauer.cli.choices import Task
from gegenbauer.cli.messages import (
    DataError,
    count,
    data_rows,
    listed,
    quoted,
    refused,
)
from gegenbauer.cli.parameters import in_options
from gegenbauer.errors import Rows, StreamError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gegenbauer.batches.survey import ColumnSummary, Found
    from gegenbauer.cli.tables import Table

__all__ = [
    "MAX_CLASSES",
    "Target",
    "categories_of",
    "choose_target",
    "read_inputs",
    "read_target",
    "read_weights",
    "require_inputs",
    "select_inputs",
]

# A column of at most so many whole numbers, each of them in at least so many rows on average, is
# taken for classes.
MAX_CLASSES = 20

_MIN_ROWS_A_CLASS = 5

# Ways out for a target whose values are no classes
_OF_NUMBERS = Ways(
    "", "choose another `target`", "use `as_labels=False` if they are numbers", last=", or "
)


@dataclass(frozen=True)
class Target:
    """The column to learn.

    Attributes
    ----------
    task : Task
        Classification or regression, never ``auto``.
    reason : str
        Why, for the report.
    seen : ColumnSummary
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


def select_inputs(
    table: Table,
    names: Sequence[str] | None,
    n_inputs: int,
    categories: Sequence[Any] = (),
    *,
    missing: bool = False,
) -> pd.DataFrame:
    """Return the columns that a model needs, in its order, as numbers and categories.

    Parameters
    ----------
    table : Table
        Any table.
    names : sequence of str or None
        The model's names of its inputs; None if it knows none, and takes all columns as they are.
    n_inputs : int
        Number of the model's inputs.
    categories : sequence
        Of each input the values of a category, or None for numbers; empty for numbers alone.
    missing : bool
        Whether numbers may be missing.

    Raises
    ------
    DataError
        Columns are missing, or too many where the model has no names.
    StreamError
        :func:`read_inputs` refuses them.
    """
    if names is None:
        if len(table.columns) != n_inputs:
            raise DataError(
                f"the model has no names for its {count(n_inputs, 'input')}, so the table must "
                f"have just these columns, in the model's order; it has {len(table.columns)}"
            )
        names = [*table.columns]
        return read_inputs(table, names, _kinds(names, categories), missing=missing)
    absent = [name for name in names if name not in table.columns]
    if absent:
        needed = set(names)
        near = did_you_mean(absent[0], [c for c in table.columns if c not in needed])
        advice = f"{near} Rename it" if near else "add it" if len(absent) == 1 else "add them"
        raise DataError(
            f"the table lacks {count(len(absent), 'column')} that the model needs: "
            f"{listed(absent)}; {advice}"
        )
    return read_inputs(table, names, _kinds(names, categories), missing=missing)


def _kinds(names: Sequence[str], categories: Sequence[Any]) -> dict[str, type]:
    """Return the type of the values of the inputs that are categories."""
    values = zip(names, categories or [None] * len(names), strict=True)
    return {name: type(of[0]) for name, of in values if of is not None}


def categories_of(table: Table, names: Sequence[str]) -> dict[str, type]:
    """Return which columns to learn from are categories, by their kind, and of what type.

    Raises
    ------
    StreamError
        A column of text holds numbers for the most part.
    """
    kinds = {name: column_kind(table.columns[name].type) for name in names}
    types = {TEXT: str, TRUTH: bool}
    for name, kind in kinds.items():
        if kind == TEXT:
            require_category(name, table.columns[name], table.row(0))
    return {name: types[kind] for name, kind in kinds.items() if kind in types}


def read_inputs(
    table: Table,
    names: Sequence[str],
    categories: Mapping[str, type] | None = None,
    *,
    missing: bool = False,
) -> pd.DataFrame:
    """Return columns as float64, or float32 if all of them are, and categories as objects.

    Parameters
    ----------
    table : Table
        The table.
    names : sequence of str
        The columns.
    categories : dict of str to type, optional
        Those that are no numbers, and the type of their values.
    missing : bool
        Whether values may be missing.

    Raises
    ------
    StreamError
        A column holds something else than numbers, lacks values or holds infinity.
    """
    categories = categories or {}
    numbers = [name for name in names if name not in categories]
    require_inputs(table, numbers, may_be_empty=missing)
    columns = {name: table.columns[name] for name in numbers}
    # One array, which the estimators read without a copy.
    single = all(pa.types.is_float32(column.type) for column in columns.values())
    dtype = np.float32 if single else np.float64
    array = np.empty((table.n_rows, len(columns)), dtype=dtype, order="F")
    for place, column in enumerate(columns.values()):
        array[:, place] = as_floats(column)
    for place, name in enumerate(() if np.isfinite(array).all() else columns):
        values = array[:, place]
        if missing:  # NaN is no fault
            values = np.where(np.isnan(values), 0.0, values)
        fault = find_fault(values)
        if fault is not None:
            raise fault.error(name, table.row(0), table.n_rows, is_input=True)
    frame = pd.DataFrame(array, columns=[*columns], copy=False)
    for place, name in enumerate(names):
        if name in categories:
            levels = _as_category(table.columns[name], categories[name])
            if not missing and None in levels:
                fault = ValueFault(NO_VALUE, levels.index(None), levels.count(None))
                raise fault.error(name, table.row(0), table.n_rows, is_input=True)
            frame.insert(place, name, pd.Series(levels, dtype=object))
    return frame


def _as_category(column: Any, kind: type) -> list[Any]:
    """Return values as those of a category, None where they are missing.

    A file may have digits alone in a column of text, or, between words that are no level, those of
    truth values or numbers.
    """
    column = decoded(column)
    values: list[Any] = column.to_pylist()
    if kind is str:
        return [None if value is None else str(value) for value in values]
    if column_kind(column.type) == TEXT:
        type_ = pa.bool_() if kind is bool else pa.float64()
        read = {text: _read_or_text(text, type_) for text in {*values}}
        return [read[text] for text in values]
    return values


def _read_or_text(text: str | None, type_: pa.DataType) -> Any:
    try:
        return read_as(pa.array([text], pa.string()), type_)[0].as_py()
    except pa.ArrowInvalid:
        return text


def read_weights(table: Table, name: str | None) -> NDArray[np.float64] | None:
    """Return the weights of the rows, if a column has them.

    Raises
    ------
    StreamError
        It holds something else than numbers from 0 up, or lacks one.
    """
    if name is None:
        return None
    column = table.columns[name]
    shown = example_of(column, table.row(0))
    require_weight_kind(name, column_kind(column.type), Rows(table.name), lambda _: shown)
    values = as_floats(column).astype(np.float64)
    fault = find_fault(values)
    if fault is not None:
        raise fault.error(name, table.row(0), table.n_rows, is_input=False)
    require_weights(values, name, table.row(0))
    return values


def require_inputs(table: Table, names: Sequence[str], *, may_be_empty: bool = False) -> None:
    """Refuse columns that hold something else than numbers.

    Raises
    ------
    StreamError
        There are some.
    """
    kinds = {name: column_kind(table.columns[name].type) for name in names}
    require_numbers(
        kinds, Rows(table.name), lambda name: example_of(table.columns[name], table.row(0)),
        may_be_empty=may_be_empty,
    )  # fmt: skip


# ---- target --------------------------------------------------------------------------


def read_target(table: Table, name: str, task: Task) -> Target:
    """Return the column to learn, once it is known to suit the task.

    Parameters
    ----------
    table : Table
        A table with the column, which :func:`read_table` knew to be the target.
    name : str
        The column.
    task : Task
        ``auto`` decides: text, true and false, and few different whole numbers are classes;
        other numbers are for regression.

    Raises
    ------
    DataError
        The column lacks values, is of a kind that cannot be learned, or does not suit the task.
    """
    column = decoded(table.columns[name])
    try:
        require_learnable(name, column_kind(column.type), Rows(table.name))
    except StreamError as error:
        raise refused(error) from error
    survey = ColumnSurvey(from_text=table.text == name)
    row = 0
    for piece in column.chunks:
        survey.add(piece, table.row(row))
        row += len(piece)
    target, dtype = choose_target(survey, name, task)
    if table.text == name and dtype.kind != "O":
        column = read_as(column, pa.from_numpy_dtype(dtype))
    values = as_floats(column) if dtype.kind == "f" else column.to_numpy().astype(dtype)
    return replace(target, values=values.astype(np.float64) if not target.classify else values)


def choose_target(survey: ColumnSurvey, name: str, task: Task) -> tuple[Target, np.dtype[Any]]:
    """Return the column to learn, without its values, and the type that holds them.

    Parameters
    ----------
    survey : ColumnSurvey
        What it holds in all rows.
    name : str
        Its name.
    task : Task
        As the user requested.

    Raises
    ------
    DataError
        Values are missing or infinite, or do not suit the task.
    """
    _require_none(survey.missing, NO_VALUE, survey.n_rows, name)
    seen, dtype = survey.summary(), survey.dtype()
    if seen.kind == "decimal":
        _require_none(survey.infinite, INFINITY, survey.n_rows, name)
    if seen.kind == "text" and task != Task.classification:
        refuse_mistake(name, survey.foreign, seen.n_rows)
    pair = survey.same_number()
    texts = None if pair is None else (survey.as_texts(), pair)
    chosen, reason, seen = choose_task(seen, name, task, texts)
    if chosen == Task.classification and pair is not None:
        dtype = np.dtype(object)
    return Target(chosen, reason, seen), dtype


def _require_none(found: Found, what: str, n_rows: int, name: str) -> None:
    if found.where is not None:
        fault = ValueFault(what, 0, found.n)
        raise refused(fault.error(name, found.where, n_rows, is_input=False))


def refuse_mistake(name: str, foreign: Found, n_rows: int) -> None:
    """Refuse a column of numbers that a few other values turned into text.

    Parameters
    ----------
    name : str
        The column.
    foreign : Found
        Its values that are no numbers.
    n_rows : int
        The number of all.

    Raises
    ------
    DataError
        Some, but less than half of the values are no numbers.
    """
    if foreign.where is not None and 2 * foreign.n < n_rows:
        raise _unsuited(
            f"column {quoted(name)} holds numbers but for {quoted(foreign.value)} in "
            f"{data_rows(foreign.where)}{'' if foreign.n == 1 else f' and {foreign.n - 1} more'}",
            Ways(
                "",
                "make all of them numbers",
                "give `as_labels=True` if they are names of classes",
                last=", or ",
            ),
        )


def _unsuited(report: str, ways: Ways) -> DataError:
    """Return the error of a target, with the ways out that this command has options for."""
    return DataError(in_options(Message("{}", report, ways=ways, joint="; ")))


def choose_task(
    seen: ColumnSummary,
    name: str,
    task: Task,
    texts: tuple[ColumnSummary, tuple[str, str]] | None = None,
) -> tuple[Task, str, ColumnSummary]:
    """Return the task, decided by what the target holds if it is ``auto``, why, and what it holds.

    Parameters
    ----------
    seen : ColumnSummary
        What the target holds.
    name : str
        Its name.
    task : Task
        As the user requested.
    texts : tuple of ColumnSummary and (str, str), optional
        The same as text, where two texts (these) are one number: what it holds as classes.

    Raises
    ------
    DataError
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
            raise _unsuited(
                f"{who} holds text, such as {quoted(seen.first)}, and regression needs numbers",
                Ways("", "use `as_labels=True`", "choose another `target`", last=", or "),
            )
        return
    if seen.fraction is not None:
        raise _unsuited(
            f"{who} holds decimal numbers, such as {seen.fraction:g}, which are no classes",
            Ways("", "use `as_labels=False`", "choose another `target`", last=", or "),
        )
    if seen.n_values is None:
        raise _unsuited(
            f"{who} holds more than {MAX_COUNTED} different values, so they are no classes",
            _OF_NUMBERS,
        )
    if seen.n_values == 1:
        raise DataError(
            f"{who} holds a single class, {quoted(seen.first)}, in all its rows; a classifier "
            "needs at least two: choose another --target, or add rows of another class"
        )
    if seen.n_values == seen.n_rows > 2:
        raise _unsuited(
            f"{who} holds a different value in each of its {seen.n_rows} rows, so they are no "
            "classes",
            _OF_NUMBERS,
        )
