"""Targets of batches: numbers as they are, and indicators of classes that may come one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import issparse

from gegenbauer._messages import Message
from gegenbauer.estimators._label_set import LabelSet, announced_classes
from gegenbauer.estimators._labels import (
    class_factors,
    flat_labels,
    indicator_columns,
    label_kind,
)
from gegenbauer.estimators._streaming import StreamEstimator
from gegenbauer.estimators._targets import ClassTargets, RealTargets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.ridge.statistics._base import Coding
    from gegenbauer.ridge.statistics.choice import Statistics

__all__ = ["ClassStream", "RealStream"]


class RealStream(RealTargets, StreamEstimator):
    """Sums with the targets as they are."""

    def _encode_batch(
        self,
        y: Any,
        weight: Doubles | None,
        names: NDArray[Any] | None,  # noqa: ARG002
        *,
        grow: bool,  # noqa: ARG002
    ) -> tuple[Doubles, Doubles | None]:
        targets = np.asarray(y, dtype=np.float64)
        if self._statistics is None:
            self._y_was_flat = targets.ndim == 1
        targets = targets if targets.ndim == 2 else targets[:, np.newaxis]
        if self._statistics is not None and targets.shape[1] != self.statistics_.n_outputs:
            raise ValueError(
                f"y must have {self.statistics_.n_outputs} columns, as in the batches before, got "
                f"{targets.shape[1]}"
            )
        return targets, weight


class ClassStream(ClassTargets, StreamEstimator):
    """Sums with the indicator of each class, or of each label of a multilabel y."""

    def _require_sums_to_do(self) -> bool:
        if self.class_weight == "balanced":
            raise ValueError(
                Message(
                    "`class_weight='balanced'` needs the number of rows of every class before the "
                    "first one is learned; for batches, pass a dict {{label: weight}}"
                )
            )
        return super()._require_sums_to_do()

    def _announce(self, classes: Any, *, grow: bool) -> None:
        name = type(self).__name__
        if classes is None:
            if not grow and self._label_set is None:
                raise ValueError(
                    Message(
                        "{}: the first call of partial_fit needs `classes`, all labels that may "
                        "come, since a batch may lack some",
                        name,
                    )
                )
            return
        given = announced_classes(classes, name)
        if self._label_set is not None:
            self._label_set.require_announced(given)
            return
        if given.size < 2:
            raise ValueError(
                Message("`classes` must hold at least two labels, got {}", given.tolist())
            )
        self._label_set = LabelSet(given)
        if isinstance(self.class_weight, dict):
            class_factors(self.class_weight, given)

    def _encode_batch(
        self, y: Any, weight: Doubles | None, names: NDArray[Any] | None, *, grow: bool
    ) -> tuple[Doubles, Doubles | None]:
        name, before = type(self).__name__, self._label_set
        y = y.toarray() if issparse(y) else y
        multilabel = label_kind(y, name) == "multilabel-indicator"
        if self._statistics is not None and multilabel != self.multilabel_:
            raise ValueError(
                "y must be a table of 0 and 1 (multilabel) in all batches or in none of them"
            )
        self._y_was_flat = not multilabel
        if multilabel:
            if isinstance(self.class_weight, dict):
                raise ValueError(
                    Message(
                        "`class_weight` of {} must be None for multilabel y in batches, got a dict",
                        name,
                    )
                )
            columns = indicator_columns(y, name)
            found = LabelSet.of_columns(columns.shape[1], names)
            self._label_set = found if before is None else before.with_columns(found)
            return columns.astype(np.float64), weight
        y = flat_labels(y)
        if before is None:
            known = LabelSet(np.unique(y))
        else:
            known = before.with_labels(y, grow=grow)
            if self._statistics is not None:
                self._statistics = _of_classes(self._statistics, before, known)
        self._label_set = known
        codes = np.searchsorted(known.classes, y)
        if isinstance(self.class_weight, dict):
            factors = class_factors(self.class_weight, known.classes, complete=not grow)[codes]
            weight = factors if weight is None else weight * factors
        return (codes[:, np.newaxis] == np.arange(known.classes.size)).astype(np.float64), weight

    def _align(self, other: Self) -> tuple[Statistics, Statistics]:
        mine, others = self._known("classes_"), other._known("classes_")
        both = mine.joined(others)
        self._label_set = both
        if both.multilabel:
            return self.statistics_, other.statistics_
        return _of_classes(self.statistics_, mine, both), _of_classes(
            other.statistics_, others, both
        )

    def _coding(self) -> Coding:
        return self._known("classes_").coding(type(self).__name__)

    def _require_whole(self) -> None:
        known, weights = self._label_set, self.class_weight
        if isinstance(weights, dict) and known is not None and not known.multilabel:
            class_factors(self._class_weight_of_rows, known.classes)

    def _solve_statistics(self) -> None:
        self._require_whole()
        super()._solve_statistics()


def _of_classes(sums: Statistics, before: LabelSet, now: LabelSet) -> Statistics:
    """Return sums over the indicators of more classes."""
    if now.classes.size == before.classes.size:
        return sums
    return sums.with_outputs(before.places_in(now), now.classes.size)
