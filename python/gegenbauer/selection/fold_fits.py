"""The fits without each fold, for every penalty, from the sums over each fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.selection._features import EPS, rounding_error, sum_of_features
from gegenbauer.selection.candidates import TRUSTED, no_finite_loss
from gegenbauer.selection.kfold import sums_of_others

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.ridge.statistics._base import Coding
    from gegenbauer.ridge.statistics.choice import Statistics

__all__ = ["FoldFits", "TrialFits", "best_of_equals"]


def best_of_equals(losses: Doubles, alphas: Doubles, name: str = "alpha") -> int:
    """Return the place of the smallest loss, of equal ones that of the largest alpha.

    Raises
    ------
    ValueError
        No loss is finite.
    """
    equal = np.flatnonzero(losses == losses.min())
    at = int(equal[np.argmax(alphas[equal])])
    if not np.isfinite(losses[at]):
        raise no_finite_loss(name)
    return at


class FoldFits:
    """What a fit to all other folds makes of each fold, for every penalty, from sums alone.

    The sums without a fold are those of the others, so that no sample is needed: squared errors
    of samples held out are sums, too.

    Parameters
    ----------
    folds : sequence of GramStatistics or MomentStatistics
        Sums over each of two folds or more, of one basis and one box; those of no samples count
        for nothing.
    alphas : ndarray, shape (n_alphas,)
        Penalties, > 0.
    coding : (ndarray, ndarray) or None
        Targets are ``Y A + b`` of what was summed, None for Y itself.
    penalize_constant : bool
        Whether the penalty counts for the constant, too.
    n_threads : int
        Threads of the sums.

    Attributes
    ----------
    total : GramStatistics or MomentStatistics
        Sums over all samples.
    losses : ndarray, shape (n_alphas,)
        Mean squared error of all samples held out, and of the outputs; infinite where
        rounding errors would count.

    Raises
    ------
    ValueError
        All samples are in one fold.
    """

    def __init__(
        self,
        folds: Sequence[Statistics],
        alphas: Doubles,
        *,
        coding: Coding | None = None,
        penalize_constant: bool,
        n_threads: int,
    ) -> None:
        self.alphas = alphas
        self.total = sum(folds[1:], start=folds[0])
        self._n_threads = n_threads
        self._weights: list[Doubles | None] = []
        errors, self._rounding = np.zeros(alphas.size), np.zeros(alphas.size)
        for fold, rest in zip(folds, sums_of_others(folds), strict=True):
            if fold.n_samples == 0:
                self._weights.append(None)
                continue
            if rest.weight_sum <= 0:
                raise ValueError("every fold must leave samples of positive weight to fit")
            weights, rounding = self._fit(rest, coding, bool(penalize_constant))
            errors += fold._squared_errors(weights, coding).mean(axis=1)
            self._rounding = np.maximum(self._rounding, rounding)
            self._weights.append(weights)
        self.losses = self.trusted(errors / self.total.weight_sum)

    def _fit(
        self, rest: Statistics, coding: Coding | None, penalize_constant: bool
    ) -> tuple[Doubles, Doubles]:
        """Return weights (n_terms, n_alphas * n_outputs), and the rounding error of each alpha."""
        spectrum, _ = rest._spectrum(coding, free=not penalize_constant, n_threads=self._n_threads)
        return (
            spectrum.weights(self.alphas),
            rounding_error(spectrum, self.alphas, self.total.n_samples),
        )

    def trusted(self, losses: Doubles) -> Doubles:
        """Return losses, infinite where rounding errors would count and where they are NaN."""
        return np.where((self._rounding > TRUSTED) | np.isnan(losses), np.inf, losses)

    def outputs(
        self, X: npt.NDArray[np.floating], fold_of: npt.NDArray[np.intp], at: int | None = None
    ) -> Doubles:
        """Return what some samples get from the fit without their fold.

        Parameters
        ----------
        X : ndarray, shape (n_samples, n_features)
            Inputs.
        fold_of : ndarray of int, shape (n_samples,)
            The fold that each was summed in.
        at : int, optional
            Which alpha; None for all.

        Returns
        -------
        ndarray, shape (n_alphas or 1, n_samples, n_outputs)
        """
        n_alphas = self.alphas.size if at is None else 1
        known = next(weights for weights in self._weights if weights is not None)
        n_outputs = known.shape[1] // self.alphas.size
        found = np.zeros((n_alphas, len(X), n_outputs))
        box: InputScaling | None = self.total.scaling
        for number, weights in enumerate(self._weights):
            own = np.flatnonzero(fold_of == number)
            if own.size == 0 or weights is None:
                continue
            if at is not None:
                weights = weights[:, at * n_outputs : (at + 1) * n_outputs]
            values = sum_of_features(self.total.basis, X[own], weights, box, self._n_threads)
            found[:, own] = values.reshape(own.size, n_alphas, n_outputs).transpose(1, 0, 2)
        return found


class TrialFits(FoldFits):
    """The same for a few penalties, each by a factorisation of its own: a twentieth of the time.

    An infinite alpha stands for the constant, the mean of the samples of all other folds.

    Raises
    ------
    numpy.linalg.LinAlgError
        An alpha is too small for float64.
    """

    def _fit(
        self, rest: Statistics, coding: Coding | None, penalize_constant: bool
    ) -> tuple[Doubles, Doubles]:
        found = []
        for alpha in self.alphas.tolist():
            if np.isfinite(alpha):
                solution = rest._solve(alpha, coding, penalize_constant, self._n_threads)
                found.append(solution.weights)
            else:
                found.append(rest._constant(coding, self._n_threads))
        trace = float(np.trace(rest.gram))
        with np.errstate(divide="ignore"):
            condition = trace / self.alphas  # at most
        rounding = 4.0 * EPS * np.sqrt(self.total.n_samples) * (1.0 + condition)
        return np.hstack(found), np.minimum(rounding, 1.0)
