"""Which partially fitted models may be merged: those whose sums are of the same things."""

from __future__ import annotations

from typing import Any

import numpy as np

from gegenbauer._messages import Message

__all__ = ["require_mergeable", "same_values"]


def require_mergeable(one: Any, other: Any) -> None:
    """Refuse partially fitted models of other parameters, inputs, sums or targets."""
    mine, others = one._sum_parameters(), other._sum_parameters()
    for name in mine:
        if name in others and not same_values(mine[name], others[name]):
            raise ValueError(
                Message(
                    "partially fitted models can be merged only if their parameters are the same; "
                    "`{}` is {!r} here and {!r} there",
                    name,
                    mine[name],
                    others[name],
                )
            )
    names = [getattr(model, "feature_names_in_", None) for model in (one, other)]
    if one.n_features_in_ != other.n_features_in_ or not same_values(*names):
        raise ValueError(
            "partially fitted models can be merged only if they have the same inputs; here "
            f"they are {_inputs(one)} and there {_inputs(other)}"
        )
    if (one._encoder, one._levels) != (other._encoder, other._levels):
        raise ValueError(
            "partially fitted models can be merged only if they know the same levels of "
            "categories and of missing values, with the same shares: let both begin with the same "
            "samples"
        )
    kinds = [type(model.statistics_) for model in (one, other)]
    if kinds[0] is not kinds[1]:
        raise ValueError(
            Message(
                "the one model holds {} and the other {}",
                kinds[0].__name__,
                kinds[1].__name__,
                ways="give both the same `engine`",
            )
        )
    if one._y_was_flat != other._y_was_flat:
        raise ValueError("y has one dimension here and two there: give both models alike")


def same_values(a: Any, b: Any) -> bool:
    """Compare parameters: what holds several values by these, whatever holds them."""
    if np.ndim(a) or np.ndim(b):
        return np.array_equal(np.asarray(a), np.asarray(b))
    return bool(a == b)


def _inputs(model: Any) -> str:
    names = getattr(model, "feature_names_in_", None)
    return f"{model.n_features_in_} without names" if names is None else str(names.tolist())
