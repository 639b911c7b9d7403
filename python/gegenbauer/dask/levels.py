"""Levels of categories and of missing values in all partitions, found by a pass of their own."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gegenbauer._tables import columns_of
from gegenbauer.basis.levels import Levels
from gegenbauer.basis.scaling import InputScaling
from gegenbauer.dask.partitions import gather, is_frame
from gegenbauer.estimators._categories import CategoryEncoder, find_categories
from gegenbauer.estimators._labels import column_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.dask.partitions import Partitions

__all__ = ["Known", "category_columns", "find_levels"]


class Known(NamedTuple):
    """What all partitions show of their inputs.

    Attributes
    ----------
    model : estimator
        Plain; it knows the inputs, not their levels.
    encoder : CategoryEncoder
        Of the levels that samples have.
    levels : tuple of Levels or None
        With the shares of all samples; None if no input has any.
    box : InputScaling
        Around all samples, the levels of categories from end to end.
    """

    model: Any
    encoder: CategoryEncoder
    levels: tuple[Levels | None, ...] | None
    box: InputScaling

    def give(self, model: Any) -> None:
        """Let an estimator know the levels."""
        model._encoder, model._levels = self.encoder, self.levels

    def fitted(self) -> Any:
        """Return the model as a transformer that is fitted to all samples."""
        model = copy.copy(self.model)
        self.give(model)
        n_features = self.box.n_features
        model.basis_ = model._make_basis(n_features)
        model.n_terms_ = int(model.basis_.n_terms)
        model.scaling_ = model._given_box(n_features) or self.box
        return model


@dataclass(frozen=True, eq=False)
class _Counts:
    """Weights of levels and of missing numbers, and the range of what is given."""

    model: Any
    encoder: CategoryEncoder
    of_levels: tuple[Doubles, ...]  # of each category
    missing: Doubles  # (n_features,)
    weight: float
    box: InputScaling
    gone: NDArray[np.bool_]  # inputs without any value, whose range is none
    resolution: float

    def __add__(self, other: _Counts) -> _Counts:
        encoder = self.encoder.joined(other.encoder)
        resolution = max(self.resolution, other.resolution)
        boxes = [
            one.box.replace(
                lower=np.where(one.gone, two.box.lower, one.box.lower),
                upper=np.where(one.gone, two.box.upper, one.box.upper),
                constant=np.where(one.gone, two.box.is_constant, one.box.is_constant),
            )
            for one, two in ((self, other), (other, self))
        ]
        counts = [one._counted_by(encoder) for one in (self, other)]
        return _Counts(
            self.model, encoder, tuple(a + b for a, b in zip(*counts, strict=True)),
            self.missing + other.missing, self.weight + other.weight,
            boxes[0].union(boxes[1], resolution=resolution), self.gone & other.gone, resolution,
        )  # fmt: skip

    def _counted_by(self, encoder: CategoryEncoder) -> list[Doubles]:
        """Return the weights of the levels of an encoder that has more of them."""
        found = []
        both = zip(self.encoder.categories, encoder.categories, self.of_levels, strict=True)
        for (_, mine), (_, whole), counts in both:
            wider = np.zeros(whole.n_levels)
            places = [whole.values.index(value) for value in mine.values]
            places += [len(whole.values)] * mine.has_missing
            wider[places] = counts
            found.append(wider)
        return found

    def known(self) -> Known:
        """Return what these counts come to, without levels of no weight."""
        levels: list[Levels | None] = [None] * self.missing.size
        for t in np.flatnonzero(self.missing).tolist():
            share = float(self.missing[t] / self.weight)
            levels[t] = Levels((1.0 - share, share), category=False)
        kept = []
        for (t, category), counts in zip(self.encoder.categories, self.of_levels, strict=True):
            used = np.flatnonzero(counts)
            kept.append((t, category.only(used)))
            levels[t] = Levels(tuple((counts[used] / counts.sum()).tolist()))
        encoder = CategoryEncoder(tuple(kept))
        found = tuple(levels) if any(one is not None for one in levels) else None
        return Known(self.model, encoder, found, encoder.box_around_levels(self.box))


def category_columns(client: Any, X: Any, given: Any, rows: Sequence[Partitions]) -> list[int]:
    """Return which columns of a collection are categories, by its types or by request.

    Columns of objects are those that hold text or truth values in any partition, which takes a pass
    over these: in one where all is missing they look like numbers.

    Parameters
    ----------
    client : distributed.Client or None
        As for `gather`.
    X : Dask array or dataframe
        The collection.
    given : object
        ``categorical_features``.
    rows : sequence of Partitions
        Those of X.
    """
    if given is None:
        return []
    if is_frame(X):
        if not isinstance(given, str):
            return find_categories(X._meta_nonempty, given)
        objects = frozenset(columns_of(X._meta).objects())
        found = frozenset(find_categories(X._meta, given))
        if objects:
            inputs = [part._replace(y=None, weight=None) for part in rows]
            shown = gather(client, "kinds", _find_text, objects, inputs, frozenset.union)
            found |= shown or frozenset()
        return sorted(found)
    if isinstance(given, str):  # arrays have no types of columns
        return []
    return find_categories(np.empty((1, X.shape[1])), given)


def _find_text(columns: frozenset[int], rows: Partitions) -> frozenset[int]:
    """Return which of some columns hold text or truth values in a partition."""
    return columns & frozenset(find_categories(rows.X, "from_dtype"))


def find_levels(
    client: Any, task: Any, rows: Sequence[Partitions], domain: tuple[float, float]
) -> Known | None:
    """Count the levels in all partitions; None if there are no samples of positive weight.

    Parameters
    ----------
    client : distributed.Client or None
        As for `gather`.
    task : estimator
        Plain and unfitted, with `category_columns` as its categories.
    rows : sequence of Partitions
        The partitions.
    domain : tuple of float
        Of the box.
    """
    counts = gather(client, "levels", _count, (task, domain), rows, lambda one, other: one + other)
    return None if counts is None else counts.known()


def _count(common: tuple[Any, tuple[float, float]], rows: Partitions) -> _Counts | None:
    """Count the levels of a partition; None if its samples have no weight."""
    model, domain = copy.copy(common[0]), common[1]
    weight: Doubles | None = None
    if rows.y is None:
        X = model._validate_inputs(rows.X, reset=True)
    else:
        X, y, weight, places = model._rows_that_count(
            rows.X, rows.y, rows.weight, reset=True, complete=False
        )
        if places.size == 0:
            return None
        if hasattr(model, "_encode_batch"):  # with the weights of classes
            names = column_names(rows.y)
            _, weight = copy.copy(model)._encode_batch(y, weight, names, grow=True)
    weights = np.ones(len(X)) if weight is None else weight
    if not weights.any():
        return None
    encoder = model._encoder
    codes = [X[:, t].astype(np.intp) for t in encoder.columns]
    missing = np.isnan(X)
    model._encoder = CategoryEncoder()  # those of all partitions are not known yet
    return _Counts(
        model,
        encoder,
        tuple(
            np.bincount(own, weights=weights, minlength=category.n_levels).astype(np.float64)
            for own, (_, category) in zip(codes, encoder.categories, strict=True)
        ),
        weights @ missing,
        float(weights.sum()),
        InputScaling.fit(X, domain=domain, clip=model._clips),
        missing.all(axis=0),
        float(np.finfo(X.dtype).eps),
    )
