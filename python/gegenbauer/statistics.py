"""Additive statistics of a data set: everything that a ridge solve needs to know of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._arrays import (
    as_matrix,
    as_weights,
    check_integer,
    check_number,
    check_threads,
    require_memory,
)
from gegenbauer._dispatch import core
from gegenbauer.basis import TensorBasis
from gegenbauer.ridge import RidgeSolution

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer.basis import InputScaling

__all__ = ["GramStatistics"]


class GramStatistics:
    """The sums G'DG, G'DY and Y'DY over samples, D the diagonal matrix of the sample weights.

    Statistics of the same basis and scaling add: those of a data set are the sum of those of its
    parts, in any order, and a part can be taken away again. Memory is (n_terms + n_outputs)^2
    numbers whatever the number of samples.

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    n_outputs : int
        Number of targets.
    scaling : InputScaling, optional
        Maps the inputs to the domain of the polynomials.

    Attributes
    ----------
    n_samples : int
        Rows seen.
    weight_sum : float
        Sum of their weights (their number without weights).

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GramStatistics, TensorBasis
    >>> X, y = np.linspace(0, 1, 20)[:, None], np.arange(20.0)
    >>> basis = TensorBasis(1, degree=3)
    >>> first = GramStatistics.from_data(basis, X[:5], y[:5])
    >>> rest = GramStatistics.from_data(basis, X[5:], y[5:])
    >>> both = GramStatistics.from_data(basis, X, y)
    >>> np.allclose((first + rest).gram, both.gram)
    True
    >>> both.solve(1e-3).weights.shape
    (4, 1)
    """

    def __init__(
        self, basis: TensorBasis, n_outputs: int = 1, *, scaling: InputScaling | None = None
    ) -> None:
        if not isinstance(basis, TensorBasis):
            raise TypeError(f"basis must be a TensorBasis, got {type(basis).__name__}")
        basis._box(scaling)
        self.basis = basis
        self.scaling = scaling
        self.n_outputs = check_integer(n_outputs, "n_outputs", minimum=1)
        size = basis.n_terms + self.n_outputs
        require_memory(
            16.0 * size * size, f"a statistic of {size} x {size} numbers", "lower n_terms or degree"
        )
        # [G, Y]'D[G, Y], lower triangle, column-major
        self._sums = np.zeros((size, size), order="F")
        self.n_samples = 0
        self.weight_sum = 0.0

    @classmethod
    def from_data(
        cls,
        basis: TensorBasis,
        X: npt.ArrayLike,
        Y: npt.ArrayLike,
        *,
        sample_weight: npt.ArrayLike | None = None,
        scaling: InputScaling | None = None,
        n_threads: int | None = None,
    ) -> GramStatistics:
        """Compute the statistics of a data set.

        Parameters
        ----------
        basis : TensorBasis
            The terms.
        X : array_like, shape (n_samples, n_features)
            Inputs.
        Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array_like, shape (n_samples,), optional
            Non-negative.
        scaling : InputScaling, optional
            Maps X to the domain of the polynomials.
        n_threads : int, optional
            By default what `gegenbauer.default_threads` says.

        Returns
        -------
        GramStatistics
        """
        targets = as_matrix(Y, "Y", keep_float32=False, one_dimensional=True)
        statistics = cls(basis, targets.shape[1], scaling=scaling)
        return statistics.update(X, targets, sample_weight=sample_weight, n_threads=n_threads)

    def update(
        self,
        X: npt.ArrayLike,
        Y: npt.ArrayLike,
        *,
        sample_weight: npt.ArrayLike | None = None,
        n_threads: int | None = None,
    ) -> GramStatistics:
        """Add samples; a failed or interrupted update leaves the statistics as they were.

        Parameters
        ----------
        X, Y, sample_weight, n_threads
            As for `from_data`.

        Returns
        -------
        GramStatistics
            This object.
        """
        data = as_matrix(X, "X", n_columns=self.basis.n_features)
        targets = as_matrix(
            Y, "Y", n_rows=data.shape[0], n_columns=self.n_outputs,
            keep_float32=False, one_dimensional=True,
        )  # fmt: skip
        weights = as_weights(sample_weight, data.shape[0])
        scale = None if weights is None else np.sqrt(weights)
        if scale is not None:
            targets = targets * scale[:, np.newaxis]
        part = np.zeros_like(self._sums)
        core.accumulate_gram(
            self.basis._plan, data, self.basis._box(self.scaling), targets, scale, part,
            check_threads(n_threads),
        )  # fmt: skip
        self._sums += part
        self.n_samples += data.shape[0]
        self.weight_sum += float(data.shape[0] if weights is None else weights.sum())
        return self

    def _combine(self, other: GramStatistics, sign: int) -> GramStatistics:
        same = (
            self.basis == other.basis
            and self.scaling == other.scaling
            and self.n_outputs == other.n_outputs
        )
        if not same:
            raise ValueError(
                "statistics can be combined only if basis, scaling and n_outputs are the same"
            )
        if sign < 0 and other.n_samples > self.n_samples:
            raise ValueError(
                f"cannot take {other.n_samples} samples away from {self.n_samples} samples"
            )
        result = GramStatistics(self.basis, self.n_outputs, scaling=self.scaling)
        result._sums = self._sums + sign * other._sums
        result.n_samples = self.n_samples + sign * other.n_samples
        result.weight_sum = self.weight_sum + sign * other.weight_sum
        return result

    def __add__(self, other: object) -> GramStatistics:
        return self._combine(other, 1) if isinstance(other, GramStatistics) else NotImplemented

    def __sub__(self, other: object) -> GramStatistics:
        return self._combine(other, -1) if isinstance(other, GramStatistics) else NotImplemented

    @property
    def gram(self) -> npt.NDArray[np.float64]:
        """G'DG, shape (n_terms, n_terms), a symmetric copy."""
        n = self.basis.n_terms
        lower = np.tril(self._sums[:n, :n])
        return lower + np.tril(lower, -1).T

    @property
    def cross(self) -> npt.NDArray[np.float64]:
        """G'DY, shape (n_terms, n_outputs), a copy."""
        n = self.basis.n_terms
        return np.ascontiguousarray(self._sums[n:, :n].T)

    @property
    def target_gram(self) -> npt.NDArray[np.float64]:
        """Y'DY, shape (n_outputs, n_outputs), a symmetric copy."""
        n = self.basis.n_terms
        lower = np.tril(self._sums[n:, n:])
        return lower + np.tril(lower, -1).T

    def solve(
        self, gamma: float, *, penalize_constant: bool = True, n_threads: int | None = None
    ) -> RidgeSolution:
        """Solve the normal equations (eq.weights_solution).

        Without the data there is no refinement: `gegenbauer.solve_ridge` is more accurate where the
        data are at hand.

        Parameters
        ----------
        gamma : float
            Penalty, >= 0.
        penalize_constant : bool
            Whether the constant term is penalised as well.
        n_threads : int, optional
            By default what `gegenbauer.default_threads` says.

        Returns
        -------
        RidgeSolution

        Raises
        ------
        ValueError
            For a negative or non-finite gamma, or statistics of no samples.
        numpy.linalg.LinAlgError
            When the matrix is not positive definite to working precision; a larger gamma helps.
        """
        gamma = check_number(gamma, "gamma", minimum=0)
        if self.n_samples == 0:
            raise ValueError("the statistics hold no samples: call update first")
        result = core.solve_gram(
            self._sums, self.basis.n_terms, gamma, bool(penalize_constant), check_threads(n_threads)
        )
        return RidgeSolution(**result)
