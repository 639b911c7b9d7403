"""What each input adds to one prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import check_integer
from gegenbauer.inspection.shapley import ShapleyValues, shapley_values
from gegenbauer.plotting._axes import check_output, get_axes, label_of, labels_of, name_of_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gegenbauer._typing import Doubles

__all__ = ["ContributionDisplay"]

# Letters of the name of an input, and of its value
_WIDEST_NAME, _WIDEST_VALUE = 24, 16

# Share of the width that is free at each side
_MARGIN = 0.04


class ContributionDisplay:
    """One prediction as a sum: bars of Shapley values that lead from the mean to the output.

    The first bar, on top, begins at the mean of the function and is that of the largest absolute
    value; each begins where the one above it ends, and the last ends at the output.

    Parameters
    ----------
    names : sequence of n_bars str
        What stands beside the bars.
    values : ndarray, shape (n_bars,)
        Their lengths, in units of the output, with signs.
    mean : float
        Where the first begins.
    xlabel : str
        What the axis shows.

    Attributes
    ----------
    output : float
        Where the last bar ends.
    ax_, figure_
        Where it was drawn.
    bars_ : matplotlib BarContainer
        The bars, from the top.
    labels_ : list of matplotlib Text
        Their numbers.

    See Also
    --------
    shapley_values : What each input adds to predictions.
    DependenceDisplay : Means of a model given some inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.plotting import ContributionDisplay
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> model = GegenbauerRegressor(degree=1, n_terms=None, alpha=1e-12)
    >>> model = model.fit(X, 2 * X[:, 0] + X[:, 1])
    >>> display = ContributionDisplay.from_estimator(model, X, sample=2)
    >>> display.names, display.values.round(6), round(display.output, 6)
    (['x0 = 0', 'x1 = 1'], array([-1. ,  0.5]), 1.0)
    """

    def __init__(
        self, names: Sequence[str], values: Doubles, mean: float, *, xlabel: str = "output"
    ) -> None:
        self.names = names
        self.values = values
        self.mean = mean
        self.xlabel = xlabel

    @property
    def output(self) -> float:
        """Where the last bar ends."""
        return float(self.mean + np.sum(self.values))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        sample: int = 0,
        output: int = 0,
        n_inputs: int = 12,
        background: Any = None,
        distribution: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the exact Shapley values of a prediction of a model.

        Parameters
        ----------
        estimator : estimator
            A fitted regressor or classifier of this library.
        X : {array-like, table, sparse matrix} of shape (n_samples, n_features)
            Samples, as for ``predict``.
        sample : int
            Which of them, from 0.
        output : int
            Which output; of a classifier, of more than two classes, the place of the class.
        n_inputs : int
            Most bars of single inputs; what others add is one bar.
        background, distribution
            As for `shapley_values`.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ContributionDisplay

        Raises
        ------
        TypeError, ValueError
            As `shapley_values` raises; there is no such sample or output.
        """
        found = shapley_values(estimator, X, background=background, distribution=distribution)
        output = check_output(output, estimator.expansion_.n_outputs)
        return cls._of(found, sample, output, n_inputs, name_of_output(estimator, output), ax)

    @classmethod
    def from_shapley(
        cls,
        values: ShapleyValues,
        *,
        sample: int = 0,
        output: int = 0,
        n_inputs: int = 12,
        xlabel: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw Shapley values that were found before.

        Parameters
        ----------
        values : ShapleyValues
            Of some samples.
        sample, output, n_inputs, ax
            As for `from_estimator`.
        xlabel : str, optional
            What the output is.

        Returns
        -------
        ContributionDisplay
        """
        if not isinstance(values, ShapleyValues):
            raise TypeError(
                Message("`values` must be ShapleyValues, got {}", type(values).__name__)
            )
        n_outputs = values.values.shape[2] if values.values.ndim == 3 else 1
        output = check_output(output, n_outputs)
        if xlabel is None:
            xlabel = "output" if n_outputs == 1 else f"output {output}"
        return cls._of(values, sample, output, n_inputs, xlabel, ax)

    @classmethod
    def _of(
        cls,
        found: ShapleyValues,
        sample: int,
        output: int,
        n_inputs: int,
        xlabel: str,
        ax: Any,
    ) -> Self:
        sample = check_integer(sample, "sample", minimum=0)
        n_samples, m = found.values.shape[:2]
        if sample >= n_samples:
            raise ValueError(Message("`sample` must be below {}, got {}", n_samples, sample))
        most = check_integer(n_inputs, "n_inputs", minimum=1)
        values = found.values.reshape(n_samples, m, -1)[sample, :, output]
        mean = float(found.base_values.reshape(n_samples, -1)[sample, output])
        order = np.argsort(-np.abs(values), kind="stable")
        shown = order if m <= most else order[:most]
        inputs = labels_of([found.feature_names[t] for t in shown.tolist()], _WIDEST_NAME)
        values_of = (found.data if found.display_data is None else found.display_data)[sample]
        names = [
            f"{name} = {_value(values_of[t])}"
            for name, t in zip(inputs, shown.tolist(), strict=True)
        ]
        lengths = values[shown]
        if m > shown.size:
            rest = m - shown.size
            names.append(f"{rest} other input{'s' * (rest != 1)}")
            lengths = np.append(lengths, values[order[shown.size :]].sum())
        return cls(names, lengths, mean, xlabel=xlabel).plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default, the higher the more bars there are.
        **options
            As for ``ax.barh``.

        Returns
        -------
        ContributionDisplay
            Itself.
        """
        n = len(self.names)
        widest = max(map(len, self.names))
        self.ax_ = get_axes(ax, height=1.2 + 0.32 * n, width=4.6 + 0.08 * widest)
        self.figure_ = self.ax_.figure
        ends = self.mean + np.cumsum(self.values)
        starts = np.append(self.mean, ends[:-1])
        colors = np.where(self.values >= 0, "C0", "C3").tolist()
        places = np.arange(n, dtype=np.float64)
        self.bars_ = self.ax_.barh(
            places, self.values, left=starts, **{"height": 0.7, "color": colors, **options}
        )
        low, high = float(min(self.mean, ends.min())), float(max(self.mean, ends.max()))
        gap = _MARGIN * ((high - low) or abs(self.mean) or 1.0)
        self.ax_.set_xlim(low - gap, high + gap)
        # in a column of their own, where no bar or line is in their way
        beside = self.ax_.get_yaxis_transform()
        self.labels_ = [
            self.ax_.text(1.02, place, f"{value:+.3g}", transform=beside, va="center")
            for value, place in zip(self.values, places, strict=True)
        ]
        for end, first in zip(ends[:-1], places[:-1], strict=True):  # where the next one begins
            self.ax_.plot([end, end], [first - 0.35, first + 1.35], color="0.6", lw=0.8, zorder=0)
        self.ax_.axvline(self.mean, color="0.4", lw=0.8, ls=":", zorder=0)
        self.ax_.axvline(self.output, color="0.2", lw=0.8, ls="--", zorder=0)
        self.ax_.set_yticks(places, self.names)
        self.ax_.set_ylim(n - 0.4, -0.6)
        self.ax_.set_xlabel(self.xlabel)
        self.ax_.set_title(f"from the mean {self.mean:.4g} to {self.output:.4g}", fontsize="medium")
        return self


def _value(value: Any) -> str:
    """Write the value of an input: a number, or the level of a category."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        return label_of(value, _WIDEST_VALUE)
    return "missing" if np.isnan(value) else f"{float(value):.4g}"
