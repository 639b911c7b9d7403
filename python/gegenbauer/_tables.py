"""Tables of pandas, polars and Arrow, by what they offer: none of these need be installed."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Columns", "columns_of"]


class Columns:
    """Columns of an array, or of a sequence of rows: they have no types of their own.

    The tables of the libraries, below, have them, and override what follows from that.

    Parameters
    ----------
    X : object
        With two dimensions.
    """

    def __init__(self, X: Any) -> None:
        self.X = X

    @property
    def names(self) -> list[Any] | None:
        """Names of the columns, None where they have none."""
        like_pandas = hasattr(self.X, "columns") and hasattr(self.X, "items")  # Dask's do, too
        return list(self.X.columns) if like_pandas else None

    @property
    def n_columns(self) -> int | None:
        """Number of columns, None if X has not two dimensions."""
        shape = self.X.shape if hasattr(self.X, "shape") else np.shape(self.X)
        return int(shape[1]) if len(shape) == 2 else None

    @cached_property
    def _array(self) -> Any:
        return np.asarray(self.X)

    def column(self, at: int) -> Any:
        """Return a column, as its library has it."""
        return self._array[:, at]

    def entries(self, at: int) -> list[Any]:
        """Return the entries of a column, in types of Python where these have them."""
        if hasattr(self.X, "ndim"):
            return self.column(at).tolist()  # type: ignore[no-any-return]
        return [row[at] for row in self.X]  # an array would make text of numbers beside text

    def categories(self) -> list[int]:
        """Return which columns are of a type of categories, of text or of truth values."""
        return []

    def objects(self) -> list[int]:
        """Return which columns may hold anything."""
        if not isinstance(self.X, (np.ndarray, list, tuple)):  # others may take long to convert
            return []
        try:
            array = self._array
        except ValueError:  # of rows of different lengths, which the checks of X refuse
            return []
        mixed = array.ndim == 2 and array.dtype.kind in "OU"  # of numbers beside text it makes text
        return list(range(array.shape[1])) if mixed else []

    def replaced(self, columns: Mapping[int, Any]) -> Any:
        """Return a copy of the same library with some columns replaced."""
        array = np.array(self.X, dtype=object)
        for at, column in columns.items():
            array[:, at] = column
        return array

    def require_distinct_names(self, name: str) -> None:
        """Refuse columns of the same name, which nobody can distinguish.

        Parameters
        ----------
        name : str
            Of the table, for messages.

        Raises
        ------
        ValueError
            Two columns have the same name; the message names all of the first such name.
        """
        names = self.names
        if names is None or len({*names}) == len(names):
            return
        several = [label for label, count in Counter(names).items() if count > 1]
        at = [str(k) for k, label in enumerate(names) if label == several[0]]
        more = f" ({len(several) - 1} more names are alike)" if len(several) > 1 else ""
        raise ValueError(
            f"{name} must have columns of different names, but columns "
            f"{', '.join(at[:-1])} and {at[-1]} are all called {several[0]!r}{more}: rename or "
            "drop them, or give an array without names"
        )

    def name_of(self, at: int) -> str:
        """Name a column in messages."""
        names = self.names
        return f"column {at}" if names is None else f"column {at} ({names[at]!r})"


# What types of polars are called whose columns are categories
_POLARS_KINDS = ("Boolean", "Categorical", "Enum", "String", "Utf8")

# And those of Arrow
_ARROW_KINDS = ("bool", "dictionary", "large_string", "string", "string_view")


class _Pandas(Columns):
    def column(self, at: int) -> Any:
        return self.X.iloc[:, at]

    def entries(self, at: int) -> list[Any]:
        return self.column(at).tolist()  # type: ignore[no-any-return]

    def categories(self) -> list[int]:
        return [at for at, dtype in enumerate(self.X.dtypes) if self._is_category(at, dtype)]

    def _is_category(self, at: int, dtype: Any) -> bool:
        if dtype.name in ("category", "bool", "boolean", "str", "string"):
            return True
        if dtype.kind != "O":
            arrow = str(getattr(dtype, "pyarrow_dtype", ""))
            return dtype.name.startswith("string") or arrow in _ARROW_KINDS
        return any(isinstance(value, (str, bool, np.bool_)) for value in self.entries(at))

    def objects(self) -> list[int]:
        return [at for at, dtype in enumerate(self.X.dtypes) if dtype.kind == "O"]

    def replaced(self, columns: Mapping[int, Any]) -> Any:
        X = self.X.copy(deep=False)
        for at, column in columns.items():
            X.isetitem(at, column)
        return X


class _Polars(Columns):
    @property
    def names(self) -> list[Any] | None:
        return list(self.X.columns)

    def column(self, at: int) -> Any:
        return self.X.to_series(at)

    def entries(self, at: int) -> list[Any]:
        return self.column(at).to_list()  # type: ignore[no-any-return]

    def categories(self) -> list[int]:
        kinds = [str(dtype).partition("(")[0] for dtype in self.X.dtypes]
        return [at for at, kind in enumerate(kinds) if kind in _POLARS_KINDS]

    def replaced(self, columns: Mapping[int, Any]) -> Any:
        series = {at: self.column(at) for at in columns}
        return self.X.with_columns([type(one)(one.name, columns[at]) for at, one in series.items()])


class _Arrow(Columns):
    @property
    def names(self) -> list[Any] | None:
        return list(self.X.schema.names)

    def column(self, at: int) -> Any:
        return self.X.column(at)

    def entries(self, at: int) -> list[Any]:
        return self.column(at).to_pylist()  # type: ignore[no-any-return]

    def categories(self) -> list[int]:
        kinds = [str(kind).partition("<")[0] for kind in self.X.schema.types]
        return [at for at, kind in enumerate(kinds) if kind in _ARROW_KINDS]

    def replaced(self, columns: Mapping[int, Any]) -> Any:
        X = self.X
        for at, column in columns.items():
            X = X.set_column(at, X.schema.names[at], [column])
        return X


def columns_of(X: Any) -> Columns:
    """Return the columns of X, two-dimensional, whose library need not be known."""
    if hasattr(X, "to_native"):  # of narwhals, which wraps the others
        X = X.to_native()
    if hasattr(X, "iloc") and hasattr(X, "isetitem"):
        return _Pandas(X)
    if hasattr(X, "get_columns"):
        return _Polars(X)
    if not hasattr(X, "itercolumns"):
        return Columns(X)
    if not hasattr(X, "to_batches"):  # a batch of Arrow, whose names scikit-learn does not read
        X = type(X.schema.empty_table()).from_batches([X])
    return _Arrow(_without_empty_dictionaries(X))


def _without_empty_dictionaries(X: Any) -> Any:
    """Return a table of Arrow whose dictionaries hold something, as Arrow's arrays must."""
    for at, kind in enumerate(X.schema.types):
        if not str(kind).startswith("dictionary"):
            continue
        column = X.column(at)
        if len(column) and all(len(chunk.dictionary) == 0 for chunk in column.chunks):
            X = X.set_column(at, X.schema.names[at], column.cast(kind.value_type))
    return X
