"""Collections taken apart into partitions, and the graph over them."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask.utils import is_dataframe_like, is_series_like
from sklearn.utils.validation import _num_samples

from gegenbauer._messages import Message
from gegenbauer._validation import require_plain
from gegenbauer.errors import Rows, StreamError, message_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Partitions", "gather", "is_frame", "is_ours", "naming", "require_inputs"]

# Results that one task merges. A tree of twos would be the shortest for the network, one of eights
# has the fewest tasks: see bench/dask_overhead.py.
_FAN_IN = 4


def is_frame(collection: Any) -> bool:
    """Whether it is a dataframe or a series."""
    return bool(is_dataframe_like(collection) or is_series_like(collection))


def is_ours(collection: Any) -> bool:
    """Whether it is a Dask array, dataframe or series."""
    known = isinstance(collection, da.Array) or is_frame(collection)
    return known and bool(dask.is_dask_collection(collection))


def _n_partitions(collection: Any) -> int:
    return int(
        collection.numblocks[0] if isinstance(collection, da.Array) else collection.npartitions
    )


def _sizes(collection: Any) -> tuple[float, ...] | None:
    """Return the number of rows of each partition, None where they are not known."""
    if not isinstance(collection, da.Array) or np.isnan(collection.chunks[0]).any():
        return None
    return tuple(collection.chunks[0])


def _require_whole_rows(collection: Any, name: str) -> None:
    if isinstance(collection, da.Array) and collection.ndim > 1 and collection.numblocks[1] > 1:
        raise ValueError(
            f"{name} must not be cut between its columns, got {collection.numblocks[1]} chunks of "
            f"them: pass {name}.rechunk({{1: -1}})"
        )


def require_inputs(X: Any) -> None:
    """Return the inputs as a collection of known width, or refuse them."""
    if not is_ours(X) or is_series_like(X):
        raise TypeError(
            f"X must be a Dask array or dataframe, got {type(X).__name__}; what fits into memory "
            "is for the estimator of the same name in gegenbauer, or for dask.array.from_array"
        )
    if X.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, rows and inputs, got {X.ndim}; X.reshape(-1, 1) makes "
            "one input of them"
        )
    _require_whole_rows(X, "X")


def _beside(X: Any, other: Any, name: str) -> Any:
    """Return what comes with the rows of X as a Dask collection of the same partitions."""
    sizes = _sizes(X)
    if not is_ours(other):
        if dask.is_dask_collection(other):
            raise TypeError(
                f"{name} must be a Dask array, dataframe or series, got {type(other).__name__}"
            )
        if sizes is None:
            how = "X.to_dask_array(lengths=True)" if is_frame(X) else "X.compute_chunk_sizes()"
            raise ValueError(
                f"{name} must be a Dask collection where the number of rows of each partition of X "
                f"is not known, got {type(other).__name__}: pass {how} for X, or {name} as a "
                "column of the same dataframe"
            )
        values = np.asarray(require_plain(other, name))
        if values.ndim == 0 or len(values) != sum(sizes):
            raise ValueError(
                f"{name} must have a row for each of the {sum(sizes)} rows of X, got shape "
                f"{values.shape}"
            )
        return da.from_array(values, chunks=(sizes, *values.shape[1:]))
    _require_whole_rows(other, name)
    others = _sizes(other)
    if sizes is not None and others is not None:
        if sizes != others:
            raise ValueError(
                f"X and {name} must be partitioned alike; X has {_listed(sizes)}, {name} "
                f"{_listed(others)}: pass {name}.rechunk({{0: X.chunks[0]}})"
            )
    elif _n_partitions(X) != _n_partitions(other):
        raise ValueError(
            f"X and {name} must be partitioned alike; X has {_n_partitions(X)} partitions and "
            f"{name} {_n_partitions(other)}: take them from one dataframe, or repartition them"
        )
    return other


def _listed(sizes: Sequence[float]) -> str:
    shown = ", ".join(f"{size:.0f}" for size in sizes[:5])
    return f"{len(sizes)} partitions of {shown}{', ...' if len(sizes) > 5 else ''} samples"


def _delayed(collection: Any) -> list[Any]:
    """Return the partitions as they are.

    Not optimised: each collection by itself would read its part of what they share once more, and
    small files of Parquet would become one partition.
    """
    return list(np.ravel(collection.to_delayed(optimize_graph=False)))


class Partitions(NamedTuple):
    """One partition: its place, and what there is of it, as Dask knows it or in memory."""

    number: int
    X: Any
    y: Any
    weight: Any
    where: str

    @classmethod
    def of(cls, X: Any, y: Any = None, sample_weight: Any = None) -> list[Partitions]:
        """Take collections apart, which must fit each other."""
        require_inputs(X)
        parts = [_delayed(X)]
        where = [f"partition {k}" for k in range(len(parts[0]))]
        sizes = _sizes(X)
        if sizes is not None:
            ends = np.cumsum((0, *sizes)).astype(int).tolist()
            where = [
                f"{name} ({Rows('', start, max(start, end - 1))})"
                for name, start, end in zip(where, ends, ends[1:], strict=False)
            ]
        for name, other in (("y", y), ("sample_weight", sample_weight)):
            if other is None or np.isscalar(other):
                parts.append([other] * len(parts[0]))
            else:
                parts.append(_delayed(_beside(X, other, name)))
        return [cls(*row) for row in zip(range(len(parts[0])), *parts, where, strict=True)]

    def check(self) -> bool:
        """Return whether there are samples; refuse parts of different length."""
        n: int = _num_samples(self.X)
        for name, other in (("y", self.y), ("sample_weight", self.weight)):
            if other is None or np.isscalar(other) or _num_samples(other) == n:
                continue
            raise ValueError(
                f"X has {n} rows and {name} {_num_samples(other)}: they must be partitioned alike, "
                "as columns of one dataframe are"
            )
        return n > 0


# --- The graph --------------------------------------------------------------------------------


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Let errors name the partition in which they arose, from whose beginning rows are counted."""
    try:
        yield
    except (ValueError, TypeError) as error:
        reason = message_of(error).with_rows(
            lambda rows: Rows("the partition", rows.first, rows.last)
        )
        raise StreamError(reason, where) from None


