"""Files that were requested of a fit, whose errors wait until its report is printed."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gegenbauer.cli.files import writing
from gegenbauer.cli.messages import UserError, printable, refusals
from gegenbauer.persistence._save import save

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gegenbauer.cli.output import Steps

__all__ = ["Written", "keep", "require_written", "writes"]


@dataclass
class Written:
    """A file that was requested, and what went wrong with it.

    The error waits until the report of a long fit is printed.

    Attributes
    ----------
    path : Path or None
        The file; None if none was requested.
    done : str
        What was done to it, as in "saved to".
    error : Exception or None
        Why it was not written.
    """

    path: Path | None
    done: str
    error: Exception | None = None

    @property
    def written(self) -> str | None:
        """The file, if it is there."""
        return None if self.path is None or self.error else str(self.path)

    def describe(self, otherwise: str) -> str:
        """Describe what became of the file; `otherwise` if none was requested."""
        if self.path is None:
            return otherwise
        failed = f"not {self.done} {self.path}: see the error"
        return failed if self.error else f"{self.done} {self.path}"


@contextmanager
def writes(file: Written) -> Iterator[None]:
    """Keep an error in writing a file for `require_written`."""
    try:
        yield
    except Exception as error:
        file.error = error


def require_written(**files: Written) -> None:
    """Raise what went wrong in writing files, and name those that were written.

    Raises
    ------
    UserError
        Files were not written; the message also names those that were.
    """
    errors = [file.error for file in files.values() if file.error is not None]
    for error in errors:
        if not isinstance(error, UserError):
            raise error
    if errors:
        written = [
            f"the {name} was {file.done} {printable(str(file.path), 200)}"
            for name, file in files.items()
            if file.path is not None and file.error is None
        ]
        raise type(errors[0])("; ".join([*map(str, errors), *written])) from errors[0]


def keep(model: Any, out: Path | None, steps: Steps) -> Written:
    """Save a model, if there is a place for it."""
    file = Written(out, "saved to")
    if out is not None:
        steps.begin("saving")
        model.set_params(n_jobs=None)  # the threads of this machine, today
        with writes(file), refusals(steps.warn), writing(out):
            save(model, out, statistics=False)  # to predict with; a checkpoint holds the sums
    return file
