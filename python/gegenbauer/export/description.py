"""A plain description of a fitted model: all that a target needs to write it down.

What estimators compute through the core and by classes is here written as tables of numbers. Every
target is a writer over them, and none looks at the estimator.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from gegenbauer._messages import Message, Ways
from gegenbauer.estimators._found import FoundEstimator
from gegenbauer.estimators._solution import SolvedEstimator
from gegenbauer.export.kernel_sum import KernelSum, kernel_sum
from gegenbauer.export.term_sum import TermSum, term_sum
from gegenbauer.ridge.expansions import TermExpansion

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles
    from gegenbauer.selection.calibration import ProbabilityMap

__all__ = ["Answers", "Category", "Input", "Model", "Number", "describe", "require_no_errors"]


@dataclass(frozen=True, eq=False)
class Input:
    """What all inputs have.

    Attributes
    ----------
    name : str
        Its name in the fit, or x0, x1, ...
    takes_gaps : bool
        Of a number, whether it may be missing, which is NaN; of a category, whether it may have a
        level that is not known. Else such a sample is refused.
    new_gaps : bool
        Whether that is beyond what the fit saw.
    """

    name: str
    takes_gaps: bool
    new_gaps: bool


@dataclass(frozen=True, eq=False)
class Number(Input):
    """An input that is a number x, scaled to ``offset + span * w((x / 2 - half_lower) / half_range)``.

    Attributes
    ----------
    half_lower, half_range, offset, span : float
        The box; an input that is ignored has a span and an offset of 0.
    pieces : tuple of three ndarray, or None
        w, which is the identity or piecewise linear: where pieces start, from 0 on, their values
        there, and their slopes.
    seen : tuple of two floats, or None
        The range of the fit; None for an input that is ignored.
    """  # noqa: E501  # the equation

    half_lower: float
    half_range: float
    offset: float
    span: float
    pieces: tuple[Doubles, Doubles, Doubles] | None
    seen: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Category(Input):
    """An input that is a level of a category, by its code.

    Attributes
    ----------
    values : tuple of str, bool, int or float
        Their places are the codes.
    has_missing : bool
        Whether one more code, the last, stands for what is missing.
    """

    values: tuple[Any, ...]
    has_missing: bool

    @property
    def n_levels(self) -> int:
        """Number of codes."""
        return len(self.values) + int(self.has_missing)


@dataclass(frozen=True, eq=False)
class Answers:
    """What becomes of the outputs of the function.

    Attributes
    ----------
    flat : bool
        Whether ``predict`` returns one dimension.
    classes : ndarray, shape (n_classes,), or None
        Labels; None of a regressor and of a multilabel y.
    names : tuple or None
        Of a multilabel y, what the labels are called.
    maps : tuple of ProbabilityMap
        From outputs to probabilities: one, or one a label; none where there are no probabilities.
    """

    flat: bool
    classes: Any = None
    names: tuple[Any, ...] | None = None
    maps: tuple[ProbabilityMap, ...] = ()

    @property
    def is_classifier(self) -> bool:
        """Whether there are labels."""
        return self.classes is not None or self.names is not None


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted model.

    Attributes
    ----------
    estimator : str
        The name of its class.
    inputs : tuple of Number or Category
        The inputs, in their order.
    out_of_range : {"clip", "warn", "error", "extrapolate"}
        What happens to samples beyond what the fit saw.
    function : TermSum or KernelSum
        The outputs, without the intercept.
    intercept : ndarray, shape (n_outputs,)
        What is added to them.
    answers : Answers
        What becomes of the outputs.
    expansion : Expansion
        The function as the library has it, of inputs with codes for levels.
    """

    estimator: str
    inputs: tuple[Number | Category, ...]
    out_of_range: str
    function: TermSum | KernelSum
    intercept: Doubles
    answers: Answers
    expansion: Any

    @property
    def n_outputs(self) -> int:
        """Number of outputs of the function."""
        return int(self.intercept.size)

    @property
    def clips(self) -> bool:
        """Whether numbers are moved into the box."""
        return self.out_of_range != "extrapolate"


