"""Checks of arguments that every function shares: arrays, weights, numbers and choices."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import math
import operator
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gegenbauer._dispatch import default_threads
from gegenbauer._messages import Message, Setting, Ways
from gegenbauer._rows import row
from gegenbauer._tables import columns_of
from gegenbauer._tensors import on_cpu
from gegenbauer.errors import BeyondRangeError, NotNumbersError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import numpy.typing as npt

    from gegenbauer._typing import Doubles

    # Of what is checked; a str is that of an argument
    Name: TypeAlias = "str | Setting | Message"

__all__ = [
    "CLIP",
    "MAX_INTEGER",
    "MAX_THREADS",
    "TEXT_ADVICE",
    "and_more",
    "apart",
    "as_alphas",
    "as_matrix",
    "as_weights",
    "check_callable",
    "check_choice",
    "check_flag",
    "check_integer",
    "check_number",
    "check_out",
    "check_sequence",
    "check_threads",
    "has_finite_sum",
    "naming_columns",
    "require_finite",
    "require_no_text",
    "require_plain",
    "setting",
    "shortest",
    "shown",
]

CLIP = Message("X lies too far out, clip it to the domain: `scaling=InputScaling(..., clip=True)`")

MAX_THREADS = 1024

MAX_INTEGER = 2**62

# What to do about columns of text
TEXT_ADVICE = (
    "encode text, for example by sklearn.preprocessing.OneHotEncoder in a ColumnTransformer",
    "leave the column out",
)

# Longest text of a value that an error shows
_MAX_SHOWN = 60

# Entries of object arrays, of which float() or NumPy makes numbers of some unit
_TIMES = (np.datetime64, np.timedelta64, dt.date, dt.time, dt.timedelta)


def shown(value: object) -> str:
    """Show what came, shortened, for an error."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write integers of more than some thousand digits
        return f"{type(value).__name__} of more digits than can be shown"
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def and_more(number: int, noun: str = "") -> str:
    """Return what a list ends with that leaves some of its entries out.

    Examples
    --------
    >>> and_more(2, "column"), and_more(1, "column"), and_more(2), and_more(0)
    (' and 2 more columns', ' and 1 more column', ' and 2 more', '')
    """
    if number <= 0:
        return ""
    return f" and {number} more" + (f" {noun}{'s' if number > 1 else ''}" if noun else "")


def setting(name: Name) -> Setting | Message:
    """Return a name as that of a parameter; what names a part of one stays.

    Examples
    --------
    >>> print(setting("alpha"), setting(Message("the q of `spectrum`")))
    `alpha` the q of `spectrum`
    """
    return name if isinstance(name, (Setting, Message)) else Setting(name)


def check_integer(value: object, name: Name, *, minimum: int) -> int:
    """Return `value` as an int; it must be an integer from `minimum` up and no bool."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(Message("{} must be an integer, got {!r}", setting(name), value))
    try:
        result = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            Message("{} must be an integer, got {}", setting(name), shown(value))
        ) from None
    if result < minimum:
        raise ValueError(
            Message("{} must be at least {}, got {}", setting(name), minimum, shown(result))
        )
    if result > MAX_INTEGER:
        raise ValueError(
            Message("{} must be at most {}, got {}", setting(name), MAX_INTEGER, shown(result))
        )
    return result


def check_flag(value: object, name: Name) -> bool:
    """Return `value` as a bool, which it must be (Python's or NumPy's)."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(Message("{} must be True or False, got {!r}", setting(name), value))
    return bool(value)


