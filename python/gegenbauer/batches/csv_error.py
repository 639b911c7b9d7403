"""What is wrong with the text of a CSV file."""

from __future__ import annotations

__all__ = ["CsvError"]


class CsvError(ValueError):
    """What is wrong with the text of a file.

    Attributes
    ----------
    row : int or None
        In which row, counted from 0; None if it is the header, or not known.
    to_the_end : bool
        Whether it may be in any row from that one on.
    """

    def __init__(self, row: int | None, reason: str, *, to_the_end: bool = False) -> None:
        super().__init__(reason)
        self.row, self.to_the_end = row, to_the_end
