"""Means of a model given one or two of its inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import check_integer
from gegenbauer.inspection.anova import PartialDependence, dependences
from gegenbauer.inspection.sobol import sobol_indices
from gegenbauer.plotting._axes import check_output, get_panels, labels_of, name_of_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = ["DependenceDisplay"]

# Inputs that are drawn by default, values of a number in a grid, and of each of two
_MOST_INPUTS, _ONE, _TWO = 9, 100, 40

# Levels of a category that have lines of their own, that have names below an axis
_MOST_LINES, _MOST_LEVELS = 8, 10

# Letters of a level
_WIDEST_LEVEL = 20


class DependenceDisplay:
    r"""Means of a model given one input or two, :math:`E[f \mid x_u]`, exact over all others.

    A panel for each input or pair: a line over a number, points over the levels of a category;
    colours over two numbers, and a line for each level of a category of few beside a number. Panels
    of single inputs have one vertical scale, so that small effects look small.

    scikit-learn's ``PartialDependenceDisplay``, which takes our estimators as they are, predicts
    all samples for each value; these means come from the coefficients.

    Parameters
    ----------
    parts : sequence of PartialDependence
        The means, of one or two inputs each; texts among ``grid_values`` are levels.
    output : int
        Which output is drawn.
    label : str
        What it is.

    Attributes
    ----------
    axes_ : list of matplotlib axes
        One for each part.
    figure_
        Where it was drawn.
    artists_ : list
        Of each part a matplotlib line, a list of lines by levels, or a QuadMesh.

    See Also
    --------
    partial_dependence : The means of a model.
    InputDisplay : Which inputs matter.
    InteractionDisplay : Which pairs of inputs interact.
    ContributionDisplay : What each input adds to one prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.plotting import DependenceDisplay
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> model = GegenbauerRegressor(degree=2, alpha=1e-12).fit(X, X[:, 0] * X[:, 1])
    >>> display = DependenceDisplay.from_estimator(model, [0, (0, 1)], grid_resolution=2)
    >>> display.parts[0].average.round(3) + 0.0
    array([[0. , 0.5]])
    """

    def __init__(
        self, parts: Sequence[PartialDependence], *, output: int = 0, label: str = "output"
    ) -> None:
        self.parts = parts
        self.output = output
        self.label = label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        features: Any = None,
        *,
        output: int = 0,
        grid_resolution: int | None = None,
        background: Any = None,
        distribution: Any = None,
        n_columns: int = 3,
        ax: Any = None,
    ) -> Self:
        """Draw means of a model.

        Parameters
        ----------
        estimator : estimator
            A fitted regressor or classifier of this library; of a classifier the outputs of
            ``expansion_``, as for `shapley_values`.
        features : int, str or sequence of these and of pairs of them, optional
            What to draw, by numbers or names: ``[0, "size", ("size", "age")]`` are three panels. By
            default the inputs of largest total share in the variance, nine of more.
        output : int
            Which output; of a classifier, of more than two classes, the place of the class.
        grid_resolution : int, optional
            Values of each number; by default 100, and 40 for each of two.
        background, distribution
            As for `partial_dependence`.
        n_columns : int
            Panels side by side.
        ax : matplotlib axes or array of these, optional
            Where to draw, one for each panel.

        Returns
        -------
        DependenceDisplay

        Raises
        ------
        TypeError, ValueError
            As `partial_dependence` raises; for panels of more than two inputs.
        """
        if features is None:
            features = _largest(estimator, output, background, distribution)
        several = isinstance(features, (list, tuple, np.ndarray))
        wanted = []
        for one in features if several else [features]:
            pair = isinstance(one, (list, tuple, np.ndarray))
            if pair and not 1 <= len(one) <= 2:
                raise ValueError(
                    Message("`features` must hold inputs and pairs of inputs, got {!r}", one)
                )
            n_values = grid_resolution
            if n_values is None:
                n_values = _TWO if pair and len(one) == 2 else _ONE
            wanted.append((one, n_values))
        if not wanted:
            raise ValueError(Message("`features` must name an input, got none"))
        found = dependences(estimator, wanted, background=background, distribution=distribution)
        parts = [_with_levels(one, getattr(estimator, "categories_", None)) for one in found]
        output = check_output(output, len(parts[0].average))
        label = f"mean {name_of_output(estimator, output)}"
        return cls(parts, output=output, label=label).plot(ax=ax, n_columns=n_columns)

    def plot(self, ax: Any = None, *, n_columns: int = 3, **options: Any) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib axes or array of these, optional
            Where to draw, one for each panel; a new figure by default.
        n_columns : int
            Panels side by side in a new figure.
        **options
            As for ``ax.plot``.

        Returns
        -------
        DependenceDisplay
            Itself.
        """
        n_columns = check_integer(n_columns, "n_columns", minimum=1)
        self.axes_ = get_panels(ax, len(self.parts), n_columns)
        self.figure_ = self.axes_[0].figure
        known = [*dict.fromkeys(name for part in self.parts for name in part.feature_names)]
        labels = dict(zip(known, labels_of(known), strict=True))
        self.artists_ = [
            self._draw(one, part, [labels[name] for name in part.feature_names], options)
            for one, part in zip(self.axes_, self.parts, strict=True)
        ]
        ranges = [
            one.get_ylim()
            for one, part in zip(self.axes_, self.parts, strict=True)
            if len(part.features) == 1
        ]
        for one, part in zip(self.axes_, self.parts, strict=True):
            if len(part.features) == 1:
                one.set_ylim(min(low for low, _ in ranges), max(high for _, high in ranges))
        return self

    def _draw(
        self, ax: Any, part: PartialDependence, names: list[str], options: dict[str, Any]
    ) -> Any:
        average = part.average[self.output]
        grids = part.grid_values
        if average.ndim == 1:
            ax.set(xlabel=names[0], ylabel=self.label)
            return _draw_line(ax, grids[0], average, options)
        # a number lies along the horizontal axis if there is one
        if _is_levels(grids[0]) and not _is_levels(grids[1]):
            names, grids, average = names[::-1], grids[::-1], average.T
        if not _is_levels(grids[0]) and _is_levels(grids[1]) and len(grids[1]) <= _MOST_LINES:
            ax.set(xlabel=names[0], ylabel=self.label)
            lines = [
                ax.plot(grids[0], values, label=level, **options)[0]
                for level, values in zip(
                    labels_of([*grids[1]], _WIDEST_LEVEL), average.T, strict=True
                )
            ]
            ax.legend(title=names[1], fontsize="small")
            return lines
        ax.set(xlabel=names[0], ylabel=names[1])
        return self._draw_colours(ax, grids, average)

    def _draw_colours(self, ax: Any, grids: Sequence[npt.NDArray[Any]], average: Doubles) -> Any:
        places = [np.arange(float(len(grid))) if _is_levels(grid) else grid for grid in grids]
        # cells of a fine grid are one image, in a file of lines too
        found = ax.pcolormesh(*places, average.T, shading="nearest", rasterized=True)
        for axis, grid in zip((ax.xaxis, ax.yaxis), grids, strict=True):
            if _is_levels(grid):
                _name_levels(axis, grid)
        ax.figure.colorbar(found, ax=ax, label=self.label)
        return found


