"""Independent answers, by brute force or in extended precision, that the fast code is held against.

Nothing here shares an algorithm with the package: index sets are filtered and sorted products,
polynomials are evaluated with mpmath, and ridge problems are solved with 60 digits or by singular
values.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import mpmath
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Index = tuple[int, ...]

# --- Index sets -----------------------------------------------------------------------------------

# What sorts first within one total degree: "grlex" compares from the first input, larger degrees
# first; "grlex_ascending" the same, smaller first; "grevlex" from the last input, smaller first.
ORDERS: dict[str, Callable[[Index], tuple]] = {
    "grlex": lambda k: (sum(k), tuple(-n for n in k)),
    "grlex_ascending": lambda k: (sum(k), k),
    "grevlex": lambda k: (sum(k), k[::-1]),
}


def interactions(k: Index) -> int:
    """Number of inputs that take part in a term."""
    return sum(n > 0 for n in k)


def members(
    n_features: int, degree: int | Sequence[int], index_set: str, max_interaction: int | None = None
) -> list[Index]:
    """All multi-indices of a set, in no particular order, found by trying every one of a box."""
    if index_set == "tensor":
        degrees = [degree] * n_features if isinstance(degree, int) else list(degree)
        belongs = lambda k: True  # noqa: E731
    else:
        degrees = [degree] * n_features
        belongs = {
            "total_degree": lambda k: sum(k) <= degree,
            "hyperbolic_cross": lambda k: math.prod(n + 1 for n in k) <= degree + 1,
        }[index_set]
    limit = n_features if max_interaction is None else max_interaction
    box = itertools.product(*(range(d + 1) for d in degrees))
    return [k for k in box if belongs(k) and interactions(k) <= limit]


def index_set(
    n_features: int,
    degree: int | Sequence[int],
    kind: str,
    order: str,
    max_interaction: int | None = None,
    n_terms: int | None = None,
) -> list[Index]:
    """The members in order, cut after `n_terms`."""
    return sorted(members(n_features, degree, kind, max_interaction), key=ORDERS[order])[:n_terms]


def largest_weight(
    n_features: int,
    n_terms: int,
    q: Fraction,
    twice_s: int,
    largest_degree: int,
    max_interaction: int | None = None,
) -> list[Index]:
    """The `n_terms` terms of largest weight, ties by "grlex", found in a box of degrees.

    The weight is the product of min(1, q n^(-2s)) over the active inputs, in exact fractions.
    """
    degrees = range(1, largest_degree + 1)
    factor = [Fraction(1)] + [min(Fraction(1), q / n**twice_s) for n in degrees]
    candidates = members(n_features, largest_degree, "tensor", max_interaction)
    heaviest_first = sorted(
        candidates, key=lambda k: (-math.prod(factor[n] for n in k), *ORDERS["grlex"](k))
    )
    chosen = heaviest_first[:n_terms]
    assert max(max(k) for k in chosen) < largest_degree, "the box is too small to be sure"
    return chosen


def words(indices: Iterable[Iterable[int]]) -> str:
    """Multi-indices as one string, such as "00 10 01", for comparison with golden lists."""
    return " ".join("".join(str(int(n)) for n in k) for k in indices)


# --- Polynomials ----------------------------------------------------------------------------------

# C_n^lam(x) for n = 0, 1, ..., 5
KNOWN_VALUES = [
    (0.05, 0.3, [1, 0.03, -0.04055, -0.0276255, 0.00865008375, 0.0213317507025]),
    (0.05, 1.0, [1, 0.1, 0.055, 0.0385, 0.0298375, 0.02446675]),
    (0.5, 0.3, [1, 0.3, -0.365, -0.3825, 0.0729375, 0.34538625]),
    (1.0, 0.3, [1, 0.6, -0.64, -0.984, 0.0496, 1.01376]),
    (2.5, 1.0, [1, 5, 15, 35, 70, 126]),
]
KNOWN_AT_DEGREE_30 = [  # at x = 0.3
    (0.05, 0.00378291091142650534),
    (0.5, 0.14665500486868719),
    (1.0, 1.0480603783204168),
]


@cache
def gegenbauer(x: float, degree: int, lam: float, *, digits: int = 60) -> list[mpmath.mpf]:
    """Raw polynomials of all degrees at one point, in extended precision; 2/n T_n at lam = 0."""
    with mpmath.workdps(digits):
        if lam == 0.0:
            angle = mpmath.acos(mpmath.mpf(x))
            return [mpmath.mpf(1)] + [2 * mpmath.cos(n * angle) / n for n in range(1, degree + 1)]
        z, a = mpmath.mpf(x), mpmath.mpf(lam)
        values = [mpmath.mpf(1), 2 * a * z]
        for n in range(2, degree + 1):
            values.append(
                (2 * (n - 1 + a) * z * values[n - 1] - (n - 2 + 2 * a) * values[n - 2]) / n
            )
        return values[: degree + 1]


@cache
def norm(n: int, lam: float, *, digits: int = 60) -> mpmath.mpf:
    """Norm of a raw polynomial for the probability density ~ (1 - x^2)^(lam - 1/2) on [-1, 1]."""
    with mpmath.workdps(digits):
        if n == 0:
            return mpmath.mpf(1)
        if lam == 0.0:
            return mpmath.sqrt(2) / n
        a = mpmath.mpf(lam)
        return mpmath.sqrt(a / (n + a) * mpmath.rf(2 * a, n) / mpmath.factorial(n))


def orthonormal(x: float, degree: int, lam: float, *, digits: int = 60) -> list[mpmath.mpf]:
    """Orthonormal polynomials of all degrees at one point, leading coefficients positive."""
    with mpmath.workdps(digits):
        sign = -1 if lam < 0.0 else 1
        values = gegenbauer(x, degree, lam, digits=digits)
        return values[:1] + [
            sign * values[n] / norm(n, lam, digits=digits) for n in range(1, degree + 1)
        ]


def derivatives(
    x: float, degree: int, lam: float, normalization: str = "raw", *, digits: int = 60
) -> list[mpmath.mpf]:
    """Derivatives of the polynomials of all degrees, by C_n' = 2 lam C_(n-1) of lam + 1."""
    with mpmath.workdps(digits):
        a = mpmath.mpf(lam)
        factor = 2 * a if lam != 0.0 else mpmath.mpf(2)
        found = [mpmath.mpf(0)] + [
            factor * value for value in gegenbauer(x, max(degree - 1, 0), lam + 1, digits=digits)
        ]
        if normalization == "orthonormal":
            sign = -1 if lam < 0.0 else 1
            found = [sign * value / norm(n, lam, digits=digits) for n, value in enumerate(found)]
        return found[: degree + 1]


