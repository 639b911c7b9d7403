"""Tables of a few numbers: as text, and of HTML, which notebooks show in its place."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["MAX_SHOWN_INPUTS", "html_table", "text_table"]

# Rows of a table of inputs
MAX_SHOWN_INPUTS = 20


def html_table(
    title: str, header: Sequence[object], rows: Iterable[Sequence[object]], note: str = ""
) -> str:
    """Return a table of HTML, in which numbers have four digits and names of columns no tags.

    Parameters
    ----------
    title : str
        What stands above the table.
    header : sequence
        Names of the columns; the first one is that of the names of the rows.
    rows : iterable of sequences
        A name, and a number or text for each other column.
    note : str
        What stands below the table.

    Returns
    -------
    str

    Examples
    --------
    >>> from gegenbauer._html import html_table
    >>> html_table("of a", ["input", "share"], [["<a>", 0.25]]).split("<tbody>")[1]
    '<tr><th>&lt;a&gt;</th><td>0.25</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(str(name))}</th>" for name in header)
    body = "".join(
        f"<tr><th>{_cell(name)}</th>{''.join(f'<td>{_cell(cell)}</td>' for cell in cells)}</tr>"
        for name, *cells in rows
    )
    table = (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
    return f"{table}<p>{escape(note)}</p>" if note else table


def text_table(header: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> str:
    """Return the lines of a table whose columns are aligned, of arguments as for `html_table`.

    Examples
    --------
    >>> from gegenbauer._html import text_table
    >>> print(text_table(["input", "share"], [["a", 0.25], ["b", 1.0]]))
    input  share
    a       0.25
    b          1
    """
    cells = [header, *([str(name), *(f"{c:.4g}" for c in row)] for name, *row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return "\n".join([*lines, *([note] if note else [])])


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else escape(str(value))
