"""Columns of categories: which they are, and the numbers of their levels."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from gegenbauer._messages import Message
from gegenbauer._rows import row
from gegenbauer._tables import columns_of
from gegenbauer._validation import shown
from gegenbauer.batches.columns import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gegenbauer._tables import Columns
    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling

__all__ = [
    "Category",
    "CategoryEncoder",
    "find_categories",
    "without_missing_objects",
    "without_types",
]


# Of values of pandas that are missing
_MISSING_TYPES = ("NAType", "NaTType")


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

    def joined(self, other: Category, at: int) -> Category:
        """Return the category of the levels of both; `at` is their column, for messages."""
        kinds = {_kind(category.values[0]) for category in (self, other) if category.values}
        if len(kinds) > 1:
            raise ValueError(
                f"X must hold values of one kind in each column, but column {at} holds "
                f"{' and '.join(sorted(kinds))}: make them one, such as by .astype(str)"
            )
        values = tuple(sorted({*self.values, *other.values}))
        return Category(values, self.has_missing or other.has_missing)

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
        found, table = [], columns_of(X)
        for at in columns:
            values, missing = _given(table, at)
            found.append((at, Category(_distinct(table, at, values), bool(missing.any()))))
        return cls(tuple(found))

    def joined(self, other: CategoryEncoder) -> CategoryEncoder:
        """Return the encoder of the levels of both, by columns.

        Raises
        ------
        ValueError
            A column holds values of one kind here, and of another there.
        """
        found = dict(self.categories)
        for at, category in other.categories:
            found[at] = found[at].joined(category, at) if at in found else category
        return CategoryEncoder(tuple(sorted(found.items())))

    def box_around_levels(self, box: InputScaling) -> InputScaling:
        """Return a box in which each category goes from its first level to its last."""
        if not self.categories:
            return box
        lower, upper = box.lower.copy(), box.upper.copy()
        flags = np.zeros(box.n_features, dtype=bool)
        for t, category in self.categories:
            lower[t], upper[t], flags[t] = 0.0, max(category.n_levels - 1, 0), True
        constant = box.is_constant & ~flags  # a category is if its ends are the same
        return box.replace(lower=lower, upper=upper, constant=constant, categories=flags)

    @property
    def columns(self) -> NDArray[np.intp]:
        """Which columns are categories."""
        return np.array([at for at, _ in self.categories], dtype=np.intp)

    def encode(self, X: Any, *, allow_missing: bool) -> Any:
        """Return a table of the same library with levels as floats, NaN for what is none.

        Raises
        ------
        ValueError
            A column holds values of another kind than in `fit`, none of which it had there, or
            misses some though it must not.
        """
        if not self.categories:
            return X
        table = columns_of(X)
        codes = {}
        for at, category in self.categories:
            values, missing = _given(table, at)
            if missing.any() and not allow_missing:
                raise ValueError(
                    Message(
                        "X must hold no missing values, but {} has one, first in {}",
                        table.name_of(at),
                        row(int(missing.argmax())),
                        ways=["fill them in", "set `missing='indicator'`"],
                    )
                )
            codes[at] = _codes(table.name_of(at), values, missing, category)
        return table.replaced(codes)

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
                Message(
                    "`categorical_features` must be None or 'from_dtype' for a sparse X, whose "
                    "columns are numbers; got {}",
                    shown(given),
                )
            )
        return []
    table = columns_of(X)
    if isinstance(given, str):
        return table.categories()
    n_columns, names = table.n_columns, table.names
    if n_columns is None:
        return []  # the checks of X refuse it
    wanted = np.asarray(given)
    if wanted.ndim != 1:
        raise ValueError(
            Message(
                "`categorical_features` must have one dimension, as a mask or numbers or names of "
                "columns have; got {}",
                shown(given),
            )
        )
    if wanted.size == 0:
        return []
    if wanted.dtype.kind == "b":
        if wanted.size != n_columns:
            raise ValueError(
                Message(
                    "`categorical_features` is a mask of {} columns, but X has {}",
                    wanted.size,
                    n_columns,
                )
            )
        return [int(at) for at in np.flatnonzero(wanted)]
    if wanted.dtype.kind in "iu":
        if wanted.min() < 0 or wanted.max() >= n_columns:
            raise ValueError(
                Message(
                    "`categorical_features` must hold numbers of columns from 0 to {}; got {}",
                    n_columns - 1,
                    shown(given),
                )
            )
        return [int(at) for at in np.unique(wanted)]
    if wanted.dtype.kind not in "UO" or not all(isinstance(name, str) for name in wanted.tolist()):
        raise TypeError(
            Message(
                "`categorical_features` must be None, 'from_dtype', a mask, or numbers or names of "
                "columns; got {}",
                shown(given),
            )
        )
    if names is None:
        raise ValueError(
            Message(
                "`categorical_features` names columns, but those of X have no names: give their "
                "numbers, or X as a table"
            )
        )
    unknown = [name for name in wanted.tolist() if name not in names]
    if unknown:
        raise ValueError(
            Message(
                "`categorical_features` names {}, and X has no such column; {}",
                shown(unknown[0]),
                did_you_mean(unknown[0], map(str, names)) or f"its columns are {shown(names)}",
            )
        )
    return sorted({names.index(name) for name in wanted.tolist()})


def without_missing_objects(X: Any) -> Any:
    """Return a table of pandas with NaN for NA and NaT in columns of objects, as others have."""
    table, gone = columns_of(X), {}
    for at in table.objects():
        entries = table.entries(at)
        if any(type(entry).__name__ in _MISSING_TYPES for entry in entries):
            gone[at] = [np.nan if _is_missing(entry) else entry for entry in entries]
    return table.replaced(gone) if gone else X


def without_types(X: Any, columns: Sequence[int]) -> Any:
    """Return a table with 0 for what some columns hold, if it need not be numbers, NaN for gaps."""
    table = columns_of(X)
    shown = {*columns} & {*table.categories(), *table.objects()}
    gaps = {at: _given(table, at)[1] for at in sorted(shown)}
    return (
        table.replaced({at: np.where(gap, np.nan, 0.0) for at, gap in gaps.items()}) if gaps else X
    )


# ---- the values of a column ----------------------------------------------------------------------


def _codes(name: str, values: list[Any], missing: NDArray[np.bool_], category: Category) -> Doubles:
    """Return the levels of a column as floats, NaN for what is none of its category."""
    places = {value: float(k) for k, value in enumerate(category.values)}
    codes = np.full(missing.size, np.nan)
    codes[~missing] = [places.get(value, np.nan) for value in values]
    if category.has_missing:
        codes[missing] = len(category.values)
    if values and category.values and np.isnan(codes[~missing]).all():
        here, there = _kind(values[0]), _kind(category.values[0])
        if here != there:
            raise ValueError(
                f"X must hold the kinds of values that it held in fit, but {name} holds {here}, "
                f"such as {shown(values[0])}, where fit had {there}, such as "
                f"{shown(category.values[0])}"
            )
    return codes


def _given(columns: Columns, at: int) -> tuple[list[Any], NDArray[np.bool_]]:
    """Return what a column holds where it is not missing, and where it is."""
    entries = columns.entries(at)
    missing = np.array([_is_missing(entry) for entry in entries], dtype=bool)
    if missing.any():
        entries = [entry for entry, gone in zip(entries, missing, strict=True) if not gone]
    return entries, missing


def _is_missing(value: Any) -> bool:
    if value is None or isinstance(value, (str, bool)):
        return value is None
    if type(value).__name__ in _MISSING_TYPES:
        return True
    return isinstance(value, Real) and value != value


def _kind(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "truth values"
    if isinstance(value, str):
        return "text"
    return "numbers" if isinstance(value, Real) else f"values of type {type(value).__name__}"


def _distinct(columns: Columns, at: int, values: list[Any]) -> tuple[Any, ...]:
    """Return the distinct values of a column, sorted."""
    known = {type(value): value for value in values}
    for value in values:  # of each type one is enough, of floats all but NaN and infinity are alike
        if isinstance(value, (float, np.floating)) and abs(float(value)) == np.inf:
            known[type(value)] = value
            break
    for value in known.values():
        whole = isinstance(value, (str, bool, np.bool_, Integral)) or (
            isinstance(value, Real) and abs(float(value)) != np.inf
        )
        if not whole:
            raise ValueError(
                f"X must hold text, truth values or finite numbers in columns of categories, but "
                f"{columns.name_of(at)} holds {shown(value)}"
            )
    kinds = sorted({_kind(value) for value in known.values()})
    if len(kinds) > 1:
        raise ValueError(
            f"X must hold values of one kind in each column, but {columns.name_of(at)} holds "
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