def _largest(estimator: Any, output: int, background: Any, distribution: Any) -> list[int]:
    """Return the inputs of largest total share."""
    if background is None and distribution is None:
        distribution = "empirical"
    found = sobol_indices(estimator, distribution=distribution, background=background, order=1)
    total = found.total[check_output(output, len(found.total))]
    order: list[int] = np.argsort(-total, kind="stable")[:_MOST_INPUTS].tolist()
    return order


def _with_levels(part: PartialDependence, categories: Sequence[Any] | None) -> PartialDependence:
    """Return means whose values of categories are texts."""
    grids = [
        grid
        if categories is None or categories[t] is None
        else np.array(["missing" if level is None else str(level) for level in grid], dtype=object)
        for t, grid in zip(part.features, part.grid_values, strict=True)
    ]
    return replace(part, grid_values=grids)


def _is_levels(grid: npt.NDArray[Any]) -> bool:
    return grid.dtype.kind not in "fiu"


def _draw_line(ax: Any, grid: npt.NDArray[Any], average: Doubles, options: dict[str, Any]) -> Any:
    if not _is_levels(grid):
        return ax.plot(grid, average, **options)[0]
    # levels have no order, so that nothing leads from one to the next
    (line,) = ax.plot(np.arange(len(grid)), average, **{"marker": "o", "linestyle": "", **options})
    ax.margins(x=max(0.05, 0.5 / len(grid)))
    _name_levels(ax.xaxis, grid)
    return line


def _name_levels(axis: Any, levels: npt.NDArray[Any]) -> None:
    """Name levels below or beside an axis; of many, some evenly spread."""
    places = np.arange(0, len(levels), -(-len(levels) // _MOST_LEVELS))
    labels = labels_of([*levels[places]], _WIDEST_LEVEL)
    axis.set_ticks(places, labels)
    if axis.axis_name == "x" and sum(map(len, labels)) > 24:
        for text in axis.get_ticklabels():
            text.set(rotation=40, ha="right", rotation_mode="anchor")