def check_number(value: object, name: Name, *, minimum: float, open_below: bool = False) -> float:
    """Return `value` as a float; it must be finite and not below (or at, if open) `minimum`.

    It may be any real number: a fraction, a decimal, an integer of any size within float64.
    """
    refused = (bool, np.bool_, str, bytes, complex, np.complexfloating, np.ma.MaskedArray, *_TIMES)
    if isinstance(value, refused) or getattr(getattr(value, "dtype", None), "kind", "") == "c":
        raise TypeError(Message("{} must be a number, got {}", setting(name), shown(value)))
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise TypeError(
            Message("{} must be a number, got {}", setting(name), shown(value))
        ) from None
    except OverflowError:
        raise ValueError(
            Message("{} must be within the range of float64, got {}", setting(name), shown(value))
        ) from None
    low = result <= minimum if open_below else result < minimum
    if low or not np.isfinite(result):
        bound = f"greater than {minimum}" if open_below else f"of at least {minimum}"
        raise ValueError(
            Message("{} must be a finite number {}, got {}", setting(name), bound, result)
        )
    return result


def check_choice(value: object, name: Name, choices: Collection[str]) -> str:
    """Return `value`; it must be one of the strings `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            Message(
                "{} must be one of {}; got {!r}",
                setting(name),
                ", ".join(map(repr, choices)),
                value,
            )
        )
    return value


def check_callable(value: Any, name: Name, wanted: str) -> None:
    """Refuse what cannot be called; `wanted` is what it must be, in words."""
    if not callable(value):
        raise TypeError(Message("{} must be {}, got {}", setting(name), wanted, shown(value)))


def check_sequence(value: Any, name: Name, wanted: str) -> list[Any]:
    """Return the entries of a sequence, which `wanted` describes; a text is none."""
    try:
        found = None if isinstance(value, (str, bytes)) else [*value]
    except TypeError:
        found = None
    if found is None:
        raise TypeError(
            Message("{} must be a sequence of {}, got {}", setting(name), wanted, shown(value))
        )
    return found


def apart(*values: float) -> list[str]:
    """Return numbers as text of six digits, or of as many as it takes to distinguish them.

    Examples
    --------
    >>> apart(1.0, 2 / 3), apart(1e9, 1e9 + 1)
    (['1', '0.666667'], ['1000000000', '1000000001'])
    """
    texts = [f"{float(value):.6g}" for value in values]
    if len(set(texts)) == len({float(value) for value in values}):
        return texts
    return [shortest(value) for value in values]


def shortest(value: float) -> str:
    """Return the shortest text that float() reads as this number.

    Examples
    --------
    >>> shortest(3.0), shortest(0.1), shortest(1e23)
    ('3', '0.1', '1e+23')
    """
    return repr(float(value)).removesuffix(".0")


def check_threads(n_threads: int | None) -> int:
    """Return the number of threads to use; None is `default_threads()`."""
    if n_threads is None:
        return default_threads()
    result = check_integer(n_threads, "n_threads", minimum=1)
    if result > MAX_THREADS:  # each takes memory, and no machine has so many processors
        raise ValueError(Message("`n_threads` must be at most {}, got {}", MAX_THREADS, result))
    return result


def _columns(value: Any) -> Iterable[tuple[Any, Any]] | None:
    """Return names and values of the columns of a table, whose library need not be known."""
    table = columns_of(value)
    names = None if getattr(value, "ndim", 2) != 2 else table.names
    return None if names is None else zip(names, map(table.column, range(len(names))), strict=True)


def _is_masked(value: Any) -> bool:
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))


def _holds(values: Any) -> str | None:
    """Name what there is in an array, column or sequence that is not to be taken for numbers."""
    if isinstance(values, (list, tuple)) and _has_masked(values):
        return "masked entries"
    if _is_masked(values):
        return "masked entries"
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind == "O":  # it may hold anything, as those of other libraries
        try:
            values = np.asarray(values)
        except (TypeError, ValueError):  # no array at all, which others report better
            return None
        kind = values.dtype.kind
    if kind in "mM":
        return "dates or times"
    if kind == "V":
        return "records"
    if kind == "c":
        return "complex numbers"
    if kind == "O":
        types = {*map(type, values.ravel().tolist())}
        if any(issubclass(one, np.ma.MaskedArray) for one in types):
            return "masked entries"
        # pandas derives its missing value from dates
        if any(issubclass(one, _TIMES) and one.__name__ != "NaTType" for one in types):
            return "dates or times"
        if any(issubclass(one, (complex, np.complexfloating)) for one in types):
            return "complex numbers"
    return None


def _has_masked(values: Any) -> bool:
    """Return whether a sequence, or one of those in it, has a masked entry."""
    return any(
        _has_masked(entry) if isinstance(entry, (list, tuple)) else _is_masked(entry)
        for entry in values
    )


def _mask_of(entries: Any) -> Any:
    """Return which entries of a row are masked, or whether a single one is."""
    if isinstance(entries, (list, tuple)):
        return np.array([_is_masked(entry) for entry in entries])
    return np.ma.getmaskarray(entries).reshape(-1)


def _first_masked(values: Any) -> Message | str:
    """Name the first masked entry of what holds some."""
    mask: Any
    if _is_masked(values):
        mask = np.ma.getmaskarray(values)
    else:  # of several columns, rows or numbers
        try:
            entries = values.tolist() if hasattr(values, "tolist") else list(values)
            mask = np.array([_mask_of(entry) for entry in entries])
        except (TypeError, ValueError):  # of different lengths
            return ""
    place = np.argwhere(mask)
    if place.size == 0:
        return ""
    first, *column = place[0].tolist()
    named = column and np.shape(mask)[1] > 1
    return Message(", first in {}{}", row(first), f", column {column[0]}" if named else "")


_REMEDIES = {
    "masked entries": "remove them, or fill them in, as numpy.ma.filled does",
    "dates or times": "turn them into numbers that mean something, such as days since a day",
    "complex numbers": "Complex data not supported; give real parts and imaginary ones as columns",
    "records": "make columns of them, by numpy.lib.recfunctions.structured_to_unstructured",
}


def require_plain(
    value: object, name: Name, *, wanted: str = "real numbers", times: bool = False
) -> Any:
    """Refuse what NumPy would take for numbers in silence: the gate for all that a caller gives.

    Masked arrays pass if no entry is masked. The columns of tables are looked at one by one, by
    their types where these suffice. Tensors come out as arrays, on whatever device they were.

    Parameters
    ----------
    value : object
        An array, table, column, sequence or sparse matrix; scalars pass.
    name : str
        For messages.
    wanted : str
        What the argument must hold, for messages.
    times : bool
        Let dates and times pass, where entries are only compared.

    Returns
    -------
    object
        The value itself; of a tensor of another library, or an array on another device, an array
        of NumPy.

    Raises
    ------
    NotNumbersError
        When there are masked entries, dates, times, complex numbers or records.
    TypeError
        When it is a dictionary, a set or an iterator, or a lazy table, which has no values yet; or
        a tensor that requires gradients.
    """
    if value is None or isinstance(value, (str, bytes)):
        return value
    if type(value) is np.ndarray and value.dtype.kind in "fiub":  # most of what comes
        return value
    value = on_cpu(value, name)
    _refuse_what_is_no_number(value, name, wanted, times=times)
    return value


def _refuse_what_is_no_number(value: object, name: Name, wanted: str, *, times: bool) -> None:
    if isinstance(value, Mapping) and not hasattr(value, "toarray"):  # DOK matrices are, too
        raise TypeError(
            Message(
                "{} must be an array or a table, got {}: make a table of it, "
                "as pandas.DataFrame does",
                name,
                type(value).__name__,
            )
        )
    if isinstance(value, (AbstractSet, Iterator)):
        raise TypeError(
            Message(
                "{} must be an array or a table, got {}: make a list of it",
                name,
                type(value).__name__,
            )
        )
    if hasattr(value, "collect_schema") and hasattr(value, "collect"):
        raise TypeError(
            Message(
                "{} must be an array or a table, got {}, which has no values yet: collect() them",
                name,
                type(value).__name__,
            )
        )
    if hasattr(value, "fetchdf"):  # of DuckDB
        raise TypeError(
            Message(
                "{} must be an array or a table, got {}, which has no values yet: call its df()",
                name,
                type(value).__name__,
            )
        )
    if hasattr(value, "iloc") and hasattr(value, "columns"):  # most columns need no look
        kinds = [getattr(dtype, "kind", "O") for dtype in value.dtypes]  # type: ignore[attr-defined]
        suspects = [at for at, kind in enumerate(kinds) if kind not in "biuf"]
        if not suspects:
            return
        value = value.iloc[:, suspects]
    columns = None if hasattr(value, "toarray") else _columns(value)  # not of a sparse matrix
    for column, values in [(None, value)] if columns is None else columns:
        found = _holds(values)
        if found is not None and not (times and found == "dates or times"):
            where = "" if column is None else f" in column {column!r}"
            first = _first_masked(values) if found == "masked entries" else ""
            raise NotNumbersError(
                Message(
                    "{} must hold {}, got {}{}{}: {}",
                    name, wanted, found, where, first, _REMEDIES[found],
                )
            )  # fmt: skip


def _as_float(entry: object) -> None:
    """Convert an entry as NumPy does, to which None is NaN; raise as float() does."""
    if entry is not None:
        float(entry)  # type: ignore[arg-type]


def _unreadable(values: Any) -> tuple[int, Any, Exception] | None:
    """Find the first entry of a column that is no number, and why."""
    array = np.asarray(values)
    if array.dtype.kind not in "OUST":  # objects and text; others are numbers of one kind
        return None
    try:
        array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        for at, entry in enumerate(array.tolist()):
            try:
                _as_float(entry)
            except (TypeError, ValueError, OverflowError) as error:
                return at, entry, error
    return None


def _ragged(name: Name) -> Message:
    return Message("{} must be rectangular, got rows of unequal length", name)


def _advice(entry: object, text: str | Ways | None = None) -> str | Ways:
    if isinstance(entry, bytes):
        return "make text of bytes by .decode(), or leave the column out"
    if isinstance(entry, str):
        return text or Ways.of(TEXT_ADVICE)
    if type(entry).__name__ in ("NAType", "NaTType"):
        return "fill missing values, as sklearn.impute.SimpleImputer does, or remove the rows"
    return "turn it into numbers, or leave the column out"


@contextlib.contextmanager
def naming_columns(value: Any, name: Name, *, text: str | Ways | None = None) -> Iterator[None]:
    """Let an error of a conversion to numbers name which column and entry it is, and what to do.

    Parameters
    ----------
    value : object
        What is converted, with two dimensions (or one).
    name : str
        For messages.
    text : str or Ways, optional
        What to do about columns of text; by default to encode them.

    Raises
    ------
    TypeError, ValueError
        Of the kind that came; OverflowError becomes ValueError.
    """
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        columns: Any = _columns(value)
        if columns is None:
            try:
                array = np.asarray(value)
            except (TypeError, ValueError):
                if isinstance(value, (list, tuple)):
                    raise ValueError(_ragged(name)) from None
                raise error from None
            if array.ndim == 0 and not hasattr(value, "toarray"):
                raise type(error)(
                    Message(
                        "{} must be an array of shape (n_samples, n_features), got {}",
                        name,
                        shown(value),
                    )
                ) from None
            columns = enumerate(array.T if array.ndim == 2 else [array] if array.ndim == 1 else [])
        else:
            columns = ((f"{at} ({label!r})", values) for at, (label, values) in enumerate(columns))
        problems = [(column, _unreadable(values)) for column, values in columns]
        found = [(column, *problem) for column, problem in problems if problem is not None]
        if not found:
            raise
        column, at, entry, reason = found[0]
        what = "an integer beyond float64" if isinstance(reason, OverflowError) else reason
        others = and_more(len(found) - 1, "column").removeprefix(" and ")
        more = f" (the same holds of {others})" if others else ""
        kind = TypeError if isinstance(reason, TypeError) else ValueError
        raise kind(
            Message(
                "{} must hold real numbers, but column {} does not, first in {}{}: {}",
                name,
                column,
                row(at),
                more,
                what,
                ways=_advice(entry, text),
                joint="; ",
            )
        ) from None


def _describe_bad_entry(array: npt.NDArray[Any], bad: npt.NDArray[np.bool_], name: Name) -> Message:
    first, column = np.argwhere(bad)[0].tolist()
    what = "NaN" if np.isnan(array[first, column]) else "infinity"
    others = and_more(int(bad.any(axis=0).sum()) - 1, "column").removeprefix(" and ")
    more = f" (the same holds of {others})" if others else ""
    return Message(
        "{} must be finite, but column {} holds {}, first in {}{}",
        name, column, what, row(first), more,
    )  # fmt: skip


def as_matrix(
    value: object,
    name: Name,
    *,
    n_columns: int | None = None,
    n_rows: int | None = None,
    keep_float32: bool = True,
    one_dimensional: bool = False,
    check_finite: bool = True,
    allow_missing: bool = False,
) -> npt.NDArray[Any]:
    """Return `value` as a finite 2-D array of float64 (or float32), without a copy if it is one.

    Parameters
    ----------
    value : array_like
        Real numbers or booleans, shape (n, k); with `one_dimensional` also (n,), read as (n, 1).
    name : str
        For messages.
    n_columns, n_rows : int, optional
        What the shape must be.
    keep_float32 : bool
        Leave float32 as it is instead of converting it to float64.
    one_dimensional : bool
        Accept one dimension.
    check_finite : bool
        False for arrays of float64 or float32 whose entries are known to be finite.
    allow_missing : bool
        Take NaN, which is a number that is missing.

    Raises
    ------
    TypeError
        When the entries are not real numbers.
    ValueError
        When the shape is wrong, the array is empty or an entry is not finite.
    """
    # what most calls pass, several times on the way of one prediction
    plain = type(value) is np.ndarray and value.dtype.kind == "f"
    array: npt.NDArray[Any] = value if plain else _as_numbers(value, name)  # type: ignore[assignment]
    if one_dimensional and array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        hint = " (reshape it to (n_samples, n_features))" if array.ndim == 1 else ""
        wanted = "1 or 2 dimensions" if one_dimensional else "2 dimensions"
        raise ValueError(Message("{} must have {}, got {}{}", name, wanted, array.ndim, hint))
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise ValueError(Message("{} must not be empty, got shape {}", name, array.shape))
    if n_rows is not None and array.shape[0] != n_rows:
        raise ValueError(Message("{} must have {} rows, got {}", name, n_rows, array.shape[0]))
    if n_columns is not None and array.shape[1] != n_columns:
        raise ValueError(
            Message("{} must have {} columns, got {}", name, n_columns, array.shape[1])
        )
    dtype = np.dtype(np.float32 if keep_float32 and array.dtype == np.float32 else np.float64)
    aligned = array.flags.aligned and all(s % array.itemsize == 0 for s in array.strides)
    if array.dtype != dtype or not array.dtype.isnative or not aligned:
        with np.errstate(over="ignore"):
            array = np.array(array, dtype=dtype)
    if not check_finite:
        return array
    if not has_finite_sum(array):
        bad = np.isinf(array) if allow_missing else ~np.isfinite(array)
        if bad.any():
            raise ValueError(_describe_bad_entry(array, bad, name))
    return array


def _as_numbers(value: object, name: Name) -> npt.NDArray[Any]:
    """Return an array of real numbers or truth values, of whatever type they are."""
    if hasattr(value, "toarray"):
        raise TypeError(
            Message("{} must be dense, got a sparse matrix: pass {}.toarray()", name, name)
        )
    value = require_plain(value, name)
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(_ragged(name)) from None
    require_no_text(array, name)
    if array.dtype == object and array.ndim:
        with naming_columns(value, name):
            array = array.astype(np.float64)
    if array.dtype.kind not in "fiub" and array.ndim:
        raise TypeError(Message("{} must hold real numbers, got dtype {}", name, array.dtype))
    return array


def require_no_text(array: npt.NDArray[Any], name: Name) -> None:
    """Refuse text among the entries of an array, also that of digits.

    Raises
    ------
    NotNumbersError
        When there is some.
    """
    if array.dtype.kind == "O":
        at = next((i for i, v in enumerate(array.flat) if isinstance(v, (str, bytes))), None)
        if at is None:
            return
        first = row(at // (array.size // len(array))) if array.ndim else None
        text = array.flat[at]
    elif array.dtype.kind in "SU" and array.size:
        first, text = None, array.flat[0].item()  # whose repr has no np.str_
    else:
        return
    raise NotNumbersError(
        Message(
            "{} must hold real numbers, got text such as {!r}{}: turn text that stands "
            "for numbers into them, {}.astype(float)",
            name,
            text,
            "" if first is None else Message(", first in {}", first),
            name,
        )
    )


def as_weights(sample_weight: object, n_samples: int) -> npt.NDArray[np.float64] | None:
    """Return sample weights as a finite, non-negative float64 array of shape (n_samples,)."""
    if sample_weight is None:
        return None
    weights = as_matrix(
        sample_weight, "sample_weight", n_rows=n_samples, n_columns=1,
        keep_float32=False, one_dimensional=True,
    )[:, 0]  # fmt: skip
    if weights.min() < 0:
        at = int(weights.argmin())
        raise ValueError(
            Message("sample_weight must not be negative, got {} in {}", weights[at], row(at))
        )
    if not weights.any():
        raise ValueError("sample_weight must not be zero everywhere")
    return weights


def check_out(out: object, shape: tuple[int, int], dtypes: Collection[str]) -> npt.NDArray[Any]:
    """Return `out` after checking that results of `shape` can be written into it."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, got {type(out).__name__}")
    if out.dtype.name not in dtypes or not out.dtype.isnative:
        raise TypeError(f"out must have dtype {' or '.join(dtypes)}, got {out.dtype}")
    if out.shape != shape:
        raise ValueError(f"out must have shape {shape}, got {out.shape}")
    # from the shorter step to the longer one, which must pass over all entries of the former
    steps = sorted((abs(s), n) for s, n in zip(out.strides, out.shape, strict=True) if n > 1)
    distinct = all(s >= out.itemsize for s, _ in steps) and all(
        short * n <= long for (short, n), (long, _) in itertools.pairwise(steps)
    )
    strides_fit = all(s % out.itemsize == 0 for s in out.strides)
    if not (out.flags.writeable and out.flags.aligned and strides_fit and distinct):
        raise ValueError("out must be writeable, aligned and without repeated entries")
    return out


