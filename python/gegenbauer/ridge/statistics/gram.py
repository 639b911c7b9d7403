"""Statistics that hold the normal equations themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer.basis.spectrum import Spectrum
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.ridge.statistics._base import AdditiveStatistics

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = ["GramStatistics"]


class GramStatistics(AdditiveStatistics):
    """The sums G'DG, G'DY and Y'DY over samples, D the diagonal matrix of the sample weights.

    Statistics of the same basis add (`sum` works as well): those of a data set are the sum of those
    of its parts, in any order, and a part can be taken away again. Where their boxes differ, the
    sum is of the box around both. They are equal when all of their numbers are. Memory is
    (n_terms + n_outputs)^2 numbers whatever the number of samples.

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
        Samples seen.
    weight_sum : float
        Sum of their weights (their number without weights).
    resolution : float
        Relative spacing of the coarsest numbers in X that were seen: of float32 or float64.

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

    _engine = "primal"

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
        box = self.basis._box(self._open_box)
        core.accumulate_gram(self.basis._plan, X, box, Y, row_scale, part, n_threads)
        return part

    def _substitute(
        self, scale: npt.NDArray[np.float64], shift: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        whole = np.tril(self._sums)
        whole += np.tril(whole, -1).T
        indices = self.basis.indices
        place = {k.tobytes(): term for term, k in enumerate(indices)}
        for t in np.flatnonzero((scale != 1.0) | (shift != 0.0)):
            S = self._substitution(int(t), scale[t], shift[t], indices, place)
            whole = S @ (S @ whole).T  # which is symmetric
        return np.asfortranarray(whole)

    def _substitution(
        self,
        t: int,
        scale: float,
        shift: float,
        indices: npt.NDArray[np.int32],
        place: dict[bytes, int],
    ) -> Any:
        """Return the matrix of the terms and targets at scale x + shift in place of input t's x."""
        from scipy.sparse import csr_array

        shares = self._shares(t, float(scale), float(shift))
        rows, columns, values = [np.arange(len(self._sums))], [], []
        degrees = indices[:, t]
        values.append(np.ones(len(self._sums)))
        values[0][: len(degrees)] = shares[degrees, degrees]
        columns.append(rows[0])
        for j in range(int(degrees.max())):
            higher = np.flatnonzero(degrees > j)
            lower = indices[higher]
            lower[:, t] = j
            rows.append(higher)
            columns.append(np.array([place[k.tobytes()] for k in lower], dtype=np.intp))
            values.append(shares[degrees[higher], j])
        at = np.concatenate(rows), np.concatenate(columns)
        return csr_array((np.concatenate(values), at), shape=self._sums.shape)

    def _shares(self, t: int, scale: float, shift: float) -> Doubles:
        """Return the functions of input t at scale x + shift as sums of those at x.

        Polynomials are 0 where a number is missing, so what they have of a constant is of samples
        where it is given: that is a sum of 1 and of the contrast of given and missing.
        """
        spectrum = self.basis.spectrum
        levels = None if spectrum.levels is None else spectrum.levels[t]
        if levels is None:
            return np.asarray(self.basis._plan.substitution(t, scale, shift))
        if levels.category:
            raise ValueError(
                f"the box of a category does not grow, since its levels lie from end to end: give "
                f"input {t} one range from the start"
            )
        n = levels.n_contrasts
        degree = int(self.basis.indices[:, t].max()) - n
        found = np.eye(n + 1 + max(degree, 0))
        if degree <= 0:
            return found
        one = TensorBasis(
            1, degree=degree, lam=self.basis.lam,
            spectrum=Spectrum(spectrum._of_input(t).components),
        )  # fmt: skip
        of_polynomials = np.asarray(one._plan.substitution(0, scale, shift))
        found[n + 1 :, n + 1 :] = of_polynomials[1:, 1:]
        found[n + 1 :, 0] = of_polynomials[1:, 0]
        if n:
            q = spectrum.interactions(self.basis.n_features)[t].sum()
            given, missing = np.sqrt(q) * levels.contrasts()[:, 0]
            found[n + 1 :, :2] = of_polynomials[1:, :1] * [-missing, 1.0] / (given - missing)
        return found

    def _gain(self, by: Doubles) -> Doubles:
        """Return what the rows of the targets gain when these are raised: the others stay."""
        n = self.basis.n_terms
        ones, own = self._sums[:n, 0], self._sums[n:, 0]  # term 0 is 1
        products = np.outer(own, by) + np.outer(by, own) + np.outer(by, by) * ones[0]
        return np.hstack([np.outer(by, ones), products])

    def _with_targets_raised(self, by: Doubles) -> Doubles:
        sums = self._sums.copy(order="F")
        sums[self.basis.n_terms :] += self._gain(by)
        return sums

    def _joined(self, other: Self, sign: int, shift: Doubles) -> Doubles:
        sums = self._sums + other._sums if sign > 0 else self._sums - other._sums
        gains = self._gain(self._shift - shift), other._gain(other._shift - shift)
        sums[self.basis.n_terms :] += gains[0] + sign * gains[1]
        return sums

    def _target_sums(self) -> Doubles:
        return self._sums[self.basis.n_terms :, 0]

    def _target_products(self) -> Doubles:
        n = self.basis.n_terms
        return self._sums[n:, n:]

    def _spread(self, places: npt.NDArray[np.intp], n_outputs: int) -> npt.NDArray[np.float64]:
        n = self.basis.n_terms
        result = np.zeros((n + n_outputs, n + n_outputs), order="F")
        old = np.tril(self._sums)
        old += np.tril(old, -1).T
        at = np.concatenate([np.arange(n), n + places])
        result[np.ix_(at, at)] = old
        return result

    def _packed(self) -> npt.NDArray[np.float64]:
        # column by column; no more than the lower triangle counts
        return np.concatenate([self._sums[j:, j] for j in range(len(self._sums))])

    def _unpack(self, values: npt.NDArray[np.float64]) -> None:
        sums, end = self._zeros(), 0
        for j in range(len(sums)):
            begin, end = end, end + len(sums) - j
            sums[j:, j] = values[begin:end]
        self._sums = sums

    @staticmethod
    def _n_packed(basis: TensorBasis, n_outputs: int) -> int:
        size = basis.n_terms + n_outputs
        return size * (size + 1) // 2

    def _assemble(self, n_threads: int) -> npt.NDArray[np.float64]:  # noqa: ARG002
        return self._sums
