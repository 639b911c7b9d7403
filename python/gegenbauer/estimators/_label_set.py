"""What a classifier knows of the labels: the classes, or the columns of a multilabel y.

In a stream the classes may come one after another. What is known then is replaced by what is known
now, and refuses labels that do not go with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._rows import row
from gegenbauer._validation import require_plain
from gegenbauer.estimators._base import MAX_LISTED
from gegenbauer.estimators._labels import plain_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer.ridge.statistics._base import Coding

__all__ = ["LabelSet", "announced_classes"]


@dataclass(frozen=True, eq=False)
class LabelSet:
    """Labels that a classifier knows, which nothing changes.

    Parameters
    ----------
    classes : ndarray, shape (n_classes,)
        The labels, sorted; of a multilabel y (n_labels, 2), the two values of each label:
        scikit-learn's scorers infer targets from them, and would take the numbers of two labels for
        the two classes of one binary target.
    names : ndarray, shape (n_labels,), optional
        Of a multilabel y, what the labels are called.
    """

    classes: NDArray[Any]
    names: NDArray[Any] | None = None

    @classmethod
    def of_columns(cls, n_labels: int, names: NDArray[Any] | None) -> Self:
        """Return those of a multilabel y, whose columns have names or are numbered."""
        return cls(np.tile([0, 1], (n_labels, 1)), np.arange(n_labels) if names is None else names)

    @property
    def multilabel(self) -> bool:
        """Whether they are columns of y."""
        return self.names is not None

    @property
    def answers(self) -> NDArray[Any]:
        """What the columns of decisions and probabilities stand for: classes, or labels."""
        return self.classes if self.names is None else self.names

    def coding(self, name: str) -> Coding:
        """Return how the codes +1 and -1 follow from indicators; refuse a single class."""
        n = self.answers.size
        if self.multilabel or n > 2:
            return 2.0 * np.eye(n), np.full(n, -1.0)
        if n < 2:
            raise ValueError(
                f"{name} needs at least two classes, but all samples so far have the label "
                f"{self.classes.tolist()[0]!r}"
            )
        # one output, positive for the second class
        return np.array([[0.0], [2.0]]), np.array([-1.0])

    # ---- what comes later --------------------------------------------------------

    def require_announced(self, given: NDArray[Any]) -> None:
        """Refuse other classes than were announced before, or have come since."""
        if self.names is not None:
            _require_columns(given, self.names)
        elif not np.array_equal(given, self.classes):
            raise ValueError(
                Message(
                    "`classes` must be the same in all calls; they were {} and are {} now",
                    _listed(self.classes),
                    _listed(given),
                )
            )

    def with_columns(self, found: LabelSet) -> LabelSet:
        """Return those of a multilabel y; refuse other columns than those announced or known."""
        names = found.answers
        if self.names is None:
            _require_columns(self.classes, names)
            return found
        if names.size != self.names.size:
            raise ValueError(
                f"y must have {self.names.size} columns, one for each label, got {names.size}"
            )
        self._require_same_names(names)
        return self

    def with_labels(self, y: NDArray[Any], *, grow: bool) -> LabelSet:
        """Return the classes with those of a batch; without ``grow`` refuse new ones."""
        labels = np.unique(y)
        self._require_same_kind(labels)
        new = np.setdiff1d(labels, self.classes)
        if new.size == 0:
            return self
        if not grow:
            raise ValueError(
                Message(
                    "y holds the label {!r} (first in {}), which is not among the classes "
                    "announced, {}: name all in the first call",
                    new.tolist()[0],
                    row(int(np.isin(y, new).argmax())),
                    _listed(self.classes),
                )
            )
        return LabelSet(np.union1d(self.classes, new))

    def joined(self, other: LabelSet) -> LabelSet:
        """Return the labels of two models together."""
        if self.names is None and other.names is None:
            self._require_same_kind(other.classes)
            return LabelSet(np.union1d(self.classes, other.classes))
        if self.names is None or other.names is None:
            raise ValueError("y is multilabel in one of the models and not in the other")
        if self.names.size != other.names.size:
            raise ValueError(
                f"the one model has {self.names.size} labels and the other {other.names.size}"
            )
        self._require_same_names(other.names)
        # which the other order would know, too
        return other if other.names.dtype == object else self

    def places_in(self, larger: LabelSet) -> list[int]:
        """Return the places of these classes among more."""
        places: list[int] = np.searchsorted(larger.classes, self.classes).tolist()
        return places

    def _require_same_kind(self, labels: NDArray[Any]) -> None:
        texts = [array.dtype.kind in "OUT" for array in (self.classes, labels)]
        if texts[0] != texts[1]:
            kinds = ["text" if text else "numbers" for text in texts]
            raise ValueError(
                f"labels must be of one type: they were {kinds[0]} such as "
                f"{self.classes.tolist()[0]!r}, and are {kinds[1]} such as "
                f"{labels.tolist()[0]!r} now"
            )

    def _require_same_names(self, names: NDArray[Any]) -> None:
        """Refuse other names, or another order of them; columns without names may be any."""
        assert self.names is not None
        both = (self.names, names)
        if all(one.dtype == object for one in both) and not np.array_equal(*both):
            raise ValueError(
                f"the columns of y must be the same labels in the same order: they were "
                f"{_listed(self.names)} and are {_listed(names)} now"
            )


def announced_classes(classes: Any, name: str) -> NDArray[Any]:
    """Return the classes that an estimator of this name is given, sorted."""
    classes = require_plain(classes, "classes", wanted="labels (int, bool or str)")
    labels = np.asarray(classes)
    if labels.ndim != 1:
        raise ValueError(Message("`classes` must be a sequence of labels, got {!r}", classes))
    # as they came, since an array might turn numbers into text
    plain_labels(np.array([*classes], dtype=object), name, "classes")
    return np.unique(plain_labels(labels, name, "classes"))


def _require_columns(classes: NDArray[Any], names: NDArray[Any]) -> None:
    """Refuse announced classes that are neither numbers nor names of columns of y."""
    numbers = np.arange(names.size)
    if np.array_equal(classes, numbers) or set(classes.tolist()) == set(names.tolist()):
        return
    named = "" if np.array_equal(names, numbers) else f", or their names, {_listed(names)}"
    raise ValueError(
        f"y must have {classes.size} columns, one for each label of classes, got {names.size}"
        if classes.size != names.size
        else "y is multilabel, for which classes must be the numbers of its columns, 0 to "
        f"{names.size - 1}{named}; got {_listed(classes)}"
    )


def _listed(labels: NDArray[Any]) -> str:
    shown = ", ".join(repr(label) for label in labels[:MAX_LISTED].tolist())
    return shown if labels.size <= MAX_LISTED else f"{shown}, ... ({labels.size} of them)"
