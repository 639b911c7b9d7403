"""Labels of classes: which kind they are of, their codes and the weights of classes."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import type_of_target

from gegenbauer._messages import Message
from gegenbauer._rows import row
from gegenbauer._validation import shown
from gegenbauer.errors import stacklevel
from gegenbauer.estimators._base import MAX_LISTED

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "apply_class_weight",
    "class_factors",
    "column_names",
    "counterpart",
    "describe_labels",
    "distinct_labels",
    "flat_labels",
    "indicator_columns",
    "label_kind",
    "places_of",
    "plain_labels",
]


def plain_labels(y: NDArray[Any], name: str, argument: str = "y") -> NDArray[Any]:
    """Return labels of dtype object as str objects, ints, bools or floats; others as they are.

    scikit-learn takes such an array for labels only if it holds str. ``name`` is the estimator's.
    """
    if y.dtype.kind == "S":
        raise ValueError(f"Unknown label type: bytes. {_expected_labels(y, name, argument)}")
    if y.dtype.kind not in "OT":  # object, and NumPy's variable-width strings
        return y
    values = y.ravel().tolist()
    missing = np.array([_is_missing(value) for value in values], dtype=bool).reshape(y.shape)
    if missing.any():
        raise ValueError(
            Message(
                "Unknown label type: missing labels, {} are missing. Remove these samples, or fill "
                "them in. {}",
                places_of(missing),
                _expected_labels(y, name, argument),
            )
        )
    if all(isinstance(value, str) for value in values):
        return y.astype(object)
    if all(isinstance(value, (Real, np.bool_)) for value in values):
        plain = np.array(values).reshape(y.shape)
        if plain.dtype.kind in "biuf":
            return plain
    types = ", ".join(sorted({type(value).__name__ for value in values}))
    raise ValueError(
        f"Unknown label type: objects of the types {types}. {_expected_labels(y, name, argument)}"
    )


def places_of(bad: NDArray[np.bool_]) -> Message:
    """Describe where the first of some entries is, and of how many, for an error."""
    first, *column = np.argwhere(bad)[0].tolist()
    return Message(
        "first in {}{}; {} of its {} entries",
        row(first),
        f", column {column[0]}" if column and bad.shape[1] > 1 else "",
        int(np.count_nonzero(bad)),
        bad.size,
    )


def flat_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return labels (n,); warn, where the user's code calls, of a column (n, 1)."""
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected: pass y.ravel(), of shape "
            "(n_samples,).",
            DataConversionWarning,
            stacklevel=stacklevel(),
        )
    return column_or_1d(y)  # type: ignore[no-any-return]  # scikit-learn is untyped


def column_names(y: Any) -> NDArray[Any] | None:
    """Return the names of the columns of a table; None unless they are text and differ."""
    columns = getattr(y, "columns", None)
    names = [] if columns is None else [*columns]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < max(1, len(names)):
        return None
    return np.array([str(name) for name in names], dtype=object)


def _is_missing(value: Any) -> bool:
    # Neither pandas.NA nor NaT can be compared with itself.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and bool(value != value)


def label_kind(y: NDArray[Any], name: str) -> str:
    """Return "binary", "multiclass" or "multilabel-indicator"; refuse everything else."""
    try:
        kind: str = type_of_target(y, input_name="y")
    except (TypeError, ValueError) as error:
        raise ValueError(f"Unknown label type: {error} {_expected_labels(y, name)}") from error
    if kind not in ("binary", "multiclass", "multilabel-indicator"):
        other = counterpart(name, "Regressor")
        advice = f" Use {other} for real targets." if "continuous" in kind else ""
        raise ValueError(f"Unknown label type: {kind}. {_expected_labels(y, name)}{advice}")
    return kind


def distinct_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]] | None:
    """Return the sorted labels and the place of each of y among them, if it is plain what they are.

    That is of integers, truth values or text of one dimension, each of which occurs twice on
    average: of more labels some versions of scikit-learn warn. None of all else, which
    `label_kind` is to look at.
    """
    if type(y) is not np.ndarray or y.ndim != 1 or y.dtype.kind not in "biuU":
        return None
    classes, codes = np.unique(y, return_inverse=True)
    return (classes, codes) if 0 < 2 * classes.size <= y.size else None


