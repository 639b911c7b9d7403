"""Splits of the samples by a ``cv`` of the user, and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._validation import require_plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Places
    from gegenbauer.selection.candidates import Splits

__all__ = ["checked_groups", "checked_split", "restrict_splits"]


def restrict_splits(splits: Splits, rows: Places, n: int) -> Splits:
    """Return splits of some of n samples, by their places among these."""
    if splits is None:
        return None
    place = np.full(n, -1)
    place[rows] = np.arange(rows.size)
    pairs = [(place[train], place[test]) for train, test in splits]
    kept = [(train[train >= 0], test[test >= 0]) for train, test in pairs]
    return [(train, test) for train, test in kept if train.size and test.size]


def checked_groups(groups: Any, n: int) -> NDArray[Any] | None:
    if groups is None:
        return None
    require_plain(groups, "groups", wanted="the group of each sample", times=True)
    found = np.asarray(groups)
    if found.shape != (n,):
        raise ValueError(
            f"groups must have shape ({n},), one group for each row of X; got shape {found.shape}"
        )
    return found


def checked_split(pair: Any, k: int, n: int) -> tuple[Places, Places]:
    """Return the samples (of n) to train on and to test in split k."""
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise TypeError(
            f"`cv` must yield pairs (training samples, test samples); its split {k} is {pair!r}"
        ) from None
    parts = []
    for part, name in ((train, "training"), (test, "test")):
        require_plain(part, f"split {k} of cv", wanted=f"places of {name} samples")
        rows = np.asarray(part)
        if rows.shape == (n,) and rows.dtype == bool:
            rows = np.flatnonzero(rows)
        if rows.size == 0:
            raise ValueError(
                f"split {k} of `cv` has no {name} samples: give each split some of both"
            )
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise TypeError(
                f"split {k} of `cv` must hold places of {name} samples (integers), or a mask of "
                f"all {n} rows; got dtype {rows.dtype} and shape {rows.shape}"
            )
        beyond = rows[(rows < -n) | (rows >= n)]
        if beyond.size:
            raise ValueError(
                f"split {k} of `cv` has the {name} row {beyond[0]}, but there are {n} rows, 0 to "
                f"{n - 1}"
            )
        parts.append(rows.astype(np.intp))
    return parts[0], parts[1]
