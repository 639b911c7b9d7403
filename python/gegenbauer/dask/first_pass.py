"""The first pass over the partitions: ranges, targets and a sample."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

from gegenbauer.basis.scaling import InputScaling
from gegenbauer.estimators._draw import SAMPLE_SIZE, Draw
from gegenbauer.estimators._label_set import LabelSet
from gegenbauer.estimators._labels import column_names, indicator_columns, label_kind
from gegenbauer.estimators._samples import have_few_values, number_distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.dask.partitions import Partitions

__all__ = [
    "SAMPLE_SIZE",
    "ClassCoding",
    "FirstPass",
    "Folds",
    "RealCoding",
    "Sample",
    "first_pass",
]

# 2^64 over the golden ratio, which spreads bits
_ODD = np.uint64(0x9E3779B97F4A7C15)


class Sample(Draw):
    """An even draw of the samples of all partitions."""

    def __add__(self, other: Any) -> Sample:
        return self.joined(other, SAMPLE_SIZE)

    def folds(self, n_folds: int) -> Folds:
        """Return the way to deal samples to folds, by what these look like."""
        by_place = Folds(n_folds, by_x=False)
        distinct = int(number_distinct(self.X).max()) + 1
        if distinct == len(self.X) or have_few_values(self.X).all():
            return by_place
        by_x = Folds(n_folds, by_x=True)
        largest = np.bincount(by_x.of(self.X, self.number, self.place)).max()
        return by_x if largest * n_folds < 2 * len(self.X) else by_place


class Folds(NamedTuple):
    """Which fold a sample belongs to, known without the others.

    Samples that come again go to the fold of the first, or the others would know of them, and no
    penalty would be too small: so folds are of x, where some of a sample are equal. Of inputs that
    all have few values they are not, as in `estimators._samples`: without all samples of an x only
    those of other x would be left to predict it. Else a partition deals them in turn, each
    beginning with another fold.
    """

    n_folds: int
    by_x: bool

    def of(self, X: NDArray[Any], number: Any, place: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the folds of samples, given the number of their partition and places in it."""
        if not self.by_x:
            return np.asarray((place + number) % self.n_folds)
        mixed = np.zeros(len(X), dtype=np.uint64)
        for column in np.asfortranarray(X, dtype=np.float64).T:
            mixed ^= (column + 0.0).view(np.uint64)  # zeros have one sign
            mixed *= _ODD
            mixed ^= mixed >> np.uint64(32)
        return np.asarray(mixed % np.uint64(self.n_folds), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class FirstPass:
    """What the first pass finds."""

    model: Any  # knows the names of the inputs
    box: InputScaling
    resolution: float
    sample: Sample
    labels: NDArray[
        Any
    ]  # sorted; of multilabel y names or numbers of the columns; none in regression
    counts: Doubles  # weight of the samples of each, for multilabel y those without and with it
    shape: tuple[int, ...]  # of y beyond the samples
    n_samples: int  # of positive weight

    def __add__(self, other: FirstPass) -> FirstPass:
        if self.shape != other.shape:
            raise ValueError(
                f"y must have as many columns in all partitions, got {self.shape} and {other.shape}"
            )
        if self.counts.ndim == 2 and not np.array_equal(self.labels, other.labels):
            raise ValueError(
                "the columns of y must be the same labels in the same order in all partitions, got "
                f"{self.labels.tolist()} and {other.labels.tolist()}"
            )
        resolution = max(self.resolution, other.resolution)
        labels, counts = self.labels, self.counts + other.counts if self.counts.ndim == 2 else None
        if counts is None:
            texts = [found.labels.dtype.kind in "OUT" for found in (self, other)]
            if texts[0] != texts[1]:
                raise ValueError(
                    f"labels must be of one type, got {self.labels[0]!r} and {other.labels[0]!r}"
                )
            labels = np.union1d(self.labels, other.labels)
            counts = np.zeros(labels.size)
            for found in (self, other):
                counts[np.searchsorted(labels, found.labels)] += found.counts
        return FirstPass(
            self.model, self.box.union(other.box, resolution=resolution), resolution,
            self.sample + other.sample, labels, counts, self.shape,
            self.n_samples + other.n_samples,
        )  # fmt: skip


def first_pass(common: tuple[Any, int, InputScaling | None], rows: Partitions) -> FirstPass | None:
    """Find ranges, targets and classes of a partition, and draw its share of the sample.

    The box is that of all partitions, if it is known.
    """
    model, most, box = copy.copy(common[0]), *common[1:]
    X, y, weight, places = model._rows_that_count(
        rows.X, rows.y, rows.weight, reset=True, complete=False
    )
    if places.size == 0:
        return None
    weight = np.ones(places.size) if weight is None else weight
    places = np.arange(places.size)  # samples of no weight have none
    labels: Any = np.empty(0)
    counts: Any = np.empty(0)
    if is_classifier(model):
        name = type(model).__name__
        if label_kind(y, name) == "multilabel-indicator":
            columns = indicator_columns(y, name)
            labels = LabelSet.of_columns(columns.shape[1], column_names(rows.y)).answers
            counts = np.column_stack([weight @ ~columns, weight @ columns])
        else:
            y = column_or_1d(y)
            labels, codes = np.unique(y, return_inverse=True)
            counts = np.bincount(codes, weights=weight)
    domain = (0, 1) if model._on_paper else (-1, 1)
    key = np.random.default_rng(rows.number).random(places.size)
    number = np.full(places.size, rows.number)
    return FirstPass(
        model,
        InputScaling.fit(X, domain=domain, clip=model._clips) if box is None else box,
        float(np.finfo(X.dtype).eps),
        Sample(key, number, places, X, np.asarray(y), weight).smallest(most),
        labels,
        counts,
        np.shape(y)[1:],
        places.size,
    )


@dataclass(frozen=True, eq=False)
class RealCoding:
    """Targets in units of their spread around their mean."""

    center: Doubles
    unit: Doubles

    def __call__(self, y: NDArray[Any], weight: Doubles | None) -> tuple[Any, Doubles | None]:
        """Return targets (n, K) and weights."""
        values = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        return (values - self.center) / self.unit, weight


@dataclass(frozen=True, eq=False)
class ClassCoding:
    """Classes as +1 and -1, and the weights of the samples by their classes."""

    classes: NDArray[Any]
    multilabel: bool
    factors: Doubles | None  # of each class; for multilabel y of each column's 0 and 1

    def __call__(self, y: NDArray[Any], weight: Doubles | None) -> tuple[Doubles, Doubles | None]:
        """Return targets (n, K) and weights."""
        if self.multilabel:
            codes = np.asarray(y).astype(np.intp)
            targets = np.where(codes == 1, 1.0, -1.0)
        else:
            codes = np.searchsorted(self.classes, column_or_1d(y))
            own = codes[:, np.newaxis] == np.arange(self.classes.size)
            targets = np.where(own[:, 1:] if self.classes.size == 2 else own, 1.0, -1.0)
        if self.factors is not None:
            share = (
                np.prod(self.factors[np.arange(len(self.classes)), codes], axis=1)
                if self.multilabel
                else self.factors[codes]
            )
            weight = share if weight is None else weight * share
        return targets, weight
