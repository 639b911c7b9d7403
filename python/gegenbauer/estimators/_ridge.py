"""What the classifier and the regressor of given terms share.

A thin layer: samples are checked and targets coded by :mod:`gegenbauer.estimators._targets`; here
:func:`~gegenbauer.solve_ridge` and :func:`~gegenbauer.ridge.predict` are called. Equation labels
refer to the paper: the weights are ``eq.weights_solution1``, the output is
``eq.network_output_equation``.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted

from gegenbauer._locks import exclusive
from gegenbauer.errors import IllConditionedWarning, PenalizedConstantWarning, stacklevel
from gegenbauer.estimators._base import CLIP_ADVICE, Range, advising
from gegenbauer.estimators._streaming import StreamEstimator
from gegenbauer.estimators._targets import checked_sample_weight, warn_of_light
from gegenbauer.ridge.expansions import predict
from gegenbauer.ridge.solve import solve_ridge
from gegenbauer.ridge.statistics._base import LEAST_RCOND

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

# Means so many standard deviations from zero are looked into, and what the penalty on the constant
# may cost, in standard deviations
_FAR_FROM_ZERO, _MOST_LOST = 10.0, 0.1

# So many samples show what the penalty costs, or twice as many as there are terms
_FEW = 1000


def _may_be_far(
    Y: NDArray[np.float64], weight: NDArray[np.float64] | None, total: float, least: float
) -> NDArray[np.bool_]:
    """Leave out the columns whose means are certainly less than `least` deviations from zero.

    One pass without copies. The variance is what is left of the mean square, which has digits
    enough of it where it is not much smaller; for others, and beyond the range of squares, a
    column may be far.
    """
    n_samples, n_outputs = Y.shape
    mean, square = np.zeros(n_outputs), np.zeros(n_outputs)
    by_rows = abs(Y.strides[0]) >= abs(Y.strides[1])
    step = max(1, 2**15 // (n_outputs if by_rows else n_samples))  # what a cache holds
    with np.errstate(all="ignore"):
        for start in range(0, n_samples if by_rows else n_outputs, step):
            part = slice(start, start + step)
            rows, columns = (part, slice(None)) if by_rows else (slice(None), part)
            values = Y[rows, columns]
            weighted = values if weight is None else weight[rows, np.newaxis] * values
            mean[columns] += weighted.sum(axis=0)
            square[columns] += np.einsum("ij,ij->j", weighted, values)
        mean /= total
        square /= total
        limit = min(least, 1e3) / 2
        near = (mean**2 <= limit**2 * (square - mean**2)) & (square > np.finfo(float).tiny / _EPS)
    return ~near


def _distances(mean: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many standard deviations means are from zero; 0 where all is rounding."""
    known = spread > _EPS * np.abs(mean)
    return np.where(known, np.abs(mean) / np.where(spread > 0, spread, 1.0), 0.0)


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
    term_coef_: NDArray[np.float64]
    engine_: str
    solver_: str
    precision_: str | None
    rcond_: float
    n_refinements_: int

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._forget_fit()
        given = checked_sample_weight(sample_weight, _num_samples(X))
        X, targets, weight, used = self._checked_rows(X, y, sample_weight)
        if given is not None:
            warn_of_light(given[used], used.size)
        self._fit_inputs(X)
        with advising("y or sample_weight is too large, scale it down"):
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
                n_threads=self._n_threads(),
            )
        self._keep_solution(solution, flat=targets.ndim == 1)
        if self.penalize_constant and is_regressor(self):
            self._warn_if_constant_is_dear(X, targets.reshape(len(X), -1), weight)

    def _warn_if_constant_is_dear(
        self, X: NDArray[Any], Y: NDArray[np.float64], weight: NDArray[np.float64] | None
    ) -> None:
        """Warn where the penalty on the constant costs more than a tenth of the targets' spread.

        A fit is linear in its targets: what it makes of Y beyond a fit with a free constant is the
        mean times what it makes of targets of 1. How far that is from 1 between the samples is seen
        by a fit to every other one, or to twice the terms where samples are many, with the share
        of alpha that is theirs; only targets whose mean is far from zero are worth it.
        """
        flat = Y.shape[1] == 1
        n = len(X)
        total = n if weight is None else float(weight.sum())
        least = self._least_distance(total) if n >= 4 * self.n_terms_ else _FAR_FROM_ZERO
        columns = np.flatnonzero(_may_be_far(Y, weight, total, least))
        if n < 4 or columns.size == 0:
            return
        Y = Y[:, columns]
        size = np.abs(Y).max(axis=0)
        scaled = Y / np.where(size > 0, size, 1.0)
        mean = np.average(scaled, axis=0, weights=weight)
        spread = np.sqrt(np.average((scaled - mean) ** 2, axis=0, weights=weight))
        far = _distances(mean, spread)
        column = int(far.argmax())
        if far[column] < least:
            return
        step = max(2, n // max(2 * self.n_terms_, _FEW))
        some, others = slice(0, None, step), slice(step // 2, None, step)
        weight_of_some = None if weight is None else weight[some]
        share = (len(X[some]) if weight is None else float(weight[some].sum())) / total
        if not share > 0:
            return
        options: dict[str, Any] = {"scaling": self.scaling_, "n_threads": self._n_threads()}
        # by whatever engine and solver: it is not the fit, and must not fail where that does not
        ones = solve_ridge(
            self.basis_, X[some], np.ones((len(X[some]), 1)), self.alpha * share,
            sample_weight=weight_of_some, **options,
        )  # fmt: skip
        missed = 1.0 - predict(self.basis_, X[others], ones.weights, **options)
        lost = float(far[column] * np.median(np.abs(missed)))
        self._warn_of_constant(far[column], None if flat else int(columns[column]), lost)

    def _least_distance(self, weight: float) -> float:
        """Return from which distance on the penalty on the constant may cost much, whatever X is.

        Of many samples, targets of 1 are missed by no more than sqrt(alpha / weight): the weight 1
        of the constant alone would be penalised by alpha.
        """
        missed = float(np.sqrt(float(self.alpha) / weight))
        return max(_FAR_FROM_ZERO, _MOST_LOST / missed) if missed > 0 else np.inf

    def _look_at_sums(self) -> None:
        """Warn as `_warn_if_constant_is_dear` does, from sums, which know no single sample.

        A fit to targets of 1 misses them in the samples by what the sums say, and between them by
        no more than n / (n - n_terms) times that, as far as samples outnumber the terms.
        """
        sums = self.statistics_
        n, weight = sums.n_samples, float(sums.weight_sum)
        if getattr(self, "class_weight", None) is None:  # else weights are not those of samples
            warn_of_light(weight, n)
        if weight <= 0:  # what is left when samples of far larger weights were forgotten
            return
        if not (self.penalize_constant and is_regressor(self)) or n < max(4, 2 * self.n_terms_):
            return
        mean, spread = sums._mean_and_spread()
        far = _distances(mean, spread)
        column = int(far.argmax())
        if far[column] < self._least_distance(weight):
            return
        coding = np.zeros((mean.size, 1)), np.ones(1)
        ones = sums._solve(self.alpha, coding, penalize_constant=True, n_threads=self._n_threads())
        square = float(sums._squared_errors(ones.weights, coding)[0, 0]) / weight
        missed = np.sqrt(min(square, float(self.alpha) / weight)) * n / (n - self.n_terms_)
        of = None if mean.size == 1 else column
        self._warn_of_constant(far[column], of, float(far[column] * missed))

    def _warn_of_constant(self, far: float, column: int | None, lost: float) -> None:
        if lost < _MOST_LOST:
            return
        which = "" if column is None else f" in column {column}"
        warnings.warn(
            f"The mean of y{which} is {far:.3g} times its standard deviation, and the "
            "constant term that has to carry it is penalised: for this alone predictions are off "
            f"by some {lost:.2g} standard deviations. Set penalize_constant=False, or subtract the "
            "mean from y.",
            PenalizedConstantWarning,
            stacklevel=stacklevel(),
        )

    def _keep_solution(self, solution: RidgeSolution, *, flat: bool) -> None:
        self.term_coef_ = solution.weights[:, 0] if flat else solution.weights
        self.engine_ = solution.engine
        self.solver_ = solution.solver
        self.precision_ = solution.precision
        self.rcond_ = float(solution.rcond)
        self.n_refinements_ = int(solution.n_refinements)
        self._warn_if_ill_conditioned(solution.error)

    def _warn_if_ill_conditioned(self, error: float) -> None:
        # weights that cancel may be off by all of themselves, and by next to nothing of the targets
        if error <= _LARGEST_ERROR or self.rcond_ >= _LEAST_ILL_CONDITIONED:
            return
        if "statistics_" in vars(self):
            way_out = "fit, which refines from the samples"
        elif self.solver == "cholesky":
            way_out = 'solver="auto", which goes on where Cholesky loses digits'
        else:
            way_out = "leave out inputs that repeat others"
        warnings.warn(
            f"The linear system of this fit is ill-conditioned: its reciprocal condition number is "
            f"about {self.rcond_:.1e}, and rounding may change the weights by {min(error, 1):.0e} "
            f"of their size. Use a larger alpha (now {float(self.alpha):g}), fewer terms "
            f"(now {self.n_terms_}), or {way_out}.",
            IllConditionedWarning,
            stacklevel=stacklevel(),
        )

    def _as_it_is(self) -> Self:
        """Return a copy with its weights: another thread may go on learning meanwhile."""
        model = object.__new__(type(self))  # copy.copy takes ten times as long
        model.__dict__.update(self.__dict__)
        if "term_coef_" in vars(model):
            return model
        with exclusive(self):
            self.term_coef_  # noqa: B018  # solved for here, so that they are solved for once
            model.__dict__.update(self.__dict__)
        return model

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Return the outputs (S, K), or (S,) where ``term_coef_`` is one-dimensional."""
        check_is_fitted(self)
        model = self._as_it_is()
        X = model._validate_inputs(X, reset=False)
        model._apply_range_policy(X)
        single = model.term_coef_.ndim == 1
        with advising(f"{CLIP_ADVICE}, or term_coef_ is too large, fit with a larger alpha"):
            outputs = predict(
                model.basis_,
                X,
                model.term_coef_[:, np.newaxis] if single else model.term_coef_,
                scaling=model._current_scaling(),
                n_threads=model._n_threads(),
            )
        return outputs[:, 0] if single else outputs
