"""What a command reports with ``--json``: one object, collected as it goes and printed at the end.

Nothing here needs more than Python: that an extra is not installed is reported as well.
"""

from __future__ import annotations

import json
import math
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import metadata
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Results", "collecting", "collector", "in_json", "plain", "turn_on"]


@dataclass
class Results:
    """A report in the making.

    Attributes
    ----------
    on : bool
        Whether it is wanted, in place of a report in words.
    command : str
        The command that runs; "" before it is known.
    report : dict
        What was found.
    warnings : list of str
        In their order, without line breaks.
    stdout_is_taken : bool
        Whether standard output has what the command makes, so that the report goes to stderr.
    """

    on: bool = False
    command: str = ""
    report: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    stdout_is_taken: bool = False

    def add(self, values: Mapping[str, Any]) -> None:
        """Add values by their names; notes are gathered."""
        for name, value in values.items():
            if name == "notes":
                self.report.setdefault(name, []).extend(value)
            else:
                self.report[name] = plain(value)

    def print(self, exit_code: int = 0, kind: str = "", message: str = "") -> None:
        """Print all of it in one line; what failed goes to stderr."""
        found = {
            "command": self.command,
            "version": metadata.version("gegenbauer"),
            "exit_code": exit_code,
            "error": {"kind": kind, "message": message} if kind else None,
            "warnings": self.warnings,
            "report": self.report,
        }
        stream: IO[str] = sys.stderr if kind or self.stdout_is_taken else sys.stdout
        print(json.dumps(found), file=stream)  # in ASCII, which any terminal has


def plain(value: Any) -> Any:
    """Return a value as JSON has it: of NumPy as of Python, and null for what is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"a": np.float64(0.5), "b": (np.int64(3), float("nan"))})
    {'a': 0.5, 'b': [3, None]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


_results: ContextVar[Results] = ContextVar("_results")


@contextmanager
def collecting(*, on: bool) -> Iterator[Results]:
    """Collect the report of one command."""
    token = _results.set(Results(on))
    try:
        yield collector()
    finally:
        _results.reset(token)


def collector() -> Results:
    """Return the report in the making; outside of a command one that is not wanted."""
    return _results.get(None) or Results()


def in_json() -> bool:
    """Whether the report is wanted as JSON."""
    return collector().on


def turn_on() -> None:
    """Report in JSON from now on, as a file of options may have it."""
    collector().on = True
