"""Predicted probabilities against observed frequencies, and predicted against actual values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.calibration import CalibrationDisplay, calibration_curve
from sklearn.utils.validation import check_is_fitted

from gegenbauer._messages import Message
from gegenbauer._validation import as_matrix, check_choice, check_integer, require_plain
from gegenbauer.estimators.classifier_cv import GegenbauerClassifierCV
from gegenbauer.plotting._axes import get_axes
from gegenbauer.selection.calibration import expected_calibration_error

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = ["ReliabilityDisplay", "left_out_outcomes"]


def left_out_outcomes(
    estimator: Any, y: npt.ArrayLike, *, pos_label: Any = None
) -> tuple[npt.NDArray[np.bool_], Doubles]:
    """Return what came true, and its leave-one-out probability.

    Parameters
    ----------
    estimator : GegenbauerClassifierCV
        Fitted.
    y : array_like, shape (n_samples,) or (n_samples, n_labels)
        The labels of ``fit``, without samples of no weight.
    pos_label : optional
        A class: whether a sample is of it (one against the rest). By default the second of two
        classes; and of more, whether the class of the largest probability is the right one
        (top-label). For a multilabel y, the column, which must be given.

    Returns
    -------
    outcomes : ndarray of bool, shape (n,)
    probabilities : ndarray, shape (n,)
        Samples that were never left out are ignored.

    See Also
    --------
    ReliabilityDisplay : Probabilities, and how often they came true.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerClassifierCV
    >>> from gegenbauer.plotting import left_out_outcomes
    >>> X = np.linspace(0, 1, 40)[:, np.newaxis]
    >>> y = np.where(X[:, 0] < 0.4, "low", "high")
    >>> model = GegenbauerClassifierCV().fit(X, y)
    >>> outcomes, probabilities = left_out_outcomes(model, y, pos_label="high")
    >>> outcomes.mean(), probabilities.shape
    (np.float64(0.6), (40,))
    """
    check_is_fitted(estimator)
    if not isinstance(estimator, GegenbauerClassifierCV):
        raise TypeError(
            Message(
                "`estimator` must be a GegenbauerClassifierCV, whose probabilities leave samples "
                "out; got {}. scikit-learn's CalibrationDisplay takes any classifier and other "
                "samples",
                type(estimator).__name__,
            )
        )
    P = estimator.loo_probabilities_
    labels = np.asarray(require_plain(y, "y", wanted="labels"))
    if labels.shape[:1] != P.shape[:1] or (labels.ndim == 2) != estimator.multilabel_:
        kind = f"({len(P)}, {P.shape[1]})" if estimator.multilabel_ else f"({len(P)},)"
        raise ValueError(f"y must be the labels of fit, of shape {kind}; got {labels.shape}")
    classes = estimator._answers.tolist()
    accepted = [0, 1] if estimator.multilabel_ else classes
    # by Python's equality: NumPy would compare numbers with text as text
    unknown = [label for label in labels.ravel().tolist() if label not in accepted]
    if unknown:
        raise ValueError(
            f"y must hold the labels of fit, as they were: each is one of {accepted}; "
            f"got {unknown[0]!r}"
        )
    if pos_label is None and estimator.multilabel_:
        raise ValueError(
            Message("give `pos_label`, the column of y to look at: one of {}", classes)
        )
    if pos_label is not None and pos_label not in classes:
        raise ValueError(
            Message("`pos_label` must be one of the classes, {}; got {!r}", classes, pos_label)
        )
    if pos_label is None and len(classes) > 2:
        outcomes, found = estimator.classes_[P.argmax(axis=1)] == labels, P.max(axis=1)
    else:
        k = 1 if pos_label is None else classes.index(pos_label)
        found = P[:, k]
        outcomes = labels[:, k] > 0 if estimator.multilabel_ else labels == estimator.classes_[k]
    known = np.isfinite(found)
    return outcomes[known], found[known]


# Area of the point of the bin of most samples, in square points
_LARGEST_POINT = 90.0


class ReliabilityDisplay(CalibrationDisplay):  # type: ignore[misc]  # scikit-learn is untyped
    """How often it came true, by the probability that was given to it, for samples left out.

    scikit-learn's ``CalibrationDisplay`` of the leave-one-out probabilities of a
    `GegenbauerClassifierCV`: no samples need to be held back. (Their scale and biases, one number
    more than there are classes, were fitted to the same samples.)

    Parameters
    ----------
    prob_true, prob_pred : ndarray, shape (n_bins,)
        Share that came true, and mean probability, of each bin that is not empty.
    y_prob : ndarray, shape (n_samples,)
        Probabilities.
    expected_calibration_error : float
        Mean over the samples of the absolute difference of the two in their bin.
    counts : ndarray of int, shape (n_bins,), optional
        Samples in each of these bins. The error is a mean over samples, so that bins of a few
        count for little of it, however far from the diagonal they are: the numbers are drawn
        beside the points, whose areas they are.
    estimator_name, pos_label
        As for ``CalibrationDisplay``.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    line_ : matplotlib line
        The curve.
    points_ : matplotlib PathCollection or None
        Points of the bins, by their counts.
    labels_ : list of matplotlib Annotation
        The counts.

    See Also
    --------
    left_out_outcomes : Outcomes and probabilities of samples left out.
    GegenbauerClassifierCV : The estimator of classes that selects its model.
    html_report : All of a model on one page, with this plot of any samples.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from gegenbauer import GegenbauerClassifierCV
    >>> from gegenbauer.plotting import ReliabilityDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = ReliabilityDisplay.from_estimator(GegenbauerClassifierCV().fit(X, y), y)
    >>> display.expected_calibration_error < 0.02
    True
    """

    def __init__(
        self,
        prob_true: Doubles,
        prob_pred: Doubles,
        y_prob: Doubles,
        *,
        expected_calibration_error: float,
        counts: npt.NDArray[np.intp] | None = None,
        estimator_name: str | None = None,
        pos_label: Any = None,
    ) -> None:
        super().__init__(
            prob_true, prob_pred, y_prob, estimator_name=estimator_name, pos_label=pos_label
        )
        self.expected_calibration_error = expected_calibration_error
        self.counts = counts

    def plot(self, *, ax: Any = None, **options: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        **options
            As for ``CalibrationDisplay.plot``.

        Returns
        -------
        ReliabilityDisplay
            Itself.
        """
        super().plot(ax=get_axes(ax), **{"marker": "", **options})
        self.points_, self.labels_ = None, []
        if self.counts is not None:
            self.points_ = self.ax_.scatter(
                self.prob_pred,
                self.prob_true,
                s=_LARGEST_POINT * self.counts / self.counts.max(),
                color=self.line_.get_color(),
            )
            self.labels_ = [
                self.ax_.annotate(
                    str(n), (x, y), xytext=(5, -9), textcoords="offset points", fontsize="x-small"
                )
                for n, x, y in zip(self.counts, self.prob_pred, self.prob_true, strict=True)
            ]
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        y: npt.ArrayLike,
        *,
        pos_label: Any = None,
        n_bins: int = 10,
        strategy: str = "uniform",
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the leave-one-out probabilities of a classifier.

        Parameters
        ----------
        estimator : GegenbauerClassifierCV
            Fitted.
        y, pos_label
            As for `left_out_outcomes`: of more than two classes the curve is top-label, unless
            pos_label selects one class against the rest.
        n_bins : int
            Number of bins.
        strategy : {"uniform", "quantile"}
            Bins of equal width, or of equally many samples.
        name : str, optional
            In the legend; by default the class of the estimator.
        ax : matplotlib axes, optional
            Where to draw.
        **options
            As for ``ax.plot``.

        Returns
        -------
        ReliabilityDisplay

        Raises
        ------
        TypeError
            The estimator has no leave-one-out probabilities.
        ValueError
            y does not belong to the estimator, or an argument is not as it has to be.
        """
        outcomes, found = left_out_outcomes(estimator, y, pos_label=pos_label)
        top = pos_label is None and len(estimator.classes_) > 2
        if pos_label is None and not top:
            pos_label = estimator.classes_[1]
        display = cls.from_predictions(
            outcomes, found, n_bins=n_bins, strategy=strategy, pos_label=pos_label,
            name=type(estimator).__name__ if name is None else name, ax=ax, **options,
        )  # fmt: skip
        if top:
            display.ax_.set(
                xlabel="mean probability of the likeliest class", ylabel="share of it that is right"
            )
        return display

    @classmethod
    def from_predictions(
        cls,
        y_true: npt.ArrayLike,
        y_prob: npt.ArrayLike,
        *,
        pos_label: Any = None,
        n_bins: int = 10,
        strategy: str = "uniform",
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw any probabilities.

        Parameters
        ----------
        y_true : array_like of bool, shape (n_samples,)
            What came true.
        y_prob : array_like, shape (n_samples,)
            The probability that was given to it.
        pos_label : optional
            What it is, for the labels of the axes.
        n_bins, strategy, name, ax, **options
            As for `from_estimator`.

        Returns
        -------
        ReliabilityDisplay
        """
        n_bins = check_integer(n_bins, "n_bins", minimum=1)
        check_choice(strategy, "strategy", ("uniform", "quantile"))
        found = as_matrix(y_prob, "y_prob", n_columns=1, keep_float32=False, one_dimensional=True)[
            :, 0
        ]
        outcomes = np.asarray(require_plain(y_true, "y_true", wanted="outcomes"), dtype=bool)
        if outcomes.shape != found.shape:
            raise ValueError(
                f"y_true must have one outcome for each of the {found.size} entries of y_prob, got "
                f"shape {outcomes.shape}"
            )
        edges = np.linspace(0, 1, n_bins + 1)
        if strategy == "quantile":
            edges = np.quantile(found, edges)
        prob_true, prob_pred = calibration_curve(
            outcomes, found, pos_label=True, n_bins=n_bins, strategy=strategy
        )
        counts = np.bincount(np.searchsorted(edges[1:-1], found))  # in the bins of the curve
        display = cls(
            prob_true, prob_pred, found, counts=counts[counts > 0],
            expected_calibration_error=expected_calibration_error(outcomes, found, edges),
            estimator_name=name, pos_label=pos_label,
        )  # fmt: skip
        return display.plot(ax=ax, **options)
