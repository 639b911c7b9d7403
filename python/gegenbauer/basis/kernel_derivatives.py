"""First and second derivatives of the kernel of all terms by its first argument.

The kernel is a product over the inputs. Components of its spectrum that the core sums have
derivatives by terms, as in :mod:`gegenbauer.basis.derivatives`. Those that it has in closed form
(see ``cpp/include/gegenbauer/spectrum_kernel.hpp``) have them in closed form, too, arranged such
that nothing cancels at the ends of the domain.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._memory import require_memory
from gegenbauer.basis.derivatives import derivative_coefficients
from gegenbauer.basis.kernels import input_kernel
from gegenbauer.basis.spectrum import GeometricDecay, PowerDecay, Spectrum
from gegenbauer.basis.tensor_basis import TensorBasis

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.kernels import SpectrumKernel
    from gegenbauer.basis.spectrum import Component

__all__ = ["KernelFactor", "is_closed", "kernel_gradient", "kernel_hessian"]

# Values of a factor that are held at once, few enough for a cache
_MOST_VALUES = 2**15

# Angles whose third powers would be left of larger terms
_SMALL = 0.1

# n^-4 and n^-6 sum to b(w) with w = (pi - u)^2: coefficients of w and w^2 in b'(w), which is 0 at
# w = pi^2
_CLOSED = {2.0: (-1.0 / 24.0, 0.0), 3.0: (-(np.pi**2) / 144.0, 1.0 / 480.0)}


def kernel_gradient(
    kernel: SpectrumKernel, x: Doubles, z: Doubles, coef: Doubles, *, n_threads: int | None = None
) -> Doubles:
    """Differentiate sums of kernels at centres, by their scaled inputs.

    Parameters
    ----------
    kernel : SpectrumKernel
        The kernel.
    x : ndarray, shape (n_samples, n_features)
        Where, in [-1, 1].
    z : ndarray, shape (n_centres, n_features)
        The centres, in [-1, 1].
    coef : ndarray, shape (n_centres, n_outputs)
        Their coefficients.
    n_threads : int, optional
        By default `gegenbauer.default_threads()`.

    Returns
    -------
    ndarray, shape (n_samples, n_features, n_outputs)

    Raises
    ------
    ValueError
        The kernel has kinks where x and a centre have an input in common.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GeometricDecay
    >>> from gegenbauer.basis import SpectrumKernel
    >>> from gegenbauer.basis.kernel_derivatives import kernel_gradient
    >>> kernel = SpectrumKernel(1, GeometricDecay(0.5, 0.1), max_degree=1)  # 1 + x z
    >>> kernel_gradient(kernel, np.array([[0.3]]), np.array([[0.7]]), np.ones((1, 1))).round(6)
    array([[[0.7]]])
    """
    (n, m), n_outputs = x.shape, coef.shape[1]
    require_memory(8.0 * n * m * n_outputs, "the result", "differentiate at fewer samples at once")
    factors = [KernelFactor(kernel, t, z[:, t]) for t in range(m)]
    found = np.empty((n, m, n_outputs))
    for block, columns, values, behind in _blocks(factors, x, len(z), n_threads):
        before = np.ones_like(values[0])
        for t in range(m):
            found[block, t] = (before * behind[t] * factors[t].slopes(columns[t])) @ coef
            before = before * values[t]
    return found


def _blocks(
    factors: Sequence[KernelFactor], x: Doubles, n_centres: int, n_threads: int | None
) -> Iterator[tuple[slice, Doubles, list[Doubles], list[Doubles]]]:
    """Yield blocks of samples: which, their columns, all factors, and products of those behind.

    The product of all other factors is that of those before an input times that of those behind,
    without a division.
    """
    step = max(1, _MOST_VALUES // n_centres)
    for first in range(0, len(x), step):
        block = slice(first, first + step)
        columns = x[block].T
        values = [f.values(column, n_threads) for f, column in zip(factors, columns, strict=True)]
        one = np.ones_like(values[0])
        behind = [one, *itertools.accumulate(values[:0:-1], np.multiply)][::-1]
        yield block, columns, values, behind


def kernel_hessian(
    kernel: SpectrumKernel, x: Doubles, z: Doubles, coef: Doubles, *, n_threads: int | None = None
) -> Doubles:
    """Differentiate sums of kernels at centres twice, by their scaled inputs.

    Parameters
    ----------
    kernel, x, z, coef, n_threads
        As for `kernel_gradient`.

    Returns
    -------
    ndarray, shape (n_samples, n_features, n_features, n_outputs)

    Raises
    ------
    ValueError
        The kernel has kinks where x and a centre have an input in common.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GeometricDecay
    >>> from gegenbauer.basis import SpectrumKernel
    >>> from gegenbauer.basis.kernel_derivatives import kernel_hessian
    >>> kernel = SpectrumKernel(2, GeometricDecay(0.5, 0.1), max_degree=1)  # of 1 + x z
    >>> kernel_hessian(kernel, np.zeros((1, 2)), np.full((1, 2), 0.5), np.ones((1, 1)))[0, 0, 1]
    array([0.25])
    """
    (n, m), n_outputs = x.shape, coef.shape[1]
    require_memory(8.0 * n * m**2 * n_outputs, "the result", "differentiate at fewer samples")
    factors = [KernelFactor(kernel, t, z[:, t]) for t in range(m)]
    found = np.empty((n, m, m, n_outputs))
    for block, columns, values, behind in _blocks(factors, x, len(z), n_threads):
        slopes = [f.slopes(column) for f, column in zip(factors, columns, strict=True)]
        before = np.ones_like(values[0])
        for t in range(m):
            curved = factors[t].curvatures(columns[t])
            found[block, t, t] = (before * behind[t] * curved) @ coef
            between = before * slopes[t]  # times the factors of inputs between t and s
            for s in range(t + 1, m):
                found[block, t, s] = (between * slopes[s] * behind[s]) @ coef
                found[block, s, t] = found[block, t, s]
                between = between * values[s]
            before = before * values[t]
    return found


class KernelFactor:
    """The factor 1 + k(x, z) of one input in a kernel, for given z, and its derivatives by x."""

    def __init__(self, kernel: SpectrumKernel, t: int, z: Doubles) -> None:
        self._kernel = input_kernel(kernel, t)
        spectrum = self._kernel.spectrum
        levels = spectrum.levels[0] if spectrum.levels is not None else None
        self._z, self._category = z, levels is not None and levels.category
        self._geometric: list[GeometricDecay] = []
        self._cubic = np.zeros(2)
        summed: list[Component] = []
        finite = kernel.lam != 0.0 or kernel.max_degree is not None
        for part in spectrum.components:
            if part.interaction == 0 or self._category:
                continue
            if finite or not is_closed(part):
                summed.append(part)
            elif isinstance(part, GeometricDecay):
                self._geometric.append(part)
            elif isinstance(part, PowerDecay) and part.smoothness in _CLOSED:
                self._cubic += np.multiply(part.interaction, _CLOSED[part.smoothness])
            else:
                raise ValueError(
                    f"the kernel of {part!r} has no gradient where x and a centre have an input in "
                    "common, as at the centres: take a smoother spectrum, of a smoothness of 2 "
                    "instead of 1, or a finite set of terms"
                )
        self._basis: TensorBasis | None = None
        if summed:
            n, lam = self._kernel.n_degrees, kernel.lam
            self._basis = TensorBasis(1, degree=n, lam=lam, spectrum=Spectrum(summed))
            values = self._basis.evaluate(np.nan_to_num(z)[:, np.newaxis])
            values = np.ascontiguousarray(values.T)
            self._coef = next(derivative_coefficients(self._basis, values))

    def values(self, x: Doubles, n_threads: int | None = None) -> Doubles:
        """Return the factor, (n_samples, n_others)."""
        return self._kernel(x[:, np.newaxis], self._z[:, np.newaxis], n_threads=n_threads)

    def slopes(self, x: Doubles) -> Doubles:
        """Return its derivative by x, (n_samples, n_others), 0 where either is missing."""
        missing = np.isnan(x)[:, np.newaxis] | np.isnan(self._z)
        x, z = np.nan_to_num(x)[:, np.newaxis], np.nan_to_num(self._z)
        found = np.zeros((x.size, z.size))
        if self._basis is not None:
            found += self._basis.evaluate(x) @ self._coef
        if self._cubic.any():
            found += _power_slopes(x, z, *self._cubic.tolist())
        for part in self._geometric:
            found += part.interaction * _geometric_slopes(x, z, part.ratio)
        found[missing] = 0.0
        return found

    def curvatures(self, x: Doubles) -> Doubles:
        """Return its second derivative by x, (n_samples, n_others), likewise."""
        missing = np.isnan(x)[:, np.newaxis] | np.isnan(self._z)
        x, z = np.nan_to_num(x)[:, np.newaxis], np.nan_to_num(self._z)
        found = np.zeros((x.size, z.size))
        if self._basis is not None:
            found += self._basis.evaluate(x) @ next(
                derivative_coefficients(self._basis, self._coef)
            )
        if self._cubic.any():
            found += _power_curvatures(x, z, *self._cubic.tolist())
        for part in self._geometric:
            found += part.interaction * _geometric_curvatures(x, z, part.ratio)
        found[missing] = 0.0
        return found


def is_closed(part: Component) -> bool:
    """Whether the core has a closed form of a component, for Chebyshev polynomials."""
    if isinstance(part, PowerDecay):
        return part.smoothness in (1.0, 2.0, 3.0)
    return isinstance(part, GeometricDecay) or part.lam == 0.0


def _power_slopes(x: Doubles, z: Doubles, linear: float, square: float) -> Doubles:
    """Differentiate b(|a - c|) + b(a + c), for a = arccos x and c = arccos z, by x.

    For x <= z and f = a, e = pi - a, r = c; else for f = pi - a, e = a, r = pi - c and the other
    sign it is 4 e / sin e times p_0 + p_1 (e^2 + 3 r^2) + p_2 (e^4 + 10 e^2 r^2 + 5 r^4), where p
    are the coefficients of b'. That is 0 at e = pi, r = 0, and f is taken out of it, as r <= f.
    """
    above = x <= z
    a, b = np.arccos(x), np.arccos(-x)  # each with all its digits near 0
    f, e = np.where(above, a, b), np.where(above, b, a)
    r = np.where(above, np.arccos(z), np.arccos(-z))
    near = np.minimum(a, b)
    scale = 4.0 * np.maximum(a, b) / np.sinc(near / np.pi)  # 4 e f / sin e
    share = np.divide(r, f, out=np.zeros_like(f), where=f > 0)
    e2, r2 = e * e, r * r
    inner = r * share * (3.0 * linear + square * (10.0 * e2 + 5.0 * r2))
    inner -= (np.pi + e) * (linear + square * (np.pi**2 + e2))
    return np.asarray(np.where(above, scale, -scale) * inner)


def _geometric_slopes(x: Doubles, z: Doubles, ratio: float) -> Doubles:
    """Differentiate the sum of ratio^(n - 1) phi_n(x) phi_n(z) by x."""
    a, c = 0.5 * np.arccos(x), 0.5 * np.arccos(z)
    across, along = np.sin(a) * np.cos(c), np.cos(a) * np.sin(c)
    near, far = (  # 1 - 2 ratio cos u + ratio^2 for the two angles u
        (1.0 - ratio) ** 2 + 4.0 * ratio * half**2 for half in (across - along, across + along)
    )
    both = near * far
    curved = x * (4.0 * ratio * (1.0 - ratio**2) * np.sin(2.0 * c) ** 2) * (near + far)
    return np.asarray((z * (1.0 - ratio**2) * (near**2 + far**2) - curved) / both**2)


def _power_curvatures(x: Doubles, z: Doubles, linear: float, square: float) -> Doubles:
    """Differentiate the same twice.

    By e the first derivative is 4 e / sin e times P = p_0 + p_1 (e^2 + 3 r^2) + p_2 (e^4 + 10 e^2
    r^2 + 5 r^4), and the derivative of e by x is 1 / sin e, up to a sign that both have.
    """
    above = x <= z
    e = np.where(above, np.arccos(-x), np.arccos(x))
    f = np.where(above, np.arccos(x), np.arccos(-x))
    r = np.where(above, np.arccos(z), np.arccos(-z))
    e2, r2 = e * e, r * r
    inner = 3.0 * linear + square * (10.0 * e2 + 5.0 * r2)
    P = r2 * inner - f * (np.pi + e) * (linear + square * (np.pi**2 + e2))
    slope = e * (2.0 * linear + square * (4.0 * e2 + 20.0 * r2))
    near = np.minimum(e, f)
    sine = np.sin(near)  # of e, with all its digits
    turn = np.where(
        e < _SMALL, e**3 * (1.0 / 3.0 - e2 / 30.0 + e2**2 / 840.0), sine - e * np.cos(e)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        found = 4.0 * (turn / sine**3 * P + e / sine**2 * slope)
    at_end = 4.0 * (P / 3.0 + 2.0 * linear + square * 20.0 * r2)  # as e goes to 0
    return np.asarray(np.where(e == 0.0, at_end, found))


def _geometric_curvatures(x: Doubles, z: Doubles, ratio: float) -> Doubles:
    """Differentiate the sum of ratio^(n - 1) phi_n(x) phi_n(z) twice.

    It is S / D with D = near far of `_geometric_slopes`, and both are quadratic in x.
    """
    a, c = 0.5 * np.arccos(x), 0.5 * np.arccos(z)
    across, along = np.sin(a) * np.cos(c), np.cos(a) * np.sin(c)
    near, far = (
        (1.0 - ratio) ** 2 + 4.0 * ratio * half**2 for half in (across - along, across + along)
    )
    both = near * far
    value = 2.0 * x * z * (1.0 + 3.0 * ratio**2)
    value -= 4.0 * ratio * (x * x + z * z - 1.0) + 2.0 * ratio * (1.0 + ratio**2)
    value /= both
    falling = 8.0 * ratio**2 * x - 4.0 * ratio * (1.0 + ratio**2) * z
    slope = _geometric_slopes(x, z, ratio)
    return np.asarray((-8.0 * ratio - 2.0 * slope * falling - 8.0 * ratio**2 * value) / both)
