"""Parameters of the library as options of the command line.

Messages of the library put in backticks what the caller can set: a parameter, or one with a value.
The command line, which has options instead, writes them by the declarations of the command that
runs. Nothing here needs more than Python until a command runs.
"""

from __future__ import annotations

import ast
import re
import shlex
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Sets", "in_options", "naming_options_of"]


@dataclass(frozen=True)
class Sets:
    """What an option sets, where that is not the parameter of its own name or value.

    Attributes
    ----------
    parameters : tuple of str
        Names of the parameters; none for the name of the option.
    values : dict of str to str
        What stands for a value, as Python writes it, on the command line.
    """

    parameters: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Option:
    name: str
    values: Mapping[str, str]

    def with_value(self, value: str | None) -> str:
        """Write the option, with a value that is given as Python writes it."""
        if value is None:
            return self.name
        if value in self.values:
            return self.values[value]
        if value == "None":
            return f"no {self.name}"
        try:
            read = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            read = value
        parts = read if isinstance(read, (tuple, list)) else [read]
        return f"{self.name} {shlex.quote(','.join(map(str, parts)))}"


# Of the command that runs, by the parameters that they set.
_options: ContextVar[Mapping[str, _Option]] = ContextVar("_options")

# A parameter, maybe with a value, as messages of the library mark it, but not within quotes, where
# names of columns stand; or as scikit-learn refuses a value.
_PARAMETER = re.compile(r"(?<!['\"])`(\w+)(?:=([^`]*))?`|The '(\w+)' parameter of \w+")

# One of several ways out, behind a comma, that names parameters
_WAY = re.compile(r",( or)?(?:[^,;:.`]|`[^`]*`)*`[^`]*`[^,;:.`]*(?=[,;:.]|$)(?P<more>(?=, or ))?")


def _declared(command: Callable[..., None]) -> dict[str, _Option]:
    """Return the options of a command by the parameters that they set."""
    from typer.models import OptionInfo

    found = {}
    for argument, annotation in get_type_hints(command, include_extras=True).items():
        marks = get_args(annotation)[1:]
        for option in (mark for mark in marks if isinstance(mark, OptionInfo)):
            # typer has what is given as the first name where a default stands elsewhere
            given = [option.default, *(option.param_decls or ())]
            names = [name for name in given if isinstance(name, str)]
            name = names[0] if names else f"--{argument.replace('_', '-')}"
            sets = next((mark for mark in marks if isinstance(mark, Sets)), Sets())
            for parameter in sets.parameters or (argument,):
                found[parameter] = _Option(name, sets.values)
    return found


@contextmanager
def naming_options_of(command: Callable[..., None]) -> Iterator[None]:
    """Let messages name the options of a command, which is a function of `app`."""
    token = _options.set(_declared(command))
    try:
        yield
    finally:
        _options.reset(token)


def in_options(message: str) -> str:
    """Write the parameters that a message of the library marks as options of this command.

    Where that is one of several ways out, those that no option leads to are left out; elsewhere, a
    parameter that no option sets is noted as one of the library in Python.

    Parameters
    ----------
    message : str
        In which parameters stand in backticks, or that scikit-learn wrote.

    Returns
    -------
    str
        In the words of the command line.

    Examples
    --------
    >>> from gegenbauer.cli.options import FreeConstant, Terms
    >>> def fit(n_terms: Terms, free_constant: FreeConstant) -> None: ...
    >>> with naming_options_of(fit):
    ...     print(in_options("use `n_terms=None`, fewer samples, or another `engine`"))
    ...     print(in_options("use `penalize_constant=False`"))
    ...     print(in_options("`engine='dual'` needs all samples at once"))
    use --n-terms all, fewer samples
    use --free-constant
    engine='dual' (in Python) needs all samples at once
    """
    return _PARAMETER.sub(_written, _WAY.sub(_without_dead_end, message))


def _without_dead_end(found: re.Match[str]) -> str:
    names = {part[1] for part in _PARAMETER.finditer(found[0])}  # none where marks are of a column
    one_of_several = found[1] is not None or found["more"] is not None
    dead = one_of_several and names and names.isdisjoint(_options.get({}))
    return "" if dead else found[0]


def _written(found: re.Match[str]) -> str:
    name, value, refused = found.groups()
    option = _options.get({}).get(name or refused)
    if option is not None:
        return option.with_value(value)
    return found[0] if refused else f"{found[0].strip('`')} (in Python)"
