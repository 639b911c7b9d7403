"""Messages of errors and warnings: texts that keep what they are made of.

A message is a report and ways out of it. What a caller can set, which stands in backticks, and the
rows that it is about are parts of their own, so that a layer above, such as a stream or the command
line, can write the same message in its own words, count rows as it does, and leave out the ways
that it does not have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from string import Formatter
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from gegenbauer._rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    # What stands for a setting, None where there is nothing
    Words: TypeAlias = "Callable[[Setting], str | None]"
    Way: TypeAlias = "str | Message | Ways"
    Parts: TypeAlias = "tuple[str | Setting | Message, ...]"

__all__ = ["Message", "Setting", "Ways", "count", "number", "of_core"]


@dataclass(frozen=True)
class Setting:
    """What a caller can set: a parameter, maybe with a value, or a call.

    Attributes
    ----------
    name : str
        Name of a parameter, or a call with its parentheses.
    value : str or None
        The value that a parameter has, or is to have.
    words : str
        What stands for it in Python, if that is not its name and value in backticks.

    Examples
    --------
    >>> print(Setting("alpha"), Setting("n_terms", "None"))
    `alpha` `n_terms=None`
    """

    name: str
    value: str | None = None
    words: str = ""

    def __str__(self) -> str:
        """Return it as a message in Python has it."""
        return self.words or f"`{self.plain}`"

    @property
    def plain(self) -> str:
        """As it is written where it cannot be set."""
        return self.words or (self.name if self.value is None else f"{self.name}={self.value}")


class Ways:
    """Ways out of an error, of which any will do.

    Parameters
    ----------
    verb : str
        How all of them begin, or "".
    *ways : str, Message or Ways
        Templates without values, messages, or other ways.
    last : str
        What stands before the last one of several; a comma stands before the others.
    end : str
        How all of them end.

    Examples
    --------
    >>> print(Ways("lower", "`n_terms`", "`degree`", "`max_interaction`"))
    lower `n_terms`, `degree` or `max_interaction`
    """

    __slots__ = ("end", "last", "verb", "ways")

    def __init__(self, verb: str, *ways: Way, last: str = " or ", end: str = "") -> None:
        # Templates are not read here: ways are passed to checks that nearly always pass.
        self.verb, self.ways, self.last, self.end = verb, ways, last, end

    @classmethod
    def of(cls, ways: Way | Iterable[Way]) -> Ways:
        """Return one or several ways as such, the last one of several behind a comma and "or"."""
        if isinstance(ways, Ways):
            return ways
        return cls("", ways) if isinstance(ways, str) else cls("", *ways, last=", or ")

    def __str__(self) -> str:
        """Return them as a message in Python has them."""
        return self.in_words(str)

    def in_words(self, words: Words) -> str:
        """Write those that are there in some words; "" where none is."""
        found = [text for text in (_way_in_words(way, words) for way in self._read()) if text]
        if not found:
            return ""
        *most, last = found
        text = f"{', '.join(most)}{self.last}{last}" if most else last
        return f"{self.verb} {text}{self.end}" if self.verb else text + self.end

    def parameters(self) -> Iterator[str]:
        """Return the names of the parameters that the ways have."""
        for way in self._read():
            yield from way.parameters() if isinstance(way, Ways) else way.parameters

    def _read(self) -> Iterator[Message | Ways]:
        return (way if isinstance(way, (Message, Ways)) else Message(way) for way in self.ways)


class Message(str):
    r"""A text of an error or a warning that keeps its parts.

    Parameters
    ----------
    template : str
        A literal in the form of :meth:`str.format`, with a field ``{}`` for each of the values.
        What the caller can set stands in backticks, with or without a value.
    *values : object
        What is shown. Settings, messages and rows stay what they are.
    ways : str, Message, Ways or sequence of these
        Ways out, of which any will do.
    joint, end : str
        What stands between the report and the ways, and behind these.

    Attributes
    ----------
    parts : tuple of str, Setting, Message and Rows, which are str
        The report.
    ways : Ways
        The ways out, maybe none.

    Examples
    --------
    >>> message = Message(
    ...     "{} are too many", 10**9, ways=[Ways("lower", "`n_terms`", "`degree`"), "use less"]
    ... )
    >>> print(message)
    1000000000 are too many: lower `n_terms` or `degree`, or use less
    >>> message.parameters
    ('n_terms', 'degree')
    >>> options = {"n_terms": "--n-terms"}
    >>> message.in_words(lambda setting: options.get(setting.name))
    '1000000000 are too many: lower --n-terms, or use less'
    """

    __slots__ = ("end", "joint", "parts", "ways")

    parts: Parts
    ways: Ways
    joint: str
    end: str

    def __new__(
        cls,
        template: str,
        *values: object,
        ways: Way | Iterable[Way] = (),
        joint: str = ": ",
        end: str = "",
    ) -> Self:
        """Fill the fields and write the text."""
        return cls.of_parts(_read(_filled(template, values)), Ways.of(ways), joint, end)

    @classmethod
    def of_parts(cls, parts: Parts, ways: Ways, joint: str = ": ", end: str = "") -> Self:
        """Return the message that is made of these parts."""
        message = super().__new__(cls, _in_words(parts, ways, joint, end, str))
        message.parts, message.ways, message.joint, message.end = parts, ways, joint, end
        return message

    @classmethod
    def listed(cls, entries: Iterable[Message], joint: str = ", ") -> Self:
        """Return one message of several, one behind the other."""
        parts: list[str | Setting | Message] = []
        for entry in entries:
            parts += [joint, entry] if parts else [entry]
        return cls.of_parts(tuple(parts), Ways(""))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what another process makes the same message of."""
        return type(self).of_parts, (self.parts, self.ways, self.joint, self.end)

    def in_words(self, words: Words) -> str:
        """Write the message in other words.

        Parameters
        ----------
        words : callable
            Returns what stands for a setting, or None where there is nothing for it. Ways out that
            have such settings alone are left out; in the report they have their names.

        Returns
        -------
        str
            The text.
        """
        return _in_words(self.parts, self.ways, self.joint, self.end, words)

    def with_rows(self, name: Callable[[Rows], str]) -> Message:
        """Return the message in which other rows, or words for them, stand for those it has.

        Parameters
        ----------
        name : callable
            Returns what stands for rows.

        Returns
        -------
        Message
            With the same ways out.
        """

        def changed(part: str | Setting | Message) -> str | Setting | Message:
            if isinstance(part, Message):
                return part.with_rows(name)
            return name(part) if isinstance(part, Rows) else part

        return self.of_parts(tuple(map(changed, self.parts)), self.ways, self.joint, self.end)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that the report is about; if there are none, of the ways out."""
        found: dict[str, None] = {}
        for part in self.parts:
            if isinstance(part, Message):
                found |= dict.fromkeys(part.parameters)
            elif isinstance(part, Setting) and not part.name.endswith("()"):
                found[part.name] = None
        return tuple(found or dict.fromkeys(self.ways.parameters()))

    def settings(self) -> Iterator[Setting]:
        """Return what the caller can set of the report, without the ways out."""
        for part in self.parts:
            if isinstance(part, Message):
                yield from part.settings()
            elif isinstance(part, Setting):
                yield part

    @property
    def report(self) -> Message:
        """The message without its ways out."""
        return self.of_parts(self.parts, Ways(""))


def of_core(report: str, ways: Iterable[tuple[str, Iterable[str]]]) -> Message:
    """Return a message of the compiled core, whose texts are literals and numbers.

    Parameters
    ----------
    report : str
        With settings in backticks.
    ways : iterable of (str, iterable of str)
        What to do, or a verb and the things of which any will do; empty ones are none.
    """
    found: list[Way] = []
    for action, things in ways:
        given = [thing for thing in things if thing]
        found.append(Ways(action, *given) if given else action)
    return Message.of_parts(_read([(report, "")]), Ways.of(found))


def _in_words(parts: Parts, ways: Ways, joint: str, end: str, words: Words) -> str:
    """Write a report and its ways out: the only place where a message becomes a text."""
    text = "".join(_part_in_words(part, words) for part in parts)
    advice = ways.in_words(words)
    if advice:
        text += joint + (advice[0].upper() if joint == ". " else advice[0]) + advice[1:]
    return text + end


def _part_in_words(part: str | Setting | Message, words: Words) -> str:
    if isinstance(part, Setting):
        return words(part) or part.plain
    return part.in_words(words) if isinstance(part, Message) else part


def _way_in_words(way: Message | Ways, words: Words) -> str:
    """Write a way out; "" where nothing that it has can be set."""
    if isinstance(way, Message):
        settings = [*way.settings()]
        if settings and all(words(setting) is None for setting in settings):
            return ""
    return way.in_words(words)


def _filled(template: str, values: tuple[object, ...]) -> Iterator[tuple[str, object]]:
    """Return the literal texts of a template, each with the part that stands behind it."""
    formatter, left = Formatter(), iter(values)
    for text, field, form, conversion in formatter.parse(template):
        if field is None:
            yield text, ""
            continue
        value = next(left)
        if isinstance(value, (Setting, Message, Rows)) and not conversion:
            yield text, value
        else:
            yield text, format(formatter.convert_field(value, conversion), form or "")


def _read(pieces: Iterable[tuple[str, object]]) -> Parts:
    """Make settings of what stands in backticks in the first texts; the second ones are parts."""
    parts: list[str | Setting | Message] = []
    mark: str | None = None  # what stands behind an opening backtick so far
    for text, behind in pieces:
        for at, run in enumerate(text.split("`")):
            if at and mark is None:
                mark = ""
            elif at:
                name, equals, value = str(mark).partition("=")
                parts.append(Setting(name, value if equals else None))
                mark = None
            if mark is None:
                parts.append(run)
            else:
                mark += run
        if mark is None:
            parts.append(behind)  # type: ignore[arg-type]
        else:
            mark += str(behind)
    if mark is not None:  # there is no other backtick
        parts.append("`" + mark)
    return tuple(part for part in parts if part != "")


def count(number_of: int, thing: str, plural: str | None = None) -> str:
    """Return a number with its noun, as in "1 row" or "2 rows"."""
    return f"{number_of} {thing if number_of == 1 else plural or thing + 's'}"


def number(value: float) -> str:
    """Show a parameter; powers of two as such.

    Examples
    --------
    >>> number(2.0**-12), number(0.05), number(1.0)
    ('2^-12', '0.05', '1')
    """
    mantissa, exponent = math.frexp(value)
    if mantissa == 0.5 and not 0 <= exponent - 1 <= 10:
        return f"2^{exponent - 1}"
    return f"{value:.6g}"
