"""Mean squares of the derivatives of a model over distributions of its inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._memory import require_memory
from gegenbauer.basis.derivatives import derivative_coefficients
from gegenbauer.basis.kernel_derivatives import KernelFactor
from gegenbauer.inspection._explained import Explained
from gegenbauer.inspection._products import products_without_one
from gegenbauer.inspection._sums import root_of
from gegenbauer.inspection._term_sum import TermSum
from gegenbauer.inspection._variances import mean_squares
from gegenbauer.inspection.distributions import marginals_of
from gegenbauer.inspection.marginals import Marginal
from gegenbauer.inspection.models import spectrum_of
from gegenbauer.ridge.expansions import TermExpansion
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gegenbauer._typing import Doubles
    from gegenbauer.ridge.expansions import KernelExpansion

__all__ = ["derivative_sensitivity"]

# Values at pairs of centres that are held at once
_MOST_VALUES = 2**17


def derivative_sensitivity(
    estimator: Any, *, background: Any = None, distribution: Any = None
) -> Doubles:
    r"""Return the mean squares of the derivatives of a model by its inputs.

    .. math:: \nu_t = E\left[\left(\frac{\partial f}{\partial x_t}(x)\right)^2\right]

    for independent inputs, exactly: derivatives of a sum of terms are sums of the same terms, and
    squares of sums of kernels are quadratic forms of their coefficients. A value of 0 is an input
    that the model does not depend on. Where a value is clipped to the range of ``fit`` the
    derivative is 0.

    Parameters
    ----------
    estimator : estimator
        A fitted regressor or classifier of this library; of a classifier the outputs of
        ``expansion_``.
    background : {array-like, table} of shape (n_background, n_features), optional
        Samples whose marginals are the distributions of the inputs.
    distribution : str, distribution, mapping or sequence, optional
        Distributions of the inputs in place of a background, as for `sobol_indices`, by default
        "empirical".

    Returns
    -------
    ndarray of shape (n_features,), or (n_features, n_outputs)
        In squared units of the output by those of the input; without the last axis if there is one
        output. NaN for categories.

    Raises
    ------
    TypeError
        ``estimator`` is no regressor or classifier of this library, or ``distribution`` none.
    ValueError
        As `shapley_values` raises, and for models with kinks, as `gradient` does.

    See Also
    --------
    gradient : The derivatives themselves.
    sobol_indices : Shares of the inputs in the variance of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.inspection import derivative_sensitivity
    >>> X = np.random.default_rng(0).uniform(size=(50, 2))
    >>> model = GegenbauerRegressor(degree=2, alpha=1e-12).fit(X, X[:, 0] ** 2 + 3 * X[:, 1])
    >>> derivative_sensitivity(model, distribution="uniform").round(1)
    array([1.3, 9. ])
    """
    explained = Explained(estimator, distribution, background)
    function, inside = explained.function, explained.marginals
    if background is None:  # where a value is clipped the function is constant in it
        inside = marginals_of(estimator, function, explained.distribution, inside=True)
    found = np.zeros((explained.n_features, explained.n_outputs))
    steep = [_Steep(one, function, t) for t, one in enumerate(inside)]
    squares = (
        _of_terms(function, explained.marginals, steep)
        if isinstance(function, TermExpansion)
        else _of_kernels(function, explained.marginals, steep)
    )
    for t, one in enumerate(squares):
        found[t] = one
    found[[*estimator._category_columns]] = np.nan
    return explained.shaped(found)


@dataclass(frozen=True, eq=False)
class _Steep:
    """A distribution of one input times the square of the slope of its scaling.

    What is missing, where there is no derivative, has no mass.
    """

    measure: Any
    function: Any
    t: int

    @property
    def given(self) -> Marginal:
        """The nodes where there is a derivative, with their weights."""
        nodes, weights = self.measure.nodes, self.measure.weights
        known = ~np.isnan(nodes)
        slopes = self.function.scaling.slopes_at(self.t, nodes[known])
        return Marginal(nodes[known], weights[known] * slopes**2)

    def weighted(self, functions: Callable[[Doubles], Doubles]) -> Doubles:
        """Return R with R'R the means of products of functions times the squared slope."""
        if isinstance(self.measure, Marginal):
            return self.given.weighted(functions)
        # of a stream, whose scaling has one slope
        root: Doubles = self.measure.root
        levels = spectrum_of(self.function).levels
        if levels is not None and levels[self.t] is not None and len(root) > 1:
            at_given, at_missing = functions(np.array([0.0, np.nan]))[:, 1]
            mean = float(root[:, 0] @ root[:, 1])
            share = (mean - at_missing) / (at_given - at_missing)
            means = root.T @ root
            first = np.array([1.0, at_given])
            means[:2, :2] = share * np.multiply.outer(first, first)
            root = root_of(means)
        return root * float(self.function.scaling.slopes_at(self.t, np.zeros(1))[0])


