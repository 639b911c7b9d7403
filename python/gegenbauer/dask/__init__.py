"""The estimators on Dask collections: each partition is learned on its worker, and sums are sent.

All that a fit needs to know of its samples are sums (:mod:`gegenbauer.ridge.statistics`), so that
the graph is plain: a task a partition, which learns it as ``partial_fit`` does; a tree that merges
the partially fitted models, always in the same order, so that the result is bitwise identical for
any number of workers and when some of them die; and one solve, here. Ranges and classes need no
pass of their own, since sums over samples in different boxes and of different classes merge
exactly.
"""

from __future__ import annotations

try:
    import dask.array  # noqa: F401
except ImportError as error:
    raise ImportError(
        "gegenbauer.dask needs Dask, which comes with the extra 'dask': pip install '.[dask]' in a "
        "clone of the repository"
    ) from error

from gegenbauer.dask.estimators import GegenbauerClassifier, GegenbauerRegressor
from gegenbauer.dask.features import GegenbauerFeatures
from gegenbauer.dask.search_estimators import GegenbauerClassifierCV, GegenbauerRegressorCV

__all__ = [
    "GegenbauerClassifier",
    "GegenbauerClassifierCV",
    "GegenbauerFeatures",
    "GegenbauerRegressor",
    "GegenbauerRegressorCV",
]
