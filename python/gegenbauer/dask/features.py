"""Features of Dask collections."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from gegenbauer import estimators
from gegenbauer.dask._base import OnDask, with_client
from gegenbauer.dask.levels import find_levels
from gegenbauer.dask.partitions import Partitions, gather, is_ours, require_inputs

__all__ = ["GegenbauerFeatures"]


class GegenbauerFeatures(OnDask, estimators.GegenbauerFeatures):
    """Expand the inputs into products of Gegenbauer polynomials, for Dask collections.

    Parameters
    ----------
    n_terms, degree, lam, index_set, max_interaction, term_order, spectrum, domain
        As in :class:`gegenbauer.GegenbauerFeatures`.
    bounds, out_of_range
        As in :class:`gegenbauer.GegenbauerFeatures`.
    categorical_features, missing : default="from_dtype", default="error"
        As in :class:`gegenbauer.GegenbauerFeatures`. Levels are those of all samples: where types
        or ``categorical_features`` name categories, or with ``missing="indicator"``, one more pass
        over the samples counts them first.
    n_jobs : int or None, default=None
        Number of threads of a task, of which None means one.
    client : distributed.Client or None, default=None
        Who computes; None for the current client, or without one the threads of this process. It
        is not pickled with the transformer.

    Attributes
    ----------
    basis_, scaling_, n_terms_, n_features_in_, feature_names_in_
        As in :class:`gegenbauer.GegenbauerFeatures`.

    See Also
    --------
    gegenbauer.GegenbauerFeatures : The same for samples in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from gegenbauer.dask import GegenbauerFeatures
    >>> X = da.asarray([[0.0, 10.0], [0.5, 30.0], [1.0, 20.0]]).rechunk((2, 2))
    >>> features = GegenbauerFeatures(degree=2, lam=0.5).fit(X)
    >>> features.transform(X)[1].compute().tolist()
    [1.0, 0.5, 1.0, -0.125, 0.5, 1.0]
    """

    _plain = estimators.GegenbauerFeatures
    __init__ = with_client(estimators.GegenbauerFeatures, missing="error")

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  # the signature of pipelines
        """Learn the range of the inputs and build the basis.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Inputs.
        y : None
            Ignored; here for pipelines.

        Returns
        -------
        GegenbauerFeatures
            The fitted transformer itself.

        Raises
        ------
        StreamError
            A partition cannot be used; the message names it. It is a ValueError.
        ValueError
            There are no samples; a parameter does not fit.
        TypeError
            X is no Dask collection.
        """
        require_inputs(X)
        return self._on_copy("_fit_partitions", X)

    def _fit_partitions(self, X: Any) -> None:
        rows = Partitions.of(X)
        task = self._for_a_task(**self._category_params(X, rows))
        if self._may_have_levels(task):
            known = find_levels(self.client, task, rows, self.domain)
            model = None if known is None else known.fitted()
        else:
            found = gather(self.client, "range", _find_range, task, rows, _join_ranges)
            model = None if found is None else found[0]
        if model is None:
            raise ValueError(f"X holds no samples in any of its {len(rows)} partitions")
        self._learn_from(model)

    def transform(self, X: Any) -> Any:
        """Evaluate every term at every sample.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        Dask array or dataframe of shape (n_samples, n_terms)
            Not yet computed, in the partitions of X; a dataframe has its index, and the names of
            the terms. A NumPy array if X is in memory.
        """
        if not is_ours(X):
            return super().transform(X)
        return self._lazily("transform", X, names=self.get_feature_names_out())


def _find_range(model: Any, rows: Partitions) -> tuple[Any, float]:
    """Return a transformer fitted to a partition, and the spacing of its numbers."""
    model = copy.copy(model)
    X = model._validate_inputs(rows.X, reset=True)
    model._fit_inputs(X)
    return model, float(np.finfo(X.dtype).eps)


def _join_ranges(one: tuple[Any, float], other: tuple[Any, float]) -> tuple[Any, float]:
    resolution = max(one[1], other[1])
    model = copy.copy(one[0])
    model.scaling_ = one[0].scaling_.union(other[0].scaling_, resolution=resolution)
    return model, resolution
