"""Lines of the reports of ``fit`` and ``tune``: what was learned from, scores, times and files."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from gegenbauer.cli.choices import Task
from gegenbauer.cli.columns import MAX_CLASSES
from gegenbauer.cli.messages import count, duration, listed, quoted
from gegenbauer.cli.output import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gegenbauer.cli.columns import Target
    from gegenbauer.cli.written import Written

__all__ = [
    "NO_VALIDATION",
    "accuracy_line",
    "describe_accuracy",
    "describe_data",
    "describe_errors",
    "errors_line",
    "model_line",
    "plot_lines",
    "rows_line",
    "times_line",
]

_MAX_CLASSES_SHOWN = 8

_MAX_INPUTS_SHOWN = 6

_ADVICE = "; no better than the baseline: try another --alpha or fewer --n-terms"

_ADVICE_FAR = "; no better than the baseline: the mean is far from zero, try --free-constant"

_FAR_FROM_ZERO = 10.0  # standard deviations

_LARGE = 1e4  # from which a score is written with an exponent

NO_VALIDATION = Line("validation", "none, as requested", {"validation": None})


def describe_data(inputs: Sequence[str], target: Target, requested: Task, rows: Line) -> list[Line]:
    """Return lines for a report on what is learned from.

    Parameters
    ----------
    inputs : sequence of str
        Names of the inputs.
    target : Target
        The column to learn.
    requested : Task
        As the user requested.
    rows : Line
        What is reported of the rows.
    """
    reason = f"{target.reason}{_other_choice(target, requested)}"
    lines = [
        Line("task", f"{target.task}: {reason}", {"task": target.task.value, "reason": reason}),
        rows,
        Line(
            "inputs",
            f"{len(inputs)}: {listed(inputs, _MAX_INPUTS_SHOWN)}",
            {"inputs": list(inputs), "classes": None},
        ),
    ]
    if target.classify:
        counts = target.seen.counts or {}
        values = [{"class": label, "rows": n} for label, n in counts.items()]
        lines.append(Line("classes", _classes(target), {"classes": values}))
    return lines


def _other_choice(target: Target, requested: Task) -> str:
    """Describe how to override a decision that another one could stand beside."""
    seen = target.seen
    if requested != Task.auto or seen.kind in ("text", "truth"):
        return ""
    if target.classify:
        return " (--task regression takes them as quantities)"
    if seen.n_values is not None and seen.n_values <= MAX_CLASSES:
        return " (--task classification takes them as classes)"
    return ""


def _classes(target: Target) -> str:
    counts = target.seen.counts
    if counts is None:
        return str(target.seen.n_values)
    shown = [
        f"{quoted(label)} ({count(counts[label], 'row')})"
        for label in itertools.islice(counts, _MAX_CLASSES_SHOWN)
    ]
    more = f" and {len(counts) - len(shown)} more" if len(counts) > len(shown) else ""
    return f"{len(counts)}: {', '.join(shown)}{more}"


def rows_line(n_rows: int, text: str, **others: Any) -> Line:
    """Return the line of the rows: their number, and what else there is to report."""
    more = {f"rows_{name}": value for name, value in others.items()}
    return Line("rows", text, {"rows": n_rows, **more})


def describe_accuracy(
    n_right: int,
    n_rows: int,
    frequent: object,
    chance: float,
    *,
    weighted: float | None = None,
) -> str:
    """Describe how many of the rows held out are right, beside always the most frequent class.

    Where rows have weights, the accuracy by them is given, and the chance is, too.

    Examples
    --------
    >>> describe_accuracy(9, 12, "yes", 0.5)
    "accuracy 0.7500 (9 of 12 rows held out are right); always 'yes' would give 0.5000"
    """
    accuracy = n_right / n_rows if weighted is None else weighted
    return (
        f"accuracy {accuracy:.4f}{'' if weighted is None else ' by weight'} ({n_right} of {n_rows} "
        f"rows held out are right); always "
        f"{quoted(frequent)} would give {chance:.4f}{_ADVICE if accuracy <= chance < 1 else ''}"
    )


def accuracy_line(
    n_right: int, n_rows: int, frequent: object, chance: float, *, weighted: float | None = None
) -> Line:
    """Return the line of the validation of classes; parameters as of `describe_accuracy`."""
    values = {
        "accuracy": n_right / n_rows if weighted is None else weighted, "baseline": chance,
        "rows": n_rows, "rows_right": n_right,
    }  # fmt: skip
    text = describe_accuracy(n_right, n_rows, frequent, chance, weighted=weighted)
    return Line("validation", text, {"validation": values})


def describe_errors(
    r2: float,
    rmse: float,
    n_rows: int,
    mean: float,
    std: float,
    *,
    penalized: bool,
    weighted: bool = False,
) -> str:
    """Describe how far off the predictions of rows held out are, beside always their mean.

    Examples
    --------
    >>> describe_errors(0.75, 1.0, 12, 5.0, 2.0, penalized=True)
    'R2 0.7500, RMSE 1 on 12 rows held out, whose standard deviation is 2'
    """
    advice = ""
    if r2 <= 0 < std:
        far = penalized and abs(mean) > _FAR_FROM_ZERO * std
        advice = _ADVICE_FAR if far else _ADVICE
    shown = f"{r2:.4f}" if abs(r2) < _LARGE else f"{r2:.4g}"
    return (
        f"R2 {shown}, RMSE {rmse:.4g}{' by weight' if weighted else ''} on {n_rows} rows held out, "
        f"whose standard deviation is "
        f"{std:.4g}{advice}"
    )


def errors_line(
    r2: float, rmse: float, n_rows: int, mean: float, std: float, **others: bool
) -> Line:
    """Return the line of the validation of numbers; parameters as of `describe_errors`."""
    values = {"r2": r2, "rmse": rmse, "rows": n_rows, "standard_deviation": std}
    text = describe_errors(r2, rmse, n_rows, mean, std, **others)
    return Line("validation", text, {"validation": values})


def times_line(**seconds: tuple[float, str]) -> Line:
    """Return the line of the times: of each its seconds and what took them.

    Examples
    --------
    >>> times_line(read=(0.25, "to read"), fit=(2.0, "to fit")).text
    '250 ms to read, 2.0 s to fit'
    """
    text = ", ".join(f"{duration(time)} {what}" for time, what in seconds.values())
    return Line("time", text, {"seconds": {name: time for name, (time, _) in seconds.items()}})


def model_line(n_rows: int, file: Written, *, again: bool = False) -> Line:
    """Describe what became of the model."""
    place = file.describe("not saved: --out MODEL.safetensors would")
    text = f"fitted {'again ' if again else ''}on all {n_rows} rows, {place}"
    return Line("model", text, {"model": file.written})


def plot_lines(file: Written) -> list[Line]:
    """Describe what became of the plot, if one was requested."""
    if file.path is None:
        return []
    return [Line("plot", file.describe(""), {"plot": file.written})]
