"""What columns of text hold: numbers, true and false, or text; one set of rules for all readers.

A number is what Python's ``float`` takes, but for underscores and digits beyond ASCII; true and
false are the words, in capitals or not. Of either there may be blanks at both ends. A column is of
the first kind that all of its values are of: whole numbers of 64 bits with a sign or without, any
numbers, true and false, text.

Classes are distinguished by their text: where two texts of a column of numbers are the same number,
as 007 and 7, +1 and 1, or 1 and 1.0 are, a column of classes stays text. As numbers they are equal,
and so are true and TRUE, which are words and not text.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "NOTHING",
    "NUMBERS",
    "SHORT",
    "TEXT",
    "TRUTH",
    "OneText",
    "are_numbers",
    "as_floats",
    "column_kind",
    "decoded",
    "no_classes",
    "read_all_as_doubles",
    "read_as",
    "same_number",
    "typed",
    "typed_all",
]

NUMBERS, TRUTH, TEXT, NOTHING = "numbers", "true and false", "text", "no values"

# From here on, whole numbers are no longer one apart in float64.
_NO_NEIGHBOURS = 2.0**53

# Whole numbers that are not written as Python writes them
_ODD = r"^\s*(?:\+|-?0[0-9]|-0)"

# Columns of fewer rows cost a call of Arrow more than their cells; and so many are read together
SHORT, _FEW = 256, 8

# So many different texts are remembered
_MOST_TEXTS = 100_000

_NUMBER = r"(?i)^\s*[+-]?((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan)\s*$"


def typed(texts: Any, numbers: Any = None) -> Any:
    """Return strings as what all of them can be read as.

    Parameters
    ----------
    texts : Array or ChunkedArray of strings
        Nulls are values that are missing.
    numbers : Array of double, optional
        The same as float64, where that is known already.

    Returns
    -------
    Array or ChunkedArray of int64, uint64, double, bool or string
        Without any values, of double.
    """
    import pyarrow as pa

    try:
        numbers = _cast(texts, pa.float64()) if numbers is None else numbers
    except pa.ArrowInvalid:
        try:
            return read_as(texts, pa.bool_())
        except pa.ArrowInvalid:
            return texts
    if texts.null_count == len(texts):
        return numbers
    values = (numbers.drop_null() if numbers.null_count else numbers).to_numpy()
    if np.any(values != np.rint(values)):
        return numbers
    for type_ in (pa.int64(), pa.uint64()):
        try:
            return _cast(texts, type_)
        except pa.ArrowInvalid:  # as for 1.0, 1e3, or more than 64 bits
            continue
    return numbers


def typed_all(columns: Sequence[Any]) -> list[Any]:
    """Return columns of one length as `typed` does, those that are short in few calls of Arrow.

    Whole numbers of which some are missing may be of double, which NumPy makes of them anyway.

    Parameters
    ----------
    columns : sequence of Array or ChunkedArray of strings
        Nulls are values that are missing. Short ones are read together if they are no
        ChunkedArray.
    """
    import pyarrow as pa

    found = read_all_as_doubles(columns)
    known = [k for k, numbers in enumerate(found) if numbers is not None]
    whole = []
    if known:
        values = pa.concat_arrays([found[k] for k in known]).to_numpy(zero_copy_only=False)
        fraction = (values != np.rint(values)).reshape(len(known), -1).any(axis=1)
        whole = [k for k, any_fraction in zip(known, fraction, strict=True) if not any_fraction]
    integers: list[Any | None] = [None] * len(columns)
    _read_together(columns, whole, pa.int64(), integers)
    for k in whole:
        found[k] = typed(columns[k], found[k]) if integers[k] is None else integers[k]
    return [typed(columns[k]) if read is None else read for k, read in enumerate(found)]


def read_as(texts: Any, type_: Any) -> Any:
    """Return strings as values of a type of Arrow.

    Parameters
    ----------
    texts : Array or ChunkedArray of strings
        Nulls stay.
    type_ : int64, uint64, double, float, bool or string
        What to read them as.

    Raises
    ------
    pyarrow.ArrowInvalid
        One of them cannot be read so.
    """
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_string(type_):
        return texts
    if pa.types.is_boolean(type_):
        words = compute.utf8_lower(compute.utf8_trim_whitespace(texts))
        true, false = compute.equal(words, "true"), compute.equal(words, "false")
        if compute.all(compute.or_(true, false)).as_py() is False:
            raise pa.ArrowInvalid("neither true nor false")
        return true
    if pa.types.is_integer(type_):  # for which Arrow takes 0x10, too
        _cast(texts, pa.float64())
    return _cast(texts, type_)


def read_all_as_doubles(columns: Sequence[Any]) -> list[Any | None]:
    """Return columns of strings as float64, those that are short in few calls of Arrow.

    Parameters
    ----------
    columns : sequence of Array of strings
        Nulls stay.

    Returns
    -------
    list
        None for a column that is long, so that a call of its own costs nothing beside it, and for
        some of those that hold something else or are beside one: `read_as` settles each.
    """
    import pyarrow as pa

    found: list[Any | None] = [None] * len(columns)
    short = [k for k, column in enumerate(columns) if len(column) < SHORT]
    _read_together(columns, short, pa.float64(), found)
    return found


def _read_together(
    columns: Sequence[Any], places: list[int], type_: Any, found: list[Any | None]
) -> None:
    """Read columns as one; where that fails, each half of them, as long as it may pay."""
    import pyarrow as pa

    if len(places) < _FEW:
        return
    try:
        numbers = _cast(pa.concat_arrays([columns[k] for k in places]), type_)
    except pa.ArrowInvalid:
        middle = len(places) // 2
        _read_together(columns, places[:middle], type_, found)
        _read_together(columns, places[middle:], type_, found)
        return
    start = 0
    for k in places:
        found[k] = numbers.slice(start, len(columns[k]))
        start += len(columns[k])


def _cast(texts: Any, type_: Any) -> Any:
    """Return strings as numbers, with blanks at their ends or a plus sign as well."""
    import pyarrow as pa

    try:
        return texts.cast(type_)
    except pa.ArrowInvalid:
        from pyarrow import compute

        plain = compute.utf8_trim_whitespace(texts)
        if compute.any(compute.starts_with(plain, "+")).as_py():  # else it is not worth its time
            plain = compute.replace_substring_regex(
                plain, pattern=r"^\+([0-9.iInN])", replacement=r"\1"
            )
        return plain.cast(type_)


def are_numbers(texts: Any) -> Any:
    """Return which strings are numbers; null for null."""
    from pyarrow import compute

    return compute.match_substring_regex(texts, pattern=_NUMBER)


def same_number(texts: Any) -> tuple[str, str] | None:
    """Return the first two texts of numbers that differ, but for blanks around them, and are equal.

    Parameters
    ----------
    texts : Array or ChunkedArray of strings
        All of them numbers; nulls do not count.
    """
    from pyarrow import compute

    odd = compute.match_substring_regex(texts, pattern=_ODD)
    plain = compute.match_substring_regex(texts, pattern=r"^\s*-?[0-9]+\s*$")
    if not compute.any(compute.or_(odd, compute.invert(plain))).as_py():
        return None  # whole numbers as they are usually written
    return OneText().clash(texts)


class OneText:
    """The texts of the numbers seen so far, as long as they are few."""

    def __init__(self) -> None:
        self._texts: dict[int | float, str] = {}

    def clash(self, texts: Any) -> tuple[str, str] | None:
        """Take note of texts of numbers; return the first two that differ and are equal."""
        from pyarrow import compute

        if len(self._texts) > _MOST_TEXTS:  # too many for classes
            return None
        for text in compute.unique(compute.utf8_trim_whitespace(texts)).to_pylist():
            if text is None:
                continue
            try:
                number: int | float = int(text)
            except ValueError:
                number = float(text)
            before = self._texts.setdefault(number, text)
            if before != text:
                return before, text
        return None


def no_classes(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which numbers name no class: fractions, and what float64 does not distinguish."""
    return np.asarray((values != np.rint(values)) | (np.abs(values) >= _NO_NEIGHBOURS))


