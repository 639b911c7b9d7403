"""Choice between models by the samples that each leaves out, within a budget of time."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gegenbauer.estimators._alternatives import (
    FEWEST_TO_JUDGE,
    MOST_TO_JUDGE,
    Comparison,
    compare,
    count_effective,
)
from gegenbauer.estimators._final_fit import kernel_of_all_terms
from gegenbauer.estimators._half_ranks import half_ranks
from gegenbauer.estimators._samples import search_places
from gegenbauer.estimators._single_model import SingleModel
from gegenbauer.estimators._splits import restrict_splits
from gegenbauer.estimators._time_budget import (
    MOST_INPUTS,
    Choice,
    Clock,
    Speed,
    expect,
    measure,
    of_wide,
    plan,
    warn_of_cheaper,
)
from gegenbauer.ridge.cost import default_kernel_samples
from gegenbauer.selection._learn_spectrum import first_spectrum

if TYPE_CHECKING:
    from collections.abc import Callable

    from gegenbauer._typing import Doubles
    from gegenbauer.estimators._final_fit import LeftOut
    from gegenbauer.estimators._progress import Progress
    from gegenbauer.estimators._samples import Samples
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["BestModel"]


class BestModel(SingleModel):
    """Fits a model and others beside it, and keeps the best."""

    # Parameters of those that take them; on clusters there are none
    bounds: Any = None
    max_seconds: float | None = None

    # While it is being fitted
    _clock: Clock | None = None

    kernel_samples: int | str
    alternatives_: dict[str, Comparison]

    def _sample_losses(self, data: Samples, left_out: Doubles) -> Doubles:
        """Return the loss of each sample by its prediction, NaN where there is none, (n,)."""
        raise NotImplementedError

    def _fit_best(
        self,
        data: Samples,
        loss: Loss,
        splits: Splits,
        progress: Progress,
        n_landmarks: int | None,
    ) -> LeftOut:
        """Fit the first model, or one that predicts samples left out clearly better.

        With a budget, the searches among many inputs end when most of it is spent.
        """
        if n_landmarks is None:
            return self._fit_spectrum(data, loss, splits, progress)
        if self.max_seconds is None or data.X.shape[1] <= MOST_INPUTS:
            return self._fit_alternatives(data, loss, splits, progress, n_landmarks)
        clock = self._clock = Clock(float(self.max_seconds))
        left_out = self._fit_alternatives(data, loss, splits, progress, n_landmarks)
        clock.warn_if_stopped()
        del self._clock
        return left_out

    def _fit_alternatives(
        self, data: Samples, loss: Loss, splits: Splits, progress: Progress, n_landmarks: int
    ) -> LeftOut:
        """Fit the first model, and try each alternative on the best so far.

        Of more than some thousand samples they are judged by as many, and the best is fitted to all
        in the end.
        """
        most = min(MOST_TO_JUDGE, self._most_for_kernel)
        judged = min(data.n, most)
        several = self._may_have_alternatives and judged >= FEWEST_TO_JUDGE
        alternatives = self._alternatives(data) if several else {}
        n_models = self._n_models(data, splits, n_landmarks)
        choice = Choice(min(int(self.search_samples), data.n), n_landmarks, len(alternatives))
        if self.max_seconds is not None:
            choice = self._within_budget(data, choice, judged, n_models)
        if choice.n_alternatives == 0:
            return self._fit_spectrum(data, loss, splits, progress, choice)
        some, parts, judge = data, splits, loss
        if data.n > most:
            rows = search_places(data, most, self._stratified)
            some, parts = data.take(rows), restrict_splits(splits, rows, data.n)
            judge = self._make_loss(some, parts)
        best, compared, trial_choice = copy.copy(self), {}, choice._replace(n_landmarks=0)
        left_out = best._fit_spectrum(some, judge, parts, progress, trial_choice)
        losses = best._sample_losses(some, left_out.outputs)
        if count_effective(losses, some.weight) < FEWEST_TO_JUDGE / 2:  # of a small test part
            alternatives = {}
        for name, change in alternatives.items():
            trial = copy.copy(best)
            change(trial)
            found = trial._fit_spectrum(some, judge, parts, progress, trial_choice)
            its_losses = trial._sample_losses(some, found.outputs)
            compared[name] = compare(losses, its_losses, some.weight)
            if compared[name].is_clear:
                best, left_out, losses = trial, found, its_losses
        self._become(best)
        self.alternatives_ = compared
        if some is data:
            return left_out
        return self._fit_spectrum(data, loss, splits, progress, choice)

    @property
    def _needs_all_samples(self) -> bool:
        """Whether each sample has to have a coefficient."""
        return False

    def _n_models(self, data: Samples, splits: Splits, n_landmarks: int) -> int:  # noqa: ARG002
        """Return of how many models the fit is the mean; refuse what cannot be."""
        return 1

    def _within_budget(self, data: Samples, best: Choice, n_judged: int, n_models: int) -> Choice:
        """Return what of a choice `max_seconds` allows, and warn of what it does not."""
        assert self.max_seconds is not None
        seconds = float(self.max_seconds)
        m = data.X.shape[1]
        kernel = kernel_of_all_terms(m, first_spectrum(m, self._levels))
        found = measure(kernel, data, best.n_search, self._options())
        n_features, searches = data.X.shape[1], isinstance(self.spectrum, str)
        found = of_wide(found, n_features)

        def speed_of(n_models: int) -> Speed:
            return Speed(searches * n_models * found.search, n_models * found.unit)

        expected = expect(best, data.n, n_judged, best.n_search, speed_of(n_models))
        cheaper, wide = best, n_features > MOST_INPUTS
        if expected > seconds and n_models > 1 and wide and not self._needs_all_samples:
            n_models, cheaper = 1, best._replace(one_spectrum=True)
        choice = plan(
            seconds, cheaper, data.n, n_judged, speed_of(n_models),
            all_samples=self._needs_all_samples,
        )  # fmt: skip
        choice = choice._replace(one_spectrum=cheaper.one_spectrum)
        warn_of_cheaper(seconds, best, choice, data.n, expected)
        return choice

    def _alternatives(self, data: Samples) -> dict[str, Callable[[Self], None]]:
        """Return names of other models, and what turns an estimator that is to be fitted into one.

        Half ranks take part where the box is chosen, too.
        """
        if not isinstance(self.bounds, str):
            return {}
        box = self.scaling_
        categories = {*self._encoder.columns.tolist()}

        def map_of(t: int) -> tuple[Doubles, Doubles] | None:
            if box.is_constant[t] or t in categories:
                return None
            column = data.X[:, t].astype(np.float64)
            return half_ranks(column, data.weight, box.lower[t], box.upper[t])

        warping = [map_of(t) for t in range(box.n_features)]
        if all(each is None for each in warping):
            return {}

        def take_half_ranks(trial: Self) -> None:
            trial.scaling_ = box.replace(warping=warping)

        return {"half_ranks": take_half_ranks}

    @property
    def _may_have_alternatives(self) -> bool:
        """Whether models other than the first may be tried: not those that were requested."""
        return isinstance(self.spectrum, str) and self._may_have_all_terms and self.scoring is None

    @property
    def _most_for_kernel(self) -> int:
        """Most samples of which each has a coefficient."""
        given = self.kernel_samples
        return default_kernel_samples() if isinstance(given, str) else int(given)