def table(x: np.ndarray, degree: int, lam: float, normalization: str = "raw") -> np.ndarray:
    """Polynomials at many points, rounded once to float64; shape (len(x), degree + 1)."""
    evaluate = {"raw": gegenbauer, "orthonormal": orthonormal}[normalization]
    return np.array([[float(v) for v in evaluate(float(point), degree, lam)] for point in x])


def features(X: np.ndarray, indices: np.ndarray, lam: float, spectrum: object = None) -> np.ndarray:
    """Feature matrix term by term; a spectrum (q, s) means orthonormal times sqrt(q n^-2s)."""
    X, indices = np.asarray(X, dtype=np.float64), np.asarray(indices)
    degree = int(indices.max(initial=0))
    univariate = [table(x, degree, lam, "raw" if spectrum is None else "orthonormal") for x in X.T]
    if isinstance(spectrum, tuple):
        q, s = spectrum
        for values in univariate:
            values[:, 1:] *= np.sqrt(q * np.arange(1.0, degree + 1) ** (-2.0 * s))
    columns = [
        math.prod((univariate[t][:, n] for t, n in enumerate(k)), start=np.ones(len(X)))
        for k in indices
    ]
    return np.stack(columns, axis=1)


# --- Ridge ----------------------------------------------------------------------------------------


def ridge_exact(
    G: np.ndarray,
    Phi: np.ndarray,
    alpha: float,
    *,
    sample_weight: np.ndarray | None = None,
    penalize_constant: bool = True,
    digits: int = 60,
) -> np.ndarray:
    """Normal equations with 60 digits: their condition does not matter. For small problems."""
    weights = np.ones(len(G)) if sample_weight is None else sample_weight
    with mpmath.workdps(digits):
        A, B, w = (extended(v) for v in (G, Phi.reshape(len(G), -1), weights))
        return normal_equations(A, B, w, alpha, penalize_constant=penalize_constant).astype(float)


extended = np.vectorize(mpmath.mpf, otypes=[object])


def normal_equations(
    G: np.ndarray, Phi: np.ndarray, weights: np.ndarray, alpha: float, *, penalize_constant: bool
) -> np.ndarray:
    """Solve them for arrays of mpmath's numbers by elimination, which needs no pivots here."""
    n = G.shape[1]
    A = (G.T * weights) @ np.hstack([G, Phi])
    for k in range(0 if penalize_constant else 1, n):
        A[k, k] += mpmath.mpf(alpha)
    for k in range(n):
        A[k, k:] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    for k in reversed(range(n - 1)):
        A[k, n:] -= A[k, k + 1 : n] @ A[k + 1 :, n:]
    return A[:, n:]


