"""The named cases, one file a family. Data are made from fixed seeds; nothing here takes a time.

Every case starts from inputs that lie in [0, 1], so that no contestant has to scale them; where
ours is an estimator, which always scales, the peers are set to do so. Sets of terms that
scikit-learn takes part in are of complete total degree: its ``PolynomialFeatures`` makes no others,
and all contestants have the same number of terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.cases import (
    explanations,
    factorisations,
    features,
    fits,
    kernels,
    products,
    selection,
)

if TYPE_CHECKING:
    from bench.runner import Case

#: In the order in which they run and are shown.
CASES: tuple[Case, ...] = (
    *fits.CASES,
    *products.CASES,
    *factorisations.CASES,
    *kernels.CASES,
    *features.CASES,
    *selection.CASES,
    *explanations.CASES,
)
