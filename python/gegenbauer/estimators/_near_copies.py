"""Samples that are nearly copies of others, to which predictions of samples left out are blind.

Equal samples are found before the search. Copies whose inputs were moved a little, whose targets
were rounded, or that have the number of their row as an input, are not: each of them is predicted
by its copy when it is left out, whatever the penalty. Here groups of samples are found that may be
such copies, by inputs alone, and some of the groups are left out as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.estimators._samples import have_few_values, spread_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.basis.scaling import InputScaling

__all__ = [
    "NearCopies",
    "equal_but_for_one",
    "hold_out",
    "near_in_box",
    "worth_a_look",
]

# Samples whose neighbours are looked at, and how many of these there are to a sample
_MOST_LOOKED_AT, _NEIGHBOURS = 128, 32

# Copies are so much nearer than the next sample. Of samples of a smooth density such a gap is
# behind the nearest for this share in one dimension, and for its power m in m dimensions
_GAP = 0.03

# Share of the samples that have copies, and least number of groups, from which on they are tried
_LEAST_SHARE, _FEWEST = 0.1, 8

# Most of the samples that are left out at once
_LEFT_OUT = 0.1

# Equal samples must be so many times more than chance makes of values that come more than once
_BEYOND_CHANCE = 10.0

# Most samples that are sorted to find equal ones
_MOST_SORTED = 20_000

# Inputs in which copies may differ, to be named
_MOST_NAMED = 3


@dataclass(frozen=True)
class NearCopies:
    """Groups of samples that may be copies: each place of a sample, and those of its own.

    Attributes
    ----------
    groups : sequence of ndarray
        No two share a sample.
    share : float
        Part of the samples looked at that are in such a group.
    """

    groups: Sequence[Places]
    share: float

    @property
    def are_many(self) -> bool:
        """Whether they are worth a closer look."""
        return self.share >= _LEAST_SHARE and len(self.groups) >= _FEWEST

    @property
    def first(self) -> Places:
        """One sample of each group."""
        return np.array([group[0] for group in self.groups])

    @property
    def second(self) -> Places:
        """Another one of each."""
        return np.array([group[1] for group in self.groups])

    def differ_in(self, X: NDArray[Any]) -> list[int]:
        """Return the few inputs in which copies differ; none where these are many."""
        one, other = X[self.first], X[self.second]
        differ = ~((one == other) | (np.isnan(one) & np.isnan(other)))
        columns = np.flatnonzero(differ.mean(axis=0) > _LEAST_SHARE)
        return columns.tolist() if columns.size <= min(_MOST_NAMED, X.shape[1] - 1) else []


def worth_a_look(X: NDArray[Any]) -> bool:
    """Return whether samples could have copies that are not equal: not if all are codes."""
    return len(X) >= 2 * _FEWEST and not have_few_values(X).all()


def near_in_box(X: NDArray[Any], scaling: InputScaling) -> NearCopies:
    """Find samples that lie together in the box, all others far from them."""
    scaled = scaling.transform(np.where(np.isnan(X), scaling.lower, X))
    scaled = np.hstack([scaled, np.isnan(X)])
    scaled = scaled[:, np.ptp(scaled, axis=0) > 0]
    places = spread_places(len(X), _MOST_LOOKED_AT)
    most = min(_NEIGHBOURS, len(X) - 1)
    groups = []
    for place in places.tolist():
        difference = scaled - scaled[place]
        found = np.einsum("ij,ij->i", difference, difference)
        found[place] = -1.0  # itself, which is first
        near = np.argpartition(found, most)[: most + 1] if most < len(X) - 1 else np.arange(len(X))
        near = near[np.argsort(found[near], kind="stable")]
        gaps = np.flatnonzero(found[near[1:-1]] < _GAP**2 * found[near[2:]])
        if gaps.size:
            groups.append(near[: gaps[0] + 2])
    return NearCopies(_apart(groups), len(groups) / places.size)


def equal_but_for_one(X: NDArray[Any]) -> NearCopies | None:
    """Find samples that are equal but for one input, which numbers them: no two have a value of it.

    None where no input does.
    """
    n, m = X.shape
    # sums modulo 2^64 of scattered values: what is equal has equal ones, and else hardly ever
    whole = np.zeros(n, dtype=np.uint64)
    for t in range(m):
        whole += _scattered(X[:, t], t)
    best: NearCopies | None = None
    for t in range(m) if m > 1 else ():
        key = whole - _scattered(X[:, t], t)
        some = np.arange(n)
        if n > _MOST_SORTED:  # those that are equal are all among these, or none of them is
            some = np.flatnonzero(key < np.uint64(2**64 / n * _MOST_SORTED))
        order = some[np.argsort(key[some], kind="stable")]
        differs = np.diff(key[order]) != 0
        if differs.all():  # as of nearly every input
            continue
        groups = np.split(order, np.flatnonzero(differs) + 1)
        several = [group for group in groups if group.size > 1]
        share = sum(group.size for group in several) / max(order.size, 1)
        if share < _LEAST_SHARE or (best is not None and share <= best.share):
            continue
        others = np.delete(X, t, axis=1)
        if np.unique(X[:, t]).size < n or have_few_values(others).all():
            continue
        pairs = sum(group.size * (group.size - 1.0) for group in several) * n / order.size
        if pairs < _BEYOND_CHANCE * _pairs_by_chance(others):
            continue
        kept = spread_places(len(several), _MOST_LOOKED_AT)
        best = NearCopies([several[k] for k in kept], share)
    return best


def _pairs_by_chance(X: NDArray[Any]) -> float:
    """Return how many pairs are equal, in either order, if inputs are independent."""
    found = float(len(X)) ** 2
    for column in X.T:
        found *= float(((np.unique(column, return_counts=True)[1] / len(X)) ** 2).sum())
    return found


def _scattered(column: NDArray[Any], number: int) -> NDArray[np.uint64]:
    """Return an integer for each value of a column, as if drawn at random (splitmix64)."""
    values = column.astype(np.float64) + 0.0  # which has one zero
    values[np.isnan(values)] = np.nan
    bits = values.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15 * (number + 1) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


def _apart(groups: Iterable[Places]) -> list[Places]:
    """Return groups without those that share a sample with one before."""
    seen: set[int] = set()
    found = []
    for group in groups:
        own = {*group.tolist()}
        if seen.isdisjoint(own):
            seen |= own
            found.append(group)
    return found


def hold_out(copies: NearCopies, n: int, predict: Callable[[Places, Places], Doubles]) -> Doubles:
    """Return predictions for the first sample of each group, without the group.

    ``predict`` takes the samples to be fitted and those to be predicted, of n.
    """
    parts: list[list[Places]] = [[]]
    size = 0
    for group in copies.groups:
        if size and size + group.size > _LEFT_OUT * n:
            parts.append([])
            size = 0
        parts[-1].append(group)
        size += group.size
    outputs = []
    for part in parts:
        rest = np.setdiff1d(np.arange(n), np.concatenate(part))
        outputs.append(predict(rest, np.array([group[0] for group in part])))
    return np.concatenate(outputs)
