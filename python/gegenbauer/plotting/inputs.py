"""Share of the variance by inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gegenbauer._messages import Message
from gegenbauer.estimators._search import SearchEstimator
from gegenbauer.inspection.indices import SobolIndices
from gegenbauer.inspection.sobol import sobol_indices
from gegenbauer.plotting._axes import check_output, get_axes, labels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gegenbauer._typing import Doubles

__all__ = ["InputDisplay"]


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

    See Also
    --------
    sobol_indices : Shares of the inputs in the variance of a model.
    InteractionDisplay : Shares of pairs of inputs.
    DependenceDisplay : Means of a model given some inputs.

    Examples
    --------
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.inspection import term_sobol_indices
    >>> from gegenbauer.plotting import InputDisplay
    >>> basis = TensorBasis(2, degree=1, lam=0.5)
    >>> found = term_sobol_indices(basis, [5.0, 1.0, 2.0], domain=(-1, 1))
    >>> display = InputDisplay.from_sobol(found, names=["width", "height"])
    >>> sorted(display.bars_)
    ['first order', 'total']
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
        n_outputs, m = indices.total.shape
        output = check_output(output, n_outputs)
        values = {
            "first order": indices.first_order[output], "total": indices.total[output]
        }  # fmt: skip
        labels = [f"x{t}" for t in range(m)] if names is None else names
        if len(labels) != m:
            raise ValueError(Message("`names` must have {} entries, got {}", m, len(labels)))
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
        if not isinstance(estimator, SearchEstimator) or not estimator.spectra_:
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
        self.ax_ = get_axes(ax, height=1.0 + 0.22 * len(self.names))
        self.figure_ = self.ax_.figure
        places = np.arange(len(self.names), dtype=np.float64)
        height = 0.8 / len(self.values)
        self.bars_ = {
            name: self.ax_.barh(
                places + (i + 0.5) * height - 0.4, values, height, label=name, **options
            )
            for i, (name, values) in enumerate(self.values.items())
        }
        self.ax_.set_yticks(places, labels_of(self.names))
        self.ax_.set_ylim(len(self.names) - 0.4, -0.6)
        self.ax_.set_xlabel(self.xlabel)
        if len(self.values) > 1:
            self.ax_.legend()
        return self
