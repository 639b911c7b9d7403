"""Names of version 0.1.0 that have changed: an error says the new one, and old files are read."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NEW_NAMES", "refuse_old_names"]

NEW_NAMES = {
    "batch_rows": "batch_size",
    "every_rows": "every_samples",
    "feature_range": "bounds",
    "gamma": "alpha",
    "gammas": "alphas",
    "kernel_rows": "kernel_samples",
    "order": "term_order",
    "score": "loss",
    "search_rows": "search_samples",
    "splits": "cv",
}

Function = TypeVar("Function", bound="Callable[..., Any]")


def refuse_old_names(function: Function) -> Function:
    """Make a function say the new name of an argument that is given by its old one."""
    known = inspect.signature(function).parameters
    changed = {old: new for old, new in NEW_NAMES.items() if new in known and old not in known}

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for name in kwargs.keys() & changed.keys():
            raise TypeError(
                f"{function.__qualname__.removesuffix('.__init__')}() has no argument {name!r} any "
                f"more: it is called {changed[name]!r}"
            )
        return function(*args, **kwargs)

    return checked  # type: ignore[return-value]
