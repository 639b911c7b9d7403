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
from typing import TYPE_CHECKING, Any

from gegenbauer.cli.results import collecting, collector

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

# What the extra ``cli`` brings, by the names under which Python imports it.
_PACKAGES = ("typer", "rich", "pandas", "pyarrow", "safetensors")

_DEBUG, _JSON = "--debug", "--json"

# By it a shell requests completions in place of a command.
_COMPLETE = "_GEGENBAUER_COMPLETE"

_SHOW, _INSTALL = "--show-completion", "--install-completion"

_SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")

# As a shell reports a program that was ended by SIGINT, or by SIGPIPE.
_INTERRUPTED = 130
_NO_READER = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str or None, default=None
        The arguments after the program's name; None for those of this process.

    Returns
    -------
    int
        Exit code: 0; 2 for a mistake in the arguments, 3 for one in a table or a model file, 4 for
        what the machine refuses (memory, writing); 1 when the extra ``cli`` is not installed or a
        fault is ours, 130 after Ctrl-C, 141 when nobody reads the output.

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
    with collecting(on=_JSON in arguments):
        return _main(arguments)


def _main(arguments: list[str]) -> int:
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        needed = f"the command line needs {', '.join(missing)}"
        return _fail(1, "install", f"{needed}: run pip install 'gegenbauer[cli]'")
    debug = _DEBUG in arguments
    try:
        code = _run([argument for argument in arguments if argument != _DEBUG])
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as interrupt:
        notes = getattr(interrupt, "__notes__", [])
        _fail(_INTERRUPTED, "interrupted", ": ".join(["interrupted", *notes]), label="")
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
        from gegenbauer.cli.failures import explain

        failure = explain(error)
        return _fail(failure.code, failure.kind, failure.message)


def _run(arguments: list[str]) -> int:
    import typer

    from gegenbauer.cli.app import app
    from gegenbauer.cli.parameters import in_options
    from gegenbauer.errors import message_of

    command = typer.main.get_command(app)
    if _COMPLETE in os.environ:
        return _complete(command)
    shell = _other_shell(arguments)
    if shell is not None:
        os.environ[_COMPLETE] = f"source_{shell}"
        try:
            return _complete(command)
        finally:
            del os.environ[_COMPLETE]
    # Not command.main(): it prints errors in many lines, and hides Ctrl-C from us.
    try:
        with command.make_context("gegenbauer", arguments or ["--help"]) as context:
            try:
                command.invoke(context)
            except MemoryError as error:  # as it may come from anywhere
                raise MemoryError(in_options(message_of(error))) from error
    except typer.Exit as leaving:
        return leaving.exit_code
    except SystemExit as leaving:  # of the scripts of completion
        # or of rich, which takes nobody to read for an end with 1
        if isinstance(leaving.__context__, BrokenPipeError):
            raise leaving.__context__ from leaving
        return int(leaving.code or 0)
    if collector().on:
        collector().print()
    return 0


def _complete(command: Any) -> int:
    """Print what a shell may complete a command line to, or the script that makes it do so."""
    try:
        command.main(args=[], prog_name="gegenbauer", complete_var=_COMPLETE)
    except SystemExit as leaving:
        return int(leaving.code or 0)
    return 0


def _other_shell(arguments: Sequence[str]) -> str | None:
    """Return a shell named behind an option of completion, which are of the shell at hand.

    Raises
    ------
    UserError
        There is no script for it, or it is to be installed.
    """
    if len(arguments) != 2 or arguments[0] not in (_SHOW, _INSTALL):
        return None
    from gegenbauer.cli.messages import UserError, quoted

    option, shell = arguments
    if option == _INSTALL:
        raise UserError(
            f"{option} is for the shell in which it runs, and takes no value; of another, keep "
            f"what gegenbauer {_SHOW} zsh prints where that shell finds it"
        )
    if shell not in _SHELLS:
        raise UserError(
            f"{option} has no script for {quoted(shell)}; give one of {', '.join(_SHELLS)}"
        )
    return shell


def _fail(code: int, kind: str, message: str, label: str = "error: ") -> int:
    """Report on stderr what went wrong; return the exit code."""
    from gegenbauer.cli.messages import one_line

    text = one_line(message)
    if collector().on:
        collector().print(code, kind, text)
        return code
    red = label and sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    print(f"\033[31m{label[:-1]}\033[0m {text}" if red else f"{label}{text}", file=sys.stderr)
    return code


def _leave_reader() -> None:
    """End at once if a table is still being read by a thread that nobody waits for."""
    output = sys.modules.get("gegenbauer.cli.output")
    if output is not None and output.has_abandoned_work():
        sys.stderr.flush()
        # An ordinary exit would take the memory from under the thread.
        os._exit(_INTERRUPTED)
