"""Rows that come in batches: slices of arrays, Parquet and CSV files, or whatever yields (X, y).

A source of batches knows how to begin again from any of them, with the same boundaries, and has a
fingerprint of those that came before, so that work which was interrupted goes on with the same
data or not at all. No more than a batch is in memory, and a batch never spans two files.

Everything that is wrong with a file is a :class:`StreamError` that begins with the rows and the
name of the file. Rows are counted from 0, within each file, as the error notes; a header is no row.
"""

from __future__ import annotations

import hashlib
import mmap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gegenbauer._renamed import FormerNames, refuse_old_names
from gegenbauer._validation import check_integer, require_plain
from gegenbauer.errors import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["BATCH_SIZE", "ArrayBatches", "Batch", "digest_of", "length_of", "witness_of"]

BATCH_SIZE = 65536

# Rows of a batch, evenly spread, that distinguish it from another one.
_WITNESSES = 64


class Batch(NamedTuple):
    """Some rows of a stream.

    Attributes
    ----------
    X : array-like of shape (n_rows, n_features)
        Inputs.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Targets.
    sample_weight : array-like of shape (n_rows,) or None
        Weights of the rows.
    where : str
        Which rows these are, counted from 0, for errors; of files they are ``errors.Rows``.

    See Also
    --------
    as_batches : Batches of whatever yields pairs (X, y).
    ArrayBatches : Batches of arrays and memory maps.
    TableBatches : Batches of CSV and Parquet files.

    Examples
    --------
    >>> from gegenbauer import ArrayBatches
    >>> source = ArrayBatches([[1.0], [2.0], [3.0]], [4.0, 5.0, 6.0], batch_size=2)
    >>> first, second = source.start()
    >>> second.X.tolist(), second.y.tolist(), second.sample_weight, str(second.where)
    ([[3.0]], [6.0], None, 'row 2')
    """

    X: Any
    y: Any
    sample_weight: Any
    where: str

    def part(self, mask: NDArray[np.bool_]) -> Batch:
        """Return some of the rows, of which errors count the same.

        Parameters
        ----------
        mask : ndarray of bool, shape (n_rows,)
            Which of them.
        """
        where, weight = self.where, self.sample_weight
        if isinstance(where, Rows):
            where = Rows(where.source, where.first, where.last, np.flatnonzero(mask).tolist())
        some = None if weight is None else weight[mask]
        return Batch(self.X[mask], self.y[mask], some, where)


def witness_of(X: Any, y: Any, sample_weight: Any) -> str:
    """Return a digest of some rows of a batch, and of their number."""
    n_rows = length_of(X)
    parts: list[object] = [n_rows]
    for values in (X, y, sample_weight):
        if values is None or not n_rows:
            parts.append(None)
            continue
        if not hasattr(values, "shape"):
            require_plain(values, "a batch")  # before masks are lost
        array = values if hasattr(values, "shape") else np.asarray(values)
        at = np.unique(np.linspace(0, n_rows - 1, _WITNESSES).astype(np.intp))
        rows = array.iloc[at] if hasattr(array, "iloc") else array[at[at < len(array)]]
        parts += [str(getattr(array, "dtype", "")), np.asarray(rows).tolist()]
    return digest_of(parts)


