"""Automatic model selection on Dask collections, by K-fold by subtraction.

Two passes over the samples. The first finds the range of the inputs, the classes, and an even draw
of samples, the only ones that are sent, on which the spectrum is learned and outputs are
calibrated. The second sums each fold of each partition by itself. The sums without a fold are the
total minus its own, so that all folds and all penalties follow from these sums.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from gegenbauer._messages import Message
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.dask._base import Supervised
from gegenbauer.dask.first_pass import Folds, first_pass
from gegenbauer.dask.levels import find_levels
from gegenbauer.dask.partitions import Partitions, gather, require_inputs
from gegenbauer.estimators._draw import SAMPLE_SIZE
from gegenbauer.estimators._samples import Samples
from gegenbauer.estimators._sums_search import WIDE_ALPHAS, SumsSearch, splits_of_folds
from gegenbauer.estimators._targets import warn_of_light
from gegenbauer.ridge.statistics.choice import choose_statistics
from gegenbauer.ridge.statistics.landmarks import LandmarkStatistics

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.dask.first_pass import ClassCoding, FirstPass, RealCoding
    from gegenbauer.dask.levels import Known
    from gegenbauer.estimators._final_fit import LeftOut
    from gegenbauer.estimators._progress import Progress
    from gegenbauer.ridge.landmarks import Landmarks
    from gegenbauer.ridge.statistics.choice import Statistics
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["SearchOnDask"]

_MOST_SHARES = 4


class _Sums(NamedTuple):
    """What the tasks of the second pass need to know."""

    model: Any
    coding: RealCoding | ClassCoding
    kind: type[Statistics]
    basis: Any  # TensorBasis, or Landmarks for their statistics
    scaling: InputScaling
    n_outputs: int
    folds: Folds


def _sum_folds(common: _Sums, rows: Partitions) -> list[Statistics] | None:
    """Sum the samples of each fold by themselves; None if no sample has any weight."""
    model = copy.copy(common.model)
    X, y, weight, places = model._rows_that_count(
        rows.X, rows.y, rows.weight, reset=False, complete=False
    )
    if places.size == 0:
        return None
    Y, weight = common.coding(y, weight)
    # samples of no weight have no place
    folds = common.folds.of(X, rows.number, np.arange(places.size))
    sums = []
    for fold in range(common.folds.n_folds):
        own = folds == fold
        statistics = common.kind(common.basis, common.n_outputs, scaling=common.scaling)
        if own.any():
            statistics.update(
                X[own], Y[own], sample_weight=None if weight is None else weight[own],
                n_threads=model._n_threads(),
            )  # fmt: skip
        sums.append(statistics)
    return sums


def _add_folds(one: list[Statistics], other: list[Statistics]) -> list[Statistics]:
    return [a + b for a, b in zip(one, other, strict=True)]


class SearchOnDask(Supervised, SumsSearch):
    """The two passes. The search itself is that of the plain estimators, on the sample."""

    # While it is being fitted
    _folds: Folds
    _partitions: list[Partitions]
    _task_model: Any  # plain, and knows the inputs
    _n_samples: int

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the spectrum and alpha, and learn the weights, in two passes over the samples.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Inputs, in one chunk of columns. Numbers of samples need not be known; partitions may be
            empty, and differ in their dtype. Persist it if it fits, since it is read twice.
        y : Dask array, series or dataframe of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of the same partitions; an array in memory if X is a Dask array whose chunk
            sizes are known.
        sample_weight : Dask array or series of shape (n_samples,), float or None, default=None
            Weights of the samples, likewise.

        Returns
        -------
        estimator
            The fitted estimator itself. When ``fit`` fails or is interrupted, the estimator
            stays as it was.

        Raises
        ------
        StreamError
            A partition cannot be learned; the message names it. It is a ValueError.
        ValueError
            Collections are not partitioned alike; there are too few samples; a parameter does not
            fit.
        TypeError
            X is no Dask collection.
        """
        require_inputs(X)
        self._fit_on_copy(X, y, sample_weight)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,  # noqa: ARG002  # folds are of single samples
        progress: Progress,
    ) -> None:
        rows = self._partitions = Partitions.of(X, self._targets(y), sample_weight)
        grid = self._basis_grid()
        most = -(-_MOST_SHARES * SAMPLE_SIZE // len(rows))
        task, known = self._task_that_knows(X, rows)
        box = None if known is None else known.box
        found = gather(
            self.client, "look", first_pass, (task, min(most, SAMPLE_SIZE), box), rows,
            lambda one, other: one + other,
        )  # fmt: skip
        if found is None or found.sample.key.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two samples of positive weight, to hold one "
                f"out; there are {0 if found is None else 1} in {len(rows)} partitions"
            )
        self._learn_from(found.model)
        self._task_model = found.model
        self._levels = None if known is None else known.levels
        self.scaling_ = self._with_levels(self._with_margin(found.box))
        self.n_clipped_ = np.zeros(self.n_features_in_, dtype=np.intp)
        self.alternatives_ = {}
        sample = found.sample
        self._look_at_inputs(sample.X)
        weight = None
        if sample_weight is not None:
            weight = sample.weight
            warn_of_light(weight, weight.size)
        self._keep_kind(found)
        Y, weight = self._coding()(sample.y, weight)
        self._folds = sample.folds(int(self.cv))
        folds = self._folds.of(sample.X, sample.number, sample.place)
        splits: Splits = splits_of_folds(folds, int(self.cv))
        data, splits = Samples.merge(sample.X, Y, weight, splits=splits)
        data = self._standardised(data)
        self._fold_of = np.empty(data.n, dtype=np.intp)
        self._fold_of[data.back] = folds  # those of different folds are not merged
        loss = self._make_loss(data, splits)
        self._all_terms, self._weighted = False, grid is None
        self._n_samples = found.n_samples
        if grid is not None:
            left_out = self._fit_paper(data, grid, loss, splits, progress)
        else:
            left_out = self._fit_spectrum(data, loss, splits, progress)
        self._warn_of_choice(data, loss, splits, left_out.outputs, grid)
        self._complete(data, left_out)
        self.loo_targets_ = sample.y
        self.loo_weights_ = None if sample_weight is None else sample.weight
        del self._partitions, self._folds, self._fold_of, self._task_model, self._n_samples
        self._forget_sums()

    def _task_that_knows(self, X: Any, rows: list[Partitions]) -> tuple[Any, Known | None]:
        """Return a plain estimator for the tasks, and the levels that it knows, if there are any.

        The paper's basis takes numbers alone.
        """
        self._require_numbers_on_paper()
        if self._on_paper:
            return self._for_a_task(categorical_features=None, missing="error"), None
        task = self._for_a_task(**self._category_params(X, rows))
        if not self._may_have_levels(task):
            return task, None
        known = find_levels(self.client, task, rows, (-1, 1))
        if known is None or known.levels is None:
            return task, None
        known.give(task)
        return task, known

    def _predictor(self, *needs: str) -> Any:
        local = super()._predictor(*needs)
        if "posterior" not in needs:  # it is large, and serves variances alone
            local.expansion_ = replace(local.expansion_, posterior=None)
        return local

    def _keep_kind(self, found: FirstPass) -> None:
        """Take note of the kind of targets that the first pass has found."""
        raise NotImplementedError

    def _coding(self) -> RealCoding | ClassCoding:
        """Return what turns y into the targets of the solve."""
        raise NotImplementedError

    def _basis_grid(self) -> tuple[list[float], list[int]] | None:
        grid = super()._basis_grid()
        if grid is not None and max(len(grid[0]), len(grid[1])) > 1:
            raise ValueError(
                Message(
                    "on Dask collections, `lam` and `n_terms` must be single numbers, since the "
                    "sums are of one basis; got {} and {} of them",
                    len(grid[0]),
                    len(grid[1]),
                )
            )
        return grid

    def _fit_paper(
        self,
        data: Samples,
        grid: tuple[list[float], list[int]],
        loss: Loss,
        splits: Splits,
        progress: Progress,
    ) -> LeftOut:
        lams, sizes = grid
        basis = TensorBasis(data.X.shape[1], n_terms=int(sizes[0]), lam=float(lams[0]))
        given = self._alpha_grid()
        alphas = WIDE_ALPHAS if given is None else given
        self.n_search_samples_ = data.n
        self.spectra_, self.lam_ = (), basis.lam
        with progress.stage("alpha on all samples"):
            left_out = self._fit_terms(data, basis, alphas, loss, splits)
        scores = self.alpha_results_["score"]
        self.surface_ = {
            "lam": np.array([basis.lam]),
            "n_terms": np.array([basis.n_terms]),
            "alpha": alphas,
            "score": scores.reshape(1, 1, -1),
        }
        return left_out

    def _fit_terms(
        self,
        data: Samples,
        basis: TensorBasis,
        alphas: Doubles,
        loss: Loss,
        splits: Splits,  # noqa: ARG002  # those of the sample are the same
    ) -> LeftOut:
        """Sum the folds, choose alpha, and solve; return the outputs held out in the sample."""
        K = data.Y.shape[1]
        kind: type[Statistics] = choose_statistics(basis, K)
        features: TensorBasis | Landmarks = basis
        n_landmarks = self._usual_landmarks(data, basis, self._n_samples)
        if n_landmarks:
            kind, self._all_terms = LandmarkStatistics, True
            features, places = self._landmarks_of(data, n_landmarks)
            self._centres = data.X[places]
            alphas = self._alphas_of_landmarks(features, data)
        self._require_outputs(data, alphas.size, features.n_terms)
        common = _Sums(
            self._task_model, self._coding(), kind, features, self.scaling_, K, self._folds
        )
        folds = gather(self.client, "sum", _sum_folds, common, self._partitions, _add_folds)
        fits = (
            self._fits_of_landmarks(folds, alphas, data, loss)
            if n_landmarks
            else self._fold_fits(folds, alphas)
        )
        return self._keep_best(fits, self._losses(fits, data, loss), data)
