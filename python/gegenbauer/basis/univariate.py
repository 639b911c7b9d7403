"""Univariate Gegenbauer polynomials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer._messages import Message, Ways
from gegenbauer._validation import (
    check_choice,
    check_integer,
    check_number,
    naming_columns,
    require_finite,
    require_plain,
)
from gegenbauer.basis.index_sets import MOST_DEGREE

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["gegenbauer_vander"]


def gegenbauer_vander(
    x: npt.ArrayLike, degree: int, lam: float, *, normalization: str = "raw"
) -> npt.NDArray[np.float64]:
    r"""Evaluate the Gegenbauer polynomials of all degrees up to `degree`.

    By the three-term recurrence (the paper's eq.gegenbauerrecurrence)

    .. math:: n C_n = 2 (n + \lambda - 1) x C_{n-1} - (n + 2 \lambda - 2) C_{n-2}.

    Parameters
    ----------
    x : array_like of real numbers, any shape
        Points; the polynomials are orthogonal on [-1, 1].
    degree : int
        Largest degree, 0 to 100000.
    lam : float
        Parameter lambda > -1/2. 1/2 gives Legendre polynomials, 1 Chebyshev's of the second kind.
        At 0 the limit of C_n / lambda is meant, (2/n) T_n with Chebyshev's T_n (n >= 1).
    normalization : {"raw", "orthonormal"}
        ``"orthonormal"`` divides by the norm for the probability density proportional to
        (1 - x^2)^(lam - 1/2), with a positive leading coefficient (for lam < 0 the raw polynomials
        of degree n >= 1 have a negative one).

    Returns
    -------
    ndarray of float64, shape ``x.shape + (degree + 1,)``
        Entry ``[..., n]`` is the polynomial of degree n.

    Raises
    ------
    ValueError
        For lam <= -1/2, points that are not finite, or values beyond the range of float64 (raw
        polynomials of large lam and degree, points far outside of [-1, 1]).

    See Also
    --------
    TensorBasis : A finite set of terms.
    BasisDisplay : The polynomials of one input.
    gegenbauer.reference.gegenbauer_recurrence : The recurrence.

    Examples
    --------
    >>> from gegenbauer.basis import gegenbauer_vander
    >>> gegenbauer_vander(0.3, 3, 0.5)
    array([ 1.    ,  0.3   , -0.365 , -0.3825])
    """
    degree = check_integer(degree, "degree", minimum=0)
    if degree > MOST_DEGREE:
        raise ValueError(Message("`degree` must be at most {}, got {}", MOST_DEGREE, degree))
    lam = check_number(lam, "lam", minimum=-0.5, open_below=True)
    check_choice(normalization, "normalization", ("raw", "orthonormal"))
    x = require_plain(x, "x")
    try:
        points = np.asarray(x)
    except ValueError:
        raise ValueError("x must be a rectangular array") from None
    if points.dtype == object:
        with naming_columns(x, "x"):
            points = points.astype(np.float64)
    if points.dtype.kind not in "fiub":
        raise TypeError(f"x must hold real numbers, got dtype {points.dtype}")
    require_memory(
        8.0 * points.size * (degree + 1),
        "the result",
        Ways("", "lower `degree`", "pass fewer points"),
    )
    flat = np.ascontiguousarray(points, dtype=np.float64).ravel()
    if not np.isfinite(flat).all():
        raise ValueError("x must be finite, but holds NaN or infinity")
    values = core.eval_gegenbauer(flat, degree, lam, normalization)
    require_finite(values, "the polynomials have values", "x lies too far outside of [-1, 1]")
    return values.reshape(*points.shape, degree + 1)
