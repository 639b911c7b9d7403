"""Parameters of the library as options of the command line.

Messages of the library keep what the caller can set, a parameter or one with a value, or call, as
parts of their own. The command line, which has options instead, writes these by the declarations of
the command that runs. Nothing here needs more than Python until a command runs.
"""

from __future__ import annotations

import ast
import shlex
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, get_args, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gegenbauer._messages import Message, Setting

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
    calls : dict of str to str
        What stands for a call, such as ``refit()``.
    repeats : bool
        Whether the option is given once for each of several values.
    """

    parameters: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    calls: Mapping[str, str] = field(default_factory=dict)
    repeats: bool = False


@dataclass(frozen=True)
class _Option:
    name: str
    values: Mapping[str, str] = field(default_factory=dict)
    repeats: bool = False
    command: str = ""  # whose it is, if that is not the one that runs

    def with_value(self, value: str | None) -> str | None:
        """Write the option, with a value that is given as Python writes it; None if it takes none.

        Such a value is a call, or anything else that is no literal.
        """
        text = self._text(value)
        return f"{text} of gegenbauer {self.command}" if text and self.command else text

    def _text(self, value: str | None) -> str | None:
        if value is None:
            return self.name
        if value in self.values:
            return self.values[value]
        if value == "None":
            return f"no {self.name}"
        try:
            read = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            return None
        parts = [*map(str, read)] if isinstance(read, (tuple, list)) else [str(read)]
        given = parts if self.repeats else [",".join(parts)]
        return " ".join(f"{self.name} {shlex.quote(part)}" for part in given)


# Of the command that runs, by the parameters that they set.
_options: ContextVar[Mapping[str, _Option]] = ContextVar("_options")


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
                found[parameter] = _Option(name, sets.values, sets.repeats)
            found |= {call: _Option(text) for call, text in sets.calls.items()}
    return found


@contextmanager
def naming_options_of(command: Callable[..., None], *, also: bool = False) -> Iterator[None]:
    """Let messages name the options of a command.

    Parameters
    ----------
    command : callable
        A function of `app`.
    also : bool, default=False
        Beside those of the command that runs, which come first: the other one made what it uses.
    """
    options = _declared(command)
    if also:
        options = {name: replace(one, command=command.__name__) for name, one in options.items()}
        options |= _options.get({})
    token = _options.set(options)
    try:
        yield
    finally:
        _options.reset(token)


def in_options(message: Message) -> str:
    """Write the parameters of a message of the library as options of this command.

    Ways out to which no option leads are left out. In a report, a parameter that no option sets has
    its name.

    Parameters
    ----------
    message : Message
        As `message_of` returns it.

    Returns
    -------
    str
        In the words of the command line.

    Examples
    --------
    >>> from gegenbauer._messages import Message, Ways
    >>> from gegenbauer.cli.options import FreeConstant, Terms
    >>> def fit(n_terms: Terms, free_constant: FreeConstant) -> None: ...
    >>> lower = Ways("lower", "`n_terms`", "`degree`", "`max_interaction`")
    >>> with naming_options_of(fit):
    ...     print(in_options(Message("too many", ways=lower)))
    ...     print(in_options(Message("far from zero", ways="use `penalize_constant=False`")))
    ...     print(in_options(Message("`engine='dual'` is slow", ways="choose another `engine`")))
    too many: lower --n-terms
    far from zero: use --free-constant
    engine='dual' is slow
    """
    options = _options.get({})

    def written(setting: Setting) -> str | None:
        option = options.get(setting.name)
        return None if option is None else option.with_value(setting.value)

    return message.in_words(written)
