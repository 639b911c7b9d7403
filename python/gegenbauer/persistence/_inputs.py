"""Levels of inputs in model files."""

from __future__ import annotations

import itertools
from typing import Any

from gegenbauer.basis.levels import Levels
from gegenbauer.errors import ModelFileError
from gegenbauer.estimators._categories import Category, CategoryEncoder
from gegenbauer.persistence._checks import build_object, is_double, require_keys, show

__all__ = ["restore_inputs"]


def restore_inputs(
    entries: list[Any] | None, n_features: int
) -> tuple[tuple[Levels | None, ...] | None, CategoryEncoder]:
    """Return the levels of the inputs, None if there are none, and the encoder of categories.

    Raises
    ------
    ModelFileError
        They are not what a fit finds.
    """
    if entries is None:
        return None, CategoryEncoder()
    if len(entries) != n_features:
        raise ModelFileError(f"inputs must hold {n_features} entries; it has {len(entries)}.")
    levels = tuple(None if entry is None else _levels(entry) for entry in entries)
    categories = [
        (t, _category(entry))
        for t, entry in enumerate(entries)
        if entry is not None and entry["values"] is not None
    ]
    return levels, CategoryEncoder(tuple(categories))


def _levels(entry: Any) -> Levels:
    if not isinstance(entry, dict):
        raise ModelFileError(f"an entry of inputs must be null or an object; got {show(entry)}.")
    require_keys(entry, {"shares", "values", "missing"}, "an entry of inputs")
    shares, values = entry["shares"], entry["values"]
    if not isinstance(shares, list) or not all(is_double(p) and p >= 0 for p in shares):
        raise ModelFileError(f"shares of levels must be numbers of at least 0; got {show(shares)}.")
    if not isinstance(entry["missing"], bool):
        raise ModelFileError(f"missing must be true or false; got {show(entry['missing'])}.")
    if values is not None:
        _require_values(values)
        n_levels = len(values) + int(entry["missing"])
        if n_levels != len(shares):
            raise ModelFileError(f"{len(shares)} shares and {n_levels} levels do not fit.")
    found: Levels = build_object(Levels, tuple(shares), values is not None)
    return found


def _require_values(values: Any) -> None:
    """Refuse values that are not distinct, sorted and of one kind, as those of a fit are."""
    if not isinstance(values, list):
        raise ModelFileError(f"values of a category must be a list; got {show(values)}.")
    kinds = {_kind(value) for value in values}
    if len(kinds) > 1 or None in kinds:
        raise ModelFileError(
            f"values of a category must be all text, all numbers or all truth values; got "
            f"{show(values)}."
        )
    if any(not before < after for before, after in itertools.pairwise(values)):
        raise ModelFileError(f"values of a category must be sorted and distinct: {show(values)}.")


def _kind(value: Any) -> str | None:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, str):
        return "text"
    return "number" if is_double(value) else None


def _category(entry: dict[str, Any]) -> Category:
    return Category(tuple(entry["values"]), entry["missing"])
