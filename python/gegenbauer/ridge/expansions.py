"""Fitted functions as values: sums of finitely many terms, and sums of kernels at centres."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer._messages import Ways
from gegenbauer._validation import CLIP, as_matrix, check_out, check_threads, require_finite
from gegenbauer.basis.averages import averaged_terms
from gegenbauer.basis.derivatives import derivative_coefficients
from gegenbauer.basis.kernel_derivatives import kernel_gradient, kernel_hessian
from gegenbauer.basis.kernels import SpectrumKernel, TotalDegreeKernel
from gegenbauer.basis.levels import as_samples
from gegenbauer.basis.spectrum import Spectrum
from gegenbauer.basis.tensor_basis import TensorBasis, check_basis
from gegenbauer.ridge.kernel_ridge import predict_kernel
from gegenbauer.ridge.landmarks import Landmarks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling

    Kernel = SpectrumKernel | TotalDegreeKernel

_Posterior = TypeVar("_Posterior")

# Coefficients of derivatives, or values of terms, that are held at once
_MOST_COEFFICIENTS = 2**23

# Numbers of a block of samples: their features or kernels, or eight times their inputs
_BLOCK_SIZE = 2**22

_REMEDY = Ways("", CLIP, "weights are too large", last="; or ")

__all__ = [
    "Expansion",
    "KernelExpansion",
    "KernelPosterior",
    "LandmarkPosterior",
    "LinearExpansion",
    "TermExpansion",
    "TermPosterior",
    "predict",
    "require_array",
]


def _blocks_of(n: int, width: int) -> Iterator[slice]:
    """Cut n samples into blocks of so many numbers a sample."""
    step = max(1, _BLOCK_SIZE // max(1, width))
    for first in range(0, n, step):
        yield slice(first, first + step)


def predict(
    basis: TensorBasis,
    X: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    scaling: InputScaling | None = None,
    out: npt.NDArray[np.float64] | None = None,
    n_threads: int | None = None,
) -> npt.NDArray[np.float64]:
    """Evaluate Psi = G W without storing G (eq.output_of_SOGNN, eq.output_of_GOGNN).

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    X : array_like, shape (n_samples, n_features)
        float64 or float32 in any layout is read in place.
    weights : array_like, shape (n_terms,) or (n_terms, n_outputs)
        W.
    scaling : InputScaling, optional
        Maps X to the domain of the polynomials.
    out : ndarray of float64, shape (n_samples, n_outputs), optional
        Array to write into, any layout.
    n_threads : int, optional
        By default `gegenbauer.default_threads()`. The result does not depend on it.

    Returns
    -------
    ndarray of float64, shape (n_samples, n_outputs)

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.

    See Also
    --------
    TermExpansion : A finite sum of terms.
    solve_ridge : The fit itself, for one penalty.

    Examples
    --------
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.ridge import predict
    >>> predict(TensorBasis(1, degree=1, lam=0.5), [[2.0], [3.0]], [1.0, 10.0])
    array([[21.],
           [31.]])
    """
    basis = check_basis(basis)
    data = as_samples(X, "X", basis)
    coefficients = as_matrix(
        weights, "weights", n_rows=basis.n_terms, keep_float32=False, one_dimensional=True
    )
    box = basis._box(scaling)
    threads = check_threads(n_threads)
    shape = (data.shape[0], coefficients.shape[1])
    if out is None:
        require_memory(8.0 * shape[0] * shape[1], "the result", "predict fewer samples at once")
        out = np.empty(shape)
    else:
        out = check_out(out, shape, ("float64",))
        if np.may_share_memory(out, data) or np.may_share_memory(out, coefficients):
            raise ValueError("out must not share memory with X or weights")
    core.predict(basis._plan, data, box, coefficients, out, threads)
    require_finite(out, "some predictions are", _REMEDY)
    return out


class TermPosterior(NamedTuple):
    """What the variance of a sum of terms is made of, in units of the noise.

    Attributes
    ----------
    root : ndarray, shape (n_penalised_terms, n_directions)
        ``root @ root.T`` is the covariance of the penalised coefficients.
    mean_features : ndarray, shape (n_penalised_terms,)
        Means of these terms in the samples of the fit, where the constant is not penalised.
    free_leverage : float
        Variance of the constant, where it is not penalised.
    free_constant : bool
        Whether it is not.
    """

    root: Doubles
    mean_features: Doubles
    free_leverage: float
    free_constant: bool


class KernelPosterior(NamedTuple):
    """What the variance of a kernel expansion is made of, in units of the noise.

    Attributes
    ----------
    alpha : float
        The penalty.
    weight : ndarray, shape (n_centres,), or None
        Weights of the centres, the samples of the fit.
    free_constant : bool
        Whether the constant is not penalised.
    """

    alpha: float
    weight: Doubles | None
    free_constant: bool


class LandmarkPosterior(NamedTuple):
    """What the variance of a kernel expansion over few centres is made of, in units of the noise.

    With the features phi(x) of `Landmarks`, in whose span the samples are known, the variance at x
    is that of the prior beyond the span and that of the coefficients within:
    ``(k(x, x) - |phi|^2) / alpha + |root' phi|^2``, or, of the features behind a constant that is
    not penalised, ``|root' (phi - mean_features)|^2 + free_leverage`` in the place of the latter.

    Attributes
    ----------
    alpha : float
        The penalty.
    factor : ndarray, shape (n_centres, n_centres)
        L of the features, lower triangular.
    root : ndarray, shape (n_penalised_features, n_directions)
        ``root @ root.T`` is the covariance of their coefficients.
    mean_features : ndarray, shape (n_centres,) or (0,)
        Their means in the samples of the fit, where the constant is not penalised.
    free_leverage : float
        Variance of the constant, where it is not penalised.
    free_constant : bool
        Whether it is not.
    """

    alpha: float
    factor: Doubles
    root: Doubles
    mean_features: Doubles
    free_leverage: float
    free_constant: bool


class Expansion(ABC):
    """A fitted function of unscaled inputs, which nothing changes."""

    scaling: InputScaling

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Number of outputs."""

    @abstractmethod
    def with_scaling(self, scaling: InputScaling) -> Self:
        """Return the same function of inputs that are scaled in another way."""

    @abstractmethod
    def with_units(self, unit: Doubles, center: Doubles) -> Self:
        """Return ``center + unit`` times this function, for each output."""

    def with_missing(self) -> Self:
        """Return the same function, which takes NaN as the mean over that input if it can."""
        return self

    @abstractmethod
    def evaluate(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the values at X, (n_samples,) if ``coef`` has one dimension, or with n_outputs."""

    @abstractmethod
    def gradient(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the derivatives of the values at X by the inputs, as they are unscaled.

        (n_samples, n_features) if ``coef`` has one dimension, or with n_outputs as the last. Where
        the scaling clips an input, or ignores it, nothing depends on it, and its derivative is 0.

        Raises
        ------
        BeyondRangeError
            Derivatives are beyond the range of float64.
        """

    @abstractmethod
    def hessian(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the second derivatives of the values at X, likewise.

        (n_samples, n_features, n_features), or with n_outputs as the last.
        """

    @abstractmethod
    def variance(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the variances of the values at X in units of the noise, (n_samples,).

        They are the leverages that samples of weight one would have before they are fitted. The
        prior is that of the penalty.

        Raises
        ------
        ValueError
            The expansion has no ``posterior``.
        """

    @abstractmethod
    def prior_spread(
        self, X: npt.ArrayLike, share: Doubles, *, n_threads: int | None = None
    ) -> float:
        """Return the variance over samples, of given shares, that the prior expects."""

    @abstractmethod
    def prior_increments(self, Z: Doubles) -> Doubles:
        """Return the prior variances of f(z) - f(z_0) for scaled inputs Z, (n_samples,)."""

    @abstractmethod
    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of the arrays of the expansion, by name.

        `from_arrays` makes the function again. Of the posterior there are the arrays alone: give it
        to `from_arrays` as a whole.
        """


class LinearExpansion(Expansion):
    """A fitted function that is linear in its coefficients."""

    coef: Doubles
    intercept: Doubles | None

    def __post_init__(self) -> None:
        """Let coefficients lie in memory as those of files do: products round by their order."""
        object.__setattr__(self, "coef", np.ascontiguousarray(self.coef))

    @property
    def coef_2d(self) -> Doubles:
        """Coefficients with a column for each output."""
        return self.coef.reshape(len(self.coef), -1)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return int(self.coef_2d.shape[1])

    def with_scaling(self, scaling: InputScaling) -> Self:
        """Return the same function of inputs that are scaled in another way."""
        return self if scaling is self.scaling else replace(self, scaling=scaling)  # type: ignore[type-var]

    def with_units(self, unit: Doubles, center: Doubles) -> Self:
        """Return ``center + unit`` times this function, for each output."""
        intercept = (0.0 if self.intercept is None else self.intercept) * unit + center
        return replace(  # type: ignore[type-var]
            self, coef=self.coef * unit, intercept=intercept
        )

    def _by_inputs(self, found: Doubles, X: npt.NDArray[Any]) -> Doubles:
        """Turn derivatives by scaled inputs, (n_samples, n_features, n_outputs), into others."""
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in _blocks_of(len(X), 8 * X.shape[1]):
                found[rows] *= self.scaling.slopes(X[rows])[:, :, np.newaxis]
        require_finite(found, "some derivatives are", _REMEDY)
        return found[:, :, 0] if self.coef.ndim == 1 else found

    def _by_pairs_of_inputs(self, found: Doubles, X: npt.NDArray[Any]) -> Doubles:
        """Turn second derivatives by scaled inputs, (n, m, m, n_outputs), into others."""
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in _blocks_of(len(X), 8 * X.shape[1]):
                slopes = self.scaling.slopes(X[rows])
                found[rows] *= slopes[:, :, np.newaxis, np.newaxis]
                found[rows] *= slopes[:, np.newaxis, :, np.newaxis]
        require_finite(found, "some second derivatives are", _REMEDY)
        return found[..., 0] if self.coef.ndim == 1 else found

    @staticmethod
    def _require(posterior: _Posterior | None) -> _Posterior:
        if posterior is None:
            raise ValueError("this expansion has no posterior, of which variances are made")
        return posterior


def require_array(arrays: Mapping[str, npt.ArrayLike], name: str) -> None:
    """Refuse arrays without one of that name."""
    if name not in arrays:
        raise ValueError(f"arrays must hold {name!r}, got {sorted(arrays)}")


def _checked(arrays: Mapping[str, npt.ArrayLike], name: str, n_rows: int) -> Doubles:
    """Return coefficients as float64, a copy of as many dimensions as they came with."""
    require_array(arrays, name)
    given = arrays[name]
    found = as_matrix(given, name, n_rows=n_rows, keep_float32=False, one_dimensional=True)
    return np.array(found[:, 0] if np.ndim(given) == 1 else found)


def _checked_intercept(arrays: Mapping[str, npt.ArrayLike], coef: Doubles) -> Doubles | None:
    if "intercept" not in arrays:
        return None
    n_outputs = 1 if coef.ndim == 1 else coef.shape[1]
    found = as_matrix(
        arrays["intercept"], "intercept", n_rows=n_outputs, n_columns=1,
        keep_float32=False, one_dimensional=True,
    )  # fmt: skip
    return np.array(found[:, 0])


@dataclass(frozen=True, eq=False)
class TermExpansion(LinearExpansion):
    """A sum of finitely many terms.

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    coef : ndarray, shape (n_terms,) or (n_terms, n_outputs)
        Their coefficients. One dimension makes the values have one, too.
    scaling : InputScaling
        Maps inputs to the domain of the polynomials.
    intercept : ndarray, shape (n_outputs,), optional
        What is added.
    posterior : TermPosterior, optional
        What variances are made of.

    See Also
    --------
    KernelExpansion : A sum of kernels at the samples.
    MeanExpansion : The mean of several functions.
    predict : Evaluate a sum of terms.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import InputScaling, TensorBasis
    >>> from gegenbauer.ridge import TermExpansion
    >>> basis = TensorBasis(1, degree=1, lam=0.5)
    >>> f = TermExpansion(basis, np.array([1.0, 10.0]), InputScaling([0.0], [4.0]))
    >>> f.evaluate([[2.0], [3.0]])
    array([6. , 8.5])
    """

    basis: TensorBasis
    coef: Doubles
    scaling: InputScaling
    intercept: Doubles | None = None
    posterior: TermPosterior | None = None

    def evaluate(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the values at X, (n_samples,) or (n_samples, n_outputs)."""
        values = predict(self.basis, X, self.coef_2d, scaling=self.scaling, n_threads=n_threads)
        if self.intercept is not None:
            values = values + self.intercept
        return values[:, 0] if self.coef.ndim == 1 else values

    def gradient(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the derivatives at X by the inputs, (n_samples, n_features[, n_outputs])."""
        data = as_samples(X, "X", self.basis)
        box, threads = self.basis._box(self.scaling), check_threads(n_threads)
        (n, m), K = data.shape, self.n_outputs
        require_memory(8.0 * n * m * K, "the result", "differentiate at fewer samples at once")
        found = np.empty((n, m * K))
        coefficients = derivative_coefficients(self.basis, self.coef_2d)
        step = max(1, _MOST_COEFFICIENTS // self.coef.size)
        for first in range(0, m, step):
            columns = slice(first * K, min(first + step, m) * K)
            block = np.hstack([*itertools.islice(coefficients, step)])
            core.predict(self.basis._plan, data, box, block, found[:, columns], threads)
        found = found.reshape(n, m, K)
        if self.basis.spectrum.levels is not None:
            found[np.isnan(data)] = 0.0
        return self._by_inputs(found, data)

    def hessian(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the second derivatives, (n_samples, n_features, n_features[, n_outputs])."""
        data = as_samples(X, "X", self.basis)
        box, threads = self.basis._box(self.scaling), check_threads(n_threads)
        (n, m), K = data.shape, self.n_outputs
        require_memory(8.0 * n * m**2 * K, "the result", "differentiate at fewer samples at once")
        found = np.empty((n, m, m, K))
        for t, once in enumerate(derivative_coefficients(self.basis, self.coef_2d)):
            twice = [*derivative_coefficients(self.basis, once)][t:]
            block = np.empty((n, len(twice) * K))
            core.predict(self.basis._plan, data, box, np.hstack(twice), block, threads)
            found[:, t, t:] = block.reshape(n, -1, K)
            found[:, t:, t] = found[:, t, t:]
        if self.basis.spectrum.levels is not None:
            missing = np.isnan(data)
            found[missing] = 0.0
            found.swapaxes(1, 2)[missing] = 0.0
        return self._by_pairs_of_inputs(found, data)

    def variance(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the variances of the values at X in units of the noise, (n_samples,)."""
        posterior, data = self._require(self.posterior), as_samples(X, "X", self.basis)
        found = np.zeros(len(data))
        if posterior.free_constant:
            found += posterior.free_leverage
        for rows in _blocks_of(len(data), self.basis.n_terms):
            G = self.basis.evaluate(data[rows], scaling=self.scaling, n_threads=n_threads)
            if posterior.free_constant:
                G = G[:, 1:] - posterior.mean_features
            found[rows] += ((G @ posterior.root) ** 2).sum(axis=1)
        return found

    def prior_spread(
        self, X: npt.ArrayLike, share: Doubles, *, n_threads: int | None = None
    ) -> float:
        """Return the variance over samples, of given shares, that the prior expects."""
        G = self.basis.evaluate(X, scaling=self.scaling, n_threads=n_threads)
        return float((share @ (G - share @ G) ** 2).sum())

    def averaged(self, inputs: Iterable[int]) -> Self:
        """Return the mean of the function over some inputs, uniform over their box.

        Parameters
        ----------
        inputs : iterable of int
            Inputs without levels.

        Returns
        -------
        TermExpansion
            Of all inputs; nothing depends on those any more. Without a posterior.
        """
        places, factors = averaged_terms(self.basis, self.scaling, inputs)
        coef = np.zeros_like(self.coef)
        np.add.at(coef, places, (factors * self.coef.T).T)
        return replace(self, coef=coef, posterior=None)

    def with_missing(self) -> Self:
        """Return the same function, which takes NaN as the mean over that input."""
        spectrum = self.basis.spectrum
        if spectrum.levels is not None or spectrum == Spectrum.paper(self.basis.lam):
            return self
        # no sample of the fit lacks a value: their polynomials are 0
        given = self.basis._parameters()
        given["spectrum"] = Spectrum(spectrum, [None] * self.basis.n_features)
        return replace(self, basis=TensorBasis(**given))

    def prior_increments(self, Z: Doubles) -> Doubles:
        """Return the prior variances of f(z) - f(z_0) for scaled inputs Z, (n_samples,)."""
        G = self.basis.evaluate(Z)
        return np.asarray(((G - G[0]) ** 2).sum(axis=1))

    def expected_increments(self, Z: Doubles, noise_variance: Doubles) -> Doubles:
        """Return the mean squares of f(y) - f(z) between scaled inputs Z that the data suggest.

        Parameters
        ----------
        Z : ndarray, shape (n, n_features)
            Scaled inputs.
        noise_variance : ndarray, shape (n_outputs,)
            That of the targets.

        Returns
        -------
        ndarray, shape (n, n, n_outputs)
            The squared increments of the fitted function, plus their variance.

        Raises
        ------
        ValueError
            The expansion has no ``posterior``.
        """
        posterior = self._require(self.posterior)
        G = self.basis.evaluate(Z)
        values = G @ self.coef_2d
        H = G[:, 1:] if posterior.free_constant else G
        H = H @ posterior.root
        size = (H**2).sum(axis=1)
        between = (size[:, np.newaxis] + size - 2.0 * H @ H.T).clip(min=0.0)
        np.fill_diagonal(between, 0.0)
        variance = np.zeros((len(Z), len(Z), values.shape[1]))
        np.multiply.outer(between, noise_variance, out=variance, where=between[..., np.newaxis] > 0)
        return np.asarray((values[:, np.newaxis] - values) ** 2 + variance)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of the arrays of the expansion, by name."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "indices": np.array(self.basis.indices, dtype=np.int32),
            "coef": np.array(self.coef),
        }
        if self.intercept is not None:
            arrays["intercept"] = self.intercept.copy()
        if self.posterior is not None:
            arrays["posterior"] = self.posterior.root.copy()
            arrays["mean_features"] = self.posterior.mean_features.copy()
        return arrays

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, npt.ArrayLike],
        basis: TensorBasis,
        scaling: InputScaling,
        posterior: TermPosterior | None = None,
    ) -> Self:
        """Return the expansion of the arrays of `to_arrays`.

        Raises
        ------
        ValueError, TypeError
            An array is missing, or is of wrong shape, type or content.
        """
        coef = _checked(arrays, "coef", basis.n_terms)
        return cls(basis, coef, scaling, _checked_intercept(arrays, coef), posterior)


@dataclass(frozen=True, eq=False)
class KernelExpansion(LinearExpansion):
    """A sum of kernels at centres, as it were of infinitely many terms.

    Parameters
    ----------
    kernel : SpectrumKernel or TotalDegreeKernel
        The kernel.
    centres : ndarray, shape (n_centres, n_features)
        Samples of the fit, unscaled.
    coef : ndarray, shape (n_centres,) or (n_centres, n_outputs)
        Dual coefficients. One dimension makes the values have one, too.
    scaling : InputScaling
        Maps inputs to the domain of the polynomials.
    intercept : ndarray, shape (n_outputs,), optional
        What is added.
    posterior : KernelPosterior or LandmarkPosterior, optional
        What variances are made of. Of the former, each call factorises the kernel matrix.

    See Also
    --------
    TermExpansion : A finite sum of terms.
    MeanExpansion : The mean of several functions.
    predict_kernel : Evaluate a sum of kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import InputScaling
    >>> from gegenbauer.basis import TotalDegreeKernel
    >>> from gegenbauer.ridge import KernelExpansion
    >>> kernel = TotalDegreeKernel(1, 1, lam=0.5)  # 1 + x z
    >>> box = InputScaling([0.0], [1.0])
    >>> KernelExpansion(kernel, np.array([[1.0]]), np.array([2.0]), box).evaluate([[0.5]])
    array([3.])
    """

    kernel: Kernel
    centres: npt.NDArray[Any]
    coef: Doubles
    scaling: InputScaling
    intercept: Doubles | None = None
    posterior: KernelPosterior | LandmarkPosterior | None = None

    def evaluate(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the values at X, (n_samples,) or (n_samples, n_outputs)."""
        values = predict_kernel(
            self.kernel, X, self.centres, self.coef_2d, intercept=self.intercept,
            scaling=self.scaling, n_threads=n_threads,
        )  # fmt: skip
        return values[:, 0] if self.coef.ndim == 1 else values

    def gradient(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the derivatives at X by the inputs, (n_samples, n_features[, n_outputs]).

        The time is about that of ``5 n_features`` evaluations. A `TotalDegreeKernel` is written as
        its terms, which must fit into memory.

        Raises
        ------
        ValueError
            The kernel has a kink where x and a centre have an input in common, as s = 1 has.
        """
        if isinstance(self.kernel, TotalDegreeKernel):
            return self._of_terms(self.kernel, n_threads).gradient(X, n_threads=n_threads)
        data = as_samples(X, "X", self.kernel)
        shape = (*data.shape, self.n_outputs)
        found = self._derived(kernel_gradient, self.kernel, data, shape, n_threads)
        return self._by_inputs(found, data)

    def hessian(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the second derivatives, (n_samples, n_features, n_features[, n_outputs]).

        Raises
        ------
        ValueError
            The kernel has a kink where x and a centre have an input in common, as s = 1 has.
        """
        if isinstance(self.kernel, TotalDegreeKernel):
            return self._of_terms(self.kernel, n_threads).hessian(X, n_threads=n_threads)
        data = as_samples(X, "X", self.kernel)
        shape = (*data.shape, data.shape[1], self.n_outputs)
        found = self._derived(kernel_hessian, self.kernel, data, shape, n_threads)
        return self._by_pairs_of_inputs(found, data)

    def _derived(
        self,
        differentiate: Callable[..., Doubles],
        kernel: SpectrumKernel,
        data: npt.NDArray[Any],
        shape: tuple[int, ...],
        n_threads: int | None,
    ) -> Doubles:
        """Return derivatives of that shape at samples by scaled inputs."""
        kernel.diagonal(data, scaling=self.scaling)  # refuses what is outside of the domain
        require_memory(8.0 * np.prod(shape), "the result", "differentiate at fewer samples at once")
        found = np.empty(shape)
        z = self.scaling.transform(self.centres).clip(-1.0, 1.0)
        for rows in _blocks_of(len(data), 8 * data.shape[1]):
            x = self.scaling.transform(data[rows]).clip(-1.0, 1.0)
            found[rows] = differentiate(kernel, x, z, self.coef_2d, n_threads=n_threads)
        return found

    def _of_terms(self, kernel: TotalDegreeKernel, n_threads: int | None) -> TermExpansion:
        """Return the same function as a sum of the finitely many terms of its kernel."""
        basis = TensorBasis(
            kernel.n_features, degree=kernel.degree, lam=kernel.lam, spectrum=kernel.spectrum,
            max_interaction=kernel.max_interaction,
        )  # fmt: skip
        coef = np.zeros((basis.n_terms, self.n_outputs))
        step = max(1, _MOST_COEFFICIENTS // basis.n_terms)
        for first in range(0, len(self.centres), step):
            block = slice(first, first + step)
            G = basis.evaluate(self.centres[block], scaling=self.scaling, n_threads=n_threads)
            coef += G.T @ self.coef_2d[block]
        return TermExpansion(basis, coef.reshape(len(coef), *self.coef.shape[1:]), self.scaling)

    def variance(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the variances of the values at X in units of the noise, (n_samples,)."""
        if isinstance(self.posterior, LandmarkPosterior):
            return self._variance_by_landmarks(X, self.posterior, n_threads)
        posterior, data = self.samples_posterior, as_samples(X, "X", self.kernel)
        h = self.kernel.diagonal(data, scaling=self.scaling)
        n_blocked = min(_BLOCK_SIZE, len(data) * len(self.centres))
        factor, root, side = self.system(n_threads=n_threads, n_beside=3 * n_blocked)
        for rows in _blocks_of(len(data), len(root)):
            k = self._cross(data[rows], root, n_threads)
            solved = k.copy(order="F")
            core.solve_factored(factor, solved, check_threads(n_threads))
            h[rows] -= np.einsum("ij,ij->j", k, solved)
            if posterior.free_constant:
                h[rows] += (1.0 - root @ solved) ** 2 / (root @ side) - 1.0
        return np.asarray((h / posterior.alpha).clip(min=0.0))

    def _variance_by_landmarks(
        self, X: npt.ArrayLike, posterior: LandmarkPosterior, n_threads: int | None
    ) -> Doubles:
        data, free = as_samples(X, "X", self.kernel), posterior.free_constant
        landmarks = Landmarks(self.kernel, self.scaling.transform(self.centres), posterior.factor)
        beyond = self.kernel.diagonal(data, scaling=self.scaling, n_threads=n_threads) - 1.0
        within = np.full(len(data), posterior.free_leverage)
        for rows in _blocks_of(len(data), landmarks.n_terms):
            phi = landmarks.evaluate(data[rows], scaling=self.scaling, n_threads=n_threads)
            beyond[rows] -= (phi[:, 1:] ** 2).sum(axis=1)
            if free:
                phi = phi[:, 1:] - posterior.mean_features
            within[rows] += ((phi @ posterior.root) ** 2).sum(axis=1)
        return np.asarray(beyond.clip(min=0.0) / posterior.alpha + within)

    def smoother(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return how much each value at X moves with each target of the fit, (n_centres, n)."""
        posterior = self.samples_posterior
        factor, root, side = self.system(n_threads=n_threads)
        right = self._cross(X, root, n_threads)
        core.solve_factored(factor, right, check_threads(n_threads))
        if posterior.free_constant:
            right += np.outer(side, (1.0 - root @ right) / (root @ side))
        return np.asarray(right * root[:, np.newaxis])

    def without_each(
        self,
        X: npt.ArrayLike,
        residuals: Doubles,
        *,
        share: Doubles | None = None,
        n_threads: int | None = None,
    ) -> Doubles:
        """Return the values at X of the fits without one sample each.

        Parameters
        ----------
        X : array_like, shape (n, n_features)
            Where.
        residuals : ndarray, shape (n_centres, n_outputs)
            Targets minus their leave-one-out predictions.
        share : ndarray, shape (n_centres,), optional
            Of the weight of each sample that is left out; None for all of it.

        Returns
        -------
        ndarray, shape (n_centres, n, n_outputs)
        """
        values = self.evaluate(X, n_threads=n_threads)
        moved = self.smoother(X, n_threads=n_threads)
        if share is not None:
            moved *= share[:, np.newaxis]
        left_out = residuals[:, np.newaxis] * moved[:, :, np.newaxis]
        return np.asarray(values.reshape(1, -1, self.n_outputs) - left_out)

    def freedom(self, *, n_threads: int | None = None) -> Doubles:
        """Return one minus the leverage of each sample of the fit, as weighted, (n_centres,)."""
        posterior = self.samples_posterior
        factor, root, side = self.system(n_threads=n_threads)
        left = core.inverse_diagonal(factor, check_threads(n_threads))
        if posterior.free_constant:
            left -= side**2 / float(root @ side)
        return np.asarray(posterior.alpha * left)

    @property
    def samples_posterior(self) -> KernelPosterior:
        """The posterior of an expansion whose centres are the samples of the fit."""
        found = self.posterior
        if isinstance(found, LandmarkPosterior):
            raise ValueError("the centres of this expansion are not all samples of its fit")
        return self._require(found)

    def system(
        self, *, n_threads: int | None = None, n_beside: int = 0
    ) -> tuple[Doubles, Doubles, Doubles]:
        """Return the factor of alpha I + D K D, D as a vector, and the solution for it.

        Refused where memory has no room for it and so many other numbers.
        """
        posterior = self.samples_posterior
        weight = posterior.weight
        root = np.ones(len(self.centres)) if weight is None else np.sqrt(weight)
        threads = check_threads(n_threads)
        require_memory(
            8.0 * (root.size**2 + n_beside),
            f"the kernel matrix of {root.size} samples behind standard deviations",
            "fit fewer samples",
        )
        factor = np.zeros((root.size, root.size), order="F")
        self.kernel._plan.accumulate(
            self.centres, self.scaling._map, root, not posterior.free_constant, factor, threads
        )
        factor[np.diag_indices(root.size)] += posterior.alpha
        core.cholesky_in_place(factor, threads)
        side = np.asfortranarray(root[:, np.newaxis].copy())
        core.solve_factored(factor, side, threads)
        return factor, root, side[:, 0]

    def _cross(self, X: npt.ArrayLike, root: Doubles, n_threads: int | None) -> Doubles:
        """Return D k for samples X, (n_centres, n_samples), of the penalised terms."""
        data = as_samples(X, "X", self.kernel)
        K = self.kernel(data, self.centres, scaling=self.scaling, n_threads=n_threads)
        if self.samples_posterior.free_constant:
            K -= 1.0
        K *= root
        return K.T  # in the order that solves take, without a copy

    def prior_spread(
        self, X: npt.ArrayLike, share: Doubles, *, n_threads: int | None = None
    ) -> float:
        """Return the variance over samples, of given shares, that the prior expects."""
        K = self.kernel(X, scaling=self.scaling, n_threads=n_threads)
        return float(share @ K.diagonal() - share @ K @ share)

    def with_missing(self) -> Self:
        """Return the same function, which takes NaN as the mean over that input."""
        kernel = self.kernel
        if not isinstance(kernel, SpectrumKernel) or kernel.spectrum.levels is not None:
            return self
        # no sample of the fit lacks a value: their factor is 1
        spectrum = Spectrum(kernel.spectrum, [None] * kernel.n_features)
        wider = SpectrumKernel(
            kernel.n_features, spectrum, lam=kernel.lam, max_degree=kernel.max_degree
        )
        return replace(self, kernel=wider)

    def prior_increments(self, Z: Doubles) -> Doubles:
        """Return the prior variances of f(z) - f(z_0) for scaled inputs Z, (n_samples,)."""
        own, with_first = self.kernel.diagonal(Z), self.kernel(Z, Z[:1])[:, 0]
        return np.asarray(own + own[0] - 2.0 * with_first)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of the arrays of the expansion, by name."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "X_fit": self.centres.copy(),
            "dual_coef": self.coef.copy(),
        }
        if self.intercept is not None:
            arrays["intercept"] = self.intercept.copy()
        posterior = self.posterior
        if isinstance(posterior, LandmarkPosterior):
            arrays["landmark_factor"] = posterior.factor.copy()
            arrays["posterior"] = posterior.root.copy()
            arrays["mean_features"] = posterior.mean_features.copy()
        elif posterior is not None and posterior.weight is not None:
            arrays["row_weight"] = posterior.weight.copy()
        return arrays

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, npt.ArrayLike],
        kernel: Kernel,
        scaling: InputScaling,
        posterior: KernelPosterior | LandmarkPosterior | None = None,
    ) -> Self:
        """Return the expansion of the arrays of `to_arrays`.

        Raises
        ------
        ValueError, TypeError
            An array is missing, or is of wrong shape, type or content.
        """
        require_array(arrays, "X_fit")
        centres = as_samples(arrays["X_fit"], "X_fit", kernel)
        coef = _checked(arrays, "dual_coef", len(centres))
        return cls(kernel, centres, coef, scaling, _checked_intercept(arrays, coef), posterior)
