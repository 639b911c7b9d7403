"""The command line: ``gegenbauer fit``, ``tune``, ``predict``, ``export``, ``info``, ``demo``.

:func:`main` is the entry point. It needs nothing but Python to report that the extra ``cli`` is
missing, and turns whatever goes wrong into one line on stderr. ``app`` declares the commands, and
each is a module that is imported when it runs; the other modules serve them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

# What the extra ``cli`` brings, by the names under which Python imports it.
_PACKAGES = ("typer", "rich", "pandas", "pyarrow", "safetensors")

_DEBUG = "--debug"

# As a shell reports a program that was ended by SIGINT, or by SIGPIPE.
_INTERRUPTED = 130
_NO_READER = 141

# Options of the first version that have other names now
_NEW_OPTIONS = {"--gamma": "--alpha", "--jobs": "--n-jobs", "--terms": "--n-terms"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str or None, default=None
        The arguments after the program's name; None for those of this process.

    Returns
    -------
    int
        Exit code: 0, or 2 for a mistake in the arguments or the data, 1 when the extra ``cli`` is
        not installed or a fault is ours, 130 after Ctrl-C, 1 or 141 when nobody reads the output.

    See Also
    --------
    gegenbauer.load : The models that the commands write, in Python.

    Examples
    --------
    >>> from gegenbauer.cli import main
    >>> main(["--version"])
    gegenbauer ...
    0
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        _print_error(
            f"the command line needs {', '.join(missing)}: run pip install 'gegenbauer[cli]'"
        )
        return 1
    debug = _DEBUG in arguments
    try:
        code = _run([argument for argument in arguments if argument != _DEBUG])
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as interrupt:
        notes = getattr(interrupt, "__notes__", [])
        print(": ".join(["interrupted", *notes]), file=sys.stderr)
        _leave_reader()
        return _INTERRUPTED
    except BrokenPipeError:
        # Python flushes stdout once more at its end; there, nobody may hear of it again.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _NO_READER
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        message, code = _explain(error)
        _print_error(message)
        return code


def _run(arguments: list[str]) -> int:
    import typer

    from gegenbauer.cli.app import app
    from gegenbauer.cli.parameters import in_options
    from gegenbauer.errors import message_of

    command = typer.main.get_command(app)
    # Not command.main(): it prints errors in many lines, and hides Ctrl-C from us.
    try:
        with command.make_context("gegenbauer", arguments or ["--help"]) as context:
            try:
                command.invoke(context)
            except MemoryError as error:  # as it may come from anywhere
                raise MemoryError(in_options(message_of(error))) from error
    except typer.Exit as leaving:
        return leaving.exit_code
    return 0


def _explain(error: Exception) -> tuple[str, int]:
    """Put in one line what went wrong, and which exit code it means."""
    import typer

    from gegenbauer.cli.messages import UserError, describe_os_error

    # What all errors of the parser have in common has no public name in typer: the second class
    # above BadParameter.
    parser_error = typer.BadParameter.__mro__[2]
    if isinstance(error, UserError):
        return str(error), 2
    if isinstance(error, parser_error):
        context = getattr(error, "ctx", None)
        command = "gegenbauer" if context is None else context.command_path
        message = error.format_message().replace("Value error, ", "")  # type: ignore[attr-defined]
        option = getattr(error, "option_name", None)
        if option in _NEW_OPTIONS:
            message = f"there is no {option} any more: it is called {_NEW_OPTIONS[option]}"
        stop = "" if message.endswith((".", "?")) else "."
        return f"{message}{stop} Try '{command} --help'", 2
    if isinstance(error, OSError):
        return f"{describe_os_error(error)}; check the path and the room on the disk", 2
    if isinstance(error, UnicodeEncodeError):
        return f"the output cannot hold {error.object[error.start]!a}: give --out, or use UTF-8", 2
    if isinstance(error, MemoryError):
        return f"not enough memory: {str(error) or 'use fewer rows or fewer terms'}", 2
    fault = f"{type(error).__name__}: {error}"
    return f"a fault in gegenbauer: {fault}. Run it again with {_DEBUG} and report all of it", 1


def _print_error(message: str) -> None:
    from gegenbauer.cli.messages import one_line

    text = f"error: {one_line(message)}"
    red = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    print(f"\033[31m{text[:6]}\033[0m{text[6:]}" if red else text, file=sys.stderr)


def _leave_reader() -> None:
    """End at once if a table is still being read by a thread that nobody waits for."""
    output = sys.modules.get("gegenbauer.cli.output")
    if output is not None and output.has_abandoned_work():
        sys.stderr.flush()
        # An ordinary exit would take the memory from under the thread.
        os._exit(_INTERRUPTED)
