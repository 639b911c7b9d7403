"""Names, literals and sums in SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["NAME", "TEXT", "double", "literal", "number", "quoted", "total"]

# What names and texts stand in
NAME, TEXT = '"', "'"


def quoted(text: str, mark: str) -> str:
    """Put text between marks, of which those in it are doubled."""
    if "\0" in text:
        raise ValueError(f"names and labels in SQL must not hold the character 0, got {text!r}")
    return f"{mark}{text.replace(mark, 2 * mark)}{mark}"


def number(value: float) -> str:
    """Write a number such that DuckDB does not take it for a decimal one."""
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def literal(value: Any) -> str:
    """Write a level or a label."""
    if isinstance(value, (bool, np.bool_)):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return quoted(value, TEXT)
    return str(value) if isinstance(value, int) else number(value)


def total(parts: Iterable[str]) -> str:
    """Write a sum, 0 of nothing."""
    return " + ".join(parts) or number(0.0)


def double(text: str) -> str:
    """Write a conversion to float64."""
    return f"CAST({text} AS double precision)"
