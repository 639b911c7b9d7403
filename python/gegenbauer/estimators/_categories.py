"""Columns of categories: which they are, and the numbers of their levels."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from gegenbauer._validation import shown
from gegenbauer.batches.columns import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles

__all__ = ["Category", "CategoryEncoder", "find_categories", "without_missing_objects"]

# What types of polars are called whose columns are categories
_POLARS_KINDS = ("Boolean", "Categorical", "Enum", "String", "Utf8")

# And those of Arrow
_ARROW_KINDS = ("bool", "dictionary", "large_string", "string", "string_view")


class Category(NamedTuple):
    """The levels of a column.

    Attributes
    ----------
    values : tuple of str, bool, int or float
        Distinct values, all of one kind; level k is ``values[k]``.
    has_missing : bool
        Whether there is one more, of what is missing, the last.
    """

    values: tuple[Any, ...]
    has_missing: bool

    @property
    def n_levels(self) -> int:
        """Number of levels."""
        return len(self.values) + int(self.has_missing)

    def only(self, used: NDArray[np.intp]) -> Category:
        """Return the category of some of its levels, in their order."""
        kept = [self.values[k] for k in used.tolist() if k < len(self.values)]
        return Category(tuple(kept), bool(used.size and used[-1] == len(self.values)))


@dataclass(frozen=True)
class CategoryEncoder:
    """Puts numbers of levels in the place of categories, and leaves all else as it is.

    Parameters
    ----------
    categories : tuple of (int, Category)
        Columns, ascending, and their levels.
    """

    categories: tuple[tuple[int, Category], ...] = ()

    @classmethod
    def fit(cls, X: Any, columns: Sequence[int]) -> Self:
        """Find the levels of some columns of a table.

        Raises
        ------
        ValueError
            A column holds values of several kinds, or what cannot be the value of a category.
        """
        found = []
        for at in columns:
            values, missing = _entries(X, at)
            found.append((at, Category(_distinct(X, at, values), bool(missing.any()))))
        return cls(tuple(found))

    @property
    def columns(self) -> NDArray[np.intp]:
        """Which columns are categories."""
        return np.array([at for at, _ in self.categories], dtype=np.intp)

    def encode(self, X: Any) -> Any:
        """Return a table of the same library with levels as floats, NaN for what is none.

        Raises
        ------
        ValueError
            A column holds values of another kind than in `fit`, none of which it had there.
        """
        if not self.categories:
            return X
        return _with_columns(X, {at: self._codes(X, at, one) for at, one in self.categories})

    @staticmethod
    def _codes(X: Any, at: int, category: Category) -> Doubles:
        values, missing = _entries(X, at)
        places = {value: float(k) for k, value in enumerate(category.values)}
        codes = np.full(missing.size, np.nan)
        codes[~missing] = [places.get(value, np.nan) for value in values]
        if category.has_missing:
            codes[missing] = len(category.values)
        elif not category.values:
            return codes
        if values and category.values and np.isnan(codes[~missing]).all():
            here, there = _kind(values[0]), _kind(category.values[0])
            if here != there:
                raise ValueError(
                    f"X must hold the kinds of values that it held in fit, but "
                    f"{_column_name(X, at)} holds {here}, such as {shown(values[0])}, where fit "
                    f"had {there}, such as {shown(category.values[0])}"
                )
        return codes

    def missing_in(self, X: Any) -> tuple[int, int] | None:
        """Return the first column of a category with a missing entry, and its row."""
        for at, _ in self.categories:
            missing = _entries(X, at)[1]
            if missing.any():
                return at, int(missing.argmax())
        return None

    def compact(self, codes: NDArray[Any]) -> tuple[CategoryEncoder, NDArray[Any]]:
        """Leave levels out that no sample has; return the encoder, and the samples in its terms.

        Parameters
        ----------
        codes : ndarray, shape (n_samples, n_features)
            Samples, as encoded.
        """
        found = []
        for at, category in self.categories:
            used, places = np.unique(codes[:, at], return_inverse=True)
            if used.size < category.n_levels:
                codes = codes.copy()
                codes[:, at] = places
                category = category.only(used.astype(np.intp))
            found.append((at, category))
        return CategoryEncoder(tuple(found)), codes


def find_categories(X: Any, given: Any) -> list[int]:
    """Return which columns of a table are categories.

    Parameters
    ----------
    X : table, array or sequence of rows
        Inputs.
    given : None, "from_dtype", or array-like of bool, int or str
        None for no column; "from_dtype" for those of tables whose type is one of categories, text
        or truth values; else a mask, or numbers or names of columns.

    Raises
    ------
    ValueError, TypeError
        There is no such column, or the columns of X have no names.
    """
    if given is None or issparse(X):
        if given is not None and not isinstance(given, str):
            raise TypeError(
                "`categorical_features` must be None or 'from_dtype' for a sparse X, whose columns "
                f"are numbers; got {shown(given)}"
            )
        return []
    if isinstance(given, str):
        if given != "from_dtype":
            raise ValueError(
                "`categorical_features` must be None, 'from_dtype', a mask, or numbers or names of "
                f"columns; got {given!r}"
            )
        return [at for at, column in enumerate(_columns(X)) if _is_category(column)]
    n_columns, names = _shape_of(X), _names(X)
    wanted = np.asarray(given)
    if wanted.ndim != 1:
        raise ValueError(
            "`categorical_features` must have one dimension, as a mask or numbers or names of "
            f"columns have; got {shown(given)}"
        )
    if wanted.size == 0:
        return []
    if wanted.dtype.kind == "b":
        if wanted.size != n_columns:
            raise ValueError(
                f"`categorical_features` is a mask of {wanted.size} columns, but X has {n_columns}"
            )
        return [int(at) for at in np.flatnonzero(wanted)]
    if wanted.dtype.kind in "iu":
        if wanted.min() < 0 or wanted.max() >= n_columns:
            raise ValueError(
                f"`categorical_features` must hold numbers of columns from 0 to {n_columns - 1}; "
                f"got {shown(given)}"
            )
        return [int(at) for at in np.unique(wanted)]
    if wanted.dtype.kind not in "UO" or not all(isinstance(name, str) for name in wanted.tolist()):
        raise TypeError(
            "`categorical_features` must be None, 'from_dtype', a mask, or numbers or names of "
            f"columns; got {shown(given)}"
        )
    if names is None:
        raise ValueError(
            "`categorical_features` names columns, but those of X have no names: give their "
            "numbers, or X as a table"
        )
    unknown = [name for name in wanted.tolist() if name not in names]
    if unknown:
        raise ValueError(
            f"`categorical_features` names {shown(unknown[0])}, and X has no such column; "
            f"{did_you_mean(unknown[0], map(str, names)) or f'its columns are {shown(names)}'}"
        )
    return sorted({names.index(name) for name in wanted.tolist()})


def without_missing_objects(X: Any) -> Any:
    """Return a table of pandas with NaN for pandas' NA in columns of objects, as others have."""
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        return X
    gone = {}
    for at, dtype in enumerate(X.dtypes):
        if dtype.kind == "O":
            column = X.iloc[:, at]
            entries = column.tolist()
            if any(type(entry).__name__ == "NAType" for entry in entries):
                gone[at] = [np.nan if _is_missing(entry) else entry for entry in entries]
    return _with_columns(X, gone) if gone else X


