"""The sums over samples seen as those of other terms, the samples being gone."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import check_threads
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.ridge.statistics.gram import GramStatistics
from gegenbauer.ridge.statistics.moments import MomentStatistics

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer.ridge.statistics.choice import Statistics

__all__ = ["normal_equations", "terms_within"]


def _places(basis: TensorBasis, within: TensorBasis) -> npt.NDArray[np.intp]:
    """Return the place of each term among those of another basis, -1 for one that lacks."""
    known = {k.tobytes(): place for place, k in enumerate(within.indices)}
    return np.array([known.get(k.tobytes(), -1) for k in basis.indices], dtype=np.intp)


def terms_within(basis: TensorBasis, summed: TensorBasis) -> npt.NDArray[np.bool_]:
    """Return which terms of a basis are among those of another one, (n_terms,).

    Examples
    --------
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.ridge.statistics.other_terms import terms_within
    >>> terms_within(TensorBasis(1, degree=3), TensorBasis(1, degree=2))
    array([ True,  True,  True, False])
    """
    return _places(basis, summed) >= 0


def normal_equations(
    statistics: Statistics, basis: TensorBasis, *, n_threads: int | None = None
) -> GramStatistics:
    """Return the normal equations of a basis whose terms are among those that were summed.

    Moments are those of Chebyshev polynomials, so the weights of the terms and `lam` may be others
    than those of the basis that was summed. Of features the weights may, which scale rows and
    columns; `lam` has to be the same.

    Parameters
    ----------
    statistics : GramStatistics or MomentStatistics
        Sums over samples; they stay as they are.
    basis : TensorBasis
        Terms, in any order, that are all among those of ``statistics.basis``.
    n_threads : int, optional
        By default `gegenbauer.default_threads()`.

    Returns
    -------
    GramStatistics
        Of the same samples, targets and box.

    Raises
    ------
    ValueError
        A term was not summed, or `lam` is another one and what was summed are no moments.
    TooLargeError
        When the matrices cannot fit into memory.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GramStatistics, MomentStatistics, TensorBasis
    >>> from gegenbauer.ridge.statistics.other_terms import normal_equations
    >>> X, y = np.random.default_rng(0).uniform(size=(100, 2)), np.arange(100.0)
    >>> summed = MomentStatistics.from_data(TensorBasis(2, degree=20), X, y)
    >>> basis = TensorBasis(2, degree=6, lam=0.5, spectrum="orthonormal")
    >>> sums = normal_equations(summed, basis)
    >>> np.allclose(sums.gram, GramStatistics.from_data(basis, X, y).gram)
    True
    """
    threads = check_threads(n_threads)
    source = statistics
    if basis.lam != statistics.basis.lam:
        source = _of_lam(statistics, basis.lam)
    places = _places(basis, source.basis)
    if (places < 0).any():
        lacking = basis.indices[int((places < 0).argmax())].tolist()
        raise ValueError(
            f"the term of degrees {lacking} was not summed: give a basis whose terms are all among "
            f"those of {source.basis!r}"
        )
    result = GramStatistics(basis, source.n_outputs, scaling=source.scaling)
    result.n_samples, result.weight_sum = source.n_samples, source.weight_sum
    result.resolution, result._shift = source.resolution, source._shift
    scale = np.ones(basis.n_terms + source.n_outputs)
    if basis.spectrum != source.basis.spectrum:
        summed = source.basis.spectrum.term_weights(source.basis.indices[places])
        scale[: basis.n_terms] = basis.spectrum.term_weights(basis.indices) / summed
    at = np.concatenate([places, source.basis.n_terms + np.arange(source.n_outputs)])
    lower = np.tril(source._augmented(threads))
    whole = (lower + np.tril(lower, -1).T)[np.ix_(at, at)]
    result._sums = np.asfortranarray(whole * scale * scale[:, np.newaxis])
    result._require_finite_sums()
    return result


def _of_lam(statistics: Statistics, lam: float) -> MomentStatistics:
    """Return the same moments as those of the same set of terms with another `lam`."""
    summed = statistics.basis
    if not isinstance(statistics, MomentStatistics) or summed.index_set == "largest_weight":
        raise ValueError(
            Message(
                "sums of {} with `lam={:g}` have no other `lam`, got {:g}: sum moments of a set of "
                "terms that no spectrum defines, or sum each one",
                type(statistics).__name__,
                summed.lam,
                lam,
            )
        )
    result = copy.copy(statistics)
    # where moments lie depends on the set of the terms alone
    result.basis = TensorBasis(**{**summed._parameters(), "lam": lam, "spectrum": None})
    return result
