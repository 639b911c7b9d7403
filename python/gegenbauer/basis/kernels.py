"""Kernels that sum over all terms without enumerating them.

``K(x, z) = sum of w_k^2 phi_k(x) phi_k(z)`` over all terms of a total degree, or over all terms
of a spectrum; the algorithms are described in
``cpp/include/gegenbauer/{kernel,total_degree_kernel,spectrum_kernel}.hpp``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer._messages import Message, Ways
from gegenbauer._validation import (
    CLIP,
    as_matrix,
    check_integer,
    check_number,
    check_out,
    check_threads,
    require_finite,
)
from gegenbauer.basis.levels import as_samples, core_levels
from gegenbauer.basis.scaling import check_scaling
from gegenbauer.basis.spectrum import Spectrum, as_spectrum, core_spectrum

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.basis.spectrum import ComponentsLike, SpectrumLike

__all__ = ["SpectrumKernel", "TotalDegreeKernel", "check_kernel", "input_kernel"]


class _Kernel(ABC):
    """What the kernels share. They do not change."""

    n_features: int
    spectrum: Spectrum
    _plan: Any
    _complete = False
    _remedy: ClassVar[Ways]  # of values beyond float64

    def __setattr__(self, name: str, value: object) -> None:
        if self._complete:
            raise AttributeError(
                f"a {type(self).__name__} does not change: make another one to set {name}"
            )
        super().__setattr__(name, value)

    @abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """Return the arguments that make this kernel again."""

    def _samples(self, X: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
        """Return samples of this kernel, in which numbers may be missing if it has levels."""
        return as_samples(X, name, self)

    def __call__(
        self,
        X: npt.ArrayLike,
        Z: npt.ArrayLike | None = None,
        *,
        scaling: InputScaling | None = None,
        out: Doubles | None = None,
        n_threads: int | None = None,
    ) -> Doubles:
        """Evaluate the kernel between the rows of X and those of Z.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            float64 or float32 in any layout is read in place.
        Z : array_like, shape (n_others, n_features), optional
            By default X itself, at half of the cost; the result is then exactly symmetric.
        scaling : InputScaling, optional
            Maps X and Z to the domain of the polynomials.
        out : ndarray of float64, shape (n_samples, n_others), optional
            Array to write into, any layout.
        n_threads : int, optional
            By default `gegenbauer.default_threads()`. The result does not depend on it.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_others)

        Raises
        ------
        ValueError, TypeError
            For arguments of wrong shape, type or content.
        TooLargeError
            When the result cannot fit into memory.
        """
        data = self._samples(X, "X")
        others = data if Z is None else self._samples(Z, "Z")
        box = check_scaling(scaling, self.n_features, "kernel")
        threads = check_threads(n_threads)
        shape = (data.shape[0], others.shape[0])
        if out is None:
            require_memory(
                8.0 * shape[0] * shape[1] + self._plan.table_bytes(max(shape)),
                f"a kernel matrix of shape {shape}",
                "evaluate fewer samples at once, or use predict_kernel, which holds no such matrix",
            )
            out = np.empty(shape)
        else:
            out = check_out(out, shape, ("float64",))
            if np.may_share_memory(out, data) or np.may_share_memory(out, others):
                raise ValueError("out must not share memory with X or Z")
        if Z is None:
            self._plan.evaluate_symmetric(data, box, out, threads)
        else:
            self._plan.evaluate(data, others, box, out, threads)
        require_finite(out, "some values of the kernel are", self._remedy)
        return out

    def diagonal(
        self,
        X: npt.ArrayLike,
        *,
        scaling: InputScaling | None = None,
        n_threads: int | None = None,
    ) -> Doubles:
        """Evaluate the kernel of each sample with itself.

        Parameters
        ----------
        X, scaling, n_threads
            As for a call of the kernel.

        Returns
        -------
        ndarray of float64, shape (n_samples,)
        """
        data = self._samples(X, "X")
        box = check_scaling(scaling, self.n_features, "kernel")
        values: Doubles = self._plan.evaluate_diagonal(data, box, check_threads(n_threads))
        require_finite(values[:, np.newaxis], "some values of the kernel are", self._remedy)
        return values

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Kernel)
            and type(self) is type(other)
            and self._parameters() == other._parameters()
        )

    def __hash__(self) -> int:
        return hash((type(self), *self._parameters().items()))

    def __getstate__(self) -> dict[str, Any]:
        """Return the arguments that make this kernel again; the core's plan is not pickled."""
        return self._parameters()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        shown = {k: v for k, v in self._parameters().items() if v is not None}
        inner = ", ".join(f"{key}={value!r}" for key, value in shown.items())
        return f"{type(self).__name__}({inner})"


