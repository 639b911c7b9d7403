"""Access to fitted estimators, which this package is given but does not import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import setting, shown
from gegenbauer.ridge.expansions import KernelExpansion, TermExpansion
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gegenbauer._typing import Doubles
    from gegenbauer.ridge.expansions import Expansion

__all__ = ["expansion_of", "largest_indices", "levels_of", "spectrum_of", "terms_of"]


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
            f"the class {estimator.__name__}"
            if isinstance(estimator, type)
            else type(estimator).__name__,
            ways=_way_into(estimator),
        )
    )


def _way_into(estimator: Any) -> str | tuple[()]:
    """Advise on what holds a fitted model, by the attributes that scikit-learn gives it."""
    if isinstance(estimator, type):
        return "give an object of it that is fitted"
    if hasattr(estimator, "steps"):
        return (
            "give its last step, pipeline[-1], and samples as this one gets them, "
            "pipeline[:-1].transform(X)"
        )
    for name in ("best_estimator_", "estimator_", "regressor_"):
        if hasattr(estimator, name):
            return f"give its {name}"
    return ()


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


def spectrum_of(function: Expansion) -> Any:
    """Return the spectrum of a fitted function; those of a mean have the same levels."""
    if isinstance(function, TermExpansion):
        return function.basis.spectrum
    part = function.parts[0] if isinstance(function, MeanExpansion) else function
    return part.kernel.spectrum  # type: ignore[attr-defined]


def largest_indices(function: Expansion) -> list[int] | None:
    """Return the largest index of a function of each input, None for kernels."""
    if not isinstance(function, TermExpansion):
        return None
    found: list[int] = function.basis.max_degrees.tolist()
    return found


def levels_of(estimator: Any, t: int, values: Iterable[Any], parameter: str) -> Doubles:
    """Return values of a category as the numbers of its levels; refuse those fit has not seen."""
    known = estimator.categories_[t]
    places = {value: float(k) for k, value in enumerate(known)}
    given = [*values]
    unknown = [value for value in given if value not in places]
    if unknown:
        raise ValueError(
            Message(
                "{} of {} has {!r}, which is none of its values in fit: {}",
                setting(parameter),
                estimator._column_name(t),
                unknown[0],
                shown(known),
            )
        )
    return np.array([places[value] for value in given])
