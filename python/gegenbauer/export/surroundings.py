"""What estimators of scikit-learn that hold others expect of a step, as skl2onnx converts them.

Some converters of skl2onnx give other numbers than the estimators that they stand for. A step is
refused in those, and in all that no test compares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import ensemble, feature_selection, model_selection, multiclass, multioutput
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import Pipeline

from gegenbauer._messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["estimators_around", "one_column", "require_faithful", "wants_scores"]

_FAITHFUL = (
    Pipeline,
    CalibratedClassifierCV,
    ensemble.AdaBoostRegressor,
    ensemble.BaggingClassifier,
    ensemble.BaggingRegressor,
    ensemble.StackingClassifier,
    ensemble.StackingRegressor,
    ensemble.VotingClassifier,
    ensemble.VotingRegressor,
    model_selection.GridSearchCV,
    multiclass.OneVsOneClassifier,
    multiclass.OneVsRestClassifier,
    multioutput.MultiOutputClassifier,
    multioutput.MultiOutputRegressor,
    # which hold an estimator and do without it in prediction
    feature_selection.RFE,
    feature_selection.RFECV,
    feature_selection.SelectFromModel,
)

# Attributes by which estimators hold fitted ones
_ATTRIBUTES = (
    "best_estimator_",
    "calibrated_classifiers_",
    "estimator",
    "estimator_",
    "estimators_",
    "final_estimator_",
    "steps",
)


def estimators_around(scope: Any, model: Any) -> list[Any]:
    """Return the estimators that hold a step, as far as they are being converted."""
    found = (operator.raw_operator for operator in scope.operators.values())
    return [one for one in found if one is not None and one is not model and _holds(one, model)]


def _holds(value: Any, model: Any) -> bool:
    """Whether a value is an estimator, or has it in it."""
    if value is model:
        return True
    if isinstance(value, (list, tuple)):
        return any(_holds(one, model) for one in value)
    if value is None:
        return False
    return any(_holds(getattr(value, name, ()), model) for name in _ATTRIBUTES)


def wants_scores(options: Callable[..., Any], model: Any, around: list[Any]) -> bool:
    """Whether a step is to give scores: by its own options, or those of a pipeline it ends."""
    if not is_classifier(model):
        return False
    ended = [one for one in around if isinstance(one, Pipeline) and _holds(one[-1], model)]
    return any(options(one, {"raw_scores": False})["raw_scores"] for one in (model, *ended))


def one_column(model: Any, around: list[Any]) -> bool:
    """Whether scores of two classes are to be one column, as they are for a stack's last model."""
    return any(
        isinstance(one, ensemble.StackingClassifier) and not _holds(one.final_estimator_, model)
        for one in around
    )


def require_faithful(model: Any, around: list[Any], *, scores: bool, texts: bool) -> None:
    """Refuse a step where the converter around it would give other numbers than the estimator.

    ``scores``: whether they are requested; ``texts``: whether labels are texts.

    Raises
    ------
    ValueError
        It would.
    """
    for one in around:
        why = _why_not(one, model, scores=scores, texts=texts)
        if why:
            raise ValueError(
                Message("{} in {} cannot be converted: {}", _name(model), _name(one), why)
            )


def _name(estimator: Any) -> str:
    return type(estimator).__name__


def _why_not(one: Any, model: Any, *, scores: bool, texts: bool) -> str:
    """Return why skl2onnx does not convert a step within an estimator faithfully, or nothing."""
    if not isinstance(one, _FAITHFUL):
        return "of the estimators that hold others only those of the page Export are known to"
    if isinstance(one, CalibratedClassifierCV) and one.method != "sigmoid":
        return (
            f"skl2onnx takes the nearest step of method={one.method!r}, where scikit-learn"
            " interpolates; use method='sigmoid'"
        )
    if not is_classifier(model):
        return ""
    if isinstance(one, multiclass.OneVsOneClassifier):
        n_classes = len(one.classes_)
        if not np.array_equal(one.classes_, np.arange(n_classes)):
            return "skl2onnx gives the places of the labels for the labels; use 0, 1, 2, ..."
    if isinstance(one, Pipeline) and texts:
        return (
            "in pipelines within other estimators skl2onnx takes labels for integers; use integers"
        )
    shares = hasattr(model, "predict_proba")
    if isinstance(one, ensemble.BaggingClassifier) and (scores or not shares):
        return (
            "skl2onnx counts the votes of models without probabilities wrongly; use"
            " GegenbauerClassifierCV, without the option raw_scores"
        )
    if isinstance(one, multiclass.OneVsRestClassifier):
        if one.multilabel_ and (scores or not shares):
            return "of several labels it needs probabilities; use GegenbauerClassifierCV"
        if not (scores or shares):
            return (
                "it takes decisions for probabilities; use GegenbauerClassifierCV, or convert with"
                " options={id(model): {'raw_scores': True}}, model being the OneVsRestClassifier"
            )
    if isinstance(one, ensemble.StackingClassifier) and "predict" in one.stack_method_:
        return "skl2onnx stacks no labels; use another stack_method"
    return ""
