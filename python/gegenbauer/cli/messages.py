"""Errors, names and numbers in words."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gegenbauer._messages import count, number
from gegenbauer.batches.formats import ending_of, format_of
from gegenbauer.cli.parameters import in_options
from gegenbauer.errors import BeyondRangeError, Rows, StreamError, message_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "DataError",
    "MachineError",
    "UserError",
    "count",
    "data_rows",
    "describe_os_error",
    "duration",
    "listed",
    "number",
    "one_line",
    "printable",
    "quoted",
    "refusals",
    "refused",
]

_NAME_WIDTH = 40


class UserError(Exception):
    """A mistake in the arguments; the message is one line with what to do."""

    kind = "usage"


class DataError(UserError):
    """A mistake in a table or a model file, or one that shows when it is read."""

    kind = "data"


class MachineError(UserError):
    """What this machine does not do: it lacks memory, or does not write a file."""

    kind = "system"


def one_line(text: str) -> str:
    r"""Make text fit for one line of a terminal, whoever wrote it.

    Examples
    --------
    >>> one_line("two\nlines\x1b[31m")
    'two lines\\x1b[31m'
    """
    return _visible(" ".join(text.split()))


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def printable(text: str, width: int = _NAME_WIDTH) -> str:
    r"""Make a name from a file fit to be shown: no control characters, not too long.

    Examples
    --------
    >>> printable("a\x1b[31mb"), printable("x" * 50, width=10)
    ('a\\x1b[31mb', 'xxxxxxx...')
    """
    text = _visible(text)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def quoted(name: object) -> str:
    """Return a name in quotes, fit to be shown."""
    return f"'{printable(str(name))}'"


def listed(names: Sequence[object], limit: int = 5) -> str:
    """List names in quotes.

    Examples
    --------
    >>> listed(["a", "b", "c", "d"], limit=2)
    "'a', 'b' and 2 more"
    """
    text = ", ".join(quoted(name) for name in names[:limit])
    return text if len(names) <= limit else f"{text} and {len(names) - limit} more"


def duration(seconds: float) -> str:
    """Show a time in a fitting unit.

    Examples
    --------
    >>> duration(0.00042), duration(0.0123), duration(2.34)
    ('0.42 ms', '12 ms', '2.3 s')
    """
    if seconds < 1:
        return f"{1e3 * seconds:.2g} ms" if seconds < 0.0995 else f"{1e3 * seconds:.0f} ms"
    return f"{seconds:.1f} s"


def describe_os_error(error: OSError) -> str:
    """Name in one line which file the system refused, and why."""
    if error.filename is None:
        return f"{error.strerror or error}"
    return f"{printable(str(error.filename), 200)}: {error.strerror or error}"


def data_rows(where: Rows) -> str:
    """Name rows as a user of the file counts them: from 1, without the header.

    Examples
    --------
    >>> from gegenbauer.errors import Rows
    >>> data_rows(Rows("t.csv", 0, 0)), data_rows(Rows("t.parquet", 7)), data_rows(Rows("t.csv"))
    ('data row 1 of t.csv (header not counted)', 'data rows 8 on of t.parquet', 't.csv')
    """
    if where.first is None:
        return str(where)
    ending = ending_of(Path(where.source))
    note = " (header not counted)" if ending and format_of(ending) == "csv" else ""
    return f"data {where.counted_from(1)}{note}"


def refused(error: Exception) -> UserError:
    """Return what the library refuses as an error of the user, in the words of the command line."""
    if isinstance(error, StreamError) and isinstance(error.where, Rows):
        return DataError(in_options(error.message(data_rows)))
    if isinstance(error, BeyondRangeError) and error.row is not None:
        return DataError(in_options(error.message("data row {}", start=1)))
    if isinstance(error, (StreamError, BeyondRangeError)):
        return DataError(in_options(message_of(error)))
    kind = MachineError if isinstance(error, MemoryError) else UserError
    return kind(in_options(message_of(error)))


@contextmanager
def refusals(warn: Callable[[str], None]) -> Iterator[None]:
    """Turn what the library refuses into errors of the user, and hand its warnings on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield
        except (ValueError, TypeError, MemoryError) as error:  # LinAlgError is a ValueError
            raise refused(error) from error
    found = [one.message for one in caught if isinstance(one.message, Warning)]
    for message in dict.fromkeys(map(message_of, found)):
        warn(in_options(message))
