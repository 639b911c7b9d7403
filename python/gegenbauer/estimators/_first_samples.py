"""The first samples of a stream, which show what levels its inputs have."""

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from gegenbauer.estimators._categories import CategoryEncoder, find_categories
from gegenbauer.estimators._draw import SAMPLE_SIZE
from gegenbauer.estimators._labels import column_names
from gegenbauer.estimators._targets import checked_sample_weight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gegenbauer._typing import Doubles
    from gegenbauer.batches.arrays import Batch

__all__ = ["FirstLook", "look_at_first"]


class FirstLook(NamedTuple):
    """What the first samples of a stream have shown.

    Attributes
    ----------
    model : StreamEstimator
        Which knows their levels, if there are any.
    batches : iterator of Batch
        All of the stream.
    whole : bool
        Whether nothing was wrong with the first samples: if something was, a model of what came
        before it has other levels than one of all.
    """

    model: Any
    batches: Iterator[Batch]
    whole: bool


def look_at_first(blank: Any, batches: Iterator[Batch], classes: Any) -> FirstLook:
    """Let an estimator know the levels of the first 20,000 samples of positive weight.

    Which these are does not depend on how the stream is cut into batches. What is wrong with a
    batch is an error when it is learned, not here.

    Parameters
    ----------
    blank : StreamEstimator
        Unfitted; it stays so.
    batches : iterator of Batch
        From the beginning.
    classes : array-like or None
        All labels that may come, in classification.

    Returns
    -------
    FirstLook
    """
    if not blank._takes_levels or (blank.categorical_features is None and blank.missing == "error"):
        return FirstLook(blank, batches, whole=True)
    held: list[Batch] = []
    first: list[Batch] = []
    n_missing = SAMPLE_SIZE
    failure: list[BaseException] = []
    sound = True
    while n_missing:
        try:
            batch = next(batches, None)
        except BaseException as error:  # which comes when the batches before are learned
            failure.append(error)
            break
        if batch is None:
            break
        held.append(batch)
        try:
            some = _first_of(batch, n_missing)
            n_missing -= int(np.count_nonzero(_counts(some)))
        except (ValueError, TypeError):  # it is no batch
            sound = False
            break
        if n_missing:  # the arrays may be those of the user, who fills them with the next batch
            held[-1] = some = copy.deepcopy(batch)
        first.append(some)
    known = copy.copy(blank)
    sound = _find_levels(known, first, classes) and sound and not failure
    return FirstLook(
        known,
        itertools.chain(held, _raising(failure), batches),
        whole=sound or not (known._levels or known._encoder.categories),
    )


def _raising(errors: list[BaseException]) -> Iterator[Batch]:
    """Raise an error, if there is one, in the place of a batch."""
    for error in errors:
        raise error
    yield from ()


def _counts(batch: Batch) -> Any:
    """Return which samples of a batch have a positive weight."""
    n = _num_samples(batch.X)
    weight = checked_sample_weight(batch.sample_weight, n)
    return np.ones(n, dtype=bool) if weight is None else weight > 0


def _first_of(batch: Batch, most: int) -> Batch:
    """Return the beginning of a batch, of at most so many samples of positive weight."""
    places = np.flatnonzero(_counts(batch))
    if places.size <= most:
        return batch
    some = slice(0, int(places[most - 1]) + 1)
    X, y = (_safe_indexing(values, some) for values in (batch.X, batch.y))
    weight = batch.sample_weight
    return batch._replace(
        X=X, y=y, sample_weight=weight if np.ndim(weight) == 0 else _safe_indexing(weight, some)
    )


def _find_levels(model: Any, batches: list[Batch], classes: Any) -> bool:
    """Let a model know the levels of some samples; return whether nothing is wrong with them."""
    work = copy.copy(model)
    parts: list[tuple[Any, Doubles | None]] = []
    sound = True
    try:
        work._encoder = _encoder_of(work, batches)
        work._announce(classes, grow=True)
        for batch in batches:
            if _num_samples(batch.X) == 0:
                continue
            names = column_names(batch.y)
            X, y, weight, places = work._rows_that_count(
                batch.X, batch.y, batch.sample_weight, reset=not parts, complete=False
            )
            if places.size:
                _, weight = work._encode_batch(y, weight, names, grow=classes is None)
                parts.append((X, weight))
    except (ValueError, TypeError):  # which is reported when the batch is learned
        sound = False
    if not parts:
        return sound
    X = np.concatenate([X for X, _ in parts])
    weight = None
    if any(part is not None for _, part in parts):
        weights = [np.ones(len(X)) if part is None else part for X, part in parts]
        weight = np.concatenate(weights)
        X, weight = X[weight > 0], weight[weight > 0]
        if not weight.size:
            return sound
    X = work._find_levels(X, weight)
    if work._levels is not None:
        model._know(work._encoder, work._levels, work._box_around(X))
    return sound


def _encoder_of(model: Any, batches: list[Batch]) -> CategoryEncoder:
    """Return the encoder of all categories in some batches."""
    tables = [batch.X for batch in batches if _num_samples(batch.X)]
    given = model.categorical_features
    columns = sorted({at for X in tables for at in find_categories(X, given)})
    encoder = CategoryEncoder()
    for X in tables:
        encoder = encoder.joined(CategoryEncoder.fit(X, columns))
    return encoder
