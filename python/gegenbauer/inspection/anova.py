"""Main effects, interactions and conditional means of a model, by exact means over its inputs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import check_integer, shown
from gegenbauer.inspection._explained import Explained

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.inspection._decomposition import Decomposition

__all__ = [
    "AnovaComponents",
    "PartialDependence",
    "anova_components",
    "dependences",
    "partial_dependence",
]

# Sets of inputs of which parts are returned at once
_MOST_SETS = 10_000

# Values of partial dependence that are returned at once
_MOST_POINTS = 1_000_000


@dataclass(frozen=True, eq=False)
class AnovaComponents:
    """Parts of the functional ANOVA decomposition at some samples.

    Attributes
    ----------
    mean : float or ndarray, shape (n_outputs,)
        Of the function.
    sets : list of tuple of int
        The inputs of each part, ascending.
    values : ndarray, shape (n_samples, n_sets) or (n_samples, n_sets, n_outputs)
        The parts, in units of the output; without the last axis if there is one output.
    remainder : ndarray, shape (n_samples,) or (n_samples, n_outputs)
        The sum of all parts of more inputs.
    feature_names : list of str
        Names of the inputs.

    See Also
    --------
    anova_components : The parts of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.inspection import AnovaComponents
    >>> found = AnovaComponents(1.0, [(0,)], np.array([[0.5]]), np.zeros(1), ["a"])
    >>> found.mean + found.values.sum(axis=1) + found.remainder
    array([1.5])
    """

    mean: Any
    sets: list[tuple[int, ...]]
    values: Doubles
    remainder: Doubles
    feature_names: list[str]


@dataclass(frozen=True, eq=False)
class PartialDependence:
    """Means of a model given some of its inputs.

    The attributes are those that ``sklearn.inspection.partial_dependence`` returns.

    Attributes
    ----------
    features : tuple of int
        The inputs that are given.
    grid_values : list of ndarray
        Values of each, as they are in X.
    average : ndarray, shape (n_outputs, n_values_0, ...)
        The means, in units of the output.
    feature_names : list of str
        Names of these inputs.

    See Also
    --------
    partial_dependence : The means of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.inspection import PartialDependence
    >>> PartialDependence((0,), [np.arange(2.0)], np.array([[1.0, 3.0]]), ["a"]).average.shape
    (1, 2)
    """

    features: tuple[int, ...]
    grid_values: list[npt.NDArray[Any]]
    average: Doubles
    feature_names: list[str]


def anova_components(
    estimator: Any,
    X: Any,
    order: int = 2,
    *,
    background: Any = None,
    distribution: Any = None,
) -> AnovaComponents:
    r"""Return the parts of the functional ANOVA decomposition of a model at some samples.

    .. math::
        f(x) = \sum_u f_u(x_u), \qquad
        f_u(x_u) = \sum_{v \subseteq u} (-1)^{|u| - |v|} E[f \mid x_v]

    for independent inputs: the mean, main effects of single inputs, interactions of pairs and so
    on. Over the distribution parts are uncorrelated, and the mean of each over any of its inputs is
    zero.

    Parameters
    ----------
    estimator : estimator
        A fitted regressor or classifier of this library; of a classifier the outputs of
        ``expansion_``, as for `shapley_values`.
    X : {array-like, table, sparse matrix} of shape (n_samples, n_features)
        Samples, as for ``predict``.
    order : int, default=2
        Most inputs of a part, at least 1.
    background : {array-like, table} of shape (n_background, n_features), optional
        Samples whose marginals are the distributions of the inputs.
    distribution : str, distribution, mapping or sequence, optional
        Distributions of the inputs in place of a background, as for `sobol_indices`, by default
        "empirical".

    Returns
    -------
    AnovaComponents

    Raises
    ------
    TypeError, ValueError
        As `shapley_values` raises, and for more than ten thousand parts.

    See Also
    --------
    shapley_values : What each input adds to a prediction.
    sobol_indices : Variances of the parts.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.inspection import anova_components
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> model = GegenbauerRegressor(degree=2, alpha=1e-12).fit(X, X[:, 0] * X[:, 1])
    >>> found = anova_components(model, X)
    >>> found.sets
    [(0,), (1,), (0, 1)]
    >>> found.values.round(3) + 0.0
    array([[-0.25, -0.25,  0.25],
           [ 0.25, -0.25, -0.25],
           [-0.25,  0.25, -0.25],
           [ 0.25,  0.25,  0.25]])
    """
    explained = Explained(estimator, distribution, background)
    m, n_outputs = explained.n_features, explained.n_outputs
    most = min(check_integer(order, "order", minimum=1), m)
    sets: list[tuple[int, ...]] = []
    for size in range(1, most + 1):
        sets += itertools.islice(itertools.combinations(range(m), size), _MOST_SETS + 1)
        if len(sets) > _MOST_SETS:
            raise ValueError(
                Message(
                    "`order={}` has more than {} parts in {} inputs", size, _MOST_SETS, m,
                    ways="take a lower `order`",
                )
            )  # fmt: skip
    codes, values, mean = explained.at(X, lambda parts: parts.components(sets))
    values = values.reshape(len(codes), len(sets) + 1, n_outputs)
    values, whole = values[:, :-1], values[:, -1]
    remainder = whole - values.sum(axis=1) if most < m else np.zeros_like(whole)
    return AnovaComponents(
        float(mean[0]) if n_outputs == 1 else mean,
        sets,
        explained.shaped(values),
        explained.shaped(remainder),
        explained.names,
    )


def partial_dependence(
    estimator: Any,
    features: Any,
    *,
    grid: Sequence[Any] | None = None,
    grid_resolution: int = 100,
    background: Any = None,
    distribution: Any = None,
) -> PartialDependence:
    r"""Return the mean of a model given some of its inputs, :math:`E[f \mid x_u]`, on a grid.

    The mean over a distribution is exact, and there are no samples to go through.

    Parameters
    ----------
    estimator : estimator
        A fitted regressor or classifier of this library; of a classifier the outputs of
        ``expansion_``, as for `shapley_values`.
    features : int, str or sequence of these
        The inputs that are given, by numbers or names.
    grid : sequence of array-like, optional
        Values of each of them, as they are in X; one array if there is one input. By default
        numbers are evenly spread over the range seen in ``fit``, and categories have all of theirs.
    grid_resolution : int, default=100
        Values of each number in the default grid.
    background : {array-like, table} of shape (n_background, n_features), optional
        Samples over which the mean is taken, with all other inputs as they are together, as
        `sklearn.inspection.partial_dependence` does.
    distribution : str, distribution, mapping or sequence, optional
        Distributions of the other inputs, which are independent, in place of a background: as for
        `sobol_indices`, by default "empirical".

    Returns
    -------
    PartialDependence

    Raises
    ------
    TypeError, ValueError
        As `shapley_values` raises; for inputs that there are not, and grids of more than a million
        points.

    See Also
    --------
    anova_components : Main effects and interactions at samples.
    DependenceDisplay : Plots of these means.
    html_report : All explanations of a model on one page.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.inspection import partial_dependence
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> model = GegenbauerRegressor(degree=2, alpha=1e-12).fit(X, X[:, 0] * X[:, 1])
    >>> partial_dependence(model, 0, grid=[0.0, 1.0]).average.round(3) + 0.0
    array([[0. , 0.5]])
    """
    (found,) = dependences(
        estimator, [(features, grid_resolution)], grid=grid, background=background,
        distribution=distribution,
    )  # fmt: skip
    return found


def dependences(
    estimator: Any,
    several: Sequence[tuple[Any, int]],
    *,
    grid: Sequence[Any] | None = None,
    background: Any = None,
    distribution: Any = None,
) -> list[PartialDependence]:
    """Return what `partial_dependence` does for several features and resolutions of their grids.

    Means over inputs that are not given are found once.
    """
    explained = Explained(estimator, distribution, background, marginals_needed=background is None)
    parts = explained.decomposition()
    samples = None if background is None else explained.codes_of(background)
    return [
        _dependence(explained, parts, features, grid, n_values, samples)
        for features, n_values in several
    ]


def _dependence(
    explained: Explained,
    parts: Decomposition,
    features: Any,
    grid: Sequence[Any] | None,
    grid_resolution: int,
    background: npt.NDArray[Any] | None,
) -> PartialDependence:
    places = explained.places(features)
    n_values = check_integer(grid_resolution, "grid_resolution", minimum=1)
    if grid is not None and len(places) == 1 and not (_is_list(grid) and all(map(_is_list, grid))):
        grid = [grid]
    if grid is not None and not (
        _is_list(grid) and len(grid) == len(places) and all(map(_is_list, grid))
    ):
        raise ValueError(
            Message(
                "`grid` must have one list of values for each of {} inputs, got {}",
                len(places),
                shown(grid),
            )
        )
    values, codes = [], []
    for k, t in enumerate(places):
        one, code = explained.grid(t, None if grid is None else grid[k], n_values)
        values.append(one)
        codes.append(code)
    sizes = [code.size for code in codes]
    if float(np.prod(np.array(sizes, dtype=np.float64))) > _MOST_POINTS:
        raise ValueError(
            Message(
                "a grid of {} values has more than {} points",
                " x ".join(map(str, sizes)),
                _MOST_POINTS,
                ways=["give a smaller `grid`", "give fewer `features`"],
            )
        )
    mesh = np.meshgrid(*codes, indexing="ij")
    samples = np.tile(explained.function.scaling.lower, (mesh[0].size, 1))
    for t, column in zip(places, mesh, strict=True):
        samples[:, t] = column.ravel()
    function = (
        parts.conditional_mean(places)
        if background is None
        else parts.over_samples(places, background)
    )
    found = np.asarray(function.evaluate(samples, n_threads=explained.estimator._n_threads()))
    average = found.reshape(*sizes, explained.n_outputs)
    return PartialDependence(
        places, values, np.moveaxis(average, -1, 0), [explained.names[t] for t in places]
    )


def _is_list(value: Any) -> bool:
    """Whether a value holds others, which may be none."""
    return hasattr(value, "__len__") and not isinstance(value, str) and len(value) > 0
