"""What went wrong, as one line and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from gegenbauer.batches.columns import did_you_mean
from gegenbauer.cli.messages import UserError, describe_os_error, quoted
from gegenbauer.cli.results import collector

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Failure", "explain"]

# Options of the first version that have other names now
_NEW_OPTIONS = {"--gamma": "--alpha", "--jobs": "--n-jobs", "--terms": "--n-terms"}

# What all errors of the parser have in common has no public name in typer: the second class above
# BadParameter.
_PARSER_ERROR = typer.BadParameter.__mro__[2]


class Failure(NamedTuple):
    """Why a command ended.

    Attributes
    ----------
    kind : {"usage", "data", "system", "fault"}
        Whose it is: the command line's, that of what was read, the machine's, or ours.
    message : str
        One line with what to do.
    """

    kind: str
    message: str

    @property
    def code(self) -> int:
        """Exit code of the process."""
        return {"fault": 1, "usage": 2, "data": 3, "system": 4}[self.kind]


def explain(error: Exception) -> Failure:
    """Put in one line what went wrong, and whose it is."""
    if isinstance(error, UserError):
        return Failure(error.kind, str(error))
    if isinstance(error, _PARSER_ERROR):
        return Failure("usage", _of_parser(error))
    if isinstance(error, OSError):
        advice = "check the path and the room on the disk"
        return Failure("system", f"{describe_os_error(error)}; {advice}")
    if isinstance(error, UnicodeEncodeError):
        lost = f"the output cannot hold {error.object[error.start]!a}"
        return Failure("system", f"{lost}: give --out, or use UTF-8")
    if isinstance(error, MemoryError):
        advice = str(error) or "use fewer rows or fewer terms"
        return Failure("system", f"not enough memory: {advice}")
    fault = f"{type(error).__name__}: {error}"
    return Failure(
        "fault", f"a fault in gegenbauer: {fault}. Run it again with --debug and report all of it"
    )


def _of_parser(error: Any) -> str:
    """Put in our words what the parser of the command line refuses."""
    context = getattr(error, "ctx", None)
    # without a context, an option has no value, or one that it does not take
    path = f"gegenbauer {collector().command}" if context is None else context.command_path
    message = error.format_message().replace("Value error, ", "")
    option = getattr(error, "option_name", None)
    new = _NEW_OPTIONS.get(option or "")
    names = [] if context is None else _names_of(context.command)
    if new in names:
        message = f"there is no {option} any more: it is called {new}"
    elif hasattr(error, "possibilities"):
        near = did_you_mean(str(option), names)
        message = f"{path} has no option {option}{'; ' if near else ''}{near}"
    elif message.startswith("Missing ") and context is not None and error.param is not None:
        message = f"{path} needs {_described(error.param)}"
    elif context is None and option is not None:
        message = f"{option} {'needs a' if 'requires' in message else 'takes no'} value"
    elif message.startswith("No such command") and context is not None:
        commands = [*context.command.commands]
        given = message.split("'")[1]
        advice = did_you_mean(given, commands) or f"it has {', '.join(commands)}"
        message = f"gegenbauer has no command {quoted(given)}; {advice}"
    stop = "" if message.endswith((".", "?")) else "."
    return f"{message}{stop} Try '{path} --help'"


def _described(parameter: Any) -> str:
    """Write an option or an argument as it is to be given, and what it is."""
    option = next((name for name in parameter.opts if name.startswith("-")), None)
    given = parameter.metavar if option is None else f"{option} {parameter.metavar}"
    text = str(parameter.help).rstrip(".")
    return f"{given} ({text[0].lower()}{text[1:]})"


def _names_of(command: Any) -> list[str]:
    options: Iterable[str] = (name for one in command.params for name in one.opts)
    return [*(name for name in options if name.startswith("--")), "--help"]