# ---- tables of any library -----------------------------------------------------------------------


def _columns(X: Any) -> list[Any]:
    """Return the columns of a table of pandas, polars or Arrow; none of other things."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return [X.iloc[:, at] for at, dtype in enumerate(X.dtypes)] if X.ndim == 2 else []
    if hasattr(X, "get_columns"):
        return list(X.get_columns())
    return list(X.itercolumns()) if hasattr(X, "itercolumns") else []


def _shape_of(X: Any) -> int:
    return int(X.shape[1]) if hasattr(X, "shape") and len(X.shape) == 2 else np.shape(X)[1]


def _names(X: Any) -> list[Any] | None:
    if hasattr(X, "column_names"):  # of Arrow
        return list(X.column_names)
    return list(X.columns) if hasattr(X, "columns") else None


def _column_name(X: Any, at: int) -> str:
    names = _names(X)
    return f"column {at}" if names is None else f"column {at} ({names[at]!r})"


def _is_category(column: Any) -> bool:
    """Whether a column of a table is of a type of categories, of text or of truth values."""
    if not hasattr(column, "dtype"):  # of Arrow
        return str(column.type).partition("<")[0] in _ARROW_KINDS
    dtype = column.dtype
    if not hasattr(column, "iloc"):  # of polars
        return str(dtype).partition("(")[0] in _POLARS_KINDS
    if dtype.name in ("category", "bool", "boolean", "str", "string"):
        return True
    if dtype.kind != "O":
        return dtype.name.startswith("string") or _is_arrow_text(dtype)
    return any(isinstance(value, (str, bool, np.bool_)) for value in column.tolist())


def _is_arrow_text(dtype: Any) -> bool:
    return hasattr(dtype, "pyarrow_dtype") and str(dtype.pyarrow_dtype) in _ARROW_KINDS


def _entries(X: Any, at: int) -> tuple[list[Any], NDArray[np.bool_]]:
    """Return what a column holds where it is not missing, and where it is."""
    table = _columns(X)
    if table:
        values = table[at]
        column: Any = (values.to_list if hasattr(values, "to_list") else values.to_pylist)()
    elif hasattr(X, "ndim"):
        column = np.asarray(X)[:, at].tolist()
    else:
        column = [row[at] for row in X]
    missing = np.array([_is_missing(value) for value in column], dtype=bool)
    if missing.any():
        column = [value for value, gone in zip(column, missing, strict=True) if not gone]
    return column, missing


def _is_missing(value: Any) -> bool:
    if value is None or isinstance(value, (str, bool)):
        return value is None
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and value != value


def _with_columns(X: Any, codes: dict[int, Any]) -> Any:
    """Return a table with some columns replaced."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        X = X.copy(deep=False)
        for at, column in codes.items():
            X.isetitem(at, column)
        return X
    if hasattr(X, "get_columns"):
        series = X.get_columns()
        return X.with_columns(
            [type(series[at])(series[at].name, column) for at, column in codes.items()]
        )
    if hasattr(X, "itercolumns"):
        for at, column in codes.items():
            chunks = [column] if hasattr(X, "to_batches") else column  # of a table, or a batch
            X = X.set_column(at, X.column_names[at], chunks)
        return X
    array = np.array(X, dtype=object)
    for at, column in codes.items():
        array[:, at] = column
    return array


def _kind(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "truth values"
    return "text" if isinstance(value, str) else "numbers"


def _distinct(X: Any, at: int, values: list[Any]) -> tuple[Any, ...]:
    """Return the distinct values of a column, sorted."""
    known = {type(value): value for value in values}
    for value in known.values():
        whole = isinstance(value, (str, bool, np.bool_, Integral)) or (
            isinstance(value, Real) and abs(float(value)) != np.inf
        )
        if not whole:
            raise ValueError(
                f"X must hold text, truth values or finite numbers in columns of categories, but "
                f"{_column_name(X, at)} holds {shown(value)}"
            )
    kinds = sorted({_kind(value) for value in known.values()})
    if len(kinds) > 1:
        raise ValueError(
            f"X must hold values of one kind in each column, but {_column_name(X, at)} holds "
            f"{' and '.join(kinds)}: make them one, such as by .astype(str)"
        )
    return tuple(sorted({_plain(value) for value in values}))


def _plain(value: Any) -> Any:
    """Return a value as one of Python's own types, to which it is equal."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, str):
        return str(value)
    return int(value) if isinstance(value, Integral) else float(value)
