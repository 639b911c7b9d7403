"""What the estimators on Dask collections share."""

from __future__ import annotations

import copy
import inspect
import operator
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import dask
import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from gegenbauer._renamed import refuse_old_names
from gegenbauer.dask.levels import category_columns, find_levels
from gegenbauer.dask.partitions import (
    Partitions,
    gather,
    is_frame,
    is_ours,
    naming,
    require_inputs,
)
from gegenbauer.errors import stacklevel
from gegenbauer.estimators._mixed_inputs import MixedInputs
from gegenbauer.estimators._targets import checked_sample_weight

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles

__all__ = ["Classes", "Learner", "OnDask", "Supervised", "with_client"]

# Large attributes that are not sent with a prediction, unless it needs them
_HEAVY = {
    "_statistics", "loo_predictions_", "loo_targets_", "loo_weights_", "_left_out_residuals",
    "_row_weight", "_left_out_share",
}  # fmt: skip


def with_client(
    plain: type[Any], fixed: Mapping[str, Any] | None = None, **defaults: Any
) -> Callable[..., None]:
    """Return an ``__init__`` with the parameters of the plain estimator, and ``client``.

    Some may be fixed, which nobody gives here; others have another default.
    """
    plain_init: Callable[..., None] = plain.__init__
    fixed = fixed or {}
    parameters = [
        one.replace(default=defaults.get(name, one.default))
        for name, one in inspect.signature(plain_init).parameters.items()
        if name not in fixed
    ]
    own = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None)
    signature = inspect.Signature([*parameters, own])

    def __init__(self: Any, *args: Any, **given: Any) -> None:  # noqa: N807
        bound = signature.bind(self, *args, **given)
        bound.apply_defaults()
        params = dict(list(bound.arguments.items())[1:])
        self.client = params.pop("client")
        plain_init(self, **params, **fixed)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = plain_init.__qualname__  # for errors
    return refuse_old_names(__init__)


