"""Access to fitted estimators, which this package is given but does not import."""

from __future__ import annotations

from typing import Any

from gegenbauer._messages import Message
from gegenbauer.ridge.expansions import KernelExpansion, TermExpansion
from gegenbauer.ridge.mean_expansion import MeanExpansion

__all__ = ["expansion_of", "terms_of"]


def expansion_of(estimator: Any) -> TermExpansion | KernelExpansion | MeanExpansion:
    """Return the fitted function; refuse what is no regressor or classifier of this library.

    Estimators that are not fitted refuse by themselves: scikit-learn's NotFittedError, which their
    attributes raise, is an AttributeError and a ValueError.
    """
    try:
        found = estimator.expansion_
    except AttributeError as error:
        if isinstance(error, ValueError):
            raise
        found = None
    if isinstance(found, (TermExpansion, KernelExpansion, MeanExpansion)):
        return found
    raise TypeError(
        Message(
            "`estimator` must be a regressor or classifier of this library, got {}",
            type(estimator).__name__,
        )
    )


def terms_of(estimator: Any) -> TermExpansion:
    """Return the fitted function of a model with a finite set of terms; refuse others."""
    found = expansion_of(estimator)
    if not isinstance(found, TermExpansion):
        raise TypeError(
            Message(
                "this model has infinitely many terms and no finite polynomial",
                ways="fit with `n_terms` to get one",
            )
        )
    return found
