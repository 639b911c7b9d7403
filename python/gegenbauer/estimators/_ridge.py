"""What the classifier and the regressor of given terms share.

A thin layer: samples are checked and targets coded by :mod:`gegenbauer.estimators._targets`; here
:func:`~gegenbauer.solve_ridge` and :func:`~gegenbauer.ridge.predict` are called. Equation labels
refer to the paper: the weights are ``eq.weights_solution1``, the output is
``eq.network_output_equation``.
"""

from __future__ import annotations

import copy
import warnings
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted

from gegenbauer._locks import exclusive
from gegenbauer._messages import Message, Ways
from gegenbauer.errors import IllConditionedWarning, stacklevel
from gegenbauer.estimators._base import TARGETS_ADVICE, Range, advising
from gegenbauer.estimators._constant import (
    distances,
    least_distance,
    may_miss_constants,
    warn_if_constant_is_dear,
    warn_of_constant,
    warn_of_same,
)
from gegenbauer.estimators._solution import Solution
from gegenbauer.estimators._streaming import StreamEstimator
from gegenbauer.estimators._targets import checked_sample_weight, warn_of_light
from gegenbauer.inspection.sample_marginals import nodes_for
from gegenbauer.ridge.expansions import TermExpansion
from gegenbauer.ridge.solve import solve_ridge
from gegenbauer.ridge.statistics._base import LEAST_RCOND

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.ridge.solve import RidgeSolution

__all__ = ["PAPER_ALPHA", "PAPER_LAM", "PAPER_N_TERMS", "GegenbauerEstimator"]

# The estimators' own defaults: the setting of the paper.
PAPER_N_TERMS = 1000

PAPER_LAM = 0.05

PAPER_ALPHA = 2.0**-12

_EPS = float(np.finfo(np.float64).eps)

# Reciprocal condition numbers from which on rounding changes predictions by less than 1e-8 of the
# largest target
_LEAST_ILL_CONDITIONED = _EPS**0.5

# Estimated relative error of the weights from which on a fit warns: two to three digits are left
_LARGEST_ERROR = _EPS / LEAST_RCOND


