"""Sparse samples in prediction: made dense in blocks, whatever is computed of each."""

from __future__ import annotations

import copy
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from gegenbauer.errors import BeyondRangeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["in_blocks", "joined"]

_Method = TypeVar("_Method", bound="Callable[..., Any]")

# Numbers of a block, and the samples that it has at least; these are powers of two, so that a block
# begins where the core begins one of its own
_BLOCK_NUMBERS, _FEWEST = 1 << 22, 256


def _n_rows(n_features: int) -> int:
    """Return the number of samples of a block, a power of two."""
    most = max(_FEWEST, _BLOCK_NUMBERS // max(1, n_features))
    return 1 << (most.bit_length() - 1)


def _blocks(X: Any, n_rows: int) -> Iterator[tuple[int, Any]]:
    """Yield blocks of samples, each behind its first row."""
    rows = X.tocsr()
    for first in range(0, X.shape[0], n_rows):
        yield first, rows[first : first + n_rows]


def joined(parts: list[Any]) -> Any:
    """Return results of blocks as one: an array, or a tuple of several."""
    if isinstance(parts[0], tuple):
        return tuple(np.concatenate(each) for each in zip(*parts, strict=True))
    return np.concatenate(parts)


def in_blocks(
    join: Callable[[list[Any]], Any], *, reports: bool = True
) -> Callable[[_Method], _Method]:
    """Let a method of a fitted estimator take a sparse X in blocks of samples.

    Parameters
    ----------
    join : callable
        Makes one result of those of the blocks.
    reports : bool
        Whether the method keeps to the policy for samples outside of the range, which is then done
        once, for all of them, before.

    Returns
    -------
    callable
        A decorator of methods whose first argument is X.
    """

    def decorate(method: _Method) -> _Method:
        @wraps(method)
        def of_blocks(self: Any, X: Any, *args: Any, **options: Any) -> Any:
            if not issparse(X) or X.shape[0] <= (n_rows := _n_rows(X.shape[1])):
                return method(self, X, *args, **options)
            check_is_fitted(self)
            model = _once_for_all(self, X, n_rows) if reports else self
            return join(
                [
                    _with_rows(first, partial(method, model, block, *args, **options))
                    for first, block in _blocks(X, n_rows)
                ]
            )

        return cast("_Method", of_blocks)

    return decorate


def _once_for_all(estimator: Any, X: Any, n_rows: int) -> Any:
    """Keep to the policy for all samples; return an estimator that has none any more."""
    if not estimator._has_range_policy:
        return estimator
    total: tuple[Any, ...] | None = None
    for first, block in _blocks(X, n_rows):
        dense = _with_rows(first, partial(estimator._validate_inputs, block, reset=False))
        found = estimator._find_outside(dense)
        total = (
            found
            if total is None
            else tuple(one.joined(other) for one, other in zip(total, found, strict=True))
        )
    estimator._report_outside(total)
    quiet = copy.copy(estimator)
    quiet.out_of_range = "clip"
    return quiet


def _with_rows(first: int, call: Callable[[], Any]) -> Any:
    """Call, and let errors count rows as the caller does, or report from where they count."""
    try:
        return call()
    except BeyondRangeError as error:
        row = None if error.row is None else first + error.row
        raise BeyondRangeError(error.found, error.advice, row) from None
    except ValueError as error:
        if first:
            error.add_note(f"Rows count from row {first} of X, which is sparse and read in blocks.")
        raise