class OnDask(MixedInputs):
    """What the estimators on Dask collections add to the plain ones, from which they derive."""

    _plain: type[Any]

    client: Any

    # ---- the client stays here ---------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Leave the client behind."""
        return {**super().__getstate__(), "client": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self.client)] = self.client
        result = copy.copy(self)
        result.__dict__ = copy.deepcopy(result.__dict__, memo)
        return result

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted estimator of the same parameters and the same client."""
        bare = copy.copy(self)
        bare.client = None
        result: Self = super(OnDask, bare).__sklearn_clone__()
        result.client = self.client
        return result

    def to_local(self) -> Any:
        """Return the plain estimator of the same state, which needs no Dask.

        Returns
        -------
        estimator
            Of the class of the same name in `gegenbauer`.
        """
        local = self._plain(**self._plain_params())
        local._learn_from(self)
        return local

    def _plain_params(self) -> dict[str, Any]:
        params = self.get_params(deep=False)
        return {name: value for name, value in params.items() if name != "client"}

    def _for_a_task(self, **changes: Any) -> Any:
        """Return an unfitted plain estimator for the tasks.

        Dask takes a task for one thread and runs as many of them as a worker has threads.
        """
        local = self._plain(**{**self._plain_params(), **changes})
        local.n_jobs = 1 if self.n_jobs is None else self.n_jobs
        return local

    def _category_params(self, X: Any, rows: list[Partitions]) -> dict[str, Any]:
        """Return what the tasks have for ``categorical_features``: numbers of columns."""
        found = category_columns(self.client, X, self.categorical_features, rows)
        return {"categorical_features": found or None}

    @staticmethod
    def _may_have_levels(model: Any) -> bool:
        """Whether a pass over the partitions may find levels."""
        return model.categorical_features is not None or model.missing == "indicator"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False  # a matrix in memory is no collection
        return tags

    # ---- no collection is brought here unasked ------------------------------------

    def _validate_inputs(self, X: Any, *, reset: bool) -> NDArray[Any]:
        _refuse_collection(X)
        return super()._validate_inputs(X, reset=reset)

    # ---- predicting --------------------------------------------------------------

    def _predictor(self, *needs: str) -> Any:
        """Return a plain estimator for the tasks, with no more than predictions need."""
        check_is_fitted(self)
        if is_classifier(self) or is_regressor(self):
            self.expansion_  # noqa: B018  # solves, where there are sums that nobody has solved yet
        local = self.to_local()._without(_HEAVY - {*needs})
        local.n_jobs = 1 if self.n_jobs is None else self.n_jobs
        return local

    def _one_sample(self, X: Any, head: Any, *, frame: bool) -> Any:
        """Return a sample of the kind of a collection."""
        row: Any = self.scaling_.lower[np.newaxis]
        levels = dict(self._encoder.categories)
        if levels:
            row = row.astype(object)
            for t, category in levels.items():
                row[0, t] = category.values[0] if category.values else None
        if not frame:
            return row.astype(X.dtype)
        row = type(head)(row, columns=X.columns)
        numbers = [t for t in range(len(X.columns)) if t not in levels]
        return row.astype({X.columns[t]: head.dtypes.iloc[t] for t in numbers})

    def _lazily(
        self,
        method: str,
        X: Any,
        *,
        names: Any = None,
        needs: tuple[str, ...] = (),
        part: int = 1,
        **options: Any,
    ) -> Any:
        """Return what a method of the plain estimator makes of each partition, not yet computed.

        Parameters
        ----------
        method : str
            Takes samples and returns (n_samples,) or (n_samples, n_outputs).
        X : Dask array or dataframe
            Samples.
        names : array-like of n_outputs objects, optional
            Names of the columns, if X is a dataframe.
        needs : tuple of str
            Large attributes that the method needs.
        part : int
            Which result is meant, of a method that returns several.
        **options
            For the method.

        Returns
        -------
        Dask array, or series or dataframe with the index of X
        """
        require_inputs(X)
        model = self._predictor(*needs)
        frame = is_frame(X)
        n_columns = len(X.columns) if frame else X.shape[1]
        known = not np.isnan(n_columns)
        head: Any = np.empty((0, n_columns if known else self.n_features_in_))
        head = X._meta if frame else head
        validate_data(self, head, skip_check_array=True, reset=False)
        # one sample shows the shape of the result; rounded to float32 it may lie out of range
        shape_of = copy.copy(model).set_params(out_of_range="clip")
        row = self._one_sample(X, head, frame=frame)
        empty = _Call(shape_of, method, part, options, names)(row)[:0]
        call = _Call(model, method, part, options, names)
        common = dask.delayed(
            call, name=f"{method}-model-{dask.base.tokenize(*call)}", traverse=False
        )
        if frame:
            return X.map_partitions(_on_rows, common, empty, meta=_framed(empty, head, names))
        shape = {"drop_axis": 1} if empty.ndim == 1 else {"chunks": (X.chunks[0], empty.shape[1:])}
        return X.map_blocks(_on_rows, common, empty, dtype=empty.dtype, meta=empty, **shape)


def _refuse_collection(*collections: Any) -> None:
    for collection in collections:
        if dask.is_dask_collection(collection):
            raise TypeError(
                f"this takes samples in memory, got a {type(collection).__module__}."
                f"{type(collection).__name__}: pass the result of its compute(), or one partition "
                "after another"
            )


class _Call(NamedTuple):
    """A method of an estimator, to be called with samples."""

    model: Any
    method: str
    part: int
    options: dict[str, Any]
    names: Any

    def __call__(self, X: Any) -> NDArray[Any]:
        found = getattr(self.model, self.method)(X, **self.options)
        return np.asarray(found[self.part] if isinstance(found, tuple) else found)


def _on_rows(X: Any, call: _Call, empty: NDArray[Any]) -> Any:
    with naming("a partition of X"):
        values = call(X) if len(X) else empty
    return _framed(values, X, call.names) if is_frame(X) else values


def _framed(values: NDArray[Any], X: Any, names: Any) -> Any:
    """Return values with the index of a dataframe."""
    if values.ndim == 1:
        return X._constructor_sliced(values, index=X.index)
    return X._constructor(values, index=X.index, columns=names)


class Supervised(OnDask):
    """Predictions and their score, common to all estimators that have targets."""

    def _targets(self, y: Any) -> Any:
        """Return y in the form that the tasks take."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        return y

    def _rows_of_weight(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        _refuse_collection(X, y, sample_weight)
        return super()._rows_of_weight(X, y, sample_weight, reset=reset)

    def predict(self, X: Any) -> Any:
        """Predict the targets.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        Dask array or series of shape (n_samples,), or (n_samples, n_outputs)
            Not yet computed, in the partitions of X and with its index; a NumPy array if X is in
            memory.
        """
        return self._lazily("predict", X) if is_ours(X) else super().predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the mean accuracy of a classifier, or R^2 of a regressor.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``, or in memory.

        Returns
        -------
        float
            As in scikit-learn: for several outputs, R^2 is the mean of theirs.
        """
        if not is_ours(X):
            return float(super().score(X, y, sample_weight))
        model = self._predictor()
        task = _count_hits if is_classifier(self) else _sum_errors
        rows = Partitions.of(X, y, sample_weight)
        shared = dask.delayed(model, name=f"score-model-{dask.base.tokenize(model)}")
        found = gather(self.client, "score", task, shared, rows, operator.add)
        if found is None:
            raise ValueError(f"X holds no samples in any of its {len(rows)} partitions")
        return float(found.value())


class Classes(Supervised):
    """Outputs of classes."""

    def _targets(self, y: Any) -> Any:
        shape: tuple[Any, ...] = getattr(y, "shape", ())
        if len(shape) != 2 or shape[1] != 1:
            return super()._targets(y)
        # as in memory, but once, and here rather than in every task
        warnings.warn(
            f"A column-vector y was passed when a 1d array was expected: pass "
            f"{'y.iloc[:, 0]' if is_frame(y) else 'y[:, 0]'}, of shape (n_samples,).",
            DataConversionWarning,
            stacklevel=stacklevel(),
        )
        return y.iloc[:, 0] if hasattr(y, "iloc") else y[:, 0]

    def decision_function(self, X: Any) -> Any:
        """Return the outputs of the network.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        Dask array, series or dataframe of shape (n_samples,) or (n_samples, n_outputs)
            Not yet computed; a NumPy array if X is in memory. Columns are named by the
            classes, or the labels of multilabel y.
        """
        if not is_ours(X):
            return super().decision_function(X)
        return self._lazily("decision_function", X, names=self._answers)


class Learner(Supervised):
    """Learning and predicting common to regression and classification."""

    engine: str
    scaling_: Any
    _summed_with: dict[str, Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the weights of the terms from all partitions, in one pass over the samples.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Inputs, in one chunk of columns. Numbers of samples need not be known; partitions may be
            empty, and differ in their dtype.
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
            Collections are not partitioned alike; there are no samples; a parameter does not fit.
        TypeError
            X is no Dask collection.
        """
        require_inputs(X)
        return self._on_copy("_fit_partitions", X, y, sample_weight, afresh=True)

    def _fit_partitions(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._take_in(X, y, sample_weight, None, grow=True)
        self._solve_statistics()

    def _take_in(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, grow: bool = False
    ) -> None:
        """Add the samples of a collection, or of a batch in memory, to the sums."""
        if not is_ours(X):
            super()._take_in(X, y, sample_weight, classes, grow)
            return
        rows = Partitions.of(X, self._targets(y), sample_weight)
        if classes is None and not grow:
            classes = None if self._label_set is None else self._label_set.answers
        model = self._for_a_task(**self._task_params(rows), **self._category_params(X, rows))
        model._validate_params()
        model._require_sums_to_do()
        if not grow:
            model._announce(classes, grow=False)
        n_features = len(X.columns) if is_frame(X) else X.shape[1]
        if not np.isnan(n_features):
            model._make_basis(int(n_features))  # so that no task finds parameters in error
        self._give_levels(model, rows)
        learned = gather(self.client, "learn", _learn, (model, classes, grow), rows, operator.add)
        if learned is None:
            raise ValueError(
                f"X holds no samples (of positive weight) in any of its {len(rows)} partitions"
            )
        before = copy.copy(self)
        self._learn_from(learned)
        self._summed_with = {**self._summed_with, "categorical_features": self.categorical_features}
        self._warn_of_unseen()
        self._warn_of_outside()
        if before._statistics is not None:
            self._become(before + self)

    def _give_levels(self, model: Any, rows: list[Partitions]) -> None:
        """Let the tasks know the levels: those that were learned, or those of all partitions."""
        if self._statistics is not None:
            if self._levels is not None:
                model._know(self._encoder, self._levels, self.scaling_)
        elif self._may_have_levels(model):
            found = find_levels(self.client, model, rows, self.domain)
            if found is not None and found.levels is not None:
                model._know(found.encoder, found.levels, found.box)

    def _task_params(self, rows: list[Partitions]) -> dict[str, Any]:  # noqa: ARG002
        """Return parameters that the tasks have instead of those that were given."""
        return {}


def _learn(common: tuple[Any, Any, bool], rows: Partitions) -> Any:
    """Learn a partition; None if its samples have no weight."""
    model, classes, grow = common
    learned = copy.copy(model)
    learned._take_in(rows.X, rows.y, rows.weight, classes, grow=grow)
    return learned if learned._statistics is not None else None


class _Hits(NamedTuple):
    """Weight of the samples whose labels are right, and of all."""

    right: float
    weight: float

    def __add__(self, other: Any) -> _Hits:
        return _Hits(self.right + other.right, self.weight + other.weight)

    def value(self) -> float:
        return self.right / self.weight if self.weight else np.nan


class _Errors(NamedTuple):
    """Weight of the samples, mean of the targets, their squares around it, and squared errors."""

    weight: float
    mean: Doubles
    spread: Doubles
    error: Doubles

    def __add__(self, other: Any) -> _Errors:
        weight = self.weight + other.weight
        if weight == 0:
            return self
        shift = other.mean - self.mean
        share = other.weight / weight
        return _Errors(
            weight,
            self.mean + share * shift,
            self.spread + other.spread + self.weight * share * shift**2,
            self.error + other.error,
        )

    def value(self) -> float:
        # of constant targets, as scikit-learn has it
        with np.errstate(divide="ignore", invalid="ignore"):
            r2 = np.where(self.spread > 0, 1.0 - self.error / self.spread, 0.0)
        return float(np.where((self.spread == 0) & (self.error == 0), 1.0, r2).mean())


def _count_hits(model: Any, rows: Partitions) -> _Hits:
    labels = model._prepare_y(rows.y)
    weight = checked_sample_weight(rows.weight, _num_samples(rows.X))
    right = accuracy_score(labels, model.predict(rows.X), sample_weight=weight, normalize=False)
    return _Hits(float(right), float(_num_samples(rows.X) if weight is None else weight.sum()))


def _sum_errors(model: Any, rows: Partitions) -> _Errors:
    y = model._prepare_y(rows.y)
    Y = np.asarray(y, dtype=np.float64).reshape(_num_samples(rows.X), -1)
    weight = checked_sample_weight(rows.weight, len(Y))
    weight = np.ones(len(Y)) if weight is None else weight
    total = float(weight.sum())
    mean = weight @ Y / total if total else Y[0]
    errors = Y - model.predict(rows.X).reshape(Y.shape)
    return _Errors(total, mean, weight @ (Y - mean) ** 2, weight @ errors**2)
