"""Pictures of models, in the pattern of scikit-learn's displays. Needs the extra ``plot``.

A display holds the numbers of one picture. ``from_...`` methods compute them and draw; ``plot``
draws, into given axes or new ones, and leaves the artists in attributes. Decision boundaries,
partial dependence and calibration on other rows are scikit-learn's own:
``DecisionBoundaryDisplay``, ``PartialDependenceDisplay`` and ``CalibrationDisplay`` take our
estimators as they are.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.calibration import CalibrationDisplay, calibration_curve
from sklearn.utils.validation import check_is_fitted

from gegenbauer._arrays import check_choice, check_integer, require_plain
from gegenbauer.basis import TensorBasis
from gegenbauer.basis_search import PAPER_GAMMAS
from gegenbauer.calibration import expected_calibration_error
from gegenbauer.explain import sobol_indices
from gegenbauer.insight import SobolIndices
from gegenbauer.selection import RidgePath

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]

__all__ = [
    "BasisDisplay",
    "InputDisplay",
    "LeverageDisplay",
    "PathDisplay",
    "ReliabilityDisplay",
    "SensitivityDisplay",
    "left_out_outcomes",
]


def _axes(ax: Any, *, height: float | None = None) -> Any:
    """Return axes to draw into; new ones at least so many inches high."""
    if ax is not None:
        if not (hasattr(ax, "figure") and hasattr(ax, "plot")):
            some = f"{type(ax).__name__}"
            if np.ndim(ax):
                some = f"some of shape {np.shape(ax)}: pass one of them, such as axes.flat[0]"
            raise TypeError(f"ax must be the matplotlib Axes to draw into, got {some}")
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: run pip install 'gegenbauer[plot]'") from None
    figure, ax = plt.subplots(layout="constrained")  # which leaves room for long names
    figure.set_figheight(max(figure.get_figheight(), height or 0.0))
    return ax


def _error_name(estimator: Any) -> str:
    """Name what is minus the score of rows left out."""
    if estimator.scoring is None:
        return "log-loss" if is_classifier(estimator) else "mean squared error / variance"
    return f"minus {estimator.scoring if isinstance(estimator.scoring, str) else 'the score'}"


def _errors_of(estimator: Any) -> Doubles:
    """Return the errors in ``cv_results_``, NaN where there is none."""
    scores = estimator.cv_results_["score"]
    return np.where(np.isfinite(scores), -scores, np.nan)


def _solved_by(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[RidgePath, float]:
    """Factorise the problem that an estimator has solved; return its penalty, too."""
    check_is_fitted(estimator)
    model = getattr(estimator, "kernel_", getattr(estimator, "basis_", None))
    if model is None or not hasattr(estimator, "_checked_rows"):
        raise TypeError(
            "estimator must be a regressor or classifier of this library, got "
            f"{type(estimator).__name__}"
        )
    gamma = estimator.gamma_ if hasattr(estimator, "gamma_") else estimator.gamma
    weight: Doubles | None
    if X is not None and y is not None:
        estimator._validate_inputs(X, reset=False)
        rows, Y, weight, _ = copy.copy(estimator)._checked_rows(X, y, sample_weight)
        Y = Y.reshape(len(rows), -1)
    elif X is None and y is None and {"X_fit_", "_row_weight"} <= vars(estimator).keys():
        # targets are predictions plus residuals, which are gamma times dual coefficients
        rows, weight = estimator.X_fit_, estimator._row_weight
        sizes = 1.0 if weight is None else weight[:, np.newaxis]
        Y = estimator._evaluate(rows) + gamma * estimator.dual_coef_ / sizes
    else:
        raise TypeError(
            f"this {type(estimator).__name__} keeps no samples of its fit: pass X and y, those of "
            "fit"
        )
    path = RidgePath(
        model,
        rows,
        # where the constant is penalised, targets are taken from their mean or from zero
        Y - getattr(estimator, "intercept_", 0.0),
        sample_weight=weight,
        scaling=estimator.scaling_,
        penalize_constant=bool(estimator.penalize_constant),
        n_threads=estimator._n_threads(),
    )
    return path, float(gamma)


class PathDisplay:
    """Errors of rows left out, by the penalty.

    Parameters
    ----------
    gammas : ndarray, shape (n_gammas,)
        Penalties.
    errors : dict of str to ndarray, shape (n_gammas,)
        Curves by their names. Where all are positive, their axis is logarithmic.
    chosen : float, optional
        A penalty to be marked.
    xlabel, ylabel : str
        What the penalties are, and what the curves show.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : list of matplotlib lines
        One for each curve.
    mark_ : matplotlib line or None
        At the chosen penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import RidgePath, TensorBasis
    >>> from gegenbauer.display import PathDisplay
    >>> X = np.linspace(0, 1, 30)[:, np.newaxis]
    >>> path = RidgePath(TensorBasis(1, degree=9), X, np.sign(X - 0.5))
    >>> display = PathDisplay.from_path(path, 10.0 ** np.arange(-9, 3))
    """

    def __init__(
        self,
        gammas: Doubles,
        errors: dict[str, Doubles],
        *,
        chosen: float | None = None,
        xlabel: str = "gamma",
        ylabel: str = "mean squared error",
    ) -> None:
        self.gammas = gammas
        self.errors = errors
        self.chosen = chosen
        self.xlabel = xlabel
        self.ylabel = ylabel

    @classmethod
    def from_path(cls, path: RidgePath, gammas: npt.ArrayLike, *, ax: Any = None) -> Self:
        """Draw leave-one-out errors and generalised cross-validation of a `RidgePath`.

        Parameters
        ----------
        path : RidgePath
            A factorised problem.
        gammas : array_like, shape (n_gammas,)
            Penalties.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        PathDisplay
            The leave-one-out minimum is marked.
        """
        return cls._of_path(path, gammas).plot(ax=ax)

    @classmethod
    def _of_path(cls, path: RidgePath, gammas: npt.ArrayLike) -> Self:
        values = np.sort(np.asarray(gammas, dtype=np.float64))
        weights = path.sample_weight
        squares = (path.leave_one_out(values).predictions - path.targets) ** 2
        left_out = np.average(squares.mean(axis=2), axis=1, weights=weights)
        errors = {"leave-one-out": left_out, "GCV": path.gcv(values).mean(axis=1)}
        return cls(values, errors, chosen=float(values[left_out.argmin()]))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None,
        ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw what an estimator has tried, or what other penalties would have done.

        Parameters
        ----------
        estimator : GegenbauerClassifierCV, GegenbauerRegressorCV or a plain estimator
            Fitted.
        X, y, sample_weight : optional
            Those of ``fit``: for estimators that have tried no grid and keep no samples, that is
            all but a `GegenbauerClassifierCV` whose spectrum was not given, those with
            ``spectrum=None``, and a `GegenbauerRegressorCV` of all terms.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        PathDisplay
            Of what was tried, a curve for each smoothness s, at the interaction q that suits it
            best, or with the paper's basis for each lam, at the number of terms that suits it best;
            the best penalty is marked. Else the leave-one-out error of the fitted terms and
            generalised cross-validation around the penalty of the fit, which is marked.

        Raises
        ------
        TypeError
            Samples are missing, or the estimator is none of this library.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from gegenbauer import GegenbauerClassifierCV
        >>> from gegenbauer.display import PathDisplay
        >>> model = GegenbauerClassifierCV().fit(*load_iris(return_X_y=True))
        >>> len(PathDisplay.from_estimator(model).lines_)
        2
        """
        check_is_fitted(estimator)
        results = getattr(estimator, "cv_results_", {})
        if not results:
            path, gamma = _solved_by(estimator, X, y, sample_weight)
            around = np.array(PAPER_GAMMAS) if gamma == 0 else gamma * 2.0 ** np.arange(-16, 17)
            display = cls._of_path(path, around)
            display.chosen = gamma or None
            variance = np.average(path.targets**2, axis=0, weights=path.sample_weight)
            variance -= np.average(path.targets, axis=0, weights=path.sample_weight) ** 2
            unit = float(variance.mean()) or 1.0
            display.errors = {name: values / unit for name, values in display.errors.items()}
            display.ylabel = "mean squared error / variance"
            return display.plot(ax=ax)
        errors = _errors_of(estimator)
        by_lam = "lam" in results
        gammas = results["gamma" if by_lam else "relative_gamma"]
        curves = {}
        for value, table in zip(results["lam" if by_lam else "smoothness"], errors, strict=True):
            k = np.unravel_index(np.nanargmin(table), table.shape)[0]
            if by_lam:
                name = f"lam = {value:g}, {results['n_terms'][k]} terms"
            else:
                name = f"s = {value:g}, q = {results['interaction'][k]:.2g}"
            curves[name] = table[k]
        best = np.unravel_index(np.nanargmin(errors), errors.shape)[-1]
        return cls(
            gammas,
            curves,
            chosen=estimator.gamma_ if by_lam else float(gammas[best]),
            xlabel="gamma" if by_lam else "gamma / mean diagonal of the kernel matrix",
            ylabel=_error_name(estimator),
        ).plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        **options
            For every curve, as for ``ax.plot``.

        Returns
        -------
        PathDisplay
            Itself.
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = [
            self.ax_.plot(self.gammas, values, label=name, **options)[0]
            for name, values in self.errors.items()
        ]
        self.mark_ = None
        if self.chosen is not None:
            self.mark_ = self.ax_.axvline(
                self.chosen, color="0.5", linestyle=":", label=f"gamma = {self.chosen:.2g}"
            )
        positive = all(np.nanmin(values, initial=np.inf) > 0 for values in self.errors.values())
        yscale = "log" if positive else "linear"
        self.ax_.set(xscale="log", yscale=yscale, xlabel=self.xlabel, ylabel=self.ylabel)
        self.ax_.legend()
        return self


