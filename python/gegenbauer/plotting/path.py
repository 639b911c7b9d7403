"""Scores over the penalty."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from gegenbauer._messages import Message
from gegenbauer._renamed import FormerNames, refuse_old_names
from gegenbauer._validation import as_alphas
from gegenbauer.estimators._search import SearchEstimator
from gegenbauer.inspection.models import expansion_of
from gegenbauer.plotting._axes import error_name, errors_of, get_axes
from gegenbauer.ridge.expansions import KernelExpansion, KernelPosterior
from gegenbauer.ridge.landmarks import choose_landmarks
from gegenbauer.ridge.mean_expansion import MeanExpansion
from gegenbauer.selection.basis_search import PAPER_ALPHAS
from gegenbauer.selection.ridge_path import RidgePath

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.tensor_basis import TensorBasis
    from gegenbauer.ridge.expansions import Kernel
    from gegenbauer.ridge.landmarks import Landmarks

__all__ = ["PathDisplay", "solved_by"]


def solved_by(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[RidgePath, float]:
    """Factorise the problem that an estimator has solved; return its penalty, too.

    Of the mean of several models, that of the middle penalty.
    """
    check_is_fitted(estimator)
    function = expansion_of(estimator)
    if isinstance(function, MeanExpansion):
        function = function.middle
    model: Kernel | TensorBasis | Landmarks
    if not isinstance(function, KernelExpansion):
        model = function.basis
    elif estimator.engine_ == "landmarks":
        model, _ = choose_landmarks(
            function.kernel, function.centres, len(function.centres), scaling=estimator.scaling_,
            n_threads=estimator._n_threads(),
        )  # fmt: skip
    else:
        model = function.kernel
    alpha = estimator.alpha_ if isinstance(estimator, SearchEstimator) else estimator.alpha
    weight: Doubles | None
    if X is not None and y is not None:
        estimator._validate_inputs(X, reset=False)
        rows, Y, weight, _ = copy.copy(estimator)._checked_rows(X, y, sample_weight)
        Y = Y.reshape(len(rows), -1)
        # where the constant is penalised, targets are taken from their mean or from zero, and those
        # of classes from zero
        if not is_classifier(estimator) and function.intercept is not None:
            Y = Y - function.intercept
    elif (
        X is None
        and y is None
        and isinstance(function, KernelExpansion)
        and isinstance(function.posterior, KernelPosterior)
    ):
        # targets are predictions plus residuals, which are alpha times dual coefficients
        rows, weight = function.centres, function.posterior.weight
        sizes = 1.0 if weight is None else weight[:, np.newaxis]
        Y = function.evaluate(rows).reshape(len(rows), -1) + alpha * function.coef_2d / sizes
        Y -= 0.0 if function.intercept is None else function.intercept
    else:
        raise TypeError(
            f"this {type(estimator).__name__} keeps no samples of its fit: pass X and y, those of "
            "fit"
        )
    path = RidgePath(
        model,
        rows,
        Y,
        sample_weight=weight,
        scaling=estimator.scaling_,
        penalize_constant=bool(estimator.penalize_constant),
        n_threads=estimator._n_threads(),
    )
    return path, float(alpha)


def require_ridge_path(path: object) -> None:
    """Refuse what is no `RidgePath`."""
    if not isinstance(path, RidgePath):
        raise TypeError(Message("`path` must be a RidgePath, got {}", type(path).__name__))


class PathDisplay(FormerNames):
    """Errors of samples left out, by the penalty.

    Parameters
    ----------
    alphas : ndarray, shape (n_alphas,)
        Penalties.
    errors : dict of str to ndarray, shape (n_alphas,)
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

    See Also
    --------
    SensitivityDisplay : The error for each penalty and number of terms.
    RidgePath : One factorisation for every penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import RidgePath, TensorBasis
    >>> from gegenbauer.plotting import PathDisplay
    >>> X = np.linspace(0, 1, 30)[:, np.newaxis]
    >>> path = RidgePath(TensorBasis(1, degree=9), X, np.sign(X - 0.5))
    >>> display = PathDisplay.from_path(path, 10.0 ** np.arange(-9, 3))
    """

    @refuse_old_names
    def __init__(
        self,
        alphas: Doubles,
        errors: dict[str, Doubles],
        *,
        chosen: float | None = None,
        xlabel: str = "alpha",
        ylabel: str = "mean squared error",
    ) -> None:
        self.alphas = alphas
        self.errors = errors
        self.chosen = chosen
        self.xlabel = xlabel
        self.ylabel = ylabel

    @classmethod
    @refuse_old_names
    def from_path(cls, path: RidgePath, alphas: npt.ArrayLike, *, ax: Any = None) -> Self:
        """Draw leave-one-out errors and generalised cross-validation of a `RidgePath`.

        Parameters
        ----------
        path : RidgePath
            A factorised problem.
        alphas : array_like, shape (n_alphas,)
            Penalties.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        PathDisplay
            The leave-one-out minimum is marked.
        """
        return cls._of_path(path, alphas).plot(ax=ax)

    @classmethod
    def _of_path(cls, path: RidgePath, alphas: npt.ArrayLike) -> Self:
        require_ridge_path(path)
        values = np.sort(as_alphas(alphas))
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
            ``spectrum=None``, a `GegenbauerRegressorCV` of all terms, and the mean of several
            models.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        PathDisplay
            Of what was tried, a curve for each smoothness s, at the interaction q that suits it
            best, or with the paper's basis for each lam, at the number of terms that suits it best;
            the best penalty is marked. Else the leave-one-out error of the fitted terms and
            generalised cross-validation around the penalty of the fit, which is marked. Where the
            fit is the mean of several models, of the one with the middle penalty, ``alpha_``.

        Raises
        ------
        TypeError
            Samples are missing, or the estimator is none of this library.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from gegenbauer import GegenbauerClassifierCV
        >>> from gegenbauer.plotting import PathDisplay
        >>> model = GegenbauerClassifierCV().fit(*load_iris(return_X_y=True))
        >>> len(PathDisplay.from_estimator(model).lines_)
        2
        """
        check_is_fitted(estimator)
        results = estimator.surface_ if isinstance(estimator, SearchEstimator) else {}
        if not results:
            path, alpha = solved_by(estimator, X, y, sample_weight)
            around = np.array(PAPER_ALPHAS) if alpha == 0 else alpha * 2.0 ** np.arange(-16, 17)
            display = cls._of_path(path, around)
            display.chosen = alpha or None
            variance = np.average(path.targets**2, axis=0, weights=path.sample_weight)
            variance -= np.average(path.targets, axis=0, weights=path.sample_weight) ** 2
            unit = float(variance.mean()) or 1.0
            display.errors = {name: values / unit for name, values in display.errors.items()}
            display.ylabel = "mean squared error / variance"
            return display.plot(ax=ax)
        errors = errors_of(estimator)
        by_lam = "lam" in results
        alphas = results["alpha" if by_lam else "relative_alpha"]
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
            alphas,
            curves,
            chosen=estimator.alpha_ if by_lam else float(alphas[best]),
            xlabel="alpha" if by_lam else "alpha / mean diagonal of the kernel matrix",
            ylabel=error_name(estimator),
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
        self.ax_ = get_axes(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = [
            self.ax_.plot(self.alphas, values, label=name, **options)[0]
            for name, values in self.errors.items()
        ]
        self.mark_ = None
        if self.chosen is not None:
            self.mark_ = self.ax_.axvline(
                self.chosen, color="0.5", linestyle=":", label=f"alpha = {self.chosen:.2g}"
            )
        positive = all(np.nanmin(values, initial=np.inf) > 0 for values in self.errors.values())
        yscale = "log" if positive else "linear"
        self.ax_.set(xscale="log", yscale=yscale, xlabel=self.xlabel, ylabel=self.ylabel)
        self.ax_.legend()
        return self