def describe(estimator: Any) -> Model:
    """Describe a fitted regressor or classifier.

    Raises
    ------
    TypeError
        It is none of this library.
    sklearn.exceptions.NotFittedError
        It is not fitted.
    ValueError
        Its ``out_of_range`` is not for a function of all terms.
    """
    if not isinstance(estimator, (FoundEstimator, SolvedEstimator)):
        hint = ""
        if hasattr(estimator, "steps"):
            hint = (
                ": export the last step of a pipeline by itself, or convert the whole with skl2onnx"
                " after gegenbauer.export.register_skl2onnx()"
            )
        raise TypeError(
            Message(
                "`model` must be a fitted regressor or classifier of this library, got {}{}",
                type(estimator).__name__,
                hint,
            )
        )
    check_is_fitted(estimator)
    estimator = copy.copy(estimator)  # as it is now, whatever other threads learn
    estimator._validate_params()  # they may have been set after the fit
    expansion = estimator.expansion_
    finite = isinstance(expansion, TermExpansion)
    if not finite:
        estimator._require_a_value_outside()
    box = estimator._current_scaling()
    inputs = _inputs(estimator, box)
    expansion = expansion.with_scaling(box)
    function: TermSum | KernelSum
    if isinstance(expansion, TermExpansion):
        means = isinstance(estimator, SolvedEstimator)
        function = term_sum(expansion, by_means=means)
        shift = expansion.intercept
    else:
        function, shift = kernel_sum(expansion)
    n_outputs = expansion.n_outputs
    return Model(
        type(estimator).__name__,
        inputs,
        estimator.out_of_range,
        function,
        np.zeros(n_outputs) if shift is None else np.array(np.broadcast_to(shift, n_outputs)),
        _answers(estimator),
        expansion,
    )


def require_no_errors(model: Model, target: str) -> None:
    """Refuse a policy of errors for a target that has none."""
    if model.out_of_range == "error":
        raise ValueError(
            Message(
                "`out_of_range='error'` cannot be exported to {}",
                target,
                ways=Ways(
                    "set",
                    "`out_of_range='clip'`",
                    "`out_of_range='warn'` (which clips there)",
                    "for terms alone, `out_of_range='extrapolate'`",
                    last=" or, ",
                ),
            )
        )


def _inputs(estimator: Any, box: Any) -> tuple[Number | Category, ...]:
    names = getattr(estimator, "feature_names_in_", None)
    seen, strict = estimator._seen, estimator.out_of_range == "error"
    levels = estimator._levels or (None,) * box.n_features
    categories = dict(estimator._encoder.categories)
    half_range = np.where(box.is_constant, 1.0, 0.5 * box.upper - 0.5 * box.lower)
    low, high = box._ends
    found: list[Number | Category] = []
    for t in range(box.n_features):
        name = f"x{t}" if names is None else str(names[t])
        one = levels[t]
        if t in categories:
            own, new = categories[t], one is not None and one.varies
            found.append(Category(name, not (strict and new), new, own.values, own.has_missing))
            continue
        still = bool(box.is_constant[t])
        pieces = box._pieces[t] if box._pieces and box._pieces[t][0].size else None
        found.append(
            Number(
                name,
                bool(estimator._takes_missing and not (strict and one is None)),
                one is None,
                0.5 * float(box.lower[t]),
                float(half_range[t]),
                0.0 if still else float(low[t]),
                0.0 if still else float(high[t] - low[t]),
                None if still else pieces,
                None if seen.is_constant[t] else (float(seen.lower[t]), float(seen.upper[t])),
            )
        )
    return tuple(found)


def _answers(estimator: Any) -> Answers:
    expansion = estimator.expansion_
    one = expansion.n_outputs == 1
    if not is_classifier(estimator):
        solved = isinstance(estimator, SolvedEstimator)
        return Answers(expansion.coef.ndim == 1 if solved else bool(estimator._y_was_flat))
    labels = estimator._known("classes_")
    maps = tuple(getattr(estimator, "probability_maps_", ()))
    if labels.multilabel:
        return Answers(flat=False, names=tuple(labels.names.tolist()), maps=maps)
    return Answers(flat=one, classes=labels.classes, maps=maps)
