"""Which of both statistics a stream of samples is summed into."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gegenbauer._memory import require_memory
from gegenbauer._messages import Ways
from gegenbauer.ridge.cost import moments_exist, moments_serve
from gegenbauer.ridge.statistics.gram import GramStatistics
from gegenbauer.ridge.statistics.moments import MomentStatistics

if TYPE_CHECKING:
    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = ["Statistics", "choose_statistics"]

Statistics: TypeAlias = GramStatistics | MomentStatistics


def choose_statistics(
    basis: TensorBasis, n_outputs: int = 1, *, engine: str = "auto"
) -> type[Statistics]:
    """Return what serves best for many samples, or what an engine names.

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    n_outputs : int
        Number of targets; 1 where more may come.
    engine : {"auto", "primal", "moments"}
        As for `solve_ridge`: moments whose plan would be too large give way to features.

    Raises
    ------
    TooLargeError
        When the normal equations, which a solve makes of either, cannot fit into memory.
    """
    size = basis.n_terms
    require_memory(
        8.0 * size * size,
        f"the normal matrix of {size} x {size} numbers",
        Ways("lower", "`n_terms`", "`degree`"),
    )
    if engine == "moments":
        by_moments = moments_exist(basis)
    else:
        by_moments = engine == "auto" and moments_serve(basis, n_outputs)
    return MomentStatistics if by_moments else GramStatistics
