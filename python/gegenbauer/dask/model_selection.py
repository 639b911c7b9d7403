"""Estimators on Dask collections that choose everything by themselves, by K-fold by subtraction.

Two passes over the rows. The first finds the range of the inputs, the classes, and an even sample
of rows, the only ones that travel, on which the spectrum is learned and outputs are calibrated. The
second sums each fold of each partition by itself. The sums without a fold are the total minus its
own, so that all folds and all penalties follow from these sums.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

from gegenbauer import model_selection
from gegenbauer._arrays import check_flag, check_threads, require_memory
from gegenbauer.basis import InputScaling, TensorBasis
from gegenbauer.basis_search import PAPER_GAMMAS
from gegenbauer.dask.estimators import _Classes, _Supervised, _with_client
from gegenbauer.dask.partitions import _gather, _is_ours, _require_inputs, _Rows
from gegenbauer.features import Range
from gegenbauer.model_selection import _PASSING, _Data
from gegenbauer.ridge import moments_serve, predict
from gegenbauer.selection import _rounding, sums_of_others
from gegenbauer.spectrum_search import NO_SCORE, TRUSTED
from gegenbauer.statistics import GramStatistics, MomentStatistics
from gegenbauer.targets import (
    _class_factors,
    _describe_labels,
    _indicator_columns,
    _label_kind,
    warn_of_light,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer.progress import Progress
    from gegenbauer.spectrum_search import Score, Splits

    Doubles = NDArray[np.float64]
    Statistics = GramStatistics | MomentStatistics

__all__ = ["GegenbauerClassifierCV", "GegenbauerRegressorCV"]

# Rows that come here, and how many times its even share of them a partition may send
_SAMPLE = 20_000
_MOST_SHARES = 4

# The paper's penalties and beyond: further ones cost next to nothing here
_GAMMAS = np.concatenate([
    2.0 ** np.arange(-45.0, -30.0), PAPER_GAMMAS, 2.0 ** np.arange(31.0, 41.0),
])  # fmt: skip


# --- The first pass ---------------------------------------------------------------------------


class _Sample(NamedTuple):
    """Rows with the smallest of random keys: the sample of two parts is made of theirs."""

    key: Doubles
    number: NDArray[np.intp]  # of the partition
    place: NDArray[np.intp]  # in it
    X: NDArray[Any]
    y: NDArray[Any]
    weight: Doubles

    def smallest(self, most: int) -> _Sample:
        """Return the rows of the smallest keys, in their order."""
        chosen = np.sort(np.argsort(self.key, kind="stable")[:most])
        columns: Any = (column[chosen] for column in self)
        return _Sample(*columns)

    def __add__(self, other: Any) -> _Sample:
        both: Any = [np.concatenate(pair) for pair in zip(self, other, strict=True)]
        return _Sample(*both).smallest(_SAMPLE)

    def folds(self, n_folds: int) -> NDArray[np.intp]:
        return _folds(self.number, self.place, n_folds)


def _folds(number: Any, place: NDArray[np.intp], n_folds: int) -> NDArray[np.intp]:
    """Deal the rows of a partition to the folds, each beginning with another one."""
    return np.asarray((place + number) % n_folds)


@dataclass(frozen=True, eq=False)
class _Look:
    """What the first pass finds."""

    model: Any  # knows the names of the inputs
    box: InputScaling
    resolution: float
    sample: _Sample
    labels: NDArray[
        Any
    ]  # sorted; of multilabel y names or numbers of the columns; none in regression
    counts: Doubles  # weight of the rows of each, for multilabel y those without and with it
    shape: tuple[int, ...]  # of y beyond the rows

    def __add__(self, other: _Look) -> _Look:
        if self.shape != other.shape:
            raise ValueError(
                f"y must have as many columns in all partitions, got {self.shape} and {other.shape}"
            )
        if self.counts.ndim == 2 and not np.array_equal(self.labels, other.labels):
            raise ValueError(
                "the columns of y must be the same labels in the same order in all partitions, got "
                f"{self.labels.tolist()} and {other.labels.tolist()}"
            )
        resolution = max(self.resolution, other.resolution)
        labels, counts = self.labels, self.counts + other.counts if self.counts.ndim == 2 else None
        if counts is None:
            texts = [found.labels.dtype.kind in "OUT" for found in (self, other)]
            if texts[0] != texts[1]:
                raise ValueError(
                    f"labels must be of one type, got {self.labels[0]!r} and {other.labels[0]!r}"
                )
            labels = np.union1d(self.labels, other.labels)
            counts = np.zeros(labels.size)
            for found in (self, other):
                counts[np.searchsorted(labels, found.labels)] += found.counts
        return _Look(
            self.model, self.box.union(other.box, resolution=resolution), resolution,
            self.sample + other.sample, labels, counts, self.shape,
        )  # fmt: skip


def _look(common: tuple[Any, int], rows: _Rows) -> _Look | None:
    model, most = copy.copy(common[0]), common[1]
    X, y, weight, places = model._rows_that_count(
        rows.X, rows.y, rows.weight, reset=True, complete=False
    )
    if places.size == 0:
        return None
    weight = np.ones(places.size) if weight is None else weight
    labels: Any = np.empty(0)
    counts: Any = np.empty(0)
    if is_classifier(model):
        name = type(model).__name__
        if _label_kind(y, name) == "multilabel-indicator":
            columns = _indicator_columns(y, name)
            labels = model._names_of_labels(columns.shape[1])
            counts = np.column_stack([weight @ ~columns, weight @ columns])
        else:
            model.__dict__.pop("_noted", None)
            y = column_or_1d(y)
            labels, codes = np.unique(y, return_inverse=True)
            counts = np.bincount(codes, weights=weight)
    domain = (0, 1) if model._on_paper else (-1, 1)
    key = np.random.default_rng(rows.number).random(int(places[-1]) + 1)[places]
    number = np.full(places.size, rows.number)
    return _Look(
        model,
        InputScaling.fit(X, domain=domain, clip=model._clips),
        float(np.finfo(X.dtype).eps),
        _Sample(key, number, places, X, np.asarray(y), weight).smallest(most),
        labels,
        counts,
        np.shape(y)[1:],
    )


# --- The second pass --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _RealCoding:
    """Targets in units of their spread around their mean."""

    center: Doubles
    unit: Doubles

    def __call__(self, y: NDArray[Any], weight: Doubles | None) -> tuple[Any, Doubles | None]:
        values = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        return (values - self.center) / self.unit, weight


@dataclass(frozen=True, eq=False)
class _ClassCoding:
    """Classes as +1 and -1, and the weights of the rows by their classes."""

    classes: NDArray[Any]
    multilabel: bool
    factors: Doubles | None  # of each class; for multilabel y of each column's 0 and 1

    def __call__(self, y: NDArray[Any], weight: Doubles | None) -> tuple[Doubles, Doubles | None]:
        if self.multilabel:
            codes = np.asarray(y).astype(np.intp)
            targets = np.where(codes == 1, 1.0, -1.0)
        else:
            codes = np.searchsorted(self.classes, column_or_1d(y))
            own = codes[:, np.newaxis] == np.arange(self.classes.size)
            targets = np.where(own[:, 1:] if self.classes.size == 2 else own, 1.0, -1.0)
        if self.factors is not None:
            share = (
                np.prod(self.factors[np.arange(len(self.classes)), codes], axis=1)
                if self.multilabel
                else self.factors[codes]
            )
            weight = share if weight is None else weight * share
        return targets, weight


class _Sums(NamedTuple):
    """What the tasks of the second pass need to know."""

    model: Any
    coding: _RealCoding | _ClassCoding
    kind: type[Statistics]
    basis: TensorBasis
    scaling: InputScaling
    n_outputs: int
    n_folds: int


def _sum_folds(common: _Sums, rows: _Rows) -> list[Statistics] | None:
    """Sum the rows of each fold by themselves; None if no row has any weight."""
    model = copy.copy(common.model)
    X, y, weight, places = model._rows_that_count(
        rows.X, rows.y, rows.weight, reset=False, complete=False
    )
    if places.size == 0:
        return None
    Y, weight = common.coding(y, weight)
    folds = _folds(rows.number, places, common.n_folds)
    sums = []
    for fold in range(common.n_folds):
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


# --- Estimators -------------------------------------------------------------------------------


class _SearchOnDask(_Supervised, model_selection._GegenbauerCV):
    """The two passes. The search itself is that of the plain estimators, on the sample."""

    gamma_results_: dict[str, Doubles]
    loo_targets_: NDArray[Any]

    # While it is being fitted
    _sampled: _Sample
    _partitions: list[_Rows]
    _sum: Statistics

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the spectrum and gamma, and learn the weights, in two passes over the rows.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Inputs, in one chunk of columns. Numbers of rows need not be known; partitions may be
            empty, and differ in their dtype. Persist it if it fits, since it is read twice.
        y : Dask array, series or dataframe of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of the same partitions; an array in memory if X is a Dask array whose chunk
            sizes are known.
        sample_weight : Dask array or series of shape (n_samples,), float or None, default=None
            Weights of the rows, likewise.

        Returns
        -------
        estimator
            The fitted estimator itself. When ``fit`` fails or is interrupted, the estimator
            stays as it was.

        Raises
        ------
        StreamError
            A partition cannot be learned; the message says which one. It is a ValueError.
        ValueError
            Collections are not partitioned alike; there are too few rows; a parameter does not fit.
        TypeError
            X is no Dask collection.
        """
        _require_inputs(X)
        self._fit_on_copy(X, y, sample_weight)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,  # noqa: ARG002  # folds are of single rows
        progress: Progress,
    ) -> None:
        for name in _PASSING:
            self.__dict__.pop(name, None)
        rows = self._partitions = _Rows.of(X, self._targets(y), sample_weight)
        grid = self._basis_grid()
        most = -(-_MOST_SHARES * _SAMPLE // len(rows))
        found = _gather(
            self.client, "look", _look, (self._for_a_task(), min(most, _SAMPLE)), rows,
            lambda one, other: one + other,
        )  # fmt: skip
        if found is None or found.sample.key.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two rows of positive weight, to hold one "
                f"out; there are {0 if found is None else 1} in {len(rows)} partitions"
            )
        self._adopt(found.model)
        self.scaling_ = self._with_margin(found.box)
        sample = self._sampled = found.sample
        self._look_at_inputs(sample.X)
        weight = None
        if sample_weight is not None:
            weight = sample.weight
            warn_of_light(weight, weight.size)
        self._keep_kind(found)
        Y, weight = self._coding()(sample.y, weight)
        data = self._standardised(_Data(sample.X, Y, weight, np.arange(len(Y))))
        score = self._make_score(data)
        folds = sample.folds(self.cv)
        held_out = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        splits = [(np.setdiff1d(np.arange(data.n), test), test) for test in held_out]
        if len(splits) < 2:
            raise ValueError(
                f"the {data.n} rows fall into one of cv={self.cv} folds: there are too few"
            )
        self._all_terms = False
        if grid is not None:
            left_out = self._fit_paper(data, grid, score, splits, progress)
        else:
            left_out = self._fit_spectrum(data, score, splits, progress)
        self._warn_of_underfitting(data, score, splits)
        self._finish(data, left_out)
        self.loo_targets_ = sample.y
        self._warn_at_edges(grid)
        del self._partitions, self._sampled, self._sum

    def _keep_kind(self, found: _Look) -> None:
        """Take note of the kind of targets that the first pass has found."""
        raise NotImplementedError

    def _coding(self) -> _RealCoding | _ClassCoding:
        """Return what turns y into the targets of the solve."""
        raise NotImplementedError

    def _basis_grid(self) -> tuple[list[float], list[int]] | None:
        grid = super()._basis_grid()
        if grid is not None and max(len(grid[0]), len(grid[1])) > 1:
            raise ValueError(
                "on Dask collections, lam and n_terms must be single numbers, since the sums are "
                f"of one basis; got {len(grid[0])} and {len(grid[1])} of them"
            )
        return grid

    def _fit_paper(
        self,
        data: _Data,
        grid: tuple[list[float], list[int]],
        score: Score,
        splits: Splits,
        progress: Progress,
    ) -> Doubles:
        lams, sizes = grid
        basis = TensorBasis(data.X.shape[1], n_terms=int(sizes[0]), lam=float(lams[0]))
        given = self._gamma_grid()
        gammas = _GAMMAS if given is None else given
        self.n_search_rows_ = data.n
        self.spectrum_, self.lam_, self._margin = None, basis.lam, 0.0
        with progress.stage("gamma on all rows"):
            left_out = self._fit_terms(data, basis, gammas, score, splits)
        scores = self.gamma_results_["score"]
        self.cv_results_ = {
            "lam": np.array([basis.lam]),
            "n_terms": np.array([basis.n_terms]),
            "gamma": gammas,
            "score": scores.reshape(1, 1, -1),
        }
        return left_out

    def _fit_terms(
        self,
        data: _Data,
        basis: TensorBasis,
        gammas: Doubles,
        score: Score,
        splits: Splits,  # noqa: ARG002  # those of the sample are the same
    ) -> Doubles:
        """Sum the folds, choose gamma, and solve; return the outputs held out in the sample."""
        K = data.Y.shape[1]
        require_memory(
            8.0 * gammas.size * data.Y.size + 8.0 * gammas.size * basis.n_terms * K,
            f"outputs of {data.n} rows for {gammas.size} gammas",
            "give fewer gammas or outputs",
        )
        kind = MomentStatistics if moments_serve(basis, K) else GramStatistics
        model = self._for_a_task()
        model.__dict__.update(
            {name: value for name, value in self.__dict__.items() if name.endswith("_in_")}
        )
        common = _Sums(
            model, self._coding(), kind, basis, self.scaling_, K, int(self.cv),
        )  # fmt: skip
        folds = _gather(self.client, "sum", _sum_folds, common, self._partitions, _add_folds)
        total = self._sum = sum(folds)
        threads, free = check_threads(self._n_threads()), not self.penalize_constant
        fold_of = self._sampled.folds(int(self.cv))
        outputs = np.zeros((gammas.size, data.n, K))
        errors, rounding = np.zeros(gammas.size), np.zeros(gammas.size)
        for number, (fold, rest) in enumerate(zip(folds, sums_of_others(folds), strict=True)):
            if fold.n_samples == 0:
                continue
            if rest.weight_sum <= 0:
                raise ValueError("every fold must leave rows of positive weight to fit")
            spectrum, _ = rest._spectrum(None, free=free, n_threads=threads)
            weights = spectrum.weights(gammas)
            errors += fold._squared_errors(weights, None).mean(axis=1)
            rounding = np.maximum(rounding, _rounding(spectrum, gammas, total.n_samples))
            own = np.flatnonzero(fold_of == number)
            if own.size:
                found = predict(
                    basis, data.X[own], weights, scaling=self.scaling_, n_threads=threads
                )
                outputs[:, own] = found.reshape(own.size, gammas.size, K).transpose(1, 0, 2)
        values = errors / total.weight_sum
        if is_classifier(self):
            values = np.asarray(score(outputs, np.arange(data.n)), dtype=np.float64)
        values[(rounding > TRUSTED) | np.isnan(values)] = np.inf
        at = int(np.flatnonzero(values == values.min())[-1])
        if not np.isfinite(values[at]):
            raise ValueError(NO_SCORE.format("gamma"))
        self.gamma_ = float(gammas[at])
        fit = total._solve(self.gamma_, None, not free, threads)
        self.best_score_ = -float(values[at])
        self.gamma_results_ = {"gamma": gammas, "score": -values}
        self.basis_, self.term_coef_, self.intercept_ = basis, fit.weights, np.zeros(K)
        self.solver_, self.rcond_, self.engine_ = fit.solver, float(fit.rcond), fit.engine
        self.n_terms_ = basis.n_terms
        return np.asarray(outputs[at])


