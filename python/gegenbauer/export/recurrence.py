"""The three-term recurrence of Gegenbauer polynomials as numbers that a target writes down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles

__all__ = ["recurrence"]


def recurrence(lam: float, degree: int, *, raw: bool) -> tuple[Doubles, Doubles]:
    r"""Return a and b of :math:`p_n = a_n x p_{n-1} - b_n p_{n-2}`, from :math:`p_0 = 1` on.

    Parameters
    ----------
    lam : float
        Gegenbauer parameter, > -1/2.
    degree : int
        Largest degree.
    raw : bool
        Whether the polynomials are the raw ones, else orthonormal. For lam = 0 the raw ones are the
        limit of C_n / lam.

    Returns
    -------
    a, b : ndarray, shape (degree + 1,)
        ``a[0]``, ``b[0]`` and ``b[1]`` are 0.

    Examples
    --------
    >>> from gegenbauer.export.recurrence import recurrence
    >>> recurrence(0.5, 2, raw=True)  # Legendre's
    (array([0. , 1. , 1.5]), array([0. , 0. , 0.5]))
    """
    a, b = np.zeros(degree + 1), np.zeros(degree + 1)
    n = np.arange(1.0, degree + 1.0)
    if raw and lam == 0.0:  # (2 / n) T_n, so b[2] = 2 / 2
        a[1:], b[2:] = 2.0 * (n - 1.0) / n, (n[1:] - 2.0) / n[1:]
        a[1:2], b[2:3] = 2.0, 1.0
    elif raw:
        a[1:], b[2:] = 2.0 * (n - 1.0 + lam) / n, (n[1:] - 2.0 + 2.0 * lam) / n[1:]
    else:  # of the Jacobi matrix; the general entry is 0 / 0 at n = 1, lam = 0
        with np.errstate(invalid="ignore", divide="ignore"):
            square = n * (n - 1.0 + 2.0 * lam) / (4.0 * (n + lam) * (n + lam - 1.0))
        square[:1] = 1.0 / (2.0 * (1.0 + lam))
        root = np.sqrt(square)
        a[1:], b[2:] = 1.0 / root, root[:-1] / root[1:]
    return a, b
