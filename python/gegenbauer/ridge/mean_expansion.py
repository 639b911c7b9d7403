"""The mean of kernel expansions at the same samples, whose kernels were learned without a part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gegenbauer.ridge.expansions import (
    Expansion,
    KernelExpansion,
    KernelPosterior,
    require_array,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.ridge.expansions import Kernel

__all__ = ["MeanExpansion"]


def _mean(values: Sequence[Doubles]) -> Doubles:
    """Return the mean over parts, finite where all values are."""
    return np.asarray((np.array(values) / len(values)).sum(axis=0))


@dataclass(frozen=True, eq=False)
class MeanExpansion(Expansion):
    """The mean of sums of kernels at all samples, each kernel learned without a part of these.

    What a sample is predicted by, when it is left out, is the sum whose kernel has not seen it.

    Parameters
    ----------
    parts : tuple of KernelExpansion
        At the same centres, the samples of the fit, with their posteriors.
    left_out_by : ndarray of int, shape (n_centres,)
        Which of the parts each sample is left out of.
    noise : ndarray, shape (n_parts,)
        How large the noise is by each part, divided by its mean over the parts.

    See Also
    --------
    TermExpansion : A finite sum of terms.
    KernelExpansion : A sum of kernels at the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import InputScaling
    >>> from gegenbauer.basis import TotalDegreeKernel
    >>> from gegenbauer.ridge import KernelExpansion, MeanExpansion
    >>> kernel, box = TotalDegreeKernel(1, 1, lam=0.5), InputScaling([0.0], [1.0])
    >>> parts = [KernelExpansion(kernel, np.array([[1.0]]), np.array([c]), box) for c in (2.0, 4.0)]
    >>> MeanExpansion(tuple(parts), np.array([0]), np.ones(2)).evaluate([[0.5]])
    array([4.5])
    """

    parts: tuple[KernelExpansion, ...]
    left_out_by: Places
    noise: Doubles

    @property
    def scaling(self) -> InputScaling:  # type: ignore[override]
        """Maps inputs to the domain of the polynomials."""
        return self.parts[0].scaling

    @property
    def centres(self) -> npt.NDArray[Any]:
        """The samples of the fit, unscaled."""
        return self.parts[0].centres

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.parts[0].n_outputs

    @property
    def alphas(self) -> Doubles:
        """The penalty of each part."""
        return np.array([part.samples_posterior.alpha for part in self.parts])

    @property
    def alpha(self) -> float:
        """The middle one of the penalties."""
        return self.middle.samples_posterior.alpha

    @property
    def middle(self) -> KernelExpansion:
        """The part with the middle one of the penalties."""
        order = np.argsort(self.alphas, kind="stable")
        return self.parts[int(order[len(order) // 2])]

    def with_scaling(self, scaling: InputScaling) -> Self:
        """Return the same function of inputs that are scaled in another way."""
        return replace(self, parts=tuple(part.with_scaling(scaling) for part in self.parts))

    def with_units(self, unit: Doubles, center: Doubles) -> Self:
        """Return ``center + unit`` times this function, for each output."""
        return replace(self, parts=tuple(part.with_units(unit, center) for part in self.parts))

    def with_missing(self) -> Self:
        """Return the same function, which takes NaN as the mean over that input."""
        return replace(self, parts=tuple(part.with_missing() for part in self.parts))

    def evaluate(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the values at X, (n_samples,) or (n_samples, n_outputs)."""
        return _mean([part.evaluate(X, n_threads=n_threads) for part in self.parts])

    def gradient(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the derivatives at X by the inputs, (n_samples, n_features[, n_outputs])."""
        return _mean([part.gradient(X, n_threads=n_threads) for part in self.parts])

    def hessian(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the second derivatives, (n_samples, n_features, n_features[, n_outputs])."""
        return _mean([part.hessian(X, n_threads=n_threads) for part in self.parts])

    def variance(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the mean variance of the parts at X in units of the noise, (n_samples,).

        Their disagreement comes on top of it, see `disagreement`.
        """
        return self._weighted([part.variance(X, n_threads=n_threads) for part in self.parts])

    def disagreement(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the standard deviations of the values at X over the parts, of that shape."""
        values = np.array([part.evaluate(X, n_threads=n_threads) for part in self.parts])
        size = float(np.abs(values).max(initial=0.0)) or 1.0  # whose square may leave float64
        return np.asarray(size * np.std(values / size, axis=0))

    def without_each(
        self,
        X: npt.ArrayLike,
        residuals: Doubles,
        *,
        share: Doubles | None = None,
        n_threads: int | None = None,
    ) -> Doubles:
        """Return the values at X without each sample, by the part whose kernel has not seen it.

        See `KernelExpansion.without_each`; the result is (n_centres, n_samples, n_outputs).
        """
        found = np.empty((len(residuals), len(X), self.n_outputs))  # type: ignore[arg-type]
        for k, part in enumerate(self.parts):
            own = self.left_out_by == k
            found[own] = part.without_each(X, residuals, share=share, n_threads=n_threads)[own]
        return found

    def prior_spread(
        self, X: npt.ArrayLike, share: Doubles, *, n_threads: int | None = None
    ) -> float:
        """Return the variance over samples, of given shares, that the prior expects."""
        found = [part.prior_spread(X, share, n_threads=n_threads) for part in self.parts]
        return float(self._in_units_of_middle(found))

    def prior_increments(self, Z: Doubles) -> Doubles:
        """Return the prior variances of f(z) - f(z_0) for scaled inputs Z, (n_samples,)."""
        return self._in_units_of_middle([part.prior_increments(Z) for part in self.parts])

    def _weighted(self, values: Sequence[Doubles | float]) -> Doubles:
        """Return the mean over the parts of values in units of the noise of each."""
        return np.asarray(np.tensordot(self.noise, np.array(values), axes=1) / len(self.parts))

    def _in_units_of_middle(self, values: Sequence[Doubles | float]) -> Doubles:
        """Return the mean of variances by the kernels, each of which counts noise by alpha."""
        ratios = self.alpha / self.alphas
        return self._weighted([ratio * each for ratio, each in zip(ratios, values, strict=True)])

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of the arrays of the expansion, by name."""
        arrays: dict[str, npt.NDArray[Any]] = {
            **self.parts[0].to_arrays(),
            "dual_coef": np.array([part.coef for part in self.parts]),
            "part_alphas": self.alphas,
            "part_noise": self.noise.copy(),
            "left_out_by": np.array(self.left_out_by, dtype=np.int64),
        }
        if self.parts[0].intercept is not None:
            arrays["intercept"] = np.array([part.intercept for part in self.parts])
        return arrays

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, npt.ArrayLike],
        kernels: Sequence[Kernel],
        scaling: InputScaling,
        *,
        free_constant: bool,
    ) -> Self:
        """Return the expansion of the arrays of `to_arrays`.

        Raises
        ------
        ValueError, TypeError
            An array is missing, or is of wrong shape, type or content.
        """
        for name in ("X_fit", "dual_coef", "part_alphas", "part_noise", "left_out_by"):
            require_array(arrays, name)
        weight = arrays.get("row_weight")
        parts = []
        for k, (kernel, alpha) in enumerate(
            zip(kernels, np.asarray(arrays["part_alphas"]).tolist(), strict=True)
        ):
            own = {
                name: np.asarray(arrays[name])[k]
                for name in ("dual_coef", "intercept") if name in arrays
            }  # fmt: skip
            posterior = KernelPosterior(
                alpha, None if weight is None else np.asarray(weight), free_constant
            )
            parts.append(
                KernelExpansion.from_arrays(
                    {"X_fit": arrays["X_fit"], **own}, kernel, scaling, posterior
                )
            )
        left_out_by = np.asarray(arrays["left_out_by"], dtype=np.intp)
        noise = np.asarray(arrays["part_noise"], dtype=np.float64)
        return cls(tuple(parts), left_out_by, noise)