def _edges(values: npt.ArrayLike, *, by_ratio: bool) -> Doubles:
    """Return borders of cells around ascending values: half-way, the outer ones at the values."""
    x = np.asarray(values, dtype=np.float64)
    if x.size == 1:
        return x * [0.5, 1.5]
    inner = np.sqrt(x[1:] * x[:-1]) if by_ratio else (x[1:] + x[:-1]) / 2
    return np.concatenate([x[:1], inner, x[-1:]])


def _even_by_ratio(values: npt.ArrayLike) -> bool:
    """Tell whether positive values span a decade and are more even in ratio than in difference."""
    x = np.asarray(values, dtype=np.float64)
    if x[-1] < 10 * x[0]:
        return False
    ratios, steps = np.diff(np.log(x)), np.diff(x)
    return bool(ratios.std() / ratios.mean() <= steps.std() / steps.mean())


# Share of the errors, from the smallest on, that have colours of their own
_SHOWN_APART = 0.8


class SensitivityDisplay:
    """An error over the penalty and the number of terms: the paper's sensitivity figures.

    The axis of the penalty is logarithmic; that of the number of terms is when these span a decade
    and are more even in ratio than in difference, such as 10, 100, 1000. The colours go from the
    smallest error to the 80 % quantile of the finite ones, so that a few bad corners do not make
    all others look alike; what is above has the last colour. ``vmin`` and ``vmax``, or ``norm``, of
    :meth:`plot` set others.

    Parameters
    ----------
    gammas : ndarray, shape (n_gammas,)
        Penalties, ascending.
    n_terms : ndarray, shape (n_sizes,)
        Numbers of terms, ascending.
    errors : ndarray, shape (n_gammas, n_sizes)
        What is drawn as colour.
    label : str
        What the colour is.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    surface_ : matplotlib QuadMesh
        The colours.
    mark_ : matplotlib line
        At the smallest error.
    colorbar_ : matplotlib colorbar

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressorCV
    >>> from gegenbauer.display import SensitivityDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(60, 2))
    >>> y = np.sin(4 * X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(60)
    >>> grid = {"n_terms": range(1, 30), "gammas": 2.0 ** np.arange(-30, 31)}
    >>> model = GegenbauerRegressorCV(spectrum=None, **grid).fit(X, y)
    >>> SensitivityDisplay.from_estimator(model).errors.shape
    (61, 29)
    """

    def __init__(
        self, gammas: Doubles, n_terms: npt.NDArray[np.intp], errors: Doubles, *,
        label: str = "error",
    ) -> None:  # fmt: skip
        self.gammas = gammas
        self.n_terms = n_terms
        self.errors = errors
        self.label = label

    @classmethod
    def from_estimator(cls, estimator: Any, *, lam: float | None = None, ax: Any = None) -> Self:
        """Draw what an estimator has tried of the paper's basis.

        Parameters
        ----------
        estimator : GegenbauerClassifierCV or GegenbauerRegressorCV
            Fitted with ``spectrum=None``.
        lam : float, optional
            One of those that were tried; by default the chosen one.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        SensitivityDisplay

        Raises
        ------
        TypeError
            The estimator has tried no numbers of terms.
        ValueError
            lam was not tried.
        """
        check_is_fitted(estimator)
        results = getattr(estimator, "cv_results_", {})
        if "n_terms" not in results:
            raise TypeError(
                f"this {type(estimator).__name__} has tried no numbers of terms: fit it with "
                "spectrum=None and several n_terms"
            )
        tried = results["lam"].tolist()
        value = estimator.lam_ if lam is None else float(lam)
        if value not in tried:
            raise ValueError(f"lam must be one of those that were tried, {tried}; got {lam!r}")
        errors = _errors_of(estimator)[tried.index(value)].T
        known = np.isfinite(errors).any(axis=1)  # beyond the grid, only the best lam was tried
        return cls(
            results["gamma"][known], results["n_terms"], errors[known], label=_error_name(estimator)
        ).plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the surface.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        **options
            As for ``ax.pcolormesh``.

        Returns
        -------
        SensitivityDisplay
            Itself.
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        by_ratio = _even_by_ratio(self.n_terms)
        limits = {} if options.get("norm") is not None else self._limits()
        self.surface_ = self.ax_.pcolormesh(
            _edges(self.gammas, by_ratio=True), _edges(self.n_terms, by_ratio=by_ratio),
            self.errors.T, **{**limits, **options},
        )  # fmt: skip
        g, k = np.unravel_index(np.nanargmin(self.errors), self.errors.shape)
        (self.mark_,) = self.ax_.plot(
            self.gammas[g], self.n_terms[k], "r+", markersize=12, clip_on=False
        )
        beyond = self.surface_.norm.vmax < np.nanmax(self.errors)
        self.colorbar_ = self.figure_.colorbar(
            self.surface_, ax=self.ax_, label=self.label, extend="max" if beyond else "neither"
        )
        yscale = "log" if by_ratio else "linear"
        self.ax_.set(xscale="log", yscale=yscale, xlabel="gamma", ylabel="number of terms")
        return self

    def _limits(self) -> dict[str, float]:
        """Return the errors of the first and the last colour."""
        finite = self.errors[np.isfinite(self.errors)]
        low, high = finite.min(), np.quantile(finite, _SHOWN_APART)
        return {"vmin": float(low), "vmax": float(high if high > low else finite.max())}


