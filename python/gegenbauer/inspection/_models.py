"""Access to fitted estimators, which this package is given but does not import."""

from __future__ import annotations

from typing import Any

__all__ = ["require_model"]


def require_model(estimator: Any) -> None:
    """Refuse whatever is not a fitted regressor or classifier of this library.

    Estimators that are not fitted refuse by themselves: scikit-learn's NotFittedError, which their
    attributes raise, is an AttributeError and a ValueError.
    """
    for name in ("dual_coef_", "term_coef_"):
        try:
            getattr(estimator, name)
        except AttributeError as error:
            if isinstance(error, ValueError):
                raise
        else:
            return
    raise TypeError(
        "estimator must be a regressor or classifier of this library, got "
        f"{type(estimator).__name__}"
    )