class TotalDegreeKernel(_Kernel):
    """The sum over all terms of total degree up to `degree`, by a truncated product.

    It equals ``G(X) @ G(Z).T`` with the features G of the `TensorBasis` of the same parameters, at
    a cost of about ``n_features * degree**2 / 2`` multiply-adds an entry, whatever the number of
    terms.

    Parameters
    ----------
    n_features : int
        Number of inputs m.
    degree : int
        Largest total degree, 0 to 1000.
    lam : float
        Gegenbauer parameter, > -1/2.
    spectrum : None, "orthonormal", (q, s), Spectrum or what one is made from
        Scale of the terms, as for `TensorBasis`.
    max_interaction : int, optional
        At most so many inputs occur together in a term; costs that many times as much.

    Raises
    ------
    ValueError, TypeError
        For parameters that describe no kernel, and values beyond the range of float64.

    See Also
    --------
    TensorBasis : A finite set of terms.
    SpectrumKernel : All terms there are.
    solve_kernel : A fit of all terms there are, by a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.basis import TotalDegreeKernel
    >>> X = np.array([[0.5, -0.25], [1.0, 0.0]])
    >>> G = TensorBasis(2, degree=3, lam=0.5).evaluate(X)
    >>> np.allclose(TotalDegreeKernel(2, 3, lam=0.5)(X), G @ G.T)
    True
    """

    _remedy = Ways.of([CLIP, Ways("lower", "`degree`", "`lam`", "the q of the `spectrum`")])

    def __init__(
        self,
        n_features: int,
        degree: int,
        *,
        lam: float = 0.05,
        spectrum: SpectrumLike = None,
        max_interaction: int | None = None,
    ) -> None:
        self.n_features: int = check_integer(n_features, "n_features", minimum=1)
        self.degree: int = check_integer(degree, "degree", minimum=0)
        if self.degree > 1000:
            raise ValueError(Message("`degree` must be at most 1000, got {}", self.degree))
        self.lam: float = check_number(lam, "lam", minimum=-0.5, open_below=True)
        self.spectrum = as_spectrum(spectrum, self.lam)
        self.max_interaction: int | None = (
            None
            if max_interaction is None
            else check_integer(max_interaction, "max_interaction", minimum=1)
        )
        if self.spectrum.levels is not None:
            raise ValueError(
                Message(
                    "a TotalDegreeKernel takes numbers alone, and none that are missing: the "
                    "`spectrum` must have no `levels`, which TensorBasis and SpectrumKernel take"
                )
            )
        self._plan = core.TotalDegreeKernel(
            self.n_features, self.degree, self.lam, max_inputs=self.max_interaction,
            **core_spectrum(self.spectrum, self.lam, self.n_features),
        )  # fmt: skip
        self._complete = True

    def _parameters(self) -> dict[str, Any]:
        return {
            "n_features": self.n_features,
            "degree": self.degree,
            "lam": self.lam,
            "spectrum": self.spectrum._shorthand(self.lam),
            "max_interaction": self.max_interaction,
        }


