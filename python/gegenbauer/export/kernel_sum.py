r"""A sum of kernels of all terms at centres as tables of numbers.

The kernel is a product over the inputs of 1 + k. Where one of the two samples misses a number, or
is of a category, k has its part of levels alone; else it is, with :math:`a = \arcsin x` and
:math:`c = \arcsin z` and :math:`w = (\pi - |a - c|)^2, w' = (a + c)^2`,

.. math:: k = p(w) + p(w') + \sum_r q_r (g_r(h) + g_r(h')) + \sum_n v_n \phi_n(x) \phi_n(z)
    + u \kappa(l, l')

with a cubic p, :math:`g_r(h) = (1 - r - 2 h) / ((1 - r)^2 + 4 r h)` of the squared sines h and h'
of half the sum and half the difference of :math:`\arccos x` and :math:`\arccos z`, orthonormal
:math:`\phi_n`, and :math:`\kappa` of `Levels`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message
from gegenbauer.basis.kernel_derivatives import is_closed
from gegenbauer.basis.kernels import SpectrumKernel
from gegenbauer.basis.spectrum import GeometricDecay, Spectrum
from gegenbauer.export.recurrence import recurrence
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles
    from gegenbauer.basis.levels import Levels
    from gegenbauer.ridge.expansions import KernelExpansion

__all__ = ["KernelPart", "KernelSum", "kernel_sum"]

_PI = np.pi

# sum over n of n^-2s cos(n u) as a polynomial of (pi - u)^2, from the constant on; of s = 1, 2, 3
_CLOSED = {
    1.0: (-(_PI**2) / 12.0, 1.0 / 4.0, 0.0, 0.0),
    2.0: (-7.0 * _PI**4 / 720.0, _PI**2 / 24.0, -1.0 / 48.0, 0.0),
    3.0: (-31.0 * _PI**6 / 30240.0, 7.0 * _PI**4 / 1440.0, -(_PI**2) / 288.0, 1.0 / 1440.0),
}


@dataclass(frozen=True, eq=False)
class KernelPart:
    """One of the kernels, and its coefficients.

    Attributes
    ----------
    coef : ndarray, shape (n_centres, n_outputs)
        Of the kernels at the centres.
    cubic : ndarray, shape (n_features, 4)
        The polynomial p of each input, from the constant on; the constant counts for both values.
    geometric : tuple of (float, ndarray of shape (n_features,))
        Ratios r, and the q of each input.
    sums : ndarray, shape (n_features, n_degrees)
        v_n of each input, n = 1, 2, ...
    levels : ndarray, shape (n_features,)
        The factor u of each input, divided by 1 - sum p^2.
    """

    coef: Doubles
    cubic: Doubles
    geometric: tuple[tuple[float, Doubles], ...]
    sums: Doubles
    levels: Doubles


@dataclass(frozen=True, eq=False)
class KernelSum:
    """A sum of kernels at centres, of one or several kernels.

    Attributes
    ----------
    centres : ndarray, shape (n_centres, n_features)
        Numbers as they are scaled, NaN where they are missing; codes of levels of categories, NaN
        where they are not known.
    category : ndarray of bool, shape (n_features,)
        Which inputs are categories.
    offsets : tuple of ndarray or None
        Of an input with levels, sum p^2 / 2 - p of each: kappa times 1 - sum p^2 is the sum of
        those of both levels, plus one where they are equal. Those of a number are given, missing.
    parts : tuple of KernelPart
        The kernels.
    a, b : ndarray, shape (n_degrees + 1,)
        The recurrence of the polynomials, see `recurrence`.
    """

    centres: Doubles
    category: Any
    offsets: tuple[Doubles | None, ...]
    parts: tuple[KernelPart, ...]
    a: Doubles
    b: Doubles

    @property
    def has_cubic(self) -> bool:
        """Whether angles are needed."""
        return any(part.cubic.any() for part in self.parts)

    @property
    def has_geometric(self) -> bool:
        """Whether sines and cosines of half the angles are needed."""
        return any(part.geometric for part in self.parts)

    @property
    def degree(self) -> int:
        """Largest degree that is summed."""
        return len(self.a) - 1


def kernel_sum(expansion: KernelExpansion | MeanExpansion) -> tuple[KernelSum, Doubles | None]:
    """Write a sum of kernels as numbers; return it and the intercept."""
    expansions = expansion.parts if isinstance(expansion, MeanExpansion) else (expansion,)
    first = expansions[0]
    kernel = first.kernel
    if not isinstance(kernel, SpectrumKernel):
        raise TypeError(
            Message("`model` has a {}, which no target can write", type(kernel).__name__)
        )
    m, levels = kernel.n_features, kernel.spectrum.levels
    category = np.array([one is not None and one.category for one in levels or (None,) * m])
    centres = first.scaling.transform(first.centres).clip(-1.0, 1.0)
    centres[:, category] = first.centres[:, category]
    share = 1.0 / len(expansions)
    parts = tuple(_part(each, share) for each in expansions)
    shift = None
    if first.intercept is not None:
        shift = np.sum([share * np.asarray(each.intercept) for each in expansions], axis=0)
    used = np.any([each.coef.any(axis=1) for each in parts], axis=0)
    used[0] |= not used.any()  # of a constant function too, for tables of nothing are no C
    centres, parts = centres[used], tuple(replace(each, coef=each.coef[used]) for each in parts)
    degree = max(part.sums.shape[1] for part in parts)
    a, b = recurrence(kernel.lam, degree, raw=False)
    offsets = tuple(_offsets(one) for one in levels or (None,) * m)
    return KernelSum(centres, category, offsets, parts, a, b), shift


def _offsets(one: Levels | None) -> Doubles | None:
    if one is None or not one.n_contrasts:
        return None
    shares = np.asarray(one.shares)
    return np.asarray(0.5 * (shares**2).sum() - shares)


def _part(expansion: KernelExpansion, share: float) -> KernelPart:
    kernel = expansion.kernel
    assert isinstance(kernel, SpectrumKernel)
    m, spectrum = kernel.n_features, kernel.spectrum
    q = spectrum.interactions(m)
    numbers = np.array([one is None or not one.category for one in spectrum.levels or (None,) * m])
    closed_forms = kernel.lam == 0.0 and kernel.max_degree is None
    cubic, geometric, sums = np.zeros((m, 4)), [], np.zeros((m, kernel.n_degrees))
    for j, component in enumerate(spectrum.components):
        own = np.where(numbers, q[:, j], 0.0)
        if not (closed_forms and is_closed(component)):
            if kernel.n_degrees:
                flat = Spectrum([replace(component, interaction=1.0)])
                sums += np.outer(own, flat.squared_weights(1, kernel.n_degrees)[0, 1:])
        elif isinstance(component, GeometricDecay):
            geometric.append((float(component.ratio), own))
        else:
            smoothness = getattr(component, "smoothness", 1.0)  # raw Chebyshev's norms: 2 / n^2
            multiple = 1.0 if hasattr(component, "smoothness") else 2.0
            cubic += np.outer(
                own * multiple, np.multiply(_CLOSED[smoothness], (2.0, 1.0, 1.0, 1.0))
            )
    weights = np.zeros(m)
    for t, one in enumerate(spectrum.levels or ()):
        if one is not None and one.n_contrasts:
            weights[t] = q[t].sum() / sum(p * (1.0 - p) for p in one.shares)
    return KernelPart(share * expansion.coef_2d, cubic, tuple(geometric), sums, weights)
