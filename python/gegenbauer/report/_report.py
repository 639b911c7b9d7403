"""The report on a model."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gegenbauer._messages import Message
from gegenbauer._validation import shown
from gegenbauer.errors import message_of
from gegenbauer.estimators._summary import fitted_summary
from gegenbauer.inspection.models import expansion_of
from gegenbauer.persistence.atomic import as_path, write_atomically
from gegenbauer.report._explanations import Explanations
from gegenbauer.report._page import Page, draw
from gegenbauer.report._scores import Judgement, judge, targets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles

__all__ = ["html_report"]

# Samples that are drawn of more
_MOST_DRAWN = 2000

# Points from which on they are one image
_MOST_POINTS = 500


def html_report(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    out: str | os.PathLike[str] | None = None,
    target: str | None = None,
    title: str | None = None,
) -> str:
    """Return a page of HTML on a model: what it has learned, how good it is, and why.

    The page holds all that it shows, plots included, and loads nothing: it can be sent and kept.
    It has the settings that were chosen; scores at the samples beside those of a baseline, and the
    calibration of probabilities or the coverage of intervals; Sobol' indices, main effects and the
    strongest interactions; five predictions as sums of Shapley values; and the polynomial, where it
    is short.

    Parameters
    ----------
    model : estimator
        A fitted regressor or classifier of this library.
    X : {array-like, table, sparse matrix} of shape (n_samples, n_features)
        Samples, as for ``predict``.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
        Their targets; without these the page has no scores. Of the samples of the fit itself, as
        they were there, scores are those of samples left out.
    out : path, optional
        File to write the page to, which appears at once and whole.
    target : str, optional
        Name of what is predicted.
    title : str, optional
        Of the page.

    Returns
    -------
    str
        The page.

    Raises
    ------
    TypeError
        ``model`` is no regressor or classifier of this library; ``out`` is no path, or ``target``
        or ``title`` no text.
    sklearn.exceptions.NotFittedError
        It is not fitted.
    ValueError
        X or y does not fit the model.
    ImportError
        matplotlib is not installed.
    OSError
        The file cannot be written; an old one is as it was.

    See Also
    --------
    shapley_values : What each input adds to predictions.
    sobol_indices : Shares of the inputs in the variance of a model.
    partial_dependence : Means of a model given some inputs.
    ReliabilityDisplay : Probabilities, and how often they came true.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressorCV
    >>> from gegenbauer.report import html_report
    >>> X = np.random.default_rng(0).uniform(size=(60, 2))
    >>> y = X[:, 0] + X[:, 1] ** 2
    >>> page = html_report(GegenbauerRegressorCV(n_terms=10).fit(X, y), X, y, target="lift")
    >>> page.count("<h1>A model of lift</h1>")
    1
    """
    expansion_of(model)
    check_is_fitted(model)
    path = None if out is None else as_path(out, "out")
    for name, text in (("target", target), ("title", title)):
        if text is not None and not isinstance(text, str):
            raise TypeError(Message("`{}` must be a text or None, got {}", name, shown(text)))
    _require_matplotlib()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        outputs = np.asarray(model.predict(X))
        n_samples = len(outputs)
        if n_samples == 0:
            raise ValueError(Message("`X` must have at least one sample"))
        targets = None if y is None else targets_of(model, y, n_samples)
        page = Page(title or f"A model of {target or 'a target'}")
        _add_summary(page, model, n_samples, target)
        if targets is None:
            page.heading("Scores")
            page.paragraph("No targets were given, so there are no scores.", note=True)
        else:
            _add_scores(page, judge(model, X, targets), targets)
        Explanations(model, X, outputs, targets).add_to(page)
    notes = [str(message_of(one.message)) for one in caught if isinstance(one.message, Warning)]
    if notes:
        page.heading("Notes")
        for note in dict.fromkeys(notes):
            page.paragraph(f"{note[:1].upper()}{note[1:].rstrip('.')}.", note=True)
    html = page.html()
    if path is not None:
        # a link stays, and what it points at is replaced
        write_atomically(Path(os.path.realpath(path)), html.encode())
    return html


def _require_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ImportError("reports need matplotlib: run pip install 'gegenbauer[plot]'") from None


def _add_summary(page: Page, model: Any, n_samples: int, target: str | None) -> None:
    name = f" It predicts {target}." if target else ""
    page.paragraph(
        f"{type(model).__name__} of gegenbauer, looked at with {n_samples} "
        f"sample{'s' * (n_samples != 1)}.{name}"
    )
    page.heading("What was learned and chosen")
    page.table("", ["", ""], fitted_summary(model))


# ---- scores ------------------------------------------------------------------------------


def _add_scores(page: Page, found: Judgement, targets: NDArray[Any]) -> None:
    page.heading("Scores")
    page.paragraph(
        "These are the samples of the fit, and each is predicted by the model without it: the "
        "scores estimate those of new samples."
        if found.left_out
        else "Scores of the samples of this table. If the model was fitted to them, those of new "
        "samples are worse.",
        note=True,
    )
    page.table("", ["score", "this model", "baseline"], found.scores)
    page.paragraph(f"Baseline: {found.baseline}.", note=True)
    if found.outcomes is not None and found.probabilities is not None:
        _add_calibration(page, found.outcomes, found.probabilities, found.calibration)
    if found.coverage is not None:
        page.heading("Coverage of intervals", level=3)
        page.table(
            "", ["intervals that are to hold", "hold, of these samples", "mean width"],
            found.coverage,
        )  # fmt: skip
    if found.probabilities is None and found.predicted is not None and targets.ndim == 1:
        step = -(-len(targets) // _MOST_DRAWN)
        actual, predicted = targets[::step], found.predicted[::step]
        page.plot(draw(lambda ax: _scatter(ax, actual, predicted), "actual by predicted values"))


def _add_calibration(
    page: Page, outcomes: NDArray[np.bool_], probabilities: Doubles, error: float | None
) -> None:
    from gegenbauer.plotting.reliability import ReliabilityDisplay

    page.heading("Calibration", level=3)
    page.paragraph(
        f"Expected calibration error {error:.4f}: how far, on average, the share that "
        "came true is from the probability that was given to it."
    )

    def plot(ax: Any) -> None:
        ReliabilityDisplay.from_predictions(outcomes, probabilities, name="this model", ax=ax)
        ax.set(xlabel="mean probability", ylabel="share that came true")

    page.plot(draw(plot, "shares that came true by probabilities", height=3.6))


def _scatter(ax: Any, actual: NDArray[Any], predicted: NDArray[Any]) -> None:
    ax.plot(
        predicted, actual, ".", markersize=4, alpha=0.5, markeredgewidth=0,
        rasterized=len(actual) > _MOST_POINTS,
    )  # fmt: skip
    ends = [min(actual.min(), predicted.min()), max(actual.max(), predicted.max())]
    ax.plot(ends, ends, color="0.5", lw=0.8)
    ax.set(xlabel="predicted", ylabel="actual")
