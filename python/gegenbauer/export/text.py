"""What targets that are text share: numbers, wrapped lists and descriptions of inputs."""

from __future__ import annotations

import textwrap
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message, Ways
from gegenbauer.export.description import Category
from gegenbauer.export.term_sum import TermSum

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gegenbauer.export.description import Model

__all__ = [
    "MOST_NUMBERS",
    "describe_inputs",
    "listing",
    "n_numbers",
    "require_few_numbers",
    "rounding_line",
    "shown_value",
    "title",
    "unbroken",
    "wrapped",
]

# Numbers in a source file that compilers and interpreters read in seconds: some 10 MB of text
MOST_NUMBERS = 500_000

_WIDTH = 98

# Stands for a blank at which no line is broken
_KEPT_BLANK = "\0"

# Longest name that a comment shows
_LONGEST = 60


def n_numbers(model: Model) -> int:
    """Return how many numbers the tables of a model hold."""
    function = model.function
    if isinstance(function, TermSum):
        return function.coef.size + function.n_terms * (1 + function.interaction)
    tables = 1 + 2 * int(function.has_geometric)
    return function.centres.size * tables + sum(part.coef.size for part in function.parts)


def require_few_numbers(model: Model, most: int, target: str) -> None:
    """Refuse a model of more numbers than a target bears."""
    found = n_numbers(model)
    if found <= most:
        return
    if isinstance(model.function, TermSum):
        what = f"{model.function.n_terms} terms"
        ways = Ways("", "fit with fewer `n_terms`")
    else:
        what = f"{len(model.function.centres)} centres of kernels"
        ways = Ways(
            "fit with",
            "`n_terms` for a finite set of terms",
            "a lower `kernel_samples`",
            last=", or with ",
        )
    raise ValueError(
        Message(
            "`model` has {}, whose tables hold {} numbers, and {} holds at most {}",
            what,
            found,
            target,
            most,
            ways=ways,
        )
    )


def title(model: Model) -> str:
    """Describe a model in a line."""
    function, m = model.function, len(model.inputs)
    what = (
        f"{function.n_terms} term{'s' * (function.n_terms != 1)}"
        if isinstance(function, TermSum)
        else f"kernels at {len(function.centres)} centres"
    )
    version = metadata.version("gegenbauer")
    return (
        f"{model.estimator} of {m} input{'s' * (m != 1)}, {what}; exported by gegenbauer {version}"
    )


def rounding_line(share: float) -> str:
    """Describe how exact an export is."""
    return f"Differs from predict by some {share:.0e} of the largest output, by rounding"


def shown_value(value: Any) -> str:
    """Return a level or label as Python writes it, in ASCII and not too long."""
    text = ascii(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def describe_inputs(model: Model) -> list[str]:
    """Describe each input in a line: its place, name, and codes if it is a category."""
    lines = []
    numbers = [one for one in model.inputs if not isinstance(one, Category)]
    all_take_gaps = all(one.takes_gaps for one in numbers)
    for t, one in enumerate(model.inputs):
        line = f"{t}: {shown_value(one.name)}"
        if isinstance(one, Category):
            codes = [f"{k} {shown_value(value)}" for k, value in enumerate(one.values)]
            codes += [f"{len(codes)} missing"] * one.has_missing
            line += f", a category of the codes {', '.join(codes) or 'none'}"
            line += "" if one.takes_gaps else "; others are refused"
        elif one.takes_gaps and not all_take_gaps:
            line += ", may be missing"
        lines.append(line)
    if numbers and all_take_gaps:
        lines.append("numbers may be missing, NaN")
    return lines


def unbroken(value: Any) -> str:
    """Return a level, a label or a name as Python writes it, for a line that is `wrapped`.

    A literal that were broken at a blank in it would be none.
    """
    return ascii(value).replace(" ", _KEPT_BLANK)


def wrapped(text: str, indent: str, *, first: str | None = None) -> list[str]:
    """Break a line into some that fit, without breaking words."""
    lines = textwrap.wrap(
        text, _WIDTH, initial_indent=indent if first is None else first, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    ) or [indent.rstrip()]  # fmt: skip
    return [line.replace(_KEPT_BLANK, " ") for line in lines]


def listing(values: Iterable[Any], indent: str = "    ") -> str:
    """Write numbers in lines of commas, each number such that it is read back as it is."""
    flat = np.asarray(values).ravel().tolist()
    return "\n".join(wrapped(", ".join(repr(value) for value in flat), indent))
