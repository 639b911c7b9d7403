"""Splits of the samples by a ``cv`` of the user, and groups."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import check_cv

from gegenbauer._messages import Message
from gegenbauer._validation import require_plain, shown
from gegenbauer.errors import message_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Places
    from gegenbauer.selection.candidates import Splits

__all__ = ["make_splits", "restrict_splits"]


def make_splits(cv: Any, X: Any, y: Any, used: Places, groups: Any, *, classifier: bool) -> Splits:
    """Split all samples that came, of which those of no weight take no part.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        As scikit-learn has it; None leaves out one sample at a time, and has no splits.
    X, y : array-like of shape (n_samples, n_features), and (n_samples,) or (n_samples, n_outputs)
        All samples, which a splitter may look at, and their targets.
    used : ndarray of int
        Places of the samples of positive weight.
    groups : array-like of shape (n_samples,) or None
        Group of each sample.
    classifier : bool
        Whether a number of folds means that each has every class its share.

    Returns
    -------
    list of (training places, test places) or None
        Places among those of ``used``.
    """
    y = np.asarray(y)
    n = len(y)
    groups = _checked_groups(groups, n)
    if cv is None:
        if groups is not None:
            raise ValueError(
                Message(
                    "groups are samples that are left out together, but `cv=None` leaves out "
                    "single ones",
                    ways="give `cv`, such as GroupKFold(5)",
                )
            )
        return None
    if isinstance(cv, type):
        raise TypeError(Message("`cv` must be a splitter, not a class: write {}(...)", cv.__name__))
    if isinstance(cv, (str, bytes)):  # which have a split() of their own
        raise TypeError(
            Message(
                "`cv` must be a number of folds, a splitter, or pairs (training samples, test "
                "samples); got {}",
                shown(cv),
            )
        )
    pairs = cv
    if isinstance(cv, Integral) or hasattr(cv, "split"):
        splitter = check_cv(cv, y, classifier=classifier)
        if groups is None and _needs_groups(splitter):
            raise ValueError(
                Message(
                    "`cv={!r}` splits by groups, and none came: pass the group of each sample, "
                    "fit(X, y, groups=...)",
                    cv,
                )
            )
        try:
            pairs = [*splitter.split(X, y, groups)]
        except ValueError as error:
            raise ValueError(
                Message("`cv={!r}` cannot split these samples: {}", cv, message_of(error))
            ) from error
    pairs = [*pairs]
    if not pairs:
        raise ValueError(Message("`cv` must have at least one split, got {!r}", cv))
    checked = [_checked_split(pair, k, n) for k, pair in enumerate(pairs)]
    splits = restrict_splits(checked, used, n)
    if not splits:
        raise ValueError(
            Message("`cv` leaves no split with samples of positive weight on both sides")
        )
    return splits


def restrict_splits(splits: Splits, rows: Places, n: int) -> Splits:
    """Return splits of some of n samples, by their places among these.

    None, which leaves one sample out at a time, if none of these is in a test part.
    """
    if splits is None:
        return None
    place = np.full(n, -1)
    place[rows] = np.arange(rows.size)
    pairs = [(place[train], place[test]) for train, test in splits]
    kept = [(train[train >= 0], test[test >= 0]) for train, test in pairs]
    return [(train, test) for train, test in kept if train.size and test.size] or None


def _needs_groups(splitter: Any) -> bool:
    """Whether a splitter of scikit-learn has groups among what it requests."""
    if not hasattr(splitter, "get_metadata_routing"):
        return False
    return bool(splitter.get_metadata_routing().split.requests.get("groups"))


def _checked_groups(groups: Any, n: int) -> NDArray[Any] | None:
    if groups is None:
        return None
    require_plain(groups, "groups", wanted="the group of each sample", times=True)
    found = np.asarray(groups)
    if found.shape != (n,):
        raise ValueError(
            f"groups must have shape ({n},), one group for each row of X; got shape {found.shape}"
        )
    return found


def _checked_split(pair: Any, k: int, n: int) -> tuple[Places, Places]:
    """Return the samples (of n) to train on and to test in split k."""
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise TypeError(
            Message(
                "`cv` must yield pairs (training samples, test samples); its split {} is {!r}",
                k,
                pair,
            )
        ) from None
    parts = []
    for part, name in ((train, "training"), (test, "test")):
        require_plain(part, f"split {k} of cv", wanted=f"places of {name} samples")
        rows = np.asarray(part)
        if rows.shape == (n,) and rows.dtype == bool:
            rows = np.flatnonzero(rows)
        if rows.size == 0:
            raise ValueError(
                Message("split {} of `cv` has no {} samples: give each split some of both", k, name)
            )
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise TypeError(
                Message(
                    "split {} of `cv` must hold places of {} samples (integers), or a mask of "
                    "all {} rows; got dtype {} and shape {}",
                    k,
                    name,
                    n,
                    rows.dtype,
                    rows.shape,
                )
            )
        beyond = rows[(rows < -n) | (rows >= n)]
        if beyond.size:
            raise ValueError(
                Message(
                    "split {} of `cv` has the {} row {}, but there are {} rows, 0 to {}",
                    k,
                    name,
                    beyond[0],
                    n,
                    n - 1,
                )
            )
        parts.append(rows.astype(np.intp))
    return parts[0], parts[1]
