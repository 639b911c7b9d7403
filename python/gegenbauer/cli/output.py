"""What the commands print: reports, tables and progress; and how they wait."""

from __future__ import annotations

import sys
import textwrap
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.progress import TimeElapsedColumn as ElapsedColumn
from rich.table import Table
from rich.text import Text

from gegenbauer.cli.messages import one_line
from gegenbauer.cli.results import collector, in_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = [
    "Line",
    "Steps",
    "has_abandoned_work",
    "interruptible",
    "print_heading",
    "print_pairs",
    "print_paragraphs",
    "print_table",
]

_T = TypeVar("_T")

_LABEL_WIDTH = 12

_MIN_TEXT_WIDTH = 20

_FILE_WIDTH = 10_000

_FOLDED_COLUMNS = 4  # so few can be folded

_FIRST_PROGRESS = 1.0  # seconds


# ---- reports -------------------------------------------------------------------------


def console(*, stderr: bool = False) -> Console:
    """Make a console on the current stdout or stderr that shows text as it is."""
    stream = sys.stderr if stderr else sys.stdout
    if hasattr(stream, "reconfigure"):  # a name beyond the terminal's encoding is no error
        stream.reconfigure(errors="backslashreplace")
    return Console(file=stream, highlight=False, markup=False, emoji=False)


class Line(NamedTuple):
    """A line of a report.

    Attributes
    ----------
    label, text : str
        What stands there.
    values : dict or None
        The same with --json; None for the text, by the label with underscores for blanks.
    """

    label: str
    text: str
    values: Mapping[str, Any] | None = None


def print_pairs(lines: Iterable[Line]) -> None:
    """Print labels and texts in two columns; a terminal's lines are broken, a file's are not."""
    lines = list(lines)
    if in_json():
        for line in lines:
            name = line.label.replace(" ", "_")
            collector().add({name: line.text} if line.values is None else line.values)
        return
    screen = console()
    label_width = max(_LABEL_WIDTH, *(len(line.label) + 2 for line in lines))
    for label, value, _ in lines:
        parts = [value]
        if screen.is_terminal:
            width = max(screen.width - label_width, _MIN_TEXT_WIDTH)
            parts = textwrap.wrap(value, width, break_on_hyphens=False) or [""]
        for row, part in enumerate(parts):
            shown = Text(f"{'' if row else label:<{label_width}}", style="bold")
            screen.print(shown.append(part, style="not bold"), soft_wrap=True)


def print_heading(text: str) -> None:
    """Print the heading of a table."""
    if in_json():
        return
    console().print(f"\n{text}", style="bold", soft_wrap=True)


def print_paragraphs(*paragraphs: str) -> None:
    """Print paragraphs; a terminal's lines are broken between words, a file's are not."""
    if in_json():
        collector().add({"notes": paragraphs})
        return
    screen = console()
    screen.print()
    for paragraph in paragraphs:
        screen.print(paragraph, soft_wrap=not screen.is_terminal)


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], values: Mapping[str, Any]
) -> None:
    """Print names and numbers in columns; below each other where a terminal is too narrow for many.

    In a file, a table is as wide as it needs, and has no blanks at the end of its lines. With
    --json, it is `values`: a name, and the rows as objects.
    """
    if in_json():
        collector().add(values)
        return
    screen = console()
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    if not screen.is_terminal:
        screen.width = _FILE_WIDTH
        with screen.capture() as captured:
            screen.print(table)
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))
        return
    unlimited = screen.options.update(max_width=_FILE_WIDTH)
    needed = screen.measure(table, options=unlimited).maximum
    if len(columns) <= _FOLDED_COLUMNS or needed <= screen.width:
        screen.print(table)
    else:
        labels = [" ".join(column.split()) for column in columns[1:]]
        for name, *cells in rows:
            print_heading(name)
            print_pairs(map(Line, labels, cells))


# ---- long work -----------------------------------------------------------------------


class Steps:
    """A progress display on stderr, for a terminal alone, and only after a second.

    Parameters
    ----------
    total : int
        Number of steps.

    Examples
    --------
    >>> with Steps(total=1) as steps:
    ...     steps.begin("reading")
    """

    def __init__(self, total: int) -> None:
        self._console = screen = console(stderr=True)
        columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=20)]
        self._progress = Progress(
            *columns,
            MofNCompleteColumn(),
            ElapsedColumn(),
            console=screen,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task("", total=total)
        self._begun = 0
        self._what = ""
        self._lock = threading.Lock()
        self._shown = False
        self._closed = not screen.is_terminal
        self._timer = threading.Timer(_FIRST_PROGRESS, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if not self._closed:
            self._timer.start()
        return self

    def begin(self, what: str) -> None:
        """Show what is done from now on; the step before is done."""
        self._what = what
        self._progress.update(self._task, description=what, completed=self._begun)
        self._begun += 1

    def detail(self, text: str) -> None:
        """Show how far the present step is."""
        self._progress.update(self._task, description=f"{self._what}: {text}")

    def warn(self, message: str) -> None:
        """Print one line of warning, above the display if there is one; or keep it for --json."""
        if in_json():
            collector().warnings.append(one_line(message))
            return
        text = Text("warning: ", style="yellow")
        text.append(one_line(message), style="default")
        self._console.print(text, soft_wrap=True)

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._shown:
                self._progress.stop()

    def _show(self) -> None:
        with self._lock:
            if not self._closed:
                self._shown = True
                self._progress.start()


# Set when the work of that call has ended. Not Thread.is_alive(): after a join that Ctrl-C ended,
# Python 3.11 takes the thread for dead.
_abandoned: list[threading.Event] = []


def interruptible(work: Callable[[], _T]) -> _T:
    """Run something that does not look at signals, so that Ctrl-C is heard all the same.

    Readers of tables spend minutes in compiled code. They run in a thread of their own, and the
    main thread, which is the one that hears signals, waits.
    """
    results: list[_T] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    try:
        # within, since a signal may come while the thread begins
        threading.Thread(target=run, daemon=True).start()
        while not done.wait(timeout=0.1):
            pass
    except KeyboardInterrupt:
        _abandoned.append(done)
        raise
    if errors:
        raise errors[0]
    return results[0]


def has_abandoned_work() -> bool:
    """Return whether a thread of :func:`interruptible` still runs."""
    return not all(done.is_set() for done in _abandoned)