class SpectrumKernel(_Kernel):
    r"""The sum over all terms there are, each with its weight: a product over the inputs.

    .. math:: K(x, z) = \prod_t \Bigl(1 + \sum_{n \ge 1} v_t(n) \phi_n(x_t) \phi_n(z_t)\Bigr)

    with polynomials orthonormal on [-1, 1] and the squared weights v_t(n) of a `Spectrum`. It is
    the limit of the `TensorBasis` sets of largest weight when nothing is left out.

    Parameters
    ----------
    n_features : int
        Number of inputs m.
    spectrum : Spectrum, or what one is made from
        (q, s), PowerDecay, GeometricDecay, GegenbauerDecay or a sequence of these three.
    lam : float
        Gegenbauer parameter, > -1/2. For 0 (Chebyshev), components with s = 1, 2, 3, geometric
        ones and ``Spectrum.paper(0.0)`` have closed forms. Everything else is summed until the rest
        is below 1e-13 of the largest sum, at a cost of one multiply-add a degree, input and entry.
    max_degree : int, optional
        End the spectrum at this degree (of each input) instead; no closed form is used then.

    Raises
    ------
    ValueError, TypeError
        For parameters that describe no kernel: sums that diverge (s <= 1/2 + max(lam, 0)) or that
        need more than 1000 degrees, such as s = 1.5 for lam = 0, or the paper's spectrum. A
        smoother spectrum or `max_degree` helps.

    See Also
    --------
    TensorBasis : A finite set of terms.
    TotalDegreeKernel : All terms of a total degree.
    solve_kernel : A fit of all terms there are, by a kernel.

    Notes
    -----
    Inputs must lie in [-1, 1] (after the scaling, if there is one); what is at most 1e-6 outside
    counts as rounding and is moved to the edge. Where the spectrum has levels, NaN is a number that
    is missing, or a level that is not known; the levels of a category lie at equal distances from
    -1 to 1.

    Examples
    --------
    >>> from gegenbauer import GeometricDecay, PowerDecay
    >>> from gegenbauer.basis import SpectrumKernel
    >>> kernel = SpectrumKernel(2, (0.5, 1.0))
    >>> kernel([[0.0, 1.0]]).round(6)
    array([[3.73262]])
    >>> SpectrumKernel(2, [PowerDecay((0.5, 0.0), 2), GeometricDecay(0.1, 0.3)]).n_degrees
    0
    """

    # inputs in [-1, 1] are seen to by the core, so they are never the reason
    _remedy = Ways(
        "",
        "the `spectrum` is too large, lower the interaction (q) of its components, whose factors "
        "multiply over the inputs",
    )

    def __init__(
        self,
        n_features: int,
        spectrum: ComponentsLike,
        *,
        lam: float = 0.0,
        max_degree: int | None = None,
    ) -> None:
        self.n_features: int = check_integer(n_features, "n_features", minimum=1)
        self.spectrum = Spectrum(spectrum)
        self.lam: float = check_number(lam, "lam", minimum=-0.5, open_below=True)
        self.max_degree: int | None = (
            None if max_degree is None else check_integer(max_degree, "max_degree", minimum=1)
        )
        if self.max_degree is not None and self.max_degree > 10_000:
            raise ValueError(Message("`max_degree` must be at most 10000, got {}", self.max_degree))
        parts = self.spectrum._core(self.n_features)
        self._plan = core.SpectrumKernel(
            self.n_features, self.lam, parts, self.max_degree or 0,
            core_levels(self.spectrum.levels),
        )  # fmt: skip
        self._complete = True

    @property
    def n_degrees(self) -> int:
        """Degrees of each input that are summed one by one; 0 with closed forms alone."""
        return int(self._plan.n_degrees)

    def log_gradient(
        self,
        X: npt.ArrayLike,
        weights: npt.ArrayLike,
        *,
        scaling: InputScaling | None = None,
        n_threads: int | None = None,
    ) -> Doubles:
        r"""Differentiate :math:`\sum_{ab} M_{ab} K(x_a, x_b)` by the logarithms of the weights.

        For any scalar function of the kernel matrix whose derivative by the matrix is M.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            float64 or float32 in any layout is read in place.
        weights : array_like, shape (n_samples, n_samples)
            M, symmetric; its lower triangle is read.
        scaling : InputScaling, optional
            Maps X to the domain of the polynomials.
        n_threads : int, optional
            By default `gegenbauer.default_threads()`. The result does not depend on it.

        Returns
        -------
        ndarray of float64, shape (n_features, number of components)
            Entry ``[t, j]`` is the derivative by ``log q_tj``.

        Raises
        ------
        ValueError, TypeError
            For arguments of wrong shape, type or content.

        Examples
        --------
        >>> from gegenbauer.basis import SpectrumKernel
        >>> kernel = SpectrumKernel(1, (0.5, 1.0))  # 1 + q (...): linear in q
        >>> kernel.log_gradient([[0.3]], [[1.0]]).round(6), kernel([[0.3]]).round(6)
        (array([[0.457652]]), array([[1.457652]]))
        """
        data = self._samples(X, "X")
        n = data.shape[0]
        matrix = as_matrix(weights, "weights", n_rows=n, n_columns=n, keep_float32=False)
        box = check_scaling(scaling, self.n_features, "kernel")
        matrix = np.asfortranarray(matrix)
        gradient: Doubles = self._plan.log_gradient(data, box, matrix, check_threads(n_threads))
        require_finite(
            gradient, "the derivatives are", "weights or the spectrum are too large", name_row=False
        )
        return gradient

    def _parameters(self) -> dict[str, Any]:
        return {
            "n_features": self.n_features,
            "spectrum": self.spectrum,
            "lam": self.lam,
            "max_degree": self.max_degree,
        }


def input_kernel(kernel: SpectrumKernel, t: int) -> SpectrumKernel:
    """Return the kernel of one input, which is its factor in that of all."""
    return SpectrumKernel(
        1, kernel.spectrum._of_input(t), lam=kernel.lam, max_degree=kernel.max_degree
    )


def check_kernel(kernel: object) -> _Kernel:
    """Return the kernel, or refuse what is none."""
    if not isinstance(kernel, _Kernel):
        raise TypeError(
            Message(
                "`kernel` must be a TotalDegreeKernel or SpectrumKernel, got {}",
                type(kernel).__name__,
            )
        )
    return kernel
