"""Statistics that hold the Chebyshev moments of which normal equations are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer._messages import Ways
from gegenbauer.ridge.statistics._base import AdditiveStatistics

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = ["MomentStatistics"]


class MomentStatistics(AdditiveStatistics):
    """The Chebyshev moments of samples, of which the normal equations of a basis are made.

    The product of two tensor polynomials is a short sum of such polynomials, so G'DG holds far
    fewer distinct sums than entries. Their number is `size`: for 2 inputs and 1485 terms 5778
    numbers instead of 1.1 million, and as much less work a sample. Statistics of the same basis and
    scaling add, as those of `GramStatistics` do.

    Entry (a, b) of `gram` is off by at most a small multiple of eps times the sum of the weights
    times s_a s_b, the sums of the absolute values of the two terms' Chebyshev coefficients; for
    lam >= 0 these are G_a(1) and G_b(1), the values at the corner of the domain. Against
    sqrt(gram[a, a] gram[b, b]) that is 1e-13 or less for 0 <= lam <= 1/2 and enough samples that
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

    Attributes
    ----------
    n_samples : int
        Samples seen.
    weight_sum : float
        Sum of their weights (their number without weights).
    resolution : float
        Relative spacing of the coarsest numbers in X that were seen: of float32 or float64.

    Raises
    ------
    ValueError
        Where inputs and degree are so many that moments do not pay and their plan would be too
        large: more than 28 inputs at degree 3, or 14 at degree 5.

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

    _engine = "moments"

    @property
    def size(self) -> int:
        """Numbers in the statistic."""
        return int(self._sums.size)

    def _zeros(self) -> npt.NDArray[np.float64]:
        size = core.count_moments(self.basis._plan, self.n_outputs)
        require_memory(
            16.0 * size, f"a statistic of {size} moments", Ways("lower", "`n_terms`", "`degree`")
        )
        return np.zeros(size)

    def _accumulate(
        self,
        X: npt.NDArray[Any],
        Y: npt.NDArray[np.float64],
        row_scale: npt.NDArray[np.float64] | None,
        n_threads: int,
    ) -> npt.NDArray[np.float64]:
        part = self._zeros()
        box = self.basis._box(self._open_box)
        core.accumulate_moments(self.basis._plan, X, box, Y, row_scale, part, n_threads)
        return part

    def _substitute(
        self, scale: npt.NDArray[np.float64], shift: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        sums = self._sums.copy()
        core.substitute_moments(
            self.basis._plan, sums, self.n_outputs, scale.tolist(), shift.tolist()
        )
        return sums

    def _with_targets_raised(self, by: Doubles) -> Doubles:
        sums = self._sums.copy()
        core.shift_targets(self.basis._plan, sums, by.tolist())
        return sums

    def _target_sums(self) -> Doubles:
        # those with the constant come first in what belongs to an output
        n_moments = core.count_moments(self.basis._plan, 0)
        with_output = core.count_moments(self.basis._plan, 1) - n_moments - 1
        return self._sums[n_moments : n_moments + self.n_outputs * with_output : with_output]

    def _target_products(self) -> Doubles:
        return self._sums[-(self.n_outputs**2) :].reshape(self.n_outputs, -1)

    def _spread(self, places: npt.NDArray[np.intp], n_outputs: int) -> npt.NDArray[np.float64]:
        # moments, then for each output those with it, then the products of outputs
        k = self.n_outputs
        n_moments = core.count_moments(self.basis._plan, 0)
        with_output = core.count_moments(self.basis._plan, 1) - n_moments - 1
        result = np.zeros(core.count_moments(self.basis._plan, n_outputs))
        result[:n_moments] = self._sums[:n_moments]
        end, old_end = n_moments + n_outputs * with_output, n_moments + k * with_output
        result[n_moments:end].reshape(n_outputs, -1)[places] = self._sums[
            n_moments:old_end
        ].reshape(k, -1)
        result[end:].reshape(n_outputs, n_outputs)[np.ix_(places, places)] = self._sums[
            old_end:
        ].reshape(k, k)
        return result

    def _packed(self) -> npt.NDArray[np.float64]:
        return self._sums

    def _unpack(self, values: npt.NDArray[np.float64]) -> None:
        self._sums = np.array(values)

    @staticmethod
    def _n_packed(basis: TensorBasis, n_outputs: int) -> int:
        return int(core.count_moments(basis._plan, n_outputs))

    def _assemble(self, n_threads: int) -> npt.NDArray[np.float64]:
        self._require_matrices(1, "the normal matrix")
        size = self.basis.n_terms + self.n_outputs
        gram = np.zeros((size, size), order="F")
        core.assemble_moments(self.basis._plan, self._sums, gram, n_threads)
        return gram