class InputDisplay:
    """A bar for each input: Sobol' indices, or relevances of a learned spectrum.

    Parameters
    ----------
    names : sequence of n_features str
        Names of the inputs.
    values : dict of str to ndarray, shape (n_features,)
        Bars of one colour by what they are.
    xlabel : str
        What the bars show.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    bars_ : dict of str to matplotlib BarContainer
        By what they are; the first input on top.
    """

    def __init__(
        self, names: Sequence[str], values: dict[str, Doubles], *, xlabel: str = ""
    ) -> None:
        self.names = names
        self.values = values
        self.xlabel = xlabel

    @classmethod
    def from_sobol(
        cls, indices: SobolIndices | Any, *, names: Sequence[str] | None = None, output: int = 0,
        ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw first-order and total Sobol' indices of one output.

        They take the inputs as independent, and of an estimator as uniform over the range seen in
        ``fit``: see `sobol_indices`, which warns where inputs are correlated.

        Parameters
        ----------
        indices : SobolIndices or fitted estimator of this library
            Of `sobol_indices`, or an estimator to compute them of.
        names : sequence of str, optional
            Names of the inputs; by default those an estimator has seen in ``fit``, or x0, x1, ...
        output : int
            Which output.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        InputDisplay
        """
        xlabel = "share of the variance, inputs taken as independent"
        if not isinstance(indices, SobolIndices):
            xlabel += " and uniform"
            names = getattr(indices, "feature_names_in_", None) if names is None else names
            indices = sobol_indices(indices)
        m, n_outputs = indices.total.shape
        output = check_integer(output, "output", minimum=0)
        if output >= n_outputs:
            raise ValueError(f"output must be below {n_outputs}, got {output}")
        values = {
            "first order": indices.first_order[:, output], "total": indices.total[:, output]
        }  # fmt: skip
        labels = [f"x{t}" for t in range(m)] if names is None else names
        if len(labels) != m:
            raise ValueError(f"names must have {m} entries, got {len(labels)}")
        return cls(labels, values, xlabel=xlabel).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the relevances of the inputs in the spectrum of an estimator that chose it.

        Parameters
        ----------
        estimator : GegenbauerRegressorCV or GegenbauerClassifierCV
            Fitted, not with ``spectrum=None``.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        InputDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "relevances_"):
            raise TypeError(
                f"{type(estimator).__name__} has no relevances_, which estimators that choose a "
                "spectrum have; draw Sobol' indices with InputDisplay.from_sobol"
            )
        names = getattr(estimator, "feature_names_in_", None)
        labels = [f"x{t}" for t in range(estimator.n_features_in_)] if names is None else names
        return cls(labels, {"relevance": estimator.relevances_}, xlabel="relevance").plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default, the higher the more inputs there are.
        **options
            As for ``ax.barh``.

        Returns
        -------
        InputDisplay
            Itself.
        """
        self.ax_ = _axes(ax, height=1.0 + 0.22 * len(self.names))
        self.figure_ = self.ax_.figure
        places = np.arange(len(self.names), dtype=np.float64)
        height = 0.8 / len(self.values)
        self.bars_ = {
            name: self.ax_.barh(
                places + (i + 0.5) * height - 0.4, values, height, label=name, **options
            )
            for i, (name, values) in enumerate(self.values.items())
        }
        self.ax_.set_yticks(places, [str(name) for name in self.names])
        self.ax_.set_ylim(len(self.names) - 0.4, -0.6)
        self.ax_.set_xlabel(self.xlabel)
        if len(self.values) > 1:
            self.ax_.legend()
        return self


def left_out_outcomes(
    estimator: Any, y: npt.ArrayLike, *, pos_label: Any = None
) -> tuple[npt.NDArray[np.bool_], Doubles]:
    """Return what came true, and the probability that the model without the row gave to it.

    Parameters
    ----------
    estimator : GegenbauerClassifierCV
        Fitted.
    y : array_like, shape (n_samples,) or (n_samples, n_labels)
        The labels of ``fit``, without rows of no weight.
    pos_label : optional
        A class: whether a row is of it (one against the rest). By default the second of two
        classes; and of more, whether the class of the largest probability is the right one
        (top-label). For a multilabel y, the column, which must be given.

    Returns
    -------
    outcomes : ndarray of bool, shape (n,)
    probabilities : ndarray, shape (n,)
        Rows that were never left out are left out here.
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "loo_probabilities_"):
        raise TypeError(
            "estimator must be a GegenbauerClassifierCV, whose probabilities leave rows out; got "
            f"{type(estimator).__name__}. scikit-learn's CalibrationDisplay takes any classifier "
            "and other rows"
        )
    P = estimator.loo_probabilities_
    require_plain(y, "y", wanted="labels")
    labels = np.asarray(y)
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
        raise ValueError(f"give pos_label, the column of y to look at: one of {classes}")
    if pos_label is not None and pos_label not in classes:
        raise ValueError(f"pos_label must be one of the classes, {classes}; got {pos_label!r}")
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
    """How often it came true, by the probability that was given to it, for rows left out.

    scikit-learn's ``CalibrationDisplay`` of the leave-one-out probabilities of a
    `GegenbauerClassifierCV`: no rows need to be held back. (Their scale and biases, one number
    more than there are classes, were fitted to the same rows.)

    Parameters
    ----------
    prob_true, prob_pred : ndarray, shape (n_bins,)
        Share that came true, and mean probability, of each bin that is not empty.
    y_prob : ndarray, shape (n_samples,)
        Probabilities.
    expected_calibration_error : float
        Mean over the rows of the absolute difference of the two in their bin.
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

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from gegenbauer import GegenbauerClassifierCV
    >>> from gegenbauer.display import ReliabilityDisplay
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
        super().plot(ax=_axes(ax), **{"marker": "", **options})
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
            pos_label asks for one class against the rest.
        n_bins : int
            Number of bins.
        strategy : {"uniform", "quantile"}
            Bins of equal width, or of equally many rows.
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
        require_plain(y_true, "y_true", wanted="outcomes")
        require_plain(y_prob, "y_prob")
        outcomes, found = np.asarray(y_true, dtype=bool), np.asarray(y_prob, dtype=np.float64)
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


class LeverageDisplay:
    """Residuals of rows left out, by their leverages: which rows the model leans on.

    Parameters
    ----------
    leverages : ndarray, shape (n_samples,)
        0 to 1.
    residuals : ndarray, shape (n_samples,)
        Target minus prediction without the row.
    mean_leverage : float
        Marked; several times as much is worth a look.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    points_ : matplotlib PathCollection
        The rows.
    mark_ : matplotlib line
        At the mean leverage.
    """

    def __init__(self, leverages: Doubles, residuals: Doubles, mean_leverage: float) -> None:
        self.leverages = leverages
        self.residuals = residuals
        self.mean_leverage = mean_leverage

    @classmethod
    def from_path(cls, path: RidgePath, gamma: float, *, output: int = 0, ax: Any = None) -> Self:
        """Draw the rows of a `RidgePath` for one penalty.

        Parameters
        ----------
        path : RidgePath
            A factorised problem.
        gamma : float
            Penalty.
        output : int
            Which output.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        LeverageDisplay
        """
        return cls._of_path(path, gamma, output).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None,
        output: int = 0, ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw the samples of a fitted estimator.

        Parameters
        ----------
        estimator : GegenbauerRegressorCV, GegenbauerClassifierCV or a plain estimator
            Fitted. Of a classifier, targets are its codes +1 and -1.
        X, y, sample_weight : optional
            Those of ``fit``, which all but a `GegenbauerRegressorCV` of all terms need: it keeps
            its distinct samples.
        output : int
            Which output.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        LeverageDisplay

        Raises
        ------
        TypeError
            Samples are missing, or the estimator is none of this library.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from gegenbauer import GegenbauerRegressorCV
        >>> from gegenbauer.display import LeverageDisplay
        >>> model = GegenbauerRegressorCV().fit(*load_diabetes(return_X_y=True))
        >>> LeverageDisplay.from_estimator(model).leverages.shape
        (442,)
        """
        return cls._of_path(*_solved_by(estimator, X, y, sample_weight), output).plot(ax=ax)

    @classmethod
    def _of_path(cls, path: RidgePath, gamma: float, output: int) -> Self:
        found = path.leave_one_out([gamma])
        output = check_integer(output, "output", minimum=0)
        if output >= path.n_outputs:
            raise ValueError(f"output must be below {path.n_outputs}, got {output}")
        residuals = path.targets[:, output] - found.predictions[0, :, output]
        leverages = found.leverages[0]
        return cls(leverages, residuals, float(leverages.mean()))

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the points.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        **options
            As for ``ax.scatter``.

        Returns
        -------
        LeverageDisplay
            Itself.
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.points_ = self.ax_.scatter(self.leverages, self.residuals, **{"s": 12, **options})
        self.mark_ = self.ax_.axvline(
            self.mean_leverage, color="0.5", linestyle=":",
            label=f"mean leverage = {self.mean_leverage:.2g}",
        )  # fmt: skip
        self.ax_.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
        self.ax_.set(xlabel="leverage", ylabel="residual without the row")
        self.ax_.legend()
        return self


class BasisDisplay:
    """The univariate polynomials of a basis.

    Parameters
    ----------
    x : ndarray, shape (n_points,)
        Points.
    values : ndarray, shape (n_points, n_degrees)
        Polynomials of degree 0, 1, ...

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : list of matplotlib lines
        One for each degree.
    """

    def __init__(self, x: Doubles, values: Doubles) -> None:
        self.x = x
        self.values = values

    @classmethod
    def from_basis(
        cls,
        basis: TensorBasis,
        *,
        degree: int = 5,
        domain: tuple[float, float] = (0.0, 1.0),
        feature: int = 0,
        ax: Any = None,
    ) -> Self:
        """Draw the polynomials that the terms of a basis are products of.

        Parameters
        ----------
        basis : TensorBasis
            Gives lam and the spectrum.
        degree : int
            Highest degree to draw.
        domain : tuple of two floats
            From where to where.
        feature : int
            Of which input, where the spectrum is not the same for all.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        BasisDisplay
        """
        if not isinstance(basis, TensorBasis):
            raise TypeError(f"basis must be a TensorBasis, got {type(basis).__name__}")
        degree = check_integer(degree, "degree", minimum=0)
        feature = check_integer(feature, "feature", minimum=0)
        if feature >= basis.n_features:
            raise ValueError(f"feature must be below {basis.n_features}, got {feature}")
        x = np.linspace(*domain, 401)
        spectrum = basis.spectrum._of_input(feature)
        one = TensorBasis(1, degree=degree, lam=basis.lam, spectrum=spectrum)
        return cls(x, one.evaluate(x[:, np.newaxis])).plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        **options
            As for ``ax.plot``.

        Returns
        -------
        BasisDisplay
            Itself.
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = [
            self.ax_.plot(self.x, column, label=f"degree {n}", **options)[0]
            for n, column in enumerate(self.values.T)
        ]
        self.ax_.set(xlabel="x", ylabel="polynomial")
        self.ax_.legend()
        return self
