"""Variances of the parts of a fitted function, by sets of inputs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.inspection._products import products_without_one
from gegenbauer.inspection._quadrature import rule_of_recurrence
from gegenbauer.inspection.marginals import Marginal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.inspection._products import KernelProducts
    from gegenbauer.inspection._term_sum import TermSum
    from gegenbauer.inspection.marginals import Measure

__all__ = ["Variances", "mean_squares", "variances_of_kernels", "variances_of_terms"]

# Products of which all pairs are a block, few enough for a cache
_SIDE = 96

# Nodes by which the covariance of factors of an input is found
_MOST_NODES = 200

# Share of the largest direction of the varying part of a factor below which one is rounding
_LEAST_DIRECTION = 1e-15

# Share of the variance that equal parts may miss
_LEAST_LEFT = 1e-12

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
    """Return the variances of the parts of a sum of kernels.

    Two products have the covariance of the product over inputs of M M' + V, less that of M M',
    where V = H H' is the covariance of their factors and M and M' their means; sets of inputs have
    V for those within and M M' for all others. So the variance of the part of one input or two is
    a sum of squares, in the directions of H, and that of all parts of an input or a group a
    quadratic form of the coefficients, which takes time of the order of n_products^2 n_features.

    Parameters
    ----------
    products : KernelProducts
        The sum.
    groups : ndarray of bool, shape (n_groups, n_features)
        Groups of inputs.
    interactions : bool
        Whether second-order parts and Shapley effects are wanted.
    """
    m, K = products.scaling.n_features, products.n_outputs
    inputs = products.inputs
    first, part = np.zeros((m, K)), np.zeros((m, K))
    closed, touching = np.zeros((len(groups), K)), np.zeros((len(groups), K))
    total, size = np.zeros(K), np.zeros(K)
    second = shapley = None
    if inputs:
        spreads = [_spread(products, k) for k in range(len(inputs))]
        rests = products_without_one(products.means)
        for t, spread, rest in zip(inputs, spreads, rests, strict=True):
            first[t] = ((spread.T @ (rest[:, np.newaxis] * products.coef)) ** 2).sum(axis=0)
        pairs = _Pairs(products, spreads)
        own = groups[:, inputs]
        for weight, means, varying in pairs:
            whole = means + varying
            rest = products_without_one(whole)
            all_means, all_whole = means.prod(axis=0), rest[0] * whole[0]
            total += (all_whole - all_means) @ weight
            size += np.abs(all_whole) @ np.abs(weight)
            part[inputs] += (varying * rest) @ weight
            for g, group in enumerate(own[:, :, np.newaxis]):
                closed[g] += (np.where(group, whole, means).prod(axis=0) - all_means) @ weight
                touching[g] += (all_whole - np.where(group, means, whole).prod(axis=0)) @ weight
    error = _EPS * size
    if interactions:
        second, shapley = np.zeros((m, m, K)), np.zeros((m, K))
        if inputs:
            second[np.ix_(inputs, inputs)] = _of_pairs_of_inputs(products, spreads)
            shapley[inputs], left = _equal_parts(pairs, first[inputs], part[inputs], total, error)
            error = error + left
    return Variances(
        mean=products.mean,
        total=total,
        first=first,
        taking_part=part,
        second=second,
        shapley=shapley,
        closed=closed,
        touching=touching,
        error=error,
    )


class _Pairs:
    """The covariances of the factors of all pairs of products, by blocks of pairs.

    An iteration yields the products of the coefficients of some pairs, (n_pairs, n_outputs), and of
    their factors M M' and V, (n_inputs, n_pairs) each.
    """

    def __init__(self, products: KernelProducts, spreads: Sequence[Doubles]) -> None:
        self._coef, self._means, self._spreads = products.coef, products.means, spreads

    def __iter__(self) -> Iterator[tuple[Doubles, Doubles, Doubles]]:
        n, K = self._coef.shape
        for a, b in itertools.combinations_with_replacement(range(0, n, _SIDE), 2):
            rows, others = slice(a, a + _SIDE), slice(b, b + _SIDE)
            left, right = self._coef[rows], self._coef[others]
            weight = (left[:, np.newaxis] * right).reshape(-1, K)
            if a != b:  # pairs with later products count twice, those with earlier ones not at all
                weight *= 2.0
            means = [np.multiply.outer(mean[rows], mean[others]) for mean in self._means]
            varying = [spread[rows] @ spread[others].T for spread in self._spreads]
            yield (
                weight,
                np.array(means).reshape(len(means), -1),
                np.array(varying).reshape(len(varying), -1),
            )


def _of_pairs_of_inputs(products: KernelProducts, spreads: Sequence[Doubles]) -> Doubles:
    """Return the variances of the parts of two inputs, (n_inputs, n_inputs, n_outputs)."""
    n = len(spreads)
    found = np.zeros((n, n, products.n_outputs))
    for k in range(n):
        others = [t for t in range(n) if t != k]
        if not others:
            break
        rests = products_without_one([products.means[t] for t in others])
        for t, rest in zip(others[:k], rests[:k], strict=True):
            for output, coef in enumerate(products.coef.T):
                joint = (spreads[k] * (rest * coef)[:, np.newaxis]).T @ spreads[t]
                found[k, t, output] = found[t, k, output] = np.vdot(joint, joint)
    return found


def _equal_parts(
    pairs: _Pairs, first: Doubles, part: Doubles, total: Doubles, rounding: Doubles
) -> tuple[Doubles, Doubles]:
    """Return the variances of the parts of each input, divided by how many inputs a part has.

    With V times y for each input, the parts of an input of j others have a factor of y^j, whose
    mean over [0, 1] is 1 / (j + 1). By Lobatto's rule, whose ends are known: parts of a single
    input at 0 and all parts at 1. What it adds to the mean of a power has one sign, and variances
    have one, so that the sum of these values exceeds the variance by no less than any of them its
    own. Nodes are added until nothing but rounding is left, at the latest where the rule is exact.

    Returns
    -------
    values : ndarray, shape (n_inputs, n_outputs)
    error : ndarray, shape (n_outputs,)
        How far any of them may be off, apart from rounding.
    """
    most = max(0, (len(first) - 1) // 2)
    n_nodes, before = 0, np.full_like(total, np.inf)
    while True:
        nodes, shares, end = _lobatto_rule(n_nodes)
        found = end * (first + part)
        for weight, means, varying in pairs if n_nodes else ():
            mixed = np.empty_like(means)
            for y, share in zip(nodes, shares, strict=True):
                np.multiply(varying, y, out=mixed)
                mixed += means
                rest = products_without_one(mixed)
                rest *= varying
                found += share * (rest @ weight)
        left = np.abs(found.sum(axis=0) - total)
        if n_nodes >= most:
            return found, np.zeros_like(left)
        # what more nodes do not lessen is rounding
        settled = (left <= rounding) & (left > 0.1 * before)
        if (settled | (left <= _LEAST_LEFT * total)).all():
            return found, left
        n_nodes, before = min(most, n_nodes + 3), left


def _lobatto_rule(n_nodes: int) -> tuple[list[float], list[float], float]:
    """Return nodes between 0 and 1 and weights of Lobatto's rule, and the weight of each end.

    With the factor y (1 - y), which vanishes at the ends, the rest is the Gauss rule of the
    Gegenbauer polynomials of lambda = 3/2.
    """
    end = 1.0 / ((n_nodes + 1) * (n_nodes + 2))
    if n_nodes == 0:
        return [], [], end
    k = np.arange(1.0, n_nodes)
    beside = np.sqrt(k * (k + 2.0) / ((2.0 * k + 1.0) * (2.0 * k + 3.0)))
    nodes, shares = rule_of_recurrence(np.zeros(n_nodes), beside)
    nodes = 0.5 * (nodes + 1.0)
    return nodes.tolist(), (shares / (6.0 * nodes * (1.0 - nodes))).tolist(), end


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
