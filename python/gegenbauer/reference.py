r"""The paper in plain NumPy, one function an equation.

He, Chen and Zhang, "A Gegenbauer Neural Network with Regularized Weights Direct Determination for
Classification". Every docstring names the LaTeX label of the equation that it writes down. Where
the paper has an error, the mathematics is followed and the docstring names it;
``docs/deviations.md`` collects these places.

The module is the oracle of the tests and the baseline of the benchmarks: it imports nothing of this
package, states the formulas in the order of the paper, and leaves all heavy work to NumPy and the
BLAS behind it. It is not the fast path.

Symbols: S samples, m inputs, L terms (hidden neurons), K outputs; G (S, L) activation matrix, Phi
(S, K) targets, W (L, K) weights, ``lam`` the Gegenbauer parameter, ``gamma`` the regularizer.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Network",
    "activation_matrix",
    "class_targets",
    "elementary_function",
    "fit",
    "gegenbauer_explicit",
    "gegenbauer_recurrence",
    "graded_lexicographic",
    "kkt_residual",
    "level_contrasts",
    "minmax_scale",
    "multipliers",
    "network_output",
    "orthonormal_gegenbauer",
    "predict_labels",
    "rwdd",
    "rwdd_dual",
    "rwdd_objective",
    "rwdd_primal",
    "wdd",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Domain = tuple[float, float]


# --- What the functions accept --------------------------------------------------------------------


def _finite(name: str, value: npt.ArrayLike, ndim: int | None = None) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return array


def _same_rows(name_a: str, a: FloatArray, name_b: str, b: FloatArray) -> None:
    if len(a) != len(b):
        raise ValueError(
            f"{name_a} and {name_b} must have the same number of rows, got {len(a)} and {len(b)}"
        )


def _check_degree(degree: int) -> None:
    if degree < 0:
        raise ValueError(f"degree must be >= 0, got {degree}")


def _check_gamma(gamma: float) -> None:
    if not 0.0 < gamma < math.inf:
        raise ValueError(
            f"gamma must be positive and finite, got {gamma}; wdd() is the solution without it"
        )


# --- Polynomials of one variable ------------------------------------------------------------------


def gegenbauer_explicit(x: npt.ArrayLike, degree: int, lam: float) -> FloatArray:
    r"""Evaluate one Gegenbauer polynomial by its general expression (`eq.gegenbauergeneral`).

    .. math:: g_n^\lambda(x) = \sum_{k=0}^n \frac{1}{k! (n-k)!}
              \frac{(2\lambda)_n (2\lambda+n)_k}{(\lambda+1/2)_k} \left(\frac{x-1}{2}\right)^k

    The sum alternates for x < 1 and loses digits as the degree grows; it serves to check the
    recurrence at low degrees.

    Parameters
    ----------
    x : array_like of any shape
        Points, normally in [-1, 1].
    degree : int
        Degree n >= 0.
    lam : float
        Parameter of the polynomials, > 0.

    Returns
    -------
    ndarray of the shape of x

    Raises
    ------
    ValueError
        If lam is not positive and finite, the degree negative or a point not finite.

    See Also
    --------
    gegenbauer_recurrence : The recurrence.

    Examples
    --------
    >>> round(float(gegenbauer_explicit(0.3, 2, lam=0.05)), 12)
    -0.04055
    """
    points = _finite("x", x)
    _check_degree(degree)
    if not 0.0 < lam < math.inf:
        raise ValueError(f"lam must be positive and finite, got {lam}")

    def rising(a: float, k: int) -> float:  # Pochhammer's symbol (a)_k = a (a + 1) ... (a + k - 1)
        return math.prod(a + j for j in range(k))

    n = degree
    total = np.zeros_like(points)
    for k in range(n + 1):
        factorials = math.factorial(k) * math.factorial(n - k)
        symbols = rising(2 * lam, n) * rising(2 * lam + n, k) / rising(lam + 0.5, k)
        total += symbols / factorials * ((points - 1) / 2) ** k
    return total


def gegenbauer_recurrence(x: npt.ArrayLike, degree: int, lam: float) -> FloatArray:
    r"""Evaluate all degrees by the three-term recurrence (`eq.gegenbauerrecurrence`).

    .. math:: g_0 = 1, \quad g_1 = 2 \lambda x, \quad
              g_n = \alpha_n x g_{n-1} - \beta_n g_{n-2}, \quad
              \alpha_n = 2 (n + \lambda - 1) / n, \quad \beta_n = (n + 2 \lambda - 2) / n

    The paper requires lam > 0; the recurrence holds for every lam > -1/2. At lam = 0 all
    polynomials but the first vanish, and what is returned is the usual limit of g_n / lam: 2/n
    times the Chebyshev polynomial T_n for n >= 1.

    Parameters
    ----------
    x : array_like of any shape
        Points, normally in [-1, 1].
    degree : int
        Largest degree, >= 0.
    lam : float
        Parameter of the polynomials, > -1/2; 0 is the Chebyshev limit, 1/2 Legendre, 1 Chebyshev of
        the second kind.

    Returns
    -------
    ndarray of shape (..., degree + 1)
        The degrees 0, 1, ..., degree along the last axis.

    Raises
    ------
    ValueError
        If lam <= -1/2 or not finite, the degree is negative or a point is not finite.

    See Also
    --------
    gegenbauer_explicit : The sum of powers.
    orthonormal_gegenbauer : The same, orthonormal.

    Examples
    --------
    >>> gegenbauer_recurrence(0.3, 3, lam=0.5).round(12).tolist()
    [1.0, 0.3, -0.365, -0.3825]
    """
    points = _finite("x", x)
    _check_degree(degree)
    if not -0.5 < lam < math.inf:
        raise ValueError(f"lam must be greater than -1/2 and finite, got {lam}")

    g = np.empty((degree + 1, *points.shape))  # one contiguous slice a degree
    g[0] = 1.0
    if degree >= 1:
        g[1] = 2.0 * (1.0 if lam == 0.0 else lam) * points
    for n in range(2, degree + 1):
        # Whole numbers first: 2 lam may be far below the rounding error of n.
        alpha_n = 2.0 * ((n - 1) + lam) / n
        beta_n = ((n - 2) + 2.0 * lam) / n
        if lam == 0.0 and n == 2:  # the limit of beta_2 / lam: g_2 is divided by lam, g_0 is not
            beta_n = 1.0
        g[n] = alpha_n * points * g[n - 1] - beta_n * g[n - 2]
    return np.moveaxis(g, 0, -1)


def orthonormal_gegenbauer(x: npt.ArrayLike, degree: int, lam: float) -> FloatArray:
    r"""Evaluate the polynomials of unit norm (`eq.orthogonalfunction`, on the right interval).

    The paper claims orthogonality on [0, 1]; Gegenbauer polynomials are orthogonal on [-1, 1] with
    the weight :math:`(1 - x^2)^{\lambda - 1/2}`. With that weight scaled to a probability measure
    the squared norms are

    .. math:: h_n = \frac{\lambda}{n + \lambda} \frac{(2 \lambda)_n}{n!},

    and the orthonormal polynomials are :math:`\pm g_n / \sqrt{h_n}`, with the sign that makes the
    leading coefficient positive (that of the raw polynomials is negative for lam < 0). At lam = 0
    they are 1 and :math:`\sqrt 2 T_n`.

    Parameters
    ----------
    x, degree, lam
        As in :func:`gegenbauer_recurrence`.

    Returns
    -------
    ndarray of shape (..., degree + 1)

    Raises
    ------
    ValueError
        As in :func:`gegenbauer_recurrence`.

    See Also
    --------
    gegenbauer_recurrence : The recurrence.

    Examples
    --------
    >>> orthonormal_gegenbauer(1.0, 3, lam=0.5).round(6).tolist()  # sqrt(2 n + 1) for Legendre
    [1.0, 1.732051, 2.236068, 2.645751]
    """
    g = gegenbauer_recurrence(x, degree, lam)
    n = np.arange(1, degree + 1)
    if lam == 0.0:
        norms = math.sqrt(2.0) / n
    else:
        norms = np.copysign(np.sqrt(lam / (n + lam) * np.cumprod(((n - 1) + 2.0 * lam) / n)), lam)
    g[..., 1:] /= norms
    return g


def level_contrasts(shares: npt.ArrayLike) -> FloatArray:
    r"""Evaluate the contrasts of a category at its levels: what stands in for polynomials there.

    The paper knows numbers alone. With shares p of the levels in the samples,

    .. math:: c_k(l) = \frac{h_k' (e_l - p)}{\sqrt{1 - p'p}}

    with the eigenvectors h_k of the covariance diag(p) - p p' among the vectors of sum zero, by
    falling variance. Where levels have equal shares they are Helmert's contrasts, a level against
    those before it; else the commonest level has a positive entry.

    Parameters
    ----------
    shares : array_like of shape (n,)
        Shares p >= 0, two of them positive at least; they are divided by their sum.

    Returns
    -------
    ndarray of shape (n, n - 1)

    Raises
    ------
    ValueError
        If shares are negative, or fewer than two are positive.

    See Also
    --------
    activation_matrix : All terms at all samples.

    Examples
    --------
    >>> level_contrasts([0.5, 0.25, 0.25]).round(4).tolist()
    [[0.7746, 0.0], [-0.7746, -0.8944], [-0.7746, 0.8944]]
    """
    p = _finite("shares", shares, ndim=1)
    if (p < 0).any() or np.count_nonzero(p) < 2:
        raise ValueError("shares must not be negative, and two of them positive at least")
    p = p / p.sum()
    values = np.unique(p)[::-1]
    groups = [np.flatnonzero(p == value) for value in values]
    # a unit vector for each group of equal shares; eigenvectors between groups are sums of these
    units = np.column_stack([(p == value) / math.sqrt(np.sum(p == value)) for value in values])
    sizes = units.sum(axis=0)
    basis = np.linalg.qr(np.column_stack([sizes, np.eye(len(sizes))]))[0][:, 1:]
    covariance = units.T @ (np.diag(p) - np.outer(p, p)) @ units
    _, vectors = np.linalg.eigh(basis.T @ covariance @ basis)
    between = units @ basis @ vectors[:, ::-1]
    between *= np.sign(between[groups[0][0]])
    columns = []
    for g, levels in enumerate(groups):
        for j in range(1, len(levels)):
            h = np.zeros(len(p))
            h[levels[:j]], h[levels[j]] = -1.0, j
            columns.append(h / math.sqrt(j * (j + 1)))
        if g < between.shape[1]:
            columns.append(between[:, g])
    h = np.column_stack(columns)
    return np.asarray((h - p @ h) / math.sqrt(p @ (1.0 - p)))


# --- Terms of several variables -------------------------------------------------------------------


def graded_lexicographic(n_inputs: int, n_terms: int) -> IntArray:
    r"""List multi-indices in graded lexicographic order (text after `eq.GSP-appro-residual`).

    Total degrees ascend; within a degree the first input has the highest degree first: 00 10 01 20
    11 02 30 ... The paper does not give the direction; this is the order of scikit-learn's
    ``PolynomialFeatures``.

    Parameters
    ----------
    n_inputs : int
        Number m >= 1 of inputs.
    n_terms : int
        Number L >= 1 of terms.

    Returns
    -------
    ndarray of shape (L, m)
        Row l holds the degrees k_1, ..., k_m of term l.

    Raises
    ------
    ValueError
        If one of the numbers is below 1.

    See Also
    --------
    activation_matrix : All terms at all samples.

    Examples
    --------
    >>> [f"{a}{b}" for a, b in graded_lexicographic(2, 6)]
    ['00', '10', '01', '20', '11', '02']
    """
    if n_inputs < 1 or n_terms < 1:
        raise ValueError(f"n_inputs and n_terms must be >= 1, got {n_inputs} and {n_terms}")
    of_degree = (
        itertools.combinations_with_replacement(range(n_inputs), d) for d in itertools.count()
    )
    indices = np.zeros((n_terms, n_inputs), dtype=np.int64)
    for row, inputs in zip(indices, itertools.chain.from_iterable(of_degree), strict=False):
        for t in inputs:  # an input that occurs k times has degree k
            row[t] += 1
    return indices


def elementary_function(X: npt.ArrayLike, index: Sequence[int], lam: float) -> FloatArray:
    r"""Evaluate one Gegenbauer elementary function (`Bernstein-product`).

    .. math:: G_{k_1, \ldots, k_m}^\lambda(x) = g_{k_1}^\lambda(x_1) \cdots g_{k_m}^\lambda(x_m)

    Parameters
    ----------
    X : array_like of shape (S, m)
        Samples, each input within the domain.
    index : sequence of m int
        Degrees k_1, ..., k_m of the term.
    lam : float
        Parameter of the polynomials, > -1/2.

    Returns
    -------
    ndarray of shape (S,)

    Raises
    ------
    ValueError
        If the index does not have one degree an input, or as in :func:`gegenbauer_recurrence`.

    See Also
    --------
    activation_matrix : All terms at all samples.
    gegenbauer_recurrence : The recurrence.

    Examples
    --------
    >>> elementary_function([[0.3, 0.5]], (1, 2), lam=1.0).round(12).tolist()  # 2 x_1 (4 x_2^2 - 1)
    [0.0]
    """
    samples = _finite("X", X, ndim=2)
    if len(index) != samples.shape[1]:
        raise ValueError(
            f"index must have one degree for each of {samples.shape[1]} inputs, got {len(index)}"
        )
    values = np.ones(len(samples))
    for x_t, k_t in zip(samples.T, index, strict=True):
        values *= gegenbauer_recurrence(x_t, int(k_t), lam)[:, -1]
    return values


def activation_matrix(X: npt.ArrayLike, indices: npt.ArrayLike, lam: float) -> FloatArray:
    r"""Evaluate all terms at all samples, the matrix G (`eqn.activatematrix_SOGNN`).

    Column l holds term l at all samples. It is the column of the term without its first active
    input, times one univariate polynomial: one multiplication an entry when the terms form a
    downward closed set in graded order, which all sets of this package do; a term whose parent is
    not among the earlier ones is built from the constant.

    Parameters
    ----------
    X : array_like of shape (S, m)
        Samples, scaled to the domain.
    indices : array_like of int, shape (L, m)
        Degrees of each term.
    lam : float
        Parameter of the polynomials, > -1/2.

    Returns
    -------
    ndarray of shape (S, L), in Fortran order

    Raises
    ------
    ValueError
        If X or indices have the wrong shape or values, or as in :func:`gegenbauer_recurrence`.

    See Also
    --------
    elementary_function : One term.
    graded_lexicographic : The order of the terms.

    Examples
    --------
    >>> activation_matrix([[0.5, 1.0]], graded_lexicographic(2, 6), lam=0.5).tolist()
    [[1.0, 0.5, 1.0, -0.125, 0.5, 1.0]]
    """
    samples = _finite("X", X, ndim=2)
    degrees = np.asarray(indices)
    n_inputs = samples.shape[1]
    if degrees.ndim != 2 or degrees.shape[1] != n_inputs or degrees.dtype.kind not in "iu":
        got = f"{degrees.dtype} {degrees.shape}"
        raise ValueError(f"indices must be integers of shape (L, {n_inputs}), got {got}")
    if degrees.size and degrees.min() < 0:
        raise ValueError(f"indices must be >= 0, got {degrees.min()}")

    largest = int(degrees.max(initial=0))
    # table[t, n] = degree n of input t at all samples
    table = np.ascontiguousarray(np.moveaxis(gegenbauer_recurrence(samples.T, largest, lam), -1, 1))
    terms = np.empty((len(degrees), len(samples)))
    place: dict[tuple[int, ...], int] = {}  # of each term so far
    for row, index in enumerate(map(tuple, degrees.tolist())):
        active = [t for t, k_t in enumerate(index) if k_t > 0]
        if not active:
            terms[row] = 1.0
        else:
            t, *others = active
            parent = place.get((*index[:t], 0, *index[t + 1 :]))
            if parent is not None:
                np.multiply(terms[parent], table[t, index[t]], out=terms[row])
            else:
                terms[row] = table[t, index[t]]
                for u in others:
                    terms[row] *= table[u, index[u]]
        place[index] = row
    return terms.T


# --- Data: scaling and targets --------------------------------------------------------------------


def minmax_scale(
    X: npt.ArrayLike, training: npt.ArrayLike, domain: Domain = (0.0, 1.0)
) -> FloatArray:
    r"""Scale every input to the domain by the smallest and largest value of the training samples.

    The paper: "all of the input data should be normalized to [0, 1]" (text before
    `eq.output_of_SOGNN`). Values beyond the training range are clipped to it, since polynomials
    explode outside of their domain. An input that is constant over the training samples (range at
    most 8 eps of its magnitude) becomes 0, which lies in both domains.

    Parameters
    ----------
    X : array_like of shape (S, m)
        Samples to scale.
    training : array_like of shape (N, m), N >= 1
        Samples that set the range of each input; any samples with the same extremes do.
    domain : (0.0, 1.0) or (-1.0, 1.0)
        Interval that the training range is mapped to.

    Returns
    -------
    ndarray of shape (S, m)

    Raises
    ------
    ValueError
        If the shapes do not fit, a value is not finite or the domain is another one.

    See Also
    --------
    fit : The whole network.

    Examples
    --------
    >>> minmax_scale([[2.0, 7.0], [9.0, 8.0]], training=[[0.0, 7.0], [4.0, 7.0]]).tolist()
    [[0.5, 0.0], [1.0, 0.0]]
    """
    samples, rows = _finite("X", X, ndim=2), _finite("training", training, ndim=2)
    if samples.shape[1] != rows.shape[1] or len(rows) == 0:
        raise ValueError(
            f"training must have rows of {samples.shape[1]} inputs, got shape {rows.shape}"
        )
    if tuple(domain) not in {(0.0, 1.0), (-1.0, 1.0)}:
        raise ValueError(f"domain must be (0, 1) or (-1, 1), got {domain}")
    lower, upper = rows.min(axis=0), rows.max(axis=0)
    width = upper - lower
    constant = width <= 8 * np.finfo(np.float64).eps * np.maximum(np.abs(lower), np.abs(upper))
    unit = np.clip((samples - lower) / np.where(constant, 1.0, width), 0.0, 1.0)
    left, right = domain
    return np.where(constant, 0.0, left + (right - left) * unit)


def class_targets(labels: npt.ArrayLike, classes: npt.ArrayLike) -> FloatArray:
    r"""Code classes as +1 and -1 (text of "MOGNN for Classification").

    Two classes take one output, +1 for the second class; K classes take K outputs, +1 in the column
    of the class and -1 elsewhere.

    Parameters
    ----------
    labels : array_like of shape (S,)
        Class of each sample.
    classes : array_like of shape (K,)
        All classes, without repetition.

    Returns
    -------
    ndarray of shape (S, 1) for two classes, (S, K) else

    Raises
    ------
    ValueError
        If a label is not among the classes.

    See Also
    --------
    fit : The whole network.

    Examples
    --------
    >>> class_targets(["b", "a"], ["a", "b"]).tolist()
    [[1.0], [-1.0]]
    >>> class_targets([0, 2], [0, 1, 2]).tolist()
    [[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    y, known = np.asarray(labels), np.asarray(classes)
    if y.ndim != 1 or known.ndim != 1:
        raise ValueError(
            f"labels and classes must have one dimension, got shapes {y.shape} and {known.shape}"
        )
    member = y[:, None] == known[None, :]
    if not member.any(axis=1).all():
        raise ValueError(
            f"labels must be among the classes {known.tolist()}, got {y[~member.any(axis=1)][0]!r}"
        )
    if len(known) == 2:
        member = member[:, 1:]
    return np.where(member, 1.0, -1.0)


# --- Weights: WDD and R-WDD -----------------------------------------------------------------------


def wdd(G: npt.ArrayLike, Phi: npt.ArrayLike) -> FloatArray:
    r"""Solve without regularization: weights direct determination (`eq.original_WDD`).

    .. math:: w = G^\dagger \Phi

    with the Moore-Penrose inverse by singular values. The paper's :math:`(G^T G)^{-1} G^T` is this
    inverse only when G has full column rank, which it seldom has (437 of 1500 columns on the
    paper's Banana data).

    Parameters
    ----------
    G : array_like of shape (S, L)
    Phi : array_like of shape (S,) or (S, K)

    Returns
    -------
    ndarray of shape (L,) or (L, K)
        The minimiser of ``|G w - Phi|`` of least norm.

    Raises
    ------
    ValueError
        If the rows do not match or a value is not finite.

    See Also
    --------
    rwdd : The cheaper of both forms.

    Examples
    --------
    >>> wdd([[1.0, 1.0]], [2.0]).round(12).tolist()
    [1.0, 1.0]
    """
    activation, targets = _finite("G", G, ndim=2), _finite("Phi", Phi)
    _same_rows("G", activation, "Phi", targets)
    return np.linalg.pinv(activation) @ targets


def rwdd_objective(G: npt.ArrayLike, Phi: npt.ArrayLike, W: npt.ArrayLike, gamma: float) -> float:
    r"""Evaluate what R-WDD minimises.

    `eqn.Proposed Equality Constrained-Optimization_SOGNN` and its `_MOGNN`:

    .. math:: \frac{\gamma}{2} \|W\|_F^2 + \frac{1}{2} \sum_s \|\xi_s\|_2^2, \qquad \xi = \Phi - G W

    The constraint of the one-output problem has the opposite sign of :math:`\xi`, which changes
    nothing here.

    Parameters
    ----------
    G : array_like of shape (S, L)
    Phi : array_like of shape (S,) or (S, K)
    W : array_like of shape (L,) or (L, K)
    gamma : float
        Regularizer, > 0.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the rows do not match, a value is not finite or gamma is not positive.

    See Also
    --------
    rwdd : The cheaper of both forms.

    Examples
    --------
    >>> rwdd_objective([[1.0], [1.0]], [1.0, 2.0], [1.0], gamma=4.0)
    2.5
    """
    activation, targets, weights = _finite("G", G, ndim=2), _finite("Phi", Phi), _finite("W", W)
    _same_rows("G", activation, "Phi", targets)
    _check_gamma(gamma)
    xi = targets - activation @ weights
    return float(gamma / 2 * np.sum(weights**2) + np.sum(xi**2) / 2)


def rwdd_primal(G: npt.ArrayLike, Phi: npt.ArrayLike, gamma: float) -> FloatArray:
    r"""Solve R-WDD for many samples, an L x L system (`eq.weights_solution`).

    .. math:: w = (\gamma I + G^T G)^{-1} G^T \Phi

    Parameters
    ----------
    G : array_like of shape (S, L)
    Phi : array_like of shape (S,) or (S, K)
    gamma : float
        Regularizer, > 0.

    Returns
    -------
    ndarray of shape (L,) or (L, K)

    Raises
    ------
    ValueError
        If the rows do not match, a value is not finite or gamma is not positive.

    See Also
    --------
    rwdd_dual : The form of the samples.
    rwdd : The cheaper of both forms.

    Examples
    --------
    Three points, Legendre polynomials 1 and x, by hand w = (-4/9, 14/27):

    >>> w = rwdd_primal([[1.0, 0.0], [1.0, 0.5], [1.0, 1.0]], [-1.0, -1.0, 1.0], gamma=1.0)
    >>> (27 * w).round(12).tolist()
    [-12.0, 14.0]
    """
    activation, targets = _finite("G", G, ndim=2), _finite("Phi", Phi)
    _same_rows("G", activation, "Phi", targets)
    _check_gamma(gamma)
    gram = activation.T @ activation
    np.fill_diagonal(gram, gram.diagonal() + gamma)
    return np.linalg.solve(gram, activation.T @ targets).astype(np.float64, copy=False)


def multipliers(G: npt.ArrayLike, Phi: npt.ArrayLike, gamma: float) -> FloatArray:
    r"""Solve R-WDD for its multipliers, an S x S system (`eq.weights_solution1_phi`).

    .. math:: (\gamma I + G G^T) \alpha = \Phi

    Here alpha is the solution of this very equation, so :math:`w = G^T \alpha`; the multipliers of
    `eqn.Lagrange_MOGNN-2-1`, where :math:`\gamma w = G^T \alpha`, are gamma times these. (The paper
    uses one letter for both.)

    Parameters
    ----------
    G : array_like of shape (S, L)
    Phi : array_like of shape (S,) or (S, K)
    gamma : float
        Regularizer, > 0.

    Returns
    -------
    ndarray of shape (S,) or (S, K)

    Raises
    ------
    ValueError
        If the rows do not match, a value is not finite or gamma is not positive.

    See Also
    --------
    rwdd_dual : The form of the samples.

    Examples
    --------
    >>> multipliers([[1.0, 1.0]], [3.0], gamma=1.0).tolist()
    [1.0]
    """
    activation, targets = _finite("G", G, ndim=2), _finite("Phi", Phi)
    _same_rows("G", activation, "Phi", targets)
    _check_gamma(gamma)
    gram = activation @ activation.T
    np.fill_diagonal(gram, gram.diagonal() + gamma)
    return np.linalg.solve(gram, targets).astype(np.float64, copy=False)


def rwdd_dual(G: npt.ArrayLike, Phi: npt.ArrayLike, gamma: float) -> FloatArray:
    r"""Solve R-WDD for few samples, an S x S system (`eq.weights_solution1`).

    With the inverse that the paper lost:

    .. math:: w = G^T (\gamma I + G G^T)^{-1} \Phi

    Parameters
    ----------
    G : array_like of shape (S, L)
    Phi : array_like of shape (S,) or (S, K)
    gamma : float
        Regularizer, > 0.

    Returns
    -------
    ndarray of shape (L,) or (L, K)

    Raises
    ------
    ValueError
        If the rows do not match, a value is not finite or gamma is not positive.

    See Also
    --------
    rwdd_primal : The form of the terms.
    rwdd : The cheaper of both forms.
    multipliers : The multipliers of the constraint.

    Examples
    --------
    >>> rwdd_dual([[1.0, 1.0]], [3.0], gamma=1.0).tolist()
    [1.0, 1.0]
    """
    return _finite("G", G, ndim=2).T @ multipliers(G, Phi, gamma)


def rwdd(G: npt.ArrayLike, Phi: npt.ArrayLike, gamma: float) -> FloatArray:
    r"""Solve R-WDD by the smaller of the two systems (`eq.network_output_equation`).

    S <= L takes :func:`rwdd_dual`, S > L :func:`rwdd_primal`. (The right sides of that equation are
    w, not G(x) w, and its first case lacks the inverse.)

    Parameters
    ----------
    G : array_like of shape (S, L)
    Phi : array_like of shape (S,) or (S, K)
    gamma : float
        Regularizer, > 0.

    Returns
    -------
    ndarray of shape (L,) or (L, K)

    Raises
    ------
    ValueError
        If the rows do not match, a value is not finite or gamma is not positive.

    See Also
    --------
    rwdd_primal : The form of the terms.
    rwdd_dual : The form of the samples.
    wdd : Without a penalty.

    Examples
    --------
    >>> rwdd([[1.0, 1.0]], [3.0], gamma=1.0).tolist()
    [1.0, 1.0]
    """
    n_samples, n_terms = _finite("G", G, ndim=2).shape
    return rwdd_dual(G, Phi, gamma) if n_samples <= n_terms else rwdd_primal(G, Phi, gamma)


def kkt_residual(
    G: npt.ArrayLike, Phi: npt.ArrayLike, W: npt.ArrayLike, gamma: float
) -> FloatArray:
    r"""Evaluate the optimality conditions (`eqn.Lagrange_SOGNN-2`, `eqn.Lagrange_MOGNN-2`).

    The last two conditions, :math:`G w - \Phi + \xi = 0` and :math:`\xi - \alpha = 0`, fix xi and
    alpha (`eq.alpha-1`); the first, :math:`\gamma w - G^T \alpha = 0`, is then what a solution must
    satisfy:

    .. math:: \gamma w - G^T (\Phi - G w)

    Parameters
    ----------
    G : array_like of shape (S, L)
    Phi : array_like of shape (S,) or (S, K)
    W : array_like of shape (L,) or (L, K)
    gamma : float
        Regularizer, > 0.

    Returns
    -------
    ndarray of the shape of W
        The gradient of :func:`rwdd_objective`; zero at the minimum.

    Raises
    ------
    ValueError
        If the rows do not match, a value is not finite or gamma is not positive.

    See Also
    --------
    rwdd_objective : What is minimised.
    multipliers : The multipliers of the constraint.

    Examples
    --------
    >>> kkt_residual([[1.0, 1.0]], [3.0], [1.0, 1.0], gamma=1.0).tolist()
    [0.0, 0.0]
    """
    activation, targets, weights = _finite("G", G, ndim=2), _finite("Phi", Phi), _finite("W", W)
    _same_rows("G", activation, "Phi", targets)
    _check_gamma(gamma)
    alpha = -(activation @ weights - targets)
    return gamma * weights - activation.T @ alpha


# --- The network ----------------------------------------------------------------------------------


def network_output(
    X: npt.ArrayLike, indices: npt.ArrayLike, lam: float, W: npt.ArrayLike
) -> FloatArray:
    r"""Evaluate the network (`eq.output_of_SOGNN`, `eq.output_of_GOGNN`).

    .. math:: \Psi(x) = G(x) W

    Parameters
    ----------
    X : array_like of shape (S, m)
        Samples, scaled to the domain.
    indices : array_like of int, shape (L, m)
        Degrees of each term.
    lam : float
        Parameter of the polynomials, > -1/2.
    W : array_like of shape (L,) or (L, K)

    Returns
    -------
    ndarray of shape (S,) or (S, K)

    Raises
    ------
    ValueError
        If shapes or values do not fit.

    See Also
    --------
    fit : The whole network.
    predict_labels : The classes.

    Examples
    --------
    >>> network_output([[0.5]], [[0], [1]], 0.5, [1.0, 2.0]).tolist()
    [2.0]
    """
    weights = _finite("W", W)
    G = activation_matrix(X, indices, lam)
    if len(weights) != G.shape[1]:
        raise ValueError(f"W must have one row for each of {G.shape[1]} terms, got {len(weights)}")
    return G @ weights


class Network(NamedTuple):
    """A trained classifier: all that :func:`predict_labels` needs.

    See Also
    --------
    fit : The whole network.
    """

    indices: IntArray  #: (L, m) degrees of the terms
    lam: float  #: parameter of the polynomials
    box: FloatArray  #: (2, m) smallest and largest value of each input in training
    domain: Domain  #: interval that the box is mapped to
    classes: npt.NDArray[Any]  #: (K,) class labels, sorted
    weights: FloatArray  #: (L, 1) for two classes, (L, K) else


def fit(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    n_terms: int = 1000,
    lam: float = 0.05,
    gamma: float = 2.0**-12,
    domain: Domain = (0.0, 1.0),
) -> Network:
    r"""Train a classifier as the paper does: scale, activate, solve (`eq.network_output_equation`).

    Parameters
    ----------
    X : array_like of shape (S, m)
        Training samples, as measured.
    y : array_like of shape (S,)
        Class labels.
    n_terms : int, default 1000
        Number L of terms.
    lam : float, default 0.05
        Parameter of the polynomials, > -1/2.
    gamma : float, default 2**-12
        Regularizer, > 0.
    domain : (0.0, 1.0) or (-1.0, 1.0)
        Interval that the inputs are scaled to.

    Returns
    -------
    Network

    Raises
    ------
    ValueError
        If shapes or values do not fit.

    See Also
    --------
    network_output : The outputs of the network.
    predict_labels : The classes.

    Examples
    --------
    >>> network = fit([[0.0], [1.0], [2.0], [3.0]], ["out", "in", "in", "out"], n_terms=3)
    >>> predict_labels(network, [[-0.1], [1.4], [9.0]]).tolist()
    ['out', 'in', 'out']
    """
    samples = _finite("X", X, ndim=2)
    classes = np.unique(np.asarray(y))
    box = np.stack([samples.min(axis=0), samples.max(axis=0)])
    indices = graded_lexicographic(samples.shape[1], n_terms)
    G = activation_matrix(minmax_scale(samples, box, domain), indices, lam)
    return Network(indices, lam, box, domain, classes, rwdd(G, class_targets(y, classes), gamma))


def predict_labels(network: Network, X: npt.ArrayLike) -> npt.NDArray[Any]:
    """Name the class by the sign of one output or the largest of several (text on MOGNN).

    Parameters
    ----------
    network : Network
        What :func:`fit` returned.
    X : array_like of shape (S, m)
        Samples, as measured.

    Returns
    -------
    ndarray of shape (S,)

    Raises
    ------
    ValueError
        If shapes or values do not fit.

    See Also
    --------
    fit : The whole network.
    network_output : The outputs of the network.

    Examples
    --------
    >>> network = fit([[0.0], [1.0]], [3, 7], n_terms=2)
    >>> predict_labels(network, [[0.1], [0.8]]).tolist()
    [3, 7]
    """
    scaled = minmax_scale(X, network.box, network.domain)
    output = network_output(scaled, network.indices, network.lam, network.weights)
    winner = output[:, 0] > 0 if len(network.classes) == 2 else output.argmax(axis=1)
    return network.classes[winner.astype(np.intp)]
