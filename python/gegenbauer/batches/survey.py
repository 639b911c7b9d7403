"""What a column holds that comes in pieces: the one inference of kinds, for every reader."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.batches.column_types import (
    NUMBERS,
    TEXT,
    TRUTH,
    are_numbers,
    decoded,
    no_classes,
    read_as,
    same_number,
    typed,
)
from gegenbauer.errors import StreamError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer.errors import Rows

__all__ = ["MAX_COUNTED", "ColumnSummary", "ColumnSurvey", "Found", "require_learnable"]

# The rows of at most so many different values are counted.
MAX_COUNTED = 100_000

# What the values are read as when they are classes; whole numbers by their range.
_DTYPES = {"text": object, "truth": bool, "decimal": np.float64}

_WHOLE = [np.iinfo(np.int64), np.iinfo(np.uint64)]


@dataclass(frozen=True)
class ColumnSummary:
    """What a column holds, as far as the choice of the task and a report need it.

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


@dataclass
class Found:
    """Values of one sort that were found: how many, and the first of them with its row."""

    n: int = 0
    value: Any = None
    where: Rows | None = None

    def add(self, which: NDArray[np.bool_], column: Any, where: Rows) -> None:
        """Count values of some more rows, of which the first is given."""
        if self.n == 0 and which.any():
            row = int(which.argmax())
            self.value, self.where = column[row].as_py(), where.row(row)
        self.n += int(np.count_nonzero(which))


def require_learnable(name: str, kind: str, where: Rows) -> None:
    """Refuse a target of a kind that cannot be learned, as `column_kind` names it.

    Raises
    ------
    StreamError
        It holds no text, no numbers, and not true and false.
    """
    if kind not in (NUMBERS, TRUTH, TEXT):
        raise StreamError(
            f"column {name!r}, the target, holds {kind}; choose a column of text, numbers, or true "
            "and false",
            where,
        )


class ColumnSurvey:
    """What is seen of a column of text, numbers, or true and false that comes in pieces.

    Parameters
    ----------
    from_text : bool
        Whether the pieces are texts of a CSV file, which may stand for numbers.

    Attributes
    ----------
    n_rows : int
        Rows seen so far, with those that lack a value.
    missing, infinite, foreign : Found
        Rows without a value, infinite numbers, and texts that are no numbers.
    """

    def __init__(self, *, from_text: bool) -> None:
        self.n_rows = 0
        self.missing, self.infinite, self.foreign = Found(), Found(), Found()
        self._from_text = from_text
        self._kind = ""
        self._range = 0, 0  # of whole numbers
        self._first: Any = None
        self._fraction: float | None = None
        # Of texts as they are, for what they stand for may change with the last one.
        self._counts: Counter[Any] | None = Counter()

    def add(self, column: Any, where: Rows) -> None:
        """Look at some more rows.

        Parameters
        ----------
        column : Array
            Their values, where there are any.
        where : Rows
            Which they are.
        """
        import pyarrow as pa
        from pyarrow import compute

        self.n_rows += len(column)
        column = decoded(column)
        if column.null_count:
            self.missing.add(_array(column.is_null()), column, where)
            return  # that is refused, and nothing else is of interest
        if len(column) == 0:
            return
        values = typed(column) if self._from_text else column
        kind = _kind_of(values.type)
        if kind == "decimal":
            values = compute.cast(values, pa.float64())
            column = column if self._from_text else values
            found = _array(values)
            self.infinite.add(np.isinf(found), column, where)
            if self._fraction is None:
                fractions = found[no_classes(found) & ~np.isnan(found)]
                self._fraction = float(fractions[0]) if fractions.size else None
        elif kind == "whole":
            ends = compute.min_max(values).as_py()
            self._range = min(self._range[0], ends["min"]), max(self._range[1], ends["max"])
        if self._counts is not None:
            counted = compute.value_counts(column)
            if len(counted) <= MAX_COUNTED:
                for value, n in zip(*(part.to_pylist() for part in counted.flatten()), strict=True):
                    self._counts[value] += n
            if max(len(counted), len(self._counts)) > MAX_COUNTED:
                self._counts = None
        if kind == "text" or (kind == "truth" and self._from_text):
            self.foreign.add(~_array(are_numbers(column)).astype(bool), column, where)
        if not self._kind:
            self._first = column[0].as_py()
        self._kind = _join(self._kind, kind)

    def summary(self) -> ColumnSummary:
        """Return what was seen of all rows."""
        if self._kind == "whole" and self.dtype().kind == "f":
            # Beyond 64 bits, signs included; then the largest are among these.
            self._kind, self._fraction = "decimal", float(self._range[1])
        counts, fraction = self._counts, self._fraction if self._kind == "decimal" else None
        if counts is None or fraction is not None:
            return ColumnSummary(
                self._kind, self.n_rows, self._values([self._first])[0], fraction, None, None
            )
        merged: Counter[Any] = Counter()
        for value, n in zip(self._values(list(counts)), counts.values(), strict=True):
            merged[value] += n
        return ColumnSummary(
            self._kind, self.n_rows, self._values([self._first])[0], None, len(merged),
            {value: merged[value] for value in sorted(merged)},
        )  # fmt: skip

    def same_number(self) -> tuple[str, str] | None:
        """Return two texts that are one number, where they are counted."""
        import pyarrow as pa

        if not self._from_text or self._kind not in ("whole", "decimal") or self._counts is None:
            return None
        return same_number(pa.array(list(self._counts), pa.string()))

    def as_texts(self) -> ColumnSummary:
        """Return what was seen of texts that stay what they are."""
        assert self._counts is not None
        counts = {text: self._counts[text] for text in sorted(self._counts)}
        return ColumnSummary("text", self.n_rows, self._first, None, len(counts), counts)

    def dtype(self) -> np.dtype[Any]:
        """Return the type that holds all values."""
        if self._kind != "whole":
            return np.dtype(_DTYPES[self._kind])
        least, most = self._range
        fitting = [kind.dtype for kind in _WHOLE if kind.min <= least and most <= kind.max]
        return np.dtype(fitting[0] if fitting else np.float64)

    def _values(self, values: list[Any]) -> list[Any]:
        """Turn values into what they stand for, now that all are known."""
        import pyarrow as pa

        if self._kind == "decimal":
            return [float(value) for value in values]
        if self._from_text and self._kind == "truth":
            return list(read_as(pa.array(values, pa.string()), pa.bool_()).to_pylist())
        if self._from_text and self._kind == "whole":
            return [int(value) for value in values]
        return values


def _array(column: Any) -> NDArray[Any]:
    array: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return array


def _kind_of(type_: Any) -> str:
    from pyarrow import types

    if types.is_boolean(type_):
        return "truth"
    if types.is_integer(type_):
        return "whole"
    return "decimal" if types.is_floating(type_) or types.is_decimal(type_) else "text"


def _join(kind: str, other: str) -> str:
    """Return the kind of values of both kinds."""
    if not kind or kind == other:
        return other
    return "decimal" if {kind, other} == {"whole", "decimal"} else "text"
