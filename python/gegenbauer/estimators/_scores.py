"""Scores of scikit-learn's scorers for many predictions of the same samples at once, on arrays.

scikit-learn's metrics judge one prediction in a call, and check and sort its labels anew each time,
which takes ten times as long as the predictions themselves. Here the labels are turned into
indicators once, and a score is computed of three things that all predictions have together: weights
of samples by what was true and what was chosen, losses of probabilities, and samples counted down
from the largest output. The values are those of scikit-learn but for the order of sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from gegenbauer._typing import Doubles

    Flags: TypeAlias = npt.NDArray[np.bool_]

__all__ = ["Judged", "score_at_once"]


@dataclass(frozen=True, eq=False)
class Judged:
    """Predictions of G models for n samples, and what is true of these.

    Attributes
    ----------
    kind : {"binary", "multiclass", "multilabel"}
    truth : ndarray of bool, shape (n, C)
        Whether a sample is of a class (two of them for binary targets), or has a label.
    weight : ndarray, shape (n,)
        Of the samples, > 0.
    outputs : ndarray, shape (G, n, C), or (G, n, 1) of binary targets
        Positive for the second class, or a label that is given; the largest names the class.
    probabilities : function
        Returns those of the classes or labels, (G, n, C).
    positive : int or None
        The class with the label 1, which is what scikit-learn takes for the positive one.
    """

    kind: str
    truth: Flags
    weight: Doubles
    outputs: Doubles
    probabilities: Callable[[], Doubles]
    positive: int | None = None

    def chosen(self) -> Flags:
        """Return the classes or labels that are predicted, (G, n, C)."""
        if self.kind == "multilabel":
            return np.asarray(self.outputs > 0)
        if self.kind == "binary":
            second = self.outputs > 0
            return np.concatenate([~second, second], axis=-1)
        return np.asarray(
            self.outputs.argmax(axis=-1)[..., np.newaxis] == np.arange(self.n_columns)
        )

    @property
    def n_columns(self) -> int:
        return int(self.truth.shape[1])

    def mean(self, values: Doubles) -> Doubles:
        """Return the weighted mean over the samples of values (G, n).

        Equal predictions have equal means, and counts are exact, so that the search can see that
        models are equally good; a product by BLAS would sum the rows of a matrix in several ways.
        """
        return np.asarray(np.average(values, axis=-1, weights=self.weight))


Scores: TypeAlias = "Callable[[Judged], Doubles]"


def score_at_once(name: str, kind: str, positive: int | None) -> Scores | None:
    """Return the function that scores all predictions as scikit-learn's scorer does one.

    Parameters
    ----------
    name : str
        Of the scorer.
    kind, positive
        As of `Judged`.

    Returns
    -------
    function or None
        Takes a `Judged` and returns the scores (G,), the larger the better. None for a scorer that
        is not known here, or refuses targets of this kind.
    """
    found, kinds = _SCORES.get(name, (None, frozenset()))
    needs_positive = kind == "binary" and name in _OF_LABEL_ONE
    return None if kind not in kinds or (needs_positive and positive is None) else found


# --- What was chosen ------------------------------------------------------------------------------


def _divided(above: Doubles, below: Doubles) -> Doubles:
    """Return 0 for what is divided by zero."""
    return np.divide(above, below, out=np.zeros(np.shape(below)), where=below > 0)


def _f1(both: Doubles, chosen: Doubles, true: Doubles) -> Doubles:
    return _divided(2.0 * both, chosen + true)


def _precision(both: Doubles, chosen: Doubles, true: Doubles) -> Doubles:  # noqa: ARG001
    return _divided(both, chosen)


def _recall(both: Doubles, chosen: Doubles, true: Doubles) -> Doubles:
    return _divided(both, true + 0.0 * chosen)


def _jaccard(both: Doubles, chosen: Doubles, true: Doubles) -> Doubles:
    return _divided(both, chosen + true - both)


def _ratio(
    judged: Judged, *, of: Callable[[Doubles, Doubles, Doubles], Doubles], average: str
) -> Doubles:
    """Average a ratio of the weights of what was chosen, what is true, and what is both."""
    chosen, truth = judged.chosen(), judged.truth
    if average == "samples":
        counts = [found.sum(axis=-1, dtype=float) for found in (chosen & truth, chosen)]
        return judged.mean(of(counts[0], counts[1], truth.sum(axis=-1, dtype=float)))
    both, all_chosen = (
        np.einsum("gnc,n->gc", found, judged.weight) for found in (chosen & truth, chosen)
    )
    true = judged.weight @ truth
    if average == "micro":
        return of(both.sum(axis=1), all_chosen.sum(axis=1), true.sum())
    values = of(both, all_chosen, true)
    if average == "binary":
        return values[:, judged.positive]
    if average == "weighted":
        return _divided((values * true).sum(axis=1), np.full(len(values), true.sum()))
    # classes that neither occur nor are predicted are not there
    there = np.ones_like(values) if judged.kind == "multilabel" else (all_chosen + true > 0)
    return np.asarray((values * there).sum(axis=1) / there.sum(axis=1))


def _accuracy(judged: Judged) -> Doubles:
    return judged.mean((judged.chosen() == judged.truth).all(axis=-1).astype(float))


def _balanced_accuracy(judged: Judged) -> Doubles:
    true = judged.weight @ judged.truth
    both = np.einsum("gnc,n->gc", judged.chosen() & judged.truth, judged.weight)
    return np.asarray((both[:, true > 0] / true[true > 0]).mean(axis=1))


def _matthews(judged: Judged) -> Doubles:
    """Correlate indicators of what was chosen and what is true; 0 where either is constant."""
    chosen, truth = judged.chosen(), judged.truth
    both, all_chosen = (
        np.einsum("gnc,n->gc", found, judged.weight) for found in (chosen & truth, chosen)
    )
    true, total = judged.weight @ truth, judged.weight.sum()
    covariance = total * both.sum(axis=1) - (all_chosen * true).sum(axis=1)
    left, right = total**2 - (all_chosen**2).sum(axis=1), total**2 - true @ true
    varies = (chosen.any(axis=1).sum(axis=1) > 1) & (truth.any(axis=0).sum() > 1)
    return _divided(covariance, np.where(varies, np.sqrt(np.maximum(left * right, 0.0)), 0.0))


# --- Probabilities --------------------------------------------------------------------------------


def _neg_log_loss(judged: Judged) -> Doubles:
    """As scikit-learn has it: of labels, those that are there alone count."""
    eps = np.finfo(np.float64).eps
    p = judged.probabilities()
    if judged.kind != "multilabel":
        own = np.take_along_axis(p, judged.truth.argmax(axis=1)[np.newaxis, :, np.newaxis], axis=-1)
        return judged.mean(np.log(own[..., 0].clip(eps, 1.0 - eps)))
    logs = np.log(p.clip(eps, 1.0 - eps), where=judged.truth, out=np.zeros_like(p))
    return judged.mean(logs.sum(axis=-1))


def _neg_brier_score(judged: Judged) -> Doubles:
    squares = ((judged.probabilities() - judged.truth) ** 2).sum(axis=-1)
    return -judged.mean(squares) * (0.5 if judged.n_columns < 3 else 1.0)


# --- Counted down from the largest output ---------------------------------------------------------


def _counted_down(scores: Doubles, truth: Flags, weight: Doubles) -> tuple[Doubles, ...]:
    """Sum the weights of samples of either kind whose score is at least that of each sample.

    Returns
    -------
    positives, negatives : ndarray, shape (G, n)
        From the largest score down, with all samples of the same score.
    more_positives, more_negatives : ndarray, shape (G, n)
        What is added by the samples of one score, at the last of them; 0 at others.
    """
    order = np.argsort(-scores, axis=-1)
    ordered = np.take_along_axis(scores, order, axis=-1)
    last = np.ones(scores.shape, dtype=bool)
    last[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
    sums = []
    for share in (weight * truth, weight * ~truth):
        total = np.cumsum(share[order], axis=-1)
        before = np.zeros_like(total)
        np.maximum.accumulate((total * last)[:, :-1], axis=-1, out=before[:, 1:])
        sums.append((total, (total - before) * last))
    (positives, more_positives), (negatives, more_negatives) = sums
    return positives, negatives, more_positives, more_negatives


def _area(scores: Doubles, truth: Flags, weight: Doubles) -> Doubles:
    """Return the area below the ROC curve, of which equal scores are a straight piece."""
    if truth.all() or not truth.any():
        raise ValueError("samples that are scored together are all of one class")
    positives, _, more_positives, more_negatives = _counted_down(scores, truth, weight)
    pieces = more_negatives * (positives - 0.5 * more_positives)
    return np.asarray(pieces.sum(axis=-1) / (weight @ truth) / (weight @ ~truth))


def _step_area(scores: Doubles, truth: Flags, weight: Doubles) -> Doubles:
    """Return the area below the steps of precision by recall; 0 where nothing is positive."""
    if not truth.any():
        return np.zeros(len(scores))
    positives, negatives, more_positives, _ = _counted_down(scores, truth, weight)
    return np.asarray(
        (more_positives * positives / (positives + negatives)).sum(axis=-1) / (weight @ truth)
    )


_Curve: TypeAlias = "Callable[[Doubles, Flags, Doubles], Doubles]"


def _by_curve(
    judged: Judged, *, area: _Curve, probable: bool = False, average: str = "macro",
    label_one: bool = False,
) -> Doubles:  # fmt: skip
    """Average an area over the classes or labels; of binary targets there is one."""
    truth = judged.truth
    if judged.kind == "binary":
        scores = judged.probabilities()[..., 1] if probable else judged.outputs[..., 0]
        if label_one and judged.positive == 0:
            return area(-scores, truth[:, 0], judged.weight)
        return area(scores, truth[:, 1], judged.weight)
    if judged.kind == "multiclass" and not truth.any(axis=0).all():
        raise ValueError("samples that are scored together lack a class")
    scores = judged.probabilities() if probable else judged.outputs
    areas = [area(scores[..., k], truth[:, k], judged.weight) for k in range(judged.n_columns)]
    share = judged.weight @ truth if average == "weighted" else None
    return np.asarray(np.average(areas, axis=0, weights=share))


# --- Names of scikit-learn ------------------------------------------------------------------------


_EACH = frozenset({"binary", "multiclass"})

_ALL = _EACH | {"multilabel"}

_SCORES: dict[str, tuple[Scores, frozenset[str]]] = {
    "accuracy": (_accuracy, _ALL),
    "balanced_accuracy": (_balanced_accuracy, _EACH),
    "matthews_corrcoef": (_matthews, _EACH),
    "neg_log_loss": (_neg_log_loss, _ALL),
    "neg_brier_score": (_neg_brier_score, _ALL),
    "roc_auc": (partial(_by_curve, area=_area), frozenset({"binary", "multilabel"})),
    "roc_auc_ovr": (partial(_by_curve, area=_area, probable=True), _ALL),
    "roc_auc_ovr_weighted": (
        partial(_by_curve, area=_area, probable=True, average="weighted"), _ALL,
    ),
    "average_precision": (partial(_by_curve, area=_step_area, label_one=True), _ALL),
}  # fmt: skip

_OF_LABEL_ONE = {"average_precision"}

for _name, _of in {
    "f1": _f1, "precision": _precision, "recall": _recall, "jaccard": _jaccard,
}.items():  # fmt: skip
    _SCORES[_name] = (partial(_ratio, of=_of, average="binary"), frozenset({"binary"}))
    _OF_LABEL_ONE.add(_name)
    for _average in ("macro", "micro", "weighted"):
        _SCORES[f"{_name}_{_average}"] = (partial(_ratio, of=_of, average=_average), _ALL)
    _SCORES[f"{_name}_samples"] = (
        partial(_ratio, of=_of, average="samples"), frozenset({"multilabel"}),
    )  # fmt: skip
