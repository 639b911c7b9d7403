"""Distinct samples of a fit, and what of each is left out with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.selection.candidates import Splits

__all__ = [
    "Samples",
    "deal_samples",
    "have_few_values",
    "number_distinct",
    "ordered_sums",
    "search_places",
    "spread_places",
]

# Multiples of it modulo one are even, and have no period that a grid of samples might have
_GOLDEN = 0.5 * (5.0**0.5 - 1.0)

# Stands for a missing value in a sum
_MISSING = 0.5**0.5

# Inputs of at most so many values are codes or counts, and so many samples that agree there may be
# copies of one
_FEW_VALUES, _MOST_COPIES = 32, 5.0


def ordered_sums(X: NDArray[Any]) -> Doubles:
    """Return a sum of each input, (n_features,), which others have if not of these samples.

    Each sample has a factor of its own, so that the order counts as well: samples are recognised by
    it where a model does not keep them.
    """
    factors = (_GOLDEN * np.arange(1.0, len(X) + 1.0)) % 1.0
    with np.errstate(over="ignore", invalid="ignore"):  # then nothing is recognised
        return np.array([factors @ np.where(np.isnan(x), _MISSING, x) for x in X.T])


@dataclass(frozen=True, eq=False)
class Samples:
    """Distinct samples, with targets as the solves take them."""

    X: NDArray[Any]
    Y: Doubles  # (n, K)
    weight: Doubles | None
    back: Places  # place of each original sample among these
    given: Doubles | None = None  # weight of each original sample, where the user gave any
    share: Doubles | None = None  # of the weight of each sample that goes out with it; None: all

    @classmethod
    def merge(
        cls,
        X: NDArray[Any],
        Y: Doubles,
        weight: Doubles | None,
        given: Doubles | None = None,
        splits: Splits = None,
    ) -> tuple[Samples, Splits]:
        """Make identical samples that are in the same parts of all splits one of more weight."""
        key = np.hstack([_comparable(X), Y])
        if splits is not None:
            key = np.column_stack([key, _parts(splits, len(X))])
        _, first, places, counts = np.unique(
            key, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        back = places.reshape(-1)
        if splits is not None:
            # in the order in which they came, as splits may depend on it
            order = np.argsort(first)
            first, back = first[order], np.argsort(order)[back]
            # a sample that comes twice in a part does so still
            times = [[np.bincount(part, minlength=len(X))[first] for part in s] for s in splits]
            rows = np.arange(first.size)
            splits = [(np.repeat(rows, train), np.repeat(rows, test)) for train, test in times]
        total = None
        if weight is not None or (counts > 1).any():
            total = np.bincount(back, weights=weight).astype(np.float64)
        data = cls(X[first], Y[first], total, back, given)
        return data if splits is not None else data.left_out_by_sample(), splits

    def left_out_by_sample(self) -> Samples:
        """Find out what is left out with each sample, see `_left_out_share`."""
        return replace(self, share=_left_out_share(self.X, self.Y, self.weight))

    @property
    def leaving_out(self) -> dict[str, Any]:
        """What the searches want to know of weights."""
        return {"sample_weight": self.weight, "left_out_share": self.share}

    @property
    def n_samples(self) -> float:
        """How many samples there are, each of which is left out by itself."""
        return float(self.n if self.share is None else (1.0 / self.share).sum())

    @property
    def unit(self) -> float:
        """Mean weight of a sample."""
        return 1.0 if self.weight is None else float(self.weight.sum()) / self.n_samples

    def take(self, rows: Places) -> Samples:
        weight = None if self.weight is None else self.weight[rows]
        originals, at = self.originals(rows)
        given = None if self.given is None else self.given[originals]
        taken = Samples(self.X[rows], self.Y[rows], weight, at, given)
        return taken if self.share is None else taken.left_out_by_sample()

    def originals(self, rows: Places) -> tuple[Places, Places]:
        """Return the original samples of some distinct ones, and the place of each among these."""
        place = np.full(self.n, -1)
        place[rows] = np.arange(rows.size)
        at = place[self.back]
        originals = np.flatnonzero(at >= 0)
        return originals, at[originals]

    def apart(self) -> Samples:
        """Return the original samples, each by itself."""
        weight = None
        if self.weight is not None:
            own = np.ones(self.back.size) if self.given is None else self.given
            weight = self.weight[self.back] * own / np.bincount(self.back, weights=own)[self.back]
        places = np.arange(self.back.size)
        return Samples(self.X[self.back], self.Y[self.back], weight, places, self.given)

    @property
    def n(self) -> int:
        return int(self.X.shape[0])


def _comparable(X: NDArray[Any]) -> Doubles:
    """Return samples of which those are equal that lack the same values, as NaN never is."""
    found = X.astype(np.float64)
    found[np.isnan(found)] = np.inf
    return found


def _parts(splits: Sequence[tuple[Places, Places]], n: int) -> Places:
    """Return a number for each of n samples: alike for those in the same parts of splits."""
    kind = np.zeros(n, dtype=np.intp)
    for pair in splits:
        for part in pair:
            times = np.bincount(part, minlength=n)
            _, kind = np.unique(kind * (times.max() + 1) + times, return_inverse=True)
    return kind


def _left_out_share(X: NDArray[Any], Y: Doubles, weight: Doubles | None) -> Doubles | None:
    """Return the share of the weight of each sample that goes out with it; None for all of it.

    The samples are distinct (x, y), and their weights count how many are equal. These may be one
    sample and its copies, or as many samples that agree, as they do where x and y have few values.
    They are taken for one, and left out together, where all samples at their x have the same y, or
    where their y occurs at this x alone; but where all inputs have few values, or none in these
    samples, not more than a few of them, since so many copies are unlikely and nothing else may
    show what y is there. Elsewhere one of them is left out at a time: without all that agree, only
    those at the same x that disagree would be left. Where all weights are multiples of a few, so
    many are one sample.
    """
    if weight is None:
        return None
    x, y = number_distinct(X), number_distinct(Y)
    agree = (np.bincount(x) == 1)[x] | (np.bincount(y) == 1)[y]
    few = have_few_values(X)
    sample = 1.0
    if (weight == np.round(weight)).all() and weight.max() < 2.0**53:
        sample = min(float(np.gcd.reduce(weight.astype(np.int64))), _MOST_COPIES)
    most = sample * np.where(agree, np.where(few, _MOST_COPIES, np.inf), 1.0)
    share = np.minimum(1.0, most / weight)
    return None if (share == 1).all() else share


def have_few_values(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which samples have nothing but codes, counts and gaps, which are equal by chance."""
    gaps = np.isnan(X)
    columns = zip(X.T, gaps.T, strict=True)
    few = [np.unique(column[~gap]).size <= _FEW_VALUES for column, gap in columns]
    return np.asarray((gaps | np.array(few)).all(axis=1))


