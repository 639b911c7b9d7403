"""The columns that are learned from: which they are, and what is wrong with them.

Both ways to a table, in memory and in batches, refuse it here, so that they do so in one order and
in the same words.
"""

from __future__ import annotations

import difflib
import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message, Ways
from gegenbauer.batches.column_types import (
    NOTHING,
    NUMBERS,
    TEXT,
    TRUTH,
    are_numbers,
    column_kind,
    decoded,
)
from gegenbauer.batches.values import MOST_CHARACTERS, leave_out
from gegenbauer.errors import Rows, StreamError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence


__all__ = [
    "choose_inputs",
    "did_you_mean",
    "example_of",
    "require_category",
    "require_column",
    "require_numbers",
]


_MOST_SHOWN = 10  # columns of a table


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Suggest names that resemble one that is not there; "" if none does.

    Examples
    --------
    >>> did_you_mean("Speces", ["species", "sepal length"])
    "did you mean 'species'?"
    """
    folded = {other.strip().casefold(): other for other in names}
    wanted = name.strip().casefold()
    near = (
        difflib.get_close_matches(wanted, folded, n=3, cutoff=0.6)
        or [key for key in folded if wanted and wanted in key][:3]
    )
    *first, last = [repr(folded[key]) for key in near] or [""]
    shown = f"{', '.join(first)} or {last}" if first else last
    return f"did you mean {shown}?" if near else ""


def require_column(
    name: str, names: Collection[str], where: Rows, *, parameter: str = "", as_in: str = ""
) -> None:
    """Refuse the name of a column that is not there.

    Parameters
    ----------
    name : str
        The column.
    names : collection of str
        All there are.
    where : Rows
        The table.
    parameter : str, default=""
        Which one named it.
    as_in : str, default=""
        Or which other table has it.
    """
    if name in names:
        return
    shown = ", ".join(map(repr, itertools.islice(names, _MOST_SHOWN)))
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    whose = Message(" as in {}", as_in) if as_in else Message(" for `{}`", parameter)
    advice = did_you_mean(name, names) or f"it has {shown}{more}"
    raise StreamError(Message("there is no column {!r}{}; {}", name, whose, advice), where)


def choose_inputs(
    names: Collection[str],
    where: Rows,
    *,
    target: str,
    inputs: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    sample_weight: str | None = None,
    id_columns: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the names of the inputs, once the table has all columns that were named.

    Parameters
    ----------
    names : collection of str
        The columns of the table.
    where : Rows
        The table.
    target, inputs, ignore, sample_weight, id_columns
        As of `TableBatches`.

    Raises
    ------
    StreamError
        A column is not there, or has two parts, or none is left to learn from.
    """
    special = {"target": target}
    if sample_weight is not None:
        special["sample_weight"] = sample_weight
    left = [("ignore", name) for name in ignore] + [("id_columns", name) for name in id_columns]
    named = [*special.items(), *left]
    for parameter, name in [*named, *(("inputs", name) for name in inputs or ())]:
        require_column(name, names, where, parameter=parameter)
    left_out = {*special.values(), *ignore, *id_columns}
    chosen = (
        tuple(name for name in names if name not in left_out) if inputs is None else tuple(inputs)
    )
    if not chosen:
        others = [name for name in names if name not in special.values()]
        ways = [Message("`ignore`"), *([Message("`id_columns`")] if id_columns else [])]
        raise StreamError(
            Message(
                "no column is left as an input beside the target {!r}", target,
                ways=Ways("leave fewer out by", *ways)
                if others
                else "the table must have at least one more",
                joint="; ",
            ),
            where,
        )  # fmt: skip
    for parameter, name in special.items():
        if inputs is None and name in ignore:
            both = Message("{!r} is both `{}` and in `ignore`; give it once", name, parameter)
            raise StreamError(both, where)
        if name in id_columns:
            both = Message("{!r} is both `{}` and in `id_columns`; give it once", name, parameter)
            raise StreamError(both, where)
    counts = Counter([*chosen, *special.values()])
    twice = [name for name, n in counts.items() if n > 1]
    if twice:
        uses = [name for name, column in special.items() if column == twice[0]]
        uses += ["inputs"] if twice[0] in chosen else []
        raise StreamError(
            Message(
                "column {!r} is used twice, by {}: a column is an input, the target or the weight, "
                "and an input once",
                twice[0],
                Message.listed((Message("`{}`", use) for use in uses), " and "),
            ),
            where,
        )
    return chosen


