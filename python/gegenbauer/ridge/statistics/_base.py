"""Additive statistics of a data set: everything that a ridge solve needs to know of it.

`GramStatistics` holds the normal equations themselves; `MomentStatistics` the far fewer Chebyshev
moments that they are made of (``cpp/include/gegenbauer/moments.hpp``). Both add, subtract, pickle
and solve alike.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._locks import exclusive
from gegenbauer._memory import require_memory
from gegenbauer._messages import Message, Ways
from gegenbauer._renamed import refuse_old_names
from gegenbauer._validation import (
    as_alphas,
    as_matrix,
    as_weights,
    check_flag,
    check_integer,
    check_number,
    check_threads,
    require_finite,
)
from gegenbauer.basis.levels import as_samples
from gegenbauer.basis.scaling import InputScaling
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.errors import BeyondRangeError
from gegenbauer.ridge._eigen import PrimalSpectrum
from gegenbauer.ridge.solve import RidgeSolution

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles

    # Targets are Y A + b of what was summed: A (n_outputs, K) and b (K,)
    Coding: TypeAlias = tuple[Doubles, Doubles]

__all__ = ["LEAST_RCOND", "AdditiveStatistics"]

_EPS = float(np.finfo(np.float64).eps)

# Sums of squares below this have lost digits, of terms that float64 does not hold
_LEAST_SQUARE = 1e-290

# Of sums of squares; less than this share of them is their rounding (up to 2700 eps were seen, of
# 400 to 20000 samples without noise)
_ROUNDING = 4096.0 * _EPS

# Reciprocal condition below which solutions from sums alone are inaccurate: predictions are off
# by about 3e-18 / rcond, relative to the largest, which is 3e-5 here
LEAST_RCOND = 1e-13


def _positive(alphas: npt.ArrayLike) -> npt.NDArray[np.float64]:
    values = as_alphas(alphas)
    if values.min() <= 0:
        raise ValueError(Message("`alphas` must be positive, got {}", values.min()))
    return values


class AdditiveStatistics:
    """What the statistics share: bookkeeping, sums and differences, and the solve.

    Two things keep digits that the numbers as they come would lose. Targets are summed as their
    differences from `_shift`, their mean so far: the constant is a term, so that G'DY follows from
    G'D(Y - shift) exactly, and a large mean takes no digits of the spread with it. And inputs are
    summed in `_open_box`, where a column that looks constant so far is mapped like any other; it
    is put to 0 when the sums are used. So nothing is forgotten when its range grows later.
    """

    _engine: ClassVar[str]

    def __init__(
        self, basis: TensorBasis, n_outputs: int = 1, *, scaling: InputScaling | None = None
    ) -> None:
        self._check_basis(basis, scaling)
        self.basis = basis
        self.scaling = scaling
        self.n_outputs = check_integer(n_outputs, "n_outputs", minimum=1)
        self.resolution = _EPS
        self.n_samples = 0
        self.weight_sum = 0.0
        self._shift = np.zeros(self.n_outputs)
        self._sums = self._zeros()

    @staticmethod
    def _check_basis(basis: Any, scaling: InputScaling | None) -> None:
        if not isinstance(basis, TensorBasis):
            raise TypeError(Message("`basis` must be a TensorBasis, got {}", type(basis).__name__))
        basis._box(scaling)

    def _require_matrices(self, number: float, what: str) -> None:
        """Refuse what holds so many matrices of the size of the normal equations."""
        size = self.basis.n_terms + self.n_outputs
        require_memory(
            8.0 * number * size * size,
            f"{what} of {size} x {size} numbers",
            Ways("lower", "`n_terms`", "`degree`"),
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

    def _substitute(
        self, scale: npt.NDArray[np.float64], shift: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Return the sums over samples whose scaled inputs u are scale u + shift instead."""
        raise NotImplementedError

    def _with_targets_raised(self, by: Doubles) -> Doubles:
        """Return the sums of the targets Y + by in place of Y."""
        raise NotImplementedError

    def _spread(self, places: npt.NDArray[np.intp], n_outputs: int) -> npt.NDArray[np.float64]:
        """Return the sums with output k at `places[k]` of more outputs, which are zero."""
        raise NotImplementedError

    def _packed(self) -> npt.NDArray[np.float64]:
        """Return the numbers that make two statistics equal, in one dimension."""
        raise NotImplementedError

    def _unpack(self, values: npt.NDArray[np.float64]) -> None:
        """Take the sums from what `_packed` returned."""
        raise NotImplementedError

    @staticmethod
    def _n_packed(basis: TensorBasis, n_outputs: int) -> int:
        """Return the number of entries of `_packed`."""
        raise NotImplementedError

    def _assemble(self, n_threads: int) -> npt.NDArray[np.float64]:
        """Return [G, Y]'D[G, Y] of what is summed, in Fortran order: the lower triangle counts."""
        raise NotImplementedError

    @property
    def _open_box(self) -> InputScaling | None:
        """The box in which inputs are summed."""
        return None if self.scaling is None else self.scaling._opened()

    def _with_ends(self, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Put what lies beyond a narrow column that is to be ignored to its end."""
        box = self._open_box
        if self.scaling is None or box is None or box.clip:
            return X
        for t in np.flatnonzero(self.scaling.is_constant & ~box.is_constant):
            low, high = box.lower[t], box.upper[t]
            if (X[:, t] < low).any() or (X[:, t] > high).any():  # NaN is neither
                X = X.astype(np.float64)
                X[:, t] = X[:, t].clip(low, high)
        return X

    def _augmented(self, n_threads: int) -> npt.NDArray[np.float64]:
        """Return [G, Y - shift]'D[G, Y - shift] in the box of `scaling`, as `_assemble` does."""
        box = self._open_box
        if self.scaling is None or box is None:
            return self._assemble(n_threads)
        closed = self.scaling.is_constant & ~box.is_constant
        if not closed.any():
            return self._assemble(n_threads)
        settled = copy.copy(self)
        settled._sums = self._substitute(np.where(closed, 0.0, 1.0), np.zeros(closed.size))
        return settled._assemble(n_threads)

    def _whole(self, n_threads: int) -> npt.NDArray[np.float64]:
        """Return [G, Y]'D[G, Y], likewise."""
        raised = copy.copy(self)
        raised._sums, raised._shift = self._shifted_to(np.zeros(self.n_outputs)), self._shift * 0.0
        return raised._augmented(n_threads)

    def _shifted_to(self, shift: Doubles) -> Doubles:
        """Return the sums of Y - shift."""
        by = self._shift - shift
        return self._with_targets_raised(by) if by.any() and self.n_samples else self._sums

    def _target_sums(self) -> Doubles:
        """Return the sums of w (y - shift), shape (n_outputs,)."""
        raise NotImplementedError

    def _target_products(self) -> Doubles:
        """Return (Y - shift)'D(Y - shift), shape (n_outputs, n_outputs): the lower triangle."""
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
            By default `gegenbauer.default_threads()`.

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
        widen: bool = False,
        n_threads: int | None = None,
    ) -> Self:
        """Add samples; a failed or interrupted update leaves the statistics as they were.

        Parameters
        ----------
        X, Y, sample_weight, n_threads
            As for `from_data`.
        widen : bool
            Let the box of `scaling` grow around X first, as by `rescaled`.

        Returns
        -------
        statistics
            This object.
        """
        with exclusive(self):  # threads wait for each other, so that all samples are kept
            return self._update(X, Y, sample_weight, widen, n_threads)

    def _update(
        self, X: Any, Y: Any, sample_weight: Any, widen: bool, n_threads: int | None
    ) -> Self:
        data = as_samples(X, "X", self.basis)
        resolution = max(self.resolution, float(np.finfo(data.dtype).eps))
        start = self
        if check_flag(widen, "widen"):
            if self.scaling is None:
                raise ValueError(
                    Message("`widen=True` needs statistics with a scaling, whose box can grow")
                )
            here = self.scaling.around(data)
            start = self.rescaled(self.scaling.union(here, resolution=resolution))
        targets = as_matrix(
            Y, "Y", n_rows=data.shape[0], n_columns=self.n_outputs,
            keep_float32=False, one_dimensional=True,
        )  # fmt: skip
        weights = as_weights(sample_weight, data.shape[0])
        scale = None if weights is None else np.sqrt(weights)
        data = start._with_ends(data)
        part = copy.copy(start)
        part.resolution, part.n_samples = resolution, data.shape[0]
        part.weight_sum = float(data.shape[0] if weights is None else weights.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            if part.weight_sum > 0:
                shares = (1.0 if weights is None else weights[:, np.newaxis]) / part.weight_sum
                part._shift = (targets * shares).sum(axis=0)
            targets = targets - part._shift
            if scale is not None:
                targets *= scale[:, np.newaxis]
            part._sums = start._accumulate(data, targets, scale, check_threads(n_threads))
            whole = start._combine(part, 1)
        # in one step, which neither an interrupt nor another thread can cut
        vars(self).update(vars(whole))
        return self

    def _require_finite_sums(self) -> None:
        require_finite(
            self._sums,
            "the sums are",
            "X (without scaling), Y or sample_weight is too large",
            name_row=False,
        )

    def rescaled(self, scaling: InputScaling) -> Self:
        """Return statistics of the same samples in a wider box.

        A polynomial of inputs in one box is a polynomial of inputs in another, so the sums follow
        from each other. The coefficients are small where the new box contains the old one, so
        that nothing is lost to rounding; a stream needs to know no range beforehand.

        Parameters
        ----------
        scaling : InputScaling
            Of a box that contains the present one, with the same domain and clipping. Samples that
            were clipped stay where they were clipped to.

        Returns
        -------
        statistics
            Of the same class.

        Raises
        ------
        ValueError
            When the box does not contain the present one, or is of another kind.
        """
        if self.scaling is None or not isinstance(scaling, InputScaling):
            raise TypeError("both statistics and argument need an InputScaling")
        if self.scaling._kind() != scaling._kind():
            raise ValueError(
                Message(
                    "number of columns, `domain` and `clip` must stay; got {!r} and {!r}",
                    self.scaling,
                    scaling,
                )
            )
        result = copy.copy(self)
        result.scaling = scaling
        self.scaling._require_inside(scaling)
        scale, shift = self.scaling._opened()._substitution(scaling._opened())
        if self.n_samples and not ((scale == 1.0) & (shift == 0.0)).all():
            with np.errstate(over="ignore", invalid="ignore"):
                result._sums = self._substitute(scale, shift)
            result._require_finite_sums()
        return result

    def with_outputs(self, places: Sequence[int], n_outputs: int) -> Self:
        """Return statistics with more outputs, those that are new being zero in all samples.

        Parameters
        ----------
        places : sequence of int
            For each present output, its place among the new ones, all different.
        n_outputs : int
            Number of new ones.

        Returns
        -------
        statistics
            Of the same class.
        """
        n_outputs = check_integer(n_outputs, "n_outputs", minimum=self.n_outputs)
        at = np.asarray(places, dtype=np.intp)
        if (
            at.shape != (self.n_outputs,)
            or np.unique(at).size < at.size
            or at.min() < 0
            or at.max() >= n_outputs
        ):
            raise ValueError(
                Message(
                    "`places` must hold {} different numbers from 0 to {}, got {!r}",
                    self.n_outputs,
                    n_outputs - 1,
                    places,
                )
            )
        result = copy.copy(self)
        result.n_outputs = n_outputs
        result._sums = self._spread(at, n_outputs)
        result._shift = np.zeros(n_outputs)
        result._shift[at] = self._shift
        return result

    def _matches(self, other: AdditiveStatistics) -> bool:
        return (
            (self.basis is other.basis or self.basis == other.basis)
            and self.scaling == other.scaling
            and self.n_outputs == other.n_outputs
        )

    def _in_one_box(self, other: Self, sign: int) -> tuple[Self, Self]:
        """Return both in the box around them, which for a difference must be the present one."""
        if self.scaling == other.scaling or self.scaling is None or other.scaling is None:
            return self, other
        resolution = max(self.resolution, other.resolution)
        if sign < 0:
            return self, other.rescaled(self.scaling)
        box = self.scaling.union(other.scaling, resolution=resolution)
        return self.rescaled(box), other.rescaled(box)

    def _combine(self, other: Self, sign: int) -> Self:
        """Add or subtract; both are copies, since other threads may update meanwhile."""
        resolution = max(self.resolution, other.resolution)
        mine = self
        if self.basis.n_features == other.basis.n_features:
            mine, other = self._in_one_box(other, sign)
        if not mine._matches(other):
            raise ValueError(
                "statistics can be combined only if basis, scaling and n_outputs are the same"
            )
        if sign < 0 and other.n_samples > self.n_samples:
            raise ValueError(
                f"cannot take {other.n_samples} samples away from {self.n_samples} samples"
            )
        if sign < 0 and other.weight_sum > self.weight_sum * (1.0 + 1e-9):
            raise ValueError(
                f"cannot take a weight of {other.weight_sum:g} away from {self.weight_sum:g}: "
                "samples must be taken away with the weights with which they came"
            )
        result = copy.copy(mine)
        result.resolution = resolution
        with np.errstate(over="ignore", invalid="ignore"):
            result._shift = mine._shift if sign < 0 else mine._common_shift(other)
            result._sums = mine._joined(other, sign, result._shift)
        result._require_finite_sums()
        result.n_samples = self.n_samples + sign * other.n_samples
        result.weight_sum = self.weight_sum + sign * other.weight_sum
        return result

    def _joined(self, other: Self, sign: int, shift: Doubles) -> Doubles:
        """Return the sums of Y - shift over the samples of both, or of one without the other."""
        return self._shifted_to(shift) + sign * other._shifted_to(shift)

    def _common_shift(self, other: Self) -> Doubles:
        """Return the mean of the targets of both, whichever comes first."""
        if not other.weight_sum:
            return self._shift
        if not self.weight_sum:
            return other._shift
        totals = [one.weight_sum * one._shift + one._target_sums() for one in (self, other)]
        return np.asarray((totals[0] + totals[1]) / (self.weight_sum + other.weight_sum))

    def __add__(self, other: object) -> Self:
        return (
            copy.copy(self)._combine(copy.copy(other), 1)
            if isinstance(other, type(self))
            else NotImplemented
        )

    def __radd__(self, other: object) -> Self:
        """Return a copy for 0, with which `sum` begins."""
        return copy.copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: object) -> Self:
        return (
            copy.copy(self)._combine(copy.copy(other), -1)
            if isinstance(other, type(self))
            else NotImplemented
        )

    def __copy__(self) -> Self:
        """Share the sums, which are never changed in place."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the sums packed, as it is sent to another process."""
        return {**self.__dict__, "_sums": self._packed()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._unpack(state["_sums"])
        if "_shift" not in state:
            self._take_old_sums()

    def _take_old_sums(self) -> None:
        """Complete sums of older files: of Y as it is, columns that look constant put to 0.

        Where such a column has a range, its samples are put into the middle of it.
        """
        self._shift = np.zeros(self.n_outputs)
        if self.scaling is None or not self.n_samples:
            return
        closed = self.scaling.is_constant & ~self.scaling._opened().is_constant
        if closed.any():
            middle = 0.5 * sum(self.scaling.domain)
            self._sums = self._substitute(np.where(closed, 0.0, 1.0), np.where(closed, middle, 0.0))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return (
            self._matches(other)
            and self.n_samples == other.n_samples
            and self.weight_sum == other.weight_sum
            and np.array_equal(self._shift, other._shift)
            and np.array_equal(self._packed(), other._packed())
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
        return np.ascontiguousarray(self._whole(check_threads(None))[n:, :n].T)

    @property
    def target_gram(self) -> npt.NDArray[np.float64]:
        """Y'DY, shape (n_outputs, n_outputs), a symmetric copy."""
        n = self.basis.n_terms
        lower = np.tril(self._whole(check_threads(None))[n:, n:])
        return lower + np.tril(lower, -1).T

    @refuse_old_names
    def solve(
        self, alpha: float, *, penalize_constant: bool = True, n_threads: int | None = None
    ) -> RidgeSolution:
        """Solve the normal equations (eq.weights_solution).

        Without the data there is no refinement: `gegenbauer.solve_ridge` is more accurate where the
        data are at hand.

        Parameters
        ----------
        alpha : float
            Penalty, >= 0.
        penalize_constant : bool
            Whether the constant term is penalised as well.
        n_threads : int, optional
            By default `gegenbauer.default_threads()`.

        Returns
        -------
        RidgeSolution

        Raises
        ------
        ValueError
            For a negative or non-finite alpha, or statistics of no samples.
        TooLargeError
            When the normal equations cannot fit into memory.
        numpy.linalg.LinAlgError
            When the matrix is not positive definite to working precision; a larger alpha helps.
        """
        return self._solve(alpha, None, penalize_constant, n_threads)

    def _solve(
        self, alpha: float, coding: Coding | None, penalize_constant: bool, n_threads: int | None
    ) -> RidgeSolution:
        alpha = check_number(alpha, "alpha", minimum=0)
        penalize_constant = check_flag(penalize_constant, "penalize_constant")
        threads = check_threads(n_threads)
        system, means = self._system(coding, threads)
        n = self.basis.n_terms
        # Solved for what is missing to the constant that the means alone would get; a free constant
        # gets all of them.
        weight, penalty = system[0, 0], alpha if penalize_constant else 0.0
        whole = weight + penalty if weight > 0 else 1.0
        system[n:, 1:n] += np.outer(means * (penalty / whole), system[1:n, 0])
        result = core.solve_gram(system, n, alpha, penalize_constant, threads)
        require_finite(
            result["weights"], "the weights are", "Y or sample_weight is too large", name_row=False
        )
        result["weights"][0] += means * (weight / whole)
        return replace(RidgeSolution(**result), engine=self._engine)

    def _constant(self, coding: Coding | None, n_threads: int) -> Doubles:
        """Return the weights of the mean of the targets, (n_terms, n_outputs)."""
        system, means = self._system(coding, n_threads)
        n = self.basis.n_terms
        weights = np.zeros((n, means.size))
        weights[0] = means + system[n:, 0] / system[0, 0]
        return weights

    def _system(self, coding: Coding | None, n_threads: int) -> tuple[Doubles, Doubles]:
        """Return [G, T - t]'D[G, T - t] in Fortran order, lower triangle, and t of shape (K,).

        The targets T are Y itself, or ``Y A + b`` for a coding (A, b); t is about their mean.
        """
        if self.n_samples == 0:
            raise ValueError("the statistics hold no samples: call update first")
        self._require_matrices(2, "the normal matrix")
        whole = self._augmented(n_threads)
        if coding is None:
            return whole.copy(order="F"), self._shift
        matrix, offset = coding
        n = self.basis.n_terms
        square = np.tril(whole[n:, n:])
        square += np.tril(square, -1).T
        result = np.zeros((n + offset.size, n + offset.size), order="F")
        result[:n, :n] = whole[:n, :n]
        result[n:, :n] = matrix.T @ whole[n:, :n]
        result[n:, n:] = matrix.T @ square @ matrix
        return result, self._shift @ matrix + offset

    def _spectrum(
        self, coding: Coding | None, *, free: bool, n_threads: int
    ) -> tuple[PrimalSpectrum, Doubles]:
        """Return the eigenvectors, and the lower triangle that `_system` makes."""
        system, means = self._system(coding, n_threads)
        return PrimalSpectrum(system, self.basis.n_terms, free=free, means=means), system

    def _mean_and_spread(self) -> tuple[Doubles, Doubles]:
        """Return the means of the targets and their standard deviations."""
        beyond = self._target_sums() / self.weight_sum
        with np.errstate(over="ignore"):
            squares = np.diag(self._target_products()) / self.weight_sum - beyond**2
        return self._shift + beyond, np.sqrt(squares.clip(min=0.0))

    def _in_units(self, coding: Coding | None) -> tuple[Coding, float]:
        """Return a coding into targets of about one, and their unit, a power of two.

        Scores are squares of squares of targets, which would leave float64 long before these do.
        """
        matrix, offset = coding or (np.eye(self.n_outputs), np.zeros(self.n_outputs))
        spread = np.sqrt(np.diag(self._target_products()) / (self.weight_sum or 1.0))
        largest = max((spread @ np.abs(matrix)).max(), np.abs(self._shift @ matrix + offset).max())
        unit = 2.0 ** np.floor(np.log2(largest)) if largest > 0 else 1.0
        return (matrix / unit, offset / unit), float(unit)

    @refuse_old_names
    def gcv(
        self, alphas: npt.ArrayLike, *, penalize_constant: bool = True, n_threads: int | None = None
    ) -> npt.NDArray[np.float64]:
        r"""Evaluate the generalised cross-validation score :math:`n |e|^2 / (n - \sum h_i)^2`.

        The same as `RidgePath.gcv`, without the data: the score of a fit from its residuals e and
        the sum of its leverages h.

        Parameters
        ----------
        alphas : array_like, shape (n_alphas,)
            Penalties, > 0.
        penalize_constant, n_threads
            As for `solve`.

        Returns
        -------
        ndarray, shape (n_alphas, n_outputs)
            The smaller the better. Residuals below 1e-6 of the targets drown in rounding errors,
            and count as so much.

        Raises
        ------
        ValueError, TypeError
            For alphas that are not positive, or statistics of no samples.
        """
        coding, unit = self._in_units(None)
        with np.errstate(over="ignore"):
            return self._gcv(alphas, coding, penalize_constant, n_threads)[0] * unit * unit

    def _gcv(
        self,
        alphas: npt.ArrayLike,
        coding: Coding | None,
        penalize_constant: bool,
        n_threads: int | None,
    ) -> tuple[Doubles, Doubles, npt.NDArray[np.bool_]]:
        """Return scores (n_alphas, K), weights (n_terms, n_alphas K), and which are accurate."""
        values = _positive(alphas)
        n_terms, n = self.basis.n_terms, self.n_samples
        free = not check_flag(penalize_constant, "penalize_constant")
        spectrum, system = self._spectrum(coding, free=free, n_threads=check_threads(n_threads))
        total = np.diag(system[n_terms:, n_terms:]) - free * system[0, 0] * spectrum.mean_left**2
        lost = (total < _LEAST_SQUARE) & (spectrum.projected != 0).any(axis=0)
        if lost.any():
            raise BeyondRangeError(
                f"the squares of target {int(lost.argmax())} are below the range of float64",
                Message("`y` is too small, scale it up"),
            )
        # what is left of centred targets by the weights c in the eigenvectors
        c = spectrum.coordinates(values)
        p = spectrum.projected[:, np.newaxis, :]
        explained = ((2.0 * p - spectrum.eigenvalues[:, np.newaxis, np.newaxis] * c) * c).sum(
            axis=0
        )
        # Of what is left below the rounding of the sums, all penalties give the same: the score is
        # then that of the leverages, which the largest of these penalties has the least of.
        error = np.maximum(total - explained, _ROUNDING * total)
        shrink = values / (spectrum.eigenvalues[:, np.newaxis] + values)
        left = shrink.sum(axis=0) + (n - free - spectrum.eigenvalues.size)
        scores: Doubles = n * error / np.maximum(left, _EPS * n)[:, np.newaxis] ** 2
        largest, smallest = spectrum.eigenvalues[:1].sum(), spectrum.eigenvalues[-1:].sum()
        accurate = smallest + values >= LEAST_RCOND * (largest + values)
        return np.asarray(scores), spectrum.weights(values), accurate

    def squared_error(self, weights: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Sum the squared errors that weights make in the samples.

        They are differences of sums: below about 1e-14 of the squared targets only rounding errors
        are left.

        Parameters
        ----------
        weights : array_like, shape (n_terms, n_outputs)
            Of a fit to these or other samples.

        Returns
        -------
        ndarray, shape (n_outputs,)
            The sum over samples of weight times squared error.
        """
        given = as_matrix(
            weights, "weights", n_rows=self.basis.n_terms, n_columns=self.n_outputs,
            keep_float32=False,
        )  # fmt: skip
        coding, unit = self._in_units(None)
        with np.errstate(over="ignore"):
            return np.asarray(self._squared_errors(given / unit, coding)[0] * unit * unit)

    def _squared_errors(
        self, weights: npt.NDArray[np.float64], coding: Coding | None, *, rounded: bool = False
    ) -> npt.NDArray[np.float64]:
        """Return those of n sets of weights (n_terms, n K), shape (n, K).

        With `rounded`, what is below the rounding of the sums counts as that.
        """
        n = self.basis.n_terms
        system, means = self._system(coding, check_threads(None))
        gram = np.tril(system[:n, :n])
        gram += np.tril(gram, -1).T
        cross = system[n:, :n].T
        n_outputs = cross.shape[1]
        n_sets = weights.shape[1] // n_outputs
        weights = weights.copy()
        weights[0] -= np.tile(means, n_sets)  # both sides of a difference without their mean
        squares = np.einsum("lk,lk->k", weights, gram @ weights)
        products = np.einsum("lk,lk->k", weights, np.tile(cross, n_sets))
        total = np.tile(np.diag(system[n:, n:]), n_sets)
        errors = total - 2.0 * products + squares
        floor = _ROUNDING * total if rounded else 0.0
        return np.asarray(np.maximum(errors, floor).reshape(n_sets, n_outputs))
