"""Accuracy over the parameters of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gegenbauer._messages import Message
from gegenbauer._renamed import FormerNames, refuse_old_names
from gegenbauer._validation import check_number
from gegenbauer.estimators._search import SearchEstimator
from gegenbauer.plotting._axes import error_name, errors_of, get_axes

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = ["SensitivityDisplay"]


def _edges(values: npt.ArrayLike, *, by_ratio: bool) -> Doubles:
    """Return borders of cells around ascending values: half-way, the outer ones at the values."""
    x = np.asarray(values, dtype=np.float64)
    if x.size == 1:
        return x * [0.5, 1.5]
    inner = np.sqrt(x[1:] * x[:-1]) if by_ratio else (x[1:] + x[:-1]) / 2
    return np.concatenate([x[:1], inner, x[-1:]])


def _even_by_ratio(values: npt.ArrayLike) -> bool:
    """Whether positive values span a decade and are more even in ratio than in difference."""
    x = np.asarray(values, dtype=np.float64)
    if x[-1] < 10 * x[0]:
        return False
    ratios, steps = np.diff(np.log(x)), np.diff(x)
    return bool(ratios.std() / ratios.mean() <= steps.std() / steps.mean())


# Share of the errors, from the smallest on, that have colours of their own
_SHOWN_APART = 0.8


class SensitivityDisplay(FormerNames):
    """An error over the penalty and the number of terms: the paper's sensitivity figures.

    The axis of the penalty is logarithmic; that of the number of terms is when these span a decade
    and are more even in ratio than in difference, such as 10, 100, 1000. The colours go from the
    smallest error to the 80 % quantile of the finite ones, so that a few bad corners do not make
    all others look alike; what is above has the last colour. ``vmin`` and ``vmax``, or ``norm``, of
    :meth:`plot` set others.

    Parameters
    ----------
    alphas : ndarray, shape (n_alphas,)
        Penalties, ascending.
    n_terms : ndarray, shape (n_sizes,)
        Numbers of terms, ascending.
    errors : ndarray, shape (n_alphas, n_sizes)
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

    See Also
    --------
    PathDisplay : The error for each penalty.
    prefix_surface : Every number of terms with every penalty.
    search_basis : The best of the paper's bases.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressorCV
    >>> from gegenbauer.plotting import SensitivityDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(60, 2))
    >>> y = np.sin(4 * X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(60)
    >>> grid = {"n_terms": range(1, 30), "alphas": 2.0 ** np.arange(-30, 31)}
    >>> model = GegenbauerRegressorCV(spectrum=None, **grid).fit(X, y)
    >>> SensitivityDisplay.from_estimator(model).errors.shape
    (61, 29)
    """

    @refuse_old_names
    def __init__(
        self, alphas: Doubles, n_terms: npt.NDArray[np.intp], errors: Doubles, *,
        label: str = "error",
    ) -> None:  # fmt: skip
        self.alphas = alphas
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
        results = estimator.surface_ if isinstance(estimator, SearchEstimator) else {}
        if "n_terms" not in results:
            raise TypeError(
                Message(
                    "this {} has tried no numbers of terms",
                    type(estimator).__name__,
                    ways="fit it with `spectrum=None` and several `n_terms`",
                )
            )
        tried = results["lam"].tolist()
        value = (
            estimator.lam_
            if lam is None
            else check_number(lam, "lam", minimum=-0.5, open_below=True)
        )
        if value not in tried:
            raise ValueError(
                Message("`lam` must be one of those that were tried, {}; got {!r}", tried, lam)
            )
        errors = errors_of(estimator)[tried.index(value)].T
        known = np.isfinite(errors).any(axis=1)  # beyond the grid, only the best lam was tried
        return cls(
            results["alpha"][known], results["n_terms"], errors[known], label=error_name(estimator)
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
        self.ax_ = get_axes(ax)
        self.figure_ = self.ax_.figure
        by_ratio = _even_by_ratio(self.n_terms)
        limits = {} if options.get("norm") is not None else self._limits()
        self.surface_ = self.ax_.pcolormesh(
            _edges(self.alphas, by_ratio=True), _edges(self.n_terms, by_ratio=by_ratio),
            self.errors.T, **{**limits, **options},
        )  # fmt: skip
        g, k = np.unravel_index(np.nanargmin(self.errors), self.errors.shape)
        (self.mark_,) = self.ax_.plot(
            self.alphas[g], self.n_terms[k], "r+", markersize=12, clip_on=False
        )
        beyond = self.surface_.norm.vmax < np.nanmax(self.errors)
        self.colorbar_ = self.figure_.colorbar(
            self.surface_, ax=self.ax_, label=self.label, extend="max" if beyond else "neither"
        )
        yscale = "log" if by_ratio else "linear"
        self.ax_.set(xscale="log", yscale=yscale, xlabel="alpha", ylabel="number of terms")
        return self

    def _limits(self) -> dict[str, float]:
        """Return the errors of the first and the last colour."""
        finite = self.errors[np.isfinite(self.errors)]
        low, high = finite.min(), np.quantile(finite, _SHOWN_APART)
        return {"vmin": float(low), "vmax": float(high if high > low else finite.max())}
