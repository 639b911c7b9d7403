"""Wide CSV text of few rows as columns of strings, at a cost by cells instead of one by columns.

Arrow's parser spends some ten microseconds on a column beside the time of its cells, which of
tables with tens of thousands of columns is nearly all. Here NumPy finds the ends of all fields at
once. Text with quotes, or of which not all rows are of one length, is left to Arrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["is_wide", "split_columns"]

# Below so many rows, and from so many columns on, a column costs Arrow more than its cells.
_FEW_ROWS, _MANY_COLUMNS = 128, 256


def is_wide(data: bytes, n_columns: int) -> bool:
    """Return whether text has so many columns and so few rows that `split_columns` pays."""
    return n_columns >= _MANY_COLUMNS and data.count(b"\n") < _FEW_ROWS


def split_columns(
    data: bytes,
    n_columns: int,
    places: Sequence[int],
    separator: bytes,
    missing: Sequence[str],
) -> list[Any] | None:
    """Return columns of whole records, without those that are blank.

    Parameters
    ----------
    data : bytes
        UTF-8 text, of which no field begins with blanks, unless in quotes.
    n_columns : int
        Number of fields of each record, at least 2.
    places : sequence of int
        Which columns to return.
    separator : bytes
        What stands between fields, of one byte.
    missing : sequence of str
        Fields that hold no value.

    Returns
    -------
    list of Array of strings, or None
        Null for values that are missing. None if there are quotes, or a record has more or fewer
        fields.
    """
    import pyarrow as pa
    from pyarrow import compute

    if b'"' in data:
        return None
    text = np.frombuffer(data, dtype=np.uint8)
    ends_line = (text == ord("\n")) | (text == ord("\r"))
    ends_field = ends_line | (text == ord(separator))
    end = np.flatnonzero(ends_field)
    is_last = ends_line[end]  # of its record
    if not ends_line[-1]:
        end, is_last = np.append(end, text.size), np.append(is_last, True)
    size = np.diff(end, prepend=-1) - 1
    blank = is_last & (size == 0) & np.append(True, is_last[:-1])
    size, is_last = size[~blank], is_last[~blank]
    n_rows = np.count_nonzero(is_last)
    if size.size != n_rows * n_columns or not is_last[n_columns - 1 :: n_columns].all():
        return None
    offset = np.zeros(size.size + 1, dtype=np.int32)
    np.cumsum(size, out=offset[1:])
    cells = pa.StringArray.from_buffers(
        size.size, pa.py_buffer(offset), pa.py_buffer(text[~ends_field])
    )
    by_column: NDArray[np.intp] = np.arange(size.size).reshape(n_rows, n_columns)[:, places].T
    cells = cells.take(pa.array(by_column.ravel()))
    absent = compute.is_in(cells, value_set=pa.array(missing, pa.string()))
    cells = compute.if_else(absent, pa.scalar(None, pa.string()), cells)
    return [cells.slice(begin, n_rows) for begin in range(0, len(cells), n_rows)]
