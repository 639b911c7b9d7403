"""Checks of arguments that every function shares: arrays, numbers and memory."""

from __future__ import annotations

import contextlib
import itertools
import operator
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._dispatch import default_threads

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

__all__ = [
    "CLIP",
    "BeyondRangeError",
    "TooLargeError",
    "apart",
    "as_matrix",
    "as_weights",
    "available_memory",
    "check_choice",
    "check_flag",
    "check_integer",
    "check_number",
    "check_out",
    "check_threads",
    "memory_limit",
    "require_finite",
    "require_memory",
    "shortest",
]


CLIP = "X lies too far out, clip it to the domain: scaling=InputScaling(..., clip=True)"

# Bytes below which nothing is refused
_WORTH_A_LOOK = 1e8

MAX_THREADS = 1024
_MAX_INTEGER = 2**62


class TooLargeError(MemoryError, ValueError):
    """A request that cannot fit into the memory of this machine, refused before the work."""


class BeyondRangeError(ValueError):
    """Results that hold NaN or infinity: `found` says where, the message also what to do."""

    def __init__(self, found: str, advice: str) -> None:
        super().__init__(found, advice)
        self.found = found

    def __str__(self) -> str:
        return ": ".join(self.args)


def check_integer(value: object, name: str, *, minimum: int) -> int:
    """Return `value` as an int; it must be an integer from `minimum` up and no bool."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    try:
        result = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if result < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {result}")
    if result > _MAX_INTEGER:
        raise ValueError(f"{name} must be at most {_MAX_INTEGER}, got {result}")
    return result


def check_flag(value: object, name: str) -> bool:
    """Return `value` as a bool, which it must be (Python's or NumPy's)."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_number(value: object, name: str, *, minimum: float, open_below: bool = False) -> float:
    """Return `value` as a float; it must be finite and not below (or at, if open) `minimum`."""
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    except OverflowError:  # of integers and fractions, whose digits would fill the screen
        raise ValueError(f"{name} must be within the range of float64") from None
    low = result <= minimum if open_below else result < minimum
    if low or not np.isfinite(result):
        bound = f"greater than {minimum}" if open_below else f"of at least {minimum}"
        raise ValueError(f"{name} must be a finite number {bound}, got {result}")
    return result


def check_choice(value: object, name: str, choices: Collection[str]) -> str:
    """Return `value`; it must be one of the strings `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")
    return value


def apart(*values: float) -> list[str]:
    """Return numbers as text of six digits, or of as many as it takes to tell them apart.

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
        raise ValueError(f"n_threads must be at most {MAX_THREADS}, got {result}")
    return result


def _describe_bad_entry(array: npt.NDArray[Any], name: str) -> str:
    row, column = np.argwhere(~np.isfinite(array))[0]
    what = "NaN" if np.isnan(array[row, column]) else "infinity"
    count = int((~np.isfinite(array)).any(axis=0).sum())
    more = f" (and {count - 1} more columns hold such values)" if count > 1 else ""
    return f"{name} must be finite, but column {column} holds {what}, first in row {row}{more}"


def as_matrix(
    value: object,
    name: str,
    *,
    n_columns: int | None = None,
    n_rows: int | None = None,
    keep_float32: bool = True,
    one_dimensional: bool = False,
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

    Raises
    ------
    TypeError
        When the entries are not real numbers.
    ValueError
        When the shape is wrong, the array is empty or an entry is not finite.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name} must have no masked entries: fill or remove them")
    if hasattr(value, "toarray"):
        raise TypeError(f"{name} must be dense, got a sparse matrix: pass {name}.toarray()")
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be rectangular, got rows of unequal length") from None
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"{name} must hold real numbers, got dtype object") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    if one_dimensional and array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        hint = " (reshape it to (n_samples, n_features))" if array.ndim == 1 else ""
        wanted = "1 or 2 dimensions" if one_dimensional else "2 dimensions"
        raise ValueError(f"{name} must have {wanted}, got {array.ndim}{hint}")
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    if n_rows is not None and array.shape[0] != n_rows:
        raise ValueError(f"{name} must have {n_rows} rows, got {array.shape[0]}")
    if n_columns is not None and array.shape[1] != n_columns:
        raise ValueError(f"{name} must have {n_columns} columns, got {array.shape[1]}")
    dtype = np.dtype(np.float32 if keep_float32 and array.dtype == np.float32 else np.float64)
    aligned = array.flags.aligned and all(s % array.itemsize == 0 for s in array.strides)
    if array.dtype != dtype or not array.dtype.isnative or not aligned:
        with np.errstate(over="ignore"):
            array = np.array(array, dtype=dtype)
    # The sum is not finite when an entry is not; it costs one pass and no temporary array.
    with np.errstate(all="ignore"):
        suspicious = not np.isfinite(array.sum())
    if suspicious and not np.isfinite(array).all():
        raise ValueError(_describe_bad_entry(array, name))
    return array


