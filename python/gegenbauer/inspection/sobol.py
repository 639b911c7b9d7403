"""What a fitted polynomial reveals of its inputs: Sobol' indices, mean and variance, on arrays.

For independent inputs, the variance of a function is a sum of parts, one for each set of inputs.
The first-order index of an input is the share of its own part, the total index that of all parts
it belongs to.

In polynomials that are orthonormal for the distribution of the inputs, every part is a sum of
squared coefficients. Other polynomials are changed into these, input by input: a univariate
polynomial of degree n is a sum of orthonormal ones up to degree n, so that the index set stays. Of
a kernel of all terms, the terms of largest weight are taken. (Its parts are also quadratic forms of
the dual coefficients, but these are so large for a tiny alpha that nothing of such a form is left.)
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import (
    as_matrix,
    check_choice,
    check_integer,
    check_number,
    require_plain,
)
from gegenbauer.basis.kernels import SpectrumKernel
from gegenbauer.basis.levels import as_samples
from gegenbauer.basis.scaling import check_scaling
from gegenbauer.basis.spectrum import Spectrum
from gegenbauer.basis.tensor_basis import TensorBasis, common_polynomials
from gegenbauer.basis.univariate import gegenbauer_vander
from gegenbauer.errors import CorrelatedInputsWarning, stacklevel
from gegenbauer.inspection._level_terms import expand_with_levels, separate_levels
from gegenbauer.inspection.correlation import largest_correlation
from gegenbauer.inspection.indices import SobolIndices
from gegenbauer.inspection.models import expansion_of
from gegenbauer.ridge.expansions import KernelExpansion
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.ridge.expansions import Expansion

__all__ = ["kernel_sobol_indices", "sobol_indices", "term_sobol_indices"]

DISTRIBUTIONS = ("uniform", "chebyshev")

# Doubles that a block of terms at samples may take
_BLOCK = 1e7

# Terms of largest weight that are taken of a kernel of all terms
_N_TERMS = 10_000

# Largest degree of one input that is taken of a kernel of all terms
_MOST_DEGREES = 1000


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
    check_choice(distribution, "distribution", DISTRIBUTIONS)
    if tuple(domain) not in ((0, 1), (-1, 1)):
        raise ValueError(Message("`domain` must be (0, 1) or (-1, 1), got {!r}", domain))
    W = as_matrix(
        weights, "weights", n_rows=basis.n_terms, keep_float32=False, one_dimensional=True
    )  # fmt: skip
    still = _check_fixed(fixed, basis.n_features)
    extent = _check_extent(extent)
    if basis.spectrum.levels is not None:
        terms = separate_levels(basis, W)
        return _decompose_terms(*terms, basis.lam, domain, distribution, extent, still)
    one, shares = common_polynomials(basis)
    return _decompose(
        basis.indices, shares[:, np.newaxis] * W, one, domain, distribution, extent, still,
    )  # fmt: skip


def _decompose(
    indices: npt.NDArray[np.int32],
    coefficients: Doubles,
    one: TensorBasis,
    domain: tuple[float, float],
    distribution: str,
    extent: float,
    fixed: npt.NDArray[np.bool_],
    contrasts: npt.NDArray[np.bool_] | None = None,
) -> SobolIndices:
    """Decompose a sum of products of the polynomials `one`, with the given multi-indices.

    The coefficients, (n_terms, n_outputs), are changed in place. Inputs of `contrasts` have
    functions that are orthonormal as they are.
    """
    change = _change_of_basis(one, domain, distribution, extent)
    at_zero = np.zeros_like(change)
    at_zero[0] = one.evaluate([[0.0]])[0]
    n_features = indices.shape[1]
    for t in range(n_features):
        if contrasts is not None and contrasts[t]:
            continue
        _change_input(indices, t, at_zero if fixed[t] else change, coefficients)
    squares = coefficients**2
    active = indices > 0
    alone = active.sum(axis=1) == 1
    total = np.array([squares[active[:, t]].sum(axis=0) for t in range(n_features)])
    first = np.array([squares[active[:, t] & alone].sum(axis=0) for t in range(n_features)])
    varies = active.any(axis=1)
    mean = coefficients[~varies][0]
    # of the parts themselves: a mean that is taken out of all again would take their digits along
    variance = squares[varies].sum(axis=0)
    unit = np.where(variance > 0, variance, 1.0)
    return SobolIndices(mean, variance, (first / unit).T, (total / unit).T)


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


@lru_cache(maxsize=16)  # a rule of a thousand nodes takes as long as all else together
def _quadrature(distribution: str, n_nodes: int) -> tuple[Doubles, Doubles]:
    """Return nodes in [-1, 1] and weights that sum to one, exact to degree 2 n_nodes - 1."""
    if distribution == "uniform":
        nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
        weights *= 0.5
    else:
        nodes = np.cos((np.arange(n_nodes) + 0.5) * np.pi / n_nodes)
        weights = np.full(n_nodes, 1.0 / n_nodes)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def _change_of_basis(
    one: TensorBasis, domain: tuple[float, float], distribution: str, extent: float
) -> Doubles:
    """Return T, (degree + 1, degree + 1): polynomial n of `one` is the sum of T[j, n] p_j.

    The p_j are orthonormal for the distribution on the domain. T is upper triangular.
    """
    degree = one.max_degree
    nodes, weights = _quadrature(distribution, degree + 1)
    lam = 0.5 if distribution == "uniform" else 0.0
    orthonormal = gegenbauer_vander(nodes, degree, lam, normalization="orthonormal")
    low, high = domain
    inputs = low + (high - low) * 0.5 * (extent * nodes + 1.0)
    values = one.evaluate(inputs[:, np.newaxis])
    return np.triu((weights[:, np.newaxis] * orthonormal).T @ values)


def _change_input(
    indices: npt.NDArray[np.int32], t: int, change: Doubles, coefficients: Doubles
) -> None:
    """Change the polynomials of input t in place.

    Terms that differ in the degree of input t alone are neighbours after a sort, and have all
    degrees from 0 on because the set is downward closed.
    """
    others = np.delete(indices, t, axis=1)
    order = np.lexsort((indices[:, t], *others.T))
    degrees = indices[order, t]
    starts = np.flatnonzero(degrees == 0)
    lengths = np.diff(np.append(starts, order.size))
    for length in np.unique(lengths):
        rows = order[starts[lengths == length][:, np.newaxis] + np.arange(length)]
        coefficients[rows] = np.einsum(
            "jn,rnk->rjk", change[:length, :length], coefficients[rows]
        )  # fmt: skip


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
        Terms of largest weight that are taken; the variance of the others is left out.
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
    check_choice(distribution, "distribution", DISTRIBUTIONS)
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
    terms = _largest_terms(
        kernel, data, C, shift, scaling, check_integer(n_terms, "n_terms", minimum=1)
    )
    return _decompose_terms(
        *terms, kernel.lam, (-1.0, 1.0), distribution, _check_extent(extent), _check_fixed(fixed, m)
    )


def _decompose_terms(
    indices: npt.NDArray[np.int32],
    coefficients: Doubles,
    contrasts: npt.NDArray[np.bool_],
    lam: float,
    domain: tuple[float, float],
    distribution: str,
    extent: float,
    fixed: npt.NDArray[np.bool_],
) -> SobolIndices:
    """Decompose a sum of products of orthonormal polynomials and contrasts."""
    degree = int(indices[:, ~contrasts].max(initial=0))
    one = TensorBasis(1, degree=degree, lam=lam, spectrum=Spectrum.flat())
    return _decompose(indices, coefficients, one, domain, distribution, extent, fixed, contrasts)


def _largest_terms(
    kernel: SpectrumKernel,
    centres: npt.NDArray[Any],
    dual_coef: Doubles,
    shift: Doubles | float,
    scaling: InputScaling | None,
    n_terms: int,
) -> tuple[npt.NDArray[np.int32], Doubles, npt.NDArray[np.bool_]]:
    """Return the terms of largest weight of a sum of kernels, by orthonormal functions.

    Their indices and coefficients, and which inputs have contrasts of levels.
    """
    if kernel.spectrum.levels is not None:
        Z = centres if scaling is None else scaling.transform(centres)
        most = kernel.max_degree or _MOST_DEGREES
        indices, weights, contrasts = expand_with_levels(kernel, Z, dual_coef, n_terms, most)
        weights[0] += shift
        return indices, weights, contrasts
    basis = TensorBasis(
        kernel.n_features,
        n_terms=n_terms,
        degree=[kernel.max_degree or _MOST_DEGREES] * kernel.n_features,
        lam=kernel.lam,
        index_set="largest_weight",
        spectrum=kernel.spectrum,
    )
    weights = np.zeros((basis.n_terms, dual_coef.shape[1]))
    block = max(1, int(_BLOCK / basis.n_terms))
    for first in range(0, len(centres), block):
        some = slice(first, first + block)
        weights += basis.evaluate(centres[some], scaling=scaling).T @ dual_coef[some]
    weights[0] += shift
    # of polynomials without the weights of the spectrum
    weights *= basis.spectrum.term_weights(basis.indices)[:, np.newaxis]
    return basis.indices, weights, np.zeros(kernel.n_features, dtype=bool)


def _mean_sobol_indices(function: MeanExpansion, distribution: str, extent: float) -> SobolIndices:
    """Decompose the variance of a mean of sums of kernels, by all terms that any of them has."""
    indices, coefficients = [], []
    for part in function.parts:
        assert isinstance(part.kernel, SpectrumKernel)  # estimators have no other
        shift = 0.0 if part.intercept is None else part.intercept
        found, weights, contrasts = _largest_terms(
            part.kernel, part.centres, part.coef_2d, shift, part.scaling, _N_TERMS
        )
        indices.append(found)
        coefficients.append(weights / len(function.parts))
    terms, places = np.unique(np.vstack(indices), axis=0, return_inverse=True)
    total = np.zeros((len(terms), function.n_outputs))
    np.add.at(total, places.reshape(-1), np.vstack(coefficients))
    return _decompose_terms(
        terms, total, contrasts, part.kernel.lam, (-1.0, 1.0), distribution, extent,
        function.scaling.is_constant,
    )  # fmt: skip


# Correlation of two inputs from which on shares of the variance are not theirs
_CORRELATED = 0.7


def sobol_indices(estimator: Any, *, distribution: str = "uniform") -> SobolIndices:
    """Decompose the variance of the outputs of an estimator over its inputs.

    The inputs are taken as independent, of one distribution over the whole range seen in ``fit``,
    and constant inputs as fixed; the samples of the fit may be neither. Categories have the shares
    of their levels in the samples, and numbers are taken as given, not missing. Inputs of half
    ranks (``scaling_.warping``) have the distribution in these: a uniform one there is about half
    the uniform one over the range and half that of the samples. For the former alone fit with
    ``bounds=None``, which takes no ranks. Of inputs that depend on each other,
    such as two measures of size, one may get the share of both, and the box has corners where there
    are no samples. For classifiers the outputs are those before calibration.

    Parameters
    ----------
    estimator : fitted estimator of this library
        A regressor or classifier.
    distribution : {"uniform", "chebyshev"}
        Of each input, see `term_sobol_indices`.

    Returns
    -------
    SobolIndices

    Raises
    ------
    TypeError
        For other estimators.

    Warns
    -----
    CorrelatedInputsWarning
        The correlation of two inputs in the samples of the fit (some 2000 of them, evenly spread)
        is 0.7 or more in absolute value. Models that were learned from batches do not know.

    See Also
    --------
    InputDisplay : Which inputs matter.
    term_sobol_indices : The same of a basis and its coefficients.
    kernel_sobol_indices : The same of a kernel and its dual coefficients.

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
    function = expansion_of(estimator)
    constant = function.scaling.is_constant
    # some boxes are wider than the samples of the fit
    extent = 1.0 / (1.0 + 2.0 * estimator._margin)
    if isinstance(function, MeanExpansion):
        check_choice(distribution, "distribution", DISTRIBUTIONS)
        found = _mean_sobol_indices(function, distribution, extent)
    elif isinstance(function, KernelExpansion):
        assert isinstance(function.kernel, SpectrumKernel)  # estimators have no other
        found = kernel_sobol_indices(
            function.kernel, function.centres, function.coef,
            intercept=function.intercept, scaling=function.scaling, distribution=distribution,
            extent=extent, fixed=constant,
        )  # fmt: skip
    else:
        found = term_sobol_indices(
            function.basis, function.coef_2d, domain=function.scaling.domain,
            distribution=distribution, extent=extent, fixed=constant,
        )  # fmt: skip
        shift = 0.0 if function.intercept is None else function.intercept
        found = replace(found, mean=found.mean + shift)
    _warn_if_correlated(estimator, function)
    return replace(found, names=getattr(estimator, "feature_names_in_", None))


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
