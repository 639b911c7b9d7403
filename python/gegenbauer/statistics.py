"""Additive statistics of a data set: everything that a ridge solve needs to know of it.

`GramStatistics` holds the normal equations themselves; `MomentStatistics` the far fewer Chebyshev
moments that they are made of (``cpp/include/gegenbauer/moments.hpp``). Both add, subtract, pickle
and solve alike.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gegenbauer._arrays import (
    as_matrix,
    as_weights,
    check_flag,
    check_integer,
    check_number,
    check_threads,
    require_finite,
    require_memory,
)
from gegenbauer._dispatch import core
from gegenbauer.basis import TensorBasis
from gegenbauer.ridge import RidgeSolution

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer.basis import InputScaling

__all__ = ["GramStatistics", "MomentStatistics"]


class _Statistics:
    """What the statistics share: bookkeeping, sums and differences, and the solve."""

    def __init__(
        self, basis: TensorBasis, n_outputs: int = 1, *, scaling: InputScaling | None = None
    ) -> None:
        if not isinstance(basis, TensorBasis):
            raise TypeError(f"basis must be a TensorBasis, got {type(basis).__name__}")
        basis._box(scaling)
        self.basis = basis
        self.scaling = scaling
        self.n_outputs = check_integer(n_outputs, "n_outputs", minimum=1)
        self.n_samples = 0
        self.weight_sum = 0.0
        self._sums = self._zeros()

    def _require_matrices(self, number: float, what: str) -> None:
        """Refuse what holds so many matrices of the size of the normal equations."""
        size = self.basis.n_terms + self.n_outputs
        require_memory(
            8.0 * number * size * size,
            f"{what} of {size} x {size} numbers",
            "lower n_terms or degree",
        )

    def _zeros(self) -> npt.NDArray[np.float64]:
        """Return the sums over no samples."""
        raise NotImplementedError

    def _accumulate(
        self,
        X: npt.NDArray[Any],
        Y: npt.NDArray[np.float64],
        row_scale: npt.NDArray[np.float64] | None,
        n_threads: int,
    ) -> npt.NDArray[np.float64]:
        """Return the sums over samples; Y comes scaled by `row_scale`."""
        raise NotImplementedError

    def _entries(self) -> npt.NDArray[np.float64]:
        """Return the numbers that make two statistics equal."""
        raise NotImplementedError

    def _augmented(self, n_threads: int) -> npt.NDArray[np.float64]:
        """Return [G, Y]'D[G, Y] in Fortran order, of which the lower triangle counts."""
        raise NotImplementedError

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
    ) -> Self:
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
        statistics
            Of the class that was called.
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
    ) -> Self:
        """Add samples; a failed or interrupted update leaves the statistics as they were.

        Parameters
        ----------
        X, Y, sample_weight, n_threads
            As for `from_data`.

        Returns
        -------
        statistics
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
        with np.errstate(over="ignore"):
            sums = self._sums + self._accumulate(data, targets, scale, check_threads(n_threads))
        require_finite(
            sums,
            "the sums are",
            "X (without scaling), Y or sample_weight is too large",
            name_row=False,
        )
        self._sums = sums
        self.n_samples += data.shape[0]
        self.weight_sum += float(data.shape[0] if weights is None else weights.sum())
        return self

    def _matches(self, other: _Statistics) -> bool:
        return (
            self.basis == other.basis
            and self.scaling == other.scaling
            and self.n_outputs == other.n_outputs
        )

    def _combine(self, other: _Statistics, sign: int) -> Self:
        if not self._matches(other):
            raise ValueError(
                "statistics can be combined only if basis, scaling and n_outputs are the same"
            )
        if sign < 0 and other.n_samples > self.n_samples:
            raise ValueError(
                f"cannot take {other.n_samples} samples away from {self.n_samples} samples"
            )
        result = type(self)(self.basis, self.n_outputs, scaling=self.scaling)
        result._sums = self._sums + sign * other._sums
        result.n_samples = self.n_samples + sign * other.n_samples
        result.weight_sum = self.weight_sum + sign * other.weight_sum
        return result

    def __add__(self, other: object) -> Self:
        return self._combine(other, 1) if isinstance(other, type(self)) else NotImplemented

    def __radd__(self, other: object) -> Self:
        """Return a copy for 0, with which `sum` begins."""
        return copy.copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: object) -> Self:
        return self._combine(other, -1) if isinstance(other, type(self)) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return (
            self._matches(other)
            and self.n_samples == other.n_samples
            and self.weight_sum == other.weight_sum
            and np.array_equal(self._entries(), other._entries())
        )

    __hash__ = None  # type: ignore[assignment]  # `update` changes them

    def __repr__(self) -> str:
        scaling = "" if self.scaling is None else f", scaling={self.scaling!r}"
        return (
            f"<{type(self).__name__} of {self.n_samples} samples (weight_sum={self.weight_sum:g}): "
            f"{self.basis!r}, n_outputs={self.n_outputs}{scaling}>"
        )

    @property
    def gram(self) -> npt.NDArray[np.float64]:
        """G'DG, shape (n_terms, n_terms), a symmetric copy."""
        self._require_matrices(4, "a Gram matrix")
        n = self.basis.n_terms
        lower = np.tril(self._augmented(check_threads(None))[:n, :n])
        return lower + np.tril(lower, -1).T

    @property
    def cross(self) -> npt.NDArray[np.float64]:
        """G'DY, shape (n_terms, n_outputs), a copy."""
        n = self.basis.n_terms
        return np.ascontiguousarray(self._augmented(check_threads(None))[n:, :n].T)

    @property
    def target_gram(self) -> npt.NDArray[np.float64]:
        """Y'DY, shape (n_outputs, n_outputs), a symmetric copy."""
        n = self.basis.n_terms
        lower = np.tril(self._augmented(check_threads(None))[n:, n:])
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
        TooLargeError
            When the normal equations cannot fit into memory.
        numpy.linalg.LinAlgError
            When the matrix is not positive definite to working precision; a larger gamma helps.
        """
        gamma = check_number(gamma, "gamma", minimum=0)
        penalize_constant = check_flag(penalize_constant, "penalize_constant")
        if self.n_samples == 0:
            raise ValueError("the statistics hold no samples: call update first")
        threads = check_threads(n_threads)
        self._require_matrices(2, "the normal matrix")
        result = core.solve_gram(
            self._augmented(threads), self.basis.n_terms, gamma, penalize_constant, threads
        )
        return RidgeSolution(**result)


class GramStatistics(_Statistics):
    """The sums G'DG, G'DY and Y'DY over samples, D the diagonal matrix of the sample weights.

    Statistics of the same basis and scaling add (`sum` works as well): those of a data set are the
    sum of those of its parts, in any order, and a part can be taken away again. They are equal when
    all of their numbers are. Memory is (n_terms + n_outputs)^2 numbers whatever the number of
    samples.

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

    See Also
    --------
    MomentStatistics : Less to compute and to keep when inputs are few.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GramStatistics, TensorBasis
    >>> X, y = np.linspace(0, 1, 20)[:, None], np.arange(20.0)
    >>> basis = TensorBasis(1, degree=3)
    >>> first = GramStatistics.from_data(basis, X[:5], y[:5])
    >>> rest = GramStatistics.from_data(basis, X[5:], y[5:])
    >>> both = GramStatistics.from_data(basis, X, y)
    >>> np.allclose((first + rest).gram, both.gram), sum([first, rest]) == first + rest
    (True, True)
    >>> both
    <GramStatistics of 20 samples (weight_sum=20): TensorBasis(1, degree=3, lam=0.05), n_outputs=1>
    >>> both.solve(1e-3).weights.shape
    (4, 1)
    """

    def _zeros(self) -> npt.NDArray[np.float64]:
        self._require_matrices(2, "a statistic")  # these sums and those of an update
        size = self.basis.n_terms + self.n_outputs
        return np.zeros((size, size), order="F")

    def _accumulate(
        self,
        X: npt.NDArray[Any],
        Y: npt.NDArray[np.float64],
        row_scale: npt.NDArray[np.float64] | None,
        n_threads: int,
    ) -> npt.NDArray[np.float64]:
        part = self._zeros()
        box = self.basis._box(self.scaling)
        core.accumulate_gram(self.basis._plan, X, box, Y, row_scale, part, n_threads)
        return part

    def _entries(self) -> npt.NDArray[np.float64]:
        return np.tril(self._sums)  # no more of it counts

    def _augmented(self, n_threads: int) -> npt.NDArray[np.float64]:  # noqa: ARG002
        return self._sums


class MomentStatistics(_Statistics):
    """The Chebyshev moments of samples, of which the normal equations of a basis are made.

    The product of two tensor polynomials is a short sum of such polynomials, so G'DG holds far
    fewer distinct sums than entries. Their number is `size`: for 2 inputs and 1485 terms 5778
    numbers instead of 1.1 million, and as much less work a sample. Statistics of the same basis and
    scaling add, as those of `GramStatistics` do.

    Entry (a, b) of `gram` is off by at most a small multiple of eps times the sum of the weights
    times s_a s_b, the sums of the absolute values of the two terms' Chebyshev coefficients; for
    lam >= 0 these are G_a(1) and G_b(1), the values at the corner of the domain. Against
    sqrt(gram[a, a] gram[b, b]) that is 1e-13 or less for 0 <= lam <= 1/2 and enough rows that
    are spread over the domain. For larger lam the polynomials are far smaller inside of the
    domain than at its end, for negative lam their coefficients cancel, and where degrees are high
    `GramStatistics` is the better choice.

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    n_outputs : int
        Number of targets.
    scaling : InputScaling, optional
        Maps the inputs to the domain of the polynomials. Inputs must lie in [-1, 1] after it:
        moments of points far outside grow like the square of the polynomials.

    Raises
    ------
    ValueError
        Where inputs and degree are so many that moments do not pay and their plan would be too
        large: more than 28 inputs at degree 3, or 14 at degree 5.

    Attributes
    ----------
    n_samples : int
        Rows seen.
    weight_sum : float
        Sum of their weights (their number without weights).

    See Also
    --------
    GramStatistics : The same sums from features; better when inputs are many.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GramStatistics, MomentStatistics, TensorBasis
    >>> X, y = np.random.default_rng(0).uniform(size=(100, 2)), np.arange(100.0)
    >>> basis = TensorBasis(2, degree=20)
    >>> moments = MomentStatistics.from_data(basis, X, y)
    >>> moments.size, GramStatistics.from_data(basis, X, y).gram.size
    (1093, 53361)
    >>> np.allclose(moments.gram, GramStatistics.from_data(basis, X, y).gram)
    True
    """

    @property
    def size(self) -> int:
        """Numbers in the statistic."""
        return int(self._sums.size)

    def _zeros(self) -> npt.NDArray[np.float64]:
        size = core.count_moments(self.basis._plan, self.n_outputs)
        require_memory(16.0 * size, f"a statistic of {size} moments", "lower n_terms or degree")
        return np.zeros(size)

    def _accumulate(
        self,
        X: npt.NDArray[Any],
        Y: npt.NDArray[np.float64],
        row_scale: npt.NDArray[np.float64] | None,
        n_threads: int,
    ) -> npt.NDArray[np.float64]:
        part = self._zeros()
        box = self.basis._box(self.scaling)
        core.accumulate_moments(self.basis._plan, X, box, Y, row_scale, part, n_threads)
        return part

    def _entries(self) -> npt.NDArray[np.float64]:
        return self._sums

    def _augmented(self, n_threads: int) -> npt.NDArray[np.float64]:
        self._require_matrices(1, "the normal matrix")
        size = self.basis.n_terms + self.n_outputs
        gram = np.zeros((size, size), order="F")
        core.assemble_moments(self.basis._plan, self._sums, gram, n_threads)
        return gram
