"""Parameters of the library as options of the command line.

Messages of the library put in backticks what the caller can set, a parameter or one with a value,
or call. The command line, which has options instead, writes them by the declarations of the command
that runs, and leaves out the advice that no option can follow. Nothing here needs more than Python
until a command runs.
"""

from __future__ import annotations

import ast
import re
import shlex
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
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

# What messages mark: a parameter, maybe with a value, or a call; in quotes stand names of columns
_QUOTED = r"(?<!\w)(?:'(?:[^'\\]|\\.|'(?=\w))*+'|\"(?:[^\"\\]|\\.)*+\")(?!\w)"
_VALUE = rf"(?:{_QUOTED}|[^`])*+"  # a name of a column in it may hold anything
_MARK = re.compile(rf"{_QUOTED}|`(\w+(?:\(\))?)(?:=({_VALUE}))?`")
_REFUSED = re.compile(r"The '(\w+)' parameter of \w+")  # by scikit-learn

# Where no joint of clauses or ways is looked for: in quotes, in a mark with other values that would
# do, and in brackets
_MARKED = rf"`{_VALUE}`(?:(?:,| or) {_QUOTED})*"
_WHOLE = re.compile(rf"{_QUOTED}|{_MARKED}|\((?:{_QUOTED}|`{_VALUE}`|[^()])*+\)")
_CLAUSES = re.compile(r"([:;.] )")
_WAYS = re.compile(r"(, or |, | or )")

# A way out that begins so lacks its verb, which stands in the first one
_NO_VERB = re.compile(r"[`'\"]|(?:an?|the|another|fewer|less|more) ")


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


def in_options(message: str) -> str:
    """Write the parameters that a message of the library marks as options of this command.

    A message is a report, and advice behind a colon, a semicolon or a full stop, of one or more
    ways out with "or" before the last. Ways to which no option leads are left out, and advice of
    which nothing remains; in a report, a parameter that no option sets has its name.

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
    ...     print(in_options("too many: lower `n_terms`, `degree` or `max_interaction`"))
    ...     print(in_options("too much: use `n_terms=None`, fewer samples, or another `engine`"))
    ...     print(in_options("far from zero. Use `penalize_constant=False`"))
    ...     print(in_options("`engine='dual'` needs all samples at once: choose another `engine`"))
    too many: lower --n-terms
    too much: use --n-terms all or fewer samples
    far from zero. Use --free-constant
    engine='dual' needs all samples at once
    """
    wholes: list[str] = []

    def hide(found: re.Match[str]) -> str:
        wholes.append(found[0])
        return f"\0{len(wholes) - 1}\0"

    def show(text: str) -> str:
        return re.sub(r"\0(\d+)\0", lambda found: wholes[int(found[1])], text)

    message = _REFUSED.sub(_accused, message.replace("\0", "\\0"))
    body = message.removesuffix(".")
    report, *rest = _CLAUSES.split(_WHOLE.sub(hide, body))
    text = show(report)
    for joint, clause in zip(rest[::2], rest[1::2], strict=True):
        ways = _open_ways([show(piece) for piece in _WAYS.split(clause)])
        if ways:
            text += joint + (ways[0].upper() if joint == ". " else ways[0]) + ways[1:]
    return _MARK.sub(_written, text) + message[len(body) :]


def _open_ways(pieces: list[str]) -> str:
    """Return those of several ways out to which options lead; joints stand between the ways."""
    ways, joints = pieces[::2], ["", *pieces[1::2]]
    if not any("or" in joint for joint in joints):  # commas within a single way
        ways, joints = ["".join(pieces)], [""]
    left = [at for at, way in enumerate(ways) if _is_open(way)]
    text, verb, named = "", 0, -1
    for at, way in enumerate(ways):
        verb = verb if _NO_VERB.match(way) else at  # of which way it is the verb
        if at not in left:
            continue
        joint = joints[at] if text else ""
        if text and at == left[-1] and len(left) < len(ways) and "or" not in joint:
            joint = ", or " if len(left) > 2 else " or "
        text += joint + ("" if verb in (at, named) else _verb(ways[verb], way)) + way
        named = verb
    return text


def _verb(whose: str, way: str) -> str:
    """Return how a way out begins whose mark, or first word, another one has in its place."""
    return whose.partition("`" if way.startswith("`") else " ")[0].rstrip() + " "


def _is_open(way: str) -> bool:
    """Return whether an option leads there, or none is needed."""
    marks = [found for found in _MARK.finditer(way) if found[1]]
    return not marks or any(_option(found) is not None for found in marks)


def _option(found: re.Match[str]) -> str | None:
    option = _options.get({}).get(found[1])
    return None if option is None else option.with_value(found[2])


def _accused(found: re.Match[str]) -> str:
    """Mark the parameter that scikit-learn refuses, if an option sets it."""
    return f"`{found[1]}`" if found[1] in _options.get({}) else found[0]


def _written(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    option = _option(found)
    return found[0].strip("`") if option is None else option
