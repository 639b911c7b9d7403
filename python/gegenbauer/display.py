"""Pictures of models, in the pattern of scikit-learn's displays. Needs the extra ``plot``.

A display holds the numbers of one picture. ``from_...`` methods compute them and draw; ``plot``
draws, into given axes or new ones, and leaves the artists in attributes. Reliability diagrams and
decision boundaries are scikit-learn's own: ``CalibrationDisplay`` and ``DecisionBoundaryDisplay``
take our estimators as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gegenbauer._arrays import check_integer
from gegenbauer.basis import TensorBasis

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from gegenbauer.insight import SobolIndices
    from gegenbauer.selection import RidgePath

    Doubles = npt.NDArray[np.float64]

__all__ = [
    "BasisDisplay",
    "InputDisplay",
    "LeverageDisplay",
    "PathDisplay",
    "SensitivityDisplay",
]


def _axes(ax: Any) -> Any:
    """Return axes to draw into."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: run pip install 'gegenbauer[plot]'") from None
    return plt.subplots()[1]


class PathDisplay:
    """Errors of rows left out, by the penalty.

    Parameters
    ----------
    gammas : ndarray, shape (n_gammas,)
        Penalties.
    errors : dict of str to ndarray, shape (n_gammas,)
        Curves by their names.
    chosen : float, optional
        A penalty to be marked.
    ylabel : str
        What the curves show.

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
        ylabel: str = "mean squared error",
    ) -> None:
        self.gammas = gammas
        self.errors = errors
        self.chosen = chosen
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
        values = np.sort(np.asarray(gammas, dtype=np.float64))
        weights = path.sample_weight
        squares = (path.leave_one_out(values).predictions - path.targets) ** 2
        left_out = np.average(squares.mean(axis=2), axis=1, weights=weights)
        errors = {"leave-one-out": left_out, "GCV": path.gcv(values).mean(axis=1)}
        chosen = float(values[left_out.argmin()])
        return cls(values, errors, chosen=chosen).plot(ax=ax)

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
        self.ax_.set(xscale="log", yscale="log", xlabel="gamma", ylabel=self.ylabel)
        self.ax_.legend()
        return self


class SensitivityDisplay:
    """An error over the penalty and the number of terms: the paper's sensitivity figures.

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
    """

    def __init__(
        self, gammas: Doubles, n_terms: npt.NDArray[np.intp], errors: Doubles, *,
        label: str = "error",
    ) -> None:  # fmt: skip
        self.gammas = gammas
        self.n_terms = n_terms
        self.errors = errors
        self.label = label

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
        self.surface_ = self.ax_.pcolormesh(
            self.gammas, self.n_terms, self.errors.T, shading="nearest", **options
        )
        g, k = np.unravel_index(np.nanargmin(self.errors), self.errors.shape)
        (self.mark_,) = self.ax_.plot(self.gammas[g], self.n_terms[k], "r+", markersize=12)
        self.colorbar_ = self.figure_.colorbar(self.surface_, ax=self.ax_, label=self.label)
        self.ax_.set(xscale="log", xlabel="gamma", ylabel="number of terms")
        return self


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
        cls, indices: SobolIndices, *, names: Sequence[str] | None = None, output: int = 0,
        ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw first-order and total Sobol' indices of one output.

        Parameters
        ----------
        indices : SobolIndices
            Of `sobol_indices`.
        names : sequence of str, optional
            Names of the inputs; by default x0, x1, ...
        output : int
            Which output.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        InputDisplay
        """
        m, n_outputs = indices.total.shape
        output = check_integer(output, "output", minimum=0)
        if output >= n_outputs:
            raise ValueError(f"output must be below {n_outputs}, got {output}")
        values = {
            "first order": indices.first_order[:, output], "total": indices.total[:, output]
        }  # fmt: skip
        labels = [f"x{t}" for t in range(m)] if names is None else names
        return cls(labels, values, xlabel="share of the variance").plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the relevances of the inputs of a `GegenbauerRegressorCV`.

        Parameters
        ----------
        estimator : GegenbauerRegressorCV
            Fitted.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        InputDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "relevances_"):
            raise TypeError(
                f"{type(estimator).__name__} has no relevances_: its spectrum is the same for all "
                "inputs; draw Sobol' indices with InputDisplay.from_sobol"
            )
        names = getattr(estimator, "feature_names_in_", None)
        labels = [f"x{t}" for t in range(estimator.n_features_in_)] if names is None else names
        return cls(labels, {"relevance": estimator.relevances_}, xlabel="relevance").plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        **options
            As for ``ax.barh``.

        Returns
        -------
        InputDisplay
            Itself.
        """
        self.ax_ = _axes(ax)
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
        self.ax_.invert_yaxis()
        self.ax_.set_xlabel(self.xlabel)
        if len(self.values) > 1:
            self.ax_.legend()
        return self


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
        found = path.leave_one_out([gamma])
        output = check_integer(output, "output", minimum=0)
        if output >= path.n_outputs:
            raise ValueError(f"output must be below {path.n_outputs}, got {output}")
        residuals = path.targets[:, output] - found.predictions[0, :, output]
        leverages = found.leverages[0]
        return cls(leverages, residuals, float(leverages.mean())).plot(ax=ax)

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
        self.mark_ = self.ax_.axvline(self.mean_leverage, color="0.5", linestyle=":")
        self.ax_.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
        self.ax_.set(xlabel="leverage", ylabel="residual without the row")
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
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        BasisDisplay
        """
        if not isinstance(basis, TensorBasis):
            raise TypeError(f"basis must be a TensorBasis, got {type(basis).__name__}")
        degree = check_integer(degree, "degree", minimum=0)
        x = np.linspace(*domain, 401)
        one = TensorBasis(1, degree=degree, lam=basis.lam, spectrum=basis.spectrum)
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
