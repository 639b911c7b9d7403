"""Batches from whatever yields (X, y), and the choice of the source that suits an argument."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._tensors import on_cpu
from gegenbauer._validation import check_integer
from gegenbauer.batches.arrays import ArrayBatches, Batch, digest_of, length_of, witness_of
from gegenbauer.batches.paths import is_dataset
from gegenbauer.batches.tables import TableBatches
from gegenbauer.errors import Rows, StreamError, message_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["as_batches"]


class _IterableBatches:
    """Batches that somebody else makes: tuples (X, y) or (X, y, sample_weight)."""

    n_rows = None

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items
        # Of a generator, for example, which cannot begin again, there is one reader for all.
        self._reader = _Reader(items) if iter(items) is items else None
        self._lengths: list[int | None] = []  # of the batches that were seen
        self._witnesses: list[str] = []

    def start(self, n_batches: int = 0) -> Iterator[Batch]:
        """Yield the batches behind the first ones, which are made and left aside."""
        n_batches = check_integer(n_batches, "n_batches", minimum=0)
        reader = self._skip(n_batches)
        return iter(lambda: self._next(reader), None)

    def fingerprint(self, n_batches: int) -> str:
        """Return a digest of the first batches: of some rows of each."""
        n_batches = check_integer(n_batches, "n_batches", minimum=0)
        if len(self._witnesses) < n_batches:
            self._skip(n_batches)
        return digest_of(["iterable", self._witnesses[:n_batches]])

    def _skip(self, n_batches: int) -> _Reader:
        reader = self._reader or _Reader(self._items)
        if reader.n_taken > n_batches:
            raise StreamError(
                f"batch {n_batches} is gone: a generator or other iterator yields each batch once; "
                "pass a list, or an object whose __iter__ begins again"
            )
        while reader.n_taken < n_batches and self._next(reader) is not None:
            pass
        return reader

    def _next(self, reader: _Reader) -> Batch | None:
        number = reader.n_taken
        try:
            item = next(reader)
        except StopIteration:
            return None
        if not isinstance(item, (tuple, list)) or len(item) not in (2, 3):
            size = f" of {len(item)}" if isinstance(item, (tuple, list)) else ""
            raise TypeError(
                f"batch {number} must be a tuple (X, y) or (X, y, sample_weight), got "
                f"{type(item).__name__}{size}"
            )
        names = ("X", "y", "sample_weight")
        try:
            # a loader of tensors, too
            X, y, weight = map(on_cpu, (*item, None)[:3], names)
        except TypeError as error:
            raise StreamError(message_of(error), f"batch {number}") from error
        self._lengths[number : number + 1] = [length_of(X)]
        try:
            witness = witness_of(X, y, weight)
        except (TypeError, ValueError, IndexError):  # that it is no batch others report
            witness = ""
        self._witnesses[number : number + 1] = [witness]
        lengths = [n for n in self._lengths[: number + 1] if n is not None]
        where = f"batch {number}"
        if len(lengths) > number:
            where += f" ({Rows('', sum(lengths[:-1]), sum(lengths) - 1)})"
        return Batch(X, y, weight, where)


class _Reader:
    """An iterator that counts what was taken from it."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = iter(items)
        self.n_taken = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        item = next(self._items)
        self.n_taken += 1
        return item


def as_batches(value: Any, name: str = "batches") -> ArrayBatches | TableBatches | _IterableBatches:
    """Return a source of batches as it is, and make one of any iterable of (X, y).

    Parameters
    ----------
    value : ArrayBatches, TableBatches or iterable
        A source, or something that yields tuples (X, y) or (X, y, sample_weight).
    name : str, default="batches"
        What the argument is called, for errors.

    Returns
    -------
    ArrayBatches, TableBatches or a source of the same kind
        It has ``start``, ``fingerprint`` and ``n_rows``.

    Raises
    ------
    TypeError
        The value is neither; the message explains what to pass instead.

    See Also
    --------
    ArrayBatches : Batches of arrays and memory maps.
    TableBatches : Batches of CSV and Parquet files.
    Batch : What is yielded.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.batches import as_batches
    >>> source = as_batches((np.zeros((5, 2)), np.ones(5)) for _ in range(3))
    >>> [batch.where for batch in source.start(1)]
    ['batch 1 (rows 5 to 9)', 'batch 2 (rows 10 to 14)']
    """
    if isinstance(value, (ArrayBatches, TableBatches, _IterableBatches)):
        return value
    advice = "pass ArrayBatches, TableBatches or an iterable of tuples (X, y)"
    if isinstance(value, (str, bytes, os.PathLike)) or is_dataset(value):
        advice = "pass TableBatches(paths, target='name of a column') for files"
    elif isinstance(value, tuple) and not all(isinstance(item, tuple) for item in value):
        advice = "pass ArrayBatches(X, y) for arrays, or a list of such tuples for batches"
    elif hasattr(value, "to_pandas"):
        advice = "pass ArrayBatches(table.to_pandas()[inputs], ...) for a table in memory"
    elif hasattr(value, "iloc"):
        advice = "pass ArrayBatches(table[inputs], table[target]) for a table in memory"
    elif isinstance(value, np.ndarray):
        advice = "pass ArrayBatches(X, y), which takes memory maps, too"
    elif isinstance(value, Iterable) and not isinstance(value, (Mapping, set, frozenset)):
        return _IterableBatches(value)
    raise TypeError(f"{name} must be a source of rows, got {type(value).__name__}: {advice}")
