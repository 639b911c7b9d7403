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
from sklearn.base import is_classifier

from gegenbauer._memory import require_memory
from gegenbauer._validation import check_threads
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.dask._base import Supervised
from gegenbauer.dask.first_pass import SAMPLE_SIZE, Folds, first_pass
from gegenbauer.dask.partitions import Partitions, gather, require_inputs
from gegenbauer.estimators._samples import Samples
from gegenbauer.estimators._search import LeftOut, SearchEstimator
from gegenbauer.estimators._targets import warn_of_light
from gegenbauer.ridge.expansions import TermExpansion, predict
from gegenbauer.ridge.statistics.choice import choose_statistics
from gegenbauer.selection._features import rounding_error
from gegenbauer.selection.basis_search import PAPER_ALPHAS
from gegenbauer.selection.candidates import NO_LOSS, TRUSTED
from gegenbauer.selection.kfold import sums_of_others

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.dask.first_pass import ClassCoding, FirstPass, RealCoding
    from gegenbauer.estimators._progress import Progress
    from gegenbauer.ridge.statistics.choice import Statistics
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["SearchOnDask"]

_MOST_SHARES = 4

# The paper's penalties and beyond: further ones cost next to nothing here
_ALPHAS = np.concatenate([
    2.0 ** np.arange(-45.0, -30.0), PAPER_ALPHAS, 2.0 ** np.arange(31.0, 41.0),
])  # fmt: skip


class _Sums(NamedTuple):
    """What the tasks of the second pass need to know."""

    model: Any
    coding: RealCoding | ClassCoding
    kind: type[Statistics]
    basis: TensorBasis
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
    folds = common.folds.of(X, rows.number, places)
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


class SearchOnDask(Supervised, SearchEstimator):
    """The two passes. The search itself is that of the plain estimators, on the sample."""

    alpha_results_: dict[str, Doubles]
    loo_targets_: NDArray[Any]

    # While it is being fitted
    _folds: Folds
    _fold_of: NDArray[np.intp]  # of the distinct samples that are here
    _partitions: list[Partitions]
    _task_model: Any  # plain, and knows the inputs
    _sum: Statistics

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
        found = gather(
            self.client, "look", first_pass, (self._for_a_task(), min(most, SAMPLE_SIZE)), rows,
            lambda one, other: one + other,
        )  # fmt: skip
        if found is None or found.sample.key.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two samples of positive weight, to hold one "
                f"out; there are {0 if found is None else 1} in {len(rows)} partitions"
            )
        self._learn_from(found.model)
        self._task_model = found.model
        self.scaling_ = self._with_margin(found.box)
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
        held_out = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        if len(held_out) < 2:
            raise ValueError(
                f"the {len(Y)} samples fall into one of cv={self.cv} folds: there are too few"
            )
        splits: Splits = [(np.setdiff1d(np.arange(len(Y)), test), test) for test in held_out]
        data, splits = Samples.merge(sample.X, Y, weight, splits=splits)
        data = self._standardised(data)
        self._fold_of = np.empty(data.n, dtype=np.intp)
        self._fold_of[data.back] = folds  # those of different folds are not merged
        loss = self._make_loss(data, splits)
        self._all_terms = False
        if grid is not None:
            left_out = self._fit_paper(data, grid, loss, splits, progress)
        else:
            left_out = self._fit_spectrum(data, loss, splits, progress)
        self._warn_of_underfitting(data, loss, splits, left_out.outputs)
        self._finish(data, left_out)
        self.loo_targets_ = sample.y
        self._warn_at_edges(grid)
        del self._partitions, self._folds, self._fold_of, self._sum, self._task_model

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
                "on Dask collections, `lam` and `n_terms` must be single numbers, since the sums "
                f"are of one basis; got {len(grid[0])} and {len(grid[1])} of them"
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
        alphas = _ALPHAS if given is None else given
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

    def _default_n_terms(self, data: Samples) -> int:
        """Of few samples, which are all in the sample, no more terms: sums have no dual way."""
        return min(super()._default_n_terms(data), data.n)

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
        require_memory(
            8.0 * alphas.size * data.Y.size + 8.0 * alphas.size * basis.n_terms * K,
            f"outputs of {data.n} samples for {alphas.size} alphas",
            "give fewer `alphas` or outputs",
        )
        kind = choose_statistics(basis, K)
        common = _Sums(self._task_model, self._coding(), kind, basis, self.scaling_, K, self._folds)
        folds = gather(self.client, "sum", _sum_folds, common, self._partitions, _add_folds)
        total = self._sum = sum(folds)
        threads, free = check_threads(self._n_threads()), not self.penalize_constant
        outputs = np.zeros((alphas.size, data.n, K))
        errors, rounding = np.zeros(alphas.size), np.zeros(alphas.size)
        for number, (fold, rest) in enumerate(zip(folds, sums_of_others(folds), strict=True)):
            if fold.n_samples == 0:
                continue
            if rest.weight_sum <= 0:
                raise ValueError("every fold must leave samples of positive weight to fit")
            spectrum, _ = rest._spectrum(None, free=free, n_threads=threads)
            weights = spectrum.weights(alphas)
            errors += fold._squared_errors(weights, None).mean(axis=1)
            rounding = np.maximum(rounding, rounding_error(spectrum, alphas, total.n_samples))
            own = np.flatnonzero(self._fold_of == number)
            if own.size:
                found = predict(
                    basis, data.X[own], weights, scaling=self.scaling_, n_threads=threads
                )
                outputs[:, own] = found.reshape(own.size, alphas.size, K).transpose(1, 0, 2)
        values = errors / total.weight_sum
        if is_classifier(self):
            values = np.asarray(loss(outputs, np.arange(data.n)), dtype=np.float64)
        values[(rounding > TRUSTED) | np.isnan(values)] = np.inf
        at = int(np.flatnonzero(values == values.min())[-1])
        if not np.isfinite(values[at]):
            raise ValueError(NO_LOSS.format("alpha"))
        self.alpha_ = float(alphas[at])
        fit = total._solve(self.alpha_, None, not free, threads)
        self.best_score_ = -float(values[at])
        self.alpha_results_ = {"alpha": alphas, "score": -values}
        self.expansion_ = TermExpansion(basis, fit.weights, self.scaling_, np.zeros(K))
        self.solver_, self.rcond_, self.engine_ = fit.solver, float(fit.rcond), fit.engine
        self.n_terms_ = basis.n_terms
        return LeftOut(outputs[at])
