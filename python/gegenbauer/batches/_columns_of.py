"""Tables and record batches of Arrow in which some columns are others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["with_columns"]


def with_columns(table: Any, columns: Mapping[str, Any]) -> Any:
    """Return a table, or a record batch, with columns in the place of those of the same names.

    `RecordBatch.set_column` is younger than the oldest Arrow that is supported.
    """
    names = table.schema.names
    found = [columns.get(name, column) for name, column in zip(names, table.columns, strict=True)]
    return type(table).from_arrays(found, names) if columns else table