def number_distinct(X: NDArray[Any]) -> Places:
    """Return a number for each sample: alike for those that are equal."""
    places: Places = np.unique(_comparable(X), axis=0, return_inverse=True)[1]
    return places.reshape(-1)


def spread_places(n: int, most: int) -> Places:
    """Return ``most`` of n places, evenly spread, or all of them."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, most).round().astype(np.intp))


def deal_samples(data: Samples, n_parts: int, strata: Places | None = None) -> Places:
    """Return the part of each sample, from 0 up: parts of equal size, spread over the range of y.

    So are those of each stratum, if there are some; sizes that are not equal differ by one. Parts
    are the same ones in whatever order the samples come. Neighbours in the order of y, and of x
    where y is the same, go by no period, which the levels of a design may have.
    """
    own = np.zeros(data.n, dtype=np.intp) if strata is None else strata
    order = np.lexsort((*data.X.T[::-1], *data.Y.T[::-1], own))
    ends = np.flatnonzero(np.diff(own[order])) + 1
    part = np.empty(data.n, dtype=np.intp)
    sizes = np.zeros(n_parts, dtype=np.intp)
    for members in np.split(order, ends):
        turn = np.empty(members.size, dtype=np.intp)
        turn[np.argsort((_GOLDEN * np.arange(members.size)) % 1.0)] = np.arange(members.size)
        band = turn * n_parts // members.size
        n_own, to = np.bincount(band, minlength=n_parts), np.arange(n_parts)
        if np.ptp(sizes) > 0:  # the parts that have fewest get the largest bands
            to[np.argsort(-n_own, kind="stable")] = np.argsort(sizes, kind="stable")
        part[members] = to[band]
        sizes[to] += n_own
    return part


def search_places(data: Samples, most: int, stratified: Callable[[Samples, int], Places]) -> Places:
    """Return about so many samples that stand for all, with all samples of each distinct x.

    They are the same ones in whatever order the samples come. ``stratified`` draws at most so many
    of some samples.
    """
    if data.n <= most:
        return np.arange(data.n)
    order = np.lexsort((*data.Y.T[::-1], *data.X.T[::-1]))
    group = number_distinct(data.X[order])
    _, heads = np.unique(group, return_index=True)
    share = max(2, round(most * heads.size / data.n))
    chosen = heads[stratified(data.take(order[heads]), share)]
    rows = np.flatnonzero(np.isin(group, group[chosen]))
    return np.sort(order[rows[spread_places(rows.size, 2 * most)]])