def counterpart(name: str, kind: str) -> str:
    """Name the estimator of the other kind of targets that belongs to one."""
    return f"Gegenbauer{kind}{'CV' if name.endswith('CV') else ''}"


def _expected_labels(y: NDArray[Any], name: str, argument: str = "y") -> str:
    return (
        f"{name} expects class labels (int, bool, str, or object of these) or a table of 0 and "
        f"1 (multilabel); got {describe_labels(y, argument)}."
    )


def indicator_columns(y: NDArray[Any], name: str) -> NDArray[np.bool_]:
    """Return a multilabel y (S, K) as booleans; refuse other values than 0 and 1."""
    if not np.isin(y, (0, 1)).all():
        raise ValueError(
            f"{name} takes a y of several columns as multilabel, whose values must be 0 and 1; "
            f"got {describe_labels(y)}."
        )
    return np.asarray(y, dtype=bool)


def describe_labels(y: NDArray[Any], argument: str = "y") -> str:
    """Describe which dtype and which values y, or what else holds labels, has, for an error."""
    seen = dict.fromkeys(np.asarray(y).ravel().tolist())
    listed = ", ".join(shown(value) for value in list(seen)[:MAX_LISTED])
    more = "" if len(seen) <= MAX_LISTED else f", ... ({len(seen)} different values)"
    return f"{argument} of dtype {y.dtype} and shape {y.shape} with the values {listed}{more}"


def apply_class_weight(
    class_weight: dict[Any, float] | str,
    classes: NDArray[Any],
    coded: list[NDArray[np.intp]],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Multiply the sample weights (S,) by those of the classes.

    Parameters
    ----------
    class_weight : dict or "balanced"
        As in GegenbauerClassifier.
    classes : ndarray of shape (n_classes,)
        The labels, for a dict.
    coded : list of ndarray of shape (n_samples,)
        Positions of the samples' labels in ``classes``; one array for each column of y.
    weight : ndarray of shape (n_samples,) or None
        Weights of the samples so far.

    Returns
    -------
    ndarray of shape (n_samples,)
        Weights of the samples. scikit-learn's ``compute_sample_weight`` counts samples, not their
        weights, and takes the labels "0" and 0 for the same, so it is not used here.
    """
    rows = np.ones(coded[0].size) if weight is None else weight
    if isinstance(class_weight, dict):
        return rows * class_factors(class_weight, classes)[coded[0]]
    balanced = rows
    for codes in coded:
        counts = np.bincount(codes, weights=rows)
        present = counts > 0
        factors = np.zeros(counts.size)
        factors[present] = rows.sum() / (present.sum() * counts[present])
        balanced = balanced * factors[codes]
    return balanced


def class_factors(
    class_weight: dict[Any, Any], classes: NDArray[Any], *, complete: bool = True
) -> NDArray[np.float64]:
    """Return the weight of each class, 1 for those that the dict does not name.

    ``complete``: no further classes will come.
    """
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    without = [label for label in labels if label not in class_weight]
    # A fold of a cross-validation may lack a class that the dict names; then it names
    # all others, too. A key that stands for no label and labels without a key are an error.
    if complete and unknown and without:
        raise ValueError(
            Message(
                "`class_weight` has the keys {}, which are not among the classes of y, {}{} of "
                "dtype {}.",
                unknown[:MAX_LISTED],
                labels[:MAX_LISTED],
                "" if len(labels) <= MAX_LISTED else ", ...",
                classes.dtype,
            )
        )
    for label, value in class_weight.items():
        if isinstance(value, np.timedelta64) or not isinstance(value, Real):
            raise TypeError(
                Message("`class_weight` must hold numbers, got {} for {!r}", shown(value), label)
            )
    try:
        factors = np.array([float(class_weight.get(label, 1.0)) for label in labels])
    except OverflowError:
        raise ValueError(
            Message(
                "`class_weight` must be within the range of float64, got {}", shown(class_weight)
            )
        ) from None
    if not (
        np.isfinite(factors).all() and (factors >= 0).all() and (factors.any() or not complete)
    ):
        raise ValueError(
            Message(
                "`class_weight` must have finite weights of at least 0, not all of them 0; got {}.",
                class_weight,
            )
        )
    return factors