def as_weights(sample_weight: object, n_samples: int) -> npt.NDArray[np.float64] | None:
    """Return sample weights as a finite, non-negative float64 array of shape (n_samples,)."""
    if sample_weight is None:
        return None
    weights = as_matrix(
        sample_weight, "sample_weight", n_rows=n_samples, n_columns=1,
        keep_float32=False, one_dimensional=True,
    )[:, 0]  # fmt: skip
    if weights.min() < 0:
        row = int(weights.argmin())
        raise ValueError(f"sample_weight must not be negative, got {weights[row]} in row {row}")
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


def require_finite(
    array: npt.NDArray[Any], what: str, advice: str, *, name_row: bool = True
) -> None:
    """Refuse a result that holds NaN or infinity; `name_row` where its rows are the caller's."""
    with np.errstate(all="ignore"):
        suspicious = not np.isfinite(array.sum(dtype=np.float64))
    if suspicious and not np.isfinite(array).all():
        found = f"{what} beyond the range of {array.dtype}"
        if name_row:
            found += f", first in row {int(np.argwhere(~np.isfinite(array))[0, 0])}"
        raise BeyondRangeError(found, advice)


def _read(path: Path) -> str:
    return path.read_text(encoding="ascii", errors="replace")


def _fields(path: Path) -> dict[str, float]:
    """Return the first number after each name of a file like /proc/meminfo."""
    rows = (line.replace(":", " ").split() for line in _read(path).splitlines())
    return {row[0]: float(row[1]) for row in rows if len(row) > 1 and row[1].isdecimal()}


def _groups() -> dict[Path, bool]:
    """Return the control groups of this process and those around them; True: version 2."""
    found: dict[Path, bool] = {}
    lines = ["0:memory:/", "0::/"]  # in a container the other paths may mean nothing
    with contextlib.suppress(OSError):
        lines += _read(Path("/proc/self/cgroup")).splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            group = Path("/sys/fs/cgroup", controllers)
            found[group] = controllers == ""
            for part in Path(path.lstrip("/")).parts:
                group /= part
                found[group] = controllers == ""
    return found


def _left_in_group(group: Path, new: bool) -> float:
    """Return what the limit of a control group leaves beside usage that cannot be reclaimed."""
    limit = float(_read(group / ("memory.max" if new else "memory.limit_in_bytes")))
    used = float(_read(group / ("memory.current" if new else "memory.usage_in_bytes")))
    stat = _fields(group / "memory.stat")
    cache = sum(
        stat.get(f"{'' if new else 'total_'}{kind}_file", 0.0) for kind in ("active", "inactive")
    )
    return limit - max(0.0, used - cache)


def available_memory() -> float:
    """Bytes that this process may still take: of the machine, and of its control groups.

    Pages of files that the system can drop count as free. Where the system does not tell, all of
    the physical memory counts.
    """
    try:
        limit = float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")
    with contextlib.suppress(OSError, KeyError):
        limit = min(limit, 1024 * _fields(Path("/proc/meminfo"))["MemAvailable"])
    for group, new in _groups().items():
        with contextlib.suppress(OSError, ValueError):  # no such group, no limit ("max")
            limit = min(limit, _left_in_group(group, new))
    return max(0.0, limit)


def _readable(n_bytes: float) -> str:
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.3g} {unit}"
    return f"{n_bytes:.3g} bytes"


def memory_limit(n_bytes: float) -> float:
    """Return the bytes that may be taken, for work that may come to need about `n_bytes`.

    Infinity where that is so little that asking the system, which takes a millisecond, is not
    worth it.
    """
    return available_memory() if n_bytes >= _WORTH_A_LOOK else float("inf")


def require_memory(n_bytes: float, what: str, advice: str) -> None:
    """Refuse work that cannot fit into memory.

    Raises
    ------
    TooLargeError
        When `n_bytes` is more than this machine (or control group) has left.
    """
    limit = memory_limit(n_bytes)
    if n_bytes > limit:
        raise TooLargeError(
            f"{what} needs {_readable(n_bytes)} of memory, but only {_readable(limit)} can be had: "
            f"{advice}"
        )