def _of_terms(
    function: TermExpansion, marginals: Any, steep: list[_Steep]
) -> Iterator[Doubles | float]:
    basis = function.basis
    terms = TermSum.of(basis, function.coef_2d)
    for t, coef in enumerate(derivative_coefficients(basis, function.coef_2d)):
        if not coef.any():
            yield 0.0
            continue
        yield mean_squares(
            replace(terms, coef=coef), [*marginals[:t], steep[t], *marginals[t + 1 :]]
        )


def _at_nodes(
    measure: Marginal, functions: Sequence[Callable[[Doubles], Doubles]], n: int
) -> Doubles:
    """Return n functions at all nodes times the roots of their weights, (n_nodes, n)."""
    nodes = measure.nodes
    found, step = np.empty((len(nodes), n)), max(1, _MOST_VALUES // n)
    for first in range(0, len(nodes), step):
        some = slice(first, first + step)
        found[some] = np.hstack([of_part(nodes[some]) for of_part in functions])
    found *= np.sqrt(measure.weights)[:, np.newaxis]
    return found


def _of_kernels(
    function: KernelExpansion | MeanExpansion, marginals: Any, steep: list[_Steep]
) -> Iterator[Doubles | float]:
    parts = function.parts if isinstance(function, MeanExpansion) else (function,)
    coef = np.vstack([part.coef_2d for part in parts]) / len(parts)
    centres = [part.scaling.transform(part.centres).clip(-1.0, 1.0) for part in parts]
    m, n = function.scaling.n_features, len(coef)
    given = [one.given for one in steep]
    n_nodes = sum(len(one.nodes) for one in [*marginals, *given])
    require_memory(
        8.0 * n_nodes * n,
        f"the factors of {n} centres at {n_nodes} nodes",
        "fit fewer samples",
    )
    roots, slopes = [], []
    for t in range(m):
        factors = [
            KernelFactor(part.kernel, t, z[:, t])  # type: ignore[arg-type]
            for part, z in zip(parts, centres, strict=True)
        ]
        roots.append(_at_nodes(marginals[t], [factor.values for factor in factors], n))
        slopes.append(_at_nodes(given[t], [factor.slopes for factor in factors], n))
    found = np.zeros((m, coef.shape[1]))
    step = max(1, _MOST_VALUES // n)
    for first in range(0, n, step):
        # pairs with later products count twice, those with earlier ones not at all
        rows, others = slice(first, first + step), slice(first, None)
        right = coef[others].copy()
        right[step:] *= 2.0
        means = [root[:, rows].T @ root[:, others] for root in roots]
        for t, rest in enumerate(products_without_one(means)):
            product = rest * (slopes[t][:, rows].T @ slopes[t][:, others])
            found[t] += (coef[rows] * (product @ right)).sum(axis=0)
    yield from found.clip(min=0.0)