def has_finite_sum(array: npt.NDArray[Any], dtype: type[np.float64] | None = None) -> bool:
    """Return whether the sum of all entries is finite, which it is not when an entry is not.

    It costs one pass and no temporary array; that of finite entries may be beyond the range.
    """
    with np.errstate(all="ignore"):
        return math.isfinite(np.add.reduce(array, axis=None, dtype=dtype))


def require_finite(
    array: npt.NDArray[Any], what: str, advice: str | Ways, *, name_row: bool = True
) -> None:
    """Refuse a result that holds NaN or infinity; `name_row` where its rows are the caller's."""
    if not has_finite_sum(array, np.float64) and not np.isfinite(array).all():
        at = int(np.argwhere(~np.isfinite(array))[0, 0]) if name_row else None
        raise BeyondRangeError(f"{what} beyond the range of {array.dtype}", advice, at)


def as_alphas(alphas: npt.ArrayLike) -> Doubles:
    if np.ndim(alphas) == 0 and not isinstance(alphas, (str, bytes)):
        raise TypeError(
            Message(
                "`alphas` must be a sequence of numbers, such as [0.1, 1.0]; got a single {}",
                type(alphas).__name__,
            )
        )
    if np.size(alphas) == 0:
        raise ValueError(Message("`alphas` must not be empty: give values to choose from"))
    column = as_matrix(
        alphas, Setting("alphas"), n_columns=1, keep_float32=False, one_dimensional=True
    )
    return np.asarray(column[:, 0], dtype=np.float64)
