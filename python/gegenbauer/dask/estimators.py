"""Classifier, regressor and features on Dask collections, derived from the plain ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gegenbauer import estimators
from gegenbauer._messages import Message
from gegenbauer.dask._base import Classes, Learner, with_client
from gegenbauer.dask.partitions import gather
from gegenbauer.estimators._labels import label_kind
from gegenbauer.estimators._targets import checked_sample_weight

if TYPE_CHECKING:
    from gegenbauer.dask.partitions import Partitions

__all__ = ["GegenbauerClassifier", "GegenbauerRegressor"]


class GegenbauerRegressor(Learner, estimators.GegenbauerRegressor):
    """Ridge regression on tensor products of Gegenbauer polynomials, for Dask collections.

    Sums over the samples of each partition are computed on the workers, in one pass, and only
    these are sent. The result is bitwise identical for any number of workers. It is a
    :class:`gegenbauer.GegenbauerRegressor`, with everything that has, such as ``partial_fit``,
    ``choose_alpha`` and ``+``; samples in memory are predicted as there.

    Parameters
    ----------
    n_terms, degree, lam, alpha, index_set, max_interaction, term_order, spectrum, domain
        As in :class:`gegenbauer.GegenbauerRegressor`.
    bounds, out_of_range, penalize_constant, engine, solver, precision
        As in :class:`gegenbauer.GegenbauerRegressor`; ``engine`` and ``solver`` must not need all
        samples at once.
    categorical_features, missing : default="from_dtype", default="error"
        As in :class:`gegenbauer.GegenbauerRegressor`. Levels are those of all samples: where types
        or ``categorical_features`` name categories, or with ``missing="indicator"``, one more pass
        over the samples counts them first.
    n_jobs : int or None, default=None
        Number of threads of a task. Dask takes each task for one thread, which is what None means;
        for the solve, None means all there are here.
    client : distributed.Client or None, default=None
        Who computes; None for the current client, or without one the threads of this process. It
        is not pickled with the estimator.

    Attributes
    ----------
    statistics_, term_coef_, scaling_, basis_, ...
        As after ``partial_fit`` of :class:`gegenbauer.GegenbauerRegressor`.

    See Also
    --------
    gegenbauer.GegenbauerRegressor : The same for samples in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from gegenbauer.dask import GegenbauerRegressor
    >>> X = da.random.default_rng(0).uniform(size=(1000, 2), chunks=(300, 2))
    >>> y = X[:, 0] * X[:, 1]
    >>> model = GegenbauerRegressor(degree=2, n_terms=None, alpha=1e-9).fit(X, y)
    >>> model.predict(X)
    dask.array<_on_rows, shape=(1000,), dtype=float64, chunksize=(300,), chunktype=numpy.ndarray>
    >>> float(model.to_local().predict([[0.5, 0.5]])[0].round(6))
    0.25
    """

    _plain = estimators.GegenbauerRegressor
    __init__ = with_client(estimators.GegenbauerRegressor, missing="error")


class GegenbauerClassifier(Classes, Learner, estimators.GegenbauerClassifier):
    """Classification on tensor products of Gegenbauer polynomials, for Dask collections.

    Sums over the samples of each partition are computed on the workers, in one pass, and only
    these are sent. Partitions may lack classes. The result is bitwise identical for any number of
    workers. It is a
    :class:`gegenbauer.GegenbauerClassifier`, with everything that has, such as ``partial_fit``,
    ``choose_alpha`` and ``+``; samples in memory are predicted as there.

    Parameters
    ----------
    n_terms, degree, lam, alpha, index_set, max_interaction, term_order, spectrum, domain
        As in :class:`gegenbauer.GegenbauerClassifier`.
    bounds, out_of_range, penalize_constant, engine, solver, precision
        As in :class:`gegenbauer.GegenbauerClassifier`; ``engine`` and ``solver`` must not need all
        samples at once.
    class_weight : dict, "balanced" or None, default=None
        As in :class:`gegenbauer.GegenbauerClassifier`, not for multilabel y; "balanced" takes a
        pass over y first, and ``to_local()`` has the weights it led to.
    categorical_features, missing : default="from_dtype", default="error"
        As in :class:`gegenbauer.GegenbauerClassifier`. Levels are those of all samples: where types
        or ``categorical_features`` name categories, or with ``missing="indicator"``, one more pass
        over the samples counts them first.
    n_jobs : int or None, default=None
        Number of threads of a task. Dask takes each task for one thread, which is what None means;
        for the solve, None means all there are here.
    client : distributed.Client or None, default=None
        Who computes; None for the current client, or without one the threads of this process. It
        is not pickled with the estimator.

    Attributes
    ----------
    classes_, statistics_, term_coef_, scaling_, basis_, ...
        As after ``partial_fit`` of :class:`gegenbauer.GegenbauerClassifier`.

    See Also
    --------
    gegenbauer.GegenbauerClassifier : The same for samples in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from gegenbauer.dask import GegenbauerClassifier
    >>> X, y = load_iris(return_X_y=True)  # sorted by class, so that partitions lack some
    >>> X, y = da.from_array(X, chunks=(40, 4)), da.from_array(y, chunks=40)
    >>> model = GegenbauerClassifier(n_terms=15, alpha=2**-6).fit(X, y)
    >>> int((model.predict(X) == y).sum().compute())
    143
    """

    _plain = estimators.GegenbauerClassifier
    __init__ = with_client(estimators.GegenbauerClassifier, missing="error")

    _balanced: dict[Any, float] | None = None  # what class_weight="balanced" came to

    def _task_params(self, rows: list[Partitions]) -> dict[str, Any]:
        if self.class_weight != "balanced":
            return {}
        if self._statistics is not None:
            raise ValueError(
                Message(
                    "`class_weight='balanced'` needs all samples at once: go on with to_local(), "
                    "where it is a dict"
                )
            )
        found = gather(
            self.client,
            "count",
            _count_labels,
            self._for_a_task(class_weight=None),
            rows,
            _add_counts,
        )
        counts = {label: weight for label, weight in (found or {}).items() if weight > 0}
        total = sum(counts.values())
        self._balanced = {label: total / (len(counts) * weight) for label, weight in counts.items()}
        return {"class_weight": self._balanced}

    def _require_alike(self, other: Self) -> None:
        if self.class_weight == "balanced":
            raise ValueError(
                Message(
                    "models with `class_weight='balanced'` cannot be merged: each has its own "
                    "weights of classes, from the numbers of its samples"
                )
            )
        super()._require_alike(other)

    def _require_sums_to_do(self) -> bool:
        # "balanced" is a dict by then
        return True if self.class_weight == "balanced" else super()._require_sums_to_do()

    def to_local(self) -> Any:
        """Return the plain estimator of the same state, which needs no Dask.

        Returns
        -------
        gegenbauer.GegenbauerClassifier
            With class_weight="balanced", its ``class_weight`` is the dict of what was used.
        """
        local = super().to_local()._without({"_balanced"})
        if self._balanced is not None:
            local.class_weight = self._balanced
        return local


def _count_labels(model: Any, rows: Partitions) -> dict[Any, float]:
    """Sum the weights of the samples of each label."""
    y = np.asarray(model._prepare_y(rows.y))
    if label_kind(y, type(model).__name__) == "multilabel-indicator":
        raise ValueError(
            Message(
                "`class_weight` must be None for multilabel y in partitions, got 'balanced': pass "
                "sample_weight instead"
            )
        )
    labels, codes = np.unique(y.ravel(), return_inverse=True)
    weight = checked_sample_weight(rows.weight, y.size)
    return dict(
        zip(labels.tolist(), np.bincount(codes.ravel(), weights=weight).tolist(), strict=True)
    )


def _add_counts(one: dict[Any, float], other: dict[Any, float]) -> dict[Any, float]:
    return {label: one.get(label, 0.0) + other.get(label, 0.0) for label in {**one, **other}}
