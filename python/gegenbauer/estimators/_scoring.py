"""Scores of candidates by scikit-learn's scorers."""

from __future__ import annotations

import itertools
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from gegenbauer._messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.estimators._samples import Samples
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = [
    "DEFAULT_SCORING",
    "IdentityClassifier",
    "IdentityEstimator",
    "IdentityRegressor",
    "ScoreAtOnce",
    "scored_by",
]

# What scikit-learn reports of the probabilities of labels, which need not sum to one
_NO_SUM_OF_ONE = r"The y_\w+ values do not sum to one"


class _TakesNoWeightsError(TypeError):
    """A scorer that takes no weights was given some."""


class IdentityEstimator(BaseEstimator):  # type: ignore[misc]
    """What a scorer of scikit-learn sees: a fitted model whose outputs are known already."""

    def __init__(self, outputs: Any) -> None:
        self.outputs = outputs

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ARG002
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True


class IdentityRegressor(RegressorMixin, IdentityEstimator):  # type: ignore[misc]
    def predict(self, X: Any) -> Any:  # noqa: ARG002
        return self.outputs


class IdentityClassifier(ClassifierMixin, IdentityEstimator):  # type: ignore[misc]
    """Outputs (n, K), or (n,) of two classes, with classes as scikit-learn has them.

    Those of multilabel targets are a table, of a pair for each output.
    """

    def __init__(self, outputs: Any, probabilities: Callable[[], Doubles], classes: Any) -> None:
        super().__init__(outputs)
        self.probabilities = probabilities
        self.classes = classes

    @property
    def classes_(self) -> Any:
        return self.classes

    def decision_function(self, X: Any) -> Any:  # noqa: ARG002
        return self.outputs

    def predict_proba(self, X: Any) -> Any:  # noqa: ARG002
        return self.probabilities()

    def predict(self, X: Any) -> Any:  # noqa: ARG002
        if np.ndim(self.classes) == 2:
            return (self.outputs > 0).astype(np.intp)
        if self.outputs.ndim == 1:
            return self.classes[(self.outputs > 0).astype(np.intp)]
        return self.classes[self.outputs.argmax(axis=1)]


def _checked_score(value: Any, scoring: Any) -> float:
    try:
        if isinstance(value, (str, bytes)) or np.ndim(value):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(
            Message(
                "`scoring={!r}` must return one number, the larger the better; got {!r}",
                scoring,
                value,
            )
        ) from None


DEFAULT_SCORING = Message("leave `scoring=None`")


def _advice_on_scoring(classes: Any) -> list[str]:
    """Name scorers that fit the targets: numbers (None), classes or labels."""
    if classes is None:
        one = "for numbers take one such as 'r2' or 'neg_mean_absolute_error'"
    elif np.ndim(classes) == 2:
        one = (
            "for multilabel y take one that knows several labels, such as 'f1_macro', "
            "'f1_samples', 'jaccard_samples', 'accuracy', 'roc_auc', 'average_precision' or "
            "'neg_brier_score'"
        )
    elif np.size(classes) > 2:
        one = (
            "for more than two classes take one that knows them, such as 'f1_macro', "
            "'balanced_accuracy', 'roc_auc_ovr' or 'neg_log_loss'"
        )
    elif 1 not in np.asarray(classes).tolist():  # which scorers take for the positive class
        return [
            "code the positive class as 1 and the other as 0",
            "name it: make_scorer(f1_score, pos_label=...)",
        ]
    else:
        return []
    return [one, DEFAULT_SCORING]


# Estimators for a scorer: of predictions, places of the original samples among these, and what
# returns the probabilities
Shells: TypeAlias = "Callable[[Doubles, Places, Callable[[], Doubles]], Any]"

# A score of many predictions in one call: of predictions, their samples, places of the original
# samples among these, the weights of those, and what returns the probabilities; more is better
ScoreAtOnce: TypeAlias = (
    "Callable[[Doubles, Places, Places, Doubles | None, Callable[[], Doubles]], Any]"
)


def _no_probabilities(predictions: Doubles, rows: Places, weights: Doubles | None) -> Doubles:
    raise NotImplementedError


def scored_by(
    scoring: Any, shells: Shells, at_once: ScoreAtOnce | None, data: Samples, labels: NDArray[Any],
    classes: Any = None,
    probabilities_of: Callable[[Doubles, Places, Doubles | None], Doubles] = _no_probabilities,
    splits: Splits = None,
) -> Loss:  # fmt: skip
    """Turn a scorer, of which more is better, into a loss of predictions.

    It sees the original samples, equal ones as often as they came, and only weights that were
    given. ``shells`` makes an estimator of each prediction, for the scorer; ``at_once``, if there
    is one, does the same for all predictions in one call, a hundredth of the work.
    ``probabilities_of`` calibrates predictions, their samples and weights, if a scorer takes
    probabilities. With ``splits`` the loss takes the predictions of all test parts, one after the
    other, calibrates them together, and is the mean of the scores of the parts.
    """
    by_name = isinstance(scoring, str)
    scorer = get_scorer(scoring) if by_name else scoring

    def values_of(predictions: Doubles, rows: Places, probabilities: Callable[[], Doubles]) -> Any:
        originals, at = data.originals(rows)
        given = None if data.given is None else data.given[originals]
        if at_once is not None:
            return at_once(predictions, rows, at, given, probabilities)
        merged = rows[at]
        arguments = {} if given is None else {"sample_weight": given}
        # of what a scorer of scikit-learn would check anew each time, all is known
        quick = {"assume_finite": True, "skip_parameter_validation": True}

        def scores(arguments: dict[str, Doubles]) -> list[Any]:
            with config_context(**(quick if by_name else {})), warnings.catch_warnings():
                if np.ndim(classes) == 2:  # each label has a probability of its own
                    warnings.filterwarnings("ignore", _NO_SUM_OF_ONE)
                return [
                    scorer(known, data.X[merged], labels[merged], **arguments)
                    for known in shells(predictions, at, probabilities)
                ]

        try:
            return scores(arguments)
        except TypeError as error:
            if not arguments:
                raise
            scores({})  # else something else is wrong
            raise _TakesNoWeightsError from error

    ends = [] if splits is None else np.cumsum([test.size for _, test in splits])[:-1].tolist()

    def loss(predictions: Doubles, rows: Places) -> Doubles:
        @cache  # of all predictions, for the first scorer that needs them
        def probabilities() -> Doubles:
            weights = None if data.weight is None else data.weight[rows]
            return probabilities_of(predictions, rows, weights)

        def losses_of(first: int, end: int) -> Doubles:
            part = slice(first, end)
            values = values_of(predictions[:, part], rows[part], lambda: probabilities()[:, part])
            return np.array([-_checked_score(value, scoring) for value in values])

        try:
            bounds = itertools.pairwise([0, *ends, rows.size])
            return np.asarray(np.mean([losses_of(*bound) for bound in bounds], axis=0))
        except _TakesNoWeightsError as refusal:
            raise TypeError(
                Message(
                    "`scoring={!r}` takes no sample_weight, but weights were given: choose a "
                    "scorer that takes them, or fit without weights",
                    scoring,
                )
            ) from refusal.__cause__
        except Exception as error:
            if not by_name:  # a scorer of the user's own has errors of its own
                raise
            raise ValueError(
                Message(
                    "`scoring={!r}` cannot score these targets or their predictions: {}",
                    scoring,
                    str(error).rstrip("."),
                    ways=_advice_on_scoring(classes),
                    joint=". ",
                )
            ) from error

    return loss
