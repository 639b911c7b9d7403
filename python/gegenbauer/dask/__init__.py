"""The estimators on Dask collections: partitions are learned where they lie, and sums travel.

All that a fit needs to know of its rows are sums (:mod:`gegenbauer.statistics`), so that the graph
is plain: a task a partition, which learns it as ``partial_fit`` does; a tree that merges the
half-fitted models, always in the same order, so that the result has the same bits for any number
of workers and when some of them die; and one solve, here. Ranges and classes need no pass of their
own, since sums over rows in different boxes and of different classes merge exactly.
"""

from __future__ import annotations

try:
    import dask.array  # noqa: F401
except ImportError as error:
    raise ImportError(
        "gegenbauer.dask needs Dask, which comes with the extra 'dask': pip install '.[dask]' in a "
        "clone of the repository"
    ) from error

from gegenbauer.dask.estimators import (
    GegenbauerClassifier,
    GegenbauerFeatures,
    GegenbauerRegressor,
)
from gegenbauer.dask.model_selection import GegenbauerClassifierCV, GegenbauerRegressorCV

__all__ = [
    "GegenbauerClassifier",
    "GegenbauerClassifierCV",
    "GegenbauerFeatures",
    "GegenbauerRegressor",
    "GegenbauerRegressorCV",
]