def _on_partition(task: Callable[..., Any], common: Any, *rows: Any) -> Any:
    """Do a task on a partition; None if it has no samples."""
    part = Partitions(*rows)
    with naming(part.where):
        return task(common, part) if part.check() else None


def _merged(merge: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    """Merge from left to right what there is; None if there is nothing."""
    present = [part for part in parts if part is not None]
    return functools.reduce(merge, present) if present else None


def gather(
    client: Any,
    name: str,
    task: Callable[[Any, Partitions], Any],
    common: Any,
    rows: Sequence[Partitions],
    merge: Callable[[Any, Any], Any],
) -> Any:
    """Do a task on every partition, and merge the results in a tree.

    Parameters
    ----------
    client : distributed.Client or None
        Who computes; None for the current client, or Dask's scheduler for the threads here.
    name : str
        What the task is called.
    task : callable
        Called with ``common`` and a partition that has samples.
    common : object
        What all of them need to know. It is sent with each task; a Delayed goes to each worker
        once, which may lead Dask to take the tasks to it and not to their samples.
    rows : sequence of _Rows
        The partitions.
    merge : callable
        Merges two results.

    Returns
    -------
    object
        None if no partition has samples.
    """
    if getattr(client, "asynchronous", False):
        raise ValueError(
            Message("`client` must not be asynchronous, since fit returns when it is done")
        )
    keys = [part.X.key for part in rows] + [
        getattr(p, "key", p) for r in rows for p in (r.y, r.weight)
    ]
    token = dask.base.tokenize(name, common, keys)
    on_partition = dask.delayed(functools.partial(_on_partition, task), pure=True)
    merge_some = dask.delayed(functools.partial(_merged, merge), pure=True)
    parts = [
        on_partition(common, *part, dask_key_name=(f"{name}-{token}", part.number)) for part in rows
    ]
    level = 0
    while len(parts) > 1:
        level += 1
        groups = [parts[i : i + _FAN_IN] for i in range(0, len(parts), _FAN_IN)]
        parts = [
            merge_some(group, dask_key_name=(f"{name}-merge-{token}", level, i))
            for i, group in enumerate(groups)
        ]
    try:
        (result,) = dask.compute(parts[0], scheduler=client)
    except StreamError as error:
        raise StreamError(error.reason, error.where) from None  # without the frames of a worker
    return result