class ArrayBatches(FormerNames):
    """Batches of arrays, memory maps or tables in memory: slices of their rows, without a copy.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Inputs: an array, a memory map (``numpy.load(..., mmap_mode="r")``), a DataFrame, or
        whatever else has a ``shape`` and gives rows for a slice.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Targets.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows.
    batch_size : int, default=65536
        Rows of a batch; the last one may have fewer.

    Raises
    ------
    ValueError
        X is no matrix, there are no rows, or their numbers differ.

    See Also
    --------
    TableBatches : Batches of CSV and Parquet files.
    as_batches : Batches of whatever yields pairs (X, y).

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.batches import ArrayBatches
    >>> source = ArrayBatches(np.zeros((250, 3)), np.ones(250), batch_size=100)
    >>> [(batch.where, batch.X.shape) for batch in source.start(1)]
    [('rows 100 to 199', (100, 3)), ('rows 200 to 249', (50, 3))]
    """

    @refuse_old_names
    def __init__(
        self, X: Any, y: Any, sample_weight: Any = None, *, batch_size: int = BATCH_SIZE
    ) -> None:
        self.batch_size = check_integer(batch_size, "batch_size", minimum=1)
        arrays = {"X": X, "y": y, "sample_weight": sample_weight}
        for name, values in arrays.items():
            wanted = "numbers" if name != "y" else "numbers or labels"
            arrays[name] = require_plain(values, name, wanted=wanted)
        self._arrays = {
            name: values if hasattr(values, "shape") else np.asarray(values)
            for name, values in arrays.items()
            if values is not None
        }
        if X is None:
            raise ValueError("X must hold the inputs of the samples, got None")
        if y is None:
            raise ValueError("y must hold the targets of the rows of X, got None")
        shape = self._arrays["X"].shape
        if len(shape) != 2:
            raise ValueError(
                f"X must be a matrix with one row a sample, got shape {shape}; a single input is "
                "X[:, np.newaxis]"
            )
        self.n_rows: int = int(shape[0])
        if self.n_rows == 0:
            raise ValueError(f"X must have at least one row, got shape {shape}")
        for name, values in self._arrays.items():
            if len(values.shape) == 0 or values.shape[0] != self.n_rows:
                raise ValueError(
                    f"{name} must have one entry for each of the {self.n_rows} rows of X, got "
                    f"shape {values.shape}"
                )

    def start(self, n_batches: int = 0) -> Iterator[Batch]:
        """Yield the batches behind the first ones.

        Parameters
        ----------
        n_batches : int, default=0
            How many to skip.

        Yields
        ------
        Batch
            The rows from ``n_batches * batch_size`` on.
        """
        first = check_integer(n_batches, "n_batches", minimum=0) * self.batch_size
        return self._from(first)

    def _from(self, first: int) -> Iterator[Batch]:
        for begin in range(first, self.n_rows, self.batch_size):
            end = min(begin + self.batch_size, self.n_rows)
            rows = {name: _rows(values, begin, end) for name, values in self._arrays.items()}
            yield Batch(rows["X"], rows["y"], rows.get("sample_weight"), Rows("", begin, end - 1))
            for values in self._arrays.values():
                _release(values)

    def fingerprint(self, n_batches: int) -> str:
        """Return a digest of where the first batches come from.

        Parameters
        ----------
        n_batches : int
            How many.

        Returns
        -------
        str
            The same for arrays that are alike in some rows, evenly spread over these batches.
        """
        n_batches = check_integer(n_batches, "n_batches", minimum=0)
        n_rows = min(n_batches * self.batch_size, self.n_rows)
        used = {name: _rows(values, 0, n_rows) for name, values in self._arrays.items()}
        witness = witness_of(used["X"], used["y"], used.get("sample_weight")) if n_rows else ""
        return digest_of(["arrays", self.batch_size, tuple(self._arrays["X"].shape[1:]), witness])


def _rows(values: Any, begin: int, end: int) -> Any:
    return values.iloc[begin:end] if hasattr(values, "iloc") else values[begin:end]


def _release(values: Any) -> None:
    """Let the system take back the pages of a map of a file that can only be read.

    Else they count as memory of this process until the system is short of it. What is read again
    comes from the file again. Of any other memory it would be lost.
    """
    root = values
    while isinstance(root, np.ndarray):
        root = root.base
    if not isinstance(root, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    with memoryview(root) as view:
        read_only = view.readonly
    if read_only:
        root.madvise(mmap.MADV_DONTNEED)


def length_of(X: Any) -> int | None:
    """Return the number of samples of X, where it is known beforehand."""
    shape = getattr(X, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else None
    return len(X) if hasattr(X, "__len__") else None


def digest_of(parts: Sequence[object]) -> str:
    """Return a short fingerprint of some values."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()