def ridge_svd(G: np.ndarray, Phi: np.ndarray, alpha: float) -> np.ndarray:
    """V diag(s / (s^2 + alpha)) U' Phi: accurate for float64 whatever the engine under test did."""
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    return Vt.T @ ((s / (s**2 + alpha))[:, None] * (U.T @ Phi))


def ridge_lstsq(
    G: np.ndarray,
    Phi: np.ndarray,
    alpha: float,
    *,
    sample_weight: np.ndarray | None = None,
    penalize_constant=True,
) -> np.ndarray:
    """Ridge as ordinary least squares with further rows, sqrt(alpha) times a diagonal."""
    root = np.sqrt(np.ones(len(G)) if sample_weight is None else sample_weight)[:, None]
    penalty = np.full(G.shape[1], math.sqrt(alpha))
    penalty[0] *= penalize_constant
    rows = np.vstack([root * G, np.diag(penalty)])
    targets = np.vstack([root * Phi, np.zeros((G.shape[1], Phi.shape[1]))])
    return np.linalg.lstsq(rows, targets, rcond=None)[0]


def pseudo_inverse_solution(
    G: np.ndarray, Phi: np.ndarray, gap: float = 1e-10
) -> tuple[np.ndarray, int]:
    """Least squares of least norm, and the rank, which must not be in doubt."""
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    kept = s > gap * s[0]
    doubtful = (s > 1e-13 * s[0]) & (s < 1e-7 * s[0])
    assert not doubtful.any(), "the rank of this example is not clear"
    return Vt[kept].T @ ((U[:, kept].T @ Phi) / s[kept, None]), int(kept.sum())


def free_constant_limit(
    G: np.ndarray, Phi: np.ndarray, sample_weight: np.ndarray | None = None
) -> tuple[np.ndarray, int]:
    """Least squares with the least norm of all weights but the first, and the rank of G.

    The limit of no penalty when the constant, the first column, is left out of it: the constant is
    projected away, what is left has a pseudo-inverse, and the constant fits the rest.
    """
    root = np.sqrt(np.ones(len(G)) if sample_weight is None else sample_weight)
    unit, size = root / np.linalg.norm(root), np.linalg.norm(root)
    A, B = root[:, None] * G[:, 1:], root[:, None] * Phi
    U, s, Vt = np.linalg.svd(A - np.outer(unit, unit @ A), full_matrices=False)
    scale = np.linalg.norm(A)
    kept = s > 1e-10 * scale
    assert not ((s > 1e-13 * scale) & (s < 1e-7 * scale)).any(), "the rank is not clear"
    W = Vt[kept].T @ ((U[:, kept].T @ (B - np.outer(unit, unit @ B))) / s[kept, None])
    return np.vstack([unit @ (B - A @ W) / size, W]), int(kept.sum()) + 1


def optimality(G: np.ndarray, Phi: np.ndarray) -> Callable[[np.ndarray, float], float]:
    """rho(W, alpha) = |G'(Phi - G W) - alpha W| / (|G|^2 |W| + |G| |Phi|).

    The residual is computed in long double; |G| is the spectral norm, the others are Frobenius's.
    """
    g, phi = np.asarray(G, dtype=np.longdouble), np.asarray(Phi, dtype=np.longdouble)
    size = np.linalg.norm(G, 2)

    def rho(W: np.ndarray, alpha: float) -> float:
        w = np.asarray(W, dtype=np.longdouble)
        residual = g.T @ (phi - g @ w) - np.longdouble(alpha) * w
        scale = size**2 * np.linalg.norm(W) + size * np.linalg.norm(Phi)
        return float(np.linalg.norm(residual.astype(np.float64)) / scale)

    return rho


def clausen(order, u):
    """Sum of cos(k u) / k^order for even orders, of sin(k u) / k^order for odd ones.

    They are Bernoulli's polynomials for u from -2 pi to 2 pi, hundreds of times as fast as
    mpmath's `clcos` and `clsin`, to which a test compares them.
    """
    u, sign = mpmath.mpf(u), (-1) ** (order // 2 + 1)
    turn = 2 * mpmath.pi
    found = (
        sign * turn**order / (2 * mpmath.factorial(order)) * mpmath.bernpoly(order, abs(u) / turn)
    )
    return -found if order % 2 and u < 0 else found
