"""Automatic model selection by the sums over folds, where samples are too many to be kept.

A draw of them is at hand: on some of it the spectrum is learned, by all of it classifiers are
judged, and from its outputs held out come probabilities and intervals. Where the sums come from is
the matter of subclasses: partitions of a cluster, or one pass over a stream.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from gegenbauer._memory import require_memory
from gegenbauer._messages import Message, Ways
from gegenbauer._validation import check_threads
from gegenbauer.basis.kernels import SpectrumKernel
from gegenbauer.estimators._final_fit import LeftOut
from gegenbauer.estimators._search import SearchEstimator
from gegenbauer.estimators._uncertainty import estimate_noise_variance
from gegenbauer.ridge._eigen import PrimalInverse
from gegenbauer.ridge.cost import default_landmarks
from gegenbauer.ridge.expansions import (
    KernelExpansion,
    LandmarkPosterior,
    TermExpansion,
    TermPosterior,
)
from gegenbauer.ridge.landmarks import Landmarks
from gegenbauer.ridge.statistics.landmarks import LandmarkStatistics
from gegenbauer.selection.basis_search import PAPER_ALPHAS
from gegenbauer.selection.fold_fits import FoldFits, TrialFits, best_of_equals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.basis.tensor_basis import TensorBasis
    from gegenbauer.estimators._samples import Samples
    from gegenbauer.ridge.statistics._base import Coding
    from gegenbauer.ridge.statistics.choice import Statistics
    from gegenbauer.selection.candidates import Loss

__all__ = ["WIDE_ALPHAS", "SumsRegression", "SumsSearch", "splits_of_folds"]

# The paper's penalties and beyond: further ones cost next to nothing here
WIDE_ALPHAS = np.concatenate([
    2.0 ** np.arange(-45.0, -30.0), PAPER_ALPHAS, 2.0 ** np.arange(31.0, 41.0),
])  # fmt: skip

# Penalties that are tried before all of a grid, the largest first, and every how many of it
_TRIALS, _APART = 5, 4

# Share of the best penalty's gain over a constant that one of these has at least: the best is at
# most four times as large or as small
_SHARE_OF_BEST = 0.5

# A sum of eigenvalues that is no larger, in penalties, lets Cholesky keep all digits that count
_EASY = 1e8

# Share of the weight of all terms, over the samples, from which on a finite set of them serves
_NEARLY_ALL = 0.99


def splits_of_folds(folds: Places, n_folds: int) -> list[tuple[Places, Places]]:
    """Return the splits of samples, given the fold of each; one fold is an error."""
    held_out = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    if len(held_out) < 2:
        raise ValueError(
            Message(
                "the {} samples fall into one of the folds of `cv={}`: there are too few",
                len(folds),
                n_folds,
            )
        )
    return [(np.setdiff1d(np.arange(len(folds)), test), test) for test in held_out]


class SumsSearch(SearchEstimator):
    """Penalty, final fit and outputs held out, from the sums over each fold."""

    loo_targets_: NDArray[Any]
    loo_weights_: Doubles | None

    # While it is being fitted
    _fold_of: Places  # of the distinct samples of the draw
    _sum: Statistics  # over all samples
    _sum_coding: Coding | None  # of their targets
    _sum_weights: Doubles  # of the features, for these targets
    _centres: NDArray[Any]  # unscaled, of landmarks

    def _require_numbers_on_paper(self) -> None:
        """Refuse a list of categories where the basis is the paper's, which takes none."""
        given = self.categorical_features
        if self._on_paper and not (given is None or isinstance(given, str)):
            raise ValueError(
                Message(
                    "`spectrum=None` takes numbers alone, and `categorical_features` names others",
                    ways=["leave `spectrum` out", "encode the columns"],
                )
            )

    def _default_n_terms(self, data: Samples) -> int:
        """Of few samples, which are all in the draw, no more terms: sums have no dual way."""
        return min(super()._default_n_terms(data), data.n)

    def _require_outputs(self, data: Samples, n_alphas: int, n_terms: int) -> None:
        """Refuse what outputs for all penalties do not fit into memory."""
        K = data.Y.shape[1]
        require_memory(
            8.0 * n_alphas * data.Y.size + 8.0 * n_alphas * n_terms * K,
            f"outputs of {data.n} samples for {n_alphas} alphas",
            Ways("give fewer", "`alphas`", "outputs"),
        )

    def _usual_landmarks(self, data: Samples, basis: TensorBasis, n_samples: int) -> int:
        """Return the number of landmarks in the place of a basis; 0 where it serves as well."""
        if self._on_paper or self.n_terms is not None:
            return 0
        try:
            kernel = SpectrumKernel(data.X.shape[1], self.spectra_[0])
        except ValueError:  # the sums of some spectra are not known
            return 0
        if self._level(basis, data) >= _NEARLY_ALL * self._kernel_level(kernel, data):
            return 0
        return default_landmarks(n_samples)

    def _forget_sums(self) -> None:
        """Let go of what is used while a model is fitted."""
        del self._sum, self._sum_coding, self._sum_weights
        if self._all_terms:
            del self._centres

    def _fold_fits(
        self, folds: Sequence[Statistics], alphas: Doubles, coding: Coding | None = None,
        kind: type[FoldFits] = FoldFits,
    ) -> FoldFits:  # fmt: skip
        return kind(
            folds, alphas, coding=coding, penalize_constant=bool(self.penalize_constant),
            n_threads=check_threads(self._n_threads()),
        )  # fmt: skip

    def _fits_of_landmarks(
        self,
        folds: Sequence[Statistics],
        alphas: Doubles,
        data: Samples,
        loss: Loss,
        coding: Coding | None = None,
    ) -> FoldFits:
        """Return the fits for all alphas, or for the largest where none is worth more.

        Eigenvectors of thousands of features in each fold take most of the time. Where a few
        penalties, by Cholesky's factor, are no better than the constant beyond what chance may
        give, no other is by much.
        """
        if self._alpha_grid() is None:
            trials = np.sort(alphas)[::-1][: _TRIALS * _APART : _APART]
            middle = trials[[trials.size // 2]]
            for some in (middle, np.setdiff1d(trials, middle)):
                if self._beat_constants(folds, some, data, loss, coding):
                    break
            else:
                return self._fold_fits(folds, trials[:1], coding, TrialFits)
        return self._fold_fits(folds, alphas, coding)

    def _beat_constants(
        self,
        folds: Sequence[Statistics],
        alphas: Doubles,
        data: Samples,
        loss: Loss,
        coding: Coding | None,
    ) -> bool:
        """Whether one of some penalties is better than a constant beyond what chance may give."""
        try:
            fits = self._fold_fits(folds, np.append(alphas, np.inf), coding, TrialFits)
        except np.linalg.LinAlgError:
            return True
        *losses, constant = self._losses(fits, data, loss).tolist()
        chance = self._chance(constant, data)
        return chance is None or not min(losses) >= constant - _SHARE_OF_BEST * chance

    def _losses(self, fits: FoldFits, data: Samples, loss: Loss) -> Doubles:
        """Return the loss of each alpha: squared errors of all samples, or that of the draw."""
        if not is_classifier(self):
            return fits.losses
        outputs = fits.outputs(data.X, self._fold_of)
        return fits.trusted(np.asarray(loss(outputs, np.arange(data.n)), dtype=np.float64))

    def _keep_best(
        self, fits: FoldFits, losses: Doubles, data: Samples, coding: Coding | None = None
    ) -> LeftOut:
        """Choose alpha, solve, and return the outputs of the draw held out."""
        at = best_of_equals(losses, fits.alphas)
        total = self._sum = fits.total
        self._sum_coding = coding
        self.alpha_ = float(fits.alphas[at])
        fit = total._solve(
            self.alpha_, coding, bool(self.penalize_constant), check_threads(self._n_threads())
        )
        self.best_score_ = -float(losses[at])
        self.alpha_results_ = {"alpha": fits.alphas, "score": -losses}
        self._sum_weights = fit.weights
        if isinstance(total.basis, Landmarks):
            coef, intercept = total.basis.coefficients(fit.weights)
            self.expansion_ = KernelExpansion(
                total.basis.kernel, self._centres, coef, self.scaling_, intercept
            )
            self.n_terms_ = np.inf
        else:
            self.expansion_ = TermExpansion(
                total.basis, fit.weights, self.scaling_, np.zeros(data.Y.shape[1])
            )
            self.n_terms_ = total.basis.n_terms
        self.solver_, self.rcond_, self.engine_ = fit.solver, float(fit.rcond), fit.engine
        return LeftOut(fits.outputs(data.X, self._fold_of, at)[0])


class SumsRegression(SumsSearch):
    """Uncertainty of a regression whose samples are sums; the draw stands for them elsewhere."""

    _unit: Doubles

    def _weight_of_all(self, data: Samples) -> float:  # noqa: ARG002  # it is a draw
        return self._sum.weight_sum

    def _judge_noise(
        self,
        data: Samples,  # noqa: ARG002  # it is a draw
        left: float | None,  # known of sums
    ) -> None:
        free, total = not self.penalize_constant, self._sum
        known, dof = self._posterior_of_sums(total, free)
        if isinstance(self.expansion_, KernelExpansion):
            assert isinstance(total, LandmarkStatistics)
            of_centres = LandmarkPosterior(self.alpha_, total.basis.factor, *known)
            self.expansion_ = replace(self.expansion_, posterior=of_centres)
        else:
            assert isinstance(self.expansion_, TermExpansion)  # there is one model
            self.expansion_ = replace(self.expansion_, posterior=TermPosterior(*known))
        self.effective_dof_ = dof + free
        squares = total._squared_errors(self._sum_weights, self._sum_coding)[0] * self._unit**2
        left = total.weight_sum - self.effective_dof_
        self.noise_variance_ = estimate_noise_variance(
            squares, left, total.weight_sum, total.n_samples, self.effective_dof_
        )

    def _posterior_of_sums(
        self, total: Statistics, free: bool
    ) -> tuple[tuple[Doubles, Doubles, float, bool], float]:
        """Return what a posterior holds of the coefficients, and their degrees of freedom."""
        threads = check_threads(self._n_threads())
        if np.trace(total.gram) <= _EASY * self.alpha_:
            system, _ = total._system(self._sum_coding, threads)
            found = PrimalInverse(system, total.basis.n_terms, self.alpha_, free=free)
            root, means, dof = found.root, found.mean_features, found.dof
        else:
            spectrum, _ = total._spectrum(self._sum_coding, free=free, n_threads=threads)
            kept = spectrum.eigenvalues + self.alpha_
            root, means = spectrum.vectors / np.sqrt(kept), spectrum.mean_features
            dof = float((spectrum.eigenvalues / kept).sum())
        return (root, means, 1.0 / total.weight_sum if free else 0.0, free), dof
