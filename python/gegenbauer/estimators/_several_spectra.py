"""Models of several spectra, each learned without a part of the samples.

A spectrum that is learned has seen every sample. So what a sample is predicted by, when it is left
out, has seen it as well, and where samples are few for the number of inputs the prediction is too
good. Of five spectra, each learned without a fifth of the samples, one has not seen the sample.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import shown
from gegenbauer.estimators._final_fit import LeftOut
from gegenbauer.estimators._samples import deal_samples, search_places
from gegenbauer.estimators._search import SearchEstimator
from gegenbauer.ridge.expansions import KernelExpansion, KernelPosterior
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles, Places
    from gegenbauer.estimators._progress import Progress
    from gegenbauer.estimators._samples import Samples
    from gegenbauer.estimators._time_budget import Choice
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["N_SPECTRA", "SeveralSpectraEstimator", "relative_noise"]

N_SPECTRA = 5

# Most samples of which several spectra are learned by default: of more, one is as good
_FEW_SAMPLES = 300


class SeveralSpectraEstimator(SearchEstimator):
    """A search that may learn several spectra, and take the mean of their models."""

    # How messages write that several spectra are requested, and that they are not
    _SEVERAL: ClassVar[str]
    _NOT_SEVERAL: ClassVar[str]

    @property
    def _wants_several(self) -> bool | None:
        """Whether several spectra are requested; None if that depends on the samples."""
        raise NotImplementedError

    def _validate_params(self) -> None:
        super()._validate_params()
        if not self._wants_several:
            return
        wrong = None
        if self.spectrum is None:
            wrong = "spectrum=None", "learns spectra, and the paper's basis has none", "spectrum"
        elif self.n_terms is not None:
            wrong = f"n_terms={self.n_terms!r}", "is of models of all terms", "n_terms"
        elif self.cv is not None:
            wrong = f"cv={shown(self.cv)}", "leaves out one sample at a time", "cv"
        if wrong is not None:
            given, why, name = wrong
            raise ValueError(
                Message(
                    "`{}` {}; got `{}`",
                    self._SEVERAL,
                    why,
                    given,
                    ways=[Message("leave `{}` out", name), Message("give `{}`", self._NOT_SEVERAL)],
                )
            )

    def _fit_by_stream(self, kind: type[Any], batches: Any, checkpoint: Any, **how: Any) -> Self:
        if self._wants_several:
            raise ValueError(
                Message(
                    "`{}` leaves out one sample at a time, and a stream is known by its sums",
                    self._SEVERAL,
                    ways=Message("give `{}`", self._NOT_SEVERAL),
                )
            )
        return super()._fit_by_stream(kind, batches, checkpoint, **how)

    @property
    def _needs_all_samples(self) -> bool:
        return bool(self._wants_several)

    def _forget_spectrum(self) -> None:
        """Let the next search begin anew."""

    def _strata(self, data: Samples) -> Places | None:  # noqa: ARG002
        """Return the kind of each sample, of which every part gets its share; None for one."""
        return None

    def _in_common_units(
        self,
        data: Samples,  # noqa: ARG002
        part: KernelExpansion,
        left_out: Doubles,
    ) -> tuple[KernelExpansion, Doubles]:
        """Return one of the models, and its outputs of samples left out, in units of them all."""
        return part, left_out

    def _n_models(self, data: Samples, splits: Splits, n_landmarks: int) -> int:
        several = self._learns_several(data, splits, n_landmarks)
        return min(N_SPECTRA, data.n) if several else 1

    def _learns_several(self, data: Samples, splits: Splits, n_landmarks: int | None) -> bool:
        """Whether there are several spectra to learn: a given one has seen no sample."""
        wanted = self._wants_several
        if wanted is False or not isinstance(self.spectrum, str):
            return False
        if wanted is None:
            few = data.n <= _FEW_SAMPLES and splits is None and n_landmarks == 0
            return few and not self.scaling_.is_constant.all()  # then there is nothing to learn
        if n_landmarks != 0:
            raise ValueError(
                Message(
                    "`{}` needs a coefficient for each sample, but the {} samples are more than "
                    "`kernel_samples={!r}` allows",
                    self._SEVERAL,
                    data.n,
                    self.kernel_samples,
                    ways=["raise `kernel_samples`", Message("give `{}`", self._NOT_SEVERAL)],
                )
            )
        return True

    def _fit_spectrum(
        self,
        data: Samples,
        loss: Loss,
        splits: Splits,
        progress: Progress,
        choice: Choice | None = None,
    ) -> LeftOut:
        """Choose a spectrum, or several, and fit."""
        n_landmarks = None if choice is None else choice.n_landmarks
        given_up = choice is not None and choice.one_spectrum
        if given_up or not self._learns_several(data, splits, n_landmarks):
            return super()._fit_spectrum(data, loss, splits, progress, choice)
        assert choice is not None
        part = deal_samples(data, min(N_SPECTRA, data.n), self._strata(data))
        used = np.zeros(data.n, dtype=bool)
        learned = []
        with progress.stage("spectrum", n_steps=None):
            for k in range(part.max() + 1):
                seen = np.flatnonzero(part != k)
                rest = data.take(seen)
                rows = search_places(rest, choice.n_search, self._stratified)
                used[seen[rows]] = True
                self._forget_spectrum()  # as it has seen these samples
                learned.append(self._learn(rest.take(rows), None, progress))
        self.surface_, self.lam_ = {}, 0.0  # what was tried is of one search alone
        self.n_search_samples_ = int(used.sum())
        self.spectra_ = tuple(spectrum for spectrum, _ in learned)
        outputs, models, rcond = np.empty(data.Y.shape), [], np.inf
        with progress.stage("alpha on all samples"):
            for k, (spectrum, alpha) in enumerate(learned):
                left_out = self._fit_kernel(data, spectrum, alpha, loss, None)
                assert isinstance(self.expansion_, KernelExpansion)
                posterior = KernelPosterior(
                    self.alpha_, data.weight, free_constant=not self.penalize_constant
                )
                model = replace(self.expansion_, posterior=posterior)
                model, found = self._in_common_units(data, model, left_out.outputs)
                models.append(model)
                outputs[part == k] = found[part == k]
                rcond = min(rcond, self.rcond_)
        self.expansion_ = MeanExpansion(tuple(models), part, np.ones(len(models)))
        self.alpha_, self.rcond_ = self.expansion_.alpha, rcond
        self.best_score_ = -float(loss(outputs[np.newaxis], np.arange(data.n))[0])
        return LeftOut(outputs)


def relative_noise(squares: Doubles, freedom: Doubles) -> Doubles:
    """Return how large the noise is by each of several models, divided by its mean over them.

    Parameters
    ----------
    squares : ndarray, shape (n_models, n_samples, n_outputs)
        Squared residuals of each.
    freedom : ndarray, shape (n_models, n_samples)
        One minus the leverages.

    Returns
    -------
    ndarray, shape (n_models,)
        The mean over outputs.
    """
    found = squares.sum(axis=1) / freedom.sum(axis=1)[:, np.newaxis]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (found / found.mean(axis=0)).mean(axis=1)
    if not np.isfinite(found).all():  # no residual at all
        return np.ones(len(found))
    found = np.maximum(found, np.finfo(np.float64).tiny / np.finfo(np.float64).eps)
    return np.asarray(found / found.mean())
