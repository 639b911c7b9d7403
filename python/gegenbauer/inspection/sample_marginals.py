"""Marginals of the samples of a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.inspection._sums import marginals_of_sums
from gegenbauer.inspection.marginals import Condensed, Marginal, Measure, of_levels, worked_out
from gegenbauer.ridge.expansions import KernelExpansion, KernelPosterior, TermExpansion
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.levels import Levels
    from gegenbauer.basis.tensor_basis import TensorBasis
    from gegenbauer.ridge.expansions import Expansion

__all__ = ["kept_marginals", "known_marginals", "nodes_for", "nodes_of", "sample_marginals"]

# Values whose Gauss rule is found: of more, each of so many groups of neighbours is two of them
_MOST_VALUES, _N_GROUPS = 10_000, 4_000

# Nodes of the marginal of an input where functions are kernels: those that a model keeps, and those
# of samples that are there
_N_NODES, _MOST_NODES = 200, 1000


def nodes_for(basis: TensorBasis) -> list[int]:
    """Return how many nodes an input needs for means of products of two functions of it."""
    return [n + 1 for n in basis.max_degrees.tolist()]


def nodes_of(function: Expansion) -> list[int] | None:
    """Return how many nodes the marginals of a model need, None if it keeps the samples."""
    if isinstance(function, TermExpansion):
        return nodes_for(function.basis)
    return None if _keeps_samples(function) else [_N_NODES] * function.scaling.n_features


def _keeps_samples(function: Expansion) -> bool:
    """Whether centres are the samples of the fit, with their weights."""
    if isinstance(function, KernelExpansion):
        return isinstance(function.posterior, KernelPosterior)
    return isinstance(function, MeanExpansion)


def kept_marginals(
    Z: Doubles,
    weight: Doubles | None,
    levels: Sequence[Levels | None] | None,
    n_nodes: Sequence[int],
) -> tuple[Marginal | Condensed, ...]:
    """Return what a fit keeps of the marginals of samples: rules are worked out if they are needed.

    Parameters
    ----------
    Z : ndarray, shape (n_samples, n_features)
        Scaled.
    weight : ndarray, shape (n_samples,), optional
        Weights of the samples, positive.
    levels : sequence of Levels or None
        Shares of the levels of categories, which are those of all samples.
    n_nodes : sequence of int
        Of each input: means of polynomials of a degree below twice of it are exact.

    Returns
    -------
    tuple of Marginal or Condensed
        Of which `worked_out` makes marginals.
    """
    shares = np.ones(len(Z)) if weight is None else np.array(weight, dtype=np.float64)
    shares /= shares.max()  # whose sum may leave float64
    shares /= shares.sum()
    if levels is None and not np.isnan(Z).any():  # all columns at once
        columns = _of_columns(np.ascontiguousarray(Z.T), shares)
        return tuple(one.to_condense(n) for one, n in zip(columns, n_nodes, strict=True))
    found: list[Marginal | Condensed] = []
    for t, n in enumerate(n_nodes):
        level = None if levels is None else levels[t]
        if level is not None and level.category:
            found.append(of_levels(level.shares))
        else:
            found.append(_of_column(np.ascontiguousarray(Z[:, t]), shares).to_condense(n))
    return tuple(found)


def sample_marginals(
    Z: Doubles,
    weight: Doubles | None,
    levels: Sequence[Levels | None] | None,
    n_nodes: Sequence[int],
) -> tuple[Marginal, ...]:
    """Return the marginals of samples, by the Gauss rules of the numbers among their inputs.

    The parameters are those of `kept_marginals`.
    """
    return worked_out(kept_marginals(Z, weight, levels, n_nodes))


def _of_column(values: Doubles, shares: Doubles) -> Marginal:
    """Return the marginal of numbers, some of which may be missing."""
    missing = np.isnan(values)
    gone = float(shares[missing].sum())
    if gone == 0:
        return _of_columns(values[np.newaxis], shares)[0]
    nodes, weights = np.empty(0), np.empty(0)
    if not missing.all():
        given = _of_columns(values[np.newaxis, ~missing], shares[~missing])[0]
        nodes, weights = given.nodes, given.weights
    return Marginal(np.append(nodes, np.nan), np.append(weights, gone))


def _of_columns(columns: Doubles, shares: Doubles) -> list[Marginal]:
    """Return the marginals of numbers, (n_columns, n_samples), none of which is missing."""
    order = columns.argsort(axis=1)
    nodes = columns[np.arange(len(columns))[:, np.newaxis], order]
    is_first = np.ones(nodes.shape, dtype=bool)
    np.not_equal(nodes[:, 1:], nodes[:, :-1], out=is_first[:, 1:])
    starts = is_first.ravel().nonzero()[0]
    weights = np.add.reduceat(shares[order].ravel(), starts)
    nodes, found, first = nodes.ravel()[starts], [], 0
    for n in is_first.sum(axis=1).tolist():
        own = nodes[first : first + n], weights[first : first + n]
        if n > _MOST_VALUES:
            own = _of_neighbours(*own)
        elif len(columns) > 1:  # whose values it should not keep
            own = own[0].copy(), own[1].copy()
        found.append(Marginal(*own))
        first += n
    return found


def _of_neighbours(nodes: Doubles, weights: Doubles) -> tuple[Doubles, Doubles]:
    """Return two values for each group of neighbours, of its first three moments.

    The mean of a smooth function moves by some 1e-10 of its size: most where samples are few, in
    the tails.
    """
    starts = np.arange(_N_GROUPS) * nodes.size // _N_GROUPS
    sizes = np.diff(np.append(starts, nodes.size))
    whole = np.add.reduceat(weights, starts)
    means = np.add.reduceat(weights * nodes, starts) / whole
    beside = nodes - np.repeat(means, sizes)
    spread = np.sqrt(np.add.reduceat(weights * beside**2, starts) / whole)
    third = np.add.reduceat(weights * beside**3, starts) / whole
    skew = third / np.where(spread > 0, spread, 1.0) ** 3
    root = np.sqrt(1.0 + 0.25 * skew**2)
    below, above = 0.5 * skew - root, 0.5 * skew + root  # their product is -1
    low, high = nodes[starts], nodes[starts + sizes - 1]
    found = [(means + spread * end).clip(low, high) for end in (below, above)]
    shares = [whole * above / (above - below), -whole * below / (above - below)]
    return np.ravel(found, order="F"), np.ravel(shares, order="F")


def known_marginals(estimator: Any, function: Expansion) -> tuple[Measure, ...] | None:
    """Return the marginals of the samples of a fit, None if a model does not know them."""
    sums = getattr(estimator, "_statistics", None)
    if sums is not None:  # of all that came, as batches or in a fit before them
        return marginals_of_sums(sums.basis, sums.gram)
    if estimator._marginals is not None:
        return worked_out(estimator._marginals)
    return _of_centres(function) if _keeps_samples(function) else None  # type: ignore[arg-type]


def _of_centres(function: KernelExpansion | MeanExpansion) -> tuple[Marginal, ...]:
    """Return the marginals of the centres of a function that are the samples of its fit."""
    one = function.parts[0] if isinstance(function, MeanExpansion) else function
    Z = one.scaling.transform(one.centres).clip(-1.0, 1.0)
    levels = one.kernel.spectrum.levels
    return sample_marginals(Z, one.samples_posterior.weight, levels, [_MOST_NODES] * Z.shape[1])