class GegenbauerEstimator(StreamEstimator):
    """Fit and output common to regression and classification."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StreamEstimator._parameter_constraints,
        "alpha": [Range(Real, 0, None, closed="left")],
        "penalize_constant": ["boolean"],
        "engine": [StrOptions({"auto", "primal", "moments", "dual", "kernel"})],
        "solver": [StrOptions({"auto", "cholesky", "orthogonal"})],
        "precision": [StrOptions({"auto", "float64"})],
    }

    precision: str

    # moments are sums of polynomials alone
    @property
    def _takes_categories(self) -> bool:
        return super()._takes_categories and self.engine != "moments"

    @property
    def _takes_missing(self) -> bool:
        return super()._takes_missing and self.engine != "moments"

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        raw_X = X
        X, targets, weight, used = self._checked_rows(X, y, sample_weight)
        given = checked_sample_weight(sample_weight, _num_samples(raw_X))
        if given is not None:
            warn_of_light(given[used], used.size)
        X = self._fit_inputs(X, weight)
        self._keep_marginals(X, weight, nodes_for(self.basis_))
        with advising(TARGETS_ADVICE):
            solution = solve_ridge(
                self.basis_,
                X,
                targets if targets.ndim == 2 else targets[:, np.newaxis],
                self.alpha,
                sample_weight=weight,
                scaling=self.scaling_,
                penalize_constant=bool(self.penalize_constant),
                engine=self.engine,
                solver=self.solver,
                precision=self.precision,
                check_finite=False,
                n_threads=self._n_threads(),
            )
        self._keep_solution(solution, flat=targets.ndim == 1)
        if self.penalize_constant and self._y_is_numeric:
            warn_if_constant_is_dear(
                self.basis_, X, targets.reshape(len(X), -1), weight, float(self.alpha),
                flat=targets.ndim == 1, scaling=self.scaling_, n_threads=self._n_threads(),
            )  # fmt: skip

    def _look_at_sums(self) -> None:
        """Warn as `warn_if_constant_is_dear` does, from sums, which know no single sample.

        A fit to targets of 1 misses them in the samples by what the sums give, and between them by
        no more than n / (n - n_terms) times that, as far as samples outnumber the terms; where they
        do not, by no less than that.
        """
        sums = self.statistics_
        n, weight = sums.n_samples, float(sums.weight_sum)
        if self._class_weight_of_rows is None:  # else weights are not those of samples
            warn_of_light(weight, n)
        if weight <= 0:  # what is left when samples of far larger weights were forgotten
            return
        if not (self.penalize_constant and is_regressor(self)) or n < 4:
            return
        mean, spread = sums._mean_and_spread()
        far, same = distances(mean, spread), (spread == 0).all() and mean.any()
        column, alpha = int(far.argmax()), float(self.alpha)
        is_far = far[column] >= least_distance(alpha, weight)
        if not is_far:
            if not (same and may_miss_constants(alpha, weight)):
                return
            column = int(np.abs(mean).argmax())
        coding = np.zeros((mean.size, 1)), np.ones(1)
        ones = sums._solve(self.alpha, coding, penalize_constant=True, n_threads=self._n_threads())
        square = float(sums._squared_errors(ones.weights, coding)[0, 0]) / weight
        between = n / (n - self.n_terms_) if n >= 2 * self.n_terms_ else 1.0
        missed = between * np.sqrt(max(0.0, min(square, alpha / weight)))
        of = None if mean.size == 1 else column
        if is_far:
            warn_of_constant(far[column], of, float(far[column] * missed))
        else:
            warn_of_same(float(mean[column]), of, float(missed))

    def _keep_solution(self, solution: RidgeSolution, *, flat: bool) -> None:
        coef = solution.weights[:, 0] if flat else solution.weights
        self._solution = Solution(
            TermExpansion(self.basis_, coef, self.scaling_),
            solution.engine,
            solution.solver,
            solution.precision,
            float(solution.rcond),
            int(solution.n_refinements),
        )
        self._warn_if_ill_conditioned(solution.error)

    def _warn_if_ill_conditioned(self, error: float) -> None:
        # weights that cancel may be off by all of themselves, and by next to nothing of the targets
        if error <= _LARGEST_ERROR or self.rcond_ >= _LEAST_ILL_CONDITIONED:
            return
        if self._statistics is not None:
            way_out = Message("`fit()` to refine from the samples")
        elif self.solver == "cholesky":
            way_out = Message("`solver='auto'` to go on where Cholesky loses digits")
        else:
            way_out = Message("leave out inputs that repeat others")
        warnings.warn(
            Message(
                "The linear system of this fit is ill-conditioned: its reciprocal condition "
                "number is about {:.1e}, and rounding may change the weights by {:.0e} of their "
                "size",
                self.rcond_,
                min(error, 1),
                ways=Ways(
                    "use",
                    Message("a larger `alpha` (now {:g})", float(self.alpha)),
                    Message("fewer terms (now {})", self.n_terms_),
                    way_out,
                    last=", or ",
                ),
                joint=". ",
                end=".",
            ),
            IllConditionedWarning,
            stacklevel=stacklevel(),
        )

    def _as_it_is(self) -> Self:
        """Return a copy with its weights: another thread may go on learning meanwhile."""
        model = copy.copy(self)
        if model._solution is not None:
            return model
        with exclusive(self):
            self._solved()  # here, so that they are solved for once
            return copy.copy(self)

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Return the outputs (S, K), or (S,) where ``term_coef_`` is one-dimensional."""
        return self._of_samples(X, TermExpansion.evaluate)[1]

    def _derivatives(self, X: Any, order: int = 1) -> tuple[NDArray[Any], Doubles]:
        """Return checked samples (S, m), and first or second derivatives of the outputs there."""
        return self._of_samples(X, TermExpansion.gradient if order == 1 else TermExpansion.hessian)

    def _evaluated(
        self, X: Any, make: Callable[[TermExpansion], TermExpansion]
    ) -> tuple[NDArray[Any], Doubles]:
        """Return checked samples, and the values there of what is made of the fitted function."""
        return self._of_samples(X, TermExpansion.evaluate, make)

    def _samples_to_explain(self, X: Any) -> NDArray[Any]:
        """Return checked samples, wherever they are."""
        check_is_fitted(self)
        return np.asarray(self._as_it_is()._validate_inputs(X, reset=False))

    def _of_samples(
        self,
        X: Any,
        evaluate: Callable[..., Doubles],
        make: Callable[[TermExpansion], TermExpansion] | None = None,
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return checked samples, and what a method of the fitted function gives there.

        Or of what is made of that. Numbers that were never missing get means.
        """
        if self._solution is None:  # else it is, and tags need not be made to find that out
            check_is_fitted(self)
        model = self._as_it_is()
        X = model._validate_inputs(X, reset=False)
        model._apply_range_policy(X)
        function = model._solved().expansion.with_scaling(model._current_scaling())
        if make is not None:
            function = make(function)
        threads = model._n_threads()
        with advising(model._results_advice):
            return X, model._with_means(
                X,
                lambda X: evaluate(function, X, n_threads=threads),
                lambda inputs, X, _: evaluate(function.averaged(inputs), X, n_threads=threads),
            )
