"""The options of a table: where it is, how it is written, and which part its columns have.

They are declared as those of `options` are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gegenbauer.batches.formats import Dialect, listed_endings
from gegenbauer.cli.choices import Task
from gegenbauer.cli.messages import UserError, refused
from gegenbauer.cli.parameters import Sets

__all__ = [
    "Decimal",
    "Ids",
    "IdsOfPredictions",
    "Ignore",
    "Missing",
    "Separator",
    "TableArgument",
    "TablesArgument",
    "Target",
    "TargetOfModel",
    "TaskOption",
    "Weight",
    "dialect_of",
    "require_one_table",
]

_DATA_PANEL = "The table"


def _read_separator(text: str) -> str:
    text = "\t" if text in ("tab", r"\t") else text
    if len(text) != 1 or text in '"\r\n' or not text.isascii():
        raise typer.BadParameter(f"{text!r} is neither one character of ASCII nor 'tab'")
    return text


# Whether a path can be read is found out where it is read: there, the error can report more.
TableArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        readable=False,
        help=f"Table, or - for standard input: {listed_endings()}.",
    ),
]

TablesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="TABLE...",
        readable=False,
        help=f"Table, or - for standard input: {listed_endings()}; with --stream also several "
        "files, or a folder of them.",
    ),
]

Target = Annotated[
    str,
    typer.Option(metavar="COLUMN", help="Column to learn.", rich_help_panel=_DATA_PANEL),
    Sets(("target", "y")),
]

TargetOfModel = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COLUMN",
        help="Column that the model predicts.",
        show_default="none: no scores",
        rich_help_panel=_DATA_PANEL,
    ),
    Sets(("target", "y")),
]

TaskOption = Annotated[
    Task,
    typer.Option(
        metavar="TASK",
        help="classification, regression or auto, which decides by the column and reports why: "
        "text, true and false, or few whole numbers are classes.",
        rich_help_panel=_DATA_PANEL,
    ),
    Sets(("as_labels",), {"False": "--task regression", "True": "--task classification"}),
]

Ids = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column that identifies rows, and is no input; repeat it for more.",
        show_default=False,
        rich_help_panel=_DATA_PANEL,
    ),
    Sets(("id_columns",), repeats=True),
]

IdsOfPredictions = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column that identifies rows, which the predictions begin with; repeat it for more.",
        show_default=False,
    ),
    Sets(("id_columns",), repeats=True),
]

Weight = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with the weights of the rows, from 0 up, which is no input.",
        show_default="all alike",
        rich_help_panel=_DATA_PANEL,
    ),
    Sets(("sample_weight",)),
]

Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that is no input; repeat it for more.",
        show_default=False,
        rich_help_panel=_DATA_PANEL,
    ),
    Sets(("ignore", "n_features"), repeats=True),
]

Separator = Annotated[
    Any,
    typer.Option(
        parser=_read_separator,
        metavar="CHAR", help="Separator of a CSV file; 'tab' for tabs.",
        show_default="a comma; ';' with --decimal ','; a tab in .tsv files",
        rich_help_panel=_DATA_PANEL,
    ),
    Sets(values={r"'\t'": "--separator tab"}),
]  # fmt: skip

Decimal = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR", help="What stands before the fraction of numbers in a CSV file, a point "
        "or a comma.",
        show_default="a point", rich_help_panel=_DATA_PANEL,
    ),
]  # fmt: skip

Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        metavar="VALUE", help="Value that is read as missing, beside empty cells, NA and the like; "
        "repeat it for more.",
        show_default=False, rich_help_panel=_DATA_PANEL,
    ),
    Sets(("missing_values",), repeats=True),
]  # fmt: skip


def dialect_of(separator: str | None, decimal: str | None, missing: list[str] | None) -> Dialect:
    """Return how tables are written.

    Raises
    ------
    UserError
        Options do not go together.
    """
    try:
        return Dialect(separator, decimal, missing or ())
    except ValueError as error:
        raise refused(error) from error


def require_one_table(tables: list[Path]) -> None:
    """Refuse several tables without --stream."""
    if len(tables) > 1:
        raise UserError("several tables need --stream")
