"""What the solve of an estimator of given terms has found, and how the estimator shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sklearn.utils.validation import check_is_fitted

from gegenbauer._locks import exclusive
from gegenbauer.estimators._basis import BasisEstimator
from gegenbauer.estimators._targets import TargetEstimator

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles
    from gegenbauer.ridge.expansions import TermExpansion

__all__ = ["Solution", "SolvedEstimator"]


class Solution(NamedTuple):
    """What a solve has found: the fitted function, and how it was found."""

    expansion: TermExpansion
    engine: str
    solver: str
    precision: str | None
    rcond: float
    n_refinements: int | None
    alpha_results: dict[str, Doubles] | None = None


class SolvedEstimator(BasisEstimator, TargetEstimator):
    """An estimator that shows its solution, for which it solves at the first use."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BasisEstimator._parameter_constraints,
        **TargetEstimator._parameter_constraints,
    }

    # None unless there is one, and what was learned has not changed since
    _solution: Solution | None = None

    def _solve_statistics(self) -> None:
        """Set the solution, of the sums over the samples."""
        raise NotImplementedError

    def _forget_solution(self) -> None:
        self._solution = None

    def _solved(self) -> Solution:
        """Return the solution; of sums that have changed, solve for it."""
        solution = self._solution
        if solution is not None:
            return solution
        check_is_fitted(self)
        with exclusive(self):  # the solution must be that of the sums that are there then
            if self._solution is None:
                self._solve_statistics()
            assert self._solution is not None
            return self._solution

    @property
    def expansion_(self) -> TermExpansion:
        """The fitted function, of unscaled inputs."""
        return self._solved().expansion

    @property
    def term_coef_(self) -> Doubles:
        """Coefficients of the terms, (n_terms,) or (n_terms, n_outputs)."""
        return self._solved().expansion.coef

    @property
    def engine_(self) -> str:
        """The way to the normal equations that was taken."""
        return self._solved().engine

    @property
    def solver_(self) -> str:
        """How the system was solved."""
        return self._solved().solver

    @property
    def precision_(self) -> str | None:
        """Precision of the products of features behind the factorisation."""
        return self._solved().precision

    @property
    def rcond_(self) -> float:
        """Estimate of the reciprocal condition number of the system solved."""
        return self._solved().rcond

    @property
    def n_refinements_(self) -> int | None:
        """Number of refinement steps taken."""
        return self._solved().n_refinements

    @property
    def alpha_results_(self) -> dict[str, Doubles]:
        """Penalties that `choose_alpha` tried, and their scores."""
        if self._solution is None or self._solution.alpha_results is None:
            raise self._lacks("alpha_results_", "choose_alpha has not chosen its penalty")
        return self._solution.alpha_results