_LEFT_OUT = ("scoring", "kernel_rows")
_CV: dict[str, list[Any]] = {"cv": [Range(Integral, 2, None, closed="left")]}


class GegenbauerRegressorCV(  # type: ignore[misc]  # fit takes no groups
    _SearchOnDask, model_selection.GegenbauerRegressorCV
):
    """Regression on Dask collections that chooses its polynomials and its penalty by itself.

    As :class:`gegenbauer.GegenbauerRegressorCV`, with a finite set of terms and K-fold instead of
    leave-one-out: the sums without a fold are the total minus its own. There are two passes over
    the rows. About 20 000 of them, evenly drawn, come here; the others stay where they are.

    Parameters
    ----------
    spectrum, gammas, search, penalize_constant, search_rows, out_of_range, verbose
        As in :class:`gegenbauer.GegenbauerRegressorCV`.
    n_terms : int or None, default=None
        Number of terms of largest weight; None for 2000, with ``spectrum=None`` for the paper's
        1000. What travels, ``cv`` times for each partition, has about n_terms^2 / 2 numbers, less
        if inputs are few.
    lam : float or None, default=None
        With ``spectrum=None``, the parameter of the polynomials; None for the paper's 0.05.
    cv : int, default=5
        Number of folds. The rows of a partition are dealt to them one after another.
    n_jobs : int or None, default=None
        Number of threads of a task. Dask takes each task for one thread, which is what None means;
        for the search and the solve, None means all there are here.
    client : distributed.Client or None, default=None
        Who computes; None for the current client, or without one the threads of this process. It
        is not pickled with the estimator.

    Attributes
    ----------
    gamma_results_ : dict of ndarray
        Penalties that were tried ("gamma") and minus the mean squared error of all rows held out
        ("score"), in units of the targets' variance.
    loo_predictions_, loo_targets_ : ndarray of shape (n_sampled,) or (n_sampled, n_outputs)
        Predictions of the sampled rows by the model without their fold, and their targets.
    spectrum_, gamma_, best_score_, relevances_, noise_variance_, effective_dof_, basis_, ...
        As in :class:`gegenbauer.GegenbauerRegressorCV`.

    See Also
    --------
    gegenbauer.GegenbauerRegressorCV : The same for rows in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from gegenbauer.dask import GegenbauerRegressorCV
    >>> X = da.random.default_rng(0).uniform(size=(1000, 3), chunks=(300, 3))
    >>> y = da.sin(6 * X[:, 0]) * X[:, 1]  # the third input does not matter
    >>> model = GegenbauerRegressorCV(n_terms=100).fit(X, y)
    >>> round(model.score(X, y), 3)
    1.0
    >>> bool(model.relevances_[2] < model.relevances_[:2].min() / 100)
    True
    """

    _plain = model_selection.GegenbauerRegressorCV
    __init__ = _with_client(model_selection.GegenbauerRegressorCV, _LEFT_OUT, cv=5)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **model_selection.GegenbauerRegressorCV._parameter_constraints,
        **_CV,
    }

    def _keep_kind(self, found: _Look) -> None:
        self._y_was_flat = found.shape == ()
        K = 1 if self._y_was_flat else found.shape[0]
        self._center, self._unit = np.zeros(K), np.ones(K)

    def _coding(self) -> _RealCoding:
        return _RealCoding(self._center, self._unit)

    def _judge_noise(self, data: _Data) -> None:  # noqa: ARG002  # it is a sample
        free, total = self._free_constant, self._sum
        threads = check_threads(self._n_threads())
        spectrum, _ = total._spectrum(None, free=free, n_threads=threads)
        kept = spectrum.eigenvalues + self.gamma_
        self._posterior = spectrum.vectors / np.sqrt(kept)
        self._mean_features = spectrum.mean_features
        self._free_leverage = 1.0 / total.weight_sum if free else 0.0
        self.effective_dof_ = float((spectrum.eigenvalues / kept).sum() + free)
        left = total.weight_sum - self.effective_dof_
        squares = total._squared_errors(self.term_coef_ / self._unit, None)[0] * self._unit**2
        self.noise_variance_ = squares / left if left > 0 else np.full(squares.size, np.inf)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the targets, and how far off they may be.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation as well.

        Returns
        -------
        prediction, and std if asked for
            Each a Dask array, series or dataframe that is not yet computed, in the partitions of
            X; NumPy arrays if X is in memory.
        """
        if not _is_ours(X):
            return self._plain.predict(self, X, return_std)
        return_std = check_flag(return_std, "return_std")
        found = self._lazily("predict", X)
        if not return_std:
            return found
        return found, self._lazily("predict", X, needs=("_posterior",), return_std=True)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any:
        """Predict intervals that hold a new target with a given probability.

        Their width comes from the errors of the sampled rows, held out.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        lower, upper
            Each a Dask array, series or dataframe that is not yet computed, in the partitions of
            X; NumPy arrays if X is in memory.
        """
        if not _is_ours(X):
            return self._plain.predict_interval(self, X, coverage)
        needs = ("_left_out_residuals", "_row_weight", "_left_out_share")
        return tuple(
            self._lazily("predict_interval", X, needs=needs, part=part, coverage=coverage)
            for part in (0, 1)
        )


class GegenbauerClassifierCV(  # type: ignore[misc]  # fit takes no groups
    _Classes, _SearchOnDask, model_selection.GegenbauerClassifierCV
):
    """Classification on Dask collections that chooses its polynomials and its penalty by itself.

    As :class:`gegenbauer.GegenbauerClassifierCV`, with a finite set of terms and K-fold instead of
    leave-one-out: the sums without a fold are the total minus its own. There are two passes over
    the rows. About 20 000 of them, evenly drawn, come here; the others stay where they are.

    Parameters
    ----------
    spectrum, gammas, penalize_constant, search_rows, out_of_range, class_weight, verbose
        As in :class:`gegenbauer.GegenbauerClassifierCV`.
    n_terms : int or None, default=None
        Number of terms of largest weight; None for 2000, with ``spectrum=None`` for the paper's
        1000. What travels, ``cv`` times for each partition, has about n_terms^2 / 2 numbers, less
        if inputs are few.
    lam : float or None, default=None
        With ``spectrum=None``, the parameter of the polynomials; None for the paper's 0.05.
    cv : int, default=5
        Number of folds. The rows of a partition are dealt to them one after another.
    n_jobs : int or None, default=None
        Number of threads of a task. Dask takes each task for one thread, which is what None means;
        for the search and the solve, None means all there are here.
    client : distributed.Client or None, default=None
        Who computes; None for the current client, or without one the threads of this process. It
        is not pickled with the estimator.

    Attributes
    ----------
    gamma_results_ : dict of ndarray
        Penalties that were tried ("gamma") and minus the log-loss of the sampled rows, held out, at
        the best temperature ("score").
    loo_predictions_, loo_targets_ : ndarray of shape (n_sampled,) or (n_sampled, n_outputs)
        Outputs for the sampled rows by the model without their fold, before calibration, and their
        labels. The probabilities come from these.
    classes_, spectrum_, gamma_, best_score_, probability_maps_, basis_, term_coef_, ...
        As in :class:`gegenbauer.GegenbauerClassifierCV`.

    See Also
    --------
    gegenbauer.GegenbauerClassifierCV : The same for rows in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from gegenbauer.dask import GegenbauerClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(40, 4)), da.from_array(y, chunks=40)
    >>> model = GegenbauerClassifierCV(n_terms=50).fit(X, y)
    >>> model.predict_proba(X)[[0, 140]].compute().round(1).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """

    _plain = model_selection.GegenbauerClassifierCV
    __init__ = _with_client(model_selection.GegenbauerClassifierCV, _LEFT_OUT, cv=5)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **model_selection.GegenbauerClassifierCV._parameter_constraints,
        **_CV,
    }

    _factors: Doubles | None

    def _keep_kind(self, found: _Look) -> None:
        name = type(self).__name__
        counts = found.counts
        self.multilabel_ = counts.ndim == 2
        if self.multilabel_:
            self._become_multilabel(found.labels)
        else:
            self.__dict__.pop("label_names_", None)  # of an earlier fit
            self.classes_ = found.labels
        self._y_was_flat = not self.multilabel_ and self.classes_.size == 2
        self._factors = None
        if not self.multilabel_ and self.classes_.size < 2:
            raise ValueError(
                f"{name} needs at least two classes to tell apart, but y has 1 class in the rows "
                f"of positive weight: {_describe_labels(found.sample.y)}."
            )
        if isinstance(self.class_weight, dict):
            if self.multilabel_:
                raise ValueError(
                    f"class_weight of {name} must be None or 'balanced' for multilabel y, got a "
                    "dict. Pass sample_weight instead."
                )
            self._factors = _class_factors(self._class_weight_of_rows, self.classes_)
        elif self.class_weight is not None:
            table = np.atleast_2d(counts)
            present = (table > 0).sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore"):
                factors = table.sum(axis=1, keepdims=True) / (present * table)
            self._factors = np.where(table > 0, factors, 0.0).reshape(counts.shape)

    def _coding(self) -> _ClassCoding:
        return _ClassCoding(self.classes_, self.multilabel_, self._factors)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        Dask array or dataframe of shape (n_samples, n_classes)
            Not yet computed, in the partitions of X; a NumPy array if X is in memory. Columns are
            named by the classes.
        """
        if not _is_ours(X):
            return self._plain.predict_proba(self, X)
        return self._lazily("predict_proba", X, names=self._answers)
