"""Shares of pairs of inputs in the variance of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import check_integer
from gegenbauer.inspection.indices import SobolIndices
from gegenbauer.inspection.sobol import sobol_indices
from gegenbauer.plotting._axes import WIDEST, check_output, get_axes, labels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gegenbauer._typing import Doubles

__all__ = ["InteractionDisplay"]

# Inputs up to which cells have numbers
_MOST_WRITTEN = 10

# Letters of names that have room below the cells, and of a name where there are many
_MOST_LETTERS, _WIDEST_OF_MANY = 40, 24


class InteractionDisplay:
    """A heat map of second-order Sobol' indices: how much of the variance pairs of inputs add.

    The share of a pair is that of its interaction alone, beyond what each of both explains by
    itself. Each pair has one cell, below the diagonal.

    Parameters
    ----------
    names : sequence of n_features str
        Names of the inputs.
    values : ndarray, shape (n_features, n_features)
        The shares, symmetric.
    label : str
        What the colour is.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    cells_ : matplotlib QuadMesh
        The colours; rows are the inputs from the second on, columns those up to the last but one.
    texts_ : list of matplotlib Text
        The numbers in the cells, if there are at most ten inputs.
    colorbar_ : matplotlib colorbar

    See Also
    --------
    sobol_indices : Shares of the inputs in the variance of a model.
    InputDisplay : Shares of single inputs.
    DependenceDisplay : Means of a model given some inputs.

    Examples
    --------
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.inspection import term_sobol_indices
    >>> from gegenbauer.plotting import InteractionDisplay
    >>> basis = TensorBasis(2, degree=2, lam=0.5)  # 1, x, y, x^2, x y, y^2
    >>> found = term_sobol_indices(basis, [0, 1.0, 0, 0, 3.0, 0], domain=(-1, 1))
    >>> display = InteractionDisplay.from_sobol(found, names=["width", "height"])
    >>> display.values.round(4)
    array([[0.  , 0.75],
           [0.75, 0.  ]])
    """

    def __init__(
        self, names: Sequence[str], values: Doubles, *, label: str = "share of the variance"
    ) -> None:
        self.names = names
        self.values = values
        self.label = label

    @classmethod
    def from_sobol(
        cls,
        indices: SobolIndices | Any,
        *,
        names: Sequence[str] | None = None,
        output: int = 0,
        n_inputs: int = 20,
        ax: Any = None,
    ) -> Self:
        """Draw the second-order indices of one output.

        Parameters
        ----------
        indices : SobolIndices or fitted estimator of this library
            Of `sobol_indices`, or an estimator to compute them of, under the marginals of the
            samples of its fit.
        names : sequence of str, optional
            Names of the inputs; by default their own, or x0, x1, ...
        output : int
            Which output.
        n_inputs : int
            Most inputs to draw. Of more, those of the largest total share, that share first.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        InteractionDisplay

        Raises
        ------
        TypeError
            ``indices`` is neither.
        ValueError
            They are of fewer than two inputs, or have no second order; there is no such output.
        """
        if not isinstance(indices, SobolIndices):
            indices = sobol_indices(indices, distribution="empirical")
        if indices.second_order is None:
            raise ValueError(
                Message("`indices` have no second order", ways="find them with `order=2`")
            )
        n_outputs, m = indices.total.shape
        if m < 2:
            raise ValueError(Message("interactions need at least two inputs, got {}", m))
        output = check_output(output, n_outputs)
        most = check_integer(n_inputs, "n_inputs", minimum=2)
        if names is None:
            names = [f"x{t}" for t in range(m)] if indices.names is None else [*indices.names]
        if len(names) != m:
            raise ValueError(Message("`names` must have {} entries, got {}", m, len(names)))
        shown = np.arange(m)
        if m > most:
            shown = np.argsort(-indices.total[output], kind="stable")[:most]
        values = indices.second_order[output][np.ix_(shown, shown)]
        return cls([str(names[t]) for t in shown.tolist()], values).plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default, the larger the more inputs there are.
        **options
            As for ``ax.pcolormesh``.

        Returns
        -------
        InteractionDisplay
            Itself.
        """
        n = len(self.names)
        many = n > _MOST_WRITTEN
        labels = labels_of(self.names, _WIDEST_OF_MANY if many else WIDEST)
        widest = 0.08 * max(map(len, labels))
        self.ax_ = get_axes(ax, height=1.8 + widest + 0.2 * n, width=2.2 + widest + 0.24 * n)
        self.figure_ = self.ax_.figure
        lower = np.ma.masked_array(self.values, np.triu(np.ones((n, n), dtype=bool)))[1:, :-1]
        top = float(lower.max()) if lower.count() else 0.0
        self.cells_ = self.ax_.pcolormesh(
            lower, **{"cmap": "Blues", "vmin": 0.0, "vmax": top or 1.0, "edgecolors": "white",
                      "linewidth": 0.5, **options},
        )  # fmt: skip
        places = np.arange(n - 1) + 0.5
        size = "small" if many else "medium"
        self.ax_.set_yticks(places, labels[1:], fontsize=size)
        turned: dict[str, Any] = {}
        if many:
            turned = {"rotation": 90}
        elif sum(map(len, labels)) > _MOST_LETTERS:
            turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        self.ax_.set_xticks(places, labels[:-1], fontsize=size, **turned)
        self.ax_.set_ylim(n - 1, 0)
        self.ax_.spines[["top", "right"]].set_visible(False)
        self.ax_.tick_params(length=0)
        self.texts_ = self._numbers(lower, top) if not many else []
        self.colorbar_ = self.figure_.colorbar(self.cells_, ax=self.ax_, label=self.label)
        return self

    def _numbers(self, lower: Any, top: float) -> list[Any]:
        """Write the shares into the cells: white where the colour is dark."""
        return [
            self.ax_.text(
                column + 0.5, row + 0.5, f"{lower[row, column]:.3f}", ha="center", va="center",
                fontsize="small", color="white" if lower[row, column] > 0.6 * top else "black",
            )
            for row in range(len(lower))
            for column in range(row + 1)
        ]  # fmt: skip
