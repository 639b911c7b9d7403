"""What a fitted polynomial reveals of its inputs: Sobol' indices, mean and variance.

For independent inputs, the variance of a function is a sum of parts, one for each set of inputs.
The first-order index of an input is the share of its own part, the total index that of all parts
it belongs to.

Of a sum of terms every part is a sum of squared coefficients, in functions of each input that are
orthonormal under its distribution. Of a kernel of all terms the parts are quadratic forms of the
dual coefficients. These may be so large, for a tiny alpha, that nothing of such a form is left:
then the terms of largest weight are taken in its place.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import (
    as_matrix,
    check_choice,
    check_integer,
    check_number,
    require_plain,
    shown,
)
from gegenbauer.basis.input_functions import functions_of
from gegenbauer.basis.kernels import SpectrumKernel
from gegenbauer.basis.levels import as_samples
from gegenbauer.basis.scaling import InputScaling, check_domain, check_scaling
from gegenbauer.basis.spectrum import Spectrum
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.errors import CorrelatedInputsWarning, stacklevel
from gegenbauer.inspection._explained import Explained
from gegenbauer.inspection._products import KernelProducts
from gegenbauer.inspection._term_sum import TermSum
from gegenbauer.inspection._variances import variances_of_kernels, variances_of_terms
from gegenbauer.inspection.correlation import largest_correlation
from gegenbauer.inspection.distributions import named_marginal
from gegenbauer.inspection.indices import SobolIndices
from gegenbauer.inspection.marginals import FIXED, Marginal, of_levels
from gegenbauer.ridge.expansions import KernelExpansion, TermExpansion
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.inspection._variances import Variances
    from gegenbauer.inspection.marginals import Measure
    from gegenbauer.ridge.expansions import Expansion

__all__ = ["kernel_sobol_indices", "sobol_indices", "term_sobol_indices"]

_NAMED = ("uniform", "chebyshev")

# Doubles that a block of terms at samples may take
_BLOCK = 1e7

# Terms of largest weight that are taken of a kernel of all terms, and their largest degree
_N_TERMS, _MOST_DEGREES = 10_000, 1000

# Samples by which it is estimated what these leave out
_N_SAMPLES = 200

# Most products of which all pairs are taken
_MOST_PRODUCTS = 2000

# Rounding of quadratic forms, in units of the variance, above which terms are taken
_MOST_ROUNDING = 1e-6

# Correlation of two inputs from which on shares of the variance are not theirs
_CORRELATED = 0.7


def term_sobol_indices(
    basis: TensorBasis,
    weights: npt.ArrayLike,
    *,
    domain: tuple[float, float] = (0.0, 1.0),
    distribution: str = "uniform",
    extent: float = 1.0,
    fixed: npt.ArrayLike | None = None,
) -> SobolIndices:
    """Decompose the variance of G W.

    Categories, of spectra with levels, have the shares of their levels as distribution; numbers
    that may be missing are taken as given.

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    weights : array_like, shape (n_terms,) or (n_terms, n_outputs)
        W.
    domain : {(0, 1), (-1, 1)}
        Interval of the inputs.
    distribution : {"uniform", "chebyshev"}
        Of each input on its domain; the latter has the density of Chebyshev's weight,
        1 / sqrt(1 - u^2) on [-1, 1], which has more points near both ends.
    extent : float
        Part of the domain, around its middle, that the inputs fill, 0 to 1.
    fixed : array_like of bool, shape (n_features,), optional
        Inputs that are always 0, as `InputScaling` makes of constant ones.

    Returns
    -------
    SobolIndices

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.

    See Also
    --------
    sobol_indices : Shares of the inputs in the variance of a model.
    kernel_sobol_indices : The same of a kernel and its dual coefficients.

    Examples
    --------
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.inspection import term_sobol_indices
    >>> basis = TensorBasis(2, degree=1, lam=0.5)  # 1, x, y
    >>> found = term_sobol_indices(basis, [5.0, 1.0, 2.0], domain=(-1, 1))
    >>> found.mean, found.variance.round(4), found.total[0]
    (array([5.]), array([1.6667]), array([0.2, 0.8]))
    """
    if not isinstance(basis, TensorBasis):
        raise TypeError(Message("`basis` must be a TensorBasis, got {}", type(basis).__name__))
    check_choice(distribution, "distribution", _NAMED)
    domain = check_domain(domain)
    W = as_matrix(
        weights, "weights", n_rows=basis.n_terms, keep_float32=False, one_dimensional=True
    )  # fmt: skip
    still = _check_fixed(fixed, basis.n_features)
    extent = _check_extent(extent)
    degrees = basis.max_degrees.tolist()
    marginals = _named_marginals(basis.spectrum, domain, distribution, extent, still, degrees)
    terms = TermSum.of(basis, W)
    return _indices(variances_of_terms(terms, marginals, _no_groups(basis.n_features)))


def _named_marginals(
    spectrum: Spectrum,
    domain: tuple[float, float],
    distribution: str,
    extent: float,
    fixed: npt.NDArray[np.bool_],
    degrees: list[int] | None,
) -> list[Marginal]:
    """Return the marginals of all inputs on one domain; those of categories are their shares."""
    found = []
    levels = spectrum.levels or (None,) * len(fixed)
    for t, one in enumerate(levels):
        if one is not None and one.category:
            found.append(of_levels(one.shares))
        elif fixed[t]:
            found.append(FIXED)
        else:
            degree = None if degrees is None else degrees[t]
            found.append(named_marginal(distribution, domain, extent, degree))
    return found


def _no_groups(n_features: int) -> npt.NDArray[np.bool_]:
    return np.zeros((0, n_features), dtype=bool)


def _indices(found: Variances) -> SobolIndices:
    """Return variances as shares of the whole, by outputs."""
    unit = np.where(found.total > 0, found.total, 1.0)

    def shares(parts: Doubles | None) -> Doubles | None:
        return None if parts is None else np.moveaxis(parts / unit, -1, 0)

    first, total, closed, touching = (
        np.asarray(shares(part))
        for part in (found.first, found.taking_part, found.closed, found.touching)
    )
    return SobolIndices(
        found.mean,
        found.total,
        first,
        total,
        second_order=shares(found.second),
        shapley_effects=shares(found.shapley),
        closed=closed,
        group_total=touching,
        error=found.error / unit,
    )


def _check_extent(extent: float) -> float:
    value = check_number(extent, "extent", minimum=0, open_below=True)
    if value > 1:
        raise ValueError(Message("`extent` must be at most 1, got {}", value))
    return value


def _check_fixed(fixed: npt.ArrayLike | None, n_features: int) -> npt.NDArray[np.bool_]:
    fixed = require_plain(fixed, "fixed", wanted="one flag for each input")
    still = np.zeros(n_features, bool) if fixed is None else np.asarray(fixed, dtype=bool)
    if still.shape != (n_features,):
        raise ValueError(f"fixed must have one entry for each of {n_features} inputs")
    return still


def kernel_sobol_indices(
    kernel: SpectrumKernel,
    X_train: npt.ArrayLike,
    dual_coef: npt.ArrayLike,
    *,
    intercept: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    n_terms: int = _N_TERMS,
    distribution: str = "uniform",
    extent: float = 1.0,
    fixed: npt.ArrayLike | None = None,
) -> SobolIndices:
    """Decompose the variance of ``K(x, X_train) @ dual_coef + intercept``.

    Categories, of spectra with levels, have the shares of their levels as distribution; numbers
    that may be missing are taken as given.

    Parameters
    ----------
    kernel : SpectrumKernel
        That of the solve.
    X_train : array_like, shape (n_train, n_features)
        The samples of the solve.
    dual_coef : array_like, shape (n_train,) or (n_train, n_outputs)
        From `solve_kernel`.
    intercept : array_like, shape (n_outputs,), optional
        From `solve_kernel`.
    scaling : InputScaling, optional
        Maps X_train to [-1, 1].
    n_terms : int
        Terms of largest weight that are taken, and the variance of the others left out, where
        rounding leaves no digit of the exact quadratic forms, or there are more than 2000 samples.
    distribution : {"uniform", "chebyshev"}
        Of each input on [-1, 1], after the scaling, as for `term_sobol_indices`.
    extent : float
        The inputs fill [-extent, extent].
    fixed : array_like of bool, shape (n_features,), optional
        Inputs that are always 0.

    Returns
    -------
    SobolIndices

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.

    See Also
    --------
    sobol_indices : Shares of the inputs in the variance of a model.
    term_sobol_indices : The same of a basis and its coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import solve_kernel
    >>> from gegenbauer.basis import SpectrumKernel
    >>> from gegenbauer.inspection import kernel_sobol_indices
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> kernel = SpectrumKernel(2, (0.5, 2.0))
    >>> fit = solve_kernel(kernel, X, X[:, 0] + 2 * X[:, 1], 1e-6)
    >>> found = kernel_sobol_indices(kernel, X, fit.dual_coef, intercept=fit.intercept)
    >>> found.total[0].round(2).tolist()
    [0.2, 0.8]
    """
    if not isinstance(kernel, SpectrumKernel):
        raise TypeError(Message("`kernel` must be a SpectrumKernel, got {}", type(kernel).__name__))
    check_choice(distribution, "distribution", _NAMED)
    m = kernel.n_features
    data = as_samples(X_train, "X_train", kernel)
    n = data.shape[0]
    C = as_matrix(dual_coef, "dual_coef", n_rows=n, keep_float32=False, one_dimensional=True)
    shift: Doubles = np.zeros(C.shape[1])
    if intercept is not None:
        shift = as_matrix(
            intercept, "intercept", n_rows=C.shape[1], n_columns=1,
            keep_float32=False, one_dimensional=True,
        )[:, 0]  # fmt: skip
    check_scaling(scaling, m, "kernel")
    most = check_integer(n_terms, "n_terms", minimum=1)
    box = InputScaling([-1.0] * m, [1.0] * m, domain=(-1, 1)) if scaling is None else scaling
    marginals = _named_marginals(
        kernel.spectrum, (-1.0, 1.0), distribution, _check_extent(extent), _check_fixed(fixed, m),
        None,
    )  # fmt: skip
    function = KernelExpansion(kernel, data, C, box, intercept=shift)
    return _indices(_of_kernels(function, marginals, _no_groups(m), most))


def _of_kernels(
    function: KernelExpansion | MeanExpansion,
    marginals: Sequence[Measure],
    groups: npt.NDArray[np.bool_],
    n_terms: int,
    n_threads: int | None = None,
    *,
    interactions: bool = True,
) -> Variances:
    """Return the variances of sums of kernels: by all terms, or those of largest weight."""
    products = KernelProducts(function, marginals, n_threads)
    if products.n_products <= _MOST_PRODUCTS:
        found = variances_of_kernels(products, groups, interactions=interactions)
        if (found.error <= _MOST_ROUNDING * found.total).all():
            return found
    terms = _largest_terms(function, n_terms)
    found = variances_of_terms(terms, marginals, groups)
    left = _left_out(products, terms)
    return replace(
        found,
        mean=found.mean + products.intercept,
        # the variance of a sum: what is left out may have a covariance with the rest
        error=found.error + left + 2.0 * np.sqrt(left * found.total),
    )


def _left_out(products: KernelProducts, terms: TermSum) -> Doubles:
    """Estimate the variance that some terms leave out, by samples of the distribution."""
    rng = np.random.default_rng(0)
    Z = np.column_stack(
        [rng.choice(one.nodes, _N_SAMPLES, p=one.weights) for one in products.marginals]
    )
    whole = products.conditional_mean(Z, products.inputs) - products.intercept
    return np.asarray(((whole - terms.evaluate(Z)) ** 2).mean(axis=0))


def _largest_terms(function: KernelExpansion | MeanExpansion, n_terms: int) -> TermSum:
    """Return the terms of largest weight of sums of kernels, of a mean those of any of its parts.

    Their functions are orthonormal polynomials, and contrasts of levels, without weights.
    """
    parts = function.parts if isinstance(function, MeanExpansion) else (function,)
    indices, coefs = [], []
    for part in parts:
        kernel = part.kernel
        assert isinstance(kernel, SpectrumKernel)  # estimators have no other
        basis = TensorBasis(
            kernel.n_features,
            n_terms=n_terms,
            degree=[kernel.max_degree or _MOST_DEGREES] * kernel.n_features,
            lam=kernel.lam,
            index_set="largest_weight",
            spectrum=kernel.spectrum,
        )
        coef = np.zeros((basis.n_terms, part.n_outputs))
        block = max(1, int(_BLOCK / basis.n_terms))
        for first in range(0, len(part.centres), block):
            some = slice(first, first + block)
            coef += basis.evaluate(part.centres[some], scaling=part.scaling).T @ part.coef_2d[some]
        indices.append(basis.indices)
        coefs.append(coef * basis.spectrum.term_weights(basis.indices)[:, np.newaxis] / len(parts))
    found, places = np.unique(np.vstack(indices), axis=0, return_inverse=True)
    total = np.zeros((len(found), function.n_outputs))
    np.add.at(total, places.reshape(-1), np.vstack(coefs))
    flat = Spectrum(Spectrum.flat().components, kernel.spectrum.levels)
    return TermSum(found, total, lambda t, nodes: functions_of(flat, kernel.lam, found, t, nodes))


def sobol_indices(
    estimator: Any,
    *,
    distribution: Any = None,
    background: Any = None,
    groups: Sequence[Any] | None = None,
    order: int = 2,
) -> SobolIndices:
    r"""Decompose the variance of the outputs of an estimator over its inputs.

    .. math::
        V = \sum_u V_u, \qquad S_t = V_{\{t\}} / V, \qquad T_t = \sum_{u \ni t} V_u / V,

    where :math:`V_u` is the variance of the part of a set of inputs (`anova_components`).

    The inputs are taken as independent; the samples of the fit may be not. Of inputs that depend on
    each other, such as two measures of size, one may get the share of both, and the box has corners
    where there are no samples. Constant inputs are fixed. The policy for values out of the range
    seen in ``fit`` is part of the function: with all policies but ``out_of_range="extrapolate"``
    values beyond the box count as its nearest face. For classifiers the outputs are those before
    calibration.

    Parameters
    ----------
    estimator : fitted estimator of this library
        A regressor or classifier.
    distribution : str, distribution, mapping or sequence, optional
        Of each input: "uniform", the default, or "chebyshev" over the range seen in ``fit``
        (categories have the shares of their levels, and numbers are given, not missing; inputs of
        half ranks, ``scaling_.warping``, have the distribution in these: a uniform one there is
        about half the uniform one over the range and half that of the samples); "empirical", the
        marginal of the samples of the fit, under the policy for values out of range that the fit
        had; an object with quantiles, ``ppf`` and, where it has one, ``isf``, as the distributions
        of `scipy.stats` have; a mapping of values to probabilities, or to numbers in proportion to
        these. One for all inputs, a list with one for each, or a mapping of names (numbers, where
        inputs have none) to them, where others are empirical. For finite sets an object may have
        raw moments, ``moment(k)``, in the place of quantiles, and ``support()``, both of its ends,
        where values are clipped: floats have digits for degrees of some 4,
        `fractions.Fraction` for all. No moments determine means of kernels of all terms.
    background : {array-like, table} of shape (n_background, n_features), optional
        Samples whose marginals are the distributions, in the place of ``distribution``.
    groups : sequence of sequences of int or str, optional
        Groups of inputs, by numbers or names, each input in one of them at most.
    order : {1, 2}, default=2
        2 for second-order indices and Shapley effects as well, which of kernels take longer.

    Returns
    -------
    SobolIndices

    Raises
    ------
    TypeError
        For other estimators, and what is no distribution.
    ValueError
        Distributions are not those of the inputs, or groups overlap.

    Warns
    -----
    CorrelatedInputsWarning
        The correlation of two inputs in the samples of the fit (some 2000 of them, evenly spread)
        is 0.7 or more in absolute value. Models that were learned from batches do not know.

    See Also
    --------
    InputDisplay : Which inputs matter.
    InteractionDisplay : Which pairs of inputs interact.
    html_report : All explanations of a model on one page.
    shapley_values : What each input adds to a prediction.
    term_sobol_indices : The same of a basis and its coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor, sobol_indices
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> model = GegenbauerRegressor(degree=1, n_terms=None, alpha=1e-9)
    >>> model = model.fit(X, X[:, 0] + 2 * X[:, 1])
    >>> sobol_indices(model).total[0].round(2).tolist()
    [0.2, 0.8]
    """
    explained = Explained(estimator, distribution, background, default="uniform")
    most = check_integer(order, "order", minimum=1)
    if most > 2:
        raise ValueError(Message("`order` must be 1 or 2, got {}", most))
    members = _members(explained, groups)
    if background is not None and all(
        isinstance(one, Marginal) and one.nodes.size == 1 for one in explained.marginals
    ):
        raise ValueError(
            Message(
                "`background` has one sample, or equal ones, under which nothing varies: shares of "
                "the variance need several"
            )
        )
    function, marginals = explained.function, [*explained.marginals]
    if isinstance(function, TermExpansion):
        found = variances_of_terms(TermSum.of(function.basis, function.coef_2d), marginals, members)
        shift = 0.0 if function.intercept is None else function.intercept
        found = replace(found, mean=found.mean + shift)
    else:
        assert isinstance(function, (KernelExpansion, MeanExpansion))
        found = _of_kernels(
            function, marginals, members, _N_TERMS, estimator._n_threads(), interactions=most > 1
        )
    if most == 1:
        found = replace(found, second=None, shapley=None)
    _warn_if_correlated(estimator, function)
    return replace(
        _indices(found), names=getattr(estimator, "feature_names_in_", None), groups=groups
    )


def _members(explained: Explained, groups: Sequence[Any] | None) -> npt.NDArray[np.bool_]:
    """Return which inputs belong to each group."""
    if isinstance(groups, (str, bytes)) or not isinstance(groups, (Sequence, NoneType)):
        raise TypeError(
            Message("`groups` must be a sequence of groups of inputs, got {}", shown(groups))
        )
    found = np.zeros((0 if groups is None else len(groups), explained.n_features), dtype=bool)
    for k, group in enumerate(() if groups is None else groups):
        found[k, [*explained.places(group, "groups")]] = True
    twice = np.flatnonzero(found.sum(axis=0) > 1)
    if twice.size:
        raise ValueError(
            Message(
                "`groups` must not overlap, but {!r} is in more than one of them",
                explained.names[int(twice[0])],
            )
        )
    return found


def _warn_if_correlated(estimator: Any, function: Expansion) -> None:
    known = estimator._correlation
    if known is None and isinstance(
        function, (KernelExpansion, MeanExpansion)
    ):  # of a file of an older version
        known = largest_correlation(function.centres)
    if known is not None and abs(known[0]) >= _CORRELATED:
        value, *pair = known
        one, other = (estimator._column_name(t) for t in pair)
        warnings.warn(
            f"shares of the variance take the inputs as independent, but the correlation of {one} "
            f"and {other} is {value:.2f} in the samples of the fit: what they have in common may "
            "fall to either of them",
            CorrelatedInputsWarning,
            stacklevel=stacklevel(),
        )