def require_numbers(
    kinds: Mapping[str, str],
    where: Rows,
    example: Callable[[str], tuple[str, Rows]],
    *,
    may_be_empty: bool = False,
    text: Sequence[Message] = (),
) -> None:
    """Refuse inputs that hold something else than numbers, or nothing.

    Parameters
    ----------
    kinds : dict of str to str
        What each of them holds, as `column_kind` names it.
    where : Rows
        The table.
    example : callable
        Gives a value that is no number, as `example_of` shows it, and its row.
    may_be_empty : bool
        Let columns pass that hold nothing.
    text : sequence of Message
        What else to do about text than to make it numbers.
    """
    foreign = [name for name, kind in kinds.items() if kind not in (NUMBERS, TRUTH, NOTHING)]
    if foreign:
        shown, row = example(foreign[0])
        more = len(foreign) - 1
        alike = f" ({more} more {'is' if more == 1 else 'are'} alike)" if more else ""
        raise StreamError(
            Message(
                "column {!r} holds {}{}, and an input must hold numbers{}",
                foreign[0],
                kinds[foreign[0]],
                shown,
                alike,
                ways=[
                    "make it numbers",
                    *(text if kinds[foreign[0]] == TEXT else ()),
                    leave_out(foreign),
                ],
                joint="; ",
            ),
            row,
        )
    empty = [name for name, kind in kinds.items() if kind == NOTHING]
    if empty and not may_be_empty:
        raise StreamError(
            Message(
                "column {!r} has no values",
                empty[0],
                ways=["fill it", leave_out(empty)],
                joint="; ",
            ),
            where,
        )


def require_category(name: str, column: Any, where: Rows) -> None:
    """Refuse text as a category of which most is numbers, as where a sign stands for no value.

    Parameters
    ----------
    name : str
        The column.
    column : Array or ChunkedArray
        Its text.
    where : Rows
        Its rows.
    """
    column = decoded(column)
    numbers = are_numbers(column).fill_null(True).to_numpy(zero_copy_only=False)
    n_others = int(np.count_nonzero(~numbers))
    n_numbers = numbers.size - n_others - column.null_count
    if 0 < n_others < n_numbers:
        row = int((~numbers).argmax())
        shown = str(column[row].as_py())[:MOST_CHARACTERS]
        several = f", in {n_others} rows of {numbers.size}" if n_others > 1 else ""
        raise StreamError(
            Message(
                "column {!r} holds numbers but for {!r}{}",
                name,
                shown,
                several,
                ways=[
                    "leave the cell empty where there is no value",
                    "make all of them numbers",
                    leave_out([name]),
                ],
                joint="; ",
            ),
            where.row(row),
        )


def example_of(column: Any, where: Rows) -> tuple[str, Rows]:
    """Show a value of a column of Arrow that is no number, and its row.

    Parameters
    ----------
    column : Array or ChunkedArray
        Values, of which the first is that of `where`.
    where : Rows
        Their rows.

    Returns
    -------
    tuple of str and Rows
        Nothing of the whole table, where there is no value.
    """
    column = decoded(column)
    row = are_numbers(column).index(False).as_py() if column_kind(column.type) == TEXT else -1
    row = row if row >= 0 else column.is_valid().index(True).as_py()
    if row < 0:
        return "", Rows(where.source)
    return f", such as {str(column[row].as_py())[:MOST_CHARACTERS]!r}", where.row(row)
