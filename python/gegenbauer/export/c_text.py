"""Tables of numbers in C."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.export.description import Category
from gegenbauer.export.text import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gegenbauer.export.description import Model, Number

__all__ = ["array", "least_integer", "numbers_of", "strided"]


def array(name: str, values: Any, kind: str = "double") -> Iterator[str]:
    """Write a table that is not empty, whatever its shape, in the order of C."""
    flat = np.asarray(values).ravel().tolist()
    head = f"  static const {kind} {name}[{len(flat)}] = {{"
    yield from wrapped(head + ",".join(f" {_written(value)}" for value in flat) + "};", "    ",
                       first="")  # fmt: skip


def _written(value: float) -> str:
    """Write a number such that it is read back as it is; whole ones are short."""
    if isinstance(value, int):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value)}" if value or np.copysign(1.0, value) > 0 else "-0.0"
    return repr(value)


def least_integer(largest: int) -> str:
    """Return the type of integers from 0 that a table of these needs."""
    if largest < 2**8:
        return "unsigned char"
    return "unsigned short" if largest < 2**16 else "unsigned int"


def strided(sizes: Iterable[int]) -> list[int]:
    """Return where each of some blocks begins, and where the last one ends."""
    return [0, *itertools.accumulate(sizes)]


def numbers_of(model: Model) -> list[Number | None]:
    """Return the inputs, None for categories."""
    return [None if isinstance(one, Category) else one for one in model.inputs]