@functools.lru_cache(maxsize=256)  # a wide table looks up each of its columns, several times
def column_kind(type_: Any) -> str:
    """Name in words what a column of a type of Arrow holds."""
    from pyarrow import types

    if types.is_dictionary(type_):
        type_ = type_.value_type
    if types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_):
        return NUMBERS
    if types.is_boolean(type_):
        return TRUTH
    if str(type_) in ("string", "large_string", "string_view"):
        return TEXT
    if types.is_temporal(type_):
        return "dates or times"
    if types.is_nested(type_):
        return "lists or objects"
    return NOTHING if types.is_null(type_) else f"values of type {type_}"


def decoded(column: Any) -> Any:
    """Return a column that may be encoded by a dictionary as one that is not."""
    from pyarrow import compute, types

    if not types.is_dictionary(column.type):
        return column
    return compute.cast(column, column.type.value_type)


def as_floats(column: Any) -> NDArray[np.floating[Any]]:
    """Return numbers, or true and false as 1 and 0, as floats, and NaN where there is no value."""
    from pyarrow import compute, types

    column = decoded(column)
    if not types.is_floating(column.type):
        column = compute.cast(column, "float64", safe=False)
    values: NDArray[np.floating[Any]] = column.to_numpy(zero_copy_only=False)
    return values
