"""Leverages against residuals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gegenbauer._messages import Message
from gegenbauer._renamed import refuse_old_names
from gegenbauer._validation import check_integer
from gegenbauer.plotting._axes import get_axes
from gegenbauer.plotting.path import require_ridge_path, solved_by

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles
    from gegenbauer.selection.ridge_path import RidgePath

__all__ = ["LeverageDisplay"]


class LeverageDisplay:
    """Residuals of samples left out, by their leverages: which samples the model leans on.

    Parameters
    ----------
    leverages : ndarray, shape (n_samples,)
        0 to 1.
    residuals : ndarray, shape (n_samples,)
        Target minus leave-one-out prediction.
    mean_leverage : float
        Marked; several times as much is worth a look.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    points_ : matplotlib PathCollection
        The samples.
    mark_ : matplotlib line
        At the mean leverage.

    See Also
    --------
    RidgePath : One factorisation for every penalty.
    PathDisplay : The error for each penalty.

    Examples
    --------
    >>> from gegenbauer import RidgePath, TensorBasis
    >>> from gegenbauer.plotting import LeverageDisplay
    >>> path = RidgePath(TensorBasis(1, degree=0), [[0.0], [0.5], [1.0]], [1.0, 3.0, 8.0])
    >>> LeverageDisplay.from_path(path, 1.0).leverages.round(6).tolist()  # of a constant
    [0.25, 0.25, 0.25]
    """

    def __init__(self, leverages: Doubles, residuals: Doubles, mean_leverage: float) -> None:
        self.leverages = leverages
        self.residuals = residuals
        self.mean_leverage = mean_leverage

    @classmethod
    @refuse_old_names
    def from_path(cls, path: RidgePath, alpha: float, *, output: int = 0, ax: Any = None) -> Self:
        """Draw the samples of a `RidgePath` for one penalty.

        Parameters
        ----------
        path : RidgePath
            A factorised problem.
        alpha : float
            Penalty.
        output : int
            Which output.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        LeverageDisplay
        """
        return cls._of_path(path, alpha, output).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None,
        output: int = 0, ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw the samples of a fitted estimator.

        Parameters
        ----------
        estimator : GegenbauerRegressorCV, GegenbauerClassifierCV or a plain estimator
            Fitted. Of a classifier, targets are its codes +1 and -1; of the mean of several models,
            it is the one with the middle penalty, ``alpha_``.
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
        >>> from gegenbauer.plotting import LeverageDisplay
        >>> model = GegenbauerRegressorCV().fit(*load_diabetes(return_X_y=True))
        >>> LeverageDisplay.from_estimator(model).leverages.shape
        (442,)
        """
        return cls._of_path(*solved_by(estimator, X, y, sample_weight), output).plot(ax=ax)

    @classmethod
    def _of_path(cls, path: RidgePath, alpha: float, output: int) -> Self:
        require_ridge_path(path)
        found = path.leave_one_out([alpha])
        output = check_integer(output, "output", minimum=0)
        if output >= path.n_outputs:
            raise ValueError(Message("`output` must be below {}, got {}", path.n_outputs, output))
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
        self.ax_ = get_axes(ax)
        self.figure_ = self.ax_.figure
        self.points_ = self.ax_.scatter(self.leverages, self.residuals, **{"s": 12, **options})
        self.mark_ = self.ax_.axvline(
            self.mean_leverage, color="0.5", linestyle=":",
            label=f"mean leverage = {self.mean_leverage:.2g}",
        )  # fmt: skip
        self.ax_.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
        self.ax_.set(xlabel="leverage", ylabel="leave-one-out residual")
        self.ax_.legend()
        return self
