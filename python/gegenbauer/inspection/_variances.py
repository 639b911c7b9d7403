"""Variances of the parts of a fitted function, by sets of inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.inspection._products import equal_shares, products_without_one
from gegenbauer.inspection.marginals import Marginal

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.inspection._products import KernelProducts
    from gegenbauer.inspection._term_sum import TermSum
    from gegenbauer.inspection.marginals import Measure

__all__ = ["Variances", "mean_squares", "variances_of_kernels", "variances_of_terms"]

# Values of a factor at pairs of centres that are held at once
_MOST_VALUES = 2**17

# Nodes by which the covariance of factors of an input is found
_MOST_NODES = 200

# Share of the largest direction of the varying part of a factor below which one is rounding
_LEAST_DIRECTION = 1e-15

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Variances:
    """Parts of a variance, with an entry for each output along the last axis.

    Attributes
    ----------
    mean, total : ndarray, shape (n_outputs,)
        Of the function: its mean and variance.
    first, taking_part : ndarray, shape (n_features, n_outputs)
        Of an input by itself, and of all parts that it belongs to.
    second : ndarray, shape (n_features, n_features, n_outputs), or None
        Of the interaction of two inputs, symmetric, with zeros on the diagonal.
    shapley : ndarray, shape (n_features, n_outputs), or None
        Of all parts that an input belongs to, shared equally among their inputs.
    closed, touching : ndarray, shape (n_groups, n_outputs)
        Of all parts within a group of inputs, and of all with an input of it.
    error : ndarray, shape (n_outputs,)
        Estimate of the largest absolute error of any of them.
    """

    mean: Doubles
    total: Doubles
    first: Doubles
    taking_part: Doubles
    second: Doubles | None
    shapley: Doubles | None
    closed: Doubles
    touching: Doubles
    error: Doubles


def variances_of_terms(
    terms: TermSum, marginals: Sequence[Measure], groups: npt.NDArray[np.bool_]
) -> Variances:
    """Return the variances of the parts of a sum of terms.

    In functions of each input that are orthonormal under its distribution, each part is a sum of
    squared coefficients. The functions of an input up to one of them are sums of as many of these,
    by the triangular factor of their values at the nodes, so that the set of terms stays.

    Parameters
    ----------
    terms : TermSum
        The sum.
    marginals : sequence of Measure
        Distributions of the inputs.
    groups : ndarray of bool, shape (n_groups, n_features)
        Groups of inputs.
    """
    indices, coef = terms.indices, np.array(terms.coef)
    m = indices.shape[1]
    for t in range(m):
        if indices[:, t].any():
            _change_input(
                indices,
                t,
                _change_of_functions(marginals[t].weighted(partial(terms.functions, t))),
                coef,
            )
    squares, active = coef**2, indices > 0
    n_inputs = active.sum(axis=1)
    varies = n_inputs > 0
    shared = active / np.maximum(n_inputs, 1)[:, np.newaxis]
    second = np.zeros((m, m, coef.shape[1]))
    rows = np.flatnonzero(n_inputs == 2)
    i, j = active[rows].argmax(axis=1), m - 1 - active[rows, ::-1].argmax(axis=1)
    np.add.at(second, (i, j), squares[rows])
    some = (active.astype(np.float64) @ groups.T > 0).T
    within = ((active.astype(np.float64) @ ~groups.T == 0) & varies[:, np.newaxis]).T
    return Variances(
        mean=coef[~varies][0],
        # of the parts themselves: a mean taken out of all again would take their digits along
        total=squares[varies].sum(axis=0),
        first=(active & (n_inputs == 1)[:, np.newaxis]).T @ squares,
        taking_part=active.T @ squares,
        second=second + second.swapaxes(0, 1),
        shapley=shared.T @ squares,
        closed=within @ squares,
        touching=some @ squares,
        error=_EPS * len(coef) * np.abs(coef).max(axis=0, initial=0.0) ** 2,
    )


def mean_squares(terms: TermSum, marginals: Sequence[Measure]) -> Doubles:
    """Return the mean of the square of a sum of terms, (n_outputs,).

    Measures may have any mass, as a distribution times another function has.
    """
    indices, coef = terms.indices, np.array(terms.coef)
    for t, marginal in enumerate(marginals):
        weighted = marginal.weighted(partial(terms.functions, t))
        if indices[:, t].any():
            _change_input(indices, t, _change_of_functions(weighted), coef)
        else:
            coef *= np.linalg.norm(weighted[:, 0])
    return np.asarray((coef**2).sum(axis=0))


def _change_of_functions(weighted: Doubles) -> Doubles:
    """Return T, upper triangular: function n of an input is the sum of T[j, n] p_j.

    The functions are given as `Measure.weighted` has them. The p_j are orthonormal under the
    distribution, those alone that it can distinguish.
    """
    n = weighted.shape[1]
    found = np.zeros((n, n))
    triangle: Doubles = np.asarray(np.linalg.qr(weighted, mode="r"))
    triangle *= np.where(triangle[0, :1] < 0, -1.0, 1.0)  # the first function is 1
    found[: len(triangle)] = triangle
    return found


def _change_input(
    indices: npt.NDArray[np.int32], t: int, change: Doubles, coefficients: Doubles
) -> None:
    """Change the functions of input t in place.

    Terms that differ in the function of input t alone are neighbours after a sort, and have all
    numbers from 0 on because the set is downward closed.
    """
    others = np.delete(indices, t, axis=1)
    order = np.lexsort((indices[:, t], *others.T))
    numbers = indices[order, t]
    starts = np.flatnonzero(numbers == 0)
    lengths = np.diff(np.append(starts, order.size))
    for length in np.unique(lengths):
        rows = order[starts[lengths == length][:, np.newaxis] + np.arange(length)]
        coefficients[rows] = np.einsum(
            "jn,rnk->rjk", change[:length, :length], coefficients[rows]
        )  # fmt: skip


def variances_of_kernels(
    products: KernelProducts, groups: npt.NDArray[np.bool_], *, interactions: bool = True
) -> Variances:
    """Return the variances of the parts of a sum of kernels, as quadratic forms of coefficients.

    Two products have the covariance of the product over inputs of M M' + V, less that of M M',
    where V is the covariance of their factors and M and M' their means; sets of inputs have V for
    those within and M M' for all others. Time is of the order of n_products^2 n_features, and
    n_features times as much with interactions.

    Parameters
    ----------
    products : KernelProducts
        The sum.
    groups : ndarray of bool, shape (n_groups, n_features)
        Groups of inputs.
    interactions : bool
        Whether second-order parts and Shapley effects are wanted.
    """
    inputs, m, K = products.inputs, products.scaling.n_features, products.n_outputs
    spreads = [_spread(products, k) for k in range(len(inputs))]
    first, part, shapley = (np.zeros((m, K)) for _ in range(3))
    second = np.zeros((m, m, K))
    closed, touching = np.zeros((len(groups), K)), np.zeros((len(groups), K))
    total, size = np.zeros(K), np.zeros(K)
    levels, shares = equal_shares(len(inputs))
    step = max(1, _MOST_VALUES // products.n_products)
    for begin in range(0, products.n_products if inputs else 0, step):
        # pairs with later products count twice, those with earlier ones not at all
        rows, others = slice(begin, begin + step), slice(begin, None)
        left, right = products.coef[rows], products.coef[others].copy()
        right[step:] *= 2.0

        def form(values: Doubles, left: Doubles = left, right: Doubles = right) -> Doubles:
            return np.asarray((left * (values @ right)).sum(axis=0))

        means = [np.multiply.outer(mean[rows], mean[others]) for mean in products.means]
        varying = [spread[rows] @ spread[others].T for spread in spreads]
        whole = [mean + part for mean, part in zip(means, varying, strict=True)]
        rest_of_means, rest_of_whole = products_without_one(means), products_without_one(whole)
        all_means, all_whole = rest_of_means[0] * means[0], rest_of_whole[0] * whole[0]
        total += form(all_whole - all_means)
        size += (np.abs(left) * (np.abs(all_whole) @ np.abs(right))).sum(axis=0)
        for k, t in enumerate(inputs):
            first[t] += form(varying[k] * rest_of_means[k])
            part[t] += form(varying[k] * rest_of_whole[k])
        for g, group in enumerate(groups):
            within, without = np.ones_like(all_means), np.ones_like(all_means)
            for k, t in enumerate(inputs):
                within = within * (whole[k] if group[t] else means[k])
                without = without * (means[k] if group[t] else whole[k])
            closed[g] += form(within - all_means)
            touching[g] += form(all_whole - without)
        if not interactions:
            continue
        for y, share in zip(levels.tolist(), shares.tolist(), strict=True):
            mixed = [mean + y * part for mean, part in zip(means, varying, strict=True)]
            for k, product in enumerate(products_without_one(mixed)):
                shapley[inputs[k]] += share * form(varying[k] * product)
        for k, i in enumerate(inputs):
            # before input k its factors are means, and k itself varies
            other_means = [*means[:k], *means[k + 1 :]]
            if not other_means:
                continue
            for at, rest in enumerate(products_without_one(other_means)):
                other = at if at < k else at + 1
                if other > k:
                    second[i, inputs[other]] += form(varying[k] * varying[other] * rest)
    return Variances(
        mean=products.mean,
        total=total,
        first=first,
        taking_part=part,
        second=second + second.swapaxes(0, 1) if interactions else None,
        shapley=shapley if interactions else None,
        closed=closed,
        touching=touching,
        error=_EPS * size,
    )


def _spread(products: KernelProducts, k: int) -> Doubles:
    """Return H with H H' the covariance of the factors of an input, (n_products, n_directions)."""
    t = products.inputs[k]
    marginal = products.marginals[t]
    if isinstance(marginal, Marginal):  # a smooth factor has far fewer directions than nodes
        marginal = marginal.condensed(_MOST_NODES)
    values = marginal.weighted(lambda nodes: products.factor(t, nodes))
    root = marginal.weighted(lambda nodes: np.ones((nodes.size, 1)))
    values -= root * (root[:, 0] @ values)
    if len(values) < 8:
        return np.ascontiguousarray(values.T)
    sizes, directions = np.linalg.eigh(values @ values.T)
    kept = directions[:, sizes > _LEAST_DIRECTION * sizes[-1]]
    return np.ascontiguousarray(values.T @ kept)
